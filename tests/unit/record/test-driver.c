// SPDX-License-Identifier: GPL-2.0
/* Whose events are recorded: what of a driver is there decides, in a root directory of its own. */
#include "fixture.h"

#define TRACING "root/sys/kernel/tracing/"
#define MODULE	"root/sys/module/amdgpu/"

static void make(const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), "mkdir -p '%s'", path);
	assert_int_equal(system(command), 0);
}

static enum record_driver found(const char *instance)
{
	return record_driver_find("root", RECORD_AUTO, instance);
}

static void test_order(void **state)
{
	(void)state;
	make("root");
	/* its error messages say what to do */
	assert_int_equal(found(NULL), RECORD_KFDPRIO);
	make(MODULE "parameters");
	assert_int_equal(found(NULL), RECORD_STOCK);
	make(TRACING "events");
	assert_int_equal(found(NULL), RECORD_STOCK);
	/* ROCm's own events are in the same system */
	make(TRACING "events/amdkfd/kfd_map_memory_to_gpu_start");
	assert_int_equal(found(NULL), RECORD_STOCK);
	make(TRACING "events/amdkfd/amdkfd_queue_create_start");
	assert_int_equal(found(NULL), RECORD_UPSTREAM);
	/* kfdprio's driver on a kernel that has the series */
	make(MODULE "parameters/kfd_preempt");
	assert_int_equal(found(NULL), RECORD_KFDPRIO);
	assert_int_equal(system("rm -r root"), 0);
}

/* A user may have access to a prepared instance alone */
static void test_instance(void **state)
{
	(void)state;
	make(MODULE "parameters");
	make(TRACING "events");
	make(TRACING "instances/mine/events/amdkfd/amdkfd_queue_create_start");
	assert_int_equal(found(NULL), RECORD_STOCK);
	assert_int_equal(found("mine"), RECORD_UPSTREAM);
	assert_int_equal(found("yours"), RECORD_STOCK);
	assert_int_equal(system("rm -r root"), 0);
}

/* --driver=upstream without these events: the advice fits what is there */
static void test_lacking(void **state)
{
	(void)state;
	make("root");
	assert_null(record_driver_lacks_upstream("root"));
	make(MODULE "parameters");
	assert_non_null(strstr(record_driver_lacks_upstream("root"), "use --driver=stock"));
	make(MODULE "parameters/kfd_preempt");
	assert_non_null(strstr(record_driver_lacks_upstream("root"), "use --driver=kfdprio"));
	assert_int_equal(system("rm -r root"), 0);
}

/* Nothing is looked for if the user says which one */
static void test_said(void **state)
{
	(void)state;
	assert_int_equal(record_driver_find("none", RECORD_STOCK, NULL), RECORD_STOCK);
	assert_int_equal(record_driver_find("none", RECORD_UPSTREAM, NULL), RECORD_UPSTREAM);
	assert_int_equal(record_driver_find("none", RECORD_KFDPRIO, NULL), RECORD_KFDPRIO);
}

int driver_tests(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_instance),
		cmocka_unit_test(test_lacking),
		cmocka_unit_test(test_said),
	};

	return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
