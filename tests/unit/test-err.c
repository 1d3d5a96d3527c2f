#include <errno.h>

#include "../tap.h"
#include "base/err.h"

TEST(failing_fills_the_error_and_is_false) {
	struct gb_err err = {0};
	CHECK(!gb_fail(&err, GB_EINVAL, 0, "bad %s %d", "thing", 3));
	CHECK_INT(err.code, GB_EINVAL);
	CHECK_INT(err.sys_errno, 0);
	CHECK_STR(err.message, "bad thing 3");
}

TEST(the_reason_of_the_system_is_appended) {
	struct gb_err err = {0};
	gb_fail(&err, GB_ENOENT, ENOENT, "open '/x'");
	CHECK_INT(err.sys_errno, ENOENT);
	CHECK_STR(err.message, "open '/x': No such file or directory");
	gb_fail(&err, GB_ESYSTEM, 99999, "odd");
	CHECK_STR(err.message, "odd: unknown error");
}

TEST(context_is_put_before_the_message) {
	struct gb_err err = {0};
	gb_fail(&err, GB_EINVAL, 0, "inner");
	CHECK(!gb_wrap(&err, "outer %d", 1));
	CHECK_STR(err.message, "outer 1: inner");
	CHECK_INT(err.code, GB_EINVAL);
}

TEST(an_error_can_be_made_from_its_own_message) {
	struct gb_err err = {0};
	gb_fail(&err, GB_EINVAL, 0, "inner");
	gb_fail(&err, GB_EFORMAT, 0, "outer: %s", err.message);
	CHECK_STR(err.message, "outer: inner");
}

TEST(long_messages_are_cut) {
	struct gb_err err = {0};
	char text[2000];
	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	gb_fail(&err, GB_EINVAL, 0, "%s", text);
	CHECK_INT(strlen(err.message), GB_ERR_MESSAGE_MAX - 1);
	gb_wrap(&err, "%s", text);
	CHECK_INT(strlen(err.message), GB_ERR_MESSAGE_MAX - 1);
	gb_fail(&err, GB_EINVAL, EPERM, "%s", text);
	CHECK(strstr(err.message, "Operation not permitted"));
}

TEST(nobody_has_to_want_to_know) {
	CHECK(!gb_fail(NULL, GB_EINVAL, 0, "x"));
	CHECK(!gb_wrap(NULL, "x"));
}
