// SPDX-License-Identifier: GPL-2.0
/*
 * sim-debugger: every operation of AMDKFD_IOC_DBG_TRAP, on oneself, and what the simulated GPU then has in
 * its registers. Linux 6.5 and later. Runs in the VM, alone on a simulated GPU; guest time must
 * count instructions.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dbgtrap.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define MS	1000000ULL
#define SEC	1000000000ULL

#define CAP_PRECISE_MEMORY	0x40000	/* HSA_CAP_TRAP_DEBUG_PRECISE_MEMORY_OPERATIONS_SUPPORTED */
#define GDBG_TRAP_EN		8		/* SPI_GDBG_PER_VMID_CNTL */
#define GDBG_LAUNCH_MODE	6
#define GDBG_EXCP(mask)		((mask) << 4)
#define GDBG_REPLACE		(1 << 13)
#define PAYLOAD			24		/* offset of err_payload_addr in a save area's header */

static struct kfdc *gpu;
static struct kfdc_queue *q;
static struct kfdc_signal *done;
static int event_fd;
static bool per_vmid;	/* a VMID has its own trap settings; otherwise they are the GPU's */

static void must(int r)
{
	if (r)
		tap_bail("%s", kfdc_error());
}

static uint64_t prop(const char *name)
{
	uint64_t v;

	must(kfdc_prop(gpu, name, &v));
	return v;
}

static long trap(enum dbgtrap_op op, struct dbgtrap *t)
{
	return dbgtrap(kfdc_fd(gpu), getpid(), op, t);
}

/* The number behind @word in debugfs debugger; -1: there is none */
static long long reg(const char *word)
{
	const char *text = sim_read(0, "debugger"), *s;

	if (!text)
		tap_bail("no debugfs file debugger");
	s = strstr(text, word);
	return s ? strtoll(s + strlen(word), NULL, 0) : -1;
}

static bool has_event(void)
{
	struct pollfd p = { .fd = event_fd, .events = POLLIN };
	char c[64];

	return poll(&p, 1, 2000) == 1 && read(event_fd, c, sizeof(c)) > 0;
}

static long runtime(bool on)
{
	struct dbgtrap_runtime r = { .mode = on ? 3 : 0 };

	return ioctl(kfdc_fd(gpu), IOC_RUNTIME_ENABLE, &r) < 0 ? -errno : 0;
}

static long attach(void)
{
	struct dbgtrap_runtime_info info = { .state = -1 };
	struct dbgtrap t = { .enable = { .exceptions = EC_MASK(EC_NEW_QUEUE),
		.info = (uintptr_t)&info, .info_size = sizeof(info) } };
	int fds[2];
	long r;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		tap_bail("no pipe");
	event_fd = fds[0];
	t.enable.fd = fds[1];
	r = trap(TRAP_ENABLE, &t);
	if (!r && (info.state != 1 || t.enable.info_size != sizeof(info)))
		tap_bail("ENABLE: the runtime is in state %u", info.state);
	return r;
}

static long detach(void)
{
	struct dbgtrap t = {};
	long r = trap(TRAP_DISABLE, &t);

	close(event_fd);
	return r;
}

