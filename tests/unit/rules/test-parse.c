// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "fixture.h"

/* One line and the rule that it is; NULL and -1: not given. */
static const struct {
	const char *line;
	struct rule rule;
} good[] = {
	{ "cgroup=/a.slice priority=high", { .cgroup = "/a.slice", .priority = 11 } },
	{ "priority=low user=anna", { .user = "anna", .uid = 1000, .priority = 0 } },
	{ "user=anna group=batch priority=normal",
	  { .user = "anna", .uid = 1000, .group = "batch", .gid = 45, .priority = 7 } },
	{ "  unit=serve@*.service\tpriority=15  ", { .unit = "serve@*.service", .priority = 15 } },
	{ "unit=a.slice priority=0\r", { .unit = "a.slice", .priority = 0 } },
	{ "exe=/usr/bin/x priority=7", { .exe = "/usr/bin/x", .priority = 7 } },
	/* x* may be a slice, and systemd puts "_" before some units */
	{ "cgroup=/a.slice/x* unit=y*.service priority=0", { .cgroup = "/a.slice/x*", .unit = "y*.service", .priority = 0 } },
	/* fnmatch(3) takes the two bytes of a letter that is not of ASCII for one or for two characters */
	{ "cgroup=/a.slice/?.service unit=??.service priority=0", { .cgroup = "/a.slice/?.service", .unit = "??.service", .priority = 0 } },
	{ "cgroup=/_m?.service unit=m[e-f].service priority=0", { .cgroup = "/_m?.service", .unit = "m[e-f].service", .priority = 0 } },
	/* what systemd escapes stands for itself, also with the backslash that a pattern needs */
	{ "cgroup=/a.slice/b\\x2dc.service priority=3", { .cgroup = "/a.slice/b\\\\x2dc.service", .priority = 3 } },
	{ "cgroup=/a.slice/b\\\\x2dc.service priority=3", { .cgroup = "/a.slice/b\\\\x2dc.service", .priority = 3 } },
	{ "unit=b\\x2d*.service priority=3", { .unit = "b\\\\x2d*.service", .priority = 3 } },
	/* any type of unit */
	{ "unit=a.* priority=3", { .unit = "a.*", .priority = 3 } },
	{ "unit=* priority=3", { .unit = "*", .priority = 3 } },
	{ "unit=a.s* priority=3", { .unit = "a.s*", .priority = 3 } },
	{ "unit=a.servic? priority=3", { .unit = "a.servic?", .priority = 3 } },
	{ "unit=a.[s]ervice priority=3", { .unit = "a.[s]ervice", .priority = 3 } },
	{ "unit=serve@[a-c,x]?\\-.service priority=3", { .unit = "serve@[a-c,x]?\\-.service", .priority = 3 } },
	{ "cgroup=/a\\,b/[!]x]/[[:digit:]-]/x priority=3", { .cgroup = "/a\\,b/[!]x]/[[:digit:]-]/x", .priority = 3 } },
	{ "cgroup=/[.a]/.[.a]/[[:punct:]]/[!.]/[!a]/.?/a[\u00e4] priority=3", { .cgroup = "/[.a]/.[.a]/[[:punct:]]/[!.]/[!a]/.?/a[\u00e4]", .priority = 3 } },
	{ "cgroup=/a/b\\@.service priority=3", { .cgroup = "/a/b\\@.service", .priority = 3 } },
	{ "cgroup=/a.slice/b.service/c unit=a.slice priority=3", { .cgroup = "/a.slice/b.service/c", .unit = "a.slice", .priority = 3 } },
	{ "cgroup=/a.slice/b* unit=c.service priority=3", { .cgroup = "/a.slice/b*", .unit = "c.service", .priority = 3 } },
	{ "cgroup=/a.slice/_io.service unit=i?.service priority=3", { .cgroup = "/a.slice/_io.service", .unit = "i?.service", .priority = 3 } },
	{ "cgroup=/ unit=c.service priority=3", { .cgroup = "/", .unit = "c.service", .priority = 3 } },
	{ "exe=/opt/a,b/..c/... priority=3", { .exe = "/opt/a,b/..c/...", .priority = 3 } },
	/* letters of any language, and a joiner that a name has */
	{ "cgroup=/\u0433\u0440 priority=3", { .cgroup = "/\u0433\u0440", .priority = 3 } },
	{ "cgroup=/a\\ priority=low\\\001 priority=3", { .cgroup = "/a priority=low\\\001", .priority = 3 } },
	{ "cgroup=/a\\\u200db priority=3", { .cgroup = "/a\\\u200db", .priority = 3 } },
	/* of a directory service that does not answer yet */
	{ "user=carl priority=3", { .user = "carl", .uid = 1001, .priority = 3, .pending = RULE_PENDING_USER } },
	{ "group=\"DOM\\domain users\" user=c.d@e.example priority=3",
	  { .group = "DOM\\domain users", .gid = 45, .user = "c.d@e.example", .uid = 1001, .priority = 3,
	    .pending = RULE_PENDING_USER | RULE_PENDING_GROUP } },
	{ "cgroup=/a.slice/ priority=3 # for the night", { .cgroup = "/a.slice", .priority = 3 } },
	{ "user=anna park=never", { .user = "anna", .uid = 1000, .priority = KFD_PRIO_UNSET, .park = KFD_PRIO_SET_PARK_NEVER } },
	{ "user=anna park=auto priority=2", { .user = "anna", .uid = 1000, .priority = 2, .park = KFD_PRIO_SET_PARK_AUTO } },
	{ "cgroup=/ priority=3", { .cgroup = "/", .priority = 3 } },
	{ "exe=\"/opt/my tool/x\" priority=3", { .exe = "/opt/my tool/x", .priority = 3 } },
	{ "exe=/opt/my\\ tool/x priority=3", { .exe = "/opt/my tool/x", .priority = 3 } },
	{ "exe=/opt/a\\\"b/x priority=3", { .exe = "/opt/a\"b/x", .priority = 3 } },
	/* a pattern keeps the backslash before what it takes as it is */
	{ "exe=/opt/a\\*b/x priority=3", { .exe = "/opt/a\\*b/x", .priority = 3 } },
	{ "\"cgroup=/a#b.slice\" priority=3", { .cgroup = "/a#b.slice", .priority = 3 } },
};

