// SPDX-License-Identifier: GPL-2.0
/* What the rows of kfdtrace live need of files that open and read the sources, which are not tested here. */
#include <errno.h>

#include "live/live.h"
#include "record/write.h"
#include "stock/stock.h"

int live_events_read(struct live_events *events, struct model *of, uint64_t until)
{
	(void)events;
	(void)of;
	(void)until;
	return 0;
}

uint64_t live_events_lost(struct live_events *events)
{
	(void)events;
	return 0;
}

int live_list(struct live *of, char *why)
{
	(void)of;
	(void)why;
	return 0;
}

int live_oom(char *why)
{
	(void)why;
	return -ENOMEM;
}

int live_sync(struct live *of, uint64_t ts)
{
	(void)of;
	(void)ts;
	return 0;
}

bool pids_have(const struct pids *pids, pid_t pid)
{
	(void)pids;
	(void)pid;
	return true;
}

int record_cpus(struct recording *rec, char *why)
{
	(void)rec;
	(void)why;
	return -1;
}

struct trace_texts *record_texts(void)
{
	return NULL;
}

void record_texts_free(struct trace_texts *texts)
{
	(void)texts;
}

struct stock *stock_open(const char *btf, unsigned long ring_kb, const struct stock_sink *sink, char *why)
{
	(void)btf;
	(void)ring_kb;
	(void)sink;
	(void)why;
	return NULL;
}

int stock_fd(const struct stock *stock)
{
	(void)stock;
	return -1;
}

void stock_switch(struct stock *stock, bool on)
{
	(void)stock;
	(void)on;
}

bool stock_gone(struct stock *stock)
{
	(void)stock;
	return false;
}

int stock_drain(struct stock *stock)
{
	(void)stock;
	return 0;
}
