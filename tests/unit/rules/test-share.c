// SPDX-License-Identifier: GPL-2.0
/* Shares of GPU time: the values, the messages for what is meant for another key, and which processes share. */
#define _GNU_SOURCE
#include "fixture.h"

#define NONE  KFD_PRIO_MAX_NONE
#define SERVE "/inference.slice/serve.service"

static void test_max(void **state)
{
	static const struct {
		const char *text;
		uint32_t max; /* 0: no limit at all */
		const char *again; /* NULL: as @text */
	} rows[] = {
		{ "30%", 3000 },
		{ "0.01%", 1 },
		{ "0.1%", 10 },
		{ "0.10%", 10, "0.1%" },
		{ "1%", 100 },
		{ "12.5%", 1250 },
		{ "12.05%", 1205 },
		{ "99.99%", 9999 },
		{ "100%", NONE, "none" },
		{ "100.00%", NONE, "none" },
		{ "none", NONE },
		{ "007%", 700, "7%" },
		{ "0%", 0 },
		{ "0.00%", 0 },
		{ "0.001%", 0 },
		{ "0.005%", 0 },
		{ "100.01%", 0 },
		{ "101%", 0 },
		{ "999%", 0 },
		{ "1000%", 0 },
		{ "0030%", 0 },
		{ "4294967326%", 0 },
		{ "30", 0 },
		{ "30.%", 0 },
		{ ".5%", 0 },
		{ "%", 0 },
		{ "", 0 },
		{ "30%%", 0 },
		{ "30% ", 0 },
		{ " 30%", 0 },
		{ "+30%", 0 },
		{ "-30%", 0 },
		{ "30,5%", 0 },
		{ "30.5.5%", 0 },
		{ "0x10%", 0 },
		{ "1e1%", 0 },
		{ "None", 0 },
		{ "none%", 0 },
	};
	char text[16];
	uint32_t max;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		max = 4711;
		assert_int_equal(kfd_max_parse(rows[i].text, &max), rows[i].max ? 0 : -EINVAL);
		/* what is refused changes nothing */
		if (max != (rows[i].max ? rows[i].max : 4711))
			fail_msg("%s: %u", rows[i].text, max);
		if (rows[i].max)
			assert_string_equal(kfd_max_text(max, text, sizeof(text)), rows[i].again ?: rows[i].text);
	}
	for (i = 1; i <= NONE; i++)
		if (kfd_max_parse(kfd_max_text(i, text, sizeof(text)), &max) || max != i)
			fail_msg("%zu: %s", i, text);
}

static void test_weight(void **state)
{
	static const struct {
		const char *text;
		int weight; /* -1: none at all */
	} rows[] = {
		{ "1", 1 },	{ "200", 200 }, { "10000", 10000 }, { "0100", 100 }, { "none", KFD_PRIO_WEIGHT_NONE },
		{ "0", -1 },	{ "10001", -1 }, { "4294967297", -1 }, { "18446744073709551617", -1 }, { "", -1 },
		{ "-1", -1 },	{ "+1", -1 },	 { "1.5", -1 },	       { "1 ", -1 },		     { "30%", -1 },
		{ "high", -1 },
	};
	uint32_t weight;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		weight = 4711;
		assert_int_equal(kfd_weight_parse(rows[i].text, &weight), rows[i].weight < 0 ? -EINVAL : 0);
		if (weight != (rows[i].weight < 0 ? 4711 : (uint32_t)rows[i].weight))
			fail_msg("%s: %u", rows[i].text, weight);
	}
}

