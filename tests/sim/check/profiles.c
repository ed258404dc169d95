// SPDX-License-Identifier: GPL-2.0
/*
 * sim-profiles: does each simulated GPU have the numbers of the real one, and keep to its limits?
 *
 * Wants the debugfs and the parameters of the simulated GPU.
 */
#include "dumps.h"
#include "kfdclient.h"
#include "profiles.h"
#include "simgpu.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS	1000000ULL
#define SEC	1000000000ULL
#define NODES	"/sys/class/kfd/kfd/topology/nodes"

static const struct sheet *sh;
static struct kfdc *c;
static unsigned int gpu;	/* its number */
static unsigned int node;	/* its topology node */

static void must(int r)
{
	if (r)
		tap_bail("%s: %s", sh ? sh->name : "GPU", kfdc_error());
}

static void prop(const char *name, uint64_t want)
{
	uint64_t v;

	must(kfdc_prop(c, name, &v));
	tap_eq(v, want, "%s: %s is %llu", sh->name, name, (unsigned long long)want);
}

/* A number from a file of "name value" lines; -1: none */
static long long field(const char *path, const char *name)
{
	char line[256];
	long long v = -1;
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ') {
			v = atoll(line + strlen(name));
			break;
		}
	if (f)
		fclose(f);
	return v;
}

static long long counter(const char *name)
{
	char path[64];
	long long v;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kfdsim/%u/counters", gpu);
	v = field(path, name);
	if (v < 0)
		tap_bail("%s: no counter %s", path, name);
	return v;
}

static void param(const char *name, const char *value)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/amdgpu/parameters/%s", name);
	f = fopen(path, "w");
	if (!f || fputs(value, f) < 0 || fclose(f))
		tap_bail("%s: %s", path, strerror(errno));
}

static struct kfdc_queue *queue(void)
{
	const struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 64 };
	struct kfdc_queue *q;

	must(kfdc_queue_create(c, &attr, &q));
	return q;
}

static struct kfdc_signal *signal_new(void)
{
	struct kfdc_signal *s;

	must(kfdc_signal_create(c, false, &s));
	return s;
}

static void dispatch(struct kfdc_queue *q, uint64_t ns, uint32_t waves, struct kfdc_signal *s)
{
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = ns, .waves = waves, .signal = s }));
}

static void caches(void)
{
	uint32_t l1 = 0, l2 = 0, l3 = 0;
	long long level, size;
	struct dirent *d;
	char path[400];
	DIR *dir;

	snprintf(path, sizeof(path), NODES "/%u/caches", node);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), NODES "/%u/caches/%s/properties", node, d->d_name);
		level = field(path, "level");
		size = field(path, "size");
		if (level == 1)
			l1 += size == sh->l1_kb;
		else if (level == 2)
			l2 = size;
		else if (level == 3)
			l3 = size;
	}
	if (dir)
		closedir(dir);
	tap_ok(l1 >= sh->cus, "%s: %u L1 caches of %u KiB, at least one for each CU", sh->name, l1,
	       sh->l1_kb);
	tap_eq(l2, sh->l2_kb, "%s: L2 cache of %u KiB", sh->name, sh->l2_kb);
	tap_eq(l3, sh->l3_mb * 1024, "%s: last level cache of %u MiB", sh->name, sh->l3_mb);
}

