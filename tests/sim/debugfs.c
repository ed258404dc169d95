// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: /sys/kernel/debug/kfdsim/<n>/, one directory per GPU
 *
 *	state		what is mapped and what runs
 *	counters	name value, one per line
 *	debugger	registers of the shader debugger, and its settings of each process, see debugger.c
 *	submits		"U TSC" or "R TSC", oldest first: the time stamp counter when the HIQ was rung
 *			for an UNMAP_QUEUES or a RUN_LIST; 0 on a kernel that does not tell
 *			(SIM_HIQ_KICK). MES: when amdkfd asked for a REMOVE_QUEUE or a SUSPEND
 *			("U"), or an ADD_QUEUE ("A")
 *	evict		write a PID: memory pressure on it, that is its eviction fence
 *	restore		write a PID: its userptrs that were invalidated are looked up now, not a little later;
 *			returns when its queues may go on
 *	vram_pressure	bytes of VRAM that somebody else takes, see evict.c
 *	hang		write 1: the scheduler stops at its next packet, until a reset; 0: it
 *			does not. The same as fault/hang
 *	reset		write 1: the GPU is reset; 0: wait for a reset that somebody else has asked for.
 *			Returns when that is over
 *	sleep		write 1: suspend to RAM, 0: resume; return when amdkfd has done it
 *	reset_lock	write N: N ms without a reset in which its semaphore is taken, as by
 *			amdgpu_test_ib of amdgpu's debugfs; returns when that is over
 *	table_lock	write N: N ms in which a look-up in KFD's table of processes goes on, or until
 *			a signal; returns when that is over
 *	process_hold	write "PID N": a look-up finds the process of PID, and has a reference to it for N ms; EFAULT: it
 *			was freed meanwhile. Needs slub_debug=P
 *	left_by_stock	pages that are left for a known fault of stock amdkfd: if it is exactly so many
 *			when the module is unloaded, there is no warning
 *	kicks		write N: the engine's thread is kicked every N us, as rings and evictions on other
 *			CPUs do it; 0: it is not
 *	suspend		MES: write "all" or the doorbell of a queue (as in state): SUSPEND its
 *			gang. The reader of state sees it as held
 *	resume		the same for RESUME
 *	fault/<name>	write N: the N-th occurrence from now fails, once; N+: all from the
 *			N-th on; always: all; 0: none. fault/no_preempt and hang_queue also take "pid N":
 *			all unmaps of a queue of that process. Reading shows the setting (N
 *			counts down), how often it occurred since it was set, and how often it
 *			has struck. Names: see fault.h
 */
#include "hws.h"
#include "execute.h"
#include "kfd_priv.h"
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/pid.h>
#include <linux/poison.h>
#include <linux/sched/mm.h>

static struct dentry *root;
static unsigned int root_users;

static const char * const state_names[] = {
	[ENG_Q_OFF] = "off", [ENG_Q_RESTORING] = "restoring", [ENG_Q_ON] = "on",
	[ENG_Q_SAVING] = "saving",
};

static const char * const kind_names[] = {
	[SIM_QUEUE_AQL] = "aql", [SIM_QUEUE_SDMA] = "sdma", [SIM_QUEUE_PM4] = "pm4",
};

static void show_queue(struct seq_file *m, struct sim_queue *q)
{
	struct eng_work *w;
	u32 i;

	seq_printf(m, " queue doorbell %#x %s %s%s level %u pipe_prio %u queue_prio %u rptr %llu next %llu wptr %llu packets %llu ran_ns %llu saves %llu%s\n",
		   q->doorbell, kind_names[q->kind], state_names[q->eq.state],
		   q->eq.held ? " held" : "", q->eq.level, q->eq.pipe_prio,
		   q->eq.queue_prio, q->rptr, q->next, q->wptr, q->packets, q->eq.ran_ns,
		   q->eq.saves, q->error ? " ERROR" : "");
	for (i = 0; i < q->eq.nwork; i++) {
		w = &q->eq.work[i];
		seq_printf(m, "  packet type %llu waves %llu %s left_ns %llu ran_ns %llu\n",
			   w->user[WORK_TYPE], w->user[WORK_WAVES],
			   w->running ? "running" : "waiting", w->left_ns, w->ran_ns);
	}
}

