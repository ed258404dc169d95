// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: how a process maps its doorbells, and the fault of a trapped doorbell.
 * kfd_prio_doorbell.c describes which doorbells are trapped, when, and why no ring is lost.
 */
#include <linux/mm.h>
#include "kfd_prio_engine.h"
#include "kfd_prio_share.h"

/**
 * kfd_prio_hook_process_opened() - a process has opened /dev/kfd
 * @p: the process, which may have opened it before
 * @filep: the new file, through which nothing is mapped yet
 *
 * Gives the file the address space of the process's own inode, in which a zap reaches its mappings.
 * Starts the threads of GPUs that were added late, and reports the process to notify descriptors.
 *
 * Context: process, may sleep
 */
void kfd_prio_hook_process_opened(struct kfd_process *p, struct file *filep)
{
	struct inode *inode;

	kfd_prio_thread_opened();
	kfd_prio_join_own(p);
	inode = kfd_prio_doorbell_inode(p);
	if (inode)
		filep->f_mapping = inode->i_mapping;
	if (static_branch_unlikely(&kfd_prio_notify_in_use))
		kfd_prio_notify_opened(p);
}

/* Has the engine act on a ring, unless the GPU was removed */
static void kfd_prio_doorbell_rung(struct kfd_process_device *pdd)
{
	struct device_queue_manager *dqm = pdd->qpd.dqm;

	if (!kfd_prio_gpu_hold(dqm))
		return;
	/* The trap, then claim_rung: pairs with kfd_prio_claim_fold() */
	if (READ_ONCE(pdd->qpd.prio.role) == KFD_PRIO_ROLE_CLAIM)
		atomic_set(&dqm->prio.claim_rung, 1);
	kfd_prio_engine_rung(pdd);
	kfd_prio_gpu_drop(dqm);
}

/* Whether a fault of a VMA would map other pages than doorbells of its process */
static bool kfd_prio_doorbell_outside(const struct kfd_prio_qpd *qp, struct vm_area_struct *vma)
{
	unsigned long at = vma->vm_pgoff - qp->doorbell.pgoff;

	return at >= qp->doorbell.pages || vma_pages(vma) > qp->doorbell.pages - at;
}

/*
 * The fault of a doorbell that is not mapped, under the VMA lock or mmap_lock. If the trap is
 * armed, the fault is a ring, and the engine may wait for an unmap here. All doorbells of the VMA
 * are mapped, and the process repeats its store afterwards.
 */
static vm_fault_t kfd_prio_doorbell_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	/* Valid as long as the process, to which the VMA's file has a reference */
	struct kfd_process_device *pdd = vma->vm_private_data;
	struct qcm_process_device *qpd = &pdd->qpd;
	pgprot_t prot = pgprot_decrypted(vma->vm_page_prot);
	vm_fault_t ret = VM_FAULT_NOPAGE, r;
	unsigned long addr, pfn;

	if (READ_ONCE(qpd->prio.doorbell.lost) ||
	    WARN_ON_ONCE(kfd_prio_doorbell_outside(&qpd->prio, vma)))
		return VM_FAULT_SIGBUS;
	atomic_inc(&qpd->prio.doorbell.faults);
	if (kfd_prio_trap_armed(&qpd->prio)) {
		WRITE_ONCE(qpd->prio.doorbell.rung_at, ktime_get_ns());
		WRITE_ONCE(qpd->prio.park.woke_by, KFD_PRIO_UNPARK_RING);
	}
	if (kfd_prio_trap_change(&qpd->prio, KFD_PRIO_TRAP_ARMED, KFD_PRIO_TRAP_RUNG))
		kfd_prio_doorbell_rung(pdd);

	pfn = qpd->prio.doorbell.pfn + vma->vm_pgoff - qpd->prio.doorbell.pgoff;
	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE, pfn++) {
		r = vmf_insert_pfn_prot(vma, addr, pfn, prot);
		if (addr == (vmf->address & PAGE_MASK))
			ret = r;
	}

	if (kfd_prio_trap_change(&qpd->prio, KFD_PRIO_TRAP_ARMED, KFD_PRIO_TRAP_RUNG))
		kfd_prio_doorbell_rung(pdd);
	WRITE_ONCE(qpd->prio.doorbell.fault_end, ktime_get_ns());
	/* fault_end, then faults: pairs with kfd_prio_in_fault() */
	atomic_dec_return_release(&qpd->prio.doorbell.faults);
	/* The mapping, then doorbell.lost: pairs with kfd_prio_hook_unmap_range() */
	smp_mb();
	if (READ_ONCE(qpd->prio.doorbell.lost)) {
		unmap_mapping_pages(vma->vm_file->f_mapping, vma->vm_pgoff, vma_pages(vma), true);
		ret = VM_FAULT_SIGBUS;
	}
	return ret;
}

/*
 * Maps nothing; it must exist. With ->map_pages the kernel calls ->fault under the VMA lock.
 * Without it, the kernel drops the VMA lock and waits for mmap_lock, which another thread of the
 * process may hold for as long as it maps memory.
 */
static vm_fault_t kfd_prio_doorbell_map_pages(struct vm_fault *vmf, pgoff_t start, pgoff_t end)
{
	return 0;
}

