// SPDX-License-Identifier: GPL-2.0
/* Parameters of the driver, the simulated GPU and the kernel, as rounds need them */
#include "race.h"
#include "simgpu.h"
#include "tap.h"

/*
 * Each time that the simulated GPU looks at doorbells is a timer, of which a busy host is slow to deliver any. The
 * scheduler is told when the driver wants something: only work begins later.
 */
void poll_seldom(void)
{
	if (sim_poke("/sys/module/amdgpu/parameters/poll_us", "500") ||
	    sim_poke("/sys/module/amdgpu/parameters/poll_idle_us", "1000"))
		tap_bail("the parameters of the simulated GPU cannot be set");
}

/* On: a process is parked that has had no work for a millisecond. Off: all are back before this returns */
void parking(bool on)
{
	sim_poke("/sys/module/amdgpu/parameters/safety_poll_us", on ? "1000" : "10000");
	sim_poke("/sys/module/amdgpu/parameters/idle_park_ms", on ? "1" : "0");
}

/* What takes processes and modules away waits for RCU; mostly that need not be tens of ms */
void hurry(bool on)
{
	sim_poke("/sys/kernel/rcu_expedited", on ? "1" : "0");
}
