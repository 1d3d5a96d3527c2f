/* How credentials are spelled in public code, documentation and logs: how many of the spellings are masked,
 * exactly. */
#include "secrets.h"

#include "base/cleanup.h"
#include "table.h"
#include "tap.h"

enum { LINE_MAX = 1000, PERCENT = 98 };

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

static void try_spelling(const char *line, bool tell, struct recall *recall) {
	gb_auto_buf struct gb_buf text, expected, out;
	gb_buf_init(&text, LINE_MAX);
	gb_buf_init(&expected, LINE_MAX);
	gb_buf_init(&out, LINE_MAX);
	read_spelling(line, &text, &expected);
	mask_whole(filter, text.data, text.len, &out);
	bool found = strcmp(gb_buf_c_str(&out), gb_buf_c_str(&expected)) == 0;
	recall->all++;
	recall->found += found;
	if (!found && tell)
		printf("#   %s\n#     became %s\n", line, gb_buf_c_str(&out));
}

static struct recall try_file(const char *name, bool tell) {
	char line[LINE_MAX];
	struct recall recall = {0};
	FILE *file = table_open(name);
	if (!CHECK(file != NULL))
		return recall;
	filter = gb_filter_create();
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && strncmp(line, "# ", 2) != 0)
			try_spelling(line, tell, &recall);
	}
	fclose(file);
	gb_filter_destroy(filter);
	printf("# %s: %u of %u\n", name, recall.found, recall.all);
	return recall;
}

TEST(spellings_that_the_patterns_were_made_with_are_masked) {
	struct recall recall = try_file("secrets/spellings-dev.txt", true);
	CHECK(recall.all >= 150);
	CHECK(recall.found * 100 >= recall.all * PERCENT);
}

/* What is missed is not told: whoever tunes the patterns must not see it. */
TEST(spellings_that_the_patterns_were_not_made_with_are_masked) {
	struct recall recall = try_file("secrets/spellings-held.txt", getenv("SPELLINGS_TELL") != NULL);
	CHECK(recall.all >= 150);
	CHECK(recall.found * 100 >= recall.all * PERCENT);
}
