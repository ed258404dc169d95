// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor --soak: many preemptions of work whose results are compared, and how long its
 * saves and restores took.
 *
 * In each round the victim has work in flight, the preemptor rings, the victim gets more work while
 * it is off, and then all results are looked at.  The first that is not right ends it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "queue.h"
#include "test.h"
#include "work.h"
#include "mqds.h"

#define MS		1000000ull
#define STEP_MS		2000
#define WORK_MS		10000	/* for the work of a round */
#define OFF_MS		200	/* for the victim to be taken off: some safety polls */
#define OFF_LOOK_US	200
#define PAUSE_MS	10	/* besides linger_us: until the next ring is trapped */
#define MISSED_MAX	5	/* rounds without a preemption, and one of so many: */
#define MISSED_PART	10
#define PROGRESS_NS	200000000

enum figure { FIGURE_SAVE, FIGURE_GAP, FIGURE_RESTORE, NR_FIGURES };

static const char *const figure_names[NR_FIGURES] = {
	[FIGURE_SAVE] = "save of the victim's waves, by the firmware's time stamps",
	[FIGURE_GAP] = "end of that save to the beginning of the restore",
	[FIGURE_RESTORE] = "the restore, the command processor's own part",
};

/**
 * struct soaking - a soak under way
 * @t: the test
 * @what: name of the step
 * @wanted: preemptions
 * @s: what was done
 * @log: the kernel's log, -1: not readable
 * @stamp: of the latest save that was read
 * @shown: when the progress was
 * @ns: times of saves and restores, @nr of each
 */
struct soaking {
	struct trial *t;
	const char *what;
	unsigned int wanted;
	struct soak *s;
	int log;
	uint64_t stamp, shown;
	uint64_t ns[NR_FIGURES][ROUNDS_MAX];
	size_t nr[NR_FIGURES];
};

static void stop(struct soaking *k, const char *why)
{
	if (!k->s->stopped_by)
		k->s->stopped_by = trial_interrupted() ? "signal" : why;
}

/* As trial_do(), and what fails ends the soak. */
static bool step(struct soaking *k, struct actor *a, enum order order, uint32_t value,
		 unsigned int timeout_ms)
{
	struct answer answer;

	if (trial_interrupted())
		return false;
	if (!actor_do_with(a, order, value, timeout_ms, &answer))
		return true;
	if (answer.ret == -EIO)
		stop(k, "difference");
	else if (answer.ret == -ETIME || answer.ret == -ETIMEDOUT)
		stop(k, "hang");
	else
		stop(k, "failure");
	if (!trial_interrupted())
		trial_say(k->t, FINDING_FAIL, k->what,
			  "stopped at preemption %" PRIu64 " of %u: %s", k->s->preempted,
			  k->wanted, answer.why);
	return false;
}

static void nap_us(uint64_t us)
{
	nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 }, NULL);
}

static struct kfd_prio_list_entry listed(struct soaking *k)
{
	struct kfd_prio_list_entry entry = { 0 };

	trial_entry(k->t, k->t->victim.pid, &entry);
	return entry;
}

static bool off_wait(struct soaking *k, uint64_t count)
{
	uint64_t end = gpu_now() + OFF_MS * MS;

	do {
		if (listed(k).preempted_count > count)
			return true;
		nap_us(OFF_LOOK_US);
	} while (gpu_now() < end && !trial_interrupted());
	return false;
}

static bool log_check(struct soaking *k)
{
	char text[512];

	if (!kernel_log_report(k->log, text, sizeof(text)))
		return true;
	stop(k, "kernel log");
	trial_say(k->t, FINDING_FAIL, k->what,
		  "stopped at preemption %" PRIu64 " of %u: the kernel's log has: %s",
		  k->s->preempted, k->wanted, text);
	return false;
}

/* The longest times of the victim's queues since the last look, if debugfs may be read */
static void stamps_read(struct soaking *k)
{
	bool got[NR_FIGURES] = { false };
	uint64_t ns[NR_FIGURES] = { 0 }, latest = k->stamp;
	struct mqds mqds;
	char path[DOCTOR_PATH], why[128];
	size_t i, figure;
	FILE *in;

	snprintf(path, sizeof(path), "%s/sys/kernel/debug/kfd/mqds", doctor_root);
	in = fopen(path, "re");
	if (!in)
		return;
	mqds_read(in, &mqds, why, sizeof(why));
	fclose(in);
	for (i = 0; i < mqds.nr; i++) {
		const struct mqd_times *m = &mqds.times[i];
		const uint64_t of[NR_FIGURES] = { m->save_ns, m->gap_ns, m->restore_ns };

		if ((pid_t)m->pid != k->t->victim.pid || m->gpu_id != k->t->gpu->gpu_id ||
		    !m->saved || m->saved_at <= k->stamp)
			continue;
		latest = m->saved_at > latest ? m->saved_at : latest;
		for (figure = 0; figure < NR_FIGURES; figure++) {
			if (figure != FIGURE_SAVE && !m->restored)
				continue;
			got[figure] = true;
			ns[figure] = of[figure] > ns[figure] ? of[figure] : ns[figure];
		}
	}
	k->stamp = latest;
	free(mqds.times);
	for (figure = 0; figure < NR_FIGURES; figure++)
		if (got[figure] && k->nr[figure] < ROUNDS_MAX)
			k->ns[figure][k->nr[figure]++] = ns[figure];
}

