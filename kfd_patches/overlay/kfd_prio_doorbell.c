// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the doorbell trap, which reports that a process without work has rung a doorbell.
 *
 * Stock KFD maps all doorbells of a process on a GPU at mmap(2). While priorities are in use, the
 * first access maps them. When a claim or a neighbour has no work, the GPU's thread unmaps ("zaps")
 * these pages, so that the next ring is a page fault. The following order loses no ring:
 *
 *	process		packet, write index, doorbell
 *	fault		ARMED -> RUNG and wake; map all pages; ARMED -> RUNG again and wake
 *	GPU's thread	RUNG -> ARMED; zap; full barrier; read the indices again
 *
 * A ring before the zap is visible in the indices; a ring after the zap faults. If the trap is
 * armed between the first mark of the fault and its last page, the second mark of the fault undoes
 * that. Without the second mark the trap would stay ARMED with the doorbells mapped, and later
 * rings would be lost.
 *
 * unmap_mapping_pages() acts on an address space, and all processes share the inode of /dev/kfd. So
 * each process gets an inode of its own, as DRM does for its devices. A zap then needs neither
 * mmap_lock nor a walk over VMAs. vm_pgoff stays as the process gave it, because CRIU reads it.
 *
 * A zap does not reach two kinds of mapping:
 * - a mapping through a descriptor that another process has opened, or that was opened while no
 *   inode could be allocated: it is not in the address space of the process's inode;
 * - a mapping at another offset of /dev/kfd than the first one, because KFD uses only the type and
 *   the GPU in the offset.
 *
 * A process with such a mapping, or with more than KFD_PRIO_MAX_MAPPINGS mappings, counts as having
 * work on that GPU until it ends (kfd_prio_doorbell_traps()).
 *
 * The trap does not report doorbells that other devices write. The safety poll of the engine finds
 * their work.
 */
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_group.h"

#define KFD_PRIO_FS_MAGIC	0x4b505249	/* "KPRI"; not visible to users */

static struct vfsmount *kfd_prio_mnt;

static int kfd_prio_fs_init_context(struct fs_context *fc)
{
	return init_pseudo(fc, KFD_PRIO_FS_MAGIC) ? 0 : -ENOMEM;
}

/* No .owner: the mount of kfdprio itself would keep the module from being unloaded */
static struct file_system_type kfd_prio_fs_type = {
	.name = "kfd_prio",
	.init_fs_context = kfd_prio_fs_init_context,
	.kill_sb = kill_anon_super,
};

/**
 * kfd_prio_doorbell_init() - mount the file system that has an inode for each process
 *
 * If that fails, doorbells are not trapped, and the safety poll finds work.
 *
 * Context: module load
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
 * kfd_prio_doorbell_exit() - unmount the file system
 *
 * Context: module unload, when no process is left
 */
void kfd_prio_doorbell_exit(void)
{
	if (kfd_prio_mnt)
		kern_unmount(kfd_prio_mnt);
}

/**
 * kfd_prio_doorbell_inode() - the inode through whose address space a process maps /dev/kfd
 * @p: the process, which gets an inode if it has none
 *
 * Context: process, may sleep; two threads may call it at once, hence cmpxchg()
 * Return: the inode, or NULL if none could be allocated: the doorbells of @p cannot be trapped
 *	then, see kfd_prio_doorbell_traps()
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
 * kfd_prio_hook_context_created() - a file is about to become that of a further context of its
 * process
 * @p: the new context, a kfd_process of its own with the same mm (Linux 7.x)
 * @filep: the file, whose private_data still is the first context
 *
 * Gives the context the serial of the first context for the user space interface, pins the mm, and
 * shares the inode.
 *
 * Mappings through the file stay in the inode's address space, so the new context shares the inode.
 * A zap for one context also unmaps the doorbells of the other, whose next ring maps them again.
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
 * kfd_prio_hook_process_free() - KFD is about to free a process
 * @p: the process; its last file and its last VMA are gone
 *
 * Frees what kfdprio has allocated for the process.
 *
 * Context: KFD's workqueue, no lock
 */