/*
 * A process needs one mapping of its doorbells. A zap walks over all mappings, in the GPU's thread,
 * each time that the trap is armed. So doorbells with more mappings than this are not trapped.
 */
#define KFD_PRIO_MAX_MAPPINGS	8

/*
 * Stops trapping the doorbells of a process until it ends: it counts as having work from now on.
 * The GPU's thread assigns the roles again, and a neighbour loses its role.
 */
static void kfd_prio_doorbell_untrap(struct qcm_process_device *qpd)
{
	WRITE_ONCE(qpd->prio.doorbell.untrapped, true);
	if (kfd_prio_gpu_hold(qpd->dqm)) {
		WRITE_ONCE(qpd->dqm->prio.roles_due, true);
		kfd_prio_gpu_kick(qpd->dqm);
		kfd_prio_gpu_drop(qpd->dqm);
	}
}

/*
 * Counts one more mapping of doorbells: by mmap(2), or a part of one that was split or moved.
 * mmap_lock for writing
 */
static void kfd_prio_doorbell_open(struct vm_area_struct *vma)
{
	struct kfd_process_device *pdd = vma->vm_private_data;

	if (atomic_inc_return(&pdd->qpd.prio.doorbell.mappings) == KFD_PRIO_MAX_MAPPINGS + 1)
		kfd_prio_doorbell_untrap(&pdd->qpd);
}

/* The VMA's file has a reference to the process until this function has returned */
static void kfd_prio_doorbell_close(struct vm_area_struct *vma)
{
	struct kfd_process_device *pdd = vma->vm_private_data;

	atomic_dec(&pdd->qpd.prio.doorbell.mappings);
}

static const struct vm_operations_struct kfd_prio_doorbell_ops = {
	.open = kfd_prio_doorbell_open,
	.close = kfd_prio_doorbell_close,
	.fault = kfd_prio_doorbell_fault,
	.map_pages = kfd_prio_doorbell_map_pages,
};

/*
 * Whether a zap reaches a mapping. It does if the mapping is in the address space of the process's
 * own inode and at the offset of the first mapping, because a zap is for one offset. KFD uses the
 * type and the GPU in the offset and ignores its other bits, so a process may map its doorbells at
 * many offsets.
 */
static bool kfd_prio_doorbell_reached(struct kfd_process_device *pdd,
				      const struct vm_area_struct *vma)
{
	const struct inode *inode = READ_ONCE(pdd->process->prio.inode);
	const struct kfd_prio_qpd *qp = &pdd->qpd.prio;

	return inode && vma->vm_file->f_mapping == inode->i_mapping &&
	       (!qp->doorbell.pfn || vma->vm_pgoff == qp->doorbell.pgoff);
}

/**
 * kfd_prio_hook_doorbell_mmap() - a process maps its doorbells
 * @pdd: the process on a GPU
 * @vma: the mapping, of all its doorbells
 * @address: physical address of the doorbells
 *
 * The hook leaves three kinds of mapping to KFD:
 * - a private writable one: its pages cannot be inserted one by one, and a store to it goes to a
 *   copy and rings no doorbell;
 * - one that no zap reaches: the doorbells of its process cannot be trapped from now on, even after
 *   the mapping is gone;
 * - every mapping where KFD itself traps doorbells; the safety poll finds work.
 *
 * If KFD's own mmap fails after the hook has returned false, the kernel does not call ->close. The
 * mapping stays counted then, and at worst the doorbells are not trapped any more.
 *
 * Context: mmap_lock for writing
 * Return: true if KFD must map nothing, because the first access will fault and map the doorbells.
 *	The VMA joins its address space after this hook, and a zap before that would not reach
 *	doorbells that KFD had mapped. False if KFD is to map them: the mapping is of a kind above,
 *	or the GPU has no thread. In the latter case the hook has nevertheless given the VMA its
 *	->fault and counted it, so that a thread that starts later can trap the doorbells
 */
bool kfd_prio_hook_doorbell_mmap(struct kfd_process_device *pdd, struct vm_area_struct *vma,
				 phys_addr_t address)
{
	struct qcm_process_device *qpd = &pdd->qpd;

	if (kfd_prio_doorbells_are_kfds() ||
	    (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE)
		return false;
	if (!kfd_prio_doorbell_reached(pdd, vma)) {
		/* No store goes through this mapping yet, because the VMA is not in the mm */
		kfd_prio_doorbell_untrap(qpd);
		return false;
	}
	vma->vm_private_data = pdd;
	vma->vm_ops = &kfd_prio_doorbell_ops;
	qpd->prio.doorbell.pgoff = vma->vm_pgoff;
	qpd->prio.doorbell.pages = vma_pages(vma);
	WRITE_ONCE(qpd->prio.doorbell.lost, false);
	/* Last, because it makes the others valid: pairs with kfd_prio_doorbell_zap() */
	smp_store_release(&qpd->prio.doorbell.pfn, address >> PAGE_SHIFT);
	kfd_prio_doorbell_open(vma);
	return READ_ONCE(pdd->dev->dqm->prio.thread);
}