static void same(const char *is, const char *wanted, const char *line)
{
	if (!is != !wanted || (is && strcmp(is, wanted)))
		fail_msg("%s: '%s', not '%s'", line, is ? is : "(none)", wanted ? wanted : "(none)");
}

static void test_good(void **state)
{
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		const struct rule *wanted = &good[i].rule, *is;

		test_parse(&rules, good[i].line);
		if (rules.nr_errors)
			fail_msg("%s: %s", good[i].line, rules.errors[0].why);
		assert_int_equal(rules.nr, 1);
		is = &rules.rule[0];
		same(is->cgroup, wanted->cgroup, good[i].line);
		same(is->unit, wanted->unit, good[i].line);
		same(is->user, wanted->user, good[i].line);
		same(is->group, wanted->group, good[i].line);
		same(is->exe, wanted->exe, good[i].line);
		assert_int_equal(is->uid, wanted->uid);
		assert_int_equal(is->gid, wanted->gid);
		assert_int_equal(is->priority, wanted->priority);
		assert_int_equal(is->park, wanted->park);
		assert_int_equal(is->pending, wanted->pending);
		assert_int_equal(is->line, 1);
		assert_string_equal(is->file, "f");
		rules_free(&rules);
	}
}

static const struct {
	const char *line, *why; /* why: a part of it */
} bad[] = {
	{ "cgroup=/a", "priority= is missing" },
	{ "park=never", "no condition" },
	{ "user=anna park=maybe", "park= is never or auto, not 'maybe'" },
	{ "exe=/x priority=low park=never", "park= cannot be combined with exe=" },
	{ "exe=/x park=auto", "park= cannot be combined with exe=" },
	{ "user=anna park=never park=auto", "park= is given twice" },
	{ "priority=high", "no condition" },
	{ "priority=16 user=anna", "out of range" },
	{ "priority=-1 user=anna", "out of range" },
	{ "priority=urgent user=anna", "'urgent' is not a priority" },
	{ "priority= user=anna", "priority= has no value" },
	{ "cgroup=a.slice priority=low", "begins with '/'" },
	{ "exe=x priority=low", "begins with '/'" },
	{ "unit=serve priority=low", "unit=serve is no unit" },
	{ "unit=.service priority=low", "no unit" },
	{ "unit=a.slice/b.service priority=low", "no unit" },
	{ "exe=/x priority=high", "exe= may only lower" },
	{ "exe=/x user=anna priority=8", "exe= may only lower" },
	{ "user=anna priority=low nice=3", "'nice=' is unknown" },
	{ "user=anna priority=low high", "'high' is not KEY=VALUE" },
	{ "user=anna priority=low user=ben", "user= is given twice" },
	{ "exe=\"/x priority=low", "not finished" },
	{ "user=anna priority=low\\", "not finished" },
	{ "[rule]", "no sections" },
	{ "user=\033[2J priority=low", "an escape sequence of a terminal stands here" },
};