void kfd_prio_hook_process_free(struct kfd_process *p)
{
	int i;

	/* A process without a serial was not published, and its timer not initialised */
	if (p->prio.serial)
		hrtimer_cancel(&p->prio.drain_timer);
	kfd_prio_orphan_free(p);
	for (i = 0; i < KFD_PRIO_GROUP_KINDS; i++)
		kfd_prio_group_put(p->prio.group[i]);
	iput(p->prio.inode);
	if (p->prio.mm)
		mmdrop(p->prio.mm);
}

/**
 * kfd_prio_hook_unmap_range() - KFD unmaps all mappings of a GPU, which is being reset
 * @start: offset in /dev/kfd, bytes
 * @len: bytes
 *
 * KFD unmaps them in the address space of /dev/kfd; the hook does so in those of the processes. A
 * later access is a SIGBUS until the process maps its doorbells again. Trees before 7.x leave
 * doorbells mapped.
 *
 * Context: process, may sleep
 */
void kfd_prio_hook_unmap_range(loff_t start, loff_t len)
{
	/*
	 * The type of a mapping is in the top bits of its offset, so as loff_t the offset is
	 * negative
	 */
	pgoff_t first = (u64)start >> PAGE_SHIFT, last = ((u64)start + len - 1) >> PAGE_SHIFT;
	struct kfd_process *p = NULL;
	struct kfd_prio_qpd *qp;
	struct inode *inode;
	int i;

	/*
	 * The walk includes processes whose mm is gone, because another process may have mapped
	 * doorbells through their descriptor
	 */
	while ((p = kfd_prio_processes_next(p))) {
		inode = READ_ONCE(p->prio.inode);
		if (!inode)
			continue;
		for (i = 0; i < p->n_pdds; i++) {
			qp = &p->pdds[i]->qpd.prio;
			/* doorbell.pfn first: pairs with kfd_prio_hook_doorbell_mmap() */
			if (!smp_load_acquire(&qp->doorbell.pfn))
				continue;
			if (qp->doorbell.pgoff >= first && qp->doorbell.pgoff <= last)
				WRITE_ONCE(qp->doorbell.lost, true);
		}
		/* doorbell.lost, then the zap: pairs with kfd_prio_doorbell_fault() */
		smp_mb();
		unmap_mapping_range(inode->i_mapping, start, len, 1);
	}
}

/**
 * kfd_prio_doorbell_traps() - whether the doorbells of a process can be trapped
 * @qpd: the process on a GPU
 *
 * If it returns false, the process counts as having work at any time: a mapping of its doorbells is
 * not reached by a zap, the process has no inode, or KFD itself traps doorbells (ROCm).
 *
 * Context: any
 */
bool kfd_prio_doorbell_traps(const struct qcm_process_device *qpd)
{
	return !kfd_prio_doorbells_are_kfds() && READ_ONCE(qpd->pqm->process->prio.inode) &&
	       !READ_ONCE(qpd->prio.doorbell.untrapped);
}

/**
 * kfd_prio_doorbell_zap() - unmap the doorbells of a process, so that its next ring faults
 * @pdd: the process on a GPU, held; its trap is KFD_PRIO_TRAP_ARMED already
 *
 * The caller reads the indices afterwards, because a ring before the zap has not faulted.
 *
 * Context: process; not under the DQM lock, because it takes i_mmap_rwsem
 */
void kfd_prio_doorbell_zap(struct kfd_process_device *pdd)
{
	struct kfd_prio_qpd *qp = &pdd->qpd.prio;

	lockdep_assert_not_held(&pdd->dev->dqm->lock_hidden);
	/* doorbell.pfn first: pairs with kfd_prio_hook_doorbell_mmap() */
	if (smp_load_acquire(&qp->doorbell.pfn))
		unmap_mapping_pages(pdd->process->prio.inode->i_mapping, qp->doorbell.pgoff,
				    qp->doorbell.pages, true);
	/*
	 * The zap, then the indices: pairs with the process, which writes the write index before it
	 * rings
	 */
	smp_mb();
}
