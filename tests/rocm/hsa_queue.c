// SPDX-License-Identifier: GPL-2.0
/*
 * hsa_queue PRIORITY COUNT - with the unmodified ROCr of the distribution: create a
 * queue on the first GPU, give it a priority (low, normal or high: ROCr makes
 * 0, 7 and 11 of them), run COUNT barrier packets, each waiting for the one before,
 * and then one that waits for a signal that the host sets late.  Prints
 * "pid=PID ring=ADDRESS size=PACKETS done=COUNT" and exits 0 if all is as it must be.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

static void ok(hsa_status_t status, const char *what)
{
	const char *text = "?";

	if (status == HSA_STATUS_SUCCESS)
		return;
	hsa_status_string(status, &text);
	errx(1, "%s: %s", what, text);
}

static hsa_status_t first_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	ok(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent info");
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	*(hsa_agent_t *)data = agent;
	return HSA_STATUS_INFO_BREAK;
}

static void barrier(hsa_queue_t *queue, hsa_signal_t dep, hsa_signal_t completion)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	hsa_barrier_and_packet_t *packet =
		(hsa_barrier_and_packet_t *)queue->base_address + index % queue->size;
	uint16_t header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE |
			  1 << HSA_PACKET_HEADER_BARRIER;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		usleep(100);
	memset((char *)packet + sizeof(header), 0, sizeof(*packet) - sizeof(header));
	packet->dep_signal[0] = dep;
	packet->completion_signal = completion;
	__atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, index);
}

static void wait_zero(hsa_signal_t signal, const char *what)
{
	/* in ticks of the system clock; generous, the VM may be slow */
	uint64_t freq;

	ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &freq), "clock");
	if (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 60 * freq,
				      HSA_WAIT_STATE_BLOCKED))
		errx(1, "%s: not done after 60 s", what);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		hsa_amd_queue_priority_t prio;
	} prios[] = {
		{ "low", HSA_AMD_QUEUE_PRIORITY_LOW },
		{ "normal", HSA_AMD_QUEUE_PRIORITY_NORMAL },
		{ "high", HSA_AMD_QUEUE_PRIORITY_HIGH },
	};
	hsa_signal_t gate, *done, none = { 0 };
	hsa_agent_t gpu = { 0 };
	hsa_queue_t *queue;
	unsigned int p;
	int i, count;

	if (argc != 3)
		errx(2, "usage: hsa_queue low|normal|high COUNT");
	for (p = 0; p < 3 && strcmp(argv[1], prios[p].name); p++)
		;
	count = atoi(argv[2]);
	if (p == 3 || count < 1)
		errx(2, "bad priority '%s' or count '%s'", argv[1], argv[2]);

	ok(hsa_init(), "hsa_init");
	if (hsa_iterate_agents(first_gpu, &gpu) != HSA_STATUS_INFO_BREAK)
		errx(1, "ROCr sees no GPU");
	ok(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &queue), "hsa_queue_create");
	ok(hsa_amd_queue_set_priority(queue, prios[p].prio), "hsa_amd_queue_set_priority");

	done = calloc(count + 1, sizeof(*done));
	if (!done)
		err(1, "calloc");
	for (i = 0; i <= count; i++)
		ok(hsa_signal_create(1, 0, NULL, &done[i]), "hsa_signal_create");
	ok(hsa_signal_create(1, 0, NULL, &gate), "hsa_signal_create");

	for (i = 0; i < count; i++)
		barrier(queue, i ? done[i - 1] : none, done[i]);
	wait_zero(done[count - 1], "barrier packets");

	barrier(queue, gate, done[count]);
	usleep(50000);
	if (hsa_signal_load_scacquire(done[count]) != 1)
		errx(1, "a barrier did not wait for its signal");
	hsa_signal_store_screlease(gate, 0);
	wait_zero(done[count], "barrier packet with a late signal");

	printf("pid=%d ring=%#" PRIxPTR " size=%u done=%d\n", getpid(),
	       (uintptr_t)queue->base_address, queue->size, count + 1);
	ok(hsa_queue_destroy(queue), "hsa_queue_destroy");
	ok(hsa_shut_down(), "hsa_shut_down");
	return 0;
}