static void topology(void)
{
	char path[128];

	prop("gfx_target_version", sh->gfx);
	if (!sim_old_kernel() || sh->xccs > 1)	/* told since there are any, 6.5 */
		prop("num_xcc", sh->xccs);
	prop("simd_count", sh->cus * sh->simds);
	prop("simd_per_cu", sh->simds);
	prop("max_waves_per_simd", sh->waves_simd);
	prop("wave_front_size", sh->wave);
	prop("lds_size_in_kb", 64);
	prop("array_count", sh->arrays);
	prop("simd_arrays_per_engine", sh->se_arrays);
	prop("cu_per_simd_array", sh->cu_array);
	prop("max_engine_clk_fcompute", sh->mhz);
	prop("num_cp_queues", sh->hqds);
	prop("num_sdma_engines", sh->sdma);
	prop("num_sdma_xgmi_engines", sh->sdma_xgmi);
	prop("num_sdma_queues_per_engine", sh->sdma_queues);
	caches();
	snprintf(path, sizeof(path), NODES "/%u/mem_banks/0/properties", node);
	tap_eq(field(path, "size_in_bytes"), (long long)sh->vram_mb << 20, "%s: %u MiB of VRAM",
	       sh->name, sh->vram_mb);
	tap_eq(field(path, "width"), sh->bits, "%s: %u bits wide", sh->name, sh->bits);
}

/* A dispatch takes the loads of waves of the XCC that has the most */
static void dispatch_time(void)
{
	uint32_t room = sh->cus * sh->simds * sh->waves_simd, loads = 200;
	struct kfdc_signal *s = signal_new();
	struct kfdc_queue *q = queue();
	long long wave_ns = 20000;
	long long busy;

	tap_eq(kfdc_max_waves(c), room, "%s: room for %u waves", sh->name, room);
	busy = counter("busy_ns");
	kfdc_signal_set(s, 1);
	dispatch(q, 0, loads * room, s);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_eq(counter("busy_ns") - busy, loads * wave_ns, "%s: %u full loads of waves", sh->name,
	       loads);
	busy = kfdc_signal_gpu_ns(s);
	tap_ok(busy > 98 * loads * wave_ns / 100 && busy < 105 * loads * wave_ns / 100,
	       "%s: by its time stamps, too: %lld us", sh->name, busy / 1000);
	busy = counter("busy_ns");
	kfdc_signal_set(s, 1);
	dispatch(q, 0, loads * room + 1, s);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_eq(counter("busy_ns") - busy, (loads + 1) * wave_ns, "%s: one wave more, one load more",
	       sh->name);
	must(kfdc_queue_destroy(q));
	kfdc_signal_destroy(s);
}

static int occupancy(void)
{
	char path[128];
	int n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/stats_%u/cu_occupancy", getpid(),
		 kfdc_gpu_id(c));
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &n) != 1)
		tap_bail("cannot read %s", path);
	fclose(f);
	return n;
}

static int occupancy_of(struct kfdc_queue *q, uint32_t waves, struct kfdc_signal *s)
{
	int n;

	kfdc_signal_set(s, 1);
	dispatch(q, 20 * MS, waves, s);
	usleep(5000);
	n = occupancy();
	must(kfdc_signal_wait(s, 60 * SEC));
	return n;
}

/*
 * KFD asks the first XCC only and multiplies. A work-group alone is on the first XCC for one
 * queue in eight.
 */
static void waves_in_flight(void)
{
	struct kfdc_signal *s = signal_new();
	struct kfdc_queue *q[8];
	int i, n = 0;

	for (i = 0; i < 8; i++)
		q[i] = queue();
	if (!sh->occupancy) {
		tap_eq(occupancy(), -1, "%s: no cu_occupancy", sh->name);
	} else {
		tap_eq(occupancy(), 0, "%s: no CU is busy", sh->name);
		tap_eq(occupancy_of(q[0], 0, s), sh->cus, "%s: a full dispatch: all CUs are", sh->name);
		tap_eq(occupancy_of(q[0], sh->cus * 16, s), sh->cus / 2,
		       "%s: half a load of waves: half of them, as KFD counts", sh->name);
		tap_eq(occupancy(), 0, "%s: none afterwards", sh->name);
		for (i = 0; i < 8; i++)
			n += occupancy_of(q[i], 1, s);
		tap_eq(n, 8 / sh->xccs, "%s: one wave from each of 8 queues in turn: KFD sees it %u times",
		       sh->name, 8 / sh->xccs);
	}
	for (i = 0; i < 8; i++)
		must(kfdc_queue_destroy(q[i]));
	kfdc_signal_destroy(s);
}

