// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor --soak: the work of the process that is preempted.
 *
 * A shader where one runs; in any case SDMA copies and stores, PM4 stores and AQL barriers.
 * Whether a shader runs is found out: it is dispatched while nothing preempts it, and its result
 * looked at.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shader.h"
#include "work.h"

/* Slots of the shared page; actor.c has others */
enum { SIGNAL_COUNT = 8, SIGNAL_OPEN, SIGNAL_PROBE };
enum { WORD_PM4 = 16, WORD_SDMA };

/* Of half a round */
#define BARRIERS	4
#define STORES		32	/* PM4; and one more, to the same place each time */
#define COPIES		2	/* SDMA, of COPY_BYTES; not on GFX12 */
#define WORDS		8	/* SDMA */

/* Bytes of work.data */
#define COPY_AT(n)	(((n) + 1) * COPY_BYTES)	/* behind the source */
#define STORES_AT	COPY_AT(2 * COPIES)
#define DATA_BYTES	(STORES_AT + 4096)

/* Words from STORES_AT on */
#define LAST_AT		(2 * STORES)
#define WORDS_AT	(LAST_AT + 1)
#define NR_WORDS	(WORDS_AT + 2 * WORDS)

#define ARGUMENTS_AT	2048	/* bytes of work.code */
#define GROUPS_PER_CU	8	/* 32 waves of 64 */
#define DISPATCHES	8	/* in a round, where no code runs in them */
#define TARGET_NS	4000000ull /* how long the dispatches of a round are to take at least */
#define ROUNDS_FIRST	1000u
#define ROUNDS_MOST	(1u << 28)
#define GROUPS_MOST	(1u << 20)
#define NAP_NS		20000
#define MS		1000000ull

static bool copies(const struct work *w)
{
	return w->c->gfx < 120000;
}

static uint32_t mix(uint32_t round, uint32_t i)
{
	uint32_t x = (round + 1) * 0x9e3779b9u + i * 0x85ebca6bu;

	x ^= x >> 15;
	x *= 0x2c1b3c6du;
	return x ^ x >> 12;
}

static volatile uint32_t *word(const struct work *w, unsigned int n)
{
	return (volatile uint32_t *)((char *)w->data.va + STORES_AT) + n;
}

