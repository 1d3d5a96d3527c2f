#include "guard/secrets_forms.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "value/wtf8.h"

struct forms {
	gb_form_handler handler;
	void *data;
	struct gb_buf out; /* what is being spelled; erased after use */
};

/* All at once: growing would leave copies behind. No form is longer, JSON in JSON of controls included. */
static bool forms_init(struct forms *forms, size_t n) {
	gb_buf_init(&forms->out, n * 8 + 64);
	return gb_buf_reserve(&forms->out, n * 8 + 64) != NULL;
}

static bool hand_over(struct forms *forms) {
	bool ok = !gb_buf_failed(&forms->out) && forms->handler(forms->data, forms->out.data, forms->out.len);
	if (forms->out.data)
		explicit_bzero(forms->out.data, forms->out.len);
	gb_buf_clear(&forms->out);
	return ok;
}

/* --- base64 --- */

/* Sixty-four characters: the last two are what the alphabets differ in. */
static char base64_char(unsigned six, const char last[2]) {
	if (six < 26)
		return (char)('A' + six);
	if (six < 52)
		return (char)('a' + six - 26);
	return six < 62 ? (char)('0' + six - 52) : last[six - 62];
}

static unsigned six_bits(const uint8_t *bytes, size_t n, size_t bit) {
	unsigned two = (unsigned)bytes[bit / 8] << 8 | (bit / 8 + 1 < n ? bytes[bit / 8 + 1] : 0);
	return two >> (10 - bit % 8) & 63;
}

/* The characters that come from the value alone, when @before bytes stand before it. */
static bool base64_inside(
    struct forms *forms, const uint8_t *value, size_t n, unsigned before, const char last[2]) {
	size_t first = (before * 8 + 5) / 6, end = (before + n) * 8 / 6;
	for (size_t i = first; i < end; i++)
		gb_buf_append_char(
		    &forms->out, base64_char(six_bits(value, n, i * 6 - (size_t)before * 8), last));
	return hand_over(forms);
}

/* The value by itself, up to its last bit. */
static bool base64_alone(
    struct forms *forms, const uint8_t *value, size_t n, const char last[2], bool padded) {
	for (size_t bit = 0; bit < n * 8; bit += 6)
		gb_buf_append_char(&forms->out, base64_char(six_bits(value, n, bit), last));
	while (padded && forms->out.len % 4)
		gb_buf_append_char(&forms->out, '=');
	return hand_over(forms);
}

static bool base64_forms(struct forms *forms, const uint8_t *value, size_t n) {
	static const char alphabets[][2] = {{'+', '/'}, {'-', '_'}};
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned before = 0; before < 3; before++)
			if (!base64_inside(forms, value, n, before, alphabets[i]))
				return false;
		if (!base64_alone(forms, value, n, alphabets[i], true) ||
		    !base64_alone(forms, value, n, alphabets[i], false))
			return false;
	}
	return true;
}

/* --- hex and addresses --- */

static bool hex_form(struct forms *forms, const uint8_t *value, size_t n, const char *format) {
	for (size_t i = 0; i < n; i++)
		gb_buf_printf(&forms->out, format, value[i]);
	return hand_over(forms);
}

/* @kept are the marks that stay as they are; a space may become '+'. */
static bool url_form(
    struct forms *forms, const uint8_t *value, size_t n, const char *kept, bool plus, const char *format) {
	for (size_t i = 0; i < n; i++) {
		char c = (char)value[i];
		if (c == ' ' && plus)
			gb_buf_append_char(&forms->out, '+');
		else if (c && (isalnum(value[i]) || strchr(kept, c)) && value[i] < 0x80)
			gb_buf_append_char(&forms->out, c);
		else
			gb_buf_printf(&forms->out, format, value[i]);
	}
	return hand_over(forms);
}

static bool url_forms(struct forms *forms, const uint8_t *value, size_t n) {
	/* encodeURIComponent, encodeURI, Python's quote, curl, forms, everything. */
	static const struct {
		const char *kept;
		bool plus;
	} ways[] = {{"-_.!~*'()", false}, {"-_.!~*'();/?:@&=+$,#", false}, {"-_.~/", false}, {"-_.~", false},
	    {"-_.~", true}, {"*-._", true}};
	for (unsigned i = 0; i < GB_COUNT(ways); i++)
		if (!url_form(forms, value, n, ways[i].kept, ways[i].plus, "%%%02X") ||
		    !url_form(forms, value, n, ways[i].kept, ways[i].plus, "%%%02x"))
			return false;
	return true;
}