/* What 10 saves and 10 restores of a dispatch that fills the GPU take, ns for one of each */
static long long save_and_restore(struct kfdc_queue *q, struct kfdc_signal *s)
{
	long long saves = counter("saves"), ns = counter("save_restore_ns"), busy;
	int i;

	busy = counter("busy_ns");
	kfdc_signal_set(s, 1);
	dispatch(q, 60 * MS, 0, s);
	for (i = 0; i < 10; i++) {
		usleep(2000);
		must(kfdc_queue_update(q, 0, 7));
		must(kfdc_queue_update(q, 100, 7));
	}
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_eq(counter("saves") - saves, 10, "%s: unmapped 10 times while it runs", sh->name);
	tap_eq(counter("busy_ns") - busy, 60 * MS, "%s: and it ran for its 60 ms", sh->name);
	return (counter("save_restore_ns") - ns) / 10;
}

static bool near(long long got, long long want)
{
	return got > want - want / 100 && got < want + want / 100;
}

/* Each XCC saves the state of its own CUs, all at once */
static void save_time(void)
{
	struct kfdc_signal *s = signal_new();
	struct kfdc_queue *q = queue();
	uint64_t cwsr = q->cwsr_size;	/* before 6.12 only the client knows it */
	long long want, ns;

	want = (long long)sh->cus / sh->xccs * sh->ctx_kb * 1024;
	tap_ok((long long)cwsr >= want && (long long)cwsr < want + 65536,
	       "%s: an XCC's save area is the state of its CUs and a control stack: %.1f MiB",
	       sh->name, cwsr / 1048576.);
	ns = save_and_restore(q, s);
	tap_ok(near(ns, 327000 + 150000 + 290000),
	       "%s: a save takes the measured median, 327 us, a restore 150 us and as long as the state did: %.1f us",
	       sh->name, ns / 1e3);
	param("save_us", "20");
	param("restore_us", "20");
	param("save_peak", "1");
	want = 20000 + (long long)sh->cus * sh->ctx_kb * 1024 / sh->gbs;
	ns = save_and_restore(q, s);
	tap_ok(near(ns, 2 * want), "%s: save_peak: each takes %.1f us: 20 us and the whole state at %u GB/s",
	       sh->name, ns / 2e3, sh->gbs);
	param("save_us", "37");
	param("restore_us", "150");
	param("save_peak", "0");
	must(kfdc_queue_destroy(q));
	kfdc_signal_destroy(s);
}

/* KFD lists the HQDs that are its own, and the HIQ: a BC-250 (GFX10.1, 32 slots less the kernel's 8) shows 25 */
static void hqds_listed(void)
{
	tap_eq(dump_hqds(kfdc_gpu_id(c), "  CP Pipe "), sh->hqds * sh->xccs, "%s: KFD lists %u HQDs of an XCC", sh->name, sh->hqds);
	tap_eq(dump_hqds(kfdc_gpu_id(c), "HIQ on MEC "), sh->xccs, "%s: and a HIQ for each", sh->name);
}

/* The driver asks for what a real GFX11 GPU had in its registers */
static void registers(void)
{
	const struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = GFX1151_RING_BYTES / 64 };
	uint32_t mqd[MQD_DWORDS] = {}, control = GFX1151_PQ_CONTROL;
	struct kfdc_queue *q;

	if (sh->gfx / 10000 != 11)
		return;
	if (sim_old_kernel())
		control &= ~PQ_CONTROL_UNORD_DISPATCH;
	must(kfdc_queue_create(c, &attr, &q));
	tap_ok(dump_mqd(kfdc_gpu_id(c), mqd) > MQD_AQL_CONTROL, "%s: KFD shows the MQD of an AQL queue of 1 MiB", sh->name);
	tap_eq(mqd[MQD_PQ_CONTROL], control, "%s: its cp_hqd_pq_control is that of a real gfx1151", sh->name);
	tap_eq(mqd[MQD_DOORBELL_CONTROL] & ~DOORBELL_CONTROL_OFFSET,
	       GFX1151_DOORBELL_CONTROL & ~(DOORBELL_CONTROL_OFFSET | DOORBELL_CONTROL_HARDWARE),
	       "%s: cp_hqd_pq_doorbell_control, too, but for the offset and the bits of the hardware", sh->name);
	tap_eq(mqd[MQD_AQL_CONTROL], 1, "%s: cp_hqd_aql_control, too", sh->name);
	must(kfdc_queue_destroy(q));
}

