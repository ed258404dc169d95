// SPDX-License-Identifier: GPL-2.0
/* Who can read a recording, whatever the umask is. */
#include "fixture.h"

static void modes(mode_t mask, bool share)
{
	struct made made;

	umask(mask);
	made_begin(&made, "modes");
	made.options.share = share;
	assert_int_equal(made_make(&made), 0);
	/* the command inherits it */
	assert_int_equal(umask(0022), mask);
	assert_int_equal(mode_of("modes"), share ? 0755 : 0700);
	assert_int_equal(mode_of("modes/trace.dat"), share ? 0644 : 0600);
	assert_int_equal(mode_of("modes/meta.json"), share ? 0644 : 0600);
	assert_int_equal(mode_of("modes/.cpu0.part"), 0600);
	assert_int_equal(mode_of("modes/.cpu1.part"), 0600);
	dir_remove(&made.rec);
	assert_int_equal(access("modes", F_OK), -1);
	made_end(&made);
}

static void test_umask(void **state)
{
	static const mode_t masks[] = { 0022, 0000, 0002, 0077, 0277, 0777 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
		modes(masks[i], false);
		modes(masks[i], true);
	}
}

/* Under sudo everything belongs to the calling user. */
static void test_sudo(void **state)
{
	static const char *const names[] = { "sudo", "sudo/trace.dat", "sudo/meta.json" };
	struct made made;
	struct stat status;
	size_t i;

	(void)state;
	if (!is_root())
		return;
	made_begin(&made, "sudo");
	made.rec.caller = (struct caller){ OTHER, OTHER };
	assert_int_equal(made_make(&made), 0);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(lstat(names[i], &status), 0);
		assert_int_equal(status.st_uid, OTHER);
		assert_int_equal(status.st_gid, OTHER);
		assert_int_equal(status.st_mode & 07777, i ? 0600 : 0700);
	}
	dir_remove(&made.rec);
	made_end(&made);
}

/* However the directory is named. */
static void test_names(void **state)
{
	char absolute[256];
	const char *const names[] = { "plain", "slash/", "slashes///", "./dot", "sub/below", "sub//below/", absolute };
	struct made made;
	size_t i;

	(void)state;
	assert_non_null(getcwd(absolute, sizeof(absolute) - 16));
	strcat(absolute, "/absolute");
	assert_int_equal(mkdir("sub", 0755), 0);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		made_begin(&made, names[i]);
		assert_int_equal(made_make(&made), 0);
		assert_int_equal(mode_of(names[i]), 0700);
		dir_remove(&made.rec);
		assert_int_equal(access(names[i], F_OK), -1);
		made_end(&made);
	}
	assert_int_equal(rmdir("sub"), 0);
}

static void test_refused(void **state)
{
	static const char *const names[] = { "there", "there/", "file", "dangling", "link", "link/", ".", "..", "/" };
	static const char *const missing[] = { "none/below", "file/below", "" };
	struct made made;
	size_t i;

	(void)state;
	assert_int_equal(mkdir("there", 0755), 0);
	assert_int_equal(close(open("file", O_CREAT | O_WRONLY, 0644)), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(symlink("there", "link"), 0);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		made_begin(&made, names[i]);
		assert_int_not_equal(made_make(&made), 0);
		made_end(&made);
	}
	for (i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
		made_begin(&made, missing[i]);
		assert_int_not_equal(made_make(&made), 0);
		made_end(&made);
	}
	/* empty, as it was */
	assert_int_equal(rmdir("there"), 0);
	assert_int_equal(access("nowhere", F_OK), -1);
	assert_int_equal(unlink("file") | unlink("dangling") | unlink("link"), 0);
}

int modes_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_umask), cmocka_unit_test(test_sudo), cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("modes", tests, NULL, NULL);
}
