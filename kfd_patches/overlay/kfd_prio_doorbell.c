// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the doorbell trap: how the ring of a doorbell is noticed.
 *
 * KFD maps the doorbells of a process on a GPU at mmap(2), all at once; while priorities
 * are in use, the first access does.  While a claim has no work we take these pages
 * away, so that its next ring faults; likewise those of a neighbour, which may only be preempted.
 * The order that loses no ring:
 *
 *	client	packet, write index, doorbell
 *	fault	ARMED -> RUNG and wake; map all pages; ARMED -> RUNG again and wake
 *	arm	RUNG -> ARMED; zap; full barrier; read the indices again
 *
 * A ring before the zap is seen by the indices, one after it faults.  An arm between
 * the fault's first mark and its last page is undone by its second mark; without that
 * the trap would be lost for good, with the doorbells mapped and the trap ARMED.
 *
 * /dev/kfd has one inode for all processes, and unmap_mapping_pages() acts on an address
 * space: each process gets one of its own (the way DRM does it for its devices), so that a
 * zap needs neither mmap_lock nor a walk over VMAs.  vm_pgoff stays what the process
 * gave: CRIU reads it.
 *
 * A zap does not reach two kinds of mapping: those through a descriptor that another process has
 * opened, or that was opened while there was no memory for an inode, which are not in that address
 * space; and those at another offset of /dev/kfd than the first, for KFD reads the type and the GPU
 * of it only.  A process with such a mapping counts as having work on that GPU for as long as it
 * lives (kfd_prio_doorbell_traps()).
 *
 * Not heard: doorbells written by other devices.  The engine's safety poll finds their work.
 */
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"

#define KFD_PRIO_FS_MAGIC	0x4b505249	/* "KPRI"; shown nowhere */

static struct vfsmount *kfd_prio_mnt;

static int kfd_prio_fs_init_context(struct fs_context *fc)
{
	return init_pseudo(fc, KFD_PRIO_FS_MAGIC) ? 0 : -ENOMEM;
}

/* no owner: our own mount would keep the module from being unloaded */
static struct file_system_type kfd_prio_fs_type = {
	.name = "kfd_prio",
	.init_fs_context = kfd_prio_fs_init_context,
	.kill_sb = kill_anon_super,
};

/**
 * kfd_prio_doorbell_init() - make the file system that holds one inode per process
 *
 * Without it doorbells are not trapped and the safety poll finds work.
 */
void kfd_prio_doorbell_init(void)
{
	kfd_prio_mnt = kern_mount(&kfd_prio_fs_type);
	if (IS_ERR(kfd_prio_mnt)) {
		pr_warn("kfdprio: cannot trap doorbells (%ld): idle processes are polled every safety_poll_us\n",
			PTR_ERR(kfd_prio_mnt));
		kfd_prio_mnt = NULL;
	}
}

/**
 * kfd_prio_doorbell_exit() - no process is left
 */
void kfd_prio_doorbell_exit(void)
{
	if (kfd_prio_mnt)
		kern_unmount(kfd_prio_mnt);
}

/**
 * kfd_prio_doorbell_inode() - the inode whose address space has what a process maps of /dev/kfd
 * @p: the process; it gets one if it has none
 *
 * Context: process, may sleep; cmpxchg() because two threads may open at once
 * Return: the inode, or NULL if there is none: the doorbells of @p are polled
 */
struct inode *kfd_prio_doorbell_inode(struct kfd_process *p)
{
	struct inode *inode = READ_ONCE(p->prio.inode);

	if (inode || !kfd_prio_mnt)
		return inode;
	inode = alloc_anon_inode(kfd_prio_mnt->mnt_sb);
	if (IS_ERR(inode))
		return NULL;
	if (cmpxchg(&p->prio.inode, NULL, inode)) {
		iput(inode);
		inode = p->prio.inode;
	}
	return inode;
}