/* A saved wave takes of the control stack what kfd_queue.c reserves for it */
static void control_stack(void)
{
	const unsigned int waves = 10, each = sh->gfx < 100100 ? 8 : 12;
	struct kfdc_signal *s = signal_new();
	struct kfdc_queue *q = queue();
	uint32_t mqd[MQD_DWORDS] = {};

	kfdc_signal_set(s, 1);
	dispatch(q, 20 * MS, waves * sh->xccs, s);
	usleep(5000);
	must(kfdc_queue_update(q, 0, 7));
	dump_mqd(kfdc_gpu_id(c), mqd);
	tap_eq(mqd[MQD_CNTL_STACK_SIZE] - mqd[MQD_CNTL_STACK_OFFSET], waves * each,
	       "%s: %u saved waves of an XCC take %u bytes each of the control stack", sh->name, waves, each);
	must(kfdc_queue_update(q, 100, 7));
	must(kfdc_signal_wait(s, 60 * SEC));
	must(kfdc_queue_destroy(q));
	kfdc_signal_destroy(s);
}

struct state { unsigned int procs, mapped, vmids, used, hqds; bool oversubscribed; };

static struct state state(void)
{
	struct state st = {};
	char path[64], line[512];
	int vmid;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kfdsim/%u/state", gpu);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		st.oversubscribed |= !!strstr(line, "over-subscribed");
		sscanf(line, "processes %u queues %*u hqds %u/%u", &st.procs, &st.used, &st.hqds);
		if (sscanf(line, "process pasid %*x vmid %d", &vmid) == 1 && vmid >= 0) {
			st.mapped++;
			st.vmids |= 1u << vmid;
		}
	}
	if (f)
		fclose(f);
	return st;
}

static void more_queues_than_hqds(void)
{
	unsigned int n = sh->hqds + 2, i, most = 0;
	struct kfdc_signal *s = signal_new();
	/* an array of pointers: NOLINTNEXTLINE(bugprone-sizeof-expression) */
	struct kfdc_queue **q = calloc(n, sizeof(*q));
	long long ran = counter("dispatches");
	bool over = false;
	struct state st;

	for (i = 0; i < n; i++)
		q[i] = queue();
	kfdc_signal_set(s, n);
	for (i = 0; i < n; i++)
		dispatch(q[i], 30 * MS, 64, s);
	do {
		st = state();
		most = st.used > most ? st.used : most;
		over |= st.oversubscribed;
		usleep(500);
	} while (kfdc_signal_value(s) > 0);
	tap_eq(st.hqds, sh->hqds, "%s: %u HQDs for KFD", sh->name, sh->hqds);
	tap_eq(most, sh->hqds, "%s: %u busy queues use all and no more", sh->name, n);
	if (!sh->mes)
		tap_ok(over, "%s: the runlist is over-subscribed", sh->name);
	tap_eq(counter("dispatches") - ran, n, "%s: all have their turn, each dispatch runs once",
	       sh->name);
	for (i = 0; i < n; i++)
		must(kfdc_queue_destroy(q[i]));
	free(q);
	kfdc_signal_destroy(s);
}

