// SPDX-License-Identifier: GPL-2.0
/* record --driver=stock, what needs no kernel: which functions are probed, formats, pages. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "kfdlib.h"
#include "record/write.h"
#include "stock/stock.h"
#include "read/trace.h"
#include "read/file.h"

/* of tools/lib, which needs a device */
const char *kfd_system_root = "";

bool kfd_dev_missing(char *why)
{
	(void)why;
	return false;
}

#define DATA "../../kfdtrace/data/parked/trace.dat"

static struct stock_symbol symbols[NR_STOCK_PROBES];

static bool find(const char *kallsyms)
{
	FILE *file = fmemopen((char *)kallsyms, strlen(kallsyms), "r");
	bool there;

	assert_non_null(file);
	there = stock_symbols(file, symbols);
	fclose(file);
	return there;
}

static const struct stock_symbol *symbol_of(const char *function)
{
	int i, n;

	for (i = 0; i < NR_STOCK_PROBES; i++)
		for (n = 0; n < 3 && stock_probes[i].names[n]; n++)
			if (!strcmp(stock_probes[i].names[n], function))
				return &symbols[i];
	fail_msg("no probe of %s", function);
	return NULL;
}

static void symbols_of_driver(void **state)
{
	(void)state;
	assert_true(find("ffffffff81000000 t update_queue\n"
			 "ffffffff81000100 T create_queue_cpsch\n"
			 "ffffffffc0000000 t create_queue_cpsch.cold\t[amdgpu]\n"
			 "ffffffffc0000010 t create_queue_cpsch\t[amdgpu]\n"
			 "ffffffffc0000020 t update_queue\t[amdgpu]\n"
			 "ffffffffc0000030 t remove_queue_mes.constprop.0.cold\t[amdgpu]\n"
			 "ffffffffc0000040 t remove_queue_mes.constprop.0\t[amdgpu]\n"
			 "ffffffffc0000050 t pqm_uninit.part.0\t[amdgpu]\n"
			 "ffffffffc0000060 d pm_send_runlist\t[amdgpu]\n"
			 "ffffffffc0000070 t pm_send_unmap_queue\t[other]\n"
			 "ffffffffc0000080 t evict_process_queues_cpsch.isra.0\t[amdgpu]\n"
			 "ffffffffc0000090 t evict_process_queues_cpsch\t[amdgpu]\n"));
	assert_string_equal(symbol_of("create_queue_cpsch")->name, "create_queue_cpsch");
	assert_int_equal(symbol_of("create_queue_cpsch")->address, 0xffffffffc0000010);
	assert_int_equal(symbol_of("create_queue_cpsch")->same, 2);
	assert_int_equal(symbol_of("update_queue")->address, 0xffffffffc0000020);
	assert_int_equal(symbol_of("update_queue")->same, 2);
	assert_string_equal(symbol_of("remove_queue_mes")->name, "remove_queue_mes.constprop.0");
	assert_int_equal(symbol_of("remove_queue_mes")->address, 0xffffffffc0000040);
	assert_int_equal(symbol_of("remove_queue_mes")->same, 1);
	assert_string_equal(symbol_of("evict_process_queues_cpsch")->name, "evict_process_queues_cpsch");
	/* a part of a function, data, a function of another module */
	assert_string_equal(symbol_of("pqm_uninit")->name, "");
	assert_string_equal(symbol_of("pm_send_runlist")->name, "");
	assert_string_equal(symbol_of("pm_send_unmap_queue")->name, "");
	assert_true(stock_found(symbols));
}

static void symbols_newer_name(void **state)
{
	(void)state;
	/* as 7.x: the one of the two that is not inlined into the other is the first */
	assert_true(find("0000000000000000 t remove_queue_mes\t[amdgpu]\n"
			 "0000000000000000 t remove_queue_mes_on_reset_option.isra.0\t[amdgpu]\n"
			 "0000000000000000 t remove_queue_mes_on_reset_option.isra.0.cold\t[amdgpu]\n"));
	assert_string_equal(symbol_of("remove_queue_mes")->name, "remove_queue_mes_on_reset_option.isra.0");
	assert_int_equal(symbol_of("remove_queue_mes")->address, 0);
	assert_false(stock_found(symbols));
}

static void symbols_no_driver(void **state)
{
	(void)state;
	assert_false(find("ffffffff81000000 t update_queue\nffffffffc0000000 t create_queue_cpsch\t[amdkfd]\n"));
	assert_false(find("garbage\n"));
}

