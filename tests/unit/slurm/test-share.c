// SPDX-License-Identifier: GPL-2.0
/* The share of a job: the options, the messages for those that do not hold, and the choice. */
#include "fixture.h"

static void test_all(void **state)
{
	struct job_prio_options o;
	char why[KFDLIB_WHY];

	(void)state;
	assert_int_equal(test_parse(&o, "qos-max=batch:30%,a:b:0.5% qos-max-soft=debug:50% qos-weight=batch:20 partition-max=p:none "
					"partition-max-soft=q:12.5% partition-weight=p:10000,q:none default-max-soft=90% default-weight=100",
				    why), 0);
	assert_int_equal(o.share.qos_max.nr, 3);
	assert_string_equal(o.share.qos_max.names[0].name, "batch");
	assert_int_equal(o.share.qos_max.names[0].share, 3000);
	assert_false(o.share.qos_max.names[0].soft);
	/* a colon of the name */
	assert_string_equal(o.share.qos_max.names[1].name, "a:b");
	assert_int_equal(o.share.qos_max.names[1].share, 50);
	assert_true(o.share.qos_max.names[2].soft);
	assert_int_equal(o.share.partition_max.nr, 2);
	assert_int_equal(o.share.partition_max.names[0].share, NONE);
	assert_int_equal(o.share.partition_max.names[1].share, 1250);
	assert_true(o.share.partition_max.names[1].soft);
	assert_int_equal(o.share.qos_weight.names[0].share, 20);
	assert_int_equal(o.share.partition_weight.nr, 2);
	assert_int_equal(o.share.partition_weight.names[1].share, KFD_PRIO_WEIGHT_NONE);
	assert_true(o.share.has_max && o.share.others.max == 9000 && o.share.others.soft);
	assert_true(o.share.has_weight && o.share.others.weight == 100);
	assert_true(job_share_by_name(&o.share) && job_prio_by_name(&o) && job_share_given(&o.share));
	/* none of them is a priority */
	assert_int_equal(o.qos.nr + o.partition.nr, 0);
	assert_int_equal(o.others, UNSET);
	job_prio_free(&o);
	assert_false(job_share_given(&o.share) || o.share.others.max || o.share.others.soft);
}

/* Whether slurmctld is to be asked, and whether jobs may have a share */
static void test_given(void **state)
{
	static const struct {
		const char *line;
		bool by_name, given;
	} rows[] = {
		{ "", false, false },
		{ "default=low", false, false },
		{ "default-max=30%", false, true },
		{ "default-max=none", false, true },
		{ "default-weight=3", false, true },
		{ "qos-max=a:1%", true, true },
		{ "qos-max-soft=a:1%", true, true },
		{ "qos-weight=a:1", true, true },
		{ "partition-max=a:1%", true, true },
		{ "partition-weight=a:1", true, true },
		{ "qos=a:low", true, false },
	};
	struct job_prio_options o;
	char why[KFDLIB_WHY];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(test_parse(&o, rows[i].line, why), 0);
		if (job_prio_by_name(&o) != rows[i].by_name || job_share_given(&o.share) != rows[i].given)
			fail_msg("%s", rows[i].line);
		job_prio_free(&o);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{ "qos-max=", "qos-max= has no value: write NAME:MAX, for example batch:30%" },
		{ "partition-weight=", "partition-weight= has no value: write NAME:WEIGHT, for example batch:50" },
		{ "qos-max=batch", "qos-max= 'batch' is not NAME:MAX: write, for example, batch:30%" },
		{ "qos-max=:30%", "qos-max= ':30%' is not NAME:MAX" },
		{ "qos-weight=batch:", "qos-weight= 'batch': '' is not a weight: give a number from 1 to 10000, or none" },
		{ "qos-max=batch:30", "qos-max= 'batch': '30' is not a limit of GPU time: give a percentage from 0.01% to 100%, as 30%, or none" },
		{ "qos-max-soft=batch:low", "qos-max-soft= 'batch': 'low' is not a limit" },
		{ "partition-max=a:0%", "partition-max= 'a': '0%' is not a limit" },
		{ "partition-max-soft=a:1%,b:101%", "partition-max-soft= 'b': '101%' is not a limit" },
		{ "qos-weight=a:0", "qos-weight= 'a': '0' is not a weight" },
		{ "partition-weight=a:30%", "partition-weight= 'a': '30%' is not a weight" },
		/* a limit is hard or soft */
		{ "qos-max=a:1% qos-max-soft=A:2%", "qos-max-soft= 'A' is given twice: remove one" },
		{ "partition-max-soft=a:1% partition-max=a:1%", "partition-max= 'a' is given twice: remove one" },
		{ "qos-weight=a:1,a:2", "qos-weight= 'a' is given twice: remove one" },
		{ "default-max=30", "default-max=: '30' is not a limit" },
		{ "default-max-soft=high", "default-max-soft=: 'high' is not a limit" },
		{ "default-weight=x", "default-weight=: 'x' is not a weight" },
		{ "default-max=1% default-max=1%", "default-max= or default-max-soft= is given twice: remove one" },
		{ "default-max=1% default-max-soft=1%", "default-max= or default-max-soft= is given twice: remove one" },
		{ "default-weight=1 default-weight=1", "default-weight= is given twice: remove one" },
		{ "qos-max-=a:1%", "option 'qos-max-=a:1%' is unknown" },
		{ "max=1%", "option 'max=1%' is unknown: the options are qos=NAME:PRIO,..., partition=NAME:PRIO,... and default=PRIO, and for shares qos-max=, qos-max-soft=, qos-weight=, partition-max=, partition-max-soft=, partition-weight=, default-max=, default-max-soft= and default-weight=" },
		{ "default-maximum=1%", "option 'default-maximum=1%' is unknown" },
		{ "qos-max=\033[2J:1", "qos-max= '\\x1b[2J': '1' is not a limit" },
	};
	struct job_prio_options o;
	char why[KFDLIB_WHY];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(test_parse(&o, rows[i].line, why), -EINVAL);
		if (strncmp(why, rows[i].why, strlen(rows[i].why)))
			fail_msg("%s: '%s', not '%s'", rows[i].line, why, rows[i].why);
		/* nothing of the line holds */
		assert_false(job_prio_by_name(&o) || job_share_given(&o.share));
		job_prio_free(&o);
	}
}

