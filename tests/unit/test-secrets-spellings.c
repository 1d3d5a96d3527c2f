/* How credentials are spelled in public code, documentation and logs: how many of the spellings are masked,
 * exactly. */
#include "secrets.h"

#include "base/cleanup.h"
#include "table.h"
#include "tap.h"

enum { LINE_MAX = 1000 };

static struct gb_filter *filter;

struct recall {
	unsigned found, all;
};

/* Splits a line of the file: @text without the marks, @masked with "***" for each marked value. */
static void read_spelling(const char *line, struct gb_buf *text, struct gb_buf *masked) {
	static const char open[] = "\xe2\x9f\xa6", close[] = "\xe2\x9f\xa7";
	bool marked = false;
	for (; *line; line++) {
		if (strncmp(line, open, 3) == 0 || strncmp(line, close, 3) == 0) {
			if (!marked)
				gb_buf_append(masked, "***", 3);
			marked = !marked;
			line += 2;
			continue;
		}
		bool line_break = strncmp(line, "\\n", 2) == 0;
		char byte = line_break ? '\n' : *line;
		line += line_break;
		gb_buf_append_char(text, byte);
		if (!marked)
			gb_buf_append_char(masked, byte);
	}
}

static void try_spelling(const char *line, void *data) {
	struct recall *recall = data;
	gb_auto_buf struct gb_buf text, expected, out;
	gb_buf_init(&text, LINE_MAX);
	gb_buf_init(&expected, LINE_MAX);
	gb_buf_init(&out, LINE_MAX);
	read_spelling(line, &text, &expected);
	mask_whole(filter, text.data, text.len, &out);
	bool found = strcmp(gb_buf_c_str(&out), gb_buf_c_str(&expected)) == 0;
	recall->all++;
	recall->found += found;
	if (!found)
		printf("#   %s\n#     became %s\n", line, gb_buf_c_str(&out));
}

static void each_line(const char *name, void (*each)(const char *line, void *data), void *data) {
	char line[LINE_MAX];
	FILE *file = table_open(name);
	if (!CHECK(file != NULL))
		return;
	filter = gb_filter_create();
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && strncmp(line, "# ", 2) != 0)
			each(line, data);
	}
	fclose(file);
	gb_filter_destroy(filter);
}

static void check_recall(const char *name, unsigned least, unsigned percent) {
	struct recall recall = {0};
	each_line(name, try_spelling, &recall);
	printf("# %s: %u of %u\n", name, recall.found, recall.all);
	CHECK(recall.all >= least);
	CHECK(recall.found * 100 >= recall.all * percent);
}

TEST(spellings_of_the_development_set_are_masked) {
	check_recall("secrets/spellings-dev.txt", 150, 100);
}

TEST(spellings_of_the_held_out_set_are_masked) {
	check_recall("secrets/spellings-held.txt", 150, 100);
}

TEST(spellings_found_in_public_repositories_are_masked) {
	check_recall("secrets/spellings-public.txt", 50, 98);
}

/* Found by searching public code, documentation and logs; then the patterns were extended. */
TEST(spellings_of_the_second_development_set_are_masked) {
	check_recall("secrets/spellings-found.txt", 300, 97);
}

TEST(spellings_of_the_third_development_set_are_masked) {
	check_recall("secrets/spellings-found-2.txt", 300, 97);
}

TEST(spellings_of_the_fourth_development_set_are_masked) {
	check_recall("secrets/spellings-found-3.txt", 300, 97);
}

TEST(spellings_of_the_fifth_development_set_are_masked) {
	check_recall("secrets/spellings-found-4.txt", 320, 100);
}

TEST(spellings_of_the_sixth_development_set_are_masked) {
	check_recall("secrets/spellings-found-5.txt", 320, 95);
}

TEST(spellings_of_the_seventh_development_set_are_masked) {
	check_recall("secrets/spellings-found-6.txt", 409, 98);
}

TEST(spellings_of_the_eighth_development_set_are_masked) {
	check_recall("secrets/spellings-found-7.txt", 375, 97);
}

TEST(spellings_that_the_patterns_were_not_made_for_are_masked) {
	check_recall("secrets/spellings-found-8.txt", 340, 94);
	check_recall("secrets/spellings-found-9.txt", 320, 98);
}

TEST(spellings_of_the_thirteenth_development_set_are_masked) {
	check_recall("secrets/spellings-found-10.txt", 320, 99);
}

