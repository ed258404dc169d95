// SPDX-License-Identifier: GPL-2.0
/* Lines of ROCm's log, of several releases. */
#include <stdio.h>
#include <string.h>

#include "read/amdlog.h"
#include "fixture.h"

static struct amdlog amdlog;
static struct amdlog_entry entry;

static void open_text(const char *text, size_t size)
{
	FILE *file = fmemopen((void *)text, size, "r");

	assert_non_null(file);
	amdlog_init(&amdlog);
	amdlog_file(&amdlog, file, -1);
}

/* The only entry of a text. */
static void one(const char *text)
{
	open_text(text, strlen(text));
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	fclose(amdlog.file);
}

static void none(const char *text)
{
	open_text(text, strlen(text));
	assert_int_equal(amdlog_next(&amdlog, &entry), 0);
	fclose(amdlog.file);
}

static void acquire_of_hip_6(void **state)
{
	(void)state;
	one(":3:rocdevice.cpp:3045: 175037104827 us: [pid:157801 tid: 0x7fad6a5ff640] acquireQueue refCount: 0x7fad66c00000 (1)\n");
	assert_int_equal(entry.kind, AMDLOG_ACQUIRED);
	assert_int_equal(entry.ts, 175037104827000);
	assert_int_equal(entry.pid, 157801);
	assert_int_equal(entry.tid, 0x7fad6a5ff640);
	assert_int_equal(entry.v[LOG_HWQ], 0x7fad66c00000);
	assert_int_equal(entry.v[LOG_REFS], 1);
}

static void created_by_hip_5(void **state)
{
	(void)state;
	one(":3:rocdevice.cpp            :2756: 0013991837 us: 176  : [tid:0x7f131ffe8880] created hardware queue 0x7f131dd1e000 with size 4096 with priority 2, cooperative: 0\n");
	assert_int_equal(entry.kind, AMDLOG_CREATED);
	assert_int_equal(entry.ts, 13991837000);
	assert_int_equal(entry.pid, 176);
	assert_int_equal(entry.tid, 0x7f131ffe8880);
	assert_int_equal(entry.v[LOG_HWQ], 0x7f131dd1e000);
	assert_int_equal(entry.v[LOG_SIZE], 4096);
	assert_int_equal(entry.v[LOG_PRIO], 2);
}

static void created_by_hip_6(void **state)
{
	(void)state;
	one(":3:rocdevice.cpp            :3104: 3326522300 us: [pid:2539  tid:0x7fffd49786c0] Created SWq=0x7fffe01ac000 to map on HWq=0x7fffd1400000 with size 16384 with priority 1, cooperative: 0\n");
	assert_int_equal(entry.kind, AMDLOG_CREATED);
	assert_int_equal(entry.pid, 2539);
	assert_int_equal(entry.v[LOG_SWQ], 0x7fffe01ac000);
	assert_int_equal(entry.v[LOG_HWQ], 0x7fffd1400000);
	assert_int_equal(entry.v[LOG_SIZE], 16384);
}

static void time_with_a_d(void **state)
{
	(void)state;
	one(":3:rocdevice.cpp            :3232: 1917470247195d us:  acquireQueue refCount: 0x7fd9c2800000 (1)\n");
	assert_int_equal(entry.ts, 1917470247195000);
	assert_int_equal(entry.pid, -1);
	assert_int_equal(entry.v[LOG_HWQ], 0x7fd9c2800000);
}

static void pid_of_seven_digits(void **state)
{
	(void)state;
	one(":3:rocdevice.cpp            :2963: 221750545610 us: 1255284: [tid:0x7fc9d2dfe640] acquireQueue refCount: 0x7fcc33b08000 (1)\n");
	assert_int_equal(entry.pid, 1255284);
}

