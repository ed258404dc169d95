// SPDX-License-Identifier: GPL-2.0
/* The state that a runtime writes, and config.json. */
#include "fixture.h"

#define STATE(members) "{\"ociVersion\":\"1.0.2\",\"id\":\"c1\",\"status\":\"creating\"," members "}"
#define ASKS(value) STATE("\"pid\":42,\"bundle\":\"/b\",\"annotations\":{\"org.kfdprio.priority\":" value "}")

static const struct {
	const char *json, *id, *bundle, *annotation;
	pid_t pid;
} good[] = {
	{ ASKS("\"high\""), "c1", "/b", "high", 42 },
	{ STATE("\"pid\":42,\"bundle\":\"/b\",\"annotations\":{\"org.kfdprio.priorit\":\"high\",\"x\":1}"), "c1", "/b", NULL, 42 },
	{ STATE("\"pid\":42,\"bundle\":\"/b\",\"annotations\":{}"), "c1", "/b", NULL, 42 },
	{ STATE("\"pid\":42,\"bundle\":\"/b\",\"annotations\":null"), "c1", "/b", NULL, 42 },
	{ STATE("\"pid\":42,\"bundle\":\"/b\""), "c1", "/b", NULL, 42 },
	{ STATE("\"pid\":2147483647"), "c1", NULL, NULL, 2147483647 },
	/* annotations of other programs may have any type */
	{ "{\"pid\":1,\"annotations\":{\"org.kfdprio.priority\":\"low\",\"a\":[{}]},\"more\":[1,2]}", NULL, NULL, "low", 1 },
	/* text is taken as it is */
	{ ASKS("\"high\\n\""), "c1", "/b", "high\n", 42 },
	{ ASKS("\"\""), "c1", "/b", "", 42 },
};

static void same(const char *is, const char *wanted, const char *json)
{
	if (!is != !wanted || (is && strcmp(is, wanted)))
		fail_msg("%s: '%s', not '%s'", json, is ? is : "(none)", wanted ? wanted : "(none)");
}

static void test_good(void **state)
{
	struct oci_container container;
	char why[KFDLIB_WHY] = "";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		if (oci_state_parse(good[i].json, strlen(good[i].json), &container, why))
			fail_msg("%s: %s", good[i].json, why);
		same(container.id, good[i].id, good[i].json);
		same(container.bundle, good[i].bundle, good[i].json);
		same(container.annotation, good[i].annotation, good[i].json);
		assert_int_equal(container.pid, good[i].pid);
		oci_container_free(&container);
	}
}

static const struct {
	const char *json, *why; /* why: a part of it */
} bad[] = {
	{ "", "ends too early" },
	{ "{", "ends too early" },
	{ "{]", "not JSON" },
	{ "null ", "not a JSON object" },
	{ "[]", "not a JSON object" },
	{ "\"high\"", "not a JSON object" },
	{ STATE("\"pid\":0"), "no PID" },
	{ STATE("\"pid\":-1"), "no PID" },
	{ STATE("\"pid\":\"42\""), "no PID" },
	{ STATE("\"pid\":42.5"), "no PID" },
	{ STATE("\"pid\":2147483648"), "no PID" },
	{ STATE("\"pid\":99999999999999999999"), "no PID" },
	{ STATE("\"pid\":[42]"), "no PID" },
	{ STATE("\"bundle\":\"/b\""), "no PID" },
	{ STATE("\"pid\":42,\"bundle\":1"), "bundle is not a string" },
	{ STATE("\"pid\":42,\"bundle\":\"/b\\u0000/x\""), "bundle has a byte 0" },
	{ STATE("\"pid\":42,\"annotations\":[\"high\"]"), "annotations is not an object" },
	{ STATE("\"pid\":42,\"annotations\":\"high\""), "annotations is not an object" },
	{ ASKS("11"), "org.kfdprio.priority is not a string" },
	{ ASKS("null"), "org.kfdprio.priority is not a string" },
	{ ASKS("[\"high\"]"), "org.kfdprio.priority is not a string" },
	/* what stands behind it would not be seen */
	{ ASKS("\"low\\u0000high\""), "org.kfdprio.priority has a byte 0" },
	{ "{\"id\":7,\"pid\":42}", "id is not a string" },
};

static void test_bad(void **state)
{
	struct oci_container container;
	char why[KFDLIB_WHY] = "";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(oci_state_parse(bad[i].json, strlen(bad[i].json), &container, why), -EINVAL);
		if (!strstr(why, bad[i].why))
			fail_msg("%s: '%s', not '%s'", bad[i].json, why, bad[i].why);
		test_no_control(why);
		oci_container_free(&container);
	}
}

static void test_config(void **state)
{
	static const char with[] = "{\"ociVersion\":\"1.0.2\",\"process\":{},\"annotations\":{\"org.kfdprio.priority\":\"low\"}}";
	static const char without[] = "{\"annotations\":{}}";
	struct oci_container container = { .annotation = NULL };
	char why[KFDLIB_WHY] = "";

	(void)state;
	assert_int_equal(oci_config_parse(with, strlen(with), &container, why), 0);
	assert_string_equal(container.annotation, "low");
	/* what was there before is gone */
	assert_int_equal(oci_config_parse(without, strlen(without), &container, why), 0);
	assert_null(container.annotation);
	assert_int_equal(oci_config_parse(with, strlen(with) - 1, &container, why), -EINVAL);
	assert_string_equal(why, "config.json is not JSON: it ends too early");
	oci_container_free(&container);
}

static void test_size(void **state)
{
	struct oci_container container;
	char *json = malloc(OCI_JSON_MAX + 2);
	char why[KFDLIB_WHY] = "";

	(void)state;
	memset(json, ' ', OCI_JSON_MAX + 2);
	memcpy(json, "{\"pid\":3", 8);
	json[OCI_JSON_MAX - 1] = '}';
	assert_int_equal(oci_state_parse(json, OCI_JSON_MAX, &container, why), 0);
	assert_int_equal(container.pid, 3);
	oci_container_free(&container);
	json[OCI_JSON_MAX] = '}';
	assert_int_equal(oci_state_parse(json, OCI_JSON_MAX + 1, &container, why), -EINVAL);
	assert_non_null(strstr(why, "larger than 4 MiB"));
	oci_container_free(&container);
	/* deeper than anyone nests */
	memset(json, '[', 100000);
	assert_int_equal(oci_state_parse(json, 100000, &container, why), -EINVAL);
	oci_container_free(&container);
	free(json);
}

static void test_show(void **state)
{
	char shown[4 * OCI_SHOWN + 4], raw[OCI_SHOWN + 2];

	(void)state;
	oci_show(shown, "a\n\033[2J\xc3\xa9~ z\x7f");
	assert_string_equal(shown, "a\\x0a\\x1b[2J\\xc3\\xa9~ z\\x7f");
	memset(raw, '\r', sizeof(raw) - 1);
	raw[sizeof(raw) - 1] = '\0';
	oci_show(shown, raw);
	assert_int_equal(strlen(shown), sizeof(shown) - 1);
	assert_string_equal(shown + 4 * OCI_SHOWN, "...");
	raw[OCI_SHOWN] = '\0';
	oci_show(shown, raw);
	assert_int_equal(strlen(shown), 4 * OCI_SHOWN);
}

int state_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
