// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the account of the floor, see kfd_prio_floor.h. Pure functions, also tested in user
 * space.
 *
 * The account sums, for each rank, the time for which processes were kept off during the running
 * slot and the FLOOR_SLOTS slots before it. The policy keeps the part of the last period at or
 * below the share that floor_pct leaves, so no stretch of one period exceeds it.
 *
 * Saving and restoring count as no floor. The save needs no rule, because the level is in force
 * while the processes that it takes off are saved. When a level ends, the ranks that it kept off
 * still count as kept off until the gap is as long as a switch, which is a save and a restore. Then
 * all of the gap but the restore is subtracted again. So a gap shorter than a switch counts as no
 * floor at all, and a stream of rings that ends each gap early does not use up the floor. Nothing
 * is subtracted in a block, which begins with the save of the process above the level. With
 * max_switch_policy=share a switch counts as taking no time.
 */
#include "kfd_prio_floor.h"
#ifdef __KERNEL__
#include <linux/math64.h>
#else
#define div_u64(dividend, divisor) ((u64)(dividend) / (divisor))
#endif

#define SLOTS	(KFD_PRIO_FLOOR_SLOTS + 1)

/* The restore is taken to last as long as the save: it is one part of this many of a switch */
#define RESTORE_PART	2

/* A switch counts as this part of the period at most */
#define SWITCH_PART	4

static u64 period_ns_of(const struct kfd_prio_floor *f)
{
	return (u64)f->slot_ns * KFD_PRIO_FLOOR_SLOTS;
}

static u32 slot_after(u32 slot, u32 n)
{
	return (slot + n) % SLOTS;
}

static void slot_add(struct kfd_prio_floor *f, u32 ranks, u64 ns)
{
	u32 *kept = f->kept_ns[f->slot];
	int r;

	if (!ns)
		return;
	f->kept_ranks[f->slot] |= ranks;
	for (; ranks; ranks &= ranks - 1) {
		r = __builtin_ctz(ranks);
		kept[r] += ns;
		f->sum[r] += ns;
	}
}

/* Subtracts a slot that is older than a period */
static void slot_forget(struct kfd_prio_floor *f, u32 slot)
{
	u32 ranks = f->kept_ranks[slot], *kept = f->kept_ns[slot];
	int r;

	f->kept_ranks[slot] = 0;
	for (; ranks; ranks &= ranks - 1) {
		r = __builtin_ctz(ranks);
		f->sum[r] -= kept[r];
		kept[r] = 0;
	}
}

/* Begins the next @n slots. After a pause of a process these are many, and its ring waits. */
static void slots_advance(struct kfd_prio_floor *f, u64 n)
{
	u32 slot = f->slot;

	f->slot_at += n * f->slot_ns;
	for (; n; n--) {
		slot = slot < SLOTS - 1 ? slot + 1 : 0;
		if (f->kept_ranks[slot])
			slot_forget(f, slot);
	}
	f->slot = slot;
}

/* Counts the time from @f->at to @until for @ranks */
static void count_until(struct kfd_prio_floor *f, u32 ranks, u64 until)
{
	u64 slots;

	if (until - f->slot_at > (u64)SLOTS * f->slot_ns) {
		/* The skipped slots are older than the sum covers. */
		slots = div_u64(until - f->slot_at, f->slot_ns) - SLOTS;
		f->slot_at += slots * f->slot_ns;
		if (f->at < f->slot_at)
			f->at = f->slot_at;
	}
	if (!ranks)
		slots_advance(f, div_u64(until - f->slot_at, f->slot_ns));
	while (until - f->slot_at >= f->slot_ns) {
		slot_add(f, ranks, f->slot_at + f->slot_ns - f->at);
		f->at = f->slot_at + f->slot_ns;
		slots_advance(f, 1);
	}
	slot_add(f, ranks, until - f->at);
	f->at = until;
}

/*
 * A gap is as long as a switch: subtracts the time since the restore, the latest that was counted
 */
