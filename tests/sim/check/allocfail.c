// SPDX-License-Identifier: GPL-2.0
/*
 * sim-allocfail: each allocation fails in turn, of what a process does and of the module's load.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "simgpu.h"
#include "tap.h"

#define MAX_N	200

/* The n-th occurrence fails for n = 1.. until all goes well */
static void test_use(const char *fault, long long pages)
{
	unsigned int n, unclean = 0, wrong = 0;
	char setting[16];
	long long struck;
	int err;

	for (n = 1; n < MAX_N; n++) {
		snprintf(setting, sizeof(setting), "%u", n);
		struck = sim_fault_struck(0, fault);
		sim_fault_set(0, fault, setting);
		err = sim_use(0, true);
		struck = sim_fault_struck(0, fault) - struck;
		if (!sim_clean(0, pages)) {
			tap_diag("after %s number %u", fault, n);
			unclean++;
		}
		if (!struck)
			break;
		/* a process may ask again or do without, but then it must work */
		if (err && err != ENOMEM) {
			tap_diag("%s number %u: %s", fault, n, strerror(err));
			wrong++;
		}
	}
	sim_fault_set(0, fault, "0");
	tap_ok(n > 1 && n < MAX_N && !err, "%s of a process: the first %u fail in turn, then it works", fault,
	       n - 1);
	tap_eq(wrong, 0, "... each an error that says ENOMEM, or none");
	tap_eq(unclean, 0, "... after each nothing is left");
}

static void test_load(const char *fault)
{
	unsigned int n, bad = 0;
	char params[64];
	long long struck = 1;

	for (n = 1; n < MAX_N && struck; n++) {
		if (sim_unload()) {
			tap_diag("rmmod after %s number %u", fault, n - 1);
			bad++;
			break;
		}
		snprintf(params, sizeof(params), "fault=%s:%u@0", fault, n);
		if (sim_load(params)) {
			tap_diag("insmod with %s", params);
			bad++;
			break;
		}
		struck = sim_fault_struck(0, fault);
		sim_fault_set(0, fault, "0");	/* what follows is not the load */
		/* at least the other one works: it is the first, if the first is without amdkfd */
		if (sim_use(0, true)) {
			tap_diag("no GPU works with %s", params);
			bad++;
		}
		if (!struck && sim_use(1, true))
			bad++;
	}
	tap_ok(n > 2 && n < MAX_N && !bad,
	       "%s while loading: the first %u fail in turn, the other GPU works, rmmod works", fault, n - 2);
}

int main(void)
{
	long long pages = sim_counter(0, "ram_pages");

	test_use("alloc_gtt", pages);
	test_use("alloc_vram", pages);
	if (!sim_old_kernel())	/* its doorbells are no buffers of amdgpu's */
		test_use("alloc_doorbell", pages);
	test_use("map_memory", pages);
	test_load("alloc_gtt");
	if (!sim_old_kernel())
		test_load("alloc_doorbell");
	test_load("device_init");
	sim_unload();
	tap_ok(sim_load("fault=nonsense") != 0, "an unknown fault is refused");
	tap_ok(sim_load("fault=hang:x") != 0 && sim_load("fault=hang@y") != 0,
	       "so are a bad setting and a bad GPU");
	tap_eq(sim_load(""), 0, "without, it loads");
	return tap_done();
}
