// SPDX-License-Identifier: GPL-2.0
/*
 * The probes of --driver=stock: of all functions at once (kprobe multi, since 5.18 with CONFIG_FPROBE), else one kprobe for
 * each entry and return.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kfdlib.h"
#include "bpf.h"

#define PMU    "/sys/bus/event_source/devices/kprobe"
#define TRY_MS 300 /* for the end of a process */

static struct bpf_program *program_of(const struct stock *stock, bool at_return)
{
	return at_return ? stock->skeleton->progs.at_return : stock->skeleton->progs.at_entry;
}

static bool wanted(const struct stock *stock, int n, bool at_return)
{
	return !*stock->symbols[n].why && (at_return ? stock_probes[n].ret : stock_probes[n].entry);
}

/**
 * stock_has_multi() - can the kernel probe all functions at once?
 *
 * Return: whether.
 */
bool stock_has_multi(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_load_opts load = { .sz = sizeof(load), .expected_attach_type = BPF_TRACE_KPROBE_MULTI };
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", nothing, 2, &load), link;

	if (fd < 0)
		return false;
	/* of no function: not valid where there are such links */
	link = bpf_link_create(fd, -1, BPF_TRACE_KPROBE_MULTI, NULL);
	if (link >= 0)
		close(link);
	close(fd);
	return link == -EINVAL;
}

/* By their addresses where these are known: a name may be that of another function, too. */
static int attach_all(struct stock *stock, bool at_return)
{
	unsigned long addresses[NR_STOCK_PROBES];
	const char *names[NR_STOCK_PROBES];
	__u64 cookies[NR_STOCK_PROBES];
	struct bpf_kprobe_multi_opts options = { .sz = sizeof(options), .cookies = cookies, .retprobe = at_return };
	bool known = true;
	int i;

	for (i = 0; i < NR_STOCK_PROBES; i++) {
		if (!wanted(stock, i, at_return))
			continue;
		names[options.cnt] = stock->symbols[i].name;
		addresses[options.cnt] = stock->symbols[i].address;
		cookies[options.cnt++] = stock_probes[i].call;
		known &= stock->symbols[i].address != 0;
	}
	if (known)
		options.addrs = addresses;
	else
		options.syms = names;
	stock->all[at_return] =
		bpf_program__attach_kprobe_multi_opts(program_of(stock, at_return), NULL, &options);
	return stock->all[at_return] ? 0 : -errno;
}

/* The number in a file of the PMU, after a colon if there is one. */
static int number_of(const char *path)
{
	char line[64] = "", *at;
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	at = fgets(line, sizeof(line), file);
	fclose(file);
	if (!at)
		return -EINVAL;
	at = strchr(line, ':') ? strchr(line, ':') + 1 : line;
	return *at >= '0' && *at <= '9' ? (int)strtol(at, NULL, 10) : -EINVAL;
}

/* By its address where that is known: a name may be that of another function, too. */
static int probe_open(const struct stock_symbol *symbol, bool at_return)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int type = number_of(PMU "/type"), bit = number_of(PMU "/format/retprobe");
	int fd;

	if (type < 0 || bit < 0)
		return -EOPNOTSUPP;
	attr.type = type;
	attr.config = at_return ? 1ULL << bit : 0;
	if (symbol->address)
		attr.kprobe_addr = symbol->address;
	else
		attr.kprobe_func = (uintptr_t)symbol->name;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int attach_one(struct stock *stock, int n, bool at_return)
{
	struct bpf_perf_event_opts options = { .sz = sizeof(options), .bpf_cookie = stock_probes[n].call };
	struct bpf_link *link;
	int fd;

	if (!wanted(stock, n, at_return))
		return 0;
	fd = probe_open(&stock->symbols[n], at_return);
	if (fd < 0)
		return fd;
	link = bpf_program__attach_perf_event_opts(program_of(stock, at_return), fd, &options);
	if (!link) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	stock->links[n][at_return] = link;
	return 0;
}

/* The return first: a call whose return is not seen would stay noted. */
static void attach_both(struct stock *stock, int n)
{
	struct stock_symbol *symbol = &stock->symbols[n];
	int ret = attach_one(stock, n, true);

	if (!ret)
		ret = attach_one(stock, n, false);
	if (!ret)
		return;
	snprintf(symbol->why, sizeof(symbol->why), "%s", strerror(-ret));
	bpf_link__destroy(stock->links[n][true]);
	stock->links[n][true] = NULL;
}