static void dispatches(void **state)
{
	(void)state;
	one(":4:rocvirtual.cpp           :1066: 175037159217 us: [pid:157801 tid: 0x7fad6a5ff640] SWq=0x7fae0c3e6000, HWq=0x7fad66c00000, id=1, Dispatch Header = 0xb02 (type=2)\n");
	assert_int_equal(entry.kind, AMDLOG_DISPATCH);
	assert_int_equal(entry.v[LOG_SWQ], 0x7fae0c3e6000);
	assert_int_equal(entry.v[LOG_HWQ], 0x7fad66c00000);
	assert_int_equal(entry.v[LOG_ID], 1);
	one(":4:rocvirtual.cpp           :1066: 175037159217 us: [pid:157801 tid: 0x7fad6a5ff640] text before SWq=0x1000, HWq=0x2000, id=17, Other Header\n");
	assert_int_equal(entry.kind, AMDLOG_PACKET);
	assert_int_equal(entry.v[LOG_ID], 17);
	one(":4:rocvirtual.cpp           :827 : 0877959393 us: 184  : [tid:0x7ffff6a26880] HWq=0x7ffff60ca000, Dispatch Header = 0xb02 (type=2, barrier=1)\n");
	assert_int_equal(entry.kind, AMDLOG_DISPATCH);
	assert_int_equal(entry.v[LOG_HWQ], 0x7ffff60ca000);
	one(":4:rocvirtual.cpp           :969 : 0877959550 us: 184  : [tid:0x7ffff6a26880] HWq=0x7ffff60ca000, BarrierAND Header = 0x1503\n");
	assert_int_equal(entry.kind, AMDLOG_BARRIER);
}

/* the words between the queue and the packet differ from release to release */
static void dispatches_of_2026(void **state)
{
	(void)state;
	one(":4:rocvirtual.cpp           :1066: 41 us: [pid:7 tid: 0x0a1b2] SWq=0x100, HWq=0x200, id=3, priority=1, Dispatch Header = 0xb02\n");
	assert_int_equal(entry.kind, AMDLOG_DISPATCH);
	assert_int_equal(entry.v[LOG_HWQ], 0x200);
	assert_int_equal(entry.tid, 0xa1b2);
	one(":4:rocvirtual.cpp           :1066: 41 us: [pid:7 tid: 0x0a1b2] SWq=0x100, HWq=0x200, id=3, priority=1, virtual_pipe_id=3, Barrier-OR Header\n");
	assert_int_equal(entry.kind, AMDLOG_BARRIER);
	one(":4:rocvirtual.cpp           :1066: 41 us: [pid:7 tid: 0x0a1b2] HWq=0x200, xcc_mask=0xf,BarrierValue Header\n");
	assert_int_equal(entry.kind, AMDLOG_BARRIER);
	/* not a pair: the packet is counted as one of no known kind, and kept for a message */
	one(":4:rocvirtual.cpp           :1066: 41 us: [pid:7 tid: 0x0a1b2] HWq=0x200, on pipe 3, Dispatch Header\n");
	assert_int_equal(entry.kind, AMDLOG_PACKET);
	assert_string_equal(amdlog.first_packet, "HWq=0x200, on pipe 3, Dispatch Header");
	assert_int_equal(amdlog.dispatches, 0);
}

static void threads(void **state)
{
	(void)state;
	one(":3:a.cpp:1: 5 us: [pid:9 tid: 7fffe0001230] HWq=0x20, Dispatch Header\n");
	assert_int_equal(entry.tid, 0x7fffe0001230);
	assert_int_equal(entry.pid, 9);
	one(":3:a.cpp:1: 5 us: [pid:9 tid: 0x  abc] HWq=0x20, Dispatch Header\n");
	assert_int_equal(entry.tid, 0xabc);
	/* a bracket that is none: no line of ROCm */
	none(":3:a.cpp:1: 5 us: [pid:9 HWq=0x20, Dispatch Header\n");
	assert_int_equal(amdlog.headed, 0);
}

