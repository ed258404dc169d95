/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AMDKFD_IOC_RUNTIME_ENABLE and AMDKFD_IOC_DBG_TRAP: the debugger's ioctls of Linux 6.5 and later, which the
 * <linux/kfd_ioctl.h> of Debian 12 does not have. Numbers, sizes and places are those of 6.12.
 */
#ifndef TESTS_LIB_DBGTRAP_H
#define TESTS_LIB_DBGTRAP_H

#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

enum dbgtrap_op {
	TRAP_ENABLE, TRAP_DISABLE, TRAP_SEND_RUNTIME_EVENT, TRAP_SET_EXCEPTIONS,
	TRAP_SET_OVERRIDE, TRAP_SET_LAUNCH_MODE, TRAP_SUSPEND, TRAP_RESUME, TRAP_SET_WATCH,
	TRAP_CLEAR_WATCH, TRAP_SET_FLAGS, TRAP_QUERY_EVENT, TRAP_QUERY_EXCEPTION,
	TRAP_QUEUE_SNAPSHOT, TRAP_DEVICE_SNAPSHOT,
};

/* Exceptions, as bits of a mask */
#define EC_MASK(code)		(1ULL << ((code) - 1))
#define EC_UNSUPPORTED_PACKET	20
#define EC_NEW_QUEUE		31	/* such a queue is not suspended until a snapshot has told of it */
#define EC_RUNTIME		48

#define RUNTIME_ENABLED_BUSY	2	/* of dbgtrap_runtime_info.state: another process is debugged, and the GPU lets one be */

#define TRAP_QUEUE_ERROR	(1U << 30)	/* in the list of queues to suspend or resume */
#define TRAP_QUEUE_INVALID	(1U << 31)

/* struct kfd_queue_snapshot_entry */
struct dbgtrap_queue {
	uint64_t exceptions, ring, wptr, rptr, save_area;
	uint32_t id, gpu_id, ring_size, type, save_area_size, reserved;
};

/* The first members of struct kfd_dbg_device_info_entry */
struct dbgtrap_device {
	uint64_t exceptions, lds[2], scratch[2], gpuvm[2];
	uint32_t gpu_id, location_id, vendor_id, device_id, revision_id, subsystem[2], fw_version,
		 gfx_target_version, simd_count, max_waves_per_simd, array_count,
		 simd_arrays_per_engine, num_xcc, capability, debug_prop;
};

struct dbgtrap {
	uint32_t pid, op;
	union {
		struct { uint64_t exceptions, info; uint32_t info_size, fd; } enable;
		struct { uint64_t exceptions; uint32_t gpu_id, queue_id; } event;	/* sent, or asked for */
		uint64_t exceptions;
		struct { uint32_t how, bits, request, pad; } override;
		struct { uint32_t mode, pad; } launch;
		struct { uint64_t exceptions, ids; uint32_t count, grace; } suspend;
		struct { uint64_t ids; uint32_t count, pad; } resume;
		struct { uint64_t addr; uint32_t mode, mask, gpu_id, id; } watch;
		struct { uint32_t gpu_id, id; } clear;
		struct { uint32_t flags, pad; } flags;
		struct { uint64_t info; uint32_t info_size, source, code, clear; } exception;
		struct { uint64_t exceptions, buf; uint32_t count, entry_size; } snapshot;
	};
};

struct dbgtrap_runtime {
	uint64_t r_debug;
	uint32_t mode, capabilities;	/* mode: bit 0: on, bit 1: TTMP registers are saved */
};

/* What ENABLE says of the runtime: struct kfd_runtime_info */
struct dbgtrap_runtime_info {
	uint64_t r_debug;
	uint32_t state, ttmp_setup;
};

#define IOC_RUNTIME_ENABLE	_IOWR('K', 0x25, struct dbgtrap_runtime)
#define IOC_DBG_TRAP		_IOWR('K', 0x26, struct dbgtrap)

/**
 * dbgtrap() - one operation
 * @fd: /dev/kfd
 * @pid: the process that is debugged
 * @op: what
 * @t: its arguments, and what it says
 *
 * Return: what the ioctl returns, or a negative errno
 */
static inline long dbgtrap(int fd, pid_t pid, enum dbgtrap_op op, struct dbgtrap *t)
{
	long r;

	t->pid = pid;
	t->op = op;
	r = ioctl(fd, IOC_DBG_TRAP, t);
	return r < 0 ? -errno : r;
}

#endif
