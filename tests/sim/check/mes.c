// SPDX-License-Identifier: GPL-2.0
/*
 * sim-mes - the simulated MES: suspended and removed gangs stop and go on with what is left of them,
 * levels decide who gets a queue slot, quanta are what amdkfd asks for, and a MES that does not
 * answer is reset.  Runs in the VM, alone on a simulated GPU with MES; guest time must count
 * instructions.
 */
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include "kfd.h"
#include "mes.h"

static bool gfx12;
static bool v6_1;	/* this amdkfd does nothing about a bad queue of MES */

/* Ends well, once, and the GPU was busy with it for exactly its time */
static void ends(struct kfdc_signal *s, const char *when, long long busy, long long ns,
		 long long resumed, long long left)
{
	long long took;

	TRY(kfdc_signal_wait(s, 20000 * MS));
	took = kfdc_now() - resumed;
	tap_ok(took >= left && took < left + 5 * MS,
	       "%s: it takes what was left: %lld us for %lld us", when, took / US, left / US);
	ms_sleep(20);
	tap_eq(kfdc_signal_value(s), 0, "%s: it ends once", when);
	tap_eq(counter("busy_ns") - busy, ns, "%s: and ran for exactly its time", when);
	kfdc_signal_destroy(s);
}

/* ---- stop and go on ---- */

static void test_suspend_all(void)
{
	long long busy = counter("busy_ns"), saves = counter("saves"), t;
	struct kfdc_queue *q = queue(3);
	struct kfdc_signal *s = dispatch(q, 100 * MS, 0);
	struct seen a, b;

	ms_sleep(30);
	tap_eq(write_file(SIM "suspend", "all"), 0, "SUSPEND of all gangs is answered");
	a = look(3);
	tap_ok(a.held && a.waiting && a.left_ns > 20 * MS && a.left_ns < 75 * MS,
	       "SUSPEND: answered when it is saved, with %lld us left", a.left_ns / US);
	tap_eq(counter("saves") - saves, 1, "SUSPEND: its waves were saved");
	tap_eq(counter("busy_ns") - busy, 100 * MS - a.left_ns, "SUSPEND: the rest has run");
	ms_sleep(200);
	b = look(3);
	tap_ok(b.held && b.left_ns == a.left_ns && kfdc_signal_value(s) == 1,
	       "SUSPEND: nothing happens for 200 ms");
	t = kfdc_now();
	tap_eq(write_file(SIM "resume", "all"), 0, "RESUME of all gangs is answered");
	ends(s, "RESUME", busy, 100 * MS, t, a.left_ns);
	TRY(kfdc_queue_destroy(q));
}

/* GFX12: SUSPEND of all gangs is one of the compute gangs */
static void test_suspend_sdma(void)
{
	const struct kfdc_ring_attr attr = KFDC_SDMA_DEFAULT;
	volatile uint32_t *m;
	struct kfdc_ring *r;
	struct kfdc_bo bo;
	uint32_t before;

	TRY(kfdc_bo_alloc(gpu, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &bo));
	m = bo.va;
	TRY(kfdc_ring_create(gpu, &attr, &r));
	tap_eq(write_file(SIM "suspend", "all"), 0, "SUSPEND of all gangs beside an SDMA queue");
	tap_eq(look_for(" sdma ").held, !gfx12, "SUSPEND: the SDMA queue is held on GFX11, not on GFX12");
	TRY(kfdc_sdma_fence(r, m, 5));
	kfdc_ring_submit(r);
	ms_sleep(20);
	before = m[0];
	tap_eq(before, gfx12 ? 5 : 0, "SUSPEND: SDMA packets are executed on GFX12 alone");
	tap_eq(write_file(SIM "resume", "all"), 0, "RESUME of all gangs beside it");
	TRY(kfdc_ring_wait(r, 2000 * MS));
	tap_eq(m[0], 5, "RESUME: the SDMA packet is executed");
	TRY(kfdc_ring_destroy(r));
	kfdc_bo_free(gpu, &bo);
}