/* programs that collect logs put a prefix before each line */
static void prefixes(void **state)
{
	static const char *const before[] = {
		"(EngineCore pid=7) ", "web-1  | ", "3: ", "[1,3]<stderr>:", "Feb 30 12:34:56 host prog[7]: ",
		"amd.log:12:", "{\"log\":\"", "\r 3%|# ", "::::", ":5:x ", "12:34:56.789 : 5 : ",
		"\033[1;36m(worker)\033[0;0m ", "\033]0;a title\a", "\033]8;;http://x\033\\", "\033c",
	};
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(before) / sizeof(*before); i++) {
		snprintf(text, sizeof(text), "%s:4:a.cpp  :12 : 000005 us: [pid:7 tid: 0x9] HWq=0x20, \033[1mDispatch\033[m Header\n",
			 before[i]);
		one(text);
		assert_int_equal(entry.kind, AMDLOG_DISPATCH);
		assert_int_equal(entry.pid, 7);
		assert_int_equal(entry.ts, 5000);
	}
	/* the message of a broken line, after as long a prefix */
	one("0: :3:a.cpp:1: 5 us: [pid:7 tid: 0x9]\n0: acquireQueue refCount: 0x20 (1)\n");
	assert_int_equal(entry.v[LOG_HWQ], 0x20);
	/* a prefix that is longer than the next line */
	none("0123456789: :3:a.cpp:1: 5 us: [pid:7 tid: 0x9]\n0: x\n");
}

static void escapes_are_removed(void **state)
{
	static const struct {
		const char *with, *without;
	} lines[] = {
		{ "a\033[01;31m\033[Kb\033[m\033[Kc", "abc" }, { "\033", "" },	   { "a\033[", "a" },
		{ "a\033[12;", "a" },				   { "a\033]0;x", "a" }, { "a\033]0;x\033", "a" },
		{ "a\033]0;x\033[1mb", "ab" },			   { "\033(Bb", "Bb" }, { "\033[?25lb", "b" },
	};
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		strcpy(text, lines[i].with);
		amdlog_plain(text);
		assert_string_equal(text, lines[i].without);
	}
}

static void files_of_processes(void **state)
{
	static const char first[] = "hello\n:3:a.cpp:1: 5 us: HWq=0x20, Dispatch Header\n:3:a.cpp:1: 6 us: \n";
	static const char second[] = " acquireQueue refCount: 0x40 (1)\n:3:a.cpp:1: 7 us: [pid:9 tid: 0x1] HWq=0x30, Dispatch Header\n";
	FILE *file;

	(void)state;
	amdlog_init(&amdlog);
	file = fmemopen((void *)first, sizeof(first) - 1, "r");
	amdlog_file(&amdlog, file, 8);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.pid, 8);
	assert_int_equal(amdlog_next(&amdlog, &entry), 0);
	assert_string_equal(amdlog.first_line, "hello");
	fclose(file);
	/* what is pending of a file does not meet the next one */
	file = fmemopen((void *)second, sizeof(second) - 1, "r");
	amdlog_file(&amdlog, file, 8);
	assert_string_equal(amdlog.first_line, "");
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.pid, 9);
	assert_int_equal(entry.kind, AMDLOG_DISPATCH);
	assert_int_equal(amdlog.files, 2);
	assert_int_equal(amdlog.lines, 5);
	assert_int_equal(amdlog.dispatches, 2);
	fclose(file);
}

static void commands(void **state)
{
	(void)state;
	one(":4:command.cpp              :349 : 175037159113 us: [pid:157801 tid: 0x7fae0] Command (KernelExecution) enqueued: 0x55d0a0 to queue: 0x55d0b0\n");
	assert_int_equal(entry.kind, AMDLOG_COMMAND);
	assert_int_equal(entry.v[LOG_COMMAND], 0x55d0a0);
	assert_int_equal(entry.v[LOG_QUEUE], 0x55d0b0);
	one(":4:command.cpp              :339 : 0877959287 us: 184  : [tid:0x7ffff6a26880] command is enqueued: 0x5555558b1530\n");
	assert_int_equal(entry.kind, AMDLOG_COMMAND);
	assert_false(entry.has & 1 << LOG_QUEUE);
}