static void gap_counts(struct kfd_prio_floor *f, u32 ranks)
{
	u64 left, part;
	u32 i, slot;
	int r;

	for (; ranks; ranks &= ranks - 1) {
		r = __builtin_ctz(ranks);
		left = f->gap_ns;
		for (i = 0; left && i < SLOTS; i++) {
			slot = slot_after(f->slot, SLOTS - i);
			part = f->kept_ns[slot][r] < left ? f->kept_ns[slot][r] : left;
			f->kept_ns[slot][r] -= part;
			f->sum[r] -= part;
			left -= part;
		}
	}
}

/**
 * kfd_prio_floor_init() - initialise the account of a GPU on which nothing was preempted yet
 * @f: out: the account
 * @period_ns: floor_period_ms, ns
 * @now: the time, ns
 */
void kfd_prio_floor_init(struct kfd_prio_floor *f, u64 period_ns, u64 now)
{
	*f = (struct kfd_prio_floor) {
		.at = now,
		.slot_at = now,
		.slot_ns = div_u64(period_ns, KFD_PRIO_FLOOR_SLOTS),
	};
}

/**
 * kfd_prio_floor_count() - count the time up to @now
 * @f: the account
 * @period_ns: floor_period_ms, ns; the account begins anew if it has changed
 * @ranks: mask of the ranks that were kept off since the time was last counted
 * @now: the time, ns; if it lies before the time that is counted already, nothing is counted
 */
void kfd_prio_floor_count(struct kfd_prio_floor *f, u64 period_ns, u32 ranks, u64 now)
{
	u32 gap;

	if (now <= f->at)
		return;
	if (f->slot_ns != div_u64(period_ns, KFD_PRIO_FLOOR_SLOTS)) {
		kfd_prio_floor_init(f, period_ns, now);
		return;
	}
	if (f->gap_ranks) {
		gap = f->gap_ranks & ~ranks;
		count_until(f, ranks | gap, now < f->gap_until ? now : f->gap_until);
		if (now >= f->gap_until) {
			gap_counts(f, gap);
			f->gap_ranks = 0;
		}
	}
	count_until(f, ranks, now);
}

/**
 * kfd_prio_floor_gap() - the ranks that are kept off have changed at the time that is counted
 * @f: the account
 * @before: mask of the ranks that were kept off until now
 * @after: mask of the ranks that are kept off from now on
 * @switch_ns: time of a save and a restore, ns; 0: not known, or not to be considered
 * @block: claims above the level are taken off as well
 *
 * The update of the runlist saves and restores all that runs, so a gap that was not yet as long as
 * a switch begins anew.
 */
void kfd_prio_floor_gap(struct kfd_prio_floor *f, u32 before, u32 after, u64 switch_ns, bool block)
{
	u64 most = div_u64(period_ns_of(f), SWITCH_PART);

	if (before == after)
		return;
	if (switch_ns > most)
		switch_ns = most;
	f->gap_ranks = switch_ns ? (f->gap_ranks | before) & ~after : 0;
	f->gap_until = f->at + switch_ns;
	f->gap_ns = block ? 0 : switch_ns - div_u64(switch_ns, RESTORE_PART);
}

/*
 * Returns by how much earlier a level is suspended than the next lower one, beside the floor, ns:
 * two slots and two switches, but no more than four slots
 */
static u64 margin(const struct kfd_prio_floor *f, u64 switch_ns)
{
	return 2 * (f->slot_ns + (switch_ns < f->slot_ns ? switch_ns : f->slot_ns));
}

/**
 * kfd_prio_floor_pct() - the floor of each level in a period
 * @f: the account
 * @pct: floor_pct
 * @levels: number of levels that have a floor
 * @switch_ns: time of a save and a restore, ns; 0: not known, or not to be considered
 *
 * Return: ns; all floors together leave a margin for each level but one
 */
u64 kfd_prio_floor_pct(const struct kfd_prio_floor *f, u32 pct, u32 levels, u64 switch_ns)
{
	u64 floor = (u64)pct * f->slot_ns, all = (u64)KFD_PRIO_FLOOR_MAX_PCT * f->slot_ns;
	u64 most = div_u64(all - (levels - 1) * margin(f, switch_ns), levels);

	return floor < most ? floor : most;
}