static void snapshots(void)
{
	struct dbgtrap_queue queue[2] = {};
	struct dbgtrap_device dev[2] = {};
	struct dbgtrap t = { .snapshot = { .exceptions = EC_MASK(EC_NEW_QUEUE),
		.buf = (uintptr_t)queue, .count = 2, .entry_size = sizeof(queue[0]) } };
	uint32_t id = q->id;
	struct dbgtrap s = { .suspend = { .ids = (uintptr_t)&id, .count = 1 } };

	tap_ok(has_event(), "snapshot: an event tells of the new queue");
	tap_ok(!trap(TRAP_SUSPEND, &s) && id == (q->id | TRAP_QUEUE_INVALID),
	       "snapshot: a new queue is not suspended before it");
	tap_eq(trap(TRAP_QUEUE_SNAPSHOT, &t), 0, "snapshot: of queues");
	tap_ok(t.snapshot.count == 1 && t.snapshot.entry_size == sizeof(queue[0]) &&
	       queue[0].exceptions == EC_MASK(EC_NEW_QUEUE) && queue[0].id == q->id &&
	       queue[0].gpu_id == kfdc_gpu_id(gpu) && queue[0].ring == (uintptr_t)q->ring &&
	       queue[0].ring_size == q->attr.packets * 64 && queue[0].rptr == (uintptr_t)q->rptr &&
	       queue[0].save_area == (uintptr_t)q->cwsr_bo.va, "snapshot: the queue, and that it is new");
	trap(TRAP_QUEUE_SNAPSHOT, &t);
	tap_eq(queue[0].exceptions, 0, "snapshot: it is not new any more");
	t = (struct dbgtrap){ .snapshot = { .buf = (uintptr_t)dev, .count = 2, .entry_size = sizeof(dev[0]) } };
	tap_eq(trap(TRAP_DEVICE_SNAPSHOT, &t), 0, "snapshot: of GPUs");
	tap_ok(t.snapshot.count >= 1 && dev[0].gpu_id == kfdc_gpu_id(gpu) &&
	       dev[0].gfx_target_version == prop("gfx_target_version") &&
	       dev[0].simd_count == prop("simd_count") && dev[0].num_xcc == prop("num_xcc") &&
	       dev[0].capability == prop("capability"), "snapshot: the GPU is that of sysfs");
}

static void launch_mode(void)
{
	struct dbgtrap t = { .launch = { .mode = 2 } };

	tap_eq(trap(TRAP_SET_LAUNCH_MODE, &t), -EINVAL, "launch mode: there is no mode 2");
	for (t.launch.mode = 1; t.launch.mode <= 3; t.launch.mode += 2) {
		tap_eq(trap(TRAP_SET_LAUNCH_MODE, &t), 0, "launch mode: %u", t.launch.mode);
		if (per_vmid)
			tap_eq(reg(" gdbg ") & GDBG_LAUNCH_MODE, t.launch.mode << 1, "launch mode: the process's");
		else
			tap_eq(reg(" wave_cntl2 ") >> 16, t.launch.mode, "launch mode: the GPU's");
	}
	t.launch.mode = 0;
	tap_eq(trap(TRAP_SET_LAUNCH_MODE, &t), 0, "launch mode: normal");
	tap_eq(per_vmid ? reg(" gdbg ") & GDBG_LAUNCH_MODE : reg(" wave_cntl2 "), 0, "launch mode: normal again");
}

static long override(uint32_t how, uint32_t bits, uint32_t request, struct dbgtrap *t)
{
	*t = (struct dbgtrap){ .override = { .how = how, .bits = bits, .request = request } };
	return trap(TRAP_SET_OVERRIDE, t);
}

static void overrides(void)
{
	struct dbgtrap t;
	uint32_t all = per_vmid ? 0x1ff : 0x80;

	tap_eq(override(0, 0x80, 0x80, &t), 0, "override: address watch");
	tap_ok(!t.override.bits && (t.override.request & 0x1ff) == all,
	       "override: nothing was overridden, %#x can be", all);
	tap_eq(override(0, 0, 0, &t), 0, "override: nothing changes");
	tap_eq(t.override.bits, 0x80, "override: and what is says so");
	if (per_vmid)
		tap_eq(reg(" gdbg "), GDBG_TRAP_EN | GDBG_EXCP(0x80), "override: the process's");
	else
		tap_eq(reg("trap_mask "), 0x80, "override: the GPU's");
	tap_eq(override(2, 0, 0, &t), per_vmid ? -EPERM : -EINVAL, "override: there are two ways only");
	tap_eq(override(1, 0x101, 0x181, &t), per_vmid ? 0 : -EINVAL,
	       "override: replacing is for a VMID with its own settings");
	if (per_vmid)
		tap_eq(reg(" gdbg "), GDBG_TRAP_EN | GDBG_EXCP(0x101) | GDBG_REPLACE, "override: replaced");
	tap_eq(override(0, 0x200, 0x200, &t), -EACCES, "override: a trap that the GPU does not have");
	tap_eq(override(0, 0, 0x1ff & all, &t), 0, "override: none");
}

