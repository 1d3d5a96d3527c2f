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

TEST(the_system_error_is_appended) {
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

TEST(the_field_is_kept_apart_from_the_message) {
	struct gb_err err = {0};
	CHECK(!gb_fail_field(&err, GB_EINVAL, "globals", "must be %s", "an object"));
	CHECK_INT(err.code, GB_EINVAL);
	CHECK_STR(err.message, "globals: must be an object");
	CHECK_STR(err.field, "globals");
	CHECK_STR(err.message + err.detail, "must be an object");
}

TEST(context_leaves_the_field) {
	struct gb_err err = {0};
	gb_fail_field(&err, GB_EINVAL, "args", "[0]: a function");
	gb_wrap(&err, "start");
	CHECK_STR(err.message, "start: args: [0]: a function");
	CHECK_STR(err.field, "args");
	CHECK_STR(err.message + err.detail, "[0]: a function");
}

TEST(a_field_can_be_named_later) {
	struct gb_err err = {0};
	gb_fail(&err, GB_ELIMIT, 0, "[0]: too large");
	CHECK_STR(err.field, "");
	CHECK(!gb_wrap_field(&err, "imports"));
	CHECK_STR(err.message, "imports: [0]: too large");
	CHECK_STR(err.field, "imports");
	CHECK_STR(err.message + err.detail, "[0]: too large");
}

TEST(a_prefix_is_not_a_field) {
	struct gb_err err = {0};
	gb_fail_field(&err, GB_EINVAL, "args", "x");
	gb_fail(&err, GB_EINVAL, 0, "args: %s", "y");
	CHECK_STR(err.field, "");
	CHECK_STR(err.message + err.detail, "args: y");
	gb_wrap(&err, "outer");
	CHECK_STR(err.message + err.detail, "outer: args: y");
}

TEST(the_offset_of_a_cut_detail_is_within_the_message) {
	struct gb_err err = {0};
	char text[GB_ERR_MESSAGE_MAX];
	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	gb_fail_field(&err, GB_EINVAL, "a_name_that_is_longer_than_names_of_members_ever_are", "%s", text);
	CHECK_INT(strlen(err.field), GB_ERR_FIELD_MAX - 1);
	CHECK_INT(strlen(err.message), GB_ERR_MESSAGE_MAX - 1);
	CHECK_INT(err.detail, GB_ERR_FIELD_MAX + 1);
	gb_wrap(&err, "%s", text);
	CHECK_INT(err.detail, GB_ERR_MESSAGE_MAX - 1);
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

TEST(the_error_may_be_null) {
	CHECK(!gb_fail(NULL, GB_EINVAL, 0, "x"));
	CHECK(!gb_wrap(NULL, "x"));
	CHECK(!gb_fail_field(NULL, GB_EINVAL, "x", "y"));
	CHECK(!gb_wrap_field(NULL, "x"));
}
