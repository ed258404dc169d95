// SPDX-License-Identifier: GPL-2.0
/* Short stories for the model, one event after the other. */
#include "fixture.h"
#include "story.h"

struct model model;
uint64_t now;

void tell(enum kfd_event_type type, const int64_t (*fields)[2])
{
	struct kfd_event event = { .ts = now, .type = type };

	event.v[F_GPU_ID] = GPU;
	for (; (*fields)[0] >= 0; fields++)
		event.v[(*fields)[0]] = (*fields)[1];
	assert_int_equal(model_event(&model, &event), 0);
}

void create(int pid, unsigned int queue, int prio)
{
	TELL(EV_CREATE_QUEUE, { F_PID, pid }, { F_QUEUE_ID, queue }, { F_PRIO, prio },
	     { F_RING_BASE, 0x1000 });
}

void map(int pid, unsigned int queue, int prio)
{
	TELL(EV_MAP_QUEUE, { F_PID, pid }, { F_QUEUE_ID, queue }, { F_PRIO, prio });
}

void destroy(int pid, unsigned int queue, int reason, int ret)
{
	TELL(EV_DESTROY_QUEUE, { F_PID, pid }, { F_QUEUE_ID, queue }, { F_PRIO, 7 }, { F_REASON, reason },
	     { F_RET, ret });
}

void unmap_all(uint64_t took)
{
	TELL(EV_UNMAP_QUEUES, { F_PID, -1 }, { F_QUEUE_ID, 0xffffffff }, { F_FILTER, DYNAMIC });
	now += took;
	TELL(EV_UNMAP_QUEUES_DONE, { F_DUR_NS, took });
}

void unmap_one(int pid, unsigned int queue, uint64_t took)
{
	TELL(EV_UNMAP_QUEUES, { F_PID, pid }, { F_QUEUE_ID, queue }, { F_FILTER, MES });
	now += took;
	TELL(EV_UNMAP_QUEUES_DONE, { F_DUR_NS, took });
}

void begin(int seq, int queues)
{
	TELL(EV_PREEMPT_BEGIN, { F_PID, HIGH }, { F_PRIO, 12 }, { F_SEQ, seq }, { F_REASON, WORK },
	     { F_QUEUES, queues });
}

void end(int seq, int64_t dur)
{
	TELL(EV_PREEMPT_END, { F_PID, HIGH }, { F_PRIO, 12 }, { F_SEQ, seq }, { F_REASON, IDLE },
	     { F_DUR_NS, dur });
}

struct client *client_of(int pid)
{
	struct client *client;

	for (client = model.gpus->clients; client; client = client->next)
		if (client->process->pid == pid)
			return client;
	fail_msg("no process %d", pid);
	return NULL;
}

int story_setup(void **state)
{
	(void)state;
	now = 1000;
	return model_init(&model, 100);
}

int story_teardown(void **state)
{
	(void)state;
	model_free(&model);
	return 0;
}