static const char line[] = "qos-max=batch:10%,free:none qos-max-soft=debug:40% partition-max=small:20% qos-weight=batch:50 "
			   "partition-weight=small:300 default-max-soft=60% default-weight=200";

/* A job and what it gets */
static const struct {
	const char *line;
	struct job_share_job job;
	struct share_setting wanted;
	uint32_t step_max;
	bool refused;
} choices[] = {
	{ line, { true, "batch", "large" }, { 1000, false, 50 }, NONE, false },
	{ line, { true, "BATCH", "small" }, { 1000, false, 50 }, NONE, false },
	{ line, { true, "debug", "small" }, { 4000, true, 300 }, NONE, false },
	{ line, { true, "other", "small" }, { 2000, false, 300 }, NONE, false },
	{ line, { true, "other", "Small" }, { 6000, true, 200 }, NONE, false },
	{ line, { true, "free", "small" }, { NONE, false, 300 }, NONE, false },
	{ line, { true, NULL, NULL }, { 6000, true, 200 }, NONE, false },
	/* slurmctld does not answer: the lowest limit, and no weight above that of others */
	{ line, { false, "free", "small" }, { 1000, false, 100 }, NONE, false },
	{ "qos-max=a:30% qos-max-soft=b:10% partition-max=c:20%", { false }, { 1000, true, 0 }, NONE, false },
	{ "qos-max=a:30% partition-max-soft=c:30%", { false }, { 3000, false, 0 }, NONE, false },
	{ "qos-max-soft=a:30% partition-max=c:30%", { false }, { 3000, false, 0 }, NONE, false },
	{ "qos-max=a:30% default-max=20%", { false }, { 2000, false, 0 }, NONE, false },
	{ "qos-weight=a:30 default-weight=20", { false }, { NONE, false, 20 }, NONE, false },
	/* which is not asked where nothing depends on it */
	{ "default-weight=200 default-max=30%", { false }, { 3000, false, 200 }, NONE, false },
	{ "", { true, "batch", "small" }, { NONE, false, 0 }, NONE, false },
	/* --gpu-max lowers for the step */
	{ "", { .asked = 3000 }, { NONE, false, 0 }, 3000, false },
	{ "", { .asked = NONE }, { NONE, false, 0 }, NONE, false },
	{ "default-max=30%", { .asked = 2999 }, { 3000, false, 0 }, 2999, false },
	{ "default-max=30%", { .asked = 3000 }, { 3000, false, 0 }, NONE, false },
	{ "default-max=30%", { .asked = 3001 }, { 3000, false, 0 }, NONE, true },
	{ "default-max=30%", { .asked = NONE }, { 3000, false, 0 }, NONE, true },
	/* and is hard */
	{ "default-max-soft=30%", { .asked = 3000 }, { 3000, true, 0 }, 3000, false },
	{ "default-max-soft=30%", { .asked = 3001 }, { 3000, true, 0 }, NONE, true },
	{ line, { true, "free", "small", 5000 }, { NONE, false, 300 }, 5000, false },
	{ line, { false, "free", "small", 5000 }, { 1000, false, 100 }, NONE, true },
};

static void test_choose(void **state)
{
	struct job_share_choice choice;
	struct job_prio_options o;
	char why[KFDLIB_WHY];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		assert_int_equal(test_parse(&o, choices[i].line, why), 0);
		job_share_choose(&o.share, &choices[i].job, &choice);
		if (!share_same(&choice.job, &choices[i].wanted) || choice.step_max != choices[i].step_max ||
		    choice.refused != choices[i].refused || choice.given != !!*choices[i].line)
			fail_msg("%zu: max %u, soft %d, weight %u, step %u, refused %d", i, choice.job.max, choice.job.soft,
				 choice.job.weight, choice.step_max, choice.refused);
		job_prio_free(&o);
	}
}

/* The options for shares have no influence on the priority, also while slurmctld does not answer. */
static void test_priority(void **state)
{
	const struct job_prio_job job = { .known = false, .asked = UNSET, .inherited = UNSET };
	struct job_prio_choice choice;
	struct job_prio_options o;
	char why[KFDLIB_WHY];

	(void)state;
	assert_int_equal(test_parse(&o, "qos-max=a:30% default=high", why), 0);
	job_prio_choose(&o, &job, &choice);
	assert_int_equal(choice.priority, KFD_PRIO_HIGH);
	job_prio_free(&o);
}

int share_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),    cmocka_unit_test(test_given),	cmocka_unit_test(test_bad),
		cmocka_unit_test(test_choose), cmocka_unit_test(test_priority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