static int late(struct work *w, const char *what, unsigned int timeout_ms)
{
	snprintf(w->c->why, sizeof(w->c->why), "%s is not done after %u ms: it hangs", what,
		 timeout_ms);
	return -ETIME;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

static void dispatch(struct work *w, unsigned int completes)
{
	const char *code = w->code.va;

	gpu_aql_dispatch(w->c, w->aql, &(struct gpu_dispatch){
		.descriptor = code,
		.arguments = code + ARGUMENTS_AT,
		.groups = w->groups,
		.group_items = SHADER_GROUP,
		.lds_bytes = SHADER_LDS,
		.completes = completes,
	});
}

static void arguments(struct work *w, uint32_t seed)
{
	struct shader_arguments *a = (void *)((char *)w->code.va + ARGUMENTS_AT);

	*a = (struct shader_arguments){
		.results = (uintptr_t)w->results.va,
		.rounds = w->rounds,
		.seed = seed,
		.mask = w->results.size / 4 - 1,
	};
	memset(w->results.va, 0, w->results.size);
}

/* Number of the first result that is not right; as many as there are: none is */
static size_t results_wrong(const struct work *w, uint32_t seed)
{
	const struct shader_step step = shader_step(w->rounds);
	const uint32_t *result = w->results.va;
	size_t n = w->results.size / 4, i = 0;

	while (i < n && result[i] == shader_result(step, i, seed))
		i++;
	return i;
}

static bool results_none(const struct work *w)
{
	const uint32_t *result = w->results.va;
	size_t n = w->results.size / 4, i = 0;

	while (i < n && !result[i])
		i++;
	return i == n;
}

static int probe(struct work *w, unsigned int timeout_ms, uint64_t *ns)
{
	volatile int64_t *done = gpu_signal(w->c, SIGNAL_PROBE);
	uint64_t start, end;

	*done = 1;
	arguments(w, ROUNDS_FIRST);
	dispatch(w, SIGNAL_PROBE);
	gpu_queue_ring(w->aql, &start, NULL);
	end = start + timeout_ms * MS;
	while (*done > 0) {
		if (gpu_now() >= end)
			return late(w, "a dispatch that nothing preempts", timeout_ms);
		nap();
	}
	*ns = gpu_now() - start;
	return 0;
}

/*
 * Does a shader run?  If so, for how long.  The results fill a power of two, so that a grid of any
 * size stores nowhere else.
 */
static int shader_open(struct work *w, unsigned int timeout_ms, char *note, size_t size)
{
	const struct shader *s = shader_find(w->c->gfx);
	uint64_t simds = 0, per_cu = 0, cus, ns = 0;
	int ret;

	w->kind = WORK_PACKETS;
	if (!s) {
		const char *target = shader_target(w->c->gfx);

		snprintf(note, size, target ? "this program was built without it for %s" :
			 "there is none for this generation", target);
		return 0;
	}
	kfd_topology_prop(w->c->gpu, "simd_count", &simds);
	kfd_topology_prop(w->c->gpu, "simd_per_cu", &per_cu);
	cus = per_cu && simds > per_cu ? simds / per_cu : 1;
	for (w->groups = 4; w->groups < cus * GROUPS_PER_CU; w->groups *= 2)
		;
	ret = gpu_memory_alloc(w->c, 4096, false, &w->code);
	if (!ret)
		ret = gpu_memory_alloc(w->c, w->groups * SHADER_GROUP * 4ul, false, &w->results);
	if (ret)
		return ret;
	shader_load(s, w->code.va);
	w->dispatches = 1;
	for (w->rounds = ROUNDS_FIRST;; w->rounds *= 4) {
		ret = probe(w, timeout_ms, &ns);
		if (ret)
			return ret;
		if (results_wrong(w, ROUNDS_FIRST) < w->results.size / 4)
			break;
		w->kind = WORK_SHADER;
		if (ns >= TARGET_NS || w->rounds >= ROUNDS_MOST)
			return 0;
	}
	if (w->kind == WORK_SHADER) {
		snprintf(w->c->why, sizeof(w->c->why),
			 "a shader that nothing preempts has not the same result each time");
		return -EIO;
	}
	if (!results_none(w)) {
		snprintf(note, size,
			 "its result is not the expected one although nothing preempted it");
		return 0;
	}
	snprintf(note, size, "it was dispatched, and stored nothing");
	w->kind = WORK_WAVES;
	w->dispatches = DISPATCHES;
	while (w->groups < GROUPS_MOST && ns < TARGET_NS) {
		w->groups *= 2;
		ns *= 2;
	}
	return 0;
}

/**
 * work_open() - prepare the work, and find out whether a shader runs
 * @w: out; zeroed before
 * @c: the process
 * @aql: its AQL queue, without work
 * @pm4: its PM4 queue
 * @timeout_ms: for a dispatch
 * @note: out: why no shader runs
 * @size: of @note
 *
 * Return: 0 or -errno; close it in either case.
 */
int work_open(struct work *w, struct gpu_client *c, struct gpu_queue *aql, struct gpu_queue *pm4,
	      unsigned int timeout_ms, char *note, size_t size)
{
	int ret;

	*w = (struct work){ .c = c, .aql = aql, .pm4 = pm4 };
	ret = gpu_memory_alloc(c, DATA_BYTES, false, &w->data);
	if (!ret)
		ret = shader_open(w, timeout_ms, note, size);
	if (ret)
		return ret;
	/* There may be none left: then it is done without. */
	if (gpu_queue_create(c, GPU_QUEUE_SDMA, 7, &w->sdma))
		gpu_queue_destroy(c, &w->sdma);
	w->open = true;
	return 0;
}

static void round_begin(struct work *w, uint32_t round)
{
	uint32_t *source = w->data.va;
	size_t i;

	w->round = round;
	for (i = 0; i < COPY_BYTES / 4; i++)
		source[i] = mix(round, i);
	memset((char *)w->data.va + COPY_BYTES, 0, DATA_BYTES - COPY_BYTES);
	*gpu_signal(w->c, SIGNAL_OPEN) = 1;
	*gpu_signal(w->c, SIGNAL_COUNT) = 2 * BARRIERS + 1 +
					  (w->kind == WORK_PACKETS ? 0 : w->dispatches);
	if (w->kind != WORK_PACKETS)
		arguments(w, mix(round, 0));
}

static void aql_submit(struct work *w, bool second)
{
	uint32_t i;

	if (!second && w->kind != WORK_PACKETS)
		for (i = 0; i < w->dispatches; i++)
			dispatch(w, SIGNAL_COUNT);
	for (i = 0; i < BARRIERS; i++)
		gpu_aql_barrier(w->c, w->aql, -1, SIGNAL_COUNT);
	/* What is behind it waits however long the process is on the GPU. */
	if (!second)
		gpu_aql_barrier(w->c, w->aql, SIGNAL_OPEN, SIGNAL_COUNT);
	gpu_queue_ring(w->aql, NULL, NULL);
}

static void pm4_submit(struct work *w, bool second)
{
	uint32_t i, n;

	for (i = 0; i < STORES; i++) {
		n = second * STORES + i;
		gpu_pm4_store(w->pm4, word(w, n), mix(w->round, n));
		gpu_pm4_store(w->pm4, word(w, LAST_AT), n);
	}
	if (second)
		gpu_pm4_release(w->c, w->pm4, WORD_PM4, w->round + 1);
	gpu_queue_ring(w->pm4, NULL, NULL);
}

static void sdma_submit(struct work *w, bool second)
{
	char *data = w->data.va;
	uint32_t i, n;

	for (i = 0; i < COPIES && copies(w); i++)
		gpu_sdma_copy(w->c, &w->sdma, data + COPY_AT(second * COPIES + i), data);
	for (i = 0; i < WORDS; i++) {
		n = WORDS_AT + second * WORDS + i;
		gpu_sdma_store(&w->sdma, word(w, n), mix(w->round, n));
	}
	if (second)
		gpu_sdma_fence(w->c, &w->sdma, WORD_SDMA, w->round + 1);
	gpu_queue_ring(&w->sdma, NULL, NULL);
}

/**
 * work_submit() - submit half a round's work
 * @w: the work
 * @round: its number
 * @second: the second half
 */
void work_submit(struct work *w, uint32_t round, bool second)
{
	if (!w->open)
		return;
	if (!second)
		round_begin(w, round);
	if (w->sdma.live)
		sdma_submit(w, second);
	pm4_submit(w, second);
	aql_submit(w, second);
}

static int differs(struct work *w, const char *what, size_t at, uint32_t got, uint32_t expected)
{
	snprintf(w->c->why, sizeof(w->c->why),
		 "%s %zu is 0x%08x, not 0x%08x: lost, done twice, or changed by the preemption",
		 what, at, got, expected);
	return -EIO;
}

static int words_compare(struct work *w, const char *what, const uint32_t *got, size_t from,
			 size_t to)
{
	size_t i;

	for (i = from; i < to; i++)
		if (got[i] != mix(w->round, i))
			return differs(w, what, i, got[i], mix(w->round, i));
	return 0;
}

static int compare(struct work *w)
{
	const uint32_t *words = (const uint32_t *)word(w, 0), *results = w->results.va;
	int64_t count = *gpu_signal(w->c, SIGNAL_COUNT);
	int ret = 0;
	size_t i;

	if (count)
		return differs(w, "completion signal", 0, count, 0);
	for (i = 0; i < 2 * COPIES && copies(w) && w->sdma.live && !ret; i++)
		ret = words_compare(w, "word of a copy by SDMA",
				    (const uint32_t *)((char *)w->data.va + COPY_AT(i)), 0,
				    COPY_BYTES / 4);
	if (!ret && w->sdma.live)
		ret = words_compare(w, "store by SDMA", words, WORDS_AT, NR_WORDS);
	if (!ret)
		ret = words_compare(w, "store by PM4", words, 0, 2 * STORES);
	if (!ret && words[LAST_AT] != 2 * STORES - 1)
		ret = differs(w, "the last store by PM4", 0, words[LAST_AT], 2 * STORES - 1);
	if (ret || w->kind != WORK_SHADER)
		return ret;
	i = results_wrong(w, mix(w->round, 0));
	return i == w->results.size / 4 ? 0 :
	       differs(w, "result of the shader's work-item", i, results[i],
		       shader_result(shader_step(w->rounds), i, mix(w->round, 0)));
}

/**
 * work_check() - let the work of a round go on, wait for all of it and compare the results
 * @w: the work
 * @timeout_ms: for all of it
 *
 * Return: 0; -ETIME: it is not done; -EIO: a result is not right.
 */
int work_check(struct work *w, unsigned int timeout_ms)
{
	uint64_t end = gpu_now() + timeout_ms * MS;
	uint32_t done = w->round + 1;

	__atomic_store_n(gpu_signal(w->c, SIGNAL_OPEN), 0, __ATOMIC_SEQ_CST);
	while (*gpu_signal(w->c, SIGNAL_COUNT) > 0 || *gpu_word(w->c, WORD_PM4) != done ||
	       (w->sdma.live && *gpu_word(w->c, WORD_SDMA) != done)) {
		if (gpu_now() >= end)
			return late(w, *gpu_word(w->c, WORD_PM4) != done ? "work on the PM4 queue" :
				    *gpu_signal(w->c, SIGNAL_COUNT) > 0 ? "work on the AQL queue" :
				    "work on the SDMA queue", timeout_ms);
		nap();
	}
	return compare(w);
}

/**
 * work_close() - give back what work_open() took; the AQL and PM4 queues are to be destroyed
 * @w: the work; may be none
 */
void work_close(struct work *w)
{
	if (!w->c)
		return;
	*gpu_signal(w->c, SIGNAL_OPEN) = 0;
	/* Memory that a queue may still use goes with the process. */
	gpu_queue_destroy(w->c, &w->sdma);
	w->open = false;
}