static void broken_after_the_bracket(void **state)
{
	(void)state;
	one(":3:rocdevice.cpp            :3045: 175037104827 us: [pid:157801 tid: 0x7fad]\n"
	    " acquireQueue refCount: 0x7fad66c00000 (1)\n");
	assert_int_equal(entry.kind, AMDLOG_ACQUIRED);
	assert_int_equal(entry.pid, 157801);
	/* a line of the program between */
	one(":3:rocdevice.cpp            :3045: 175037104827 us: [pid:1 tid: 0x7fad]\nhello\n"
	    " acquireQueue refCount: 0x7fad66c00000 (1)\n");
	assert_int_equal(entry.pid, 1);
	/* which header the message belongs to is not known */
	none(":3:a.cpp:1: 5 us: [pid:1 tid: 0x1]\n:3:a.cpp:1: 5 us: [pid:2 tid: 0x1]\n acquireQueue refCount: 0x20 (1)\n");
	assert_int_equal(amdlog.orphans, 1);
	/* one thread writes one after the other */
	one(":3:a.cpp:1: 5 us: [pid:1 tid: 0x1]\n:3:a.cpp:1: 6 us: [pid:1 tid: 0x1]\n acquireQueue refCount: 0x20 (1)\n");
	assert_int_equal(entry.ts, 6000);
	none(" HWq=0x20, Dispatch Header\n");
	assert_int_equal(amdlog.orphans, 1);
	assert_string_equal(amdlog.first_orphan, " HWq=0x20, Dispatch Header");
}

/* the header of a rank, a container or a process has the message of the same one */
static void broken_and_interleaved(void **state)
{
	static const char *const before[][2] = {
		{ "0: ", "1: " },
		{ "[1,0]<stderr>:", "[1,1]<stderr>:" },
		{ "[pod/a/x] 2026-11-03T08:15:30.1Z ", "[pod/b/x] 2026-11-03T08:15:30.123456789Z " },
		{ "{\"_PID\":\"7\",\"MESSAGE\":\"", "{\"_PID\":\"8\",\"MESSAGE\":\"" },
	};
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(before) / sizeof(*before); i++) {
		const char *a = before[i][0], *b = before[i][1];

		snprintf(text, sizeof(text),
			 "%s:3:a.cpp:1: 5 us: [pid:7 tid: 0x9]\n%s:3:a.cpp:1: 6 us: [pid:8 tid: 0x9]\n%s HWq=0x20, Dispatch Header\n%s HWq=0x30, Dispatch Header\n",
			 a, b, a, b);
		open_text(text, strlen(text));
		assert_int_equal(amdlog_next(&amdlog, &entry), 1);
		assert_int_equal(entry.v[LOG_HWQ], 0x20);
		assert_int_equal(entry.pid, 7);
		assert_int_equal(entry.ts, 5000);
		assert_int_equal(amdlog_next(&amdlog, &entry), 1);
		assert_int_equal(entry.v[LOG_HWQ], 0x30);
		assert_int_equal(entry.pid, 8);
		assert_int_equal(amdlog_next(&amdlog, &entry), 0);
		fclose(amdlog.file);
	}
	/* times and line numbers differ in the prefixes of one writer */
	one("08:15:30.1 node: :3:a.cpp:1: 5 us: [pid:7 tid: 0x9]\n08:15:31 node:  HWq=0x20, Dispatch Header\n");
	one("rocm.log:9::3:a.cpp:1: 5 us: [pid:7 tid: 0x9]\nrocm.log:10: HWq=0x20, Dispatch Header\n");
	none("0: :3:a.cpp:1: 5 us: [pid:7 tid: 0x9]\n1:  HWq=0x20, Dispatch Header\n");
	assert_int_equal(amdlog.orphans, 1);
}

