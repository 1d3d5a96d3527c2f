/*
 * Secrets that are known by the name before them: password=..., "api_key": "...", --token ..., mysql -p....
 *
 *	struct gb_named text = {.start = window, .end = window + n, .last = last, .from = window + n};
 *	if (gb_named_find(&text, name, p, GB_RX_PASSWORD))
 *		... mask [text.from, text.to) ...
 *	else if (text.cut)
 *		... undecided without more bytes: hold back [text.from, text.end) ...
 *
 * A chain of secrets_regex.h has found the name. Its context (secrets_named.c, secrets_command.c)
 * gives the position of a value, and the shape of the value (secrets_guess.c) decides whether it is a secret: code is
 * full of `password = getpass()` and `token: string`. At most GB_NAMED_LONGEST bytes behind a name and
 * GB_MATCH_BEHIND bytes before it are read, so the answer does not depend on how a stream is cut.
 */
#ifndef GB_GUARD_SECRETS_NAMED_H
#define GB_GUARD_SECRETS_NAMED_H

#include <string.h>

#include "guard/secrets_regex.h"

enum {
	GB_NAMED_VALUE = 256,   /* bytes of a value that are looked at; a longer one goes on as a run */
	GB_NAMED_LONGEST = 400, /* from the name to where it is decided; less is held back */
};

struct gb_named {
	/* What is given: the window, and whether nothing follows it. */
	const uint8_t *start, *end;
	bool last;
	/* What is found. */
	const uint8_t *from, *to;
	const uint8_t *resume; /* where the arguments of a command, or the rows of a table, go on behind it */
	int separator;         /* of the cells of that table */
	int column;            /* of the secret in it */
	bool listed;           /* the arguments of a command are texts of a list: ["mysql", "-px"] */
	bool goes_on;          /* the value is longer than what was looked at */
	bool cut;              /* the window ended too early */
};

bool gb_named_find(struct gb_named *text, const uint8_t *name, const uint8_t *p, enum gb_rx_tail tail);
/* After a match that may go on (resume): the next secret of the same command or table. @name and @p are as
 * they were. */
bool gb_named_next(struct gb_named *text, const uint8_t *name, const uint8_t *p, enum gb_rx_tail tail);

/* --- among the files of the filter --- */

/* The byte at @p, or -1 at the end of the text; where the window ends, the answer is not known yet. */
static inline int gb_named_at(struct gb_named *text, const uint8_t *p) {
	if (p < text->end)
		return *p;
	text->cut |= !text->last;
	return -1;
}

/* How a name and its value are joined. */
enum gb_joint {
	GB_JOINT_EQUALS,
	GB_JOINT_COLON,
	GB_JOINT_BLANK,   /* --password x */
	GB_JOINT_ELEMENT, /* <password>x</password> */
	GB_JOINT_LIST,    /* ("password", "x") */
	GB_JOINT_PROSE,   /* the password x */
};

struct gb_name;

/* The context of a value. */
struct gb_place {
	const struct gb_name *name; /* or NULL */
	enum gb_rx_tail tail;
	enum gb_joint joint;
	bool spaced;    /* blanks around the joint */
	bool capital;   /* the name is written in capitals, as in an environment */
	bool option;    /* the name begins with '-' */
	bool query;     /* behind '?' or '&' */
	bool link;      /* behind ';', as in a connection string */
	bool line;      /* the name begins the line, or follows export, ENV ... */
	bool flush;     /* ... without an indentation */
	bool inside;    /* the name and its value are inside of quotes together */
	bool apart;     /* behind a blank */
	bool chosen;    /* the name has "secret": people choose those like passwords */
	bool weak;      /* other things have the name too: pass, token */
	bool doubtful;  /* ... and texts that are no secrets stand behind it: nextToken, credentials */
	bool header;    /* of a request: X-Api-Key */
	bool compared;  /* by == or != */
	bool pair;      /* the name and the value could be all arguments of a call */
	bool closed;    /* ... and are: a bracket follows the value */
	bool sure;      /* every text here is a value: the arguments of commands */
	bool fallback;  /* of a variable: ${PASSWORD:-x} */
	bool alone;     /* in a line of its own, behind an empty one */
	bool qualified; /* "default" or the like precedes the name */
	bool bracket;   /* behind " (" */
	bool bearer;    /* behind "Bearer" in a header */
	bool config;    /* alone in its line, as devices and FortiOS have it */
	bool known;     /* a user precedes it */
	bool compound;  /* the name has parts: ldap_password */
	bool wide;      /* in a language without blanks */
	bool literal;   /* no name of another value stands here: PASSWORD 'x', "password": "x" */
	bool told;      /* prose names a user before it: as bob with password x */
	bool stated;    /* behind "is" or a foreign verb: a sentence may go on behind the value */
	bool sql;       /* a text of SQL: PASSWORD 'x', IDENTIFIED BY 'x' */
	bool
	    field; /* behind '{', '[' or a blank, and joined by a colon without blanks, as Go prints values */
};

