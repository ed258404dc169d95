// SPDX-License-Identifier: GPL-2.0
/* The functions of amdkfd that --driver=stock probes, and where they are in this kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "stock.h"

#define MODULE "[amdgpu]"

const struct stock_probe stock_probes[NR_STOCK_PROBES] = {
	[STOCK_PROBE_CREATE] =
	{ { "create_queue_cpsch" }, STOCK_CREATE, true, true, false,
	  "creation of queues (kfd_create_queue, kfd_init_mqd)" },
	[STOCK_PROBE_MES_REMOVE] =
	{ { "remove_queue_mes_on_reset_option", "remove_queue_mes" }, STOCK_MES_REMOVE, true, true, false,
	  "queues that MES removes (kfd_unmap_queues, kfd_unmap_queues_done)" },
	{ { "destroy_queue_cpsch" }, STOCK_DESTROY, true, true, false,
	  "destruction of queues by their process (kfd_destroy_queue)" },
	{ { "pqm_uninit" }, STOCK_UNINIT, true, true, false,
	  "queues of processes that end (kfd_destroy_queue)" },
	{ { "kfd_procfs_del_queue" }, STOCK_DEL_QUEUE, true, false, false,
	  "queues of processes that end (kfd_destroy_queue)" },
	{ { "kfd_ioctl_create_queue" }, STOCK_IOCTL_CREATE, true, false, false,
	  "when a process asks for a queue (kfd_ioctl_create_queue)" },
	{ { "update_queue" }, STOCK_UPDATE, true, true, false, "changes of queues (kfd_update_queue)" },
	{ { "pm_send_runlist" }, STOCK_RUNLIST, true, true, false,
	  "runlists of HWS (kfd_map_queues, kfd_map_queue)" },
	{ { "pm_send_unmap_queue" }, STOCK_UNMAP, true, false, false, "unmaps of HWS (kfd_unmap_queues)" },
	{ { "amdkfd_fence_wait_timeout" }, STOCK_UNMAP, false, true, false,
	  "the end of unmaps of HWS (kfd_unmap_queues_done): they seem longer" },
	/* an unmap that was not sent is not waited for */
	{ { "unmap_queues_cpsch" }, STOCK_UNMAP, false, true, false,
	  "the end of unmaps of HWS that fail (kfd_unmap_queues_done)" },
	{ { "add_queue_mes" }, STOCK_MES_ADD, true, true, false, "queues that go to MES (kfd_map_queue)" },
	{ { "evict_process_queues_cpsch" }, STOCK_EVICT, true, true, false, "evictions (kfd_evict_process)" },
	{ { "restore_process_queues_cpsch" }, STOCK_RESTORE, true, true, false,
	  "the end of evictions (kfd_restore_process)" },
	{ { "kfd_hws_hang" }, STOCK_HANG, true, false, true, "hangs of the scheduler (kfd_hws_hang)" },
	{ { "create_queue_nocpsch" }, STOCK_CREATE, true, true, true, "creation of queues without HWS" },
	{ { "destroy_queue_nocpsch" }, STOCK_DESTROY, true, true, true, "destruction of queues without HWS" },
	{ { "evict_process_queues_nocpsch" }, STOCK_EVICT, true, true, true, "evictions without HWS" },
	{ { "restore_process_queues_nocpsch" }, STOCK_RESTORE, true, true, true,
	  "the end of evictions without HWS" },
};

/* Copies and clones that take the same arguments in the same registers; not .cold and .part */
static bool is_clone(const char *suffix)
{
	static const char *const kinds[] = { ".constprop.", ".isra." };
	size_t digits;
	int i;

	while (*suffix) {
		for (i = 0; i < 2; i++)
			if (!strncmp(suffix, kinds[i], strlen(kinds[i])))
				break;
		if (i == 2)
			return false;
		suffix += strlen(kinds[i]);
		digits = strspn(suffix, "0123456789");
		if (!digits)
			return false;
		suffix += digits;
	}
	return true;
}

