// SPDX-License-Identifier: GPL-2.0
/* --amd-log: ROCm opens its log by its path, which others must not be able to change. */
#include "fixture.h"

static int logged(const char *dir, uid_t caller, bool root)
{
	struct made made;
	int ret;

	made_begin(&made, dir);
	made.options.amd_log = 4;
	made.options.root = root;
	made.rec.caller = (struct caller){ caller, caller };
	ret = made_make(&made);
	if (ret == -EPERM)
		assert_non_null(strstr(made.message, "other users can rename or replace directories in"));
	else
		assert_int_equal(ret, 0);
	dir_remove(&made.rec);
	made_end(&made);
	assert_int_equal(access(dir, F_OK), -1);
	return ret;
}

static void test_world(void **state)
{
	(void)state;
	assert_int_equal(mkdir("outer", 0755), 0);
	assert_int_equal(mkdir("outer/inner", 0755), 0);
	assert_int_equal(logged("outer/inner/rec", geteuid(), false), 0);
	assert_int_equal(chmod("outer/inner", 0777), 0);
	assert_int_equal(logged("outer/inner/rec", geteuid(), false), -EPERM);
	assert_int_equal(chmod("outer/inner", 01777), 0);
	assert_int_equal(logged("outer/inner/rec", geteuid(), false), 0);
	/* above it */
	assert_int_equal(chmod("outer", 0777), 0);
	assert_int_equal(logged("outer/inner/rec", geteuid(), false), -EPERM);
	assert_int_equal(chmod("outer", 0755), 0);
	/* without a log, descriptors are enough */
	assert_int_equal(rmdir("outer/inner"), 0);
	assert_int_equal(rmdir("outer"), 0);
}

static void test_owner(void **state)
{
	(void)state;
	if (!is_root())
		return;
	assert_int_equal(mkdir("home", 0755), 0);
	assert_int_equal(chown("home", OTHER, OTHER), 0);
	/* root in another user's directory; and that user with sudo */
	assert_int_equal(logged("home/rec", 0, false), -EPERM);
	assert_int_equal(logged("home/rec", OTHER, false), 0);
	assert_int_equal(logged("home/rec", OTHER - 1, false), -EPERM);
	assert_int_equal(rmdir("home"), 0);
}

/* A group may rename what root's command writes to, and not what a user's command does: that is up to the user. */
static void test_group(void **state)
{
	(void)state;
	if (!is_root())
		return;
	assert_int_equal(mkdir("team", 0755), 0);
	assert_int_equal(chown("team", OTHER, OTHER), 0);
	assert_int_equal(chmod("team", 0775), 0);
	assert_int_equal(logged("team/rec", OTHER, false), 0);
	assert_int_equal(logged("team/rec", OTHER, true), -EPERM);
	assert_int_equal(chown("team", 0, OTHER), 0);
	assert_int_equal(logged("team/rec", 0, false), -EPERM);
	assert_int_equal(chown("team", 0, 0), 0);
	assert_int_equal(logged("team/rec", 0, false), 0);
	assert_int_equal(rmdir("team"), 0);
}

int log_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_world), cmocka_unit_test(test_owner), cmocka_unit_test(test_group),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
