// SPDX-License-Identifier: GPL-2.0
/* Another user replaces the directory: while it is made, and later. */
#include "fixture.h"

static void moved_away(void)
{
	assert_int_equal(rename("swap", "away"), 0);
}

static void by_link(void)
{
	moved_away();
	assert_int_equal(symlink("victim", "swap"), 0);
}

static void by_full(void)
{
	moved_away();
	assert_int_equal(rename("victim", "swap"), 0);
}

static void by_other(void)
{
	moved_away();
	assert_int_equal(mkdir("swap", 0700), 0);
	assert_int_equal(chown("swap", OTHER, OTHER), 0);
}

static void by_file(void)
{
	moved_away();
	assert_int_equal(close(open("swap", O_CREAT | O_EXCL | O_WRONLY, 0600)), 0);
}

/* "victim" has one file, "kept", and nothing else afterwards. */
static void victim_make(void)
{
	assert_int_equal(mkdir("victim", 0700), 0);
	assert_int_equal(close(open("victim/kept", O_CREAT | O_EXCL | O_WRONLY, 0600)), 0);
}

static void victim_end(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/kept", name);
	assert_int_equal(unlink(path), 0);
	if (rmdir(name))
		fail_msg("%s: something was made in it", name);
}

static void swapped(void (*how)(void), bool share)
{
	struct made made;

	victim_make();
	made_begin(&made, "swap");
	made.options.share = share;
	/* whom a directory of root's would be given to */
	if (is_root())
		made.rec.caller = (struct caller){ OTHER, OTHER };
	after_mkdir = how;
	assert_int_not_equal(made_make(&made), 0);
	assert_non_null(strstr(made.message, "swap: it was replaced while it was made"));
	dir_remove(&made.rec);
	made_end(&made);
	assert_int_equal(rmdir("away"), 0);
	if (how == by_full) {
		struct stat status;

		assert_int_equal(stat("swap", &status), 0);
		assert_int_equal(status.st_uid, geteuid());
		victim_end("swap");
		return;
	}
	if (how != moved_away)
		assert_int_equal(remove("swap"), 0);
	victim_end("victim");
}

static void test_swap(void **state)
{
	int share;

	(void)state;
	for (share = 0; share < 2; share++) {
		swapped(moved_away, share);
		swapped(by_link, share);
		swapped(by_full, share);
		swapped(by_file, share);
		if (is_root())
			swapped(by_other, share);
	}
}

/* Later, only descriptors are used: what has the name then is not touched. */
static void test_later(void **state)
{
	static const char *const files[] = { "trace.dat", "meta.json", ".cpu0.part", "amd.log" };
	char path[64];
	struct made made;
	size_t i;

	(void)state;
	made_begin(&made, "later");
	assert_int_equal(made_make(&made), 0);
	assert_int_equal(rename("later", "away"), 0);
	victim_make();
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "victim/%s", files[i]);
		assert_int_equal(close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0600)), 0);
	}
	assert_int_equal(symlink("victim", "later"), 0);
	parts_remove(&made.rec);
	dir_remove(&made.rec);
	made_end(&made);
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "victim/%s", files[i]);
		assert_int_equal(unlink(path), 0);
	}
	victim_end("victim");
	assert_int_equal(unlink("later"), 0);
	assert_int_equal(rmdir("away"), 0);
}

int others_tests(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_swap), cmocka_unit_test(test_later) };

	return cmocka_run_group_tests_name("others", tests, NULL, NULL);
}
