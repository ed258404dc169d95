/* SPDX-License-Identifier: GPL-2.0 */
/* libkfdclient: what its files share */
#ifndef KFDCLIENT_INT_H
#define KFDCLIENT_INT_H

#include "kfdclient.h"

#include <linux/kfd_ioctl.h>

#define SIGNAL_BO_SIZE	65536
#define EVENT_PAGE_SIZE	(8 * 4096)	/* KFD_SIGNAL_EVENT_LIMIT slots of 8 bytes */

/* amd_signal_t of the ROCr runtime */
struct amd_signal {
	int64_t kind;
	volatile int64_t value;
	uint64_t mailbox;
	uint32_t event_id;
	uint32_t reserved;
	uint64_t start_ts, end_ts;
	uint64_t queue;
	uint64_t reserved2;
};

struct kfdc_signal {
	struct kfdc *c;
	struct amd_signal *mem;
	unsigned int slot;
	uint32_t event_id;	/* 0: none, polled */
};

struct kfdc {
	int kfd, drm;
	uint32_t gpu_id;
	int node;		/* topology node */
	uint16_t wave_size;	/* work-items of a wave */
	char *props;		/* its properties file */
	struct kfdc_bo signals;
	bool events_mapped;	/* the process's event page, see kfdclient-peer.c */
	uint64_t used[SIGNAL_BO_SIZE / sizeof(struct amd_signal) / 64];
	void *doorbells;	/* the process's doorbell pages, mapped once */
	size_t doorbells_size;
};

int kfdc_fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int kfdc_ioctl(struct kfdc *c, unsigned long request, void *arg, const char *what);

int kfdc_cwsr_sizes(struct kfdc *c, uint64_t *ctl, uint64_t *area, uint64_t *total);
int kfdc_event_page(struct kfdc *c, void **va, uint64_t *handle);
volatile uint64_t *kfdc_doorbell(struct kfdc *c, uint64_t offset);

#define KFDC_IOCTL(c, request, arg)	kfdc_ioctl(c, request, arg, #request)

#endif