static void test_text(void **state)
{
	static const struct {
		struct share_setting setting;
		const char *text;
	} rows[] = {
		{ { 3000, false, 0 }, "max=30%" },
		{ { 3000, true, 0 }, "max-soft=30%" },
		{ { 9999, true, 10000 }, "max-soft=99.99% weight=10000" },
		{ { NONE, false, 200 }, "weight=200" },
		{ { NONE, true, 200 }, "weight=200" },
		{ { NONE, false, 0 }, "max=none" },
		{ { NONE, true, 0 }, "max=none" },
	};
	char text[SHARE_TEXT];
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_string_equal(share_text(&rows[i].setting, text, sizeof(text)), rows[i].text);
		/* two are the same if they read the same */
		for (j = 0; j < sizeof(rows) / sizeof(*rows); j++)
			assert_int_equal(share_same(&rows[i].setting, &rows[j].setting), !strcmp(rows[i].text, rows[j].text));
	}
}

static void test_good(void **state)
{
	static const struct {
		const char *line;
		uint32_t max, weight;
		bool soft, shares;
	} rows[] = {
		{ "cgroup=/a max=30%", 3000, 0, false, true },
		{ "cgroup=/a max-soft=0.5%", 50, 0, true, true },
		{ "user=anna weight=200", 0, 200, false, true },
		{ "user=anna weight=200 max=12.34% priority=3", 1234, 200, false, true },
		{ "weight=1 max-soft=99% cgroup=/ park=never", 9900, 1, true, true },
		{ "exe=/x max=30%", 3000, 0, false, true },
		{ "exe=/x max=30% priority=7", 3000, 0, false, true },
		/* an exception from rules that follow */
		{ "user=anna max=none", NONE, 0, false, false },
		{ "user=anna max=100%", NONE, 0, false, false },
		{ "user=anna weight=none", 0, 0, false, false },
		{ "user=anna max=none weight=3", NONE, 3, false, true },
		{ "user=anna priority=3", 0, 0, false, false },
	};
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct rule *rule;

		test_parse(&rules, rows[i].line);
		if (rules.nr_errors)
			fail_msg("%s: %s", rows[i].line, rules.errors[0].why);
		rule = &rules.rule[0];
		if (rule->max != rows[i].max || rule->weight != rows[i].weight || rule->soft != rows[i].soft ||
		    rule_shares(rule) != rows[i].shares)
			fail_msg("%s: max %u, weight %u, soft %d", rows[i].line, rule->max, rule->weight, rule->soft);
		rules_free(&rules);
	}
}