/* What cannot be probed whatever the way. */
static void look(struct stock_symbol *symbol)
{
	if (!*symbol->name)
		snprintf(symbol->why, sizeof(symbol->why), "the driver has no such function");
	else if (!symbol->address && symbol->same > 1)
		snprintf(symbol->why, sizeof(symbol->why),
			 "%u functions have this name, %s", symbol->same, stock_hidden());
	else
		*symbol->why = '\0';
}

/* Each kprobe costs time at the end: none for GPUs that are not here. */
static bool all_have_scheduler(void)
{
	struct kfd_topology topo;
	bool all;
	size_t i;

	if (kfd_topology_read(&topo))
		return false;
	all = topo.nr;
	for (i = 0; i < topo.nr; i++)
		all &= kfd_scheduler(&topo.gpus[i], "", NULL) != KFD_SCHEDULER_NONE;
	kfd_topology_free(&topo);
	return all;
}

/**
 * stock_attach() - attach the programs to all functions
 * @stock: loaded; its symbols have the reason where there is no probe
 *
 * Return: 0, or -errno: not at once, so load the programs again for one by one.
 */
int stock_attach(struct stock *stock)
{
	bool scheduled;
	int i, ret;

	for (i = 0; i < NR_STOCK_PROBES; i++)
		look(&stock->symbols[i]);
	if (stock->multi) {
		ret = attach_all(stock, true);
		return ret ? ret : attach_all(stock, false);
	}
	scheduled = all_have_scheduler();
	for (i = 0; i < NR_STOCK_PROBES; i++) {
		struct stock_symbol *symbol = &stock->symbols[i];

		if (scheduled && strstr(stock_probes[i].names[0], "_nocpsch"))
			snprintf(symbol->why, sizeof(symbol->why), "all GPUs have a scheduler");
		if (!*symbol->why)
			attach_both(stock, i);
	}
	return 0;
}

/* A process of KFD, without a queue, that ends: the driver calls pqm_uninit(), and nothing is recorded of it. */
static bool process_end(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(open(KFDLIB_DEVICE, O_RDWR | O_CLOEXEC) < 0);
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/**
 * stock_try() - make a probe fire, to see whether probes do
 * @stock: attached; nothing is recorded yet
 * @why: if probes do not fire, the cause if it is known, else what that may mean; STOCK_WHY bytes
 *
 * Return: 0: they do, or that cannot be tried; -EIO: they do not; -EAGAIN: they may not, and no cause is known.
 */
int stock_try(struct stock *stock, char *why)
{
	bool tried = false, silent = stock_silent(stock->multi, why);
	int i, wait;

	for (i = 0; i < NR_STOCK_PROBES; i++)
		if (stock_probes[i].call == STOCK_UNINIT && !*stock->symbols[i].why)
			tried = process_end();
	/* some drivers let another thread end it */
	for (wait = 0; tried && !stock->skeleton->bss->fired && wait < TRY_MS; wait++)
		usleep(1000);
	if (stock->skeleton->bss->fired)
		return 0;
	if (silent)
		return -EIO;
	if (!tried)
		return 0;
	snprintf(why, STOCK_WHY,
		 "the probes are attached, and none has fired when a process of KFD ended: the recording may lack events. "
		 "See 'dmesg', and report it with the output of 'kfdtrace doctor'");
	return -EAGAIN;
}

/* The kernel waits for each probe until no CPU is in it: for all of them at once, where that is possible. */
static void *detach_both(void *links)
{
	struct bpf_link **both = links;

	bpf_link__destroy(both[false]);
	bpf_link__destroy(both[true]);
	both[false] = both[true] = NULL;
	return NULL;
}

/**
 * stock_detach() - take the probes away
 * @stock: attached, or not all of it
 */
void stock_detach(struct stock *stock)
{
	pthread_t threads[NR_STOCK_PROBES];
	int i, at_return;

	/* entries first */
	for (at_return = 0; at_return < 2; at_return++) {
		bpf_link__destroy(stock->all[at_return]);
		stock->all[at_return] = NULL;
	}
	for (i = 0; i < NR_STOCK_PROBES; i++)
		if (pthread_create(&threads[i], NULL, detach_both, stock->links[i])) {
			detach_both(stock->links[i]);
			threads[i] = 0;
		}
	for (i = 0; i < NR_STOCK_PROBES; i++)
		if (threads[i])
			pthread_join(threads[i], NULL);
}
