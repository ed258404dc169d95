// SPDX-License-Identifier: GPL-2.0
/* The functions of the driver by an iterator of BPF, where the kernel has one. */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "bpf.h"
#include "ksyms.skel.h"

/**
 * stock_ksyms() - find the functions in this kernel
 * @symbols: NR_STOCK_PROBES of them; filled in, also with addresses that /proc/kallsyms shows to root alone
 *
 * Return: whether amdgpu was found; if not, look in /proc/kallsyms.
 */
bool stock_ksyms(struct stock_symbol *symbols)
{
	struct ksyms_bpf *skeleton = ksyms_bpf__open_and_load();
	struct bpf_link *link = NULL;
	FILE *file = NULL;
	bool there = false;
	int fd = -1;

	if (skeleton)
		link = bpf_program__attach_iter(skeleton->progs.amdgpu, NULL);
	if (link)
		fd = bpf_iter_create(bpf_link__fd(link));
	if (fd >= 0)
		file = fdopen(fd, "r");
	if (file) {
		there = stock_symbols(file, symbols);
		fclose(file);
	} else if (fd >= 0) {
		close(fd);
	}
	bpf_link__destroy(link);
	ksyms_bpf__destroy(skeleton);
	return there;
}
