// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "fixture.h"

#define SERVE	"/inference.slice/serve.service"
/* A user calls a unit of their own as the system's is called. */
#define FORGED	"/user.slice/user-1000.slice/user@1000.service/app.slice/serve.service"

static const gid_t both[] = { 1000, 45 }, gpu[] = { 44 }, batch[] = { 45 };

/* A process, the rule and whether it matches */
static const struct {
	const char *rule;
	struct rules_subject subject;
	bool matches;
} table[] = {
	{ "cgroup=/inference.slice", { .cgroup = SERVE }, true },
	{ "cgroup=/inference.slice", { .cgroup = "/inference.slice" }, true },
	{ "cgroup=/inference.slice", { .cgroup = "/inference.slicer/x" }, false },
	{ "cgroup=/inference.slice", { .cgroup = "/" }, false },
	{ "cgroup=/inference.slice/*", { .cgroup = SERVE }, true },
	{ "cgroup=/inference.slice/*", { .cgroup = SERVE "/payload/x" }, true },
	{ "cgroup=/inference.slice/*", { .cgroup = "/inference.slice" }, false },
	{ "cgroup=/*.service", { .cgroup = SERVE }, false },
	{ "cgroup=/*/serve.service", { .cgroup = SERVE }, true },
	{ "cgroup=/*/serve.service", { .cgroup = FORGED }, false },
	{ "cgroup=/", { .cgroup = SERVE }, true },
	{ "cgroup=/", { .cgroup = "/" }, true },
	{ "cgroup=/", { .cgroup = NULL }, false },
	{ "cgroup=/machine.slice/libpod-[0-9a-f]*.scope", { .cgroup = "/machine.slice/libpod-0c1d.scope/container" }, true },
	{ "unit=serve.service", { .cgroup = SERVE }, true },
	{ "unit=serve.service", { .cgroup = SERVE "/sub/other.service" }, true },
	{ "unit=other.service", { .cgroup = SERVE "/sub/other.service" }, false },
	{ "unit=serve.service", { .cgroup = FORGED }, false },
	{ "unit=user@1000.service", { .cgroup = FORGED }, true },
	{ "unit=app.slice", { .cgroup = FORGED }, false },
	{ "unit=user-1000.slice", { .cgroup = FORGED }, true },
	{ "unit=inference.slice", { .cgroup = SERVE }, true },
	{ "unit=inference.slice", { .cgroup = "/x/inference.slice/serve.service" }, false },
	{ "unit=serve.service", { .cgroup = "/x/serve.service" }, false },
	{ "unit=*.service", { .cgroup = SERVE }, true },
	{ "unit=*.service", { .cgroup = "/session.scope" }, false },
	{ "unit=*.service", { .cgroup = NULL }, false },
	{ "unit=session.*", { .cgroup = "/session.scope" }, true },
	{ "unit=s*", { .cgroup = "/session.scope" }, true },
	{ "unit=session.[st]cope", { .cgroup = "/session.scope" }, true },
	/* as systemd escapes names */
	{ "cgroup=/system.slice/a\\x2db.slice", { .cgroup = "/system.slice/a\\x2db.slice/x.service" }, true },
	{ "cgroup=/system.slice/a\\x2db.slice", { .cgroup = "/system.slice/ax2db.slice" }, false },
	{ "unit=a\\x2db@*.service", { .cgroup = "/system.slice/a\\x2db@1.service" }, true },
	{ "unit=memory.service", { .cgroup = "/system.slice/_memory.service" }, true },
	{ "unit=cgroup.slice", { .cgroup = "/_cgroup.slice/x.service" }, true },
	{ "unit=_x.service", { .cgroup = "/system.slice/__x.service" }, true },
	{ "unit=x.service", { .cgroup = "/system.slice/__x.service" }, false },
	{ "user=carl", { .uid = 1001 }, false },
	{ "group=carl", { .gids = batch, .nr_gids = 1 }, false },
	/* too deep to be shown: this rule lowers */
	{ "cgroup=/batch.slice", { .cgroup_hidden = true }, true },
	{ "unit=batch.slice", { .cgroup_hidden = true }, true },
	{ "cgroup=/", { .cgroup_hidden = true }, true },
	{ "cgroup=/batch.slice user=anna", { .cgroup_hidden = true, .uid = 1001 }, false },
	{ "user=anna", { .uid = 1000 }, true },
	{ "user=anna", { .uid = 1001 }, false },
	{ "group=batch", { .gids = both, .nr_gids = 2 }, true },
	{ "group=batch", { .gids = both, .nr_gids = 1 }, false },
	{ "user=anna group=batch", { .uid = 1000, .gids = gpu, .nr_gids = 1 }, false },
	{ "user=anna group=batch", { .uid = 1000, .gids = batch, .nr_gids = 1 }, true },
	{ "user=anna cgroup=/user.slice", { .uid = 1000, .cgroup = FORGED }, true },
	{ "user=anna cgroup=/user.slice", { .uid = 1000, .cgroup = SERVE }, false },
	{ "exe=/usr/bin/python3*", { .exe = "/usr/bin/python3.11" }, true },
	{ "exe=/usr/bin/*", { .exe = "/usr/bin/x/y" }, false },
	{ "exe=/usr/bin/x", { .exe = NULL }, false },
};