/* The kfdprio driver's own formats are in a recording of it. */
static void formats_are_the_drivers(void **state)
{
	struct tep_format_field *ours, *theirs;
	struct tep_event *event, *want;
	struct trace_file *file;
	struct tep_handle *tep;
	char why[TRACE_WHY];
	unsigned int i;
	char *text;

	(void)state;
	file = trace_open(DATA, why);
	assert_non_null(file);
	assert_int_equal(stock_formats(), NR_STOCK_IDS - 1);
	for (i = 0; i < stock_formats(); i++) {
		tep = tep_alloc();
		text = stock_format(i);
		assert_non_null(text);
		assert_int_equal(tep_parse_event(tep, text, strlen(text), "kfd"), 0);
		event = tep_get_first_event(tep);
		assert_non_null(event);
		want = tep_find_event_by_name(file->tep, "kfd", event->name);
		if (!want)
			fail_msg("the driver has no event %s", event->name);
		theirs = want->format.fields;
		for (ours = event->format.fields; ours; ours = ours->next, theirs = theirs->next) {
			assert_non_null(theirs);
			assert_string_equal(ours->name, theirs->name);
			assert_int_equal(ours->offset, theirs->offset);
			assert_int_equal(ours->size, theirs->size);
			assert_int_equal(ours->flags & TEP_FIELD_IS_SIGNED, theirs->flags & TEP_FIELD_IS_SIGNED);
		}
		/* the driver may have more fields, at the end; these had none when this was written */
		assert_null(theirs);
		tep_free(tep);
		free(text);
	}
	trace_close(file);
}

static void record_put(int fd, uint64_t ts, int32_t pid, uint64_t lost)
{
	static const char zeros[8];
	struct {
		struct stock_record record;
		struct kfd_ioctl_create_queue event;
	} out = { { .ts = ts, .size = sizeof(out.event), .lost = lost },
		  { .common = { .type = STOCK_ID_kfd_ioctl_create_queue, .pid = pid + 1 }, .pid = pid } };
	size_t size = sizeof(out.record) + sizeof(out.event);

	assert_int_equal(write(fd, &out, size), size);
	assert_int_equal(write(fd, zeros, STOCK_ALIGN(size) - size), STOCK_ALIGN(size) - size);
}

static void create_put(int fd, uint64_t ts, uint32_t queue_id)
{
	struct {
		struct stock_record record;
		struct kfd_create_queue event;
	} out = { { .ts = ts, .size = sizeof(out.event) },
		  { .common = { .type = STOCK_ID_kfd_create_queue, .pid = 7 }, .gpu_id = 5, .pid = 6,
		    .queue_id = queue_id, .prio = 7, .req_prio = 7, .ring_size = 1ULL << 40 } };

	assert_int_equal(sizeof(out) % 8, 0);
	assert_int_equal(write(fd, &out, sizeof(out)), sizeof(out));
}

static struct trace_file *written(int *part, char *path, size_t size, int *fd)
{
	char *formats[] = { stock_format(0), stock_format(1) };
	struct trace_texts texts = { stock_header_page(4096), (char *)stock_header_event(), formats, 2 };
	char *systems[] = { "kfd", NULL }, *stats[] = { NULL };
	struct trace_parts parts = { .texts = &texts, .systems = systems, .clock = "mono", .cpu_fds = part,
				     .cpu_stats = stats, .nr_cpus = 1, .cmdlines = "7 seven\n",
				     .printk_formats = "" };
	static char why[TRACE_WHY];
	struct trace_file *file;

	*fd = memfd_create("trace.dat", MFD_CLOEXEC);
	snprintf(path, size, "/proc/self/fd/%d", *fd);
	assert_int_equal(trace_write(dup(*fd), &parts, why), 0);
	file = trace_open(path, why);
	if (!file)
		fail_msg("%s", why);
	free(texts.header_page);
	free(formats[0]);
	free(formats[1]);
	return file;
}

static void pages_in_order(void **state)
{
	int part = memfd_create("part", MFD_CLOEXEC), fd, i;
	char why[STOCK_WHY], path[64];
	struct trace_file *file;
	struct kfd_event event;
	uint64_t nr, ts = 0;

	(void)state;
	/* many pages, each second pair the wrong way round; then a day without events */
	for (i = 0; i < 1000; i++)
		record_put(part, 1000000 + (i ^ 1) * 10, (i ^ 1) + 1, 0);
	create_put(part, 86400000000000ULL, 3);
	create_put(part, 86400000000000ULL, 4);
	assert_int_equal(stock_pages(part, 4096, &nr, why), 0);
	assert_int_equal(nr, 1002);
	file = written(&part, path, sizeof(path), &fd);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(trace_next(file, &event, why), 1);
		assert_int_equal(event.type, EV_IOCTL_CREATE_QUEUE);
		assert_int_equal(event.v[F_PID], i + 1);
		assert_int_equal(event.task, i + 2);
		assert_int_equal(event.ts, 1000000 + i * 10);
		assert_true(event.ts > ts);
		ts = event.ts;
	}
	for (i = 3; i < 5; i++) {
		assert_int_equal(trace_next(file, &event, why), 1);
		assert_int_equal(event.type, EV_CREATE_QUEUE);
		assert_int_equal(event.ts, 86400000000000ULL);
		assert_int_equal(event.v[F_QUEUE_ID], i);
		assert_int_equal(event.v[F_RING_SIZE], 1ULL << 40);
		assert_int_equal(event.v[F_PRIO], 7);
	}
	assert_int_equal(trace_next(file, &event, why), 0);
	assert_int_equal(trace_loss(file)->gaps, 0);
	assert_int_equal(trace_loss(file)->damaged, 0);
	assert_string_equal(trace_comm(file, 7), "seven");
	trace_close(file);
	close(fd);
	close(part);
}