static void test_bad(void **state)
{
	struct rules rules;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		/* the line before and the line after are read */
		snprintf(text, sizeof(text), "user=anna priority=low\n%s\n\nuser=ben priority=low", bad[i].line);
		test_parse(&rules, text);
		assert_int_equal(rules.nr, 2);
		assert_int_equal(rules.rule[1].line, 4);
		assert_int_equal(rules.nr_errors, 1);
		assert_int_equal(rules.errors[0].line, 2);
		assert_string_equal(rules.errors[0].file, "f");
		if (!strstr(rules.errors[0].why, bad[i].why))
			fail_msg("%s: '%s', not '%s'", bad[i].line, rules.errors[0].why, bad[i].why);
		rules_free(&rules);
	}
}

/* Conditions that no process can meet: the column, and the spelling that matches */
static const struct {
	const char *line;
	unsigned int column;
	const char *why;
} never[] = {
	{ "cgroup=/sys/fs/cgroup/batch.slice priority=low", 8, "write cgroup=/batch.slice" },
	{ "cgroup=/sys/fs/cgroup/unified/a/../b priority=low", 8, "write cgroup=/b" },
	{ "cgroup=/sys/fs/cgroup priority=low", 8, "write cgroup=/" },
	{ "priority=low cgroup=0::/a.slice/b.service", 21, "write cgroup=/a.slice/b.service" },
	{ "priority=low cgroup=a.slice", 21, "write cgroup=/a.slice" },
	{ "cgroup=/a.slice,/b.slice priority=low", 16, "as cgroup=/a.slice" },
	{ "cgroup=/a.slice//b.service priority=low", 17, "write cgroup=/a.slice/b.service" },
	{ "cgroup=/a.slice/./b.service priority=low", 17, "write cgroup=/a.slice/b.service" },
	{ "cgroup=/a.slice/../b.slice priority=low", 17, "write cgroup=/b.slice" },
	{ "cgroup=/a.slice/. priority=low", 17, "write cgroup=/a.slice" },
	{ "cgroup=//a.slice priority=low", 9, "write cgroup=/a.slice" },
	{ "priority=high exe=/x", 10, "exe= may only lower" },
	{ "exe=/x park=never", 13, "park= cannot be combined" },
	{ "user=anna container-max=low", 6, "remove user=" },
	{ "cgroup=// priority=low", 9, "write cgroup=/$" },
	{ "cgroup=/// priority=low", 9, "write cgroup=/$" },
	{ "cgroup=/batch.slice// priority=low", 21, "write cgroup=/batch.slice" },
	{ "cgroup=/batch.slice\\/ priority=low", 20, "an empty part" },
	{ "cgroup=/batch.slice\\//a priority=low", 22, "an empty part" },
	{ "cgroup=/a\\/./b priority=low", 12, "a part '.'" },
	{ "cgroup=/x[ab priority=low", 10, "write cgroup=/x\\[ab" },
	{ "cgroup=/x[a/b]c priority=low", 10, "does not stand for '/', nor go across it; for a '[' in a name write cgroup=/x\\[a/b]c" },
	{ "cgroup=/x[]c priority=low", 10, "no ']'" },
	{ "cgroup=/x[9-0] priority=low", 10, "write cgroup=/x[0-9]" },
	{ "cgroup=/x[[:numbers:]] priority=low", 10, "no class" },
	{ "unit=a@7b.service,b.service priority=low", 18, "as unit=a@7b.service" },
	{ "unit=a.slice/b.service priority=low", 6, "as unit=b.service" },
	{ "unit=a@.service priority=low", 6, "write unit=a@*.service" },
	{ "unit=a.socket priority=low", 6, "as unit=a.service" },
	{ "unit=a priority=low", 6, "as unit=a.service" },
	{ "unit=-.slice priority=low", 6, "write cgroup=/" },
	{ "unit=a.Service priority=low", 6, "lower case: write unit=a.service$" },
	{ "unit=a*.SLICE priority=low", 6, "lower case: write unit=a*.slice$" },
	{ "unit=a.*socket priority=low", 6, "is no unit that processes run in" },
	{ "unit=? priority=low", 6, "is no unit that processes run in" },
	{ "unit=\"a b.service\" priority=low", 8, "systemd-escape" },
	{ "unit=a\\[.service priority=low", 8, "systemd-escape" },
	{ "unit=gr\u00fcn.service priority=low", 8, "systemd-escape" },
	{ "exe=/usr/bin/x,/usr/bin/y priority=low", 15, "as exe=/usr/bin/x" },
	{ "exe=/usr//bin/x priority=low", 10, "write exe=/usr/bin/x" },
	{ "exe=\"/usr/bin/x (deleted)\" priority=low", 16, "write exe=/usr/bin/x" },
	{ "exe=/usr/bin/ priority=low", 5, "directory, which no process runs: for all programs in it write exe=/usr/bin/*" },
	/* a part that can be no name */
	{ "cgroup=/a/[.] priority=low", 11, "no path of a process has a part '.': write cgroup=/a$" },
	{ "cgroup=/\\. priority=low", 9, "write cgroup=/$" },
	{ "cgroup=/a/b/\\.[.]/c priority=low", 13, "write cgroup=/a/c$" },
	{ "cgroup=/a/[\\/] priority=low", 11, "a bracket in a path does not stand for '/'" },
	{ "exe=/a/[.]/b priority=low", 8, "write exe=/a/b$" },
	{ "unit=a[,;].service priority=low", 7, "this bracket stands for no character that a name of a unit has" },
	{ "cgroup=/system.slice/foo@.service priority=low", 22, "write cgroup=/system.slice/foo@*.service$" },
	{ "cgroup=/a/b@.service/x priority=low", 11, "write cgroup=/a/b@*.service/x$" },
	/* two conditions that exclude each other */
	{ "cgroup=/system.slice/a.service unit=b.service priority=low", 37, "write unit=a.service$" },
	{ "unit=a.service cgroup=/user.slice/user-1000.slice/user@1000.service/app.slice/a.service priority=low", 6,
	  "write unit=user@1000.service$" },
	{ "cgroup=/b.slice/x unit=a.slice priority=low", 24, "remove one of them" },
	{ "cgroup=/b.slice/a\\x2db.service/*/x unit=a.service priority=low", 41, "write unit=a\\x2db.service$" },
	{ "cgroup=/a.slice/x*.service unit=y*.service priority=low", 33, "belongs to this unit=: remove one of them$" },
	{ "cgroup=/a[0-9]/* unit=system.slice priority=low", 23, "remove one of them$" },
	{ "cgroup=/a.slice/[ab]*.scope unit=[cd]*.scope priority=low", 34, "remove one of them$" },
	{ "unit=x*.service cgroup=/a.slice/y\\*.service/x.service priority=low", 6, "write unit=y*" },
	{ "cgroup=/*.slice/a-*-c.scope unit=a-*-d.scope priority=low", 34, "remove one of them$" },
	{ "cgroup=/a.slice/?.service unit=ab?.service priority=low", 32, "remove one of them$" },
	{ "cgroup=/a/b unit=a*.slice priority=low", 18, "remove one of them$" },
	{ "exe=/usr/bin/a* exe=/usr/bin/b* priority=low", 17, "exe= is given twice, and all conditions of a rule must hold: write a rule for each$" },
	{ "exe=/ priority=low", 5, "exe=/ is a directory: exe= needs the path of a program" },
	{ "cgroup=/a\\ priority=low", 11, "the backslash before this blank takes what follows into the value" },
	{ "unit=a.service\\ park=never", 16, "the backslash before" },
	{ "priority=low\\ cgroup=/a", 14, "the backslash before" },
	{ "\"cgroup=/a priority=low\"", 11, "the quote before" },
	{ "cgroup=/a\033[0mb priority=low", 10, "an escape sequence" },
	{ "cgroup=/a\001b priority=low", 10, "a control character" },
	{ "unit=a\177.service priority=low", 7, "a control character" },
	{ "cgroup=/a\rpriority=low\r", 10, "is not seen: remove it, or write a newline" },
	{ "user=anna,ben priority=low", 10, "as user=anna" },
	{ "user=ann* priority=low", 9, "no pattern" },
	{ "user=@gpu priority=low", 6, "write group=gpu" },
	{ "user=-1 priority=low", 6, "no name begins with" },
	{ "user=4294967295 priority=low", 6, "4294967294" },
	{ "group=a:b priority=low", 8, "no such group" },
	{ "group=DOM\\\\x priority=low", 10, "write group=DOM\\x" },
	/* quotes that are none */
	{ "cgroup='/a' priority=low", 8, "takes no quotes but double ones of ASCII, and these only round blanks: write cgroup=/a" },
	{ "'cgroup=/a' priority=low", 1, "a word takes no quotes but double ones of ASCII, and these only round blanks: write cgroup=/a$" },
	{ "cgroup=/a \u201cpriority=low\u201d", 11, "write priority=low$" },
	{ "`unit`=a.service priority=low", 1, "write unit=a.service$" },
	{ "'user'='anna' priority=low", 1, "write user=anna$" },
	{ "'cgroup=/a priority=low'", 1, "write cgroup=/a$" },
	{ "'cgroup=/a b' priority=low", 1, "round blanks$" },
	{ "'cgroup=a[b' priority=low", 1, "round blanks$" },
	{ "'/a'=cgroup", 1, "round blanks$" },
	{ "'high' cgroup=/a", 1, "''high'' is not KEY=VALUE" },
	{ "cgroup=\u201c/a\u201d priority=low", 8, "write cgroup=/a" },
	{ "unit='a.service' priority=low", 6, "write unit=a.service" },
	{ "user=\u2018anna\u2019 priority=low", 6, "write user=anna" },
	{ "cgroup=/a priority='low'", 20, "write priority=low" },
	{ "cgroup=/a park=`auto`", 16, "write park=auto" },
	{ "cgroup='/a b' priority=low", 8, "takes no quotes but double ones of ASCII, and these only round blanks$" },
	{ "cgroup='\"/a b\"' priority=low", 8, "write cgroup=/a\\ b" },
	{ "cgroup='a[b' priority=low", 8, "round blanks$" },
	/* advice that was refused itself, or could not match */
	{ "cgroup=/batch[a-/]x priority=low", 14, "nor go across it; for a '[' in a name write cgroup=/batch\\[a-/]x" },
	{ "cgroup=/batch[z-a]x[9-0] priority=low", 14, "comes after its last$" },
	{ "unit=a[b.service priority=low", 7, "so that it would only match a '['$" },
	{ "cgroup=/batch{a,b} priority=low", 14, "has no braces (\\{ and \\, are a brace and a comma in a name): write a rule for each, as cgroup=/batcha" },
	{ "unit=serve@{1,2}.service priority=low", 12, "has no braces: write a rule for each, as unit=serve@1.service" },
	{ "unit=serve@{1..2}.service priority=low", 12, "as unit=serve@1.service" },
	{ "unit=serve.service/x priority=low", 6, "as unit=serve.service" },
	{ "unit=a.slice/x priority=low", 6, "write the name of the unit alone$" },
	{ "unit=a.service/ priority=low", 6, "as unit=a.service" },
	{ "cgroup=sys/fs/cgroup/a priority=low", 8, "write cgroup=/a" },
	{ "cgroup=//sys/fs/cgroup/a priority=low", 8, "write cgroup=/a" },
	{ "cgroup=/sys//fs/./cgroup priority=low", 8, "write cgroup=/" },
	{ "cgroup=12:cpu,cpuacct:/a priority=low", 8, "write cgroup=/a" },
	{ "cgroup=a:/b priority=low", 8, "write cgroup=/a:/b" },
	{ "unit=a+b priority=low", 6, "ends with .service, .scope or .slice$" },
	{ "unit=a+b.socket priority=low", 6, "write the unit that it starts$" },
	{ "exe=\"/usr/bin/my x,/usr/bin/y\" priority=low", 19, "as exe=/usr/bin/my\\ x" },
	{ "exe=/usr/bin/{a,b} priority=low", 14, "as exe=/usr/bin/a" },
	{ "user=1000,1001 priority=low", 10, "as user=1000" },
	{ "user=,ben priority=low", 6, "write a rule for each$" },
	{ "user=@-x priority=low", 6, "is no name$" },
	/* what comes with a copied text; columns count characters */
	{ "cgroup=/a.slice\u00a0 priority=low", 16, "U+00A0" },
	{ "cgroup=/\u00fc\u200b priority=low", 10, "U+200B" },
	{ "cgroup=/\u00fc\U0001d173 priority=low", 10, "U+1D173, a format of music" },
	{ "cgroup=/a\U00016fe4 priority=low", 10, "U+16FE4, a filler" },
	{ "cgroup=/a.slice priority=low\u00a0# x", 29, "U+00A0" },
	{ "\ufeff# a comment", 1, "U+FEFF" },
	{ "\u3000", 1, "U+3000" },
	{ "# a comment\rcgroup=/a.slice priority=low\r", 12, "carriage return" },
};