static void test_table(void **state)
{
	struct rules rules;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		snprintf(text, sizeof(text), "%s priority=low", table[i].rule);
		test_parse(&rules, text);
		assert_int_equal(rules.nr, 1);
		if (!rule_mismatch(&rules.rule[0], &table[i].subject) != table[i].matches)
			fail_msg("%s, %s: %smatched", table[i].rule, table[i].subject.cgroup ?: "no cgroup",
				 table[i].matches ? "not " : "");
		rules_free(&rules);
	}
}

/* The line that gives the priority, the one that limits it (0: none), and the priority */
static const struct {
	const char *text;
	unsigned int line, limit;
	int priority;
	uint32_t park;
} order[] = {
	{ "user=anna priority=3\nuser=anna priority=12", 1, 0, 3 },
	{ "user=ben priority=3\nuser=anna priority=12", 2, 0, 12 },
	{ "user=ben priority=3", 0, 0, KFD_PRIO_UNSET },
	{ "", 0, 0, KFD_PRIO_UNSET },
	/* exe= does not end the search: a forged path would escape what follows */
	{ "exe=/bin/x priority=7\nuser=anna priority=2", 2, 0, 2 },
	{ "exe=/bin/x priority=1\nuser=anna priority=2", 2, 1, 1 },
	{ "exe=/bin/x priority=2\nuser=anna priority=2", 2, 0, 2 },
	{ "exe=/bin/x priority=5\nexe=/bin/* priority=4\nuser=anna priority=12", 3, 2, 4 },
	{ "exe=/bin/x priority=4\nexe=/bin/* priority=5\nuser=anna priority=12", 3, 1, 4 },
	{ "exe=/bin/x priority=4", 0, 1, 4 },
	{ "exe=/bin/y priority=4\nuser=anna priority=12", 2, 0, 12 },
	/* what stands after the rule that matches is not looked at */
	{ "user=anna priority=12\nexe=/bin/x priority=4", 1, 0, 12 },
	/* the first rule that matches gives park=, or leaves it as it is */
	{ "user=anna priority=3 park=never\nuser=anna park=auto", 1, 0, 3, KFD_PRIO_SET_PARK_NEVER },
	{ "user=ben park=never\nuser=anna park=auto", 2, 0, KFD_PRIO_UNSET, KFD_PRIO_SET_PARK_AUTO },
	{ "user=anna priority=3\nuser=anna park=auto", 1, 0, 3 },
	{ "exe=/bin/x priority=4\nuser=anna park=never", 2, 1, 4, KFD_PRIO_SET_PARK_NEVER },
};

/* The same of a process whose cgroup is too deep to be shown: rules for cgroups do not end the search and do not raise */
static const struct {
	const char *text;
	unsigned int line, limit;
	int priority;
	uint32_t park;
} hidden[] = {
	{ "cgroup=/batch.slice priority=2", 0, 1, 2 },
	{ "unit=batch.slice priority=7", 0, 1, 7 },
	{ "unit=serve.service priority=8", 0, 0, KFD_PRIO_UNSET },
	{ "cgroup=/inference.slice priority=12\nuser=anna priority=9", 2, 0, 9 },
	{ "cgroup=/a.slice priority=7\ncgroup=/b.slice priority=2\nuser=anna priority=9", 3, 2, 2 },
	{ "cgroup=/a.slice priority=2\ncgroup=/b.slice priority=3\nuser=anna priority=1", 3, 0, 1 },
	{ "user=anna priority=9\ncgroup=/b.slice priority=2", 1, 0, 9 },
	{ "cgroup=/b.slice user=ben priority=2\nuser=anna priority=9", 2, 0, 9 },
	{ "cgroup=/ priority=12", 1, 0, 12 },
	{ "cgroup=/ unit=b.slice priority=12", 0, 0, KFD_PRIO_UNSET },
	{ "cgroup=/b.slice park=never\nunit=b.slice park=auto", 0, 0, KFD_PRIO_UNSET },
};

