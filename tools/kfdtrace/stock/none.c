// SPDX-License-Identifier: GPL-2.0
/* --driver=stock of a kfdtrace that was built without BPF: it says so. */
#include "stock.h"

const char *stock_missing(void)
{
	return "this kfdtrace was built without clang, bpftool or libbpf, which --driver=stock needs: install clang, bpftool and libbpf-dev and build it again";
}

void stock_listen(void)
{
}

bool stock_ksyms(struct stock_symbol *symbols)
{
	(void)symbols;
	return false;
}

bool stock_has_multi(void)
{
	return false;
}

const struct stock_log *stock_heard(void)
{
	static const struct stock_log nothing;

	return &nothing;
}

int stock_btf(const char *file, struct stock_types *types, char *why)
{
	(void)file;
	*types = (struct stock_types){ .fd = -1 };
	snprintf(why, STOCK_WHY, "%s", stock_missing());
	return -1;
}

struct stock *stock_open(const char *btf, unsigned long ring_kb, const struct stock_sink *sink,
			 char *why)
{
	(void)btf;
	(void)ring_kb;
	(void)sink;
	snprintf(why, STOCK_WHY, "%s", stock_missing());
	return NULL;
}

const struct stock_symbol *stock_attached(const struct stock *stock)
{
	(void)stock;
	return NULL;
}

unsigned long stock_ring_kb(const struct stock *stock)
{
	(void)stock;
	return 0;
}

void stock_switch(struct stock *stock, bool on)
{
	(void)stock;
	(void)on;
}

int stock_fd(const struct stock *stock)
{
	(void)stock;
	return -1;
}

int stock_drain(struct stock *stock)
{
	(void)stock;
	return 0;
}

int stock_lost(struct stock *stock, uint64_t *lost, int nr_cpus)
{
	(void)stock;
	(void)lost;
	(void)nr_cpus;
	return 0;
}

bool stock_gone(struct stock *stock)
{
	(void)stock;
	return false;
}

void stock_warn(struct stock *stock)
{
	(void)stock;
}

void stock_close(struct stock *stock)
{
	(void)stock;
}