static int child(int go)
{
	struct kfdc_signal *s;
	char ch;

	if (kfdc_open(&c, gpu))
		return 1;
	s = signal_new();
	kfdc_signal_set(s, 1);
	if (read(go, &ch, 1) != 1)	/* until all are there */
		return 1;
	dispatch(queue(), 50 * MS, 64, s);
	if (kfdc_signal_wait(s, 60 * SEC) || read(go, &ch, 1) != 1)
		return 1;
	return 0;
}

/* The parent has no GPU open: it would be one process more */
static void more_processes_than_vmids(void)
{
	unsigned int n = sh->vmids + 1, i, most = 0, all = 0, ended = 0, tries;
	int fds[2], status;
	struct state st;

	if (pipe(fds))
		tap_bail("pipe: %s", strerror(errno));
	fflush(stdout);
	for (i = 0; i < n; i++)
		if (!fork())
			_exit(child(fds[0]));
	for (i = 0; i < n; i++)
		if (write(fds[1], "x", 1) != 1)
			tap_bail("pipe: %s", strerror(errno));
	for (tries = 0; tries < 20000; tries++) {
		st = state();
		most = st.mapped > most ? st.mapped : most;
		all |= st.vmids;
		if (st.procs == n && most == sh->vmids && tries > 200)
			break;
		usleep(500);
	}
	tap_eq(st.procs, n, "%s: %u processes at once", sh->name, n);
	tap_eq(most, sh->vmids, "%s: %u of them are mapped", sh->name, sh->vmids);
	tap_eq(all, 0x10000 - (1 << (16 - sh->vmids)), "%s: their VMIDs are %u to 15", sh->name,
	       16 - sh->vmids);
	for (i = 0; i < n; i++)
		if (write(fds[1], "x", 1) != 1)
			tap_bail("pipe: %s", strerror(errno));
	while (wait(&status) > 0)
		ended += !status;
	tap_eq(ended, n, "%s: all get their work done", sh->name);
	close(fds[0]);
	close(fds[1]);
}

static const struct sheet *sheet_of(uint64_t device)
{
	for (unsigned int i = 0; i < sizeof(sheets) / sizeof(*sheets); i++)
		if (sheets[i].device == device)
			return &sheets[i];
	return NULL;
}

/* One GPU in a child: each opens one only, and libkfdclient opens it once */
static int one(void)
{
	uint64_t device, minor;

	if (kfdc_open(&c, gpu))
		return 77;
	must(kfdc_prop(c, "device_id", &device));
	must(kfdc_prop(c, "drm_render_minor", &minor));
	sh = sheet_of(device);
	if (!sh)
		tap_bail("GPU %u: device %#llx has no data sheet", gpu, (unsigned long long)device);
	for (node = 0; node < 64; node++) {
		char path[64];

		snprintf(path, sizeof(path), NODES "/%u/properties", node);
		if (field(path, "drm_render_minor") == (long long)minor)
			break;
	}
	topology();
	dispatch_time();
	waves_in_flight();
	hqds_listed();
	registers();
	control_stack();
	save_time();
	param("slots", "64");	/* room for all that are mapped */
	more_queues_than_hqds();
	tap_eq(counter("bad_packets"), 0, "%s: the firmware understood all that it was sent", sh->name);
	fflush(stdout);
	kfdc_close(c);
	return tap_done();
}

int main(int argc, char **argv)
{
	int status, bad = 0;
	pid_t pid;

	/* sim-profiles DEVICE: the check that has to be alone */
	for (gpu = 0; argc == 1; gpu++) {
		param("slots", "1");
		fflush(stdout);
		pid = fork();
		if (!pid)
			exit(one());
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			return gpu ? bad : 1;
		bad |= !!status;
	}
	param("slots", "64");
	for (gpu = 0; (int)gpu < argc - 1; gpu++) {
		sh = sheet_of(strtoul(argv[gpu + 1], NULL, 0));
		if (!sh)
			tap_bail("device %s has no data sheet", argv[gpu + 1]);
		more_processes_than_vmids();
	}
	return tap_done();
}