static int state_show(struct seq_file *m, void *unused)
{
	struct sim_gpu *g = m->private;
	struct sim_hws *h = g->hws;
	struct eng_queue *q;
	struct eng_proc *p;

	mutex_lock(&h->lock);
	seq_printf(m, "profile %s%s%s\n", g->prof->name, h->hiq_dead ? " HUNG" : "",
		   h->oversubscribed ? " over-subscribed" : "");
	seq_printf(m, "processes %u queues %u hqds %u/%u slots %u/%u\n", h->nprocs, h->nqueues,
		   eng_used_hqds(&h->eng), h->eng.cfg.hqds, eng_used_slots(&h->eng),
		   h->eng.cfg.slots);
	for (p = h->eng.procs; p; p = p->next) {
		seq_printf(m, "process pasid %#x vmid %d%s\n", to_sp(p)->pasid,
			   p->vmid < 0 ? -1 : (int)g->adev.vm_manager.first_kfd_vmid + p->vmid, p->leaving ? " leaving" : "");
		for (q = p->queues; q; q = q->next)
			show_queue(m, to_sq(q));
	}
	mutex_unlock(&h->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static int counters_show(struct seq_file *m, void *unused)
{
	struct sim_gpu *g = m->private;
	struct sim_hws *h = g->hws;

	mutex_lock(&h->lock);
	seq_printf(m, "write_data %llu\n", h->n_write);
	seq_printf(m, "runlists %llu\nunmaps %llu\nqueries %llu\n", h->n_runlist, h->n_unmap,
		   h->n_query);
	seq_printf(m, "mes_adds %llu\nmes_removes %llu\nmes_suspends %llu\nmes_resumes %llu\nmes_miscs %llu\nmes_suspend_max_ns %llu\n",
		   h->n_mes_add, h->n_mes_remove, h->n_mes_suspend, h->n_mes_resume,
		   h->n_mes_misc, h->suspend_max_ns);
	seq_printf(m, "packets %llu\ndispatches %llu\nbarriers %llu\nsdma_packets %llu\npm4_packets %llu\n",
		   h->n_packet, h->n_dispatch, h->n_barrier, h->n_sdma, h->n_pm4);
	seq_printf(m, "doorbells %llu\ninterrupts %llu\ninterrupts_lost %llu\n", h->n_db, h->n_irq,
		   h->n_irq_lost);
	seq_printf(m, "saves %llu\nsave_restore_ns %llu\nbusy_ns %llu\n", h->eng.saves,
		   h->eng.save_time_ns, h->eng.busy_ns);
	seq_printf(m, "unmap_last_ns %llu\nunmap_max_ns %llu\nunmap_sum_ns %llu\n",
		   h->unmap_last_ns, h->unmap_max_ns, h->unmap_sum_ns);
	seq_printf(m, "bad_packets %llu\nqueue_errors %llu\nvm_faults %llu\n", h->n_bad, h->n_error,
		   h->n_vmfault);
	seq_printf(m, "steps %llu\nkicks %llu\nresets %lld\nhqd_resets %llu\noccupancy_reads %lld\n", h->n_step,
		   h->n_kick, atomic64_read(&g->n_reset), READ_ONCE(h->n_hqd_reset),
		   atomic64_read(&h->n_occupancy));
	seq_printf(m, "events %llu\nvisits %llu\nmap_visits %llu\nstalled_ns %llu\n", h->eng.events,
		   h->eng.visits, h->eng.map_visits, h->eng.stalled_ns);
	sim_exec_counters(h, m);
	mutex_unlock(&h->lock);
	sim_mem_counters(g, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int submits_show(struct seq_file *m, void *unused)
{
	struct sim_gpu *g = m->private;
	struct sim_hws *h = g->hws;
	u64 i;

	mutex_lock(&h->lock);
	i = h->nsubmit > SIM_SUBMITS ? h->nsubmit - SIM_SUBMITS : 0;
	for (; i < h->nsubmit; i++)
		seq_printf(m, "%c %llu\n", h->submits[i % SIM_SUBMITS].what,
			   h->submits[i % SIM_SUBMITS].tsc);
	mutex_unlock(&h->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(submits);

static ssize_t evict_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	struct sim_gpu *g = file->private_data;
	struct dma_fence *ef;
	pid_t pid;
	int r = kstrtoint_from_user(ubuf, n, 0, &pid);

	if (r)
		return r;
	ef = sim_vm_eviction_fence(g, pid);
	if (!ef)
		return -ESRCH;
	dma_fence_enable_sw_signaling(ef);	/* as TTM does when it wants the memory */
	dma_fence_put(ef);
	return n;
}

static const struct file_operations evict_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = evict_write,
};

static ssize_t restore_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	pid_t pid;
	int r = kstrtoint_from_user(ubuf, n, 0, &pid);

	if (!r)
		r = sim_vm_user_restore(file->private_data, pid);
	return r ? : n;
}

static const struct file_operations restore_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = restore_write,
};

static ssize_t hang_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	struct sim_gpu *g = file->private_data;
	bool on;
	int r = kstrtobool_from_user(ubuf, n, &on);

	if (r)
		return r;
	r = sim_fault_set(g, SIM_FAULT_HANG, on ? "1" : "0");
	return r ? : n;
}

static const struct file_operations hang_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = hang_write,
};

