// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor: the driver that is loaded, its device, parameters and trace events */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "upstream-names.h"
#include "user-queues.h"

#define MODULE	"/sys/module/amdgpu"
#define DEFAULT_NONE "" /* a parameter whose default is not the same in all kernels */

static void ours(struct doctor *d)
{
	char build[128];

	if (!doctor_read(build, sizeof(build), MODULE "/parameters/kfd_prio_build"))
		snprintf(build, sizeof(build), "of an early release");
	doctor_say(d, FINDING_OK, "driver", NULL, "kfdprio %s, interface %u.%u%s%s", build,
		   d->dev.version.major, d->dev.version.minor,
		   d->dev.version.features & KFD_PRIO_FEATURE_INHERIT ? ", children inherit" : "",
		   d->dev.version.features & KFD_PRIO_FEATURE_PREEMPT ? ", preemption" : "");
	if (d->dev.version.minor < KFDLIB_ORPHAN_MINOR)
		doctor_say(d, FINDING_FAIL, "interface",
			   "install the driver of kfdprio " KFDPRIO_VERSION " and reboot; until then let only users that you trust open /dev/kfd",
			   "the driver has version %u.%u, of kfdprio 0.2.0 or before: any user who may open /dev/kfd can map the memory of the host, crash it, and hide from preemption",
			   d->dev.version.major, d->dev.version.minor);
	else if (d->dev.version.minor < KFD_PRIO_VERSION_MINOR)
		doctor_say(d, FINDING_WARN, "interface",
			   "install the driver and kfdprio from the same release",
			   "the driver has version %u.%u, which is older than version %d.%d of kfdprio",
			   d->dev.version.major, d->dev.version.minor, KFD_PRIO_VERSION_MAJOR,
			   KFD_PRIO_VERSION_MINOR);
	if (!(d->dev.version.features & KFD_PRIO_FEATURE_INHERIT))
		doctor_say(d, FINDING_FAIL, "priorities", "see 'dmesg | grep kfdprio' for the reason",
			   "no priority can be set: the driver cannot follow fork on this kernel");
}

/* Where it cannot be opened: what is known of the driver all the same */
static void unopened(struct doctor *d)
{
	char initstate[32];

	if (doctor_read(initstate, sizeof(initstate), MODULE "/initstate") &&
	    strcmp(initstate, "live"))
		doctor_say(d, FINDING_WARN, "driver", "wait, then run 'kfdprio doctor' again",
			   "amdgpu is not ready, its state is '%s'", initstate);
	else if (doctor_exists(MODULE "/parameters/kfd_prio_build"))
		doctor_say(d, FINDING_INFO, "driver", NULL,
			   "kfdprio is loaded; its interface version cannot be read without access to /dev/kfd");
}

static void device(struct doctor *d)
{
	struct kfd_trouble trouble;
	int ret = kfd_dev_try(&d->dev, &trouble);
	bool driver;

	d->simulated = kfd_simulated(doctor_root);
	if (d->simulated == SIMULATED_YES)
		doctor_say(d, FINDING_WARN, "SIMULATED GPU", NULL,
			   "the driver is linked with a model of a GPU and its firmware (tests/sim): no finding below is about hardware");
	if (!ret) {
		ours(d);
		doctor_say(d, FINDING_OK, "/dev/kfd", NULL, "this user has access");
		return;
	}
	d->dev.fd = -1;
	driver = trouble.cause == KFD_CAUSE_NO_DRIVER || trouble.cause == KFD_CAUSE_STOCK || trouble.cause == KFD_CAUSE_VERSION;
	if (!driver)
		unopened(d);
	doctor_say(d, FINDING_FAIL, driver ? "driver" : "/dev/kfd", trouble.todo, "%s", trouble.what);
	if (trouble.cause == KFD_CAUSE_STOCK || trouble.cause == KFD_CAUSE_VERSION)
		doctor_say(d, FINDING_OK, "/dev/kfd", NULL, "this user has access");
}

/* Parameters of amdgpu itself are reported only if they differ from their default. */
static const struct {
	const char *name, *normal, *todo;
	bool own;
} parameters[] = {
	{ "kfd_preempt", "1", "preemption is off; to switch it on, write 1 to it", true },
	{ "preempt_min_prio", "11", NULL, true },
	{ "linger_us", "200", NULL, true },
	{ "floor_pct", "5", NULL, true },
	{ "floor_period_ms", "250", NULL, true },
	{ "max_preempt_per_s", "1000", NULL, true },
	{ "safety_poll_us", "10000", NULL, true },
	{ "busy_budget_ms", "100", NULL, true },
	{ "max_switch_pct", "10", NULL, true },
	{ "max_switch_policy", "hold", NULL, true },
	{ "short_grace", "1", NULL, true },
	{ "mes_suspend", "0", NULL, true },
	{ "idle_park_ms", "auto", NULL, true },
	{ "sched_policy", "0", "without a hardware scheduler no process is preempted; remove sched_policy=2 from the module's options", false },
	{ "cwsr_enable", "1", "without CWSR no process is preempted; remove cwsr_enable=0 from the module's options", false },
	{ "hws_max_conc_proc", DEFAULT_NONE, NULL, false },
	{ "queue_preemption_timeout_ms", "9000", NULL, false },
	{ "halt_if_hws_hang", "0", NULL, false },
	{ "noretry", "-1", NULL, false },
	{ "debug_evictions", "N", NULL, false },
	{ "mes", "0", NULL, false },
	{ "mes_kiq", "0", NULL, false },
	{ "amdgpu_uni_mes", DEFAULT_NONE, NULL, false },
	{ "user_queue", DEFAULT_NONE, NULL, false },
};

