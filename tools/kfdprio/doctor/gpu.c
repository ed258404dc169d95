// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor: the GPUs in KFD's topology, and the processes that use them */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

#define PARAMETERS	"/sys/module/amdgpu/parameters"
#define PROC		"/sys/class/kfd/kfd/proc"

#define NUMBER		24	/* bytes of a number's text */
#define PF_EXITING	0x4	/* of the flags in /proc/PID/stat */

/* "gpu 26544: mode" */
static const char *topic(char *text, size_t size, const struct kfd_gpu *gpu, const char *what)
{
	snprintf(text, size, "GPU %u: %s", gpu->gpu_id, what);
	return text;
}

static uint64_t prop(const struct kfd_gpu *gpu, const char *name)
{
	uint64_t value = 0;

	kfd_topology_prop(gpu, name, &value);
	return value;
}

/* A property as text: "unknown" if the kernel does not show it, as other kernels, and a device cgroup without the GPU */
static const char *number(char text[NUMBER], const struct kfd_gpu *gpu, const char *name)
{
	uint64_t value;

	if (kfd_topology_prop(gpu, name, &value))
		snprintf(text, NUMBER, "%" PRIu64, value);
	else
		snprintf(text, NUMBER, "unknown");
	return text;
}

static void identity(struct doctor *d, const struct kfd_gpu *gpu)
{
	uint64_t xcc = prop(gpu, "num_xcc");
	uint64_t simds = prop(gpu, "simd_count"), per_cu = prop(gpu, "simd_per_cu");
	const char *name = *gpu->product ? gpu->product : gpu->name;
	char what[64], cus[32] = "unknown number of CUs", device[32] = "unknown";
	uint64_t id;

	/* the driver calls every newer GPU "ip discovery" */
	if (!*gpu->product && !strcmp(name, "ip discovery"))
		name = "unknown product";
	if (per_cu && simds)
		snprintf(cus, sizeof(cus), "%" PRIu64 " CU%s", simds / per_cu, simds / per_cu == 1 ? "" : "s");
	if (kfd_topology_prop(gpu, "device_id", &id))
		snprintf(device, sizeof(device), "%04" PRIx64, id);
	doctor_say(d, FINDING_OK, topic(what, sizeof(what), gpu, "model"), NULL,
		   "%s, %s, PCI %s device %s, %s, %" PRIu64 " XCC%s", name, *gpu->gfx ? gpu->gfx : "unknown target",
		   gpu->pci, device, cus, xcc ? xcc : 1, xcc > 1 ? "s" : "");
}

static void scheduler(struct doctor *d, const struct kfd_gpu *gpu)
{
	static const char *const names[] = {
		[KFD_SCHEDULER_NONE] = "no hardware scheduler",
		[KFD_SCHEDULER_HWS] = "HWS",
		[KFD_SCHEDULER_MES] = "MES",
		[KFD_SCHEDULER_UNKNOWN] = "not known",
	};
	enum kfd_scheduler which;
	const char *how;
	char what[64];

	which = kfd_scheduler(gpu, doctor_root, &how);
	topic(what, sizeof(what), gpu, "scheduler");
	if (which == KFD_SCHEDULER_NONE)
		doctor_say(d, FINDING_WARN, what, "remove sched_policy=2 from the module's options",
			   "%s (%s): no process is preempted", names[which], how);
	else
		doctor_say(d, which == KFD_SCHEDULER_UNKNOWN ? FINDING_INFO : FINDING_OK, what, NULL, "%s (%s)",
			   names[which], how);
}

