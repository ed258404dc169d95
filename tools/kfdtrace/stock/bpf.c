// SPDX-License-Identifier: GPL-2.0
/* Loads and attaches the BPF programs of --driver=stock, and reads their ring buffer. */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "bpf.h"

#define MODULE	     "/sys/module/amdgpu"
#define MAX_RING_KB  (1UL << 20) /* a ring buffer of BPF is below 2 GiB */
#define HALT_AWARE   "remove_queue_mes_on_reset_option"

static int on_event(void *context, void *data, size_t size)
{
	struct stock *stock = context;

	return stock->sink.put(stock->sink.context, data, size);
}

static ino_t module_inode(void)
{
	struct stat status;

	return stat(MODULE, &status) ? 0 : status.st_ino;
}

static unsigned long ring_size(unsigned long kb)
{
	unsigned long size = sysconf(_SC_PAGESIZE) / 1024;

	while (size < kb && size < MAX_RING_KB)
		size *= 2;
	return size;
}

static int load(struct stock *stock, const struct stock_types *types)
{
	struct bpf_object_open_opts options = { .sz = sizeof(options), .btf_custom_path = types->path };
	enum bpf_attach_type type = stock->multi ? BPF_TRACE_KPROBE_MULTI : 0;
	int ret;

	stock->skeleton = stock_bpf__open_opts(&options);
	if (!stock->skeleton)
		return -errno;
	stock->skeleton->rodata->mes_heeds_halt =
		!strncmp(stock->symbols[STOCK_PROBE_MES_REMOVE].name, HALT_AWARE, strlen(HALT_AWARE));
	stock->skeleton->rodata->wake_bytes = stock->ring_kb * 1024 / 4;
	stock->skeleton->rodata->unmap_has_type = types->unmap_has_type;
	bpf_program__set_expected_attach_type(stock->skeleton->progs.at_entry, type);
	bpf_program__set_expected_attach_type(stock->skeleton->progs.at_return, type);
	ret = bpf_map__set_max_entries(stock->skeleton->maps.ring, stock->ring_kb * 1024);
	return ret ? ret : stock_bpf__load(stock->skeleton);
}

static void unload(struct stock *stock)
{
	stock_detach(stock);
	stock_bpf__destroy(stock->skeleton);
	stock->skeleton = NULL;
}

/* All at once if the kernel can; a function that cannot be probed so may be one for a kprobe. */
static int load_and_attach(struct stock *stock, const char *btf, char *why)
{
	struct stock_types types;
	int ret;

	ret = stock_btf(btf, &types, why);
	if (ret)
		return ret;
	stock->multi = stock_has_multi();
	ret = load(stock, &types);
	if (!ret && stock_attach(stock)) {
		unload(stock);
		stock->multi = false;
		ret = load(stock, &types);
		if (!ret)
			stock_attach(stock);
	}
	close(types.fd);
	if (ret)
		stock_refused(ret, stock_heard(), why);
	return ret;
}

/**
 * stock_open() - probe the functions; nothing is recorded yet
 * @btf: of --btf, or NULL
 * @ring_kb: wanted size of the ring buffer
 * @sink: where events go
 * @why: on failure, what is wrong; STOCK_WHY bytes
 *
 * Probes go away with the process, however it ends.
 *
 * Return: the probes, or NULL.
 */
struct stock *stock_open(const char *btf, unsigned long ring_kb, const struct stock_sink *sink,
			 char *why)
{
	struct stock *stock = calloc(1, sizeof(*stock));
	int ret;

	if (!stock) {
		snprintf(why, STOCK_WHY, "out of memory");
		return NULL;
	}
	stock->sink = *sink;
	stock->module = module_inode();
	stock->ring_kb = ring_size(ring_kb);
	stock_listen();
	if (!stock_ksyms(stock->symbols) && stock_symbols_read(stock->symbols, why))
		goto err_close;
	/* what an older kernel said to the iterator is no reason for anything */
	stock_listen();
	if (stock_access(why) || load_and_attach(stock, btf, why))
		goto err_close;
	if (*stock->symbols[STOCK_PROBE_CREATE].why) {
		snprintf(why, STOCK_WHY, "cannot probe '%s': %s; run 'kfdtrace doctor'",
			 stock_probes[STOCK_PROBE_CREATE].names[0], stock->symbols[STOCK_PROBE_CREATE].why);
		goto err_close;
	}
	ret = stock_try(stock, why);
	if (ret == -EAGAIN)
		warnx("%s", why);
	else if (ret)
		goto err_close;
	stock->ring = ring_buffer__new(bpf_map__fd(stock->skeleton->maps.ring), on_event, stock, NULL);
	if (!stock->ring) {
		snprintf(why, STOCK_WHY, "cannot read the ring buffer: %s", strerror(errno));
		goto err_close;
	}
	return stock;

err_close:
	stock_close(stock);
	return NULL;
}

