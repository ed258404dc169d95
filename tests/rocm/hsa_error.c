// SPDX-License-Identifier: GPL-2.0
/*
 * hsa_error - with the unmodified ROCr of the distribution: packets that the GPU does not know,
 * each on a queue of its own.  ROCr must call the queue's error callback with the status that it
 * has for it, and another queue must go on.  TAP.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include "tap.h"

static hsa_agent_t gpu;

static void ok(hsa_status_t status, const char *what)
{
	const char *text = "?";

	if (status == HSA_STATUS_SUCCESS)
		return;
	hsa_status_string(status, &text);
	tap_bail("%s: %s", what, text);
}

static hsa_status_t first_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	(void)data;
	ok(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent info");
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	gpu = agent;
	return HSA_STATUS_INFO_BREAK;
}

struct called {
	volatile int times;
	volatile hsa_status_t status;
	hsa_queue_t *volatile queue;
};

static void callback(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	struct called *called = data;

	called->status = status;
	called->queue = queue;
	__atomic_add_fetch(&called->times, 1, __ATOMIC_SEQ_CST);
}

static hsa_queue_t *queue_new(struct called *called)
{
	hsa_queue_t *queue;

	ok(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, callback, called, UINT32_MAX, UINT32_MAX,
			    &queue), "hsa_queue_create");
	return queue;
}

/* 64 bytes, of which the first 16 bits are written last */
static void submit(hsa_queue_t *queue, const void *packet)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	char *slot = (char *)queue->base_address + index % queue->size * 64;
	uint16_t header;

	memcpy(&header, packet, sizeof(header));
	memcpy(slot + 2, (const char *)packet + 2, 62);
	__atomic_store_n((uint16_t *)slot, header, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, index);
}

/* Is an empty barrier packet executed? */
static int works(hsa_queue_t *queue)
{
	hsa_barrier_and_packet_t packet = { .header = HSA_PACKET_TYPE_BARRIER_AND };
	hsa_signal_value_t left;
	uint64_t freq;

	ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &freq), "clock");
	ok(hsa_signal_create(1, 0, NULL, &packet.completion_signal), "hsa_signal_create");
	submit(queue, &packet);
	left = hsa_signal_wait_scacquire(packet.completion_signal, HSA_SIGNAL_CONDITION_LT, 1,
					 20 * freq, HSA_WAIT_STATE_BLOCKED);
	ok(hsa_signal_destroy(packet.completion_signal), "hsa_signal_destroy");
	return left == 0;
}

int main(void)
{
	static const struct {
		const char *what;
		hsa_status_t status;
		uint16_t packet[32];
	} bad[] = {
		{ "agent dispatch", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
		  { HSA_PACKET_TYPE_AGENT_DISPATCH } },
		{ "unknown packet", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, { 77 } },
		{ "unknown vendor packet", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
		  { HSA_PACKET_TYPE_VENDOR_SPECIFIC, 200 } },
		{ "dispatch without dimensions", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
		  { HSA_PACKET_TYPE_KERNEL_DISPATCH } },
		{ "work-group of 4096", HSA_STATUS_ERROR_INVALID_ARGUMENT,
		  { HSA_PACKET_TYPE_KERNEL_DISPATCH, 2, 64, 64, 1, 0, 64, 0, 64, 0, 1 } },
	};
	struct called called[5] = {}, none = {};
	hsa_queue_t *good, *queue;
	unsigned int i, ms;

	ok(hsa_init(), "hsa_init");
	if (hsa_iterate_agents(first_gpu, NULL) != HSA_STATUS_INFO_BREAK)
		tap_bail("ROCr sees no GPU");
	good = queue_new(&none);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		queue = queue_new(&called[i]);
		submit(queue, bad[i].packet);
		for (ms = 0; ms < 20000 && !called[i].times; ms += 10)
			usleep(10000);
		tap_ok(called[i].times == 1 && called[i].status == bad[i].status &&
		       called[i].queue == queue,
		       "ROCr: %s: the error callback is called with %#x (%d times, %#x)",
		       bad[i].what, bad[i].status, called[i].times, called[i].status);
		tap_ok(works(good), "ROCr: another queue goes on");
		ok(hsa_queue_destroy(queue), "hsa_queue_destroy");
	}
	tap_ok(!none.times, "ROCr: its callback is not called");
	ok(hsa_queue_destroy(good), "hsa_queue_destroy");
	ok(hsa_shut_down(), "hsa_shut_down");
	return tap_done();
}
