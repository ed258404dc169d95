// SPDX-License-Identifier: GPL-2.0
/* The options of the plugin: those that hold, and the messages for those that do not. */
#include "fixture.h"

static void test_all(void **state)
{
	struct job_prio_options options;
	char why[KFDLIB_WHY];

	(void)state;
	assert_int_equal(test_parse(&options, "qos=interactive:high,batch:low partition=debug:12 default=normal", why), 0);
	assert_int_equal(options.qos.nr, 2);
	assert_string_equal(options.qos.names[0].name, "interactive");
	assert_int_equal(options.qos.names[0].priority, 11);
	assert_string_equal(options.qos.names[1].name, "batch");
	assert_int_equal(options.qos.names[1].priority, 0);
	assert_int_equal(options.partition.nr, 1);
	assert_string_equal(options.partition.names[0].name, "debug");
	assert_int_equal(options.partition.names[0].priority, 12);
	assert_int_equal(options.others, 7);
	assert_true(job_prio_by_name(&options));
	job_prio_free(&options);
	assert_int_equal(options.qos.nr, 0);
	assert_int_equal(options.others, UNSET);
	job_prio_free(&options);
}

/* a line; QOS, partitions, default */
static const struct {
	const char *line;
	size_t qos, partitions;
	int others;
} good[] = {
	{ "", 0, 0, UNSET },
	{ "default=0", 0, 0, 0 },
	{ "default=15", 0, 0, 15 },
	{ "qos=a:0", 1, 0, UNSET },
	{ "partition=a:15", 0, 1, UNSET },
	/* repeated, for long lists */
	{ "qos=a:1 partition=a:2 qos=b:3 partition=b:4,c:5", 2, 3, UNSET },
	/* a colon of the name */
	{ "partition=a:b:low", 0, 1, UNSET },
	/* partitions whose names differ in case */
	{ "partition=debug:low,Debug:high", 0, 2, UNSET },
	/* a QOS and a partition of one name */
	{ "qos=debug:low partition=debug:high", 1, 1, UNSET },
};

static void test_good(void **state)
{
	struct job_prio_options options;
	char why[KFDLIB_WHY];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		if (test_parse(&options, good[i].line, why))
			fail_msg("%s: %s", good[i].line, why);
		if (options.qos.nr != good[i].qos || options.partition.nr != good[i].partitions ||
		    options.others != good[i].others)
			fail_msg("%s: %zu QOS, %zu partitions, default %d", good[i].line, options.qos.nr,
				 options.partition.nr, options.others);
		assert_int_equal(job_prio_by_name(&options), good[i].qos + good[i].partitions > 0);
		job_prio_free(&options);
	}
}

static const struct {
	const char *line, *why;
} bad[] = {
	{ "qso=interactive:high", "option 'qso=interactive:high' is unknown: the options are qos=NAME:PRIO,..., partition=NAME:PRIO,... and default=PRIO" },
	{ "QOS=a:low", "option 'QOS=a:low' is unknown" },
	{ "qos", "option 'qos' is unknown" },
	{ "=low", "option '=low' is unknown" },
	{ "default", "option 'default' is unknown" },
	{ "qos=", "qos= has no value: write NAME:PRIO, for example batch:low" },
	{ "partition=", "partition= has no value" },
	{ "qos=interactive", "qos= 'interactive' is not NAME:PRIO: write, for example, batch:low" },
	{ "qos=:high", "qos= ':high' is not NAME:PRIO" },
	{ "qos=a:high,", "qos= '' is not NAME:PRIO" },
	{ "partition=,a:high", "partition= '' is not NAME:PRIO" },
	{ "qos=a:urgent", "qos= 'a': 'urgent' is not a priority: give a number from 0 (least important) to 15 (most important), or low, normal or high" },
	{ "qos=a:", "qos= 'a': '' is not a priority" },
	{ "partition=debug:16", "partition= 'debug': priority '16' is out of range" },
	{ "partition=debug:-1", "partition= 'debug': priority '-1' is out of range" },
	{ "default=", "default=: '' is not a priority" },
	{ "default=High", "default=: 'High' is not a priority" },
	{ "default=low default=low", "default= is given twice" },
	{ "qos=a:low,b:low,a:high", "qos= 'a' is given twice" },
	{ "qos=a:low qos=A:high", "qos= 'A' is given twice" },
	{ "partition=a:low partition=a:low", "partition= 'a' is given twice" },
	{ "qos=a:low default=high nonsense", "option 'nonsense' is unknown" },
	{ "qos=\033[2J\n:low,x", "qos= 'x' is not NAME:PRIO" },
	{ "qos=\033[2J\n:x", "qos= '\\x1b[2J\\x0a': 'x'" },
};

static void test_bad(void **state)
{
	struct job_prio_options options;
	char why[KFDLIB_WHY];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(test_parse(&options, bad[i].line, why), -EINVAL);
		if (strncmp(why, bad[i].why, strlen(bad[i].why)))
			fail_msg("%s: '%s', not '%s'", bad[i].line, why, bad[i].why);
		/* nothing of the line holds */
		assert_false(job_prio_by_name(&options));
		assert_int_equal(options.others, UNSET);
		job_prio_free(&options);
	}
}

/* Names and values of any length fit into the message. */
static void test_long(void **state)
{
	struct job_prio_options options;
	static char line[100000];
	char why[KFDLIB_WHY];

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	assert_int_equal(test_parse(&options, line, why), -EINVAL);
	memcpy(line, "qos=", 4);
	assert_int_equal(test_parse(&options, line, why), -EINVAL);
	line[50000] = ':';
	assert_int_equal(test_parse(&options, line, why), -EINVAL);
	assert_non_null(strstr(why, "is not a priority"));
	assert_non_null(strstr(why, "low, normal or high"));
}

int parse_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