/**
 * stock_attached() - what became of the probes
 * @stock: of stock_open()
 *
 * Return: NR_STOCK_PROBES of them, owned by @stock.
 */
const struct stock_symbol *stock_attached(const struct stock *stock)
{
	return stock->symbols;
}

/**
 * stock_ring_kb() - the size of the ring buffer, of all CPUs together
 * @stock: of stock_open()
 *
 * Return: KiB.
 */
unsigned long stock_ring_kb(const struct stock *stock)
{
	return stock->ring_kb;
}

/**
 * stock_switch() - begin or end the recording
 * @stock: of stock_open()
 * @on: which
 */
void stock_switch(struct stock *stock, bool on)
{
	stock->skeleton->bss->on = on;
}

/**
 * stock_fd() - what poll(2) says to be readable when a part of the ring is full; fewer events have to be asked for
 * @stock: of stock_open()
 *
 * Return: the file descriptor, owned by @stock.
 */
int stock_fd(const struct stock *stock)
{
	return ring_buffer__epoll_fd(stock->ring);
}

/**
 * stock_drain() - give all events that there are to the sink
 * @stock: of stock_open()
 *
 * Return: 0 or -errno of the sink.
 */
int stock_drain(struct stock *stock)
{
	int ret = ring_buffer__consume(stock->ring);

	return ret < 0 ? ret : 0;
}

/**
 * stock_lost() - events for which there was no room
 * @stock: of stock_open()
 * @lost: filled in for each CPU
 * @nr_cpus: room of @lost
 *
 * Return: 0 or -errno.
 */
int stock_lost(struct stock *stock, uint64_t *lost, int nr_cpus)
{
	int possible = libbpf_num_possible_cpus(), i;
	uint64_t *values;
	uint32_t zero = 0;

	if (possible < 0)
		return possible;
	values = calloc(possible, sizeof(*values));
	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(stock->skeleton->maps.lost), &zero, values)) {
		free(values);
		return -errno;
	}
	for (i = 0; i < nr_cpus; i++)
		lost[i] = i < possible ? values[i] : 0;
	free(values);
	return 0;
}

/* Before the recording ends, which may be long. */
static void warn_types(struct stock *stock)
{
	if (stock->warned || !stock->skeleton->bss->mistyped)
		return;
	stock->warned = true;
	warnx("the types (BTF) are not those of the driver that is loaded: events are missing; give --btf with the BTF of that module");
}

/**
 * stock_gone() - whether the driver was unloaded, and the probes with it
 * @stock: of stock_open()
 *
 * Return: whether; also if it was loaded again.
 */
bool stock_gone(struct stock *stock)
{
	warn_types(stock);
	return module_inode() != stock->module;
}

/**
 * stock_warn() - print what the recording lacks but for events that were lost
 * @stock: of stock_open(), at the end
 */
void stock_warn(struct stock *stock)
{
	static const char *const names[NR_STOCK_CALLS] = {
		[STOCK_CREATE] = "create_queue", [STOCK_DESTROY] = "destroy_queue",
		[STOCK_UPDATE] = "update_queue", [STOCK_UNINIT] = "pqm_uninit",
		[STOCK_RUNLIST] = "pm_send_runlist", [STOCK_UNMAP] = "unmap_queues",
		[STOCK_MES_ADD] = "add_queue_mes", [STOCK_MES_REMOVE] = "remove_queue_mes",
		[STOCK_EVICT] = "evict_process_queues", [STOCK_RESTORE] = "restore_process_queues",
	};
	const struct stock_bpf__bss *counts = stock->skeleton->bss;
	int i;

	for (i = 0; i < NR_STOCK_CALLS; i++)
		if (counts->entered[i] > counts->returned[i])
			warnx("%" PRIu64 " calls of %s have not returned: they are in work, or were too many at once; their events are missing",
			      (uint64_t)(counts->entered[i] - counts->returned[i]), names[i]);
	if (counts->not_noted)
		warnx("%" PRIu64 " calls were too many at once: their events are missing",
		      (uint64_t)counts->not_noted);
	if (counts->not_walked)
		warnx("%" PRIu64 " runlists were too long: some of their queues (kfd_map_queue) are missing",
		      (uint64_t)counts->not_walked);
	warn_types(stock);
	if (counts->mistyped)
		warnx("the events of %" PRIu64 " calls are missing because of the types",
		      (uint64_t)counts->mistyped);
	if (counts->not_understood)
		warnx("%" PRIu64 " calls for MES had other arguments than expected: their events are missing; the compiler has changed the functions",
		      (uint64_t)counts->not_understood);
}

/**
 * stock_close() - take the probes away
 * @stock: of stock_open(), or NULL
 */
void stock_close(struct stock *stock)
{
	if (!stock)
		return;
	unload(stock);
	ring_buffer__free(stock->ring);
	free(stock);
}

/**
 * stock_missing() - what this program was built without
 *
 * Return: text, or NULL: nothing.
 */
const char *stock_missing(void)
{
	return NULL;
}
