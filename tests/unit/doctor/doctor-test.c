// SPDX-License-Identifier: GPL-2.0
/* Unit tests of tools/kfdprio/doctor/log.c: a user chooses the names of processes, which messages of the kernel have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "log.h"

static void test_ours(void **state)
{
	static const char *const ours[] = {
		"amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
		"amdgpu: Failed to suspend process 0x8001",
		"kfd kfd: amdgpu: added device 1002:740f",
		"pci-driver 0000:00:10.0: amdgpu: ring gfx timeout",
		"RIP: 0010:kfd_ioctl+0x1/0x2 [amdgpu]",
		"BUG: KASAN: slab-use-after-free in kfd_ioctl+0x1/0x2",
		"[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout",
		"AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0000]",
		"WARNING: CPU: 0 PID: 180 at drivers/gpu/drm/amd/amdkfd/kfd_queue.c:1 f+0x1/0x2 [amdgpu]",
	};
	static const char *const others[] = {
		"kfd-llm[18136]: segfault at 0 ip 0 sp 0 error 4 in kfd-llm[1132,1000]",
		"amdgpu bob x[18141]: segfault at 0 ip 0",
		"traps: kfd[7] trap divide error ip:1 sp:2 error:0",
		"traps: [amdgpu]: x[7] general protection fault ip:1",
		"audit: type=1701 pid=7 comm=\"kfd-llm\" exe=\"/opt/amdgpu/llm\" sig=11",
		"kfd-llm (7): drop_caches: 3",
		"Out of memory: Killed process 9 (amdgpu) total-vm:1kB",
		"Memory cgroup out of memory: Killed process 9 (kfd) total-vm:1kB",
		"oom-kill:constraint=CONSTRAINT_NONE,task=kfd,pid=9,uid=0",
		"INFO: task kfd-llm:7 blocked for more than 120 seconds.",
		"kfd invoked oom-killer: gfp_mask=0x1",
		"usb 1-1: new device",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (!message_is_ours(ours[i]))
			fail_msg("not shown: %s", ours[i]);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (message_is_ours(others[i]))
			fail_msg("shown: %s", others[i]);
}

static void test_names(void **state)
{
	static const char *const lines[] = {
		"amdgpu: for process secret pid 12 thread secret pid 13",
		"amdgpu: Process my pid secret pid 7 thread a pid secret pid 8",
		"amdgpu: Process thread secret pid 7 thread pid 1 thread secret pid 8",
		"CPU: 0 UID: 0 PID: 7 Comm: kfd secret Not tainted 6.12",
		"CPU: 0 PID: 7 Comm: secret Tainted: x secret Tainted: G 6.12 amdgpu",
	};
	char line[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(line, sizeof(line), "%s", lines[i]);
		message_anonymize(line);
		if (strstr(line, "secret"))
			fail_msg("a name is left: %s", line);
	}
	snprintf(line, sizeof(line), "amdgpu: process pool, no name");
	message_anonymize(line);
	assert_string_equal(line, "amdgpu: process pool, no name");
}

/* A pipe stands for the kernel's log. */
static int report(const char *record, char *text, size_t size)
{
	int ends[2], found;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], record, strlen(record)), strlen(record));
	close(ends[1]);
	found = kernel_log_report(ends[0], text, size);
	close(ends[0]);
	return found;
}

static void test_reports(void **state)
{
	static const char *const reports[] = {
		"4,1,1,-;amdgpu: something is wrong\n", "6,1,1,-;amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n",
		"4,1,1,-;WARNING: CPU: 0 PID: 1 at fs/x.c:1\n", "1,1,1,-;BUG: kernel NULL pointer dereference\n",
		"0,1,1,-;watchdog: BUG: soft lockup - CPU#0 stuck\n", "0,1,1,-;mce: [Hardware Error]: CPU 0\n",
	};
	static const char *const none[] = {
		"6,1,1,-;kfd reset[23149]: segfault at 0 ip 0\n", "6,1,1,-;BUG: amdgpu[7]: segfault at 0\n",
		"6,1,1,-;Oops[7]: segfault at 0\n", "4,1,1,-;Out of memory: Killed process 9 (amdgpu reset)\n",
		"6,1,1,-;amdgpu: all is well\n",
	};
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(reports) / sizeof(*reports); i++)
		if (!report(reports[i], text, sizeof(text)))
			fail_msg("no report: %s", reports[i]);
	for (i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (report(none[i], text, sizeof(text)))
			fail_msg("a report: %s", none[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ours), cmocka_unit_test(test_names),
					    cmocka_unit_test(test_reports) };

	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
