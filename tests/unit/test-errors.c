#include "../tap.h"
#include "base/str.h"
#include "glovebox/glovebox.h"

/* Is @word one of the statuses of results, or of the two other places that have codes? */
static bool is_place(struct gb_str word) {
	bool found = gb_str_eq(word, GB_STR("message")) || gb_str_eq(word, GB_STR("sdk"));
	for (int status = GB_FAILURE; status <= GB_DENIED; status++)
		found |= gb_str_eq(word, gb_str_from(gb_status_name((enum gb_status)status)));
	return found;
}

TEST(every_code_is_found_and_explained) {
	for (size_t i = 0; i < gb_error_infos_count; i++) {
		const struct gb_error_info *info = &gb_error_infos[i];
		CHECK(gb_error_find(info->code) == info);
		CHECK(*info->what);
		struct gb_str rest = gb_str_from(info->where), word;
		for (bool more = true; more;) {
			more = gb_str_cut(&rest, ',', &word);
			rest = more ? (struct gb_str){rest.p + 1, rest.n - 1} : rest;
			if (!CHECK(is_place(word)))
				printf("#   %s: %s\n", info->code, info->where);
		}
	}
}

TEST(hints_are_those_of_the_table) {
	CHECK(strstr(gb_error_hint("timeout"), "--timeout"));
	CHECK(strstr(gb_error_hint(GB_CODE_MEMORY), "--memory"));
	CHECK(!gb_error_hint("exit_code"));
}

TEST(other_codes_have_no_hint) {
	CHECK(!gb_error_find("") && !gb_error_hint(""));
	CHECK(!gb_error_find("ENOENT") && !gb_error_hint("ENOENT"));
	CHECK(!gb_error_find(NULL) && !gb_error_hint(NULL));
}

TEST(a_worker_that_ends_without_a_result_cuts_the_output) {
	CHECK(gb_error_find(GB_CODE_CRASHED)->cuts_output);
	CHECK(gb_error_find(GB_CODE_SANDBOX_LOST)->cuts_output);
	CHECK(gb_error_find(GB_CODE_NO_ANSWER)->cuts_output);
	CHECK(!gb_error_find(GB_CODE_EXIT_CODE)->cuts_output);
}
