// SPDX-License-Identifier: GPL-2.0
/* Whether this process may attach BPF programs to kprobes, and what to do if not. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "kfdlib.h"
#include "stock.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define FTRACE	 "/proc/sys/kernel/ftrace_enabled"
#define JIT	 "/proc/sys/net/core/bpf_jit_enable"
#define RESTRICT "/proc/sys/kernel/kptr_restrict"
#define KPROBES	 "/sys/kernel/debug/kprobes/enabled"

static uint64_t capabilities(void)
{
	char line[256];
	uint64_t caps = 0;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %" SCNx64, &caps) == 1)
			break;
	if (file)
		fclose(file);
	return caps;
}

/* The number that begins a file; @unknown if there is none, or this process may not read it. */
static int number_of(const char *path, int unknown)
{
	FILE *file = fopen(path, "re");
	int number = unknown;

	if (!file)
		return unknown;
	if (fscanf(file, "%d", &number) != 1)
		number = unknown;
	fclose(file);
	return number;
}

static void no_jit(char *why)
{
	snprintf(why, STOCK_WHY,
		 "net.core.bpf_jit_enable is 0, and the kernel's interpreter of BPF has no callbacks, which the programs need. "
		 "Run 'sudo sysctl net.core.bpf_jit_enable=1'");
}

static void lockdown(char *why)
{
	snprintf(why, STOCK_WHY,
		 "kernel lockdown is 'confidentiality' (" LOCKDOWN "), which forbids kprobes to everyone. "
		 "Boot with lockdown=integrity, or install the kfdprio driver, whose events need no probes");
}

/**
 * stock_refused() - the kernel has not loaded the programs
 * @ret: -errno of that
 * @log: what was said
 * @why: out: the reason and the next step; STOCK_WHY bytes
 */
void stock_refused(int ret, const struct stock_log *log, char *why)
{
	struct utsname uts;

	/* the file of lockdown is not seen in every mount namespace; libbpf tries bpf_probe_read() then */
	if (strstr(log->function, "bpf_probe_read"))
		lockdown(why);
	else if (log->no_jit)
		no_jit(why);
	else if (*log->member)
		snprintf(why, STOCK_WHY,
			 "the driver's types (BTF) do not have '%s', which a recording needs: kfdtrace does not know this driver. "
			 "Report it with the output of 'modinfo amdgpu'",
			 log->member);
	else if (*log->function)
		snprintf(why, STOCK_WHY,
			 "this kernel (%s) does not have %s of BPF: --driver=stock needs Linux 5.17 or later",
			 uname(&uts) ? "?" : uts.release, log->function);
	else if (ret == -EPERM)
		snprintf(why, STOCK_WHY,
			 "the kernel does not permit BPF programs, though this process has the capabilities: in a container, seccomp may forbid bpf(2). "
			 "Run kfdtrace on the host");
	else
		snprintf(why, STOCK_WHY, "cannot load the BPF programs: %s (%s)", strerror(-ret),
			 *log->first ? log->first : "no message");
}

/**
 * stock_silent() - would probes be attached without an error, and never fire?
 * @multi: all functions are probed at once, for which the kernel needs no kprobes
 * @why: if so, the reason and the next step; STOCK_WHY bytes
 *
 * Return: whether a cause is known.
 */
bool stock_silent(bool multi, char *why)
{
	if (!number_of(FTRACE, 1)) {
		snprintf(why, STOCK_WHY,
			 "kernel.ftrace_enabled is 0: probes of functions are attached, but do not fire. "
			 "Run 'sudo sysctl kernel.ftrace_enabled=1'");
		return true;
	}
	/* debugfs is root's: another user learns of it when no probe fires */
	if (!multi && !number_of(KPROBES, 1)) {
		snprintf(why, STOCK_WHY,
			 KPROBES " is 0: probes of functions are attached, but do not fire. "
			 "Run 'echo 1 >" KPROBES "' as root");
		return true;
	}
	return false;
}

/**
 * stock_hidden() - why a process does not see the addresses of functions
 *
 * Return: text that goes after "functions have this name".
 */
const char *stock_hidden(void)
{
	if (number_of(RESTRICT, 0) >= 2)
		return "and kernel.kptr_restrict is 2, so that their addresses are hidden from everyone: run 'sudo sysctl kernel.kptr_restrict=1'";
	if (capabilities() & 1ULL << CAP_SYSLOG)
		return "and this kernel hides their addresses";
	return "and only a process with CAP_SYSLOG, such as root, sees their addresses";
}

/**
 * stock_access() - may this process attach BPF programs to functions of the kernel?
 * @why: if not, the reason and the next step; STOCK_WHY bytes
 *
 * Return: 0 or -EPERM.
 */
int stock_access(char *why)
{
	uint64_t caps = capabilities();
	bool bpf = caps & (1ULL << CAP_BPF | 1ULL << CAP_SYS_ADMIN);
	bool perfmon = caps & (1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN);

	if (lockdown_is_confidentiality("")) {
		lockdown(why);
		return -EPERM;
	}
	/* above 2, kernels of Debian and Ubuntu let CAP_SYS_ADMIN alone open events, whatever CAP_PERFMON permits */
	if (bpf && perfmon && !(caps & 1ULL << CAP_SYS_ADMIN) && number_of(PARANOID, 0) > 2) {
		snprintf(why, STOCK_WHY,
			 "kernel.perf_event_paranoid is above 2, and CAP_PERFMON is not enough then on kernels of Debian and Ubuntu. "
			 "Run 'sudo sysctl kernel.perf_event_paranoid=2', or sudo kfdtrace ...");
		return -EPERM;
	}
	if (bpf && perfmon && !number_of(JIT, 1)) {
		no_jit(why);
		return -EPERM;
	}
	if (bpf && perfmon)
		return 0;
	/* the sysctl is what users find when they look for the reason */
	snprintf(why, STOCK_WHY,
		 "--driver=stock needs %s%s%s; kernel.unprivileged_bpf_disabled=0 would not help. Run "
		 "'sudo kfdtrace ...' (with record, the command runs as you), "
		 "or have root give kfdtrace these capabilities, for every user of this machine: "
		 "'sudo setcap cap_bpf,cap_perfmon+ep /path/to/kfdtrace'",
		 bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON");
	return -EPERM;
}
