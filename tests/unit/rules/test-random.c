// SPDX-License-Identifier: GPL-2.0
/* Texts that are damaged at random: what is read of them is a rule as rules are, or an error. */
#define _GNU_SOURCE
#include <locale.h>

#include "fixture.h"

static const char whole[] = "# rules\ncgroup=/inference.slice/* priority=high\n"
			    "unit=serve@*.service user=anna priority=12 # comment\n"
			    "exe=\"/opt/my tool/x\" group=batch priority=low\nuser=ben priority=3\n"
			    "cgroup=/batch.slice max=12.5% weight=200\nuser=ben max-soft=30% park=auto\n";

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void damage(char *text, size_t *size)
{
	static const char bytes[] = "=\"\\# \t\n/*[]-0129ahx\xff";
	size_t at = rand() % *size, n;

	switch (rand() % 4) {
	case 0:
		text[at] = bytes[rand() % sizeof(bytes)];
		break;
	case 1:
		*size = at + 1;
		break;
	case 2:
		n = rand() % (*size - at);
		memmove(text + at, text + at + n, *size - at - n);
		*size -= n;
		break;
	default:
		text[at] = rand();
	}
}

/* weight=none */
static bool weighs_none(const struct rule *rule)
{
	return strstr(rule->text, "weight=none");
}

static void check(const struct rules *rules)
{
	static const gid_t gids[] = { 45 };
	const struct rules_subject subject = { .cgroup = "/inference.slice/x", .exe = "/opt/my tool/x",
					       .uid = 1000, .gids = gids, .nr_gids = 1 };
	struct rules_result result;
	size_t i;

	for (i = 0; i < rules->nr; i++) {
		const struct rule *rule = &rules->rule[i];

		assert_true((rule->priority >= KFD_PRIO_MIN && rule->priority <= KFD_PRIO_MAX) ||
			    (rule->priority == KFD_PRIO_UNSET && (rule->park || rule->max || rule->weight || weighs_none(rule))));
		assert_true(rule->max <= KFD_PRIO_MAX_NONE && rule->weight <= KFD_PRIO_WEIGHT_MAX);
		assert_true(!rule->exe || !rule->weight);
		assert_true(rule->cgroup || rule->unit || rule->user || rule->group || rule->exe);
		assert_true(!rule->exe || rule->priority <= KFD_PRIO_NORMAL);
		assert_true(rule->line >= 1 && rule->line <= 10);
	}
	for (i = 0; i < rules->nr_errors; i++)
		assert_true(rules->errors[i].line >= 1 && *rules->errors[i].why);
	rules_match(rules, &subject, &result);
	/* no rule with exe= raises; beside a rule that sets no priority, a limit holds alone */
	assert_true(!result.limit || !result.rule || result.rule->priority == KFD_PRIO_UNSET ||
		    result.priority < result.rule->priority);
}

static void test_damaged(void **state)
{
	unsigned long steps = number("STEPS", 20000), errors = 0, read = 0, i;
	char text[sizeof(whole)];
	struct rules rules;
	size_t size;
	int n;

	(void)state;
	srand(number("SEED", 1));
	for (i = 0; i < steps; i++) {
		memset(&rules, 0, sizeof(rules));
		memcpy(text, whole, sizeof(whole));
		size = sizeof(whole) - 1;
		for (n = rand() % 5; n >= 0; n--)
			damage(text, &size);
		assert_int_equal(rules_parse(&rules, "f", text, size, &test_names), 0);
		check(&rules);
		read += rules.nr;
		errors += rules.nr_errors;
		rules_free(&rules);
	}
	/* both happen, or this tests nothing */
	assert_true(read > steps && errors > steps / 4);
}

static const char *pick(const char *const *from, size_t nr)
{
	return from[rand() % nr];
}

#define PICK(from) pick(from, sizeof(from) / sizeof(*(from)))

/* A text of one to three pieces and an end */
static void name_make(char *to, const char *const *pieces, size_t nr, const char *end)
{
	int n;

	for (n = rand() % 3; n >= 0; n--)
		to = stpcpy(to, pick(pieces, nr));
	strcpy(to, end);
}

/* No rule is refused that a process matches, and some that none matches are. */
static void test_both(void **state)
{
	static const char *const globs[] = { "a", "b", "*", "*", "*", "?", "[ab]", "[!a]", "[a-b]", "\\a", "_" };
	static const char *const texts[] = { "a", "a", "b", "_", "-", "\u00e9" };
	static const char *const ends[] = { ".slice", ".service", ".scope", "", "*" };
	unsigned long steps = number("STEPS", 20000), met = 0, apart = 0, i;
	char cgroup[256], path[256], name[64], unit[64], text[1024];
	struct rules rules;
	int n;

	(void)state;
	srand(number("SEED", 1));
	for (i = 0; i < steps; i++) {
		struct rules_subject subject = { .cgroup = path };
		char *at = cgroup, *to = path;

		/* a character has more bytes in one of them */
		setlocale(LC_CTYPE, i % 2 ? "C.UTF-8" : "C");

		for (n = rand() % 3; n >= 0; n--) {
			const char *end = PICK(ends);

			name_make(name, globs, sizeof(globs) / sizeof(*globs), end);
			at += sprintf(at, "/%s", name);
			name_make(name, texts, sizeof(texts) / sizeof(*texts), *end == '*' ? ends[rand() % 4] : end);
			to += sprintf(to, "/%s", name);
		}
		name_make(unit, globs, sizeof(globs) / sizeof(*globs), ends[rand() % 3]);
		snprintf(text, sizeof(text), "cgroup=%s priority=0\nunit=%s priority=0\ncgroup=%s unit=%s priority=0",
			 cgroup, unit, cgroup, unit);
		test_parse(&rules, text);
		if (rules.nr >= 2 && !rule_mismatch(&rules.rule[0], &subject) && !rule_mismatch(&rules.rule[1], &subject)) {
			met++;
			if (rules.nr != 3)
				fail_msg("%s matches cgroup=%s unit=%s: %s", path, cgroup, unit, rules.errors[0].why);
		}
		apart += rules.nr == 2 && rules.nr_errors == 1 && strstr(rules.errors[0].why, "unit=") && rules.errors[0].line == 3;
		rules_free(&rules);
	}
	if (met < steps / 200 || apart < steps / 20)
		fail_msg("%lu met, %lu apart", met, apart);
}

int random_tests(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_damaged), cmocka_unit_test(test_both) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