/* --- JSON, and literals of programs --- */

struct spelling {
	const char *escaped; /* marks that get a backslash */
	const char *unit;    /* how a code unit is spelled; NULL: beyond ASCII text stays as it is */
	const char *control; /* how a control is spelled that has no letter */
	bool bytes;          /* byte by byte, not by characters */
};

static void spell_control(struct gb_buf *out, uint8_t c, const char *control) {
	static const char codes[] = "\n\r\t\b\f", letters[] = "nrtbf";
	const char *at = c ? strchr(codes, c) : NULL;
	/* Python's literals know \n, \r and \t only. */
	if (at && (control[1] == 'u' || at - codes < 3))
		gb_buf_printf(out, "\\%c", letters[at - codes]);
	else
		gb_buf_printf(out, control, c);
}

static void spell_unit(struct gb_buf *out, const char *format, uint32_t code) {
	if (code < 0x10000) {
		gb_buf_printf(out, format, code);
		return;
	}
	gb_buf_printf(out, format, 0xd800 + ((code - 0x10000) >> 10));
	gb_buf_printf(out, format, 0xdc00 + (code & 0x3ff));
}

static bool spell(struct forms *forms, const char *value, size_t n, const struct spelling *how) {
	for (size_t i = 0; i < n;) {
		uint8_t c = (uint8_t)value[i];
		if (c >= 0x80 && !how->bytes && how->unit) {
			uint32_t code;
			i += gb_wtf8_decode(value + i, &code);
			spell_unit(&forms->out, how->unit, code);
			continue;
		}
		i++;
		if (c < 0x20 || c == 0x7f || (c >= 0x80 && how->bytes))
			spell_control(&forms->out, c, how->control);
		else if (c < 0x80 && strchr(how->escaped, c))
			gb_buf_printf(&forms->out, "\\%c", c);
		else
			gb_buf_append_char(&forms->out, (char)c);
	}
	return hand_over(forms);
}

static bool spelled_forms(struct forms *forms, const char *value, size_t n) {
	static const struct spelling ways[] = {
	    {"\"\\", NULL, "\\u%04x", false},      /* JSON */
	    {"\"\\", "\\u%04x", "\\u%04x", false}, /* in ASCII */
	    {"\"\\", "\\u%04X", "\\u%04X", false},
	    {"\"\\/", NULL, "\\u%04x", false},
	    {"\\", NULL, "\\x%02x", false}, /* Python: with the quotes that need no escape */
	    {"'\\", NULL, "\\x%02x", false},
	    {"\\", NULL, "\\x%02x", true}, /* its bytes */
	    {"'\\", NULL, "\\x%02x", true},
	};
	bool text = gb_wtf8_scan(value, n) != GB_WTF8_INVALID;
	for (unsigned i = 0; i < GB_COUNT(ways); i++)
		if ((text || ways[i].bytes) && !spell(forms, value, n, &ways[i]))
			return false;
	return true;
}

static const struct spelling json = {"\"\\", NULL, "\\u%04x", false};

static bool spell_again(void *data, const void *bytes, size_t n) {
	return spell(data, bytes, n, &json);
}

/* JSON inside of JSON. */
static bool nested_form(struct forms *forms, const char *value, size_t n) {
	if (gb_wtf8_scan(value, n) == GB_WTF8_INVALID)
		return true;
	struct forms inner = {.handler = spell_again, .data = forms};
	if (!forms_init(&inner, n))
		return false;
	bool ok = spell(&inner, value, n, &json);
	gb_buf_finish(&inner.out);
	return ok;
}

bool gb_secret_forms(const void *value, size_t n, gb_form_handler handler, void *data) {
	struct forms forms = {.handler = handler, .data = data};
	bool ok = forms_init(&forms, n) && handler(data, value, n) && base64_forms(&forms, value, n) &&
		  hex_form(&forms, value, n, "%02x") && hex_form(&forms, value, n, "%02X") &&
		  url_forms(&forms, value, n) && spelled_forms(&forms, value, n) &&
		  nested_form(&forms, value, n);
	gb_buf_finish(&forms.out);
	return ok;
}