static void cwsr(struct doctor *d, const struct kfd_gpu *gpu)
{
	uint64_t area = 0, stack = 0, gfx = 0, xcc = prop(gpu, "num_xcc");
	char what[64], enabled[16];

	topic(what, sizeof(what), gpu, "CWSR");
	if (doctor_read(enabled, sizeof(enabled), PARAMETERS "/cwsr_enable") &&
	    !strcmp(enabled, "0")) {
		doctor_say(d, FINDING_WARN, what, "remove cwsr_enable=0 from the module's options",
			   "off (cwsr_enable is 0): no process is preempted");
		return;
	}
	if (!kfd_topology_prop(gpu, "gfx_target_version", &gfx)) {
		doctor_say(d, FINDING_INFO, what, NULL,
			   "not known: the kernel does not show the generation of the GPU");
		return;
	}
	if (gfx < 80000) {
		doctor_say(d, FINDING_WARN, what, NULL,
			   "this GPU has no CWSR: no process is preempted on it");
		return;
	}
	if (kfd_topology_prop(gpu, "cwsr_size", &area) &&
	    kfd_topology_prop(gpu, "ctl_stack_size", &stack))
		doctor_say(d, FINDING_OK, what, NULL,
			   "on, %.1f MiB per queue%s, including %" PRIu64 " KiB of control stack",
			   area / 1048576.0, xcc > 1 ? " and XCC" : "", stack >> 10);
	else
		doctor_say(d, FINDING_OK, what, NULL,
			   "on; this kernel does not report the size of the save area");
}

/**
 * struct breaker - an open circuit breaker, as debugfs shows it
 * @why: what has opened it, NULL: debugfs does not show one; the caller frees it
 * @seconds: until it closes by itself, -1: it does not, or that is not known
 * @pid: the process that caused it, 0: not known
 */
struct breaker {
	char *why;
	long seconds;
	long pid;
};

/* "CAUSE, 1.5 ms ago; on again in 58 s, or ...; caused by process NAME pid 12"; a name has no semicolon */
static void breaker_parse(struct breaker *b, char *text)
{
	char *rest = strchr(text, ';'), *pid;

	if (rest)
		*rest++ = '\0';
	b->why = strdup(text);
	if (!rest || sscanf(rest, " on again in %ld s", &b->seconds) != 1)
		return;
	rest = strstr(rest, "; caused by process ");
	pid = rest ? strstr(rest, " pid ") : NULL;
	if (pid)
		b->pid = strtol(pid + strlen(" pid "), NULL, 10);
}

static struct breaker breaker_read(const struct kfd_gpu *gpu)
{
	static const char mark[] = "breaker: open, preemption is off: ";
	char *all = doctor_slurp("/sys/kernel/debug/kfd/preempt");
	struct breaker b = { .seconds = -1 };
	char *line, *found, *save = NULL;
	unsigned int id = 0;

	if (!all)
		return b;
	for (line = strtok_r(all, "\n", &save); line && !b.why; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "GPU ", 4))
			id = strtoul(line + 4, NULL, 10);
		found = id == gpu->gpu_id ? strstr(line, mark) : NULL;
		if (found)
			breaker_parse(&b, found + strlen(mark));
	}
	free(all);
	return b;
}

/* Does the driver list a process with the mark?  Needs no right, but a process on the GPU. */
static bool breaker_listed(const struct doctor *d, const struct kfd_gpu *gpu)
{
	struct kfd_prio_list_entry *entries;
	bool listed = false;
	size_t nr, i;

	if (d->dev.fd < 0 || kfd_dev_list(&d->dev, &entries, &nr))
		return false;
	for (i = 0; i < nr; i++)
		listed |= entries[i].gpu_id == gpu->gpu_id &&
			  entries[i].flags & KFD_PRIO_LIST_PREEMPT_OFF;
	free(entries);
	return listed;
}

static void breaker(struct doctor *d, const struct kfd_gpu *gpu)
{
	struct breaker b = breaker_read(gpu);
	char what[64], again[64] = "", by[64] = "";

	if (b.seconds >= 0)
		snprintf(again, sizeof(again), "; on again in %ld s", b.seconds);
	if (b.pid)
		snprintf(by, sizeof(by), "; caused by process %ld", b.pid);
	if (b.why || breaker_listed(d, gpu))
		doctor_say(d, FINDING_WARN, topic(what, sizeof(what), gpu, "preemption"),
			   "find the cause in the kernel's log; to switch preemption on at once, run, as root, 'echo 1 >"
			   PARAMETERS "/kfd_preempt'",
			   "off, the circuit breaker is open%s%s%s%s", b.why ? ": " : "",
			   b.why ? b.why : "", again, by);
	free(b.why);
}

/* gfx1250 advances it in steps of 8 packets, so that "all is read" may never be seen. */
static void read_index(struct doctor *d, const struct kfd_gpu *gpu)
{
	char what[64];

	if (prop(gpu, "gfx_target_version") / 100 != 1205)
		return;
	doctor_say(d, FINDING_WARN, topic(what, sizeof(what), gpu, "read index"),
		   "lower busy_budget_ms if offline work waits for idle processes",
		   "this GPU advances it in steps of 8 packets: a process without work may look as if it had some until busy_budget_ms after its last progress");
}