/* A name and its context. */
struct gb_name {
	const uint8_t *from, *to; /* all of the word that the name is a part of, as far as it is looked at */
	int prev;                 /* the byte before it, or -1 */
	bool quoted;              /* a quote closes it */
	bool optional;            /* a type follows: password?: Type */
	bool env;                 /* behind export, ENV, set ... */
};

/* True if @word ends right before @p. At most GB_MATCH_BEHIND bytes before the name are there for certain. */
static inline bool gb_before_is(const struct gb_named *text, const uint8_t *p, const char *word) {
	size_t n = strlen(word);
	return p - text->start >= (ptrdiff_t)n && memcmp(p - n, word, n) == 0;
}

/* The word that the name at @at is the end of. */
void gb_before_word(const struct gb_named *text, const uint8_t *at, struct gb_name *name);
/* NEW_PASSWORD = "new_password", DB_PASSWORD = "password": the value [from, from + n) repeats the name, or its end. */
enum gb_echo { GB_ECHO_NONE, GB_ECHO_END, GB_ECHO_WHOLE };
enum gb_echo gb_before_echo(const struct gb_name *name, const uint8_t *from, size_t n);
/* bypass, compass: "pass" is the end of another word. */
bool gb_before_is_part(const struct gb_name *name, const uint8_t *at);
/* A network of radio is named before it in the same line. */
bool gb_before_is_network(const struct gb_named *text, const struct gb_name *name);
/* A header or an option that has cookies is before it in the same line. */
bool gb_before_is_cookie(const struct gb_named *text, const struct gb_name *name);
/* What signs tokens is named before it in the same line, or in the one above. */
bool gb_before_is_signer(const struct gb_named *text, const struct gb_name *name);
/* public_key, Sec-WebSocket-Key */
bool gb_before_is_public(const struct gb_name *name);
/* Set the flags of the value that follow from the text before the name. */
void gb_before_look(const struct gb_named *text, struct gb_name *name, struct gb_place *place);
/* The same, for what follows the name of a password behind a blank. */
void gb_before_look_in_prose(const struct gb_named *text, const struct gb_name *name, struct gb_place *place);
/* proxy_pass, /etc/passwd */
bool gb_before_is_other(const struct gb_named *text, const struct gb_name *name, const uint8_t *at);
/* apiToken, BOT_TOKEN; no nextToken */
bool gb_before_is_credential(const struct gb_name *name, const uint8_t *at);
/* nextToken, credentials, INVALID_API_KEY, "Unexpected token": @weak names are those of parsers too. @next is
 * the byte behind the name. */
bool gb_before_is_doubtful(
    const struct gb_named *text, const struct gb_name *name, const uint8_t *at, int next, bool weak);
/* Behind "_key", "_base", "2" and the like, which may follow a name. */
const uint8_t *gb_joint_suffix(struct gb_named *text, const uint8_t *p);
/* Behind what closes the name: a quote, also one with a backslash, a bracket, asterisks. */
const uint8_t *gb_joint_closing(struct gb_named *text, const uint8_t *p, struct gb_name *name);
/* key="password" value="x": behind "value", or NULL. */
const uint8_t *gb_joint_to_value(struct gb_named *text, const uint8_t *p);
/* description = "The password of the database", default = "x" below: behind "default", or NULL. */
const uint8_t *gb_joint_described(struct gb_named *text, const struct gb_name *name, const uint8_t *p);
/* password = args.password or "x": the quote behind the other value, or NULL. */
const uint8_t *gb_joint_alternative(struct gb_named *text, const uint8_t *p);
/* <input type="password" name="p" value="x">, "--password", type=str, default="x": behind @word without its sign,
 * or NULL. */
