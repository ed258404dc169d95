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
 * Not heard: doorbells written by other devices, and mappings of processes for which there
 * was no memory for an inode.  The engine's safety poll finds their work.
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
		pr_warn("kfdprio: doorbells cannot be trapped (%ld), they are polled\n",
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
 * kfd_prio_hook_process_opened() - a process has opened /dev/kfd
 * @p: the process, which may have opened it before
 * @filep: the new file, through which nothing is mapped yet
 *
 * Context: process; cmpxchg() because two threads may open at once
 */
void kfd_prio_hook_process_opened(struct kfd_process *p, struct file *filep)
{
	struct inode *inode = READ_ONCE(p->prio.inode);

	kfd_prio_gpu_opened();
	if (!inode && kfd_prio_mnt) {
		inode = alloc_anon_inode(kfd_prio_mnt->mnt_sb);
		if (IS_ERR(inode))
			return;
		if (cmpxchg(&p->prio.inode, NULL, inode)) {
			iput(inode);
			inode = p->prio.inode;
		}
	}
	if (inode)
		filep->f_mapping = inode->i_mapping;
}

/**
 * kfd_prio_hook_context_created() - a file becomes that of another context of its process
 * @p: the new context, a kfd_process of its own with the same mm
 * @filep: its file, which was opened for the process
 *
 * What is mapped through the file stays where it is, so the context shares the address space.
 * A zap for one of the two takes the doorbells of the other, too; its next ring maps them again.
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_context_created(struct kfd_process *p, struct file *filep)
{
	struct inode *inode = filep->f_mapping->host;

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
	iput(p->prio.inode);
	if (p->prio.mm)
		mmdrop(p->prio.mm);
}

static bool kfd_prio_trap_rung(struct qcm_process_device *qpd)
{
	return atomic_cmpxchg(&qpd->prio.trap, KFD_PRIO_TRAP_ARMED, KFD_PRIO_TRAP_RUNG) ==
	       KFD_PRIO_TRAP_ARMED;
}

/*
 * Under the VMA lock or mmap_lock.  The engine may wait for the unmap in here; the store
 * that faulted is repeated afterwards.
 */
static vm_fault_t kfd_prio_doorbell_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	/* lives as long as the process, which the VMA's file holds */
	struct kfd_process_device *pdd = vma->vm_private_data;
	struct qcm_process_device *qpd = &pdd->qpd;
	pgprot_t prot = pgprot_decrypted(vma->vm_page_prot);
	vm_fault_t ret = VM_FAULT_NOPAGE, r;
	unsigned long addr, pfn;

	if (READ_ONCE(qpd->prio.doorbell_lost))
		return VM_FAULT_SIGBUS;
	atomic_inc(&qpd->prio.faults);
	if (kfd_prio_trap_rung(qpd))
		kfd_prio_engine_rung(pdd);

	pfn = qpd->prio.doorbell_pfn + vma->vm_pgoff - qpd->prio.doorbell_pgoff;
	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE, pfn++) {
		r = vmf_insert_pfn_prot(vma, addr, pfn, prot);
		if (addr == (vmf->address & PAGE_MASK))
			ret = r;
	}

	if (kfd_prio_trap_rung(qpd))
		kfd_prio_engine_rung(pdd);
	WRITE_ONCE(qpd->prio.fault_end, ktime_get_ns());
	/* pairs with kfd_prio_in_fault() */
	atomic_dec_return_release(&qpd->prio.faults);
	/* mapped, then looked: pairs with kfd_prio_hook_unmap_range() */
	smp_mb();
	if (READ_ONCE(qpd->prio.doorbell_lost)) {
		unmap_mapping_pages(vma->vm_file->f_mapping, vma->vm_pgoff, vma_pages(vma), true);
		ret = VM_FAULT_SIGBUS;
	}
	return ret;
}

/*
 * With ->map_pages the kernel runs ->fault under the VMA lock; without it, it drops that
 * lock and waits for mmap_lock, for as long as another thread of the process maps memory.
 */
static vm_fault_t kfd_prio_doorbell_map_pages(struct vm_fault *vmf, pgoff_t start, pgoff_t end)
{
	return 0;
}

static const struct vm_operations_struct kfd_prio_doorbell_ops = {
	.fault = kfd_prio_doorbell_fault,
	.map_pages = kfd_prio_doorbell_map_pages,
};

/**
 * kfd_prio_hook_doorbell_mmap() - a process maps its doorbells
 * @pdd: the process on a GPU
 * @vma: all its doorbells
 * @address: their physical address
 *
 * A private writable mapping is left alone: its pages could not be inserted one by one.
 * So are all where KFD traps doorbells itself; the safety poll finds their work.
 *
 * Context: mmap_lock for writing
 * Return: true if the first access shall map them.  The VMA joins its address space after
 * this: what KFD filled in now could not be zapped by an arm that comes before that.
 */
bool kfd_prio_hook_doorbell_mmap(struct kfd_process_device *pdd, struct vm_area_struct *vma,
				 phys_addr_t address)
{
	struct qcm_process_device *qpd = &pdd->qpd;

	if (kfd_prio_doorbells_are_kfds() || !pdd->process->prio.inode ||
	    vma->vm_file->f_mapping != pdd->process->prio.inode->i_mapping ||
	    (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE)
		return false;
	vma->vm_private_data = pdd;
	vma->vm_ops = &kfd_prio_doorbell_ops;
	qpd->prio.doorbell_pgoff = vma->vm_pgoff;
	qpd->prio.doorbell_pages = vma_pages(vma);
	WRITE_ONCE(qpd->prio.doorbell_lost, false);
	/* last: with it the other two are valid, see kfd_prio_doorbell_arm() */
	smp_store_release(&qpd->prio.doorbell_pfn, address >> PAGE_SHIFT);
	return READ_ONCE(pdd->dev->dqm->prio.thread);
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
	struct kfd_prio_qpd *qp;
	struct kfd_process *p;
	struct inode *inode;
	unsigned int bkt;
	int i, idx;

	idx = srcu_read_lock(&kfd_processes_srcu);
	hash_for_each_rcu(kfd_processes_table, bkt, p, kfd_processes) {
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
	srcu_read_unlock(&kfd_processes_srcu, idx);
}

/**
 * kfd_prio_doorbell_traps() - can the doorbells of a process be trapped?
 * @p: the process
 *
 * Context: any
 */
bool kfd_prio_doorbell_traps(const struct kfd_process *p)
{
	return !kfd_prio_doorbells_are_kfds() && READ_ONCE(p->prio.inode);
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