/* rocm-systems pull request 10377: seen on hosts with Intel's CPUs alone, and told of HWS alone */
static void packets(struct doctor *d, const struct kfd_gpu *gpu)
{
	char *cpus = doctor_slurp("/proc/cpuinfo");
	char what[64];

	if (cpus && strstr(cpus, "GenuineIntel") && kfd_scheduler(gpu, doctor_root, NULL) == KFD_SCHEDULER_HWS)
		doctor_say(d, FINDING_INFO, topic(what, sizeof(what), gpu, "packets"),
			   "if a HIP program hangs or faults while others preempt, see rocm-systems pull request 10377 in bad-days.rst",
			   "on hosts with Intel CPUs the GPU may read a packet in two halves when a queue is mapped, and each preemption maps queues");
	free(cpus);
}

static void queues(struct doctor *d, const struct kfd_gpu *gpu)
{
	char what[64], text[4][NUMBER];

	doctor_say(d, FINDING_INFO, topic(what, sizeof(what), gpu, "queues"), NULL,
		   "%s hardware queues for compute, %s SDMA engines and %s for XGMI with %s queues each; KFD does not report the number of VMIDs",
		   number(text[0], gpu, "num_cp_queues"), number(text[1], gpu, "num_sdma_engines"),
		   number(text[2], gpu, "num_sdma_xgmi_engines"),
		   number(text[3], gpu, "num_sdma_queues_per_engine"));
}