static void watches(void)
{
	struct dbgtrap t = { .clear = { .gpu_id = kfdc_gpu_id(gpu), .id = 1 } };
	char name[32];
	int i;

	tap_eq(trap(TRAP_CLEAR_WATCH, &t), -EINVAL, "watch: clear one that is not set");
	for (i = 0; i < 5; i++) {
		t = (struct dbgtrap){ .watch = { .addr = 0x7f0000001000ULL * (i + 1), .mode = 3, .mask = ~0U,
			.gpu_id = kfdc_gpu_id(gpu) } };
		if (i == 4)
			break;
		tap_ok(!trap(TRAP_SET_WATCH, &t) && t.watch.id == (unsigned int)i, "watch: number %d", i);
		snprintf(name, sizeof(name), "watch %d addr ", i);
		tap_eq(reg(name), (0x7f0000001000LL * (i + 1)) & 0xffffffffffffLL, "watch: its address");
	}
	tap_eq(trap(TRAP_SET_WATCH, &t), -ENOMEM, "watch: four, and no fifth");
	if (per_vmid)
		tap_eq(reg(" watch ") >> 29, 7, "watch: valid, all accesses");
	else
		tap_eq(reg(" cntl ") >> 29, 7, "watch: valid, all accesses");
	t.watch.gpu_id = 1;
	tap_eq(trap(TRAP_SET_WATCH, &t), -ENODEV, "watch: no such GPU");
	for (i = 0; i < 4; i++) {
		t = (struct dbgtrap){ .clear = { .gpu_id = kfdc_gpu_id(gpu), .id = i } };
		tap_eq(trap(TRAP_CLEAR_WATCH, &t), 0, "watch: clear %d", i);
	}
	tap_eq(per_vmid ? reg(" watch ") : reg(" cntl "), 0, "watch: and it is not valid");
}

static void flags(void)
{
	bool can = prop("capability") & CAP_PRECISE_MEMORY;
	struct dbgtrap t = { .flags = { .flags = 1 } };

	tap_eq(trap(TRAP_SET_FLAGS, &t), can ? 0 : -EACCES, "flags: memory operations one by one");
	tap_eq(t.flags.flags, 0, "flags: there were none");
	t.flags.flags = 0;
	tap_eq(trap(TRAP_SET_FLAGS, &t), 0, "flags: none");
	tap_eq(t.flags.flags, can, "flags: what there was");
}

static void suspend(void)
{
	uint32_t ids[2] = { q->id, 77 };
	struct dbgtrap t = { .suspend = { .ids = (uintptr_t)ids, .count = 2, .grace = 0 } };
	long long before = sim_counter(0, "saves");

	kfdc_signal_set(done, 1);
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 100 * MS, .signal = done }));
	usleep(20000);
	tap_eq(trap(TRAP_SUSPEND, &t), 1, "suspend: one queue");
	tap_ok(ids[0] == q->id && ids[1] == (77 | TRAP_QUEUE_INVALID), "suspend: the other does not exist");
	tap_ok(sim_counter(0, "saves") > before, "suspend: its waves are saved");
	usleep(300000);
	tap_eq(kfdc_signal_value(done), 1, "suspend: nothing runs");
	ids[1] = 77;
	tap_eq(trap(TRAP_SUSPEND, &t), 1, "suspend: again, that is no error");
	t = (struct dbgtrap){ .resume = { .ids = (uintptr_t)ids, .count = 2 } };
	ids[1] = 77;
	tap_eq(trap(TRAP_RESUME, &t), 1, "resume: one queue");
	tap_ok(ids[0] == q->id && ids[1] == (77 | TRAP_QUEUE_INVALID), "resume: the other does not exist");
	tap_ok(!kfdc_signal_wait(done, 5 * SEC), "resume: the dispatch completes");
}