static void test_hidden(void **state)
{
	const struct rules_subject subject = { .cgroup_hidden = true, .uid = 1000, .exe = "/bin/x" };
	struct rules_result result;
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		test_parse(&rules, hidden[i].text);
		assert_int_equal(rules.nr_errors, 0);
		rules_match(&rules, &subject, &result);
		if ((result.rule ? result.rule->line : 0) != hidden[i].line ||
		    (result.limit ? result.limit->line : 0) != hidden[i].limit ||
		    result.priority != hidden[i].priority || result.park != hidden[i].park)
			fail_msg("%s: line %u, limit %u, priority %d, park %u", hidden[i].text,
				 result.rule ? result.rule->line : 0, result.limit ? result.limit->line : 0,
				 result.priority, result.park);
		rules_free(&rules);
	}
}

static void test_left(void **state)
{
	static const struct {
		const char *text;
		bool left;
	} rows[] = {
		{ "group=batch priority=low", true },
		{ "group=batch priority=6", true },
		{ "group=batch priority=normal", false },
		{ "group=batch priority=high", false },
		{ "group=batch park=auto", true },
		{ "group=batch park=never", false },
		{ "group=batch cgroup=/x.slice priority=low", true },
		{ "cgroup=/x.slice unit=y.slice user=anna priority=low park=auto", false },
	};
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		test_parse(&rules, rows[i].text);
		assert_int_equal(rules.nr_errors, 0);
		if (rule_is_left(&rules.rule[0]) != rows[i].left)
			fail_msg("%s", rows[i].text);
		rules_free(&rules);
	}
}

/* The line of the rule that stands before another and matches wherever that matches; 0: none */
static void test_before(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
	} rows[] = {
		{ "cgroup=/ priority=3\nuser=anna priority=4", 1 },
		{ "cgroup=/a.slice priority=3\ncgroup=/a.slice/b priority=4", 1 },
		{ "cgroup=/a.slice priority=3\ncgroup=/a.slicer priority=4", 0 },
		/* a pattern that stands for what the later one names */
		{ "cgroup=/a.slice/* priority=3\ncgroup=/a.slice/b priority=4", 1 },
		{ "cgroup=/* priority=3\ncgroup=/x priority=4", 1 },
		{ "cgroup=/a* priority=3\ncgroup=/ab priority=4", 1 },
		{ "cgroup=/a* priority=3\ncgroup=/ab/*/c priority=4", 1 },
		{ "cgroup=/a* priority=3\ncgroup=/b priority=4", 0 },
		{ "cgroup=/a* priority=3\ncgroup=/?b priority=4", 0 },
		{ "cgroup=/a*/c priority=3\ncgroup=/ab priority=4", 0 },
		{ "cgroup=/a.slice/* priority=3\ncgroup=/a.slice priority=4", 0 },
		{ "cgroup=/a\\* priority=3\ncgroup=/ab priority=4", 0 },
		{ "cgroup=/a?b priority=3\ncgroup=/a\\*b priority=4", 1 },
		{ "unit=*.service priority=3\nunit=a.service priority=4", 1 },
		{ "unit=a@*.service priority=3\nunit=a\\x2db.service priority=4", 0 },
		{ "unit=a*.service priority=3\nunit=a\\x2db.service priority=4", 1 },
		{ "unit=a.service priority=3\nunit=*.service priority=4", 0 },
		{ "unit=*.slice priority=3\nunit=a.service priority=4", 0 },
		{ "unit=*.service priority=3\ncgroup=/system.slice/a.service/x priority=4", 1 },
		{ "unit=*.service priority=3\ncgroup=/system.slice priority=4", 0 },
		{ "unit=system.slice priority=3\ncgroup=/system.slice/* priority=4", 1 },
		{ "unit=b.service priority=3\ncgroup=/x/b.service priority=4", 0 },
		{ "cgroup=/a.slice/* priority=3\ncgroup=/a.slice/*/b priority=4", 1 },
		{ "cgroup=/a.slice/* priority=3\ncgroup=/a.slice/* user=ben priority=4", 1 },
		{ "user=anna priority=3\nuser=anna group=gpu priority=4", 1 },
		{ "user=anna group=gpu priority=3\nuser=anna priority=4", 0 },
		{ "user=anna priority=3\nuser=ben priority=4", 0 },
		{ "unit=a.service priority=3\nunit=a.service exe=/x priority=4", 1 },
		{ "exe=/x priority=3\nexe=/x priority=4", 0 },
		{ "user=carl priority=3\nuser=carl priority=4", 1 },
		{ "user=carl priority=3\nuser=dora priority=4", 0 },
		{ "user=carl priority=3\nuser=ben priority=4", 0 },
		{ "user=ben priority=3\nuser=carl priority=4", 0 },
		{ "group=carl priority=3\ngroup=carl user=anna priority=4", 1 },
		{ "group=carl priority=3\nuser=carl priority=4", 0 },
	};
	const struct rule *before;
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		test_parse(&rules, rows[i].text);
		assert_int_equal(rules.nr, 2);
		before = rule_before(&rules, &rules.rule[1]);
		if ((before ? before->line : 0) != rows[i].line)
			fail_msg("%s: line %u", rows[i].text, before ? before->line : 0);
		rules_free(&rules);
	}
}

