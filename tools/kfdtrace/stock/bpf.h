/* SPDX-License-Identifier: GPL-2.0 */
/* What bpf.c and attach.c share. */
#ifndef KFDTRACE_STOCK_BPF_H
#define KFDTRACE_STOCK_BPF_H

#include <bpf/libbpf.h>
#include <sys/types.h>

#include "stock.h"
#include "stock.skel.h"

/**
 * struct stock - probes in work
 * @skeleton: of stock.bpf.c
 * @ring: its ring buffer
 * @ring_kb: size of it
 * @multi: the probes are @all, else @links
 * @all: of all entries, and of all returns
 * @links: of each probe: entry and return
 * @symbols: where the probes go
 * @sink: where events go
 * @module: inode of the driver in sysfs, which another load of it does not have
 * @warned: the user was told that the types are wrong
 */
struct stock {
	struct stock_bpf *skeleton;
	struct ring_buffer *ring;
	unsigned long ring_kb;
	bool multi;
	struct bpf_link *all[2];
	struct bpf_link *links[NR_STOCK_PROBES][2];
	struct stock_symbol symbols[NR_STOCK_PROBES];
	struct stock_sink sink;
	ino_t module;
	bool warned;
};

/* attach.c */
int stock_attach(struct stock *stock);
void stock_detach(struct stock *stock);
int stock_try(struct stock *stock, char *why);

#endif /* KFDTRACE_STOCK_BPF_H */