static void test_suspend_one(void)
{
	struct kfdc_queue *a = queue(3), *b = queue(5);
	struct kfdc_signal *sa = dispatch(a, 50 * MS, 0), *sb;
	long long busy, t;
	struct seen s;
	char text[16];

	ms_sleep(10);
	s = look(3);
	snprintf(text, sizeof(text), "%#x", s.doorbell);
	tap_eq(write_file(SIM "suspend", text), 0, "SUSPEND of one gang");
	tap_ok(look(3).held && !look(5).held, "SUSPEND of one: the other is not held");
	s = look(3);
	sb = dispatch(b, 30 * MS, 0);
	TRY(kfdc_signal_wait(sb, 2000 * MS));
	ms_sleep(5);
	busy = counter("busy_ns") - (50 * MS - s.left_ns);
	tap_eq(look(3).left_ns, s.left_ns, "SUSPEND of one: the other works, this one does not");
	tap_eq(write_file(SIM "suspend", "0x2"), ENOENT, "SUSPEND of a gang that is not there");
	t = kfdc_now();
	tap_eq(write_file(SIM "resume", text), 0, "RESUME of one gang");
	ends(sa, "RESUME of one", busy, 50 * MS, t, s.left_ns);
	kfdc_signal_destroy(sb);
	TRY(kfdc_queue_destroy(a));
	TRY(kfdc_queue_destroy(b));
}

static void test_remove_add(void)
{
	long long busy = counter("busy_ns"), t, adds = counter("mes_adds");
	long long removes = counter("mes_removes");
	struct kfdc_queue *q = queue(3);
	struct kfdc_signal *s = dispatch(q, 100 * MS, 0);
	long long left;

	ms_sleep(30);
	TRY(kfdc_queue_update(q, 0, 3));
	tap_ok(!look(3).there, "percentage 0: the queue is gone from MES");
	left = 100 * MS - (counter("busy_ns") - busy);
	tap_ok(left > 20 * MS && left < 75 * MS, "percentage 0: %lld us are left", left / US);
	ms_sleep(200);
	tap_eq(100 * MS - (counter("busy_ns") - busy), left, "percentage 0: nothing for 200 ms");
	t = kfdc_now();
	TRY(kfdc_queue_update(q, 100, 3));
	tap_eq(look(3).left_ns <= left, 1, "percentage 100: MES reads from the MQD what is left");
	ends(s, "percentage 100", busy, 100 * MS, t, left);
	tap_eq(counter("mes_adds") - adds, 2, "ADD_QUEUE twice");
	tap_eq(counter("mes_removes") - removes, 1, "REMOVE_QUEUE once");
	TRY(kfdc_queue_destroy(q));
}

/* amdkfd suspends all gangs, removes the bad one and resumes the rest (gfx12: only removes it) */
static void test_bad_queue(void)
{
	long long busy = counter("busy_ns"), suspends = counter("mes_suspends"), t = kfdc_now();
	struct kfdc_queue *q = queue(3), *bad = queue(5);
	struct kfdc_signal *s = dispatch(q, 60 * MS, 0);
	uint16_t packet[32] = { 0x0007 };	/* no type of packet that there is */
	int i;

	ms_sleep(10);
	TRY(kfdc_packet(bad, packet, true));
	for (i = 0; i < 20 && look(5).there; i++)
		ms_sleep(1);
	tap_eq(look(5).there, v6_1, "a queue with a bad packet is removed by amdkfd (not of 6.1)");
	tap_eq(counter("mes_suspends") - suspends, !gfx12 && !v6_1,
	       "while all gangs are suspended (gfx11 only)");
	tap_ok(!look(3).held && look(3).left_ns > 0, "and the others are resumed");
	TRY(kfdc_signal_wait(s, 20000 * MS));
	tap_ok(kfdc_now() - t < 80 * MS, "the good queue goes on: 60 ms in %lld us",
	       (long long)(kfdc_now() - t) / US);
	tap_eq(counter("busy_ns") - busy, 60 * MS, "and ran for exactly its time");
	kfdc_signal_destroy(s);
	TRY(kfdc_queue_destroy(q));
	TRY(kfdc_queue_destroy(bad));
}

/* ---- levels and quanta ---- */

/* A process whose queue has @n dispatches of @ns; told by @prio from the others */
static pid_t worker(int set, uint32_t prio, unsigned int n, uint64_t ns)
{
	int ready[2];
	pid_t pid;
	char ch;

	if (pipe(ready))
		tap_bail("pipe");
	pid = fork();
	if (!pid) {
		unsigned int i;

		if ((set >= 0 && kfd_set(getpid(), set, NULL)) || kfdc_open(&gpu, 0))
			_exit(1);
		for (i = 0; i < n; i++) {
			static struct kfdc_queue *q;

			if (!q)
				q = queue(prio);
			TRY(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = ns, .waves = 1 }));
		}
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &ch, 1) != 1)
		tap_bail("a worker could not begin");
	close(ready[0]);
	return pid;
}