/* The column, and the whole message or its beginning */
static const struct {
	const char *line;
	unsigned int column;
	const char *why;
} bad[] = {
	{ "cgroup=/a max=12", 15, "max= is a limit of GPU time in percent, as max=12%: a priority is priority=12, and the highest one that containers may ask for is container-max=12, alone on its line" },
	{ "max=12", 5, "max= is a limit of GPU time in percent, as max=12%: a priority is priority=12, and the highest one" },
	{ "cgroup=/a max-soft=7", 20, "max-soft= is a limit of GPU time in percent, as max-soft=7%: a priority is priority=7," },
	{ "cgroup=/a max=high", 15, "max= is a limit of GPU time in percent, as max=30%: a priority is priority=high, and the highest one that containers may ask for is container-max=high, " },
	{ "cgroup=/a max=0", 15, "max= is a limit of GPU time in percent, as max=30%: a priority is priority=0," },
	{ "cgroup=/a max=30", 15, "max= is a percentage of GPU time, with '%' and with a point: write max=30%" },
	{ "cgroup=/a max=0.5", 15, "max= is a percentage of GPU time, with '%' and with a point: write max=0.5%" },
	{ "cgroup=/a max-soft=30,5%", 20, "max-soft= is a percentage of GPU time, with '%' and with a point: write max-soft=30.5%" },
	{ "cgroup=/a max=30,5", 15, "max= is a percentage of GPU time, with '%' and with a point: write max=30.5%" },
	{ "cgroup=/a max=0%", 15, "max= is from 0.01% to 100%, with two decimals at most" },
	{ "cgroup=/a max=101%", 15, "max= is from 0.01% to 100%, with two decimals at most" },
	{ "cgroup=/a max=1.234%", 15, "max= is from 0.01% to 100%, with two decimals at most" },
	{ "cgroup=/a max-soft=half", 20, "max-soft= is a percentage of GPU time from 0.01% to 100%, as max-soft=30%, or none" },
	{ "cgroup=/a max=-5%", 15, "max= is a percentage of GPU time from 0.01% to 100%, as max=30%, or none" },
	{ "cgroup=/a max=", 0, "max= has no value" },
	{ "cgroup=/a max=30% max=20%", 0, "max= is given twice" },
	{ "cgroup=/a max=30% max-soft=20%", 28, "max= and max-soft= are two kinds of the same limit: remove one of them" },
	{ "max-soft=30% max=20% cgroup=/a", 10, "max= and max-soft= are two kinds" },
	{ "cgroup=/a weight=30%", 18, "weight= is a number from 1 to 10000 and no percentage: a limit of GPU time is max=, as max=30%" },
	{ "cgroup=/a weight=0", 18, "weight= is a number from 1 to 10000, as weight=200, or none" },
	{ "cgroup=/a weight=10001", 18, "weight= is a number from 1 to 10000" },
	{ "cgroup=/a weight=high", 18, "weight= is a number from 1 to 10000" },
	{ "cgroup=/a weight=", 0, "weight= has no value" },
	{ "exe=/x weight=200", 15, "weight= cannot be combined with exe=" },
	{ "exe=/x max=30% weight=200", 23, "weight= cannot be combined with exe=" },
	{ "container-max=30%", 15, "container-max= is the highest priority that containers may ask for, and no limit of GPU time: such a limit is max= in a rule that names the containers, as: cgroup=/machine.slice max=30%" },
	{ "container-max=300000000000000000000000000%", 15, "container-max= is the highest priority" },
	{ "container-max=none", 15, "container-max=: 'none' is not a priority" },
	{ "container-max=12 max=30%", 22, "container-max= stands alone on its line: remove max=" },
	{ "max=30% container-max=12", 5, "container-max= stands alone on its line: remove max=" },
	{ "cgroup=/a priority=30%", 20, "priority= is a number or a name, and no limit of GPU time, which is max=: write max=30%" },
	{ "cgroup=/a priority=300%", 20, "priority= is a number or a name, and no limit of GPU time, which is max=" },
	{ "max=30%", 0, "there is no condition" },
	{ "weight=3", 0, "there is no condition" },
	{ "cgroup=/a", 0, "priority= is missing (or park=, max=, max-soft=, weight=)" },
	{ "cgroup=/a soft-max=3", 0, "'soft-max=' is unknown: there are cgroup=, unit=, user=, group=, exe=, priority=, park=, max=, max-soft=, weight=, container-max=, annotation-gpu-time= and annotation-weight=" },
	{ "cgroup=/a max='30%'", 15, "max= takes no quotes but double ones of ASCII, and these only round blanks: write max=30%" },
	{ "cgroup=/a 'max=30%'", 11, "a word takes no quotes but double ones of ASCII, and these only round blanks: write max=30%" },
};

static void test_bad(void **state)
{
	struct rules rules;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "%s\nuser=ben priority=low", bad[i].line);
		test_parse(&rules, text);
		if (rules.nr != 1 || rules.nr_errors != 1)
			fail_msg("%s: %zu rules, %zu errors", bad[i].line, rules.nr, rules.nr_errors);
		assert_false(rules.has_container_max);
		if (strncmp(rules.errors[0].why, bad[i].why, strlen(bad[i].why)) ||
		    (bad[i].column && rules.errors[0].column != bad[i].column))
			fail_msg("%s: column %u, '%s', not %u, '%s'", bad[i].line, rules.errors[0].column, rules.errors[0].why,
				 bad[i].column, bad[i].why);
		rules_free(&rules);
	}
}

