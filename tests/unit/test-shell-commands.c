/* Refused shell commands: one table and one reader for the static guard and for restricted mode. */
#include "../tap.h"

#include "../scripts.h"
#include "../table.h"
#include "base/cleanup.h"
#include "runtime/shell/commands.h"

static const enum gb_refused_mode modes[] = {GB_REFUSED_GUARD, GB_REFUSED_RESTRICTED};
static const enum gb_refused_mode all_modes[] = {
    GB_REFUSED_GUARD, GB_REFUSED_RESTRICTED, GB_REFUSED_RESTRICTED_NETWORK};

static bool check(const char *script, size_t n, enum gb_refused_mode mode, struct gb_refusal *ret) {
	return gb_commands_check((struct gb_str){script, n}, mode, NULL, 0, ret);
}

static bool passes(const char *script, enum gb_refused_mode mode) {
	struct gb_refusal refusal;
	return check(script, strlen(script), mode, &refusal);
}

/* In memory that ends where the script does. */
static bool check_text(const char *text, enum gb_refused_mode mode, struct gb_refusal *ret) {
	gb_auto_buf struct gb_buf script;
	script_unescape(text, true, &script);
	gb_auto_free char *exact = malloc(script.len ? script.len : 1);
	if (!exact)
		abort();
	if (script.len)
		memcpy(exact, script.data, script.len);
	return check(exact, script.len, mode, ret);
}

/* --- the reader --- */

static void check_guard_refused(const struct record *record) {
	const char *script = record_get(record, "sh"), *other = record_get(record, "restricted");
	if (!script)
		return;
	for (size_t i = 0; i < GB_COUNT(modes); i++) {
		struct gb_refusal refusal = {.pattern = "none"};
		bool restricted = modes[i] == GB_REFUSED_RESTRICTED;
		const char *pattern = restricted && other ? other : record_get(record, "pattern");
		bool passed = check_text(script, modes[i], &refusal);
		if (restricted && other && strcmp(other, "passes") == 0
			? !CHECK(passed)
			: !CHECK_STR(refusal.pattern, pattern))
			printf("#   line %u, mode %d\n", record->line, modes[i]);
	}
}

TEST(scripts_that_the_guard_refuses_are_refused_in_restricted_mode) {
	CHECK(table_each("guard/refused.txt", check_guard_refused) > 130);
}

static void check_guard_passed(const struct record *record) {
	const char *script = record_get(record, "sh"), *other = record_get(record, "restricted");
	for (size_t i = 0; script && i < GB_COUNT(modes); i++) {
		struct gb_refusal refusal = {.pattern = "none"};
		bool restricted = modes[i] == GB_REFUSED_RESTRICTED;
		bool passed = check_text(script, modes[i], &refusal);
		if (restricted && other ? !CHECK_STR(refusal.pattern, other) : !CHECK(passed))
			printf("#   line %u, mode %d: %s\n", record->line, modes[i], refusal.pattern);
	}
}

TEST(scripts_that_the_guard_accepts_pass_in_restricted_mode) {
	CHECK(table_each("guard/passed.txt", check_guard_passed) > 70);
}

static void check_restricted(const struct record *record) {
	const char *script = record_get(record, "script"), *refused = record_get(record, "refused");
	const char *line = record_get(record, "line"), *guard = record_get(record, "guard");
	struct gb_refusal refusal = {.word = ""}, guards = {.word = ""};
	bool right = CHECK_INT(check_text(script, GB_REFUSED_RESTRICTED, &refusal), !refused) &
		     CHECK_STR(refusal.word, refused ? refused : "");
	if (refused)
		right &= CHECK(*refusal.reason && *refusal.instead) &
			 CHECK_INT(refusal.line, line ? atoi(line) : 1);
	/* The guard does the same, unless the record says "passes", "refuses" or "differs" (another word). */
	bool passed = check_text(script, GB_REFUSED_GUARD, &guards);
	right &= CHECK_INT(passed, guard ? strcmp(guard, "passes") == 0 : !refused);
	right &=
	    CHECK(guard ? strcmp(guards.word, refusal.word) != 0 : strcmp(guards.word, refusal.word) == 0);
	if (!right)
		printf("#   line %u: %s\n", record->line, script);
}