static void test_levels(void)
{
	struct seen lo, hi;
	pid_t a, b;

	param("hqds", 1);
	a = worker(3, 3, 100, 20 * MS);
	b = worker(12, 12, 100, 20 * MS);
	ms_sleep(20);
	lo = look(3);
	hi = look(12);
	tap_eq(lo.level, MES_LOW, "a process with 3 has level LOW");
	tap_eq(hi.level, MES_HIGH, "one with 12 has HIGH");
	ms_sleep(100);
	tap_eq(look(3).ran_ns - lo.ran_ns, 0, "one slot for two gangs: LOW gets nothing");
	tap_ok(look(12).ran_ns - hi.ran_ns >= 98 * MS, "HIGH gets all: %lld us of 100 ms",
	       (look(12).ran_ns - hi.ran_ns) / US);
	kfd_child_end(b);
	ms_sleep(50);
	tap_ok(look(3).ran_ns - lo.ran_ns > 20 * MS, "LOW goes on when HIGH is gone: %lld us",
	       (look(3).ran_ns - lo.ran_ns) / US);
	kfd_child_end(a);
	ms_sleep(50);
	param("hqds", 0);
}

static void test_gang_quantum(void)
{
	long long saves, ran, quantum, d[2];
	struct seen s[2];
	pid_t a, b;

	param("hqds", 1);
	a = worker(-1, 7, 10, 1000 * MS);
	b = worker(-1, 8, 10, 1000 * MS);
	ms_sleep(20);
	s[0] = look(7);
	s[1] = look(8);
	saves = counter("saves");
	ms_sleep(200);
	d[0] = look(7).ran_ns - s[0].ran_ns;
	d[1] = look(8).ran_ns - s[1].ran_ns;
	saves = counter("saves") - saves;
	ran = d[0] + d[1];
	quantum = saves ? ran / saves : 0;
	tap_ok(s[0].level == MES_NORMAL && s[1].level == MES_NORMAL, "without a priority: level NORMAL");
	tap_ok(d[0] > ran * 0.47 && d[0] < ran * 0.53, "equal levels share one slot: %lld and %lld us",
	       d[0] / US, d[1] / US);
	tap_ok(quantum > 0.97 * MS && quantum < 1.03 * MS,
	       "gang quantum 1 ms: %lld us between %lld saves", quantum / US, saves);
	kfd_child_end(a);
	kfd_child_end(b);
	ms_sleep(50);
	param("hqds", 0);
}

#define CROWD 9		/* one more than there are VMIDs */

/*
 * Nine processes on eight VMIDs: each runs for its quantum and waits while one of the others has
 * its own; so in (10 ms + restore + save) * 9/8 each is saved once.
 */
static void test_process_quantum(void)
{
	long long saves, each;
	pid_t pid[CROWD];
	int i;

	param("slots", 16);
	param("hqds", 16);
	for (i = 0; i < CROWD; i++)
		pid[i] = worker(-1, 7, 10, 2000 * MS);
	ms_sleep(100);
	saves = counter("saves");
	ms_sleep(400);
	saves = counter("saves") - saves;
	each = 400 * MS * CROWD / saves;
	tap_ok(each > 10.9 * MS && each < 11.8 * MS,
	       "process quantum 10 ms: of %d processes, each is saved every %lld us", CROWD, each / US);
	for (i = 0; i < CROWD; i++)
		kfd_child_end(pid[i]);
	ms_sleep(50);
	param("slots", 1);
	param("hqds", 0);
}

/* The longest that a HIGH dispatch of 10 us takes while two NORMAL gangs share the only queue slot */
static long long worst(bool preempt)
{
	long long t, max = 0;
	struct kfdc_queue *q;
	struct kfdc_signal *s;
	pid_t a, b;
	int i;

	param("mes_level_preempt", preempt);
	kfd_set(getpid(), 12, NULL);
	q = queue(12);
	a = worker(7, 7, 10, 1000 * MS);
	b = worker(7, 8, 10, 1000 * MS);
	for (i = 0; i < 20; i++) {
		ms_sleep(10);
		usleep(130 * i);
		t = kfdc_now();
		s = dispatch(q, 10 * US, 1);
		TRY(kfdc_signal_wait(s, 1000 * MS));
		t = kfdc_now() - t;
		max = t > max ? t : max;
		kfdc_signal_destroy(s);
	}
	kfd_child_end(a);
	kfd_child_end(b);
	TRY(kfdc_queue_destroy(q));
	kfd_set(getpid(), KFD_PRIO_UNSET, NULL);
	param("mes_level_preempt", 0);
	ms_sleep(50);
	return max;
}