static void test_order(void **state)
{
	const struct rules_subject subject = { .cgroup = SERVE, .uid = 1000, .exe = "/bin/x" };
	struct rules_result result;
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(order) / sizeof(*order); i++) {
		test_parse(&rules, order[i].text);
		assert_int_equal(rules.nr_errors, 0);
		rules_match(&rules, &subject, &result);
		if ((result.rule ? result.rule->line : 0) != order[i].line ||
		    (result.limit ? result.limit->line : 0) != order[i].limit ||
		    result.priority != order[i].priority || result.park != order[i].park)
			fail_msg("%s: line %u, limit %u, priority %d, park %u", order[i].text,
				 result.rule ? result.rule->line : 0, result.limit ? result.limit->line : 0,
				 result.priority, result.park);
		rules_free(&rules);
	}
}

static void test_look(void **state)
{
	static const struct {
		const char *text;
		unsigned int look;
	} rows[] = {
		{ "", 0 },
		{ "cgroup=/ priority=3", RULES_LOOK_CGROUP },
		{ "unit=a.service priority=3", RULES_LOOK_CGROUP },
		{ "user=anna park=never", RULES_LOOK_USER },
		{ "group=gpu priority=3", RULES_LOOK_GROUP },
		{ "exe=/x priority=3", RULES_LOOK_EXE },
		{ "user=ben priority=3\nexe=/x cgroup=/ priority=3", RULES_LOOK_USER | RULES_LOOK_EXE | RULES_LOOK_CGROUP },
		{ "user=ben group=gpu unit=x.slice exe=/x priority=3", RULES_LOOK_ALL },
	};
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		test_parse(&rules, rows[i].text);
		assert_int_equal(rules.nr_errors, 0);
		if (rules_look(&rules) != rows[i].look)
			fail_msg("%s: %#x", rows[i].text, rules_look(&rules));
		rules_free(&rules);
	}
}

