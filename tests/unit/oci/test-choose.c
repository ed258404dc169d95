// SPDX-License-Identifier: GPL-2.0
/* Which priority a container gets within the host's limit. */
#include "fixture.h"

static int nobody(const char *name, unsigned int *id)
{
	(void)name;
	*id = 0;
	return -ENOENT;
}

static const struct rules_names names = { .user = nobody, .group = nobody };

static void parse(struct rules *rules, const char *text)
{
	memset(rules, 0, sizeof(*rules));
	assert_int_equal(rules_parse(rules, "f", text, strlen(text), &names), 0);
}

/* kfdprio.conf, the annotation, --priority; the priority, or -errno and a part of the message */
static const struct {
	const char *conf, *annotation, *argument;
	int result;
	const char *why;
} table[] = {
	/* without a setting, no container preempts */
	{ "", "low", NULL, 0, NULL },
	{ "", "normal", NULL, 7, NULL },
	{ "", "high", NULL, -EPERM, "11 (high) is above this host's limit for containers, 7 (normal)" },
	{ "", NULL, "high", -EPERM, "11 (high) is above" },
	{ "", NULL, "normal", 7, NULL },
	{ "", NULL, NULL, KFD_PRIO_UNSET, NULL },
	{ "cgroup=/x priority=high", "high", NULL, -EPERM, "above this host's limit" },
	{ "container-max=high", "high", NULL, 11, NULL },
	{ "container-max=11", NULL, "high", 11, NULL },
	{ "container-max=15", "high", NULL, 11, NULL },
	{ "container-max=10", "high", NULL, -EPERM, "limit for containers, 10 (normal)" },
	{ "container-max=low", "normal", NULL, -EPERM, "limit for containers, 0 (low)" },
	{ "container-max=low", "low", NULL, 0, NULL },
	{ "container-max=0", NULL, "low", 0, NULL },
	/* the first holds, as with rules */
	{ "container-max=low\ncontainer-max=high", "high", NULL, -EPERM, "0 (low)" },
	{ "container-max=high\ncontainer-max=low", "high", NULL, 11, NULL },
	/* the lower one of annotation and device, in both orders */
	{ "container-max=high", "low", "high", 0, NULL },
	{ "container-max=high", "high", "low", 0, NULL },
	{ "container-max=high", "high", "high", 11, NULL },
	{ "", "high", "low", 0, NULL },
	/* a limit that may be missing is the lowest */
	{ "container-max=high\nnonsense", "high", NULL, -EPERM, "kfdprio.conf has an error" },
	{ "container-max=urgent", "normal", NULL, -EPERM, "kfdprio.conf has an error" },
	{ "nonsense", "low", NULL, 0, NULL },
	/* words and nothing else */
	{ "container-max=15", "High", NULL, -EINVAL, "the annotation org.kfdprio.priority is low, normal or high, not 'High'" },
	{ "container-max=15", "15", NULL, -EINVAL, "not '15'" },
	{ "container-max=15", "-1", NULL, -EINVAL, "not '-1'" },
	{ "container-max=15", "", NULL, -EINVAL, "not ''" },
	{ "container-max=15", " high", NULL, -EINVAL, "not ' high'" },
	{ "container-max=15", "high ", NULL, -EINVAL, "not 'high '" },
	{ "container-max=15", "high\n", NULL, -EINVAL, "not 'high\\x0a'" },
	{ "container-max=15", "low,high", NULL, -EINVAL, "not 'low,high'" },
	{ "container-max=15", "unset", NULL, -EINVAL, "not 'unset'" },
	{ "container-max=15", "x\nkfdprio: oci-hook: container c2: process 1: priority 11 (high)", NULL, -EINVAL, "not 'x\\x0akfdprio:" },
	{ "container-max=15", "\033]0;x\a\033[2J", NULL, -EINVAL, "not '\\x1b]0;x\\x07\\x1b[2J'" },
	{ "container-max=15", "h\xc4\xb1gh \xe2\x80\xae", NULL, -EINVAL, "not 'h\\xc4\\xb1gh \\xe2\\x80\\xae'" },
	{ "container-max=15", "%s%n%1000000d", NULL, -EINVAL, "not '%s%n%1000000d'" },
	{ "container-max=15", NULL, "urgent", -EINVAL, "--priority is low, normal or high, not 'urgent'" },
	{ "container-max=15", "urgent", "low", -EINVAL, "not 'urgent'" },
	{ "container-max=15", "low", "urgent", -EINVAL, "not 'urgent'" },
};

static void test_table(void **state)
{
	struct oci_container container;
	char why[KFDLIB_WHY];
	struct rules rules;
	int priority, ret;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		parse(&rules, table[i].conf);
		container = (struct oci_container){ .annotation = (char *)table[i].annotation };
		ret = oci_priority_choose(&container, table[i].argument, &rules, &priority, why);
		if (table[i].why) {
			test_no_control(why);
			if (ret != table[i].result || !strstr(why, table[i].why))
				fail_msg("row %zu: %d: %s", i, ret, ret ? why : "");
		} else if (ret || priority != table[i].result) {
			fail_msg("row %zu: %d, priority %d: %s", i, ret, priority, ret ? why : "");
		}
		rules_free(&rules);
	}
}

/* A word of any length and of the worst bytes is one line, whose end is there. */
static void test_long(void **state)
{
	struct oci_container container = { .annotation = malloc(1000001) };
	char why[KFDLIB_WHY];
	struct rules rules;
	int priority;
	size_t len;

	(void)state;
	parse(&rules, "container-max=15");
	for (len = 1; len <= 1000000; len = len < 1000 ? len + 1 : len * 10) {
		memset(container.annotation, '\n', len);
		container.annotation[len] = '\0';
		assert_int_equal(oci_priority_choose(&container, NULL, &rules, &priority, why), -EINVAL);
		test_no_control(why);
		assert_true(strlen(why) < KFDLIB_WHY - 1 && why[strlen(why) - 1] == '\'');
	}
	oci_container_free(&container);
	rules_free(&rules);
}

static const struct {
	const char *conf, *why;
} bad[] = {
	{ "container-max=", "container-max= has no value" },
	{ "container-max=16", "container-max=: priority '16' is out of range" },
	{ "container-max=high\\n", "container-max=: 'high\\n' is not a priority" },
	{ "container-max=high cgroup=/x", "container-max= stands alone on its line: remove cgroup=" },
	{ "priority=high container-max=high", "container-max= stands alone on its line: remove priority=" },
	{ "container-max=high container-max=low", "container-max= is given twice" },
	{ "container-max", "'container-max' is not KEY=VALUE" },
};

static void test_conf(void **state)
{
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		parse(&rules, bad[i].conf);
		assert_int_equal(rules.nr, 0);
		assert_int_equal(rules.nr_errors, 1);
		if (!strstr(rules.errors[0].why, bad[i].why))
			fail_msg("%s: '%s', not '%s'", bad[i].conf, rules.errors[0].why, bad[i].why);
		assert_int_equal(rules_container_max(&rules), KFD_PRIO_LOW);
		rules_free(&rules);
	}
	/* it is no rule */
	parse(&rules, "container-max=high # for serving\ncgroup=/x priority=3\n");
	assert_int_equal(rules.nr, 1);
	assert_int_equal(rules.nr_errors, 0);
	assert_int_equal(rules_container_max(&rules), 11);
	rules_free(&rules);
}

int choose_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_conf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
