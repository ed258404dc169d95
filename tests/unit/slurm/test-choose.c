// SPDX-License-Identifier: GPL-2.0
/* The priority of a step. */
#include "fixture.h"

#define SITE "qos=interactive:high,batch:low partition=debug:12,Night:3 default=normal"

/* line; known, QOS, partition, asked, inherited; priority, reason, refused */
static const struct {
	const char *line;
	bool known;
	const char *qos, *partition;
	int asked, inherited, priority;
	enum job_prio_by by;
	bool refused;
} table[] = {
	/* the QOS decides, then the partition, then default= */
	{ SITE, true, "interactive", "main", UNSET, UNSET, 11, JOB_PRIO_BY_QOS, false },
	{ SITE, true, "batch", "debug", UNSET, UNSET, 0, JOB_PRIO_BY_QOS, false },
	{ SITE, true, "normal", "debug", UNSET, UNSET, 12, JOB_PRIO_BY_PARTITION, false },
	{ SITE, true, NULL, "debug", UNSET, UNSET, 12, JOB_PRIO_BY_PARTITION, false },
	{ SITE, true, "normal", "main", UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	{ SITE, true, NULL, NULL, UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	{ SITE, true, "", "", UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	/* whole names; a QOS is stored in lower case, a partition as it is written */
	{ SITE, true, "INTERACTIVE", NULL, UNSET, UNSET, 11, JOB_PRIO_BY_QOS, false },
	{ "qos=Interactive:high", true, "interactive", NULL, UNSET, UNSET, 11, JOB_PRIO_BY_QOS, false },
	{ SITE, true, "interactive2", "debugger", UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	{ SITE, true, "inter", "deb", UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	{ SITE, true, NULL, "Night", UNSET, UNSET, 3, JOB_PRIO_BY_PARTITION, false },
	{ SITE, true, NULL, "night", UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	/* the name of a partition is not that of a QOS */
	{ SITE, true, "debug", "batch", UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	/* nothing is set */
	{ "", true, "interactive", "debug", UNSET, UNSET, UNSET, JOB_PRIO_BY_NOTHING, false },
	{ "qos=batch:low", true, "interactive", "debug", UNSET, UNSET, UNSET, JOB_PRIO_BY_NOTHING, false },
	{ "qos=batch:low", true, "interactive", "debug", UNSET, 3, UNSET, JOB_PRIO_BY_NOTHING, false },
	/* slurmctld is away */
	{ SITE, false, NULL, NULL, UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	{ "qos=batch:low default=high", false, NULL, NULL, UNSET, UNSET, 7, JOB_PRIO_BY_DEFAULT, false },
	{ "partition=batch:low default=3", false, NULL, NULL, UNSET, UNSET, 3, JOB_PRIO_BY_DEFAULT, false },
	{ "partition=batch:low", false, NULL, NULL, UNSET, UNSET, UNSET, JOB_PRIO_BY_NOTHING, false },
	{ "partition=batch:low", false, NULL, NULL, 11, UNSET, UNSET, JOB_PRIO_BY_NOTHING, true },
	{ "partition=batch:low default=high", false, NULL, NULL, 11, UNSET, 7, JOB_PRIO_BY_DEFAULT, true },
	/* it was not asked */
	{ "default=high", false, NULL, NULL, UNSET, UNSET, 11, JOB_PRIO_BY_DEFAULT, false },
	/* --gpu-priority lowers */
	{ SITE, true, "interactive", NULL, 0, UNSET, 0, JOB_PRIO_BY_JOB, false },
	{ SITE, true, "interactive", NULL, 10, UNSET, 10, JOB_PRIO_BY_JOB, false },
	{ SITE, true, "interactive", NULL, 11, UNSET, 11, JOB_PRIO_BY_JOB, false },
	{ SITE, true, "interactive", NULL, 12, UNSET, 11, JOB_PRIO_BY_QOS, true },
	{ SITE, true, "batch", NULL, 11, UNSET, 0, JOB_PRIO_BY_QOS, true },
	{ SITE, true, "batch", NULL, 1, UNSET, 0, JOB_PRIO_BY_QOS, true },
	{ SITE, true, NULL, "debug", 15, UNSET, 12, JOB_PRIO_BY_PARTITION, true },
	{ SITE, true, NULL, NULL, 8, UNSET, 7, JOB_PRIO_BY_DEFAULT, true },
	/* an unset priority counts as normal */
	{ "", false, NULL, NULL, 7, UNSET, 7, JOB_PRIO_BY_JOB, false },
	{ "", false, NULL, NULL, 8, UNSET, UNSET, JOB_PRIO_BY_NOTHING, true },
	{ "", false, NULL, NULL, 0, UNSET, 0, JOB_PRIO_BY_JOB, false },
	/* slurmd itself has a priority */
	{ "", false, NULL, NULL, 4, 3, UNSET, JOB_PRIO_BY_NOTHING, true },
	{ "", false, NULL, NULL, 3, 3, 3, JOB_PRIO_BY_JOB, false },
	{ "", false, NULL, NULL, 11, 15, 11, JOB_PRIO_BY_JOB, false },
	{ SITE, true, "interactive", NULL, UNSET, 3, 11, JOB_PRIO_BY_QOS, false },
	{ SITE, true, "interactive", NULL, 11, 3, 11, JOB_PRIO_BY_JOB, false },
};

static void test_table(void **state)
{
	struct job_prio_options options;
	struct job_prio_choice choice;
	struct job_prio_job job;
	char why[KFDLIB_WHY];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (test_parse(&options, table[i].line, why))
			fail_msg("row %zu: %s", i, why);
		job = (struct job_prio_job){ .known = table[i].known, .qos = table[i].qos,
					     .partition = table[i].partition, .asked = table[i].asked,
					     .inherited = table[i].inherited };
		job_prio_choose(&options, &job, &choice);
		if (choice.priority != table[i].priority || choice.by != table[i].by ||
		    choice.refused != table[i].refused)
			fail_msg("row %zu: priority %d, reason %d, refused %d, limit %d", i, choice.priority,
				 choice.by, choice.refused, choice.limit);
		job_prio_free(&options);
	}
}

static unsigned int number(const char *name, unsigned int other)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : other;
}

/* Whatever a job asks for, it gets what it gets without, or less. */
static void test_only_lowers(void **state)
{
	static const char *const lines[] = { SITE, "", "default=high", "default=low", "qos=a:15 partition=b:0",
					     "partition=a:1,b:9 default=8" };
	static const char *const names[] = { NULL, "", "a", "b", "interactive", "batch", "debug", "Night" };
	unsigned int seed = number("SEED", 1), steps = number("STEPS", 20000), i, lowered = 0, refused = 0;
	struct job_prio_choice with, without;
	struct job_prio_options options;
	struct job_prio_job job;
	char why[KFDLIB_WHY];
	int before;

	(void)state;
	srand(seed);
	for (i = 0; i < steps; i++) {
		assert_int_equal(test_parse(&options, lines[rand() % 6], why), 0);
		job = (struct job_prio_job){ .known = rand() % 2, .asked = UNSET, .inherited = rand() % 17 - 1 };
		if (job.known) {
			job.qos = names[rand() % 8];
			job.partition = names[rand() % 8];
		}
		job_prio_choose(&options, &job, &without);
		job.asked = rand() % 16;
		job_prio_choose(&options, &job, &with);
		before = without.priority != UNSET ? without.priority : job.inherited != UNSET ? job.inherited : 7;
		if (with.limit != before || (with.refused && with.priority != without.priority) ||
		    with.refused != (job.asked > before) || (!with.refused && with.priority != job.asked))
			fail_msg("seed %u, step %u: asked %d, without %d, inherited %d: %d", seed, i, job.asked,
				 without.priority, job.inherited, with.priority);
		lowered += with.by == JOB_PRIO_BY_JOB;
		refused += with.refused;
		job_prio_free(&options);
	}
	assert_true(lowered > steps / 10 && refused > steps / 10);
}

int choose_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_only_lowers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