static void test_level_preempt(void)
{
	long long off, on;

	/* what MES does by itself */
	param("kfd_preempt", 0);
	param("hqds", 1);
	off = worst(false);
	on = worst(true);
	param("hqds", 0);
	param("kfd_preempt", 1);
	tap_ok(off > 700 * US && off < 1500 * US,
	       "HIGH waits for a quantum of NORMAL to end, no longer: %lld us", off / US);
	tap_ok(on < 500 * US, "mes_level_preempt: it does not wait for that: %lld us", on / US);
}

/* ---- a hang ---- */

/* What a process does that is there when MES hangs; its queue cannot be removed */
static void victim(int out)
{
	struct kfdc_queue *q;
	char c;

	if (kfdc_open(&gpu, 0))
		_exit(1);
	q = queue(7);
	TRY(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 60000 * MS }));
	ms_sleep(5);
	write_file(SIM "hang", "1");
	/* not by destroying it: amdkfd then frees the queue and keeps it in its list */
	c = kfdc_queue_update(q, 0, 7) ? errno : 0;
	if (write(out, &c, 1) != 1)
		_exit(1);
	pause();
}

static void test_hang(void)
{
	struct kfdc_queue *q;
	struct kfdc_signal *s;
	int fds[2], status;
	long long t;
	pid_t pid;
	char c = 0;

	if (pipe(fds))
		tap_bail("pipe");
	t = kfdc_now();
	pid = fork();
	if (!pid)
		victim(fds[1]);
	if (read(fds[0], &c, 1) != 1)
		tap_bail("no victim");
	t = kfdc_now() - t;
	tap_ok(t > 2100 * MS && t < 3500 * MS, "a hung MES: the driver waits for 2.1 s: %lld ms", t / MS);
	/* 6.12 has marked the queue as one that is reset by the time it looks at the result */
	tap_eq(c, v6_1 ? ETIMEDOUT : EACCES, "and REMOVE_QUEUE fails");
	ms_sleep(500);
	kfd_child_end(pid);
	/* a process of its own: ours has lost its queues with the reset */
	pid = fork();
	if (!pid) {
		if (kfdc_open(&gpu, 0))
			_exit(1);
		q = queue(7);
		s = dispatch(q, 10 * MS, 0);
		if (kfdc_signal_wait(s, 1000 * MS) || kfdc_queue_update(q, 0, 7) ||
		    kfdc_queue_update(q, 100, 7) || kfdc_signal_wait(dispatch(q, MS, 0), 1000 * MS))
			_exit(2);
		_exit(!!kfdc_queue_destroy(q));
	}
	waitpid(pid, &status, 0);
	tap_eq(status, 0, "after the reset queues are added, work and are removed again");
}

/* A priority that MES does not take is set all the same, and its second queue is not tried */
static void test_hang_set(void)
{
	struct kfd_prio_set_args a = {};
	int fds[2], err;
	long long t;
	pid_t pid;
	char c;

	if (pipe(fds))
		tap_bail("pipe");
	pid = fork();
	if (!pid) {
		if (kfdc_open(&gpu, 0))
			_exit(1);
		queue(3);
		queue(5);
		if (write(fds[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	close(fds[1]);
	if (read(fds[0], &c, 1) != 1)
		tap_bail("no victim");
	write_file(SIM "hang", "1");
	t = kfdc_now();
	err = kfd_set(pid, 12, &a);
	t = kfdc_now() - t;
	tap_eq(err, ETIME, "a priority is set while MES hangs: ETIME");
	tap_eq(a.nr_queues, 2, "and the answer is there");
	tap_eq(kfd_get(pid).priority, 12, "and the priority");
	tap_ok(t > 2100 * MS && t < 3500 * MS, "MES was waited for once: %lld ms", t / MS);
	ms_sleep(500);
	kfd_child_end(pid);
}

int main(void)
{
	struct utsname uts;
	uint64_t version;

	if (uname(&uts))
		tap_bail("uname");
	v6_1 = !strncmp(uts.release, "6.1.", 4);
	if (kfdc_open(&gpu, 0))
		tap_bail("%s", kfdc_error());
	if (!kfd_mes(gpu))
		tap_bail("this GPU has no MES");
	TRY(kfdc_prop(gpu, "gfx_target_version", &version));
	gfx12 = version >= 120000;
	test_suspend_all();
	test_suspend_sdma();
	test_suspend_one();
	test_remove_add();
	test_bad_queue();
	test_levels();
	test_gang_quantum();
	test_process_quantum();
	test_level_preempt();
	tap_eq(counter("bad_packets"), 0, "amdkfd gave MES nothing wrong");
	test_hang_set();
	test_hang();
	return tap_done();
}