/* A part of the message, or with a '$' its end */
static bool says(const char *message, const char *why)
{
	size_t len = strlen(why), n = strlen(message);

	if (why[len - 1] != '$')
		return strstr(message, why);
	return n >= len - 1 && !strncmp(message + n - (len - 1), why, len - 1);
}

/* The spelling that a message names is a rule. */
static void advice_check(const char *line, const char *message)
{
	static const char *const leads[] = { "write cgroup=", "as cgroup=", "write unit=", "as unit=", "write exe=", "as exe=",
					     "write user=", "as user=", "write group=", "as group=" };
	const char *at;
	struct rules rules;
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(leads) / sizeof(*leads); i++) {
		at = strstr(message, leads[i]);
		if (!at)
			continue;
		snprintf(text, sizeof(text), "%s priority=0", strchr(at, ' ') + 1);
		test_parse(&rules, text);
		if (rules.nr != 1)
			fail_msg("%s: the advice '%s' is an error: %s", line, text, rules.errors[0].why);
		rules_free(&rules);
	}
}

static void test_never(void **state)
{
	struct rules rules;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(never) / sizeof(*never); i++) {
		snprintf(text, sizeof(text), "%s\nuser=ben priority=low", never[i].line);
		test_parse(&rules, text);
		if (rules.nr != 1 || rules.nr_errors != 1)
			fail_msg("%s: %zu rules, %zu errors", never[i].line, rules.nr, rules.nr_errors);
		assert_int_equal(rules.errors[0].line, 1);
		advice_check(never[i].line, rules.errors[0].why);
		if (!says(rules.errors[0].why, never[i].why) || rules.errors[0].column != never[i].column)
			fail_msg("%s: column %u, '%s', not %u, '%s'", never[i].line, rules.errors[0].column,
				 rules.errors[0].why, never[i].column, never[i].why);
		rules_free(&rules);
	}
}

