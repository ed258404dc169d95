// SPDX-License-Identifier: GPL-2.0
/* Damaged states: no crash, and no message with a byte that acts. */
#define _GNU_SOURCE
#include "fixture.h"

static const char whole[] = "{\"ociVersion\":\"1.0.2\",\"id\":\"abc\",\"status\":\"creating\",\"pid\":4711,"
			    "\"bundle\":\"/run/b\",\"annotations\":{\"a\":\"b\",\"org.kfdprio.priority\":\"high\"}}";

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void damage(char *text, size_t *size)
{
	static const char bytes[] = "{}[]:,\"\\u0n \n\033-9e.\xff";
	size_t at = rand() % *size;

	switch (rand() % 4) {
	case 0:
		text[at] = bytes[rand() % sizeof(bytes)];
		break;
	case 1:
		*size = at + 1;
		break;
	case 2:
		memmove(text + at, text + at + 1, *size - at - 1);
		*size -= *size > 1;
		break;
	default:
		text[at] = rand();
	}
}

static void test_damaged(void **state)
{
	unsigned long steps = number("STEPS", 20000), refused = 0, given = 0, i;
	struct rules rules = { .container_max = KFD_PRIO_HIGH, .has_container_max = true };
	struct oci_container container;
	char text[sizeof(whole)], why[KFDLIB_WHY];
	int priority, n;
	size_t size;

	(void)state;
	srand(number("SEED", 1));
	for (i = 0; i < steps; i++) {
		memcpy(text, whole, sizeof(whole));
		size = sizeof(whole) - 1;
		for (n = rand() % 3; n >= 0; n--)
			damage(text, &size);
		*why = '\0';
		if (oci_state_parse(text, size, &container, why) ||
		    oci_priority_choose(&container, NULL, &rules, &priority, why)) {
			assert_true(*why);
			test_no_control(why);
			refused++;
		} else {
			assert_true(container.pid > 0);
			assert_true(priority == KFD_PRIO_UNSET || priority == KFD_PRIO_HIGH);
			given += priority == KFD_PRIO_HIGH;
		}
		oci_container_free(&container);
	}
	/* both happen, or this tests nothing */
	assert_true(refused > steps / 4 && given > steps / 10);
}

int random_tests(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_damaged) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
