// SPDX-License-Identifier: GPL-2.0
/* Which limit of GPU time and weight a container gets within those of the host, and which rules hold in their place. */
#include "fixture.h"

static int nobody(const char *name, unsigned int *id)
{
	(void)name;
	*id = 7;
	return 0;
}

static const struct rules_names names = { .user = nobody, .group = nobody };

static void parse(struct rules *rules, const char *text)
{
	memset(rules, 0, sizeof(*rules));
	assert_int_equal(rules_parse(rules, "f", text, strlen(text), &names), 0);
}

#define BOTH "annotation-gpu-time=50%\nannotation-weight=200"

/* kfdprio.conf, the annotations, the limit and the weight, or -errno and a part of the message */
static const struct {
	const char *conf, *max, *weight;
	int result;
	uint32_t got_max, got_weight;
	const char *why;
} table[] = {
	{ "", NULL, NULL, 0, 10000, 0, NULL },
	{ BOTH, NULL, NULL, 0, 10000, 0, NULL },
	{ BOTH, "50%", NULL, 0, 5000, 0, NULL },
	{ BOTH, "0.01%", "200", 0, 1, 200, NULL },
	{ BOTH, NULL, "1", 0, 10000, 1, NULL },
	{ BOTH, "50.01%", NULL, -EPERM, 0, 0, "the limit 50.01% is above this host's limit for annotations, 50%" },
	{ BOTH, "100%", NULL, -EPERM, 0, 0, "the limit 100% is above" },
	{ BOTH, "none", NULL, -EPERM, 0, 0, "the limit 100% is above" },
	{ BOTH, NULL, "201", -EPERM, 0, 0, "the weight 201 is above this host's limit for annotations, 200" },
	{ BOTH, "20%", "201", -EPERM, 0, 0, "the weight 201 is above" },
	{ BOTH, NULL, "none", 0, 10000, 0, NULL },
	/* a limit or a weight that is not allowed is refused, whatever the other limits are */
	{ "", "1%", NULL, -EPERM, 0, 0, "this host lets no annotation set a limit of GPU time" },
	{ "container-max=15", "1%", NULL, -EPERM, 0, 0, "this host lets no annotation set a limit" },
	{ "annotation-weight=200", "1%", NULL, -EPERM, 0, 0, "this host lets no annotation set a limit" },
	{ "annotation-gpu-time=100%", NULL, "1", -EPERM, 0, 0, "this host lets no annotation set a weight" },
	{ "annotation-gpu-time=100%", "20%", "1", -EPERM, 0, 0, "this host lets no annotation set a weight" },
	{ "annotation-gpu-time=100%", "none", NULL, 0, 10000, 0, NULL },
	{ "annotation-gpu-time=none", "99.99%", NULL, 0, 9999, 0, NULL },
	{ "annotation-weight=none", NULL, "1", -EPERM, 0, 0, "this host lets no annotation set a weight" },
	/* the first of several holds */
	{ "annotation-weight=3\nannotation-weight=200", NULL, "4", -EPERM, 0, 0, "annotations, 3" },
	{ "annotation-weight=none\nannotation-weight=200", NULL, "4", -EPERM, 0, 0, "no annotation set a weight" },
	{ "annotation-gpu-time=3%\nannotation-gpu-time=50%", "4%", NULL, -EPERM, 0, 0, "annotations, 3%" },
	/* a file with an error may lack a limit */
	{ BOTH "\nnonsense", "1%", NULL, -EPERM, 0, 0, "kfdprio.conf has an error" },
	{ BOTH "\nnonsense", NULL, "1", -EPERM, 0, 0, "kfdprio.conf has an error" },
	{ BOTH "\nnonsense", NULL, NULL, 0, 10000, 0, NULL },
	/* hostile */
	{ BOTH, "", NULL, -EINVAL, 0, 0, "the annotation org.kfdprio.max is a percentage from 0.01% to 100%, not ''" },
	{ BOTH, "30", NULL, -EINVAL, 0, 0, "not '30'" },
	{ BOTH, "30%\n", NULL, -EINVAL, 0, 0, "not '30%\\x0a'" },
	{ BOTH, " 30%", NULL, -EINVAL, 0, 0, "not ' 30%'" },
	{ BOTH, "-1%", NULL, -EINVAL, 0, 0, "not '-1%'" },
	{ BOTH, "0%", NULL, -EINVAL, 0, 0, "not '0%'" },
	{ BOTH, "%n%s", NULL, -EINVAL, 0, 0, "not '%n%s'" },
	{ BOTH, NULL, "0", -EINVAL, 0, 0, "the annotation org.kfdprio.weight is a number from 1 to 10000, not '0'" },
	{ BOTH, NULL, "4294967297", -EINVAL, 0, 0, "not '4294967297'" },
	{ BOTH, NULL, "\033[2J", -EINVAL, 0, 0, "not '\\x1b[2J'" },
	{ BOTH, "x", "1", -EINVAL, 0, 0, "org.kfdprio.max" },
};