/* two threads write at once */
static void two_headers_in_a_line(void **state)
{
	static const char text[] =
		":3:a.cpp:1: 5 us: [pid:7 tid: 0x9] 0: :3:a.cpp:1: 6 us: [pid:8 tid: 0x9] HWq=0x20, Dispatch Header\n"
		":3:a.cpp:1: 7 us: [pid:7 tid: 0x9] HWq=0x30, Barrier Header :3:a.cpp:1: 8 us: [pid:8 tid: 0x9] HWq=0x40, Dispatch Header\n";

	(void)state;
	open_text(text, sizeof(text) - 1);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.pid, 8);
	assert_int_equal(entry.ts, 6000);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.v[LOG_HWQ], 0x30);
	assert_int_equal(entry.pid, 7);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.v[LOG_HWQ], 0x40);
	assert_int_equal(entry.ts, 8000);
	assert_int_equal(amdlog_next(&amdlog, &entry), 0);
	assert_int_equal(amdlog.headed, 2);
	assert_int_equal(amdlog.headers, 4);
	fclose(amdlog.file);
}

static void colours(void **state)
{
	(void)state;
	one(":3:rocdevice.cpp            :3045: 5 us: [pid:1 tid: 0x1] \033[32macquireQueue refCount: 0x10 (2)\033[0m\n");
	assert_int_equal(entry.v[LOG_REFS], 2);
}

static void unknown_is_counted(void **state)
{
	static const char text[] = "hello\n"
				   ":3:hip_module.cpp           :502 : 0877959426 us: 184  : [tid:0x7ff] hipLaunchKernel: Returned\n"
				   ":3:rocdevice.cpp            :3045: 5 us: [pid:1 tid: 0x1] acquireQueue refCount: 0x10 (2)\r\n"
				   ":9\n::::\n:3:a:1: 99999999999999999999999 us: x\n:3:a:1: 7 us: [pid:1\n"
				   ":3:rocdevice.cpp:1: 6 us: acquireQueue refCount: (nil) (2)";

	(void)state;
	open_text(text, sizeof(text) - 1);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.v[LOG_HWQ], 0x10);
	assert_int_equal(amdlog_next(&amdlog, &entry), 0);
	assert_int_equal(amdlog.lines, 8);
	assert_int_equal(amdlog.headed, 3);
	assert_int_equal(amdlog.known, 1);
	assert_int_equal(amdlog.first, 5000);
	assert_int_equal(amdlog.last, 877959426000);
	fclose(amdlog.file);
}

static void long_line(void **state)
{
	static char text[3 * AMDLOG_LINE];
	static const char head[] = ":3:a.cpp:1: 5 us: [pid:1 tid: 0x1] HWq=0x20, Dispatch ";
	static const char tail[] = "\n:3:a.cpp:1: 6 us: [pid:1 tid: 0x1] HWq=0x30, Barrier\n";

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, head, sizeof(head) - 1);
	memcpy(text + sizeof(text) - sizeof(tail), tail, sizeof(tail));
	open_text(text, sizeof(text) - 1);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.v[LOG_HWQ], 0x20);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.v[LOG_HWQ], 0x30);
	assert_int_equal(amdlog_next(&amdlog, &entry), 0);
	assert_int_equal(amdlog.cut, 1);
	fclose(amdlog.file);
}

