// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: amdkfd's end on a GPU that goes away, while processes use it or not.
 *
 * What the amdgpu of 6.1 and 6.12 does leaves nothing that works: on an orderly removal
 * (sysfs) it calls kgd2kfd_suspend() and never resumes, so that kfd_locked stays and
 * /dev/kfd is EINVAL for all GPUs; on a surprise removal it calls kgd2kfd_device_exit() at
 * once, which frees what the processes still use. The parameter removal= shows both.
 * The default does as a later amdgpu (patch on amd-gfx, December 2025): the
 * processes that have /dev/kfd open get SIGBUS, and the device ends when the last of them
 * has ended. Every process has a part in every GPU that was there when it opened /dev/kfd,
 * so all of them must go; new ones use the GPUs that remain.
 * Guess: who does not die of SIGBUS within SIGBUS_MS is killed; amdgpu waits for ever.
 */
#include "hws.h"
#include "kfd_priv.h"
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

static char *removal = "teardown";
module_param(removal, charp, 0644);
MODULE_PARM_DESC(removal, "what becomes of processes when a GPU is removed: teardown (SIGBUS, as newer amdgpu), suspend or surprise (as 6.12's amdgpu; do not expect to survive)");

#define SIGBUS_MS	2000
#define COMPLAIN_MS	10000

/* All processes */
static void signal_users(struct sim_gpu *g, int sig)
{
	struct kfd_process *p;
	unsigned int bkt;
	int idx = srcu_read_lock(&kfd_processes_srcu);

	hash_for_each_rcu(kfd_processes_table, bkt, p, kfd_processes) {
		dev_notice(g->adev.dev, "kfdsim: GPU removed, signal %d to process %d\n", sig,
			   p->lead_thread->pid);
		kill_pid(task_tgid(p->lead_thread), sig, 1);
	}
	srcu_read_unlock(&kfd_processes_srcu, idx);
}

/* An SMI file, too, is a part of the device; it may be closed after /dev/kfd */
static bool in_use(struct kfd_dev *kfd)
{
	return kfd->init_complete && (SIM_KFD_USERS(kfd) || !SIM_KFD_SMI_IDLE(kfd));
}

/* Ends with the list of processes locked and none of them using @kfd */
static void wait_users(struct sim_gpu *g, struct kfd_dev *kfd)
{
	unsigned int ms;

	sim_kfd_processes_lock();
	for (ms = 0; in_use(kfd); ms++) {
		if (!ms)
			signal_users(g, SIGBUS);
		else if (ms % SIGBUS_MS == 0)
			signal_users(g, SIGKILL);
		if (ms && ms % COMPLAIN_MS == 0)
			dev_err(g->adev.dev, "kfdsim: waiting for processes that use the removed GPU; is /dev/kfd open in a child?\n");
		sim_kfd_processes_unlock();
		usleep_range(1000, 1100);
		sim_kfd_processes_lock();
	}
	if (SIM_KFD_GRACE_MS && ms)
		msleep(SIM_KFD_GRACE_MS);
}

/**
 * sim_kfd_stop - end amdkfd on a GPU; sends processes away that use it
 * @g: the GPU; its DRM device is unplugged
 */
void sim_kfd_stop(struct sim_gpu *g)
{
	struct kfd_dev *kfd = g->adev.kfd.dev;

	if (!kfd)
		return;
	if (strcmp(removal, "teardown")) {
		sim_hws_irq_enable(g, false);
		if (!strcmp(removal, "suspend"))
			kgd2kfd_suspend(kfd, SIM_KFD_SUSPEND_ALL);	/* and its device stays for ever */
		else
			kgd2kfd_device_exit(kfd);
		g->adev.kfd.dev = NULL;
		return;
	}
	if (SIM_KFD_EXIT_UNLOCKS)
		kgd2kfd_suspend(kfd, SIM_KFD_SUSPEND_ALL);
	wait_users(g, kfd);
	WRITE_ONCE(g->leaving, true);	/* no reset begins any more */
	sim_kfd_processes_unlock();
	cancel_work_sync(&g->adev.kfd.reset_work);
	wait_users(g, kfd);
	sim_hws_irq_enable(g, false);
	kgd2kfd_device_exit(kfd);
	g->adev.kfd.dev = NULL;
	sim_kfd_processes_unlock();
}