/* The lines of the rules that give a share and limit it (0: none) */
static const struct {
	const char *text;
	unsigned int share, limit;
} order[] = {
	{ "user=anna max=30%\nuser=anna max=20%", 1, 0 },
	{ "user=ben max=30%\nuser=anna weight=3", 2, 0 },
	/* the first rule that matches gives a share, or none */
	{ "user=anna priority=3\nuser=anna max=20%", 0, 0 },
	{ "user=anna max=none\nuser=anna max=20%", 0, 0 },
	{ "cgroup=/other max=30%", 0, 0 },
	/* exe= limits beside the group of a cgroup, and never beside another one */
	{ "exe=/bin/x max=30%", 0, 1 },
	{ "exe=/bin/y max=30%", 0, 0 },
	{ "exe=/bin/x max=none", 0, 0 },
	{ "exe=/bin/x max=30%\nuser=anna priority=3", 0, 1 },
	{ "exe=/bin/x max=30%\ncgroup=/inference.slice max=50%", 2, 1 },
	{ "exe=/bin/x max=30%\nuser=anna max=50%", 2, 0 },
	{ "exe=/bin/x max=30%\nuser=anna cgroup=/inference.slice max=50%", 2, 0 },
	{ "exe=/bin/x max=30%\ncgroup=/ weight=5", 2, 0 },
	{ "exe=/bin/x max=30%\nexe=/bin/* max=20%", 0, 2 },
	{ "exe=/bin/x max=20%\nexe=/bin/* max-soft=20%", 0, 1 },
	{ "user=anna priority=3\nexe=/bin/x max=20%", 0, 0 },
};

static void order_check(const struct rules_subject *subject, const char *text, unsigned int share, unsigned int limit)
{
	struct rules_result result;
	struct rules rules;

	test_parse(&rules, text);
	if (rules.nr_errors)
		fail_msg("%s: %s", text, rules.errors[0].why);
	rules_match(&rules, subject, &result);
	if ((result.share ? result.share->line : 0) != share || (result.share_limit ? result.share_limit->line : 0) != limit)
		fail_msg("%s: line %u, limit %u", text, result.share ? result.share->line : 0,
			 result.share_limit ? result.share_limit->line : 0);
	/* a rule that only limits GPU time gives no priority */
	assert_true(!result.limit || result.limit->priority != KFD_PRIO_UNSET);
	rules_free(&rules);
}

static void test_order(void **state)
{
	const struct rules_subject subject = { .cgroup = SERVE, .uid = 1000, .exe = "/bin/x" };
	struct rules_result result;
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(order) / sizeof(*order); i++)
		order_check(&subject, order[i].text, order[i].share, order[i].limit);
	/* two rules, one of which limits the priority and the other one GPU time */
	test_parse(&rules, "exe=/bin/x max=30%\nexe=/bin/* priority=3\nuser=anna priority=9");
	rules_match(&rules, &subject, &result);
	assert_int_equal(result.limit->line, 2);
	assert_int_equal(result.share_limit->line, 1);
	assert_int_equal(result.priority, 3);
	rules_free(&rules);
}

