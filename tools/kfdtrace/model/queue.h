/* SPDX-License-Identifier: GPL-2.0 */
/* How model.c changes the state of queues and of their processes. */
#ifndef KFDTRACE_MODEL_QUEUE_H
#define KFDTRACE_MODEL_QUEUE_H

#include "model.h"

/* ns; more than from the driver's look at the clock to the event, and than live takes an event for later than it was */
#define MODEL_SLACK_NS 10000000000ULL

/* Whether an event says that something lasted longer than since its begin: one of the two is damaged */
static inline bool is_too_long(const struct kfd_event *event, uint64_t begin)
{
	return (uint64_t)event->v[F_DUR_NS] > event->ts - begin + MODEL_SLACK_NS;
}

/* The place of a reason in arrays of the model: the last for one without a name, or that is not known */
static inline unsigned int throttle_slot(int64_t reason)
{
	return reason >= 0 && reason < NR_KFD_THROTTLES ? reason : NR_KFD_THROTTLES;
}

/* model.c */
void anomaly_add(struct model *model, enum anomaly_kind kind, uint64_t ts, uint32_t gpu_id, int32_t pid,
		 int64_t queue_id, int64_t value);
void over_end(struct gpu *gpu, uint64_t ts);

/* preempt.c */
void preempt_taken(struct gpu *gpu, uint64_t ts);
int preempt_begin(struct model *model, struct gpu *gpu, const struct kfd_event *event);
int preempt_end(struct model *model, struct gpu *gpu, const struct kfd_event *event);

/* throttle.c */
int throttle_event(struct model *model, const struct kfd_event *event);
int throttle_released_end(struct gpu *gpu, bool preempted, uint64_t ts);
void throttle_forget(struct client *client, uint64_t ts);
int client_throttled(struct client *client, uint64_t ts);

/* queue.c */
int queue_preempt(struct queue *queue, uint64_t ts);
int queue_off(struct queue *queue, uint64_t ts);
void queue_place(struct queue *queue, uint64_t ts);
void queue_anew(struct queue *queue, uint64_t ts);
void queue_on(struct queue *queue, uint64_t ts);
void queue_resume(struct queue *queue, uint64_t ts);
int gpu_preempted_before(struct gpu *gpu, const struct kfd_event *event);
void queue_settle(struct queue *queue, uint64_t ts);
void queue_evicted_tell(const struct queue *queue, uint64_t ts);
void queue_evicted_past(const struct queue *queue);
void queue_throttled_past(struct queue *queue);
void client_resume(struct client *client, uint64_t ts);
void client_preempted_not(struct client *client);
void client_throttle_end(struct client *client, uint64_t ts);
void client_park(struct client *client, bool preempted, uint64_t ts);
void client_unpark(struct client *client, uint64_t ts);
void client_evicted_end(struct client *client, uint64_t ts);

#endif /* KFDTRACE_MODEL_QUEUE_H */