static ssize_t reset_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	bool on;
	int r = kstrtobool_from_user(ubuf, n, &on);

	if (!r && on)
		sim_reset_request(file->private_data);
	else if (!r)
		flush_work(&((struct sim_gpu *)file->private_data)->adev.kfd.reset_work);
	return r ? : n;
}

static const struct file_operations reset_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = reset_write,
};

static ssize_t sleep_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	bool down;
	int r = kstrtobool_from_user(ubuf, n, &down);

	if (!r)
		r = sim_sleep(file->private_data, down);
	return r ? : n;
}

static const struct file_operations sleep_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = sleep_write,
};

static ssize_t reset_lock_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	struct sim_gpu *g = file->private_data;
	unsigned int ms;
	int r = kstrtouint_from_user(ubuf, n, 0, &ms);

	if (r)
		return r;
	if (ms > 10000)
		return -ERANGE;
	down_write(&g->adev.reset_domain->sem);
	msleep(ms);
	up_write(&g->adev.reset_domain->sem);
	return n;
}

static const struct file_operations reset_lock_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = reset_lock_write,
};

/* A look-up of a process that takes its time: no grace period of KFD's table ends meanwhile */
static ssize_t table_lock_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	unsigned int ms;
	int idx, r = kstrtouint_from_user(ubuf, n, 0, &ms);

	if (r)
		return r;
	if (ms > 600000)
		return -ERANGE;
	idx = srcu_read_lock(&kfd_processes_srcu);
	msleep_interruptible(ms);
	srcu_read_unlock(&kfd_processes_srcu, idx);
	return n;
}

static const struct file_operations table_lock_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = table_lock_write,
};

/*
 * "PID MS": a look-up that finds the process of PID, as soon as there is one, and keeps its reference for MS. EFAULT if the
 * process was freed meanwhile, which needs a kernel that poisons what is freed (slub_debug=P).
 */
static ssize_t process_hold_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	unsigned long end = jiffies + 5 * HZ;
	struct kfd_process *p = NULL;
	struct task_struct *task;
	struct mm_struct *mm;
	unsigned int ms;
	char text[32];
	int pid;

	if (n >= sizeof(text) || copy_from_user(text, ubuf, n))
		return -EINVAL;
	text[n] = 0;
	if (sscanf(text, "%d %u", &pid, &ms) != 2 || ms > 10000)
		return -EINVAL;
	rcu_read_lock();
	task = get_pid_task(find_vpid(pid), PIDTYPE_PID);
	rcu_read_unlock();
	mm = task ? get_task_mm(task) : NULL;
	if (task)
		put_task_struct(task);
	if (!mm)
		return -ESRCH;
	while (!p && time_before(jiffies, end)) {
		p = kfd_lookup_process_by_mm(mm);
		if (!p)
			usleep_range(20, 30);
	}
	mmput(mm);
	if (!p)
		return -ESRCH;
	msleep(ms);
	if (kref_read(&p->ref) == 0x01010101U * POISON_FREE)
		return -EFAULT;
	kfd_unref_process(p);
	return n;
}