/* The lines of debugfs that name the firmware of scheduler and engines. */
static void firmware_debugfs(struct doctor *d, const char *what, uint64_t minor)
{
	static const char *const names[] = { "MEC", "MES", "RLC ", "SDMA", "SMC", "VBIOS" };
	char *all = doctor_slurp("/sys/kernel/debug/dri/%" PRIu64 "/amdgpu_firmware_info", minor);
	char *line, *save = NULL, text[DOCTOR_TEXT] = "";
	size_t len = 0, i;

	if (!all) {
		doctor_say(d, FINDING_INFO, what, NULL, "other firmware: %s",
			   geteuid() ? "not examined, this needs root" : "this driver has no amdgpu_firmware_info in debugfs");
		return;
	}
	for (line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		for (i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (!strncmp(line, names[i], strlen(names[i])) && len < sizeof(text))
				len += snprintf(text + len, sizeof(text) - len, "%s%s",
						len ? "; " : "", line);
	doctor_say(d, FINDING_INFO, what, NULL, "%s", text);
	free(all);
}

static void firmware(struct doctor *d, const struct kfd_gpu *gpu)
{
	char what[64], mec[NUMBER], sdma[NUMBER];
	uint64_t minor;

	topic(what, sizeof(what), gpu, "firmware");
	doctor_say(d, FINDING_INFO, what, NULL, "MEC %s, SDMA %s", number(mec, gpu, "fw_version"),
		   number(sdma, gpu, "sdma_fw_version"));
	if (kfd_topology_prop(gpu, "drm_render_minor", &minor))
		firmware_debugfs(d, what, minor);
}

static void render_node(struct doctor *d, const struct kfd_gpu *gpu)
{
	char path[DOCTOR_PATH], what[64];
	uint64_t minor;

	topic(what, sizeof(what), gpu, "render node");
	if (!kfd_topology_prop(gpu, "drm_render_minor", &minor)) {
		doctor_say(d, FINDING_INFO, what, NULL, "not known: the kernel does not show its number");
		return;
	}
	snprintf(path, sizeof(path), "%s/dev/dri/renderD%" PRIu64, doctor_root, minor);
	if (!access(path, R_OK | W_OK))
		doctor_say(d, FINDING_OK, what, NULL,
			   "/dev/dri/renderD%" PRIu64 ", this user has access", minor);
	else if (errno == EACCES)
		doctor_say(d, FINDING_FAIL, what,
			   "add the user to its group, which 'ls -l /dev/dri' shows (usually render or video), and log in again",
			   "/dev/dri/renderD%" PRIu64 ": this user may not open it, so no program of this user can use the GPU",
			   minor);
	else
		doctor_say(d, FINDING_FAIL, what, "in a container, give it the device",
			   "/dev/dri/renderD%" PRIu64 ": %s", minor, strerror(errno));
}

static void iommu_group(struct doctor *d, const struct kfd_gpu *gpu)
{
	char type[32], what[64];

	if (doctor_read(type, sizeof(type), "/sys/bus/pci/devices/%s/iommu_group/type", gpu->pci))
		doctor_say(d, FINDING_INFO, topic(what, sizeof(what), gpu, "IOMMU"), NULL,
			   "domain %s", type);
}

/**
 * doctor_gpus() - examine each GPU in the topology
 * @d: the examination
 */
void doctor_gpus(struct doctor *d)
{
	size_t i;

	if (!d->topo.nr && doctor_exists("/sys/module/amdgpu"))
		doctor_say(d, FINDING_FAIL, "GPUs",
			   "see 'dmesg | grep -i -e amdgpu -e kfd'; in a container, give it the device",
			   "KFD's topology has no GPU");
	for (i = 0; i < d->topo.nr; i++) {
		const struct kfd_gpu *gpu = &d->topo.gpus[i];

		if (d->only && gpu->gpu_id != d->only)
			continue;
		identity(d, gpu);
		scheduler(d, gpu);
		cwsr(d, gpu);
		breaker(d, gpu);
		read_index(d, gpu);
		packets(d, gpu);
		queues(d, gpu);
		doctor_slots(d, gpu);
		doctor_crowd(d, gpu);
		firmware(d, gpu);
		render_node(d, gpu);
		iommu_group(d, gpu);
	}
}

/* Does a task wait in its exit for the interrupt that KFD sends when it detaches a debugger? */
static bool drains(const char *pid, const char *tid)
{
	char text[512], *after;
	unsigned int flags;

	if (!doctor_read(text, sizeof(text), "/proc/%s/task/%s/wchan", pid, tid) ||
	    strcmp(text, "kfd_process_drain_interrupts") ||
	    !doctor_read(text, sizeof(text), "/proc/%s/task/%s/stat", pid, tid))
		return false;
	after = strrchr(text, ')');
	return after && sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & PF_EXITING;
}

/* A stock amdkfd of Linux 6.5 and later, up to 7.3, does not find the process of that interrupt any more */
static void exits(struct doctor *d, const char *pid)
{
	char path[DOCTOR_PATH];
	struct dirent *entry;
	bool stuck = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc/%s/task", doctor_root, pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		stuck |= *entry->d_name != '.' && drains(pid, entry->d_name);
	if (dir)
		closedir(dir);
	if (stuck)
		doctor_say(d, FINDING_WARN, "process",
			   "restart the host; the driver of this kfdprio does not wait there",
			   "PID %s had a debugger of the GPU attached when it exited, and amdkfd waits for an interrupt that it has lost: processes that use KFD hang when they exit",
			   pid);
}

/**
 * doctor_processes() - list the processes that use KFD now, with PIDs and priorities, without names
 * @d: the examination
 */
void doctor_processes(struct doctor *d)
{
	char path[DOCTOR_PATH], prio[16];
	struct dirent **entries;
	size_t shown = 0, queues;
	int nr, i;

	snprintf(path, sizeof(path), "%s" PROC, doctor_root);
	nr = scandir(path, &entries, NULL, versionsort);
	if (nr < 0)
		return;
	for (i = 0; i < nr; i++) {
		const char *pid = entries[i]->d_name;

		if (*pid == '.')
			continue;
		shown++;
		if (!doctor_read(prio, sizeof(prio), PROC "/%s/priority", pid))
			snprintf(prio, sizeof(prio), "unknown");
		queues = doctor_queues(pid, 0, false);
		doctor_say(d, FINDING_INFO, "process", NULL, "PID %s: priority %s, %zu queue%s", pid,
			   strcmp(prio, "-1") ? prio : "unset", queues, queues == 1 ? "" : "s");
		exits(d, pid);
	}
	for (i = 0; i < nr; i++)
		free(entries[i]);
	free(entries);
	if (!shown)
		doctor_say(d, FINDING_INFO, "processes", NULL, "no process uses KFD now");
}