TEST(scripts_of_restricted_mode_in_both_modes) {
	CHECK(table_each("shell/restricted.txt", check_restricted) > 70);
}

TEST(callers_can_add_patterns) {
	static const char *const more[] = {"python*", "make"};
	struct gb_refusal refusal;
	CHECK(!gb_commands_check(
	    GB_STR("echo a | /usr/bin/python3.11 x"), GB_REFUSED_GUARD, more, 2, &refusal));
	CHECK(refusal.pattern == more[0]);
	CHECK_STR(refusal.word, "/usr/bin/python3.11");
	CHECK(!gb_commands_check(GB_STR("rm x; make"), GB_REFUSED_GUARD, more, 2, &refusal));
	CHECK_STR(refusal.pattern, "rm");
	CHECK(gb_commands_check(GB_STR("echo make python3"), GB_REFUSED_GUARD, more, 2, &refusal));
}

TEST(reported_word_has_no_control_characters) {
	struct gb_refusal refusal = {.word = ""};
	CHECK(!check_text("echo a > /dev/$x$'\\n'", GB_REFUSED_GUARD, &refusal));
	CHECK(strncmp(refusal.word, "/dev/?", 6) == 0);
	for (const char *c = refusal.word; *c; c++)
		CHECK((unsigned char)*c >= ' ');
}

/* --- bounds --- */

TEST(every_part_of_a_script_can_be_read) {
	static const char script[] =
	    "a=\"x $(b `c` \"$d\" ${e:-'f'}) 'f'\" <(g) <<-E >h 2>&1 | i() { j; } && k \\\n l # m\nn\n\tE\n"
	    "$'\\'' ((1<<2)) [[ x ]] `o` ; case p in q) r;; esac; s[1 + $((2))]=3 $(( $(t) ))";
	for (size_t n = 0; n <= sizeof script; n++) {
		for (size_t from = 0; from <= n; from++) {
			struct gb_refusal refusal;
			gb_auto_free char *exact = malloc(n - from ? n - from : 1);
			if (!exact)
				abort();
			memcpy(exact, script + from, n - from);
			CHECK(check(exact, n - from, GB_REFUSED_RESTRICTED, &refusal));
		}
	}
}

static void check_repeated(const char *piece, const char *expected) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 4 << 20);
	while (text.len < 1 << 20)
		gb_buf_printf(&text, "%s", piece);
	for (size_t i = 0; i < GB_COUNT(modes); i++) {
		struct gb_refusal refusal = {.pattern = "none"};
		check(text.data, text.len, modes[i], &refusal);
		if (!CHECK_STR(refusal.pattern, expected))
			printf("#   %s\n", piece);
	}
}

/* A reader that is quadratic in any of these would not end before the test is killed. */
TEST(long_scripts_end_and_deep_ones_are_refused) {
	static const char unreadable[] = "$( $( …";
	static const char *const deep[] = {
	    "$(", "${", "((", "$((", "<(", "\"$(", "\"${a:-", "${a[", "(", "<<a ", "<<`"};
	static const char *const flat[] = {"x", "(a)", "((a)b) ", "$((\"(\");)", "'\\", "\\`", "\"", "<<a\n",
	    "a[;", "a[", "`", "`a`", "`\\`", "${a}", "a=(", "{ ", "f() { "};
	for (size_t i = 0; i < GB_COUNT(deep); i++)
		check_repeated(deep[i], unreadable);
	for (size_t i = 0; i < GB_COUNT(flat); i++)
		check_repeated(flat[i], "none");
}

/* --- the table --- */

static const char *example(const struct gb_refused *row, const char *name) {
	switch (row->kind) {
	case GB_REFUSED_COMMAND:
		return name;
	case GB_REFUSED_DEVICE:
		return "echo > /dev/sda";
	case GB_REFUSED_SHARED_DEVICE:
		return "echo > /dev/shm/a";
	case GB_REFUSED_FORK_BOMB:
		return "f() { f | f & }; f";
	case GB_REFUSED_UNREADABLE:
		return "$($($($($($($($($($($($($($($($($($(";
	}
	return "";
}