/* Of a process whose cgroup is too deep to be shown, rules for cgroups only limit */
static void test_hidden(void **state)
{
	static const struct {
		const char *text;
		unsigned int share, limit;
	} rows[] = {
		{ "cgroup=/batch.slice max=30%", 0, 1 },
		{ "unit=batch.slice max-soft=30% weight=1000", 0, 1 },
		{ "cgroup=/batch.slice weight=1000", 0, 0 },
		{ "cgroup=/batch.slice max=none", 0, 0 },
		{ "cgroup=/batch.slice max=30%\nuser=anna weight=3", 2, 0 },
		{ "cgroup=/batch.slice max=30%\nunit=x.service max=10%", 0, 2 },
		{ "cgroup=/batch.slice user=ben max=30%", 0, 0 },
		{ "cgroup=/ max=30%", 1, 0 },
		/* the limit holds, and the priority of this rule does not */
		{ "cgroup=/batch.slice priority=high max=30%", 0, 1 },
	};
	const struct rules_subject subject = { .cgroup_hidden = true, .uid = 1000, .exe = "/bin/x" };
	struct rules_result result;
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		order_check(&subject, rows[i].text, rows[i].share, rows[i].limit);
	test_parse(&rules, "cgroup=/batch.slice priority=high max=30%");
	rules_match(&rules, &subject, &result);
	assert_null(result.limit);
	assert_int_equal(result.priority, KFD_PRIO_UNSET);
	rules_free(&rules);
	/* one that raises does not match, and kfdprio rules explain names the condition */
	test_parse(&rules, "cgroup=/batch.slice priority=high\nunit=batch.slice weight=3\ncgroup=/batch.slice max=3%");
	assert_string_equal(rule_mismatch(&rules.rule[0], &subject), "cgroup");
	assert_string_equal(rule_mismatch(&rules.rule[1], &subject), "unit");
	assert_null(rule_mismatch(&rules.rule[2], &subject));
	rules_free(&rules);
}

static void test_cgroup(void **state)
{
	static const struct {
		const char *line, *cgroup;
		size_t len; /* of the cgroup that shares; 0: it is one for the rule */
	} rows[] = {
		{ "cgroup=/inference.slice max=1%", SERVE "/x", strlen("/inference.slice") },
		{ "cgroup=/inference.slice/* max=1%", SERVE "/x", strlen(SERVE) },
		{ "cgroup=/inference.slice/ max=1%", SERVE, strlen("/inference.slice") },
		{ "cgroup=/*/serve.service/? max=1%", SERVE "/x/y", strlen(SERVE "/x") },
		{ "unit=serve.service max=1%", SERVE "/x", strlen(SERVE) },
		{ "unit=*.service max=1%", SERVE "/x/other.service", strlen(SERVE) },
		{ "unit=inference.slice max=1%", SERVE "/x", strlen("/inference.slice") },
		{ "unit=memory.service max=1%", "/a.slice/_memory.service/x", strlen("/a.slice/_memory.service") },
		/* of two that hold, the one that is further down */
		{ "cgroup=/inference.slice unit=serve.service max=1%", SERVE "/x", strlen(SERVE) },
		{ "cgroup=/inference.slice/serve.service/x unit=inference.slice max=1%", SERVE "/x", strlen(SERVE "/x") },
		{ "cgroup=/ unit=serve.service max=1%", SERVE "/x", strlen(SERVE) },
		/* all of the host are no cgroup, nor are those of a user in one */
		{ "cgroup=/ max=1%", SERVE, 0 },
		{ "cgroup=/ max=1%", "/", 0 },
		{ "user=anna max=1%", SERVE, 0 },
		{ "group=gpu max=1%", SERVE, 0 },
		{ "cgroup=/inference.slice user=anna max=1%", SERVE, 0 },
		{ "unit=serve.service group=gpu max=1%", SERVE, 0 },
		{ "cgroup=/inference.slice exe=/x max=1%", SERVE, 0 },
		{ "cgroup=/inference.slice max=1%", NULL, 0 },
	};
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		test_parse(&rules, rows[i].line);
		assert_int_equal(rules.nr, 1);
		if (rule_share_cgroup(&rules.rule[0], rows[i].cgroup) != rows[i].len)
			fail_msg("%s, %s: %zu", rows[i].line, rows[i].cgroup ?: "no cgroup",
				 rule_share_cgroup(&rules.rule[0], rows[i].cgroup));
		rules_free(&rules);
	}
}