const uint8_t *gb_joint_input_value(struct gb_named *text, const uint8_t *p, const char *word);
/* Behind the '>' of an element whose attributes begin at @p, or NULL. */
const uint8_t *gb_joint_attributes(struct gb_named *text, const uint8_t *p);
/* At @p is a method that writes into a field, as in .send_keys("x"): its text, or NULL. */
const uint8_t *gb_joint_method(struct gb_named *text, const uint8_t *p);
/* The name goes on as that of a field of a form, which gets a text: Field.send_keys("x"), Input, 'x'. */
const uint8_t *gb_joint_widget(struct gb_named *text, const uint8_t *p);
/* The sign that joins the name and its value: *p is then behind it. */
bool gb_joint_sign(struct gb_named *text, const uint8_t **p, struct gb_place *place);
/* What YAML puts before a value: !!str x, &anchor x, | and the value in the next line. Behind it, or @p. */
const uint8_t *gb_joint_yaml(struct gb_named *text, const uint8_t *p);
/* strcmp(password, "x"): the text behind the name is what it is compared with. */
bool gb_joint_is_argument(const struct gb_named *text, const struct gb_name *name);
/* Password { get; set; } = "x", password { "x" }: where the value is, or NULL; @p is at the brace. */
const uint8_t *gb_joint_brace(struct gb_named *text, const uint8_t *p);
/* setPassword("x"), .withToken("x"): the name is that of a function which takes the secret. */
bool gb_joint_is_setter(const struct gb_name *name);
/* changePassword("bob", "x"): the second text, or NULL; @p is at the quote of the first. */
const uint8_t *gb_joint_second(struct gb_named *text, const uint8_t *p);
/* Some("x"), []byte("x"): behind the calls that only convert a text, or @p. */
const uint8_t *gb_joint_wrapper(struct gb_named *text, const uint8_t *p);

/* True if the value that begins at @p, with its quotes if it has any, must be masked. */
bool gb_guess_value(struct gb_named *text, const struct gb_place *place, const uint8_t *p);
/* A value [from, to) by its shape alone; @quoted ones are not taken for code. */
bool gb_guess_is_secret(
    const struct gb_place *place, const uint8_t *from, const uint8_t *to, bool quoted, int next);

/* {noop}x, as Spring and directories say that a password is not encoded: behind the mark, or @p. */
const uint8_t *gb_extent_encoding(struct gb_named *text, const uint8_t *p);
/* True for a text that a person may have chosen, and false for a placeholder. */
bool gb_guess_is_password(const uint8_t *from, const uint8_t *to);

/* Among the arguments of the command [name, to), from @p on. */
bool gb_command_find(struct gb_named *text, const uint8_t *name, const uint8_t *to, const uint8_t *p);
/* The length of a quote of prose at @p, such as \u2018; 0 if there is none. */
size_t gb_quote_curly(struct gb_named *text, const uint8_t *p);
/* Behind the blanks at @p, and the line breaks if @lines is set: a bounded number of them. */
const uint8_t *gb_named_skip_blanks(struct gb_named *text, const uint8_t *p, bool lines);
bool gb_named_goes_on(struct gb_named *text, const uint8_t *p, const char *word);
/* True if @word, given in lower case, is at @p in either case. */
static inline bool gb_named_is_at(struct gb_named *text, const uint8_t *p, const char *word) {
	/* Most words differ from the text in their first byte. */
	if (p < text->end && ((*p ^ (uint8_t)*word) & ~0x20))
		return false;
	return gb_named_goes_on(text, p, word);
}

/* "for admin: x", "was x": where the value begins; NULL if there is no such text at @p. */
const uint8_t *gb_prose_description(struct gb_named *text, const uint8_t *p, struct gb_place *place);
/* The length of "is" or the like, also in other languages; 0 if there is none at @p. */
size_t gb_prose_verb(struct gb_named *text, const uint8_t *p);
/* The same for languages that are written without blanks. */
size_t gb_prose_wide_verb(struct gb_named *text, const uint8_t *p);
/* Behind what opens a value without being a quote of code: asterisks, quotes of prose, tags. */
const uint8_t *gb_prose_opening(struct gb_named *text, const uint8_t *p, struct gb_place *place);
/* password As String = "x", password varchar(20) := 'x': the quote, or NULL. */
const uint8_t *gb_prose_declared(struct gb_named *text, const uint8_t *p);
/* In the next line that has a text, behind what a log puts before each line, or a fence of Markdown. */
const uint8_t *gb_prose_next_line(struct gb_named *text, const uint8_t *p);
/* Behind a type: String = "x", or @p. */
const uint8_t *gb_prose_type(struct gb_named *text, const uint8_t *p);
/* find("password").send_keys("x"): @p is at the first bracket. */
bool gb_method_find(struct gb_named *text, struct gb_place *place, const uint8_t *p);

