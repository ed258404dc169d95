/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of --driver=stock: kfd events of a driver that has none, by kprobes and BPF. */
#ifndef KFDTRACE_STOCK_H
#define KFDTRACE_STOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "event.h"

#define STOCK_WHY    1024 /* bytes of a message that says why */
#define STOCK_SYMBOL 128  /* bytes of a name in /proc/kallsyms */

/**
 * struct stock_probe - a function of amdkfd that is probed
 * @names: its names, by driver; the first that is there is probed
 * @call: what it is, the cookie of its probes
 * @entry, @ret: whether its entry and its return are probed
 * @optional: drivers and GPUs that matter have no such function
 * @what: what a recording lacks without it
 */
struct stock_probe {
	const char *names[3];
	enum stock_call call;
	bool entry, ret, optional;
	const char *what;
};

/**
 * struct stock_symbol - where a probe goes
 * @name: symbol, which the compiler may have given a suffix; empty if there is none
 * @address: 0 if this process may not see it
 * @same: symbols of that name in the whole kernel
 * @why: after attaching: why the probe is not there; empty if it is
 */
struct stock_symbol {
	char name[STOCK_SYMBOL];
	uint64_t address;
	unsigned int same;
	char why[2 * STOCK_SYMBOL];
};

/* Those of stock_probes[] that are looked at alone. */
enum {
	STOCK_PROBE_CREATE,
	STOCK_PROBE_MES_REMOVE,
	NR_STOCK_PROBES = 19
};

extern const struct stock_probe stock_probes[NR_STOCK_PROBES];

/* symbols.c */
bool stock_symbols(FILE *kallsyms, struct stock_symbol *symbols);
int stock_symbols_read(struct stock_symbol *symbols, char *why);
bool stock_found(const struct stock_symbol *symbols);

/**
 * struct stock_log - what libbpf and the kernel said
 * @first: the first message, which is nearest to the cause
 * @function: a function of BPF that the kernel refused, or empty
 * @member: a member of a type that the driver does not have, or empty
 * @no_jit: a program needs what the kernel's interpreter of BPF does not have
 */
struct stock_log {
	char first[256];
	char function[64];
	char member[128];
	bool no_jit;
};

/* access.c */
int stock_access(char *why);
bool stock_silent(bool multi, char *why);
const char *stock_hidden(void);
void stock_refused(int ret, const struct stock_log *log, char *why);
const char *stock_missing(void);

/* format.c: texts as those of tracefs, to be freed with free(3); NULL: out of memory */
char *stock_header_page(size_t page_size);
const char *stock_header_event(void);
unsigned int stock_formats(void);
char *stock_format(unsigned int n);

/* pages.c */
int stock_pages(int fd, size_t page_size, uint64_t *nr, char *why);

/* btf.c, where the program has BPF */
/**
 * struct stock_types - the types of the driver
 * @fd: a file with them, or -1
 * @path: its path, for libbpf
 * @unmap_has_type: pm_send_unmap_queue() has the type of queues before the filter
 */
struct stock_types {
	int fd;
	char path[64];
	bool unmap_has_type;
};

bool stock_ksyms(struct stock_symbol *symbols);
bool stock_has_multi(void);
void stock_listen(void);
const struct stock_log *stock_heard(void);
int stock_btf(const char *file, struct stock_types *types, char *why);

struct stock;

/**
 * struct stock_sink - where events go
 * @put: a record and its event, @size bytes together; 0, or not 0 to leave the rest in the buffer
 * @context: of @put
 */
struct stock_sink {
	int (*put)(void *context, const struct stock_record *record, size_t size);
	void *context;
};

/* bpf.c, or none.c where the program was built without BPF */
struct stock *stock_open(const char *btf, unsigned long ring_kb, const struct stock_sink *sink,
			 char *why);
const struct stock_symbol *stock_attached(const struct stock *stock);
unsigned long stock_ring_kb(const struct stock *stock);
void stock_switch(struct stock *stock, bool on);
int stock_fd(const struct stock *stock);
int stock_drain(struct stock *stock);
int stock_lost(struct stock *stock, uint64_t *lost, int nr_cpus);
bool stock_gone(struct stock *stock);
void stock_warn(struct stock *stock);
void stock_close(struct stock *stock);

#endif /* KFDTRACE_STOCK_H */
