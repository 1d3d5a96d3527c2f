#include "cli/glyph.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "value/wtf8.h"

/* In addition to gb_wtf8_is_unsafe, in ascending order. */
static const struct {
	uint32_t first, last;
} misleading[] = {
    {0xa0, 0xa0},       /* a space that is none */
    {0xad, 0xad},       /* soft hyphen */
    {0x300, 0x36f},     /* drawn over the character before; also the invisible joiner */
    {0x483, 0x489},     /* the same, Cyrillic */
    {0x115f, 0x1160},   /* Hangul fillers */
    {0x1680, 0x1680},   /* Ogham space */
    {0x17b4, 0x17b5},   /* Khmer, invisible */
    {0x180b, 0x180f},   /* Mongolian selectors */
    {0x1ab0, 0x1aff},   /* drawn over */
    {0x1dc0, 0x1dff},   /* drawn over */
    {0x2000, 0x200d},   /* spaces, joiners */
    {0x202f, 0x202f},   /* narrow space */
    {0x205f, 0x206f},   /* spaces, invisible operators, direction */
    {0x20d0, 0x20ff},   /* drawn over */
    {0x2800, 0x2800},   /* empty braille */
    {0x3000, 0x3000},   /* wide space */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xe000, 0xf8ff},   /* private use: depends on the font */
    {0xfe00, 0xfe0f},   /* selectors */
    {0xfe20, 0xfe2f},   /* drawn over */
    {0xffa0, 0xffa0},   /* Hangul filler */
    {0xfff0, 0xfffc},   /* annotations, objects */
    {0x1bca0, 0x1bca3}, /* shorthand, invisible */
    {0x1d173, 0x1d17a}, /* music, invisible */
    {0xe0000, 0x10ffff} /* tags, selectors, private use */
};

bool glyph_is_misleading(uint32_t code) {
	if (gb_wtf8_is_unsafe(code))
		return true;
	for (size_t i = 0; i < GB_COUNT(misleading) && misleading[i].first <= code; i++)
		if (code <= misleading[i].last)
			return true;
	return false;
}

struct glyph glyph_first(const char *text, size_t n) {
	uint32_t code = (unsigned char)*text;
	size_t length = gb_wtf8_next(text, n, &code);
	struct glyph glyph = {.bytes = length ? length : 1, .is_non_ascii = code >= 0x80};
	if (!length)
		glyph.is_number = snprintf(glyph.text, sizeof glyph.text, "<0x%02X>", (unsigned)code) > 0;
	else if (glyph_is_misleading(code))
		glyph.is_number = snprintf(glyph.text, sizeof glyph.text, "<U+%04X>", (unsigned)code) > 0;
	else
		memcpy(glyph.text, text, glyph.bytes);
	/* From here on some characters are two columns wide, depending on the terminal: assume two. */
	glyph.width = glyph.is_number ? (unsigned)strlen(glyph.text) : code >= 0x1100 ? 2 : 1;
	return glyph;
}
