#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value/text.h"

enum { MAX_DIGITS = 17, SAFE_DIGITS = 15, EXACT_POWERS = 22 };

/* At powers of two the nearest digits may not parse back to @number, while the next higher ones do. */
static bool round_up(char *text, double number) {
	char *last = strchr(text, 'e') - 1;
	if (*last < '0' || *last > '8')
		return false;
	++*last;
	return strtod(text, NULL) == number;
}

/* The shortest digits that parse back to @number, without trailing zeros, and the position of the point:
 * 0.<digits> * 10^point. @number is finite and positive. */
static int shortest_digits(double number, char digits[MAX_DIGITS + 1], int *ret_point) {
	char text[40];
	/* Start with 15 digits, which suffice for most; subnormal numbers have fewer bits and may need fewer
	 * digits. */
	int precision = number < 0x1p-1022 ? 1 : SAFE_DIGITS;
	for (; precision <= MAX_DIGITS; precision++) {
		snprintf(text, sizeof text, "%.*e", precision - 1, number);
		if (precision == MAX_DIGITS || strtod(text, NULL) == number || round_up(text, number))
			break;
	}
	int n = 0;
	const char *at = text;
	for (; *at != 'e'; at++)
		if (*at >= '0' && *at <= '9')
			digits[n++] = *at;
	*ret_point = (int)strtol(at + 1, NULL, 10) + 1;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return n;
}

/* ECMAScript's Number::toString. */
static int format_positive(char *text, size_t room, double number) {
	char digits[MAX_DIGITS + 1];
	int point, n = shortest_digits(number, digits, &point);
	if (n <= point && point <= 21)
		return snprintf(text, room, "%s%.*s", digits, point - n, "000000000000000000000");
	if (0 < point && point <= 21)
		return snprintf(text, room, "%.*s.%s", point, digits, digits + point);
	if (-6 < point && point <= 0)
		return snprintf(text, room, "0.%.*s%s", -point, "00000", digits);
	const char *dot = n > 1 ? "." : "";
	return snprintf(text, room, "%c%s%se%+d", digits[0], dot, digits + 1, point - 1);
}

size_t gb_number_format(char text[GB_NUMBER_TEXT], double number) {
	if (isnan(number))
		return (size_t)snprintf(text, GB_NUMBER_TEXT, "NaN");
	if (isinf(number))
		return (size_t)snprintf(text, GB_NUMBER_TEXT, "%sInfinity", number < 0 ? "-" : "");
	if (fabs(number) <= 0x1p53 && number == trunc(number))
		return (size_t)snprintf(text, GB_NUMBER_TEXT, "%" PRId64, (int64_t)number);
	if (number < 0)
		*text++ = '-';
	return (size_t)(number < 0) + (size_t)format_positive(text, GB_NUMBER_TEXT - 1, fabs(number));
}

static double parse_with_strtod(const char *zero_terminated) {
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double number = c ? strtod_l(zero_terminated, NULL, c) : strtod(zero_terminated, NULL);
	if (c)
		freelocale(c);
	return number;
}

/* Few digits and a small power of ten: both are exact as doubles, so a single rounding gives the correct
 * result. */
static bool parse_fast(struct gb_str text, double *ret_number) {
	static const double powers[EXACT_POWERS + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	size_t i = text.p[0] == '-', n_digits = 0, after_point = 0;
	bool negative = i, point = false;
	int64_t digits = 0;
	for (; i < text.n && text.p[i] != 'e' && text.p[i] != 'E'; i++) {
		if (text.p[i] == '.') {
			point = true;
			continue;
		}
		if (++n_digits > SAFE_DIGITS)
			return false;
		digits = digits * 10 + (text.p[i] - '0');
		after_point += point;
	}
	if (i < text.n)
		return false;
	double number = (double)digits / powers[after_point];
	*ret_number = negative ? -number : number;
	return true;
}

bool gb_number_parse(struct gb_str text, double *ret_number) {
	if (parse_fast(text, ret_number))
		return true;
	char small[64];
	char *copy = text.n < sizeof small ? small : malloc(text.n + 1);
	if (!copy)
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	*ret_number = parse_with_strtod(copy);
	if (copy != small)
		free(copy);
	return true;
}