TEST(spellings_of_the_fourteenth_development_set_are_masked) {
	check_recall("secrets/spellings-found-11.txt", 221, 98);
}

TEST(spellings_of_the_fifteenth_development_set_are_masked) {
	check_recall("secrets/spellings-found-12.txt", 346, 97);
}

TEST(spellings_of_the_sixteenth_development_set_are_masked) {
	check_recall("secrets/spellings-found-13.txt", 272, 95);
}

TEST(spellings_of_the_seventeenth_development_set_are_masked) {
	check_recall("secrets/spellings-found-14.txt", 209, 94);
}

/* Words in places that can only have a password, compound names, nested quotes. */
TEST(spellings_written_by_place_are_masked) {
	check_recall("secrets/spellings-places.txt", 900, 88);
}

/* Words that describe a password, signs at the beginning of a value, tables and settings in one line. */
TEST(spellings_written_for_what_was_missed_are_masked) {
	check_recall("secrets/spellings-causes.txt", 600, 93);
}

TEST(spellings_of_the_same_classes_are_masked) {
	check_recall("secrets/spellings-classes.txt", 500, 97);
}

/* Mostly plain words as passwords, in syntaxes that the other sets have seldom. */
TEST(spellings_written_by_class_are_masked) {
	check_recall("secrets/spellings-written.txt", 500, 92);
}

/* Rows of tables, quotes of word processors, sentences, commands, directives: what the other sets had not. */
TEST(further_spellings_are_masked) {
	check_recall("secrets/spellings-further.txt", 340, 91);
}

static void check_negative(const char *line, void *data) {
	unsigned *count = data;
	gb_auto_buf struct gb_buf text, expected, out;
	gb_buf_init(&text, LINE_MAX);
	gb_buf_init(&expected, LINE_MAX);
	gb_buf_init(&out, LINE_MAX);
	read_spelling(line, &text, &expected);
	mask_whole(filter, text.data, text.len, &out);
	CHECK_STR(gb_buf_c_str(&out), gb_buf_c_str(&text));
	++*count;
}

TEST(code_and_prose_that_name_secrets_are_left_alone) {
	unsigned count = 0;
	each_line("secrets/negatives.txt", check_negative, &count);
	CHECK(count >= 400);
}

/* Cut at every byte, the same comes out: the names and the values are looked at more than once then. */
static void check_cuts(const char *line, void *data) {
	(void)data;
	gb_auto_buf struct gb_buf text, expected, out;
	gb_buf_init(&text, LINE_MAX);
	gb_buf_init(&expected, LINE_MAX);
	gb_buf_init(&out, LINE_MAX);
	read_spelling(line, &text, &expected);
	gb_buf_clear(&expected);
	mask_whole(filter, text.data, text.len, &expected);
	struct gb_mask *stream = gb_mask_create(filter);
	for (size_t cut = 0; cut <= text.len; cut++) {
		gb_buf_clear(&out);
		gb_mask_feed(stream, text.data, cut, &out);
		gb_mask_feed(stream, text.data + cut, text.len - cut, &out);
		gb_mask_end(stream, &out);
		CHECK_STR(gb_buf_c_str(&out), gb_buf_c_str(&expected));
	}
	gb_buf_clear(&out);
	for (size_t i = 0; i < text.len; i++)
		gb_mask_feed(stream, text.data + i, 1, &out);
	gb_mask_end(stream, &out);
	CHECK_STR(gb_buf_c_str(&out), gb_buf_c_str(&expected));
	gb_mask_destroy(stream);
}

TEST(masking_does_not_depend_on_where_a_spelling_is_split) {
	each_line("secrets/spellings-dev.txt", check_cuts, NULL);
	each_line("secrets/spellings-held.txt", check_cuts, NULL);
	each_line("secrets/spellings-public.txt", check_cuts, NULL);
	each_line("secrets/spellings-found.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-2.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-3.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-4.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-5.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-6.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-7.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-8.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-9.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-10.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-11.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-12.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-13.txt", check_cuts, NULL);
	each_line("secrets/spellings-found-14.txt", check_cuts, NULL);
	each_line("secrets/spellings-places.txt", check_cuts, NULL);
	each_line("secrets/spellings-causes.txt", check_cuts, NULL);
	each_line("secrets/spellings-further.txt", check_cuts, NULL);
	each_line("secrets/spellings-classes.txt", check_cuts, NULL);
	each_line("secrets/spellings-written.txt", check_cuts, NULL);
	each_line("secrets/negatives.txt", check_cuts, NULL);
}