/* A secret at @p whose name follows it: x for the password. */
bool gb_former_find(struct gb_named *text, const uint8_t *p);
/* as user bob with password x: the name is behind a user. */
bool gb_told_is_behind_user(const struct gb_named *text, const struct gb_name *name);
/* The password ... like `x`: the quote, or NULL; @p is behind the name. */
const uint8_t *gb_told_example(struct gb_named *text, const uint8_t *p);
/* The first cell of a row that says whether a program needs an option: PASSWORD  x  no  ... */
bool gb_told_is_option(struct gb_named *text, const uint8_t *p);
/* password authentication: what follows the name in prose and is no value. */
bool gb_told_is_noun(const uint8_t *from, size_t n);

/* An argument of a command, without its quotes. */
struct gb_argument {
	const uint8_t *from, *to;
	const uint8_t *next; /* behind it, and its quotes */
};

/* No address: ldap://host */
bool gb_argument_is_name(const struct gb_argument *arg);
/* "mysqladmin", "-px": the name of the command is all of a text in a list. */
bool gb_command_is_listed(struct gb_named *text, const uint8_t *name, const uint8_t *to);
/* The next argument of a command line, or of ["-u", "bob", "-p", "x"]. */
bool gb_argument_listed(struct gb_named *text, const uint8_t *p, struct gb_argument *arg);
bool gb_argument_next(struct gb_named *text, const uint8_t *p, struct gb_argument *arg);

/* -u bob -p x: @p is behind the option that names the user. */
bool gb_user_find(struct gb_named *text, const uint8_t *p);

/* Among the arguments of the function [name, p), which ends with its bracket. */
bool gb_call_find(struct gb_named *text, const uint8_t *name, const uint8_t *p);
/* In a data source name in the rest of the line: user:secret@tcp(host). */
bool gb_dsn_find(struct gb_named *text, const uint8_t *name, const uint8_t *p);
/* The argument of a directive: enable secret 5 x. */
bool gb_directive_find(struct gb_named *text, const uint8_t *name, const uint8_t *p);
/* The second half of "admin / x" in prose. */
bool gb_pair_find(struct gb_named *text, const uint8_t *name, const uint8_t *p);
/* user:password and username:pass stand for a user and a password. */
bool gb_user_is_example(const uint8_t *user, const uint8_t *end, const uint8_t *from, const uint8_t *to);
/* A user that a path or a name hardly begins with: admin, root. */
bool gb_prose_is_user(const uint8_t *from, const uint8_t *to);
/* INSERT INTO users (name, password) VALUES ('bob', 'x'): the value, or NULL; @p is behind the column's name. */
const uint8_t *gb_values_cell(struct gb_named *text, const uint8_t *column, const uint8_t *p);
/* In one of the next cells, or in the column below the name; @bar is behind the name. */
bool gb_table_guess(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *bar);
/* In the column below the name, which is the last one; @p is at the end of the line. */
bool gb_table_find_below(struct gb_named *text, const struct gb_name *name, const uint8_t *p);
/* user,password: the cell below the heading [column, p) in the row that follows. */
bool gb_csv_find(struct gb_named *text, const uint8_t *column, const uint8_t *p);
/* That value is masked: the rows behind it come next. */
bool gb_values_found(struct gb_named *text, const uint8_t *column);
/* users = {"bob": "x"}: @p is behind the byte that follows the name. */
bool gb_users_find(struct gb_named *text, const uint8_t *p);
/* The same cell of the row behind the one that was found. */
bool gb_cells_next(struct gb_named *text, const struct gb_named *found, const uint8_t *name);
/* Behind a bounded number of @marks. */
const uint8_t *gb_prose_skip_marks(struct gb_named *text, const uint8_t *p, const char *marks);
bool gb_prose_has_letter(const uint8_t *from, const uint8_t *to);
/* A digit or a sign: what words do not have. */
bool gb_prose_has_no_word(const uint8_t *from, const uint8_t *to);
/* Behind the "://" of an address. */
bool gb_userinfo_find(struct gb_named *text, const uint8_t *p);

#endif
