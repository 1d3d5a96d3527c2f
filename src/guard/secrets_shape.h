/* The shape of a value: which bytes it has, how they change, and the words in it. */
#ifndef GB_GUARD_SECRETS_SHAPE_H
#define GB_GUARD_SECRETS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GB_SHAPE_RANDOM_MIN = 16 };

struct gb_shape {
	size_t n;
	size_t lower, upper, digits, symbols, blanks, foreign; /* how many bytes are */
	size_t turns;    /* how often letters of either case and digits change */
	size_t groups;   /* of digits */
	bool acronym;    /* capitals follow each other */
	bool same;       /* one byte, again and again */
	bool token_like; /* nothing but what encodings use */
	bool path;       /* a.b.c, as members are written in code */
	bool camel;      /* a capital after a small letter */
};

struct gb_shape gb_shape_of(const uint8_t *from, const uint8_t *to);
bool gb_shape_has_part(const uint8_t *from, size_t n, const char *part);
bool gb_shape_names_a_value(const uint8_t *from, size_t n);
bool gb_shape_is_unpronounceable(const uint8_t *from, size_t n, size_t turns);
bool gb_shape_is_identifier(const struct gb_shape *s);
bool gb_shape_is_random(const struct gb_shape *s, const uint8_t *from);
bool gb_shape_is_word(const struct gb_shape *s, const uint8_t *from);
bool gb_shape_is_mixed(const struct gb_shape *s, const uint8_t *from);
bool gb_shape_is_jumble(const struct gb_shape *s);
bool gb_shape_is_phrase(const struct gb_shape *s, const uint8_t *from);
bool gb_shape_is_quoted_word(const struct gb_shape *s, const uint8_t *from);
bool gb_shape_is_chosen(const struct gb_shape *s, const uint8_t *from);
bool gb_shape_is_letters(const struct gb_shape *s, const uint8_t *from);
bool gb_shape_is_number(const struct gb_shape *s);
bool gb_shape_is_pin(const struct gb_shape *s);
bool gb_shape_stands_for_one(const struct gb_shape *s, const uint8_t *from, const uint8_t *to, bool quoted);

/* The value consists of words that name or describe a value, and of nothing else. @where has flags of gb_shape_where:
 * in a setting db_password is a value that a person chose. */
bool gb_shape_is_placeholder(const uint8_t *from, size_t n, unsigned where);
/* plain-password, "the secret key": a person chose these as a value, where such words name a value in other places. One
 * word alone is enough if @where has GB_SHAPE_WORD. */
bool gb_shape_is_chosen_of_words(const uint8_t *from, size_t n, unsigned where);
/* changeme, your-password, none: a person has to write a value in its place, or there is none. */
bool gb_shape_is_form(const uint8_t *from, size_t n);
/* The text has a word that sentences have and passphrases do not; @loosely: "the" and the like do not count.
 */
bool gb_shape_is_message(const uint8_t *from, size_t n, bool loosely);
/* Where a value is: flags, or 0 for code. */
enum gb_shape_where {
	GB_SHAPE_ENV = 1,     /* behind a name in capitals: there are no members */
	GB_SHAPE_SETTING = 2, /* commands, environments, addresses: there are no variables */
	GB_SHAPE_WORDS = 4,   /* new_password and "my secret" are values */
	GB_SHAPE_WORD = 8,    /* so is "password" alone */
};
/* A value that a person or a machine made: nothing about it says that it is something else. @where has flags of
 * gb_shape_where. */
bool gb_shape_is_value(const struct gb_shape *s, const uint8_t *from, size_t least, unsigned where);
/* bob@example.org */
bool gb_shape_is_email(const uint8_t *from, size_t n);
/* Bytes in base64 that end with '='. */
bool gb_shape_is_base64(const struct gb_shape *s, const uint8_t *from);
/* The word ends as those do that say something about a password: required, invalid. */
bool gb_shape_is_remark(const uint8_t *from, size_t n);
/* AB12-CD34-EF56: groups of capitals and digits. */
bool gb_shape_is_grouped(const struct gb_shape *s, const uint8_t *from);
/* Many signs among letters and digits, as WordPress makes keys. */
bool gb_shape_is_noise(const struct gb_shape *s);
/* previewSigningKey, telemetry.salt */
bool gb_shape_is_name_of_one(const struct gb_shape *s, const uint8_t *from);
/* userProfileName: capitals begin words that can be spoken. */
bool gb_shape_is_camel_name(const struct gb_shape *s, const uint8_t *from);

#endif