static const struct file_operations process_hold_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = process_hold_write,
};

static ssize_t kicks_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	unsigned int us;
	int r = kstrtouint_from_user(ubuf, n, 0, &us);

	if (!r)
		r = sim_kick_set(file->private_data, us);
	return r ? : n;
}

static const struct file_operations kicks_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = kicks_write,
};

static ssize_t gangs_write(struct file *file, const char __user *ubuf, size_t n, bool resume)
{
	char buf[16];
	int r;

	if (n >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, n))
		return -EFAULT;
	buf[n] = 0;
	r = sim_mes_gangs(file->private_data, strim(buf), resume);
	return r ? : n;
}

static ssize_t suspend_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	return gangs_write(file, ubuf, n, false);
}

static const struct file_operations suspend_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = suspend_write,
};

static ssize_t resume_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	return gangs_write(file, ubuf, n, true);
}

static const struct file_operations resume_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = resume_write,
};

static enum sim_fault point_fault(const struct sim_fault_point *p)
{
	return p - p->g->faults;
}

static int fault_show(struct seq_file *m, void *unused)
{
	struct sim_fault_point *p = m->private;

	sim_fault_show(p->g, point_fault(p), m);
	return 0;
}

static int fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, fault_show, inode->i_private);
}

static ssize_t fault_write(struct file *file, const char __user *ubuf, size_t n, loff_t *pos)
{
	struct sim_fault_point *p = ((struct seq_file *)file->private_data)->private;
	char buf[32];
	int r;

	if (n >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, n))
		return -EFAULT;
	buf[n] = 0;
	r = sim_fault_set(p->g, point_fault(p), strim(buf));
	return r ? : n;
}

static const struct file_operations fault_fops = {
	.owner = THIS_MODULE,
	.open = fault_open,
	.read = seq_read,
	.write = fault_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * sim_debugfs_init - make the directory of a GPU
 * @g: the GPU; probing is serial
 */
void sim_debugfs_init(struct sim_gpu *g)
{
	struct dentry *dir;
	char name[8];
	int f;

	if (!root_users++)
		root = debugfs_create_dir("kfdsim", NULL);
	snprintf(name, sizeof(name), "%u", g->index);
	g->dbg = debugfs_create_dir(name, root);
	debugfs_create_file("state", 0444, g->dbg, g, &state_fops);
	debugfs_create_file("counters", 0444, g->dbg, g, &counters_fops);
	debugfs_create_file("submits", 0444, g->dbg, g, &submits_fops);
	debugfs_create_file("evict", 0200, g->dbg, g, &evict_fops);
	debugfs_create_file("restore", 0200, g->dbg, g, &restore_fops);
	debugfs_create_u32("left_by_stock", 0600, g->dbg, &g->left_by_stock);
	debugfs_create_file("hang", 0200, g->dbg, g, &hang_fops);
	debugfs_create_file("reset", 0200, g->dbg, g, &reset_fops);
	debugfs_create_file("sleep", 0200, g->dbg, g, &sleep_fops);
	debugfs_create_file("reset_lock", 0200, g->dbg, g, &reset_lock_fops);
	debugfs_create_file("table_lock", 0200, g->dbg, g, &table_lock_fops);
	debugfs_create_file("process_hold", 0200, g->dbg, g, &process_hold_fops);
	debugfs_create_file("kicks", 0200, g->dbg, g, &kicks_fops);
	if (g->prof->mes) {
		debugfs_create_file("suspend", 0200, g->dbg, g, &suspend_fops);
		debugfs_create_file("resume", 0200, g->dbg, g, &resume_fops);
	}
	sim_mem_debugfs(g);
	sim_debugger_debugfs(g);
	dir = debugfs_create_dir("fault", g->dbg);
	for (f = 0; f < SIM_FAULTS; f++)
		debugfs_create_file(sim_fault_names[f], 0644, dir, &g->faults[f], &fault_fops);
}

/**
 * sim_debugfs_fini - remove it
 * @g: the GPU
 */
void sim_debugfs_fini(struct sim_gpu *g)
{
	debugfs_remove(g->dbg);
	/* nobody can write to kicks any more */
	sim_kick_set(g, 0);
	if (!--root_users)
		debugfs_remove(root);
}