/**
 * kfd_prio_floor_allowed() - for how long the lowest levels may be kept off in a period
 * @f: the account
 * @pct: floor_pct
 * @levels: number of levels that have a floor
 * @below: number of the lowest of these levels that are kept off
 * @switch_ns: time of a save and a restore, ns; 0: not known, or not to be considered
 *
 * Return: ns
 */
u64 kfd_prio_floor_allowed(const struct kfd_prio_floor *f, u32 pct, u32 levels, u32 below,
			   u64 switch_ns)
{
	return period_ns_of(f) - below * kfd_prio_floor_pct(f, pct, levels, switch_ns) -
	       (below - 1) * margin(f, switch_ns);
}

/*
 * Returns for how long a rank was kept off in the period that ends @left ns before the end of a
 * slot. @sum includes the oldest slot with @oldest ns, of which no more than @left ns lie inside.
 */
static u64 used(u64 sum, u64 oldest, u64 left)
{
	return oldest > left ? sum - (oldest - left) : sum;
}

/**
 * kfd_prio_floor_room() - for how long a rank may be kept off now
 * @f: the account
 * @rank: 0..15
 * @allowed: time for which the rank may be kept off in a period, kfd_prio_floor_allowed()
 *
 * Return: ns
 */
u64 kfd_prio_floor_room(const struct kfd_prio_floor *f, int rank, u64 allowed)
{
	u64 was = used(f->sum[rank], f->kept_ns[slot_after(f->slot, 1)][rank],
		       f->slot_at + f->slot_ns - f->at);

	return allowed > was ? allowed - was : 0;
}

/**
 * kfd_prio_floor_exhausted() - when a rank that is kept off from now on has no room left
 * @f: the account
 * @rank: 0..15
 * @allowed: time for which the rank may be kept off in a period
 * @enough: the latest time that the caller asks for
 *
 * Return: ns; @enough at most
 */
u64 kfd_prio_floor_exhausted(const struct kfd_prio_floor *f, int rank, u64 allowed, u64 enough)
{
	u64 at = f->at, left = f->slot_at + f->slot_ns - at, sum = f->sum[rank], oldest, was, room;
	u32 i;

	for (i = 1;; i++) {
		oldest = f->kept_ns[slot_after(f->slot, i)][rank];
		was = used(sum, oldest, left);
		room = allowed > was ? allowed - was : 0;
		/*
		 * @enough lies within the room. The loop ends: kept off for a whole period, @rank
		 *	has no room.
		 */
		if (room >= enough - at || i > SLOTS)
			return enough;
		/* Once less is left of the slot than of the oldest one, as much leaves as comes */
		if (!room || (oldest < left && room <= left - oldest))
			return at + room;
		sum += left - oldest;
		at += left;
		left = f->slot_ns;
	}
}

/**
 * kfd_prio_floor_free() - when a rank may be kept off again
 * @f: the account
 * @rank: 0..15; it is not kept off from now on
 * @allowed: time for which the rank may be kept off in a period
 * @room: for how long it must be possible to keep the rank off, ns
 *
 * Return: ns
 */
u64 kfd_prio_floor_free(const struct kfd_prio_floor *f, int rank, u64 allowed, u64 room)
{
	u64 at = f->at, slot_end = f->slot_at + f->slot_ns, sum = f->sum[rank], oldest;
	u64 until = f->gap_ranks & 1U << rank ? f->gap_until : at;
	u32 i;

	allowed -= room;
	for (i = 1; i < SLOTS; i++) {
		oldest = f->kept_ns[slot_after(f->slot, i)][rank];
		if (at < until && until <= slot_end) {
			sum += until - at - f->gap_ns;
			at = until;
		} else if (at < until) {
			sum += slot_end - at;
			at = slot_end;
		}
		/* All of the oldest slot leaves until @slot_end */
		if (sum - oldest <= allowed) {
			if (used(sum, oldest, slot_end - at) <= allowed)
				return at;
			return slot_end - (allowed - (sum - oldest));
		}
		sum -= oldest;
		at = slot_end;
		slot_end += f->slot_ns;
	}
	return at;
}