static void pages_with_gaps(void **state)
{
	int part = memfd_create("part", MFD_CLOEXEC), fd, i;
	char why[STOCK_WHY], path[64];
	const struct trace_gap *gaps;
	struct trace_file *file;
	struct kfd_event event;
	uint64_t nr;

	(void)state;
	for (i = 0; i < 6; i++)
		record_put(part, 1000 + i, i + 1, i < 2 ? 0 : i < 5 ? 4 : 9);
	assert_int_equal(stock_pages(part, 4096, &nr, why), 0);
	file = written(&part, path, sizeof(path), &fd);
	for (i = 0; i < 6; i++) {
		assert_int_equal(trace_next(file, &event, why), 1);
		assert_int_equal(event.v[F_PID], i + 1);
	}
	assert_int_equal(trace_next(file, &event, why), 0);
	assert_int_equal(trace_gaps(file, &gaps), 2);
	assert_int_equal(gaps[0].from, 1001);
	assert_int_equal(gaps[0].to, 1002);
	assert_int_equal(gaps[1].from, 1004);
	assert_int_equal(gaps[1].to, 1005);
	trace_close(file);
	close(fd);
	close(part);
}

static void pages_of_nothing(void **state)
{
	int part = memfd_create("part", MFD_CLOEXEC), fd;
	char why[STOCK_WHY], path[64];
	struct trace_file *file;
	struct kfd_event event;
	uint64_t nr;

	(void)state;
	assert_int_equal(stock_pages(part, 4096, &nr, why), 0);
	assert_int_equal(nr, 0);
	file = written(&part, path, sizeof(path), &fd);
	assert_int_equal(trace_next(file, &event, why), 0);
	trace_close(file);
	close(fd);
	close(part);
}

/* What the kernel says when it does not load the programs; the text is for a user who has the capabilities. */
static void refusals(void **state)
{
	static const struct stock_log old = { .first = "prog 'at_return': failed", .function = "bpf_loop" };
	static const struct stock_log locked = { .function = "bpf_probe_read" };
	static const struct stock_log other = { .function = "unknown", .member = "struct kfd_process.lead_thread" };
	static const struct stock_log seccomp = { .first = "bpf_create_map_xattr(ring)" }, nothing;
	char why[STOCK_WHY];

	(void)state;
	stock_refused(-22, &old, why);
	assert_non_null(strstr(why, "does not have bpf_loop of BPF: --driver=stock needs Linux 5.17 or later"));
	stock_refused(-22, &locked, why);
	assert_non_null(strstr(why, "lockdown is 'confidentiality'"));
	stock_refused(-22, &other, why);
	assert_non_null(strstr(why, "do not have 'struct kfd_process.lead_thread'"));
	stock_refused(-1, &seccomp, why);
	assert_non_null(strstr(why, "seccomp may forbid bpf(2)"));
	stock_refused(-12, &old, why);
	assert_non_null(strstr(why, "bpf_loop"));
	stock_refused(-12, &nothing, why);
	assert_string_equal(why, "cannot load the BPF programs: Cannot allocate memory (no message)");
	/* a message is one line: another one would be printed as \\x0a */
	stock_refused(-22, &(struct stock_log){ .no_jit = true }, why);
	assert_non_null(strstr(why, "net.core.bpf_jit_enable=1"));
	assert_null(strchr(why, '\n'));
	stock_refused(-22, &(struct stock_log){ .function = "bpf_probe_read#4" }, why);
	assert_non_null(strstr(why, "confidentiality"));
	assert_null(strchr(why, '\n'));
	stock_refused(-22, &(struct stock_log){ .member = "struct x.y" }, why);
	assert_null(strchr(why, '\n'));
	stock_refused(-1, &(struct stock_log){ 0 }, why);
	assert_null(strchr(why, '\n'));
}

int run_stock(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_of_driver),
		cmocka_unit_test(symbols_newer_name),
		cmocka_unit_test(symbols_no_driver),
		cmocka_unit_test(formats_are_the_drivers),
		cmocka_unit_test(pages_in_order),
		cmocka_unit_test(pages_with_gaps),
		cmocka_unit_test(pages_of_nothing),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests_name("stock", tests, NULL, NULL);
}