/**
 * kfd_prio_hook_context_created() - a file becomes that of another context of its process
 * @p: the new context, a kfd_process of its own with the same mm
 * @filep: its file, which was opened for the process and still is that of its first context
 *
 * What is mapped through the file stays where it is, so the context shares the address space.
 * A zap for one of the two takes the doorbells of the other, too; its next ring maps them again.
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_context_created(struct kfd_process *p, struct file *filep)
{
	const struct kfd_process *primary = filep->private_data;
	struct inode *inode = filep->f_mapping->host;

	WRITE_ONCE(p->prio.family, primary->prio.family);
	mmgrab(p->mm);
	p->prio.mm = p->mm;
	if (kfd_prio_mnt && inode && inode->i_sb == kfd_prio_mnt->mnt_sb) {
		ihold(inode);
		p->prio.inode = inode;
	}
}

/**
 * kfd_prio_hook_process_free() - the last file and the last VMA of a process are gone
 * @p: the process
 */
void kfd_prio_hook_process_free(struct kfd_process *p)
{
	kfd_prio_orphan_free(p);
	iput(p->prio.inode);
	if (p->prio.mm)
		mmdrop(p->prio.mm);
}

/**
 * kfd_prio_hook_unmap_range() - KFD takes away what is mapped of a GPU: it is being reset
 * @start: offset in /dev/kfd, bytes
 * @len: bytes
 *
 * KFD does so in the address space that it gives all files; ours are elsewhere.  After that an
 * access is a SIGBUS, until the process maps its doorbells anew.  Trees before 7.x leave the
 * doorbells mapped.
 *
 * Context: process, may sleep
 */
void kfd_prio_hook_unmap_range(loff_t start, loff_t len)
{
	/* the type of a mapping is in the top bits of its offset: loff_t, it is negative */
	pgoff_t first = (u64)start >> PAGE_SHIFT, last = ((u64)start + len - 1) >> PAGE_SHIFT;
	struct kfd_process *p = NULL;
	struct kfd_prio_qpd *qp;
	struct inode *inode;
	int i;

	/* those that are gone, too: another process may have mapped through their descriptor */
	while ((p = kfd_prio_processes_next(p))) {
		inode = READ_ONCE(p->prio.inode);
		if (!inode)
			continue;
		for (i = 0; i < p->n_pdds; i++) {
			qp = &p->pdds[i]->qpd.prio;
			/* pairs with kfd_prio_hook_doorbell_mmap() */
			if (!smp_load_acquire(&qp->doorbell_pfn))
				continue;
			if (qp->doorbell_pgoff >= first && qp->doorbell_pgoff <= last)
				WRITE_ONCE(qp->doorbell_lost, true);
		}
		/* marked, then zapped: pairs with kfd_prio_doorbell_fault() */
		smp_mb();
		unmap_mapping_range(inode->i_mapping, start, len, 1);
	}
}

/**
 * kfd_prio_doorbell_traps() - can the doorbells of a process be trapped?
 * @qpd: the process on a GPU
 *
 * One that may write them through a mapping that no zap reaches may have work at any time.
 *
 * Context: any
 */
bool kfd_prio_doorbell_traps(const struct qcm_process_device *qpd)
{
	return !kfd_prio_doorbells_are_kfds() && READ_ONCE(qpd->pqm->process->prio.inode) &&
	       !READ_ONCE(qpd->prio.doorbell_untrapped);
}

/**
 * kfd_prio_doorbell_zap() - from now on a ring of this process faults
 * @pdd: a process whose trap is KFD_PRIO_TRAP_ARMED already, referenced
 *
 * The caller must look at the indices afterwards: a ring before the zap has not faulted.
 *
 * Context: process; not under the DQM lock (takes i_mmap_rwsem)
 */
void kfd_prio_doorbell_zap(struct kfd_process_device *pdd)
{
	struct kfd_prio_qpd *qp = &pdd->qpd.prio;

	lockdep_assert_not_held(&pdd->dev->dqm->lock_hidden);
	/* pairs with kfd_prio_hook_doorbell_mmap() */
	if (smp_load_acquire(&qp->doorbell_pfn))
		unmap_mapping_pages(pdd->process->prio.inode->i_mapping, qp->doorbell_pgoff,
				    qp->doorbell_pages, true);
	/* the zap, then the indices: pairs with the client's write index before its ring */
	smp_mb();
}