/* Names of more bytes than a directory can have */
static void test_long(void **state)
{
	struct rules rules;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "cgroup=/a/%0255d priority=low", 0);
	test_parse(&rules, text);
	assert_int_equal(rules.nr_errors, 0);
	rules_free(&rules);
	snprintf(text, sizeof(text), "cgroup=/a/%0256d priority=low", 0);
	test_parse(&rules, text);
	assert_int_equal(rules.nr_errors, 1);
	assert_int_equal(rules.errors[0].column, 11);
	rules_free(&rules);
}

/* Texts that are no UTF-8: one error for the file */
static void test_wide(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *name;
	} rows[] = {
		{ "\xff\xfeu\0s\0\n\0", 8, "text in UTF-16:" },
		{ "\xfe\xff\0u\0s\0\n", 8, "text in UTF-16:" },
		{ "u\0s\0\n\0", 6, "text in UTF-16LE:" },
		{ "\0u\0s\0\n", 6, "text in UTF-16BE:" },
		{ "\xff\xfe\0\0u\0\0\0", 8, "text in UTF-32:" },
		{ "u\0ser=anna", 10, "byte 0" },
	};
	struct rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memset(&rules, 0, sizeof(rules));
		assert_int_equal(rules_parse(&rules, "f", rows[i].text, rows[i].size, &test_names), 0);
		assert_int_equal(rules.nr, 0);
		assert_int_equal(rules.nr_errors, 1);
		assert_int_equal(rules.errors[0].line, 1);
		assert_non_null(strstr(rules.errors[0].why, rows[i].name));
		rules_free(&rules);
	}
	/* a carriage return alone ends the lines of another time */
	test_parse(&rules, "user=anna priority=low\ruser=ben priority=low\r");
	assert_int_equal(rules.nr_errors, 1);
	assert_non_null(strstr(rules.errors[0].why, "as \"tr"));
	rules_free(&rules);
}

