#include "../tap.h"
#include "base/language.h"

static int found(const char *name) {
	enum gb_language language;
	return gb_language_find(name, &language) ? (int)language : -1;
}

static int of_file(const char *path) {
	enum gb_language language;
	return gb_language_of_file(path, &language) ? (int)language : -1;
}

/* Check that each word of @list, separated by spaces, is found as @language. */
static void check_words(const char *list, unsigned language, int (*find)(const char *word)) {
	struct gb_str rest = gb_str_from(list), word;
	for (bool more = *list; more;) {
		char text[32];
		more = gb_str_cut(&rest, ' ', &word);
		gb_copy_text(text, sizeof text, word);
		CHECK_INT(find(text), language);
	}
}

TEST(every_name_alias_and_ending_belongs_to_one_language) {
	for (unsigned i = 0; i < GB_LANGUAGES; i++) {
		const struct gb_language_info *info = &gb_language_infos[i];
		CHECK_STR(gb_language_name((enum gb_language)i), info->name);
		CHECK_STR(gb_language_names[i], info->name);
		CHECK_INT(found(info->name), i);
		CHECK(*info->doc && *info->section && info->syntax != GB_SYNTAX_NONE);
		check_words(info->aliases, i, found);
		check_words(info->endings, i, of_file);
	}
	CHECK(!gb_language_names[GB_LANGUAGES]);
}

TEST(aliases_are_found) {
	CHECK_INT(found("ts"), GB_TYPESCRIPT);
	CHECK_INT(found("nodejs"), GB_NODE);
	CHECK_INT(found("bash"), GB_SHELL);
	CHECK_INT(found("python3"), GB_PYTHON);
}

TEST(other_words_are_not_found) {
	static const char *const none[] = {"", " ", "cobol", "py python3", "ts ", "TS", "script"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK_INT(found(none[i]), -1);
}

TEST(the_last_ending_of_a_file_determines_its_language) {
	CHECK_INT(of_file("a/b.d/c.test.py"), GB_PYTHON);
	CHECK_INT(of_file("./x.cjs"), GB_NODE);
	CHECK_INT(of_file("x.py.txt"), -1);
	CHECK_INT(of_file("folder.py/program"), -1);
	CHECK_INT(of_file("program"), -1);
	CHECK_INT(of_file("x."), -1);
	CHECK_INT(of_file(""), -1);
}

TEST(lists_in_errors_have_all_languages) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1000);
	gb_language_write_names(&out);
	CHECK(strstr(gb_buf_c_str(&out), "python (py, python3), shell (sh, bash"));
	CHECK(strstr(gb_buf_c_str(&out), ", deno"));
	gb_buf_clear(&out);
	gb_language_write_endings(&out);
	CHECK(strstr(gb_buf_c_str(&out), ".js, .mjs (javascript), .py (python), "));
	CHECK(!strstr(gb_buf_c_str(&out), "deno"));
}