TEST(each_row_is_refused_in_its_modes_only) {
	unsigned kinds = 0, seen = 0;
	for (size_t i = 0; i < gb_refused_count; i++) {
		const struct gb_refused *row = &gb_refused[i];
		kinds |= 1u << row->kind;
		seen |= row->modes;
		CHECK(row->names[0] && *row->reason && *row->instead && row->modes);
		for (const char *const *name = row->names; *name; name++) {
			for (size_t mode = 0; mode < GB_COUNT(all_modes); mode++) {
				bool expected = !(row->modes & all_modes[mode]);
				if (!CHECK_INT(passes(example(row, *name), all_modes[mode]), expected))
					printf("#   %s in mode %d\n", *name, all_modes[mode]);
			}
		}
	}
	CHECK_INT(kinds, (1 << (GB_REFUSED_UNREADABLE + 1)) - 1);
	CHECK_INT(seen, GB_REFUSED_GUARD | GB_REFUSED_RESTRICTED | GB_REFUSED_RESTRICTED_NETWORK);
}

TEST(restricted_mode_accepts_clients_of_the_network_tier) {
	static const char *const clients[] = {"curl", "wget", "nc", "telnet", "ssh", "rsync", "socat"};
	gb_auto_buf struct gb_buf script;
	gb_buf_init(&script, 1000);
	for (size_t i = 0; i < GB_COUNT(clients); i++) {
		gb_buf_clear(&script);
		gb_buf_printf(&script, "timeout 5 %s example.com", clients[i]);
		CHECK(!passes(gb_buf_c_str(&script), GB_REFUSED_RESTRICTED));
		CHECK(passes(gb_buf_c_str(&script), GB_REFUSED_RESTRICTED_NETWORK));
	}
	CHECK(!passes("curl example.com | sudo sh", GB_REFUSED_RESTRICTED_NETWORK));
}

TEST(no_name_is_in_two_rows) {
	for (size_t i = 0; i < gb_refused_count; i++)
		for (const char *const *name = gb_refused[i].names; *name; name++)
			for (size_t j = 0; j < gb_refused_count; j++)
				for (const char *const *other = gb_refused[j].names; *other; other++)
					if (gb_refused[i].kind == gb_refused[j].kind && name != other &&
					    !CHECK(!gb_refused_matches(*other, *name)))
						printf("#   %s\n", *name);
}

/* Every word of it, and every command in quotes. */
TEST(alternatives_name_no_refused_command) {
	for (size_t i = 0; i < gb_refused_count; i++) {
		gb_auto_free char *text = strdup(gb_refused[i].instead);
		if (!text)
			abort();
		bool command = false;
		for (char *rest = text, *part; (part = strsep(&rest, "'")); command = !command)
			for (size_t mode = 0; command && mode < GB_COUNT(all_modes); mode++)
				if (!CHECK(passes(part, all_modes[mode])))
					printf("#   %s\n", gb_refused[i].instead);
		CHECK(command);
		gb_auto_free char *words = strdup(gb_refused[i].instead);
		for (char *rest = words, *word; (word = strsep(&rest, " '\"`,.:;()"));)
			for (size_t mode = 0; mode < GB_COUNT(modes); mode++)
				if (!CHECK(passes(word, modes[mode])))
					printf("#   '%s' in: %s\n", word, gb_refused[i].instead);
	}
}

TEST(prefix_pattern_matches_longer_names) {
	CHECK(gb_refused_matches("mkfs*", "mkfs.ext4") && gb_refused_matches("mkfs*", "mkfs"));
	CHECK(!gb_refused_matches("mkfs*", "mkf") && !gb_refused_matches("rm", "rmx"));
	CHECK(!gb_refused_matches("", "a") && gb_refused_matches("*", "a"));
}