static void test_comments(void **state)
{
	struct rules rules;

	(void)state;
	test_parse(&rules, "# a comment\n\n ; another\n\t\nuser=anna priority=low\n  # priority=x");
	assert_int_equal(rules.nr_errors, 0);
	assert_int_equal(rules.nr, 1);
	assert_int_equal(rules.rule[0].line, 5);
	assert_string_equal(rules.rule[0].text, "user=anna priority=low");
	rules_free(&rules);
	test_parse(&rules, "");
	assert_int_equal(rules.nr + rules.nr_errors, 0);
	rules_free(&rules);
}

#define MORE 3 /* rules above the limit */

static void test_limits(void **state)
{
	static const char rule[] = "user=anna priority=low\n";
	char *text = malloc((RULES_MAX + MORE) * sizeof(rule)), *at = text;
	struct rules rules = { 0 };
	size_t i;

	(void)state;
	assert_non_null(text);
	/* a line that just fits, and one that does not */
	memset(text, ' ', 2 * RULES_LINE_MAX);
	memcpy(text, rule, sizeof(rule) - 2);
	text[RULES_LINE_MAX - 1] = '\n';
	text[2 * RULES_LINE_MAX] = '\0';
	test_parse(&rules, text);
	assert_int_equal(rules.nr, 1);
	assert_int_equal(rules.nr_errors, 1);
	assert_int_equal(rules.errors[0].line, 2);
	assert_non_null(strstr(rules.errors[0].why, "longer than"));
	rules_free(&rules);

	for (i = 0; i < RULES_MAX + MORE; i++)
		at = stpcpy(at, rule);
	test_parse(&rules, text);
	assert_int_equal(rules.nr, RULES_MAX);
	assert_int_equal(rules.nr_errors, 1);
	assert_non_null(strstr(rules.errors[0].why, "more than"));
	rules_free(&rules);
	free(text);

	assert_int_equal(rules_parse(&rules, "f", "user=anna\0 priority=low", 23, &test_names), 0);
	assert_int_equal(rules.nr, 0);
	assert_non_null(strstr(rules.errors[0].why, "byte 0"));
	rules_free(&rules);
}

int parse_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_comments),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