static void exceptions(void)
{
	struct dbgtrap t = { .exceptions = EC_MASK(EC_UNSUPPORTED_PACKET) };
	const uint64_t mask = t.exceptions;
	uint16_t packet[32] = { 9 };	/* no type of AQL packets */
	struct kfdc_queue *bad;
	volatile uint64_t *payload;

	tap_eq(trap(TRAP_SET_EXCEPTIONS, &t), 0, "exceptions: the debugger wants to know of bad packets");
	must(kfdc_queue_create(gpu, NULL, &bad));
	payload = (uint64_t *)bad->cwsr_bo.va + 512;
	*payload = 0;
	*(volatile uint64_t *)((char *)bad->cwsr_bo.va + PAYLOAD) = (uintptr_t)payload;
	must(kfdc_packet(bad, packet, true));
	tap_ok(has_event(), "exceptions: an event tells of one");
	t = (struct dbgtrap){ .event = { .exceptions = 0 } };
	tap_eq(trap(TRAP_QUERY_EVENT, &t), 0, "exceptions: whose?");
	tap_ok(t.event.queue_id == bad->id && t.event.gpu_id == kfdc_gpu_id(gpu) &&
	       (t.event.exceptions & mask), "exceptions: that queue's, and what it was");
	t = (struct dbgtrap){ .exception = { .info = (uintptr_t)packet, .info_size = sizeof(packet),
		.source = bad->id, .code = EC_UNSUPPORTED_PACKET, .clear = 1 } };
	tap_eq(trap(TRAP_QUERY_EXCEPTION, &t), 0, "exceptions: asked for by its number, and cleared");
	tap_eq(trap(TRAP_QUERY_EXCEPTION, &t), -ENODATA, "exceptions: it is gone");
	t = (struct dbgtrap){ .event = { .exceptions = ~0ULL } };
	tap_eq(trap(TRAP_QUERY_EVENT, &t), -EAGAIN, "exceptions: there is no other");
	tap_eq(*payload, 0, "exceptions: the runtime was told of none");
	t = (struct dbgtrap){ .event = { .exceptions = mask, .gpu_id = kfdc_gpu_id(gpu), .queue_id = bad->id } };
	tap_eq(trap(TRAP_SEND_RUNTIME_EVENT, &t), 0, "exceptions: sent on to the runtime");
	tap_ok(*payload & mask, "exceptions: it is told");
	must(kfdc_queue_destroy(bad));
}

int main(void)
{
	struct dbgtrap t = {};
	uint32_t version;
	long r;
	int i;

	must(kfdc_open(&gpu, 0));
	version = prop("gfx_target_version");
	per_vmid = version >= 110000 || (version >= 90010 && version < 100000);
	must(kfdc_signal_create(gpu, false, &done));
	r = runtime(true);
	if (r == -EINVAL || r == -ENOTTY) {
		tap_skip("debugger", "this kernel's amdkfd has no AMDKFD_IOC_DBG_TRAP");
		return tap_done();
	}
	tap_eq(r, 0, "a runtime that can be debugged");
	tap_eq(trap(TRAP_DEVICE_SNAPSHOT, &t), -EINVAL, "not before ENABLE");
	tap_eq(attach(), 0, "attach");
	tap_eq(attach(), -EALREADY, "attached already");
	close(event_fd);
	tap_eq(detach(), 0, "detach");
	tap_eq(attach(), 0, "attach again");
	must(kfdc_queue_create(gpu, NULL, &q));
	snapshots();
	launch_mode();
	overrides();
	watches();
	flags();
	suspend();
	exceptions();
	/* what is left on purpose goes with the debugger */
	override(0, 0x80, 0x80, &t);
	t = (struct dbgtrap){ .watch = { .addr = 0x1000, .mask = ~0U, .gpu_id = kfdc_gpu_id(gpu) } };
	trap(TRAP_SET_WATCH, &t);
	tap_eq(detach(), 0, "detach");
	tap_eq(per_vmid ? reg(" gdbg ") & ~GDBG_TRAP_EN : reg("trap_mask "), 0, "no trap stays overridden");
	tap_eq(per_vmid ? reg(" watch ") : reg(" cntl "), 0, "no address stays watched");
	t = (struct dbgtrap){};
	tap_eq(trap(TRAP_SET_LAUNCH_MODE, &t), -EINVAL, "and nothing can be set");
	for (i = 0, r = 0; i < 20 && !r; i++)
		r = attach() ? : detach();
	tap_eq(r, 0, "attach and detach 20 times");
	kfdc_signal_set(done, 1);
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = done }));
	tap_ok(!kfdc_signal_wait(done, 5 * SEC), "the queue works as before");
	must(kfdc_queue_destroy(q));
	tap_eq(sim_counter(0, "bad_packets"), 0, "nothing that the firmware does not know");
	return tap_done();
}