static void test_table(void **state)
{
	struct share_setting setting;
	char why[KFDLIB_WHY];
	struct rules rules;
	size_t i;
	int ret;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct oci_container container = { .asked_max = (char *)table[i].max,
							  .asked_weight = (char *)table[i].weight };

		parse(&rules, table[i].conf);
		ret = oci_share_choose(&container, &rules, &setting, why);
		if (ret)
			test_no_control(why);
		if (ret != table[i].result || (ret && !strstr(why, table[i].why)))
			fail_msg("row %zu: %d: %s", i, ret, ret ? why : "");
		if (!ret && (setting.max != table[i].got_max || setting.weight != table[i].got_weight || setting.soft))
			fail_msg("row %zu: max %u weight %u", i, setting.max, setting.weight);
		rules_free(&rules);
	}
}

#define CGROUP "/pods.slice/pods-best.slice/c1.scope"

/* rules; the line of the one that holds in place of the annotation, or 0 */
static const struct {
	const char *conf;
	unsigned int line;
} hold[] = {
	{ "", 0 },
	{ "cgroup=/pods.slice max=10%", 1 },
	{ "cgroup=/pods.slice max-soft=10%", 1 },
	{ "cgroup=/pods.slice weight=10", 1 },
	{ "cgroup=/pods.slice/* max=10%", 1 },
	{ "cgroup=/pods.slice/*/c1.scope max=10%", 1 },
	{ "cgroup=" CGROUP " max=10%", 1 },
	{ "unit=pods-best.slice max=10%", 1 },
	{ "unit=c1.scope max=10%", 1 },
	{ "cgroup=/pods.slice unit=c2.scope max=10%", 1 },
	/* one that stands behind a rule that matches first may hold for other processes */
	{ "cgroup=/pods.slice priority=low\ncgroup=/pods.slice max=10%", 2 },
	{ "cgroup=/pods.slice priority=low", 0 },
	{ "cgroup=/pods.slice max=none", 0 },
	{ "cgroup=/other.slice max=10%", 0 },
	{ "cgroup=" CGROUP "/below max=10%", 0 },
	/* these have groups of the other kind, and both hold */
	{ "cgroup=/ max=10%", 0 },
	{ "user=7 max=10%", 0 },
	{ "cgroup=/pods.slice user=7 max=10%", 0 },
	{ "cgroup=/pods.slice group=7 max=10%", 0 },
	{ "exe=/bin/x max=10%", 0 },
};

static void test_rule(void **state)
{
	const struct rule *rule;
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hold) / sizeof(*hold); i++) {
		parse(&rules, hold[i].conf);
		assert_int_equal(rules.nr_errors, 0);
		rule = oci_share_rule(&rules, CGROUP);
		if ((rule ? rule->line : 0) != hold[i].line)
			fail_msg("%s: line %u", hold[i].conf, rule ? rule->line : 0);
		rules_free(&rules);
	}
}

static const struct {
	const char *conf, *why;
} bad[] = {
	{ "annotation-gpu-time=", "annotation-gpu-time= has no value" },
	{ "annotation-gpu-time=0%", "annotation-gpu-time= is from 0.01% to 100%" },
	{ "annotation-gpu-time=50", "write annotation-gpu-time=50%" },
	{ "annotation-gpu-time=high", "annotation-gpu-time= is a limit of GPU time in percent" },
	{ "annotation-gpu-time=50% cgroup=/x", "annotation-gpu-time= stands alone on its line: remove cgroup=" },
	{ "cgroup=/x priority=3 annotation-weight=7", "annotation-weight= stands alone on its line: remove cgroup=" },
	{ "annotation-weight=7 annotation-gpu-time=50%", "stands alone on its line: remove annotation-weight=" },
	{ "annotation-weight=7 container-max=3", "container-max= stands alone on its line: remove annotation-weight=" },
	{ "annotation-weight=0", "annotation-weight= is a number from 1 to 10000, as annotation-weight=200" },
	{ "annotation-weight=50%", "as annotation-gpu-time=50%" },
	{ "annotation-weight=high", "annotation-weight= is a number" },
	{ "annotation-max=50%", "'annotation-max=' is unknown" },
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
		assert_int_equal(rules.annotation_max, 0);
		assert_false(rules.has_annotation_weight);
		rules_free(&rules);
	}
}

int share_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_conf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