/* Lines cut by a terminal of any width name no queue that does not exist, and each message is whole or counted as shortened. */
static void shortened(void **state)
{
	static const char *const lines[] = {
		":4:r.cpp:1: 5 us: [pid:7 tid: 0x1] SWq=0x1000, HWq=0x2000, id=1, priority=1, Dispatch Header = 0xb02",
		":4:r.cpp:1: 5 us: [pid:7 tid: 0x1] HWq=0x2000, Barrier Header = 0xb02",
		":3:r.cpp:1: 5 us: [pid:7 tid: 0x1] Created SWq=0x1000 to map on HWq=0x2000 with size 4 with priority 1",
		":3:r.cpp:1: 5 us: [pid:7 tid: 0x1] created hardware queue 0x2000 with size 4 with priority 2, cooperative: 0",
		":3:r.cpp:1: 5 us: [pid:7 tid: 0x1] acquireQueue refCount: 0x2000 (1)",
	};
	char text[256];
	size_t i, at;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		for (at = strchr(lines[i], ']') - lines[i] + 6; lines[i][at]; at++) {
			snprintf(text, sizeof(text), "%.*s\n", (int)at, lines[i]);
			open_text(text, strlen(text));
			if (amdlog_next(&amdlog, &entry)) {
				assert_int_equal(entry.v[LOG_HWQ], 0x2000);
				assert_int_not_equal(entry.kind, AMDLOG_PACKET);
				assert_int_equal(amdlog.shortened, 0);
			} else {
				assert_int_equal(amdlog.shortened, 1);
				assert_non_null(strstr(text, amdlog.first_shortened));
			}
			fclose(amdlog.file);
		}
}

/* A thread that writes a whole line has no message to come. */
static void header_without_message(void **state)
{
	(void)state;
	none(":3:a.cpp:1: 5 us: [pid:9 tid: 0x1]\n:3:a.cpp:1: 6 us: [pid:9 tid: 0x1] init\nHWq=0x20, Dispatch Header\n");
	assert_int_equal(amdlog.orphans, 1);
	one(":3:a.cpp:1: 5 us: [pid:9 tid: 0x1]\n:3:a.cpp:1: 6 us: [pid:9 tid: 0x2] init\nHWq=0x20, Dispatch Header\n");
	assert_int_equal(entry.ts, 5000);
}

/* Records with several messages, and with that of ROCm in another member */
static void json_of_others(void **state)
{
	(void)state;
	one("{\"msg\": \"level=error\", \"body\": \":3:a.cpp:1: 5 us: [pid:9 tid: 0x1] HWq=0x20, Dispatch Header\"}\n");
	open_text("[{\"message\": \":3:a.cpp:1: 5 us: [pid:9 tid: 0x1] HWq=0x20, Dispatch Header\"}, {\"message\": \":3:a.cpp:1: 6 us: [pid:9 tid: 0x1] HWq=0x30, Dispatch Header\"}]\n", 155);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(amdlog_next(&amdlog, &entry), 1);
	assert_int_equal(entry.v[LOG_HWQ], 0x30);
	fclose(amdlog.file);
}

int run_amdlog(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acquire_of_hip_6),   cmocka_unit_test(created_by_hip_5),
		cmocka_unit_test(created_by_hip_6),   cmocka_unit_test(time_with_a_d),
		cmocka_unit_test(pid_of_seven_digits), cmocka_unit_test(dispatches),
		cmocka_unit_test(commands),	      cmocka_unit_test(broken_after_the_bracket),
		cmocka_unit_test(colours),	      cmocka_unit_test(unknown_is_counted),
		cmocka_unit_test(long_line),	      cmocka_unit_test(dispatches_of_2026),
		cmocka_unit_test(threads),	      cmocka_unit_test(prefixes),
		cmocka_unit_test(escapes_are_removed), cmocka_unit_test(files_of_processes),
		cmocka_unit_test(broken_and_interleaved), cmocka_unit_test(two_headers_in_a_line),
		cmocka_unit_test(shortened),	      cmocka_unit_test(header_without_message),
		cmocka_unit_test(json_of_others),
	};

	return cmocka_run_group_tests_name("amdlog", tests, NULL, NULL);
}