/* How good a match the symbol is for a probe: 0 for none. */
static int rank_of(const struct stock_probe *probe, const char *symbol)
{
	size_t length, i;

	for (i = 0; i < 3 && probe->names[i]; i++) {
		length = strlen(probe->names[i]);
		if (!strncmp(symbol, probe->names[i], length) && is_clone(symbol + length))
			return 2 * (3 - i) + !symbol[length];
	}
	return 0;
}

/**
 * stock_symbols() - find the functions
 * @kallsyms: text of /proc/kallsyms
 * @symbols: NR_STOCK_PROBES of them; filled in
 *
 * Return: whether amdgpu is there.
 */
bool stock_symbols(FILE *kallsyms, struct stock_symbol *symbols)
{
	unsigned int others[NR_STOCK_PROBES] = { 0 };
	int best[NR_STOCK_PROBES] = { 0 }, rank, i;
	bool begins[256] = { false };
	bool there = false, ours;
	char line[512], *name;
	int n;

	memset(symbols, 0, NR_STOCK_PROBES * sizeof(*symbols));
	for (i = 0; i < NR_STOCK_PROBES; i++)
		for (n = 0; n < 3 && stock_probes[i].names[n]; n++)
			begins[(unsigned char)*stock_probes[i].names[n]] = true;
	/* "ADDRESS TYPE NAME[\t[MODULE]]", hundreds of thousands of them */
	while (fgets(line, sizeof(line), kallsyms)) {
		size_t length = strcspn(line, "\n");
		char *at = strchr(line, ' ');

		line[length] = '\0';
		ours = length > strlen(MODULE) && !strcmp(line + length - strlen(MODULE), MODULE);
		there |= ours;
		if (!at || (at[1] != 't' && at[1] != 'T') || at[2] != ' ' || !begins[(unsigned char)at[3]])
			continue;
		name = at + 3;
		name[strcspn(name, " \t")] = '\0';
		for (i = 0; i < NR_STOCK_PROBES; i++) {
			rank = rank_of(&stock_probes[i], name);
			if (!rank)
				continue;
			if (!ours) {
				/* of the kernel itself or of another module */
				others[i] += rank & 1;
			} else if (rank > best[i]) {
				best[i] = rank;
				snprintf(symbols[i].name, sizeof(symbols[i].name), "%s", name);
				symbols[i].address = strtoull(line, NULL, 16);
				symbols[i].same = 1;
			} else if (!strcmp(symbols[i].name, name)) {
				symbols[i].same++;
			}
		}
	}
	for (i = 0; i < NR_STOCK_PROBES; i++)
		if (best[i] & 1)
			symbols[i].same += others[i];
	return there;
}

/**
 * stock_symbols_read() - find the functions in this kernel
 * @symbols: NR_STOCK_PROBES of them; filled in
 * @why: on failure, what is wrong; STOCK_WHY bytes
 *
 * Return: 0, -ENOENT if amdgpu is not loaded, else -errno.
 */
int stock_symbols_read(struct stock_symbol *symbols, char *why)
{
	char missing[KFDLIB_WHY], path[KFDLIB_PATH];
	FILE *file;
	bool there;

	snprintf(path, sizeof(path), "%s/proc/kallsyms", kfd_system_root);
	file = fopen(path, "re");
	if (!file) {
		snprintf(why, STOCK_WHY, "cannot read /proc/kallsyms, which has the functions of the driver: %s",
			 strerror(errno));
		return -errno;
	}
	there = stock_symbols(file, symbols);
	fclose(file);
	if (there)
		return 0;
	if (kfd_dev_missing(missing))
		snprintf(why, STOCK_WHY, "%s", missing);
	else
		snprintf(why, STOCK_WHY, "/proc/kallsyms has no functions of a module amdgpu: see 'lsmod | grep amdgpu'");
	return -ENOENT;
}

/**
 * stock_found() - whether the driver has what a recording cannot do without
 * @symbols: of stock_symbols()
 *
 * Return: whether.
 */
bool stock_found(const struct stock_symbol *symbols)
{
	return *symbols[STOCK_PROBE_CREATE].name;
}
