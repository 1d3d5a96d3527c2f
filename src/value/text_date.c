#include <math.h>
#include <stdio.h>

#include "value/text.h"

#define DAY_MS   86400000
#define MAX_DATE 8.64e15

/* Days since 1970 in the proleptic Gregorian calendar. Years begin in March here, so that the leap day is the
 * last; an era is 400 years. */
static int64_t days_from_civil(int64_t year, int month, int day) {
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t of_era = year - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day) {
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t of_era = days - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;
	*ret_day = (int)(of_year - (153 * month + 2) / 5 + 1);
	*ret_month = (int)(month < 10 ? month + 3 : month - 9);
	*ret_year = year + era * 400 + (*ret_month <= 2);
}

size_t gb_date_format(char text[GB_DATE_TEXT], double milliseconds) {
	int64_t ms = (int64_t)milliseconds;
	int64_t days = ms >= 0 ? ms / DAY_MS : -((DAY_MS - 1 - ms) / DAY_MS);
	int of_day = (int)(ms - days * DAY_MS), month, day;
	int64_t year;
	civil_from_days(days, &year, &month, &day);
	const char *sign = year < 0 ? "-" : year > 9999 ? "+" : "";
	return (size_t)snprintf(text, GB_DATE_TEXT, "%s%0*lld-%02d-%02dT%02d:%02d:%02d.%03dZ", sign,
	    *sign ? 6 : 4, (long long)(year < 0 ? -year : year), month, day, of_day / 3600000,
	    of_day / 60000 % 60, of_day / 1000 % 60, of_day % 1000);
}

/* Parse exactly @width digits, followed by the character @after. */
static bool parse_digits(struct gb_str *rest, unsigned width, char after, int *ret_number) {
	if (rest->n < width + 1 || rest->p[width] != after)
		return false;
	int number = 0;
	for (unsigned i = 0; i < width; i++) {
		if (rest->p[i] < '0' || rest->p[i] > '9')
			return false;
		number = number * 10 + (rest->p[i] - '0');
	}
	*rest = (struct gb_str){rest->p + width + 1, rest->n - width - 1};
	*ret_number = number;
	return true;
}

bool gb_date_parse(struct gb_str text, double *ret_milliseconds) {
	bool negative = text.n && text.p[0] == '-', is_signed = negative || (text.n && text.p[0] == '+');
	struct gb_str rest = {text.p + is_signed, text.n - is_signed};
	int year, month, day, hour, minute, second, ms = 0;
	if (!parse_digits(&rest, is_signed ? 6 : 4, '-', &year) || !parse_digits(&rest, 2, '-', &month) ||
	    !parse_digits(&rest, 2, 'T', &day) || !parse_digits(&rest, 2, ':', &hour) ||
	    !parse_digits(&rest, 2, ':', &minute))
		return false;
	if (!parse_digits(&rest, 2, 'Z', &second) &&
	    !(parse_digits(&rest, 2, '.', &second) && parse_digits(&rest, 3, 'Z', &ms)))
		return false;
	if (rest.n || (negative && year == 0) || month < 1 || month > 12 || day < 1 || hour > 23 ||
	    minute > 59 || second > 59)
		return false;
	int64_t signed_year = negative ? -year : year, days = days_from_civil(signed_year, month, day),
		back_year;
	int back_month, back_day;
	civil_from_days(days, &back_year, &back_month, &back_day);
	/* A day that the month does not have converts back to a different date. */
	if (back_month != month || back_day != day)
		return false;
	double total = (double)days * DAY_MS + ((hour * 60.0 + minute) * 60 + second) * 1000 + ms;
	*ret_milliseconds = total;
	return fabs(total) <= MAX_DATE;
}