static void test_applies(void **state)
{
	const struct rule rule = { .priority = 7 }, park = { .priority = KFD_PRIO_UNSET };
	const struct {
		struct rules_result result;
		int now;
		bool applies;
	} rows[] = {
		{ { .priority = KFD_PRIO_UNSET }, 12, false },
		{ { .rule = &rule, .priority = 12 }, KFD_PRIO_UNSET, true },
		{ { .rule = &rule, .priority = 12 }, 12, false },
		{ { .rule = &rule, .priority = 12 }, 3, true },
		{ { .rule = &rule, .priority = 3 }, 12, true },
		{ { .limit = &rule, .priority = 3 }, KFD_PRIO_UNSET, true },
		{ { .limit = &rule, .priority = 7 }, KFD_PRIO_UNSET, false },
		{ { .limit = &rule, .priority = 6 }, KFD_PRIO_UNSET, true },
		{ { .limit = &rule, .priority = 7 }, 3, false },
		{ { .limit = &rule, .priority = 7 }, 12, true },
		{ { .rule = &rule, .limit = &rule, .priority = 3 }, 0, true },
		/* a rule that has only park= raises no priority with the limit */
		{ { .rule = &park, .limit = &rule, .priority = 3 }, 0, false },
		{ { .rule = &park, .limit = &rule, .priority = 3 }, 12, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rules_applies(&rows[i].result, rows[i].now) != rows[i].applies)
			fail_msg("row %zu: %s", i, rows[i].applies ? "does not apply" : "applies");
}

static void test_unit(void **state)
{
	static const struct {
		const char *cgroup, *unit;
	} rows[] = {
		{ "/", "" },
		{ SERVE, "serve.service" },
		{ SERVE "/a.scope", "serve.service" },
		{ FORGED, "user@1000.service" },
		{ "/init.scope", "init.scope" },
		{ "/a.slice/b.slice", "" },
		{ "/docker/0123/x.service", "" },
		{ "/system.slice/_io.service", "io.service" },
	};
	size_t i, at, len;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		at = rules_unit(rows[i].cgroup, &len);
		assert_int_equal(len, strlen(rows[i].unit));
		assert_memory_equal(rows[i].cgroup + at, rows[i].unit, len);
	}
}

/* What lowers needs one of the groups, what raises all; a limit lowers only; unset is the lowest */
static void test_orphan(void **state)
{
	const struct rule rule = { .priority = 7 };
	const struct rules_result none = { .priority = KFD_PRIO_UNSET }, low = { .rule = &rule, .priority = 2 },
				  high = { .rule = &rule, .priority = 12 }, limit = { .limit = &rule, .priority = 1 },
				  never = { .rule = &rule, .priority = KFD_PRIO_UNSET, .park = KFD_PRIO_SET_PARK_NEVER },
				  parks = { .rule = &rule, .priority = KFD_PRIO_UNSET, .park = KFD_PRIO_SET_PARK_AUTO };
	const struct {
		struct rules_result of[2];
		size_t nr;
		bool all;
		int now, priority;
		uint32_t park;
	} rows[] = {
		{ { high }, 1, true, KFD_PRIO_UNSET, 12, 0 },
		{ { high }, 1, false, KFD_PRIO_UNSET, KFD_PRIO_UNSET, 0 },
		{ { high, none }, 2, true, KFD_PRIO_UNSET, KFD_PRIO_UNSET, 0 },
		{ { high, high }, 2, true, KFD_PRIO_UNSET, 12, 0 },
		{ { high, low }, 2, true, KFD_PRIO_UNSET, 2, 0 },
		{ { high, low }, 2, false, KFD_PRIO_UNSET, KFD_PRIO_UNSET, 0 },
		{ { high, low }, 2, false, 9, 2, 0 },
		{ { low, none }, 2, true, 9, 2, 0 },
		{ { low, none }, 2, true, 1, KFD_PRIO_UNSET, 0 },
		{ { limit, none }, 2, true, 9, 1, 0 },
		{ { limit }, 1, true, KFD_PRIO_UNSET, KFD_PRIO_UNSET, 0 },
		{ { high, limit }, 2, true, KFD_PRIO_UNSET, KFD_PRIO_UNSET, 0 },
		{ { never }, 1, true, KFD_PRIO_UNSET, KFD_PRIO_UNSET, KFD_PRIO_SET_PARK_NEVER },
		{ { never, none }, 2, true, KFD_PRIO_UNSET, KFD_PRIO_UNSET, 0 },
		{ { never }, 1, false, KFD_PRIO_UNSET, KFD_PRIO_UNSET, 0 },
		{ { parks, never }, 2, false, KFD_PRIO_UNSET, KFD_PRIO_UNSET, KFD_PRIO_SET_PARK_AUTO },
		{ { none }, 0, true, 9, KFD_PRIO_UNSET, 0 },
	};
	struct rules_result result;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rules_match_orphan(rows[i].of, rows[i].nr, rows[i].all, rows[i].now, &result);
		if (result.priority != rows[i].priority || result.park != rows[i].park)
			fail_msg("row %zu: priority %d, park %u", i, result.priority, result.park);
	}
}

int match_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_left), cmocka_unit_test(test_before),
		cmocka_unit_test(test_look), cmocka_unit_test(test_applies),
		cmocka_unit_test(test_unit), cmocka_unit_test(test_orphan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
