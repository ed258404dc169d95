// SPDX-License-Identifier: GPL-2.0
/* nth: loading the module */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nth.h"
#include "simgpu.h"
#include "tap.h"

#define SAMPLES		40	/* of its sites */
#define FAR		1000000	/* sites that nothing comes to */

int load_struck(unsigned int nth)
{
	int err;

	fault.nth = nth;
	arm();
	err = sim_load("");
	disarm();
	return err;
}

bool has_gpu(void)
{
	return sim_read(0, "counters") != NULL;
}

void try_load(bool verbose)
{
	unsigned int total, i, nth, failed = 0, without = 0, absorbed = 0, wrong = 0;
	uint64_t seed = sim_seed();
	int err;

	fault.fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	err = fault.fd < 0 ? errno : sim_unload();
	err = err ? err : load_struck(FAR);
	if (err || fault.left >= FAR)
		tap_bail("load: %s", strerror(err));
	total = FAR - fault.left;
	nth = sim_random(&seed) % total;
	for (i = 0; i < SAMPLES; i++, nth += total / SAMPLES + 1) {
		err = sim_unload();
		if (err)
			tap_bail("load, site %u: the module does not unload before: %s", nth % total + 1, strerror(err));
		err = load_struck(nth % total + 1);
		if (verbose)
			tap_diag("load, site %u: %s", nth % total + 1, err ? strerror(err) : has_gpu() ? "survived" : "no GPU");
		if (err) {
			failed++;
			wrong += !clean_error(err) || !access("/sys/module/amdgpu", F_OK);
		} else {
			if (has_gpu())
				absorbed++;
			else
				without++;
			err = sim_unload();
			if (err)
				tap_bail("load, site %u: the module does not unload: %s", nth % total + 1, strerror(err));
		}
		err = sim_load("");
		if (err || !has_gpu()) {
			tap_diag("load, site %u: not without a fault, either: %s", nth % total + 1, strerror(err));
			wrong++;
		}
	}
	close(fault.fd);
	tap_ok(!wrong, "load: each of %u of its %u faults is survived", SAMPLES, total);
	tap_diag("faults of %-32s %4u: %u clean errors, %u without the GPU, %u no matter, %u wrong", "load",
		 SAMPLES, failed, without, absorbed, wrong);
}