static bool round_do(struct soaking *k)
{
	struct kfd_prio_list_entry before, after;
	struct trial *t = k->t;
	bool off;

	if (!step(k, &t->victim, ORDER_WORK_FIRST, k->s->rounds, STEP_MS))
		return false;
	before = listed(k);
	if (!step(k, &t->preemptor, ORDER_BLOCK, 0, STEP_MS))
		return false;
	off = off_wait(k, before.preempted_count);
	if (!step(k, &t->victim, ORDER_WORK_SECOND, k->s->rounds, STEP_MS) ||
	    !step(k, &t->preemptor, ORDER_RELEASE, 0, STEP_MS) ||
	    !step(k, &t->victim, ORDER_WORK_CHECK, 0, WORK_MS))
		return false;
	after = listed(k);
	k->s->rounds++;
	k->s->preempted += off ? after.preempted_count - before.preempted_count : 0;
	k->s->saved += after.saved_count - before.saved_count;
	return log_check(k);
}

static void progress(struct soaking *k, bool end)
{
	uint64_t now = gpu_now();

	if (!k->t->d->live || !isatty(STDERR_FILENO) || (!end && now < k->shown + PROGRESS_NS))
		return;
	k->shown = now;
	if (end)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\rGPU %u: %s: %" PRIu64 " of %u preemptions, all results right",
			k->t->gpu->gpu_id, k->what, k->s->preempted, k->wanted);
	fflush(stderr);
}

static void rounds(struct soaking *k)
{
	unsigned int each = k->wanted / ROUNDS_MAX + 1;
	uint64_t pause = trial_parameter("linger_us") + PAUSE_MS * 1000;

	while (k->s->preempted < k->wanted && !k->s->stopped_by) {
		if (k->s->rounds > k->s->preempted + MISSED_MAX + k->s->preempted / MISSED_PART) {
			stop(k, "not preempted");
			trial_say(k->t, FINDING_FAIL, k->what,
				  "stopped: the victim was preempted %" PRIu64 " times in %" PRIu64 " rounds",
				  k->s->preempted, k->s->rounds);
			break;
		}
		progress(k, false);
		nap_us(pause);
		if (!round_do(k))
			break;
		if (!(k->s->rounds % each))
			stamps_read(k);
	}
	if (trial_interrupted())
		stop(k, "signal");
	progress(k, true);
}

static void result(struct soaking *k)
{
	struct trial *t = k->t;
	size_t figure;

	if (!*k->s->reason)
		trial_say(t, FINDING_INFO, k->what, "the work: a shader, SDMA, PM4 and AQL packets");
	else
		trial_say(t, FINDING_INFO, k->what,
			  "the work: SDMA, PM4 and AQL packets; no shader was tested: %s",
			  k->s->reason);
	if (k->log < 0)
		trial_say(t, FINDING_INFO, k->what, "the kernel's log was not checked: %s",
			  geteuid() ? "an ordinary user may not read it" : "it cannot be read");
	if (!k->s->stopped_by)
		trial_say(t, FINDING_OK, k->what,
			  "%" PRIu64 " preemptions in %" PRIu64 " rounds, every result is right%s; the firmware measured the save in %" PRIu64 " of them",
			  k->s->preempted, k->s->rounds,
			  k->log < 0 ? "" : ", the kernel's log has nothing new", k->s->saved);
	for (figure = 0; figure < NR_FIGURES; figure++) {
		const struct measure *m = doctor_measure(t->d, figure_names[figure], t->gpu->gpu_id,
							 k->ns[figure], k->nr[figure]);

		if (m)
			trial_say(t, FINDING_INFO, "time",
				  "%s%s: %s: median %.1f us, %.1f to %.1f, %zu times", t->d->simulated == SIMULATED_YES ?
				  "(simulated) " : "", t->gpu->gfx,
				  /* NOLINTNEXTLINE(bugprone-integer-division): an index */
				  m->name, m->ns[m->nr / 2] / 1e3, m->ns[0] / 1e3, m->ns[m->nr - 1] / 1e3,
				  m->nr);
	}
	if (!k->nr[FIGURE_SAVE] && !k->s->stopped_by)
		trial_say(t, FINDING_INFO, "time", "saves and restores: not known: %s",
			  access("/sys/kernel/debug/kfd/mqds", R_OK) ?
			  "debugfs, which has the MQDs, is not readable" :
			  "the MQDs of the victim have no time stamps that make sense");
}

/**
 * trial_soak() - preempt work whose results are compared
 * @t: the test; its victim has queues and a priority, its preemptor what trial_preemptor() gives
 * @wanted: preemptions
 * @what: name of the step
 * @s: out: what was done
 */
void trial_soak(struct trial *t, unsigned int wanted, const char *what, struct soak *s)
{
	static struct soaking k;
	struct answer a;

	k = (struct soaking){ .t = t, .what = what, .wanted = wanted, .s = s };
	k.log = kernel_log_open();
	if (actor_do(&t->victim, ORDER_WORK_OPEN, WORK_MS, &a)) {
		stop(&k, a.ret == -ETIME || a.ret == -ETIMEDOUT ? "hang" : "failure");
		if (!trial_interrupted())
			trial_say(t, FINDING_FAIL, what, "before any preemption: %s", a.why);
	} else {
		s->work = a.at[0] == WORK_SHADER ? "shader" : "packets";
		snprintf(s->reason, sizeof(s->reason), "%s", a.why);
		rounds(&k);
		result(&k);
	}
	if (k.log >= 0)
		close(k.log);
}
