/* The list of files that the owner trusts. */
#include "../tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/chain.h"
#include "store/trusted.h"

#define FIRST "glovebox trusted files 1\n"
#define HASH  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static bool parses(struct gb_str text, size_t *ret_n) {
	struct gb_trusted *list = NULL;
	struct gb_err err = {0};
	bool ok = gb_trusted_parse(text, &list, &err);
	CHECK(ok == (err.code == GB_OK) && ok == (list != NULL));
	*ret_n = list ? list->n : 0;
	gb_trusted_destroy(list);
	return ok;
}

TEST(only_the_exact_format_is_accepted) {
	static const struct {
		const char *text;
		int n; /* -1: rejected */
	} cases[] = {
	    {"", 0},
	    {FIRST, 0},
	    {FIRST HASH " /a\n", 1},
	    {FIRST HASH " /a\n" HASH " /b c\n", 2},
	    {FIRST HASH " /a", -1},
	    {FIRST HASH " /a\n" HASH " /a\n", -1},
	    {FIRST HASH " a\n", -1},
	    {FIRST HASH " \n", -1},
	    {FIRST HASH "  /a\n", -1},
	    {FIRST HASH "/a\n", -1},
	    {FIRST "A" HASH " /a\n", -1},
	    {FIRST "\n", -1},
	    {FIRST HASH " /a\n\n", -1},
	    {FIRST HASH " /a\r\n", -1},
	    {FIRST "00112233 /a\n", -1},
	    {FIRST "AA112233445566778899aabbccddeeff00112233445566778899aabbccddeeff /a\n", -1},
	    {"glovebox trusted files 2\n", -1},
	    {"glovebox trusted files 1", -1},
	    {HASH " /a\n", -1},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		size_t n;
		bool ok = parses(gb_str_from(cases[i].text), &n);
		if (!CHECK(ok == (cases[i].n >= 0)) || !CHECK(!ok || (int)n == cases[i].n))
			printf("# case %zu\n", i);
	}
	static const char zero[] = FIRST HASH " /a\0b\n";
	size_t n;
	CHECK(!parses((struct gb_str){zero, sizeof zero - 1}, &n));
}

TEST(number_of_entries_is_limited) {
	gb_auto_buf struct gb_buf text;
	size_t n;
	gb_buf_init(&text, 4 << 20);
	gb_buf_printf(&text, FIRST);
	for (int i = 0; i < GB_TRUSTED_MAX; i++)
		gb_buf_printf(&text, HASH " /%d\n", i);
	CHECK(parses(gb_buf_str(&text), &n) && n == GB_TRUSTED_MAX);
	gb_buf_printf(&text, HASH " /one-more\n");
	CHECK(!parses(gb_buf_str(&text), &n));
}

/* --- the file --- */

static char folder[] = "/tmp/glovebox-trusted-XXXXXX";
static char dir[100], file[130];

__attribute__((constructor)) static void set_up(void) {
	if (!mkdtemp(folder))
		exit(1);
	snprintf(dir, sizeof dir, "%s/state", folder);
	snprintf(file, sizeof file, "%s/trusted-files", dir);
}

__attribute__((destructor)) static void tear_down(void) {
	unlink(file);
	rmdir(dir);
	rmdir(folder);
}

static bool has(const char *path, const char *content) {
	struct gb_trusted *list = NULL;
	struct gb_err err = {0};
	struct gb_hash hash;
	gb_hash_bytes(content, strlen(content), &hash);
	bool ok = gb_trusted_read(dir, &list, &err) && gb_trusted_has(list, path, &hash);
	CHECK_STR(err.message, "");
	gb_trusted_destroy(list);
	return ok;
}

static bool set(const char *path, const char *content, bool *ret_changed) {
	struct gb_hash hash;
	struct gb_err err = {0};
	if (content)
		gb_hash_bytes(content, strlen(content), &hash);
	return gb_trusted_set(dir, path, content ? &hash : NULL, ret_changed, &err);
}

TEST(path_is_trusted_with_one_content_until_revoked) {
	bool changed = true;
	struct stat st;
	CHECK(!has("/p", "one"));
	CHECK(set("/p", NULL, &changed) && !changed && access(dir, F_OK) != 0);
	CHECK(set("/p", "one", &changed) && changed);
	CHECK(set("/q", "one", &changed) && changed);
	CHECK(stat(file, &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(has("/p", "one") && has("/q", "one") && !has("/p", "two") && !has("/r", "one"));
	CHECK(set("/p", "one", &changed) && !changed);
	CHECK(set("/p", "two", &changed) && changed);
	CHECK(has("/p", "two") && !has("/p", "one") && has("/q", "one"));
	CHECK(set("/p", NULL, &changed) && changed);
	CHECK(!has("/p", "two") && has("/q", "one"));
	CHECK(
	    !set("/a\nb", "one", &changed) && !set("relative", "one", &changed) && !set("", "one", &changed));
}

static bool reads(void) {
	struct gb_trusted *list = NULL;
	bool ok = gb_trusted_read(dir, &list, NULL);
	gb_trusted_destroy(list);
	return ok;
}

TEST(list_writable_by_others_is_rejected) {
	bool changed;
	CHECK(set("/p", "one", &changed) && reads());
	CHECK(chmod(file, 0620) == 0 && !reads());
	CHECK(chmod(file, 0602) == 0 && !reads() && !set("/q", "one", &changed));
	CHECK(chmod(file, 0600) == 0 && reads());
	CHECK(chmod(dir, 0770) == 0 && !reads());
	CHECK(chmod(dir, 0700) == 0 && reads());
}

/* None of these may block. */
TEST(list_that_is_not_a_regular_file_is_rejected) {
	bool changed;
	char other[130];
	snprintf(other, sizeof other, "%s/other", dir);
	CHECK(set("/p", "one", &changed) && rename(file, other) == 0);
	CHECK(symlink(other, file) == 0 && !reads() && unlink(file) == 0);
	CHECK(mkfifo(file, 0600) == 0 && !reads() && unlink(file) == 0);
	CHECK(mkdir(file, 0700) == 0 && !reads() && rmdir(file) == 0);
	CHECK(rename(other, file) == 0 && reads());
}