/* The line by which a cgroup has a group, when rules were read anew; 0: none */
static void test_of_cgroup(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
	} rows[] = {
		{ "unit=serve.service max=30%", 1 },
		{ "priority=3 cgroup=/other\ncgroup=/inference.slice/* weight=3", 2 },
		{ "user=anna priority=3\nunit=serve.service max=30%", 2 },
		{ "exe=/x max=3%\nunit=serve.service max=30%", 2 },
		/* a rule before it ends the search, and so does one for a cgroup above */
		{ "cgroup=/inference.slice priority=3\nunit=serve.service max=30%", 0 },
		{ "cgroup=/ max=3%\nunit=serve.service max=30%", 0 },
		{ "cgroup=/inference.slice max=30%\nunit=serve.service max=30%", 0 },
		{ "unit=serve.service max=none\nunit=serve.service max=30%", 0 },
		{ "unit=serve.service user=anna max=30%", 0 },
		{ "unit=other.service max=30%", 0 },
		{ "cgroup=" SERVE "/x max=30%", 0 },
	};
	const struct rule *rule;
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		test_parse(&rules, rows[i].text);
		assert_int_equal(rules.nr_errors, 0);
		rule = rules_share_of_cgroup(&rules, SERVE);
		if ((rule ? rule->line : 0) != rows[i].line)
			fail_msg("%s: line %u", rows[i].text, rule ? rule->line : 0);
		rules_free(&rules);
	}
}

static void test_key(void **state)
{
	static const struct {
		const char *line, *key;
	} rows[] = {
		{ "user=anna max=30%", "user=anna" },
		{ "max=20% weight=3 priority=3 park=auto user=anna", "user=anna" },
		{ "group=gpu user=anna unit=a.service cgroup=/ max=1%", "cgroup=/ unit=a.service user=anna group=gpu" },
		{ "exe=\"/a b\" max=1%", "exe=/a b" },
	};
	struct rules rules;
	char *key;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		test_parse(&rules, rows[i].line);
		assert_int_equal(rules.nr, 1);
		key = rule_key(&rules.rule[0]);
		assert_string_equal(key, rows[i].key);
		assert_ptr_equal(rules_share_of_key(&rules, key), &rules.rule[0]);
		key[strlen(key) - 1]++;
		assert_null(rules_share_of_key(&rules, key));
		free(key);
		rules_free(&rules);
	}
	/* the first one with these conditions, which may give none any more */
	test_parse(&rules, "user=anna priority=3\nuser=anna max=3%\nuser=ben max=3%\nuser=ben max=4%");
	assert_null(rules_share_of_key(&rules, "user=anna"));
	assert_int_equal(rules_share_of_key(&rules, "user=ben")->line, 3);
	rules_free(&rules);
}

static void test_setting(void **state)
{
	struct share_setting setting;
	struct rules rules;

	(void)state;
	test_parse(&rules, "user=anna max-soft=30% weight=3\nuser=anna weight=3");
	setting = rule_share_setting(&rules.rule[0], false);
	assert_true(setting.max == 3000 && setting.soft && setting.weight == 3);
	/* a rule that only limits gives no weight, which might raise */
	setting = rule_share_setting(&rules.rule[0], true);
	assert_true(setting.max == 3000 && setting.soft && setting.weight == KFD_PRIO_WEIGHT_NONE);
	setting = rule_share_setting(&rules.rule[1], false);
	assert_true(setting.max == NONE && !setting.soft && setting.weight == 3);
	rules_free(&rules);
}

/* A rule that limits takes something from a process, which must not leave it */
static void test_lowers(void **state)
{
	struct rules rules;

	(void)state;
	test_parse(&rules, "group=batch max=30%\ngroup=batch weight=3\ngroup=batch max=none\nuser=anna max-soft=3%");
	assert_int_equal(rules.nr, 4);
	assert_true(rule_is_left(&rules.rule[0]));
	assert_false(rule_is_left(&rules.rule[1]));
	assert_false(rule_is_left(&rules.rule[2]));
	assert_true(rule_lowers(&rules.rule[3]));
	rules_free(&rules);
}

int share_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_max),
		cmocka_unit_test(test_weight),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_of_cgroup),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_setting),
		cmocka_unit_test(test_lowers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