static void parameters_show(struct doctor *d)
{
	char all[DOCTOR_TEXT] = "", value[64];
	size_t len = 0, i;

	for (i = 0; i < sizeof(parameters) / sizeof(*parameters); i++) {
		bool differs;

		if (!doctor_read(value, sizeof(value), MODULE "/parameters/%s", parameters[i].name))
			continue;
		if (!*value) {
			doctor_say(d, FINDING_WARN, "parameter", NULL, "%s is empty in " MODULE "/parameters: its value is not known",
				   parameters[i].name);
			continue;
		}
		len += snprintf(all + len, sizeof(all) - len, "%s%s=%s", len ? " " : "",
				parameters[i].name, value);
		if (len >= sizeof(all))
			len = sizeof(all) - 1;
		differs = *parameters[i].normal && strcmp(value, parameters[i].normal);
		if (!differs)
			continue;
		doctor_say(d, parameters[i].todo ? FINDING_WARN : FINDING_INFO, "parameter",
			   parameters[i].todo, "%s is %s, the default is %s", parameters[i].name,
			   value, parameters[i].normal);
	}
	if (len)
		doctor_say(d, FINDING_INFO, "parameters", NULL, "%s", all);
}

/* Those of a process, on a GPU */
static void user_queues_of(struct doctor *d, const struct user_queue_client *client)
{
	char text[256], who[32] = "a process that cannot be named";

	user_queues_text(client, text, sizeof(text));
	if (client->pid)
		snprintf(who, sizeof(who), "PID %d", client->pid);
	doctor_say(d, FINDING_WARN, "user queues",
		   client->types[USER_QUEUE_COMPUTE] ? "if it is a program of ROCm, run it without HSA_ENABLE_DRM_DEBUG=1" : NULL,
		   "%s has %s: outside KFD, so without priority and preemption", who, text);
}

/*
 * amdgpu's from 6.16 on: with user_queue 1 and 2 they are on, with -1, the default, and 0 they are not; a later amdgpu may have
 * another default, so what processes have is shown with any value.
 */
static void user_queues(struct doctor *d)
{
	struct user_queues found;
	char why[KFDLIB_WHY];
	size_t i;
	int ret;

	ret = user_queues_read(doctor_root, &found, why);
	if (found.parameter > 0)
		doctor_say(d, FINDING_WARN, "user queues",
			   "remove user_queue from the module's options if programs with DRM user queues share the GPU",
			   "DRM user queues are on (user_queue=%d): they bypass KFD, so their work has no priority and is not preempted",
			   found.parameter);
	if (ret && ret != -ENODEV && found.parameter > 0)
		doctor_say(d, FINDING_INFO, "user queues", NULL, "which processes have some is unknown: %s", why);
	else if (!ret && !found.nr && found.parameter > 0)
		doctor_say(d, FINDING_INFO, "user queues", NULL, "no process has one now");
	for (i = 0; !ret && i < found.nr; i++)
		user_queues_of(d, &found.clients[i]);
	user_queues_free(&found);
}

static void events(struct doctor *d)
{
	struct tracing tracing;
	int ret = tracing_find(doctor_root, &tracing);

	if (ret && (ret != -ENOENT || !geteuid())) {
		doctor_say(d, FINDING_WARN, "trace events", tracing.todo, "%s", tracing.why);
		return;
	}
	if (ret || !doctor_exists("%s/events", tracing.dir)) {
		doctor_say(d, FINDING_INFO, "trace events", geteuid() ? "run 'kfdprio doctor' as root" : NULL,
			   geteuid() ? "not examined: this needs root" : "%s has no events", tracing.dir);
		return;
	}
	if (doctor_exists("%s/events/kfd/kfd_create_queue", tracing.dir))
		doctor_say(d, FINDING_OK, "trace events", NULL, "%s/events/kfd", tracing.dir);
	else if (d->dev.fd < 0 && doctor_exists("%s/events/" UPSTREAM_SYSTEM "/" UPSTREAM_EVENT, tracing.dir))
		doctor_say(d, FINDING_INFO, "trace events", NULL,
			   "%s/events/amdkfd: KFD's own, without kfdprio. 'kfdtrace record' and 'kfdtrace live' use them; priorities and preemption need the driver of kfdprio",
			   tracing.dir);
	else
		doctor_say(d, d->dev.fd < 0 ? FINDING_INFO : FINDING_FAIL, "trace events",
			   d->dev.fd < 0 ? NULL : "reload amdgpu, then see 'dmesg'", "%s/events has no kfd events",
			   tracing.dir);
}

/**
 * doctor_driver() - examine the loaded driver
 * @d: the examination; opens its device if our driver answers
 */
void doctor_driver(struct doctor *d)
{
	device(d);
	parameters_show(d);
	user_queues(d);
	events(d);
}
