// SPDX-License-Identifier: GPL-2.0 OR MIT
//
// The master of every change to existing amdkfd code.  A rule adds one line for each
// hook; all logic is in overlay/.  overlay/kfd_prio_hooks.h has the prototypes, and
// the lock that each hook runs under.
//
// "make patches" applies these rules to each supported tree and writes the result to
// <tree>/hooks.patch.  hooks.expect lists how often each hook must stand in which
// function; prepare-tree checks this after every application.  Rules name functions
// and no line numbers, so that one set of rules serves all trees.

// ---- types: kfdprio's members in KFD's own structures -----------------------

@priv_include@
@@
 #include <kgd_kfd_interface.h>
+#include "kfd_prio_hooks.h"

@queue_field@
@@
 struct queue {
 	struct list_head list;
+	struct kfd_prio_queue prio;
 	...
 };

@dqm_field@
@@
 struct device_queue_manager {
 	struct device_queue_manager_ops ops;
+	struct kfd_prio_dqm prio;
 	...
 };

@process_field@
@@
 struct kfd_process {
 	struct hlist_node kfd_processes;
+	struct kfd_prio_process prio;
 	...
 };

@qpd_field@
@@
 struct qcm_process_device {
 	struct device_queue_manager *dqm;
+	struct kfd_prio_qpd prio;
 	...
 };

// ---- module ------------------------------------------------------------------

@module_init@
@@
 kfd_init(...)
 {
 	...
 	kfd_debugfs_init();
+	kfd_prio_hook_module_init();
 	...
 }

// After the teardown of the processes, which is the last user of the priority table.
@module_exit@
@@
 kfd_exit(...)
 {
 	...
 	kfd_process_destroy_wq();
+	kfd_prio_hook_module_exit();
 	...
 }

// ---- /dev/kfd ------------------------------------------------------------------

// A file that is opened for ioctls only (access mode 3) gets no kfd_process: a program
// that sets a priority must not become a KFD process with a PASID.
@open@
identifier f;
@@
 kfd_open(struct inode *inode, struct file *f)
 {
 	...
 	if (iminor(inode) != 0)
 		return -ENODEV;
+	if (kfd_prio_hook_open(f)) return 0;
 	...
 }

// Before any mapping through the file: the hook gives the file the address space of
// the process's own inode, in which its doorbells can be unmapped.
@opened@
identifier f, p;
@@
 kfd_open(struct inode *inode, struct file *f)
 {
 	...
 	p = kfd_create_process(...);
 	if (IS_ERR(p))
 		return PTR_ERR(p);
+	kfd_prio_hook_process_opened(p, f);
 	...
 }

// Before KFD checks the command: KFD refuses numbers that it does not know, and
// dereferences the kfd_process, which a file of access mode 3 does not have.
@ioctl@
identifier f, c, a;
@@
 kfd_ioctl(struct file *f, unsigned int c, unsigned long a)
 {
 	...
 	bool ptrace_attached = false;
+	if (kfd_prio_owns_ioctl(f, c)) return kfd_prio_hook_ioctl(f, c, a);
 	...
 }

// A file becomes that of a further context of its process.  Its address space must stay the
// same, so the context shares the inode.
@context@
identifier f, p;
@@
 kfd_ioctl_create_process(struct file *f, ...)
 {
 	<...
+	kfd_prio_hook_context_created(p, f);
 	f->private_data = p;
 	...>
 }

// A GPU reset unmaps the mappings in the address space of /dev/kfd; the hook does so in those of
// the processes.
@unmap_range@
type T1, T2;
identifier start, len;
@@
 kfd_dev_unmap_mapping_range(T1 start, T2 len)
 {
+	kfd_prio_hook_unmap_range(start, len);
 	...
 }

// ---- /sys/class/kfd/kfd/proc/<pid>/priority --------------------------------------

@procfs_show@
identifier k, a, b;
@@
 kfd_procfs_show(struct kobject *k, struct attribute *a, char *b)
 {
+	if (kfd_prio_owns_attr(a)) return kfd_prio_hook_procfs_show(k, b);
 	if (strcmp(a->name, "pasid") == 0) {
 		...
 	} else { ... }
 	...
 }

@procfs_add@
expression p;
@@
 	kfd_sysfs_create_file(p->kobj, &p->attr_pasid, "pasid");
+	kfd_prio_hook_process_sysfs(p->kobj);

// /sys/class/kfd/kfd/proc/<pid>/stats_<gpuid>/, one directory per GPU
@stats_show@
identifier k, a, b;
@@
 kfd_procfs_stats_show(struct kobject *k, struct attribute *a, char *b)
 {
+	if (kfd_prio_owns_attr(a)) return kfd_prio_hook_stats_show(k, a, b);
 	if (strcmp(a->name, "evicted_ms") == 0) {
 		...
 	} else if (...) {
 		...
 	} else { ... }
 	...
 }

@stats_add@
expression pdd;
@@
 	kfd_sysfs_create_file(pdd->kobj_stats, &pdd->attr_evict, "evicted_ms");
+	kfd_prio_hook_stats_sysfs(pdd->kobj_stats);

// ---- life of a process, its doorbells ----------------------------------------------

// KFD maps all doorbells at mmap(2).  While priorities are in use the mapping stays empty
// instead, because doorbells cannot be unmapped before mmap(2) has returned.
@doorbell_mmap@
identifier vma, pdd, pa;
@@
 kfd_doorbell_mmap(..., struct vm_area_struct *vma)
 {
 	<...
 	pa = kfd_get_process_doorbells(pdd);
 	...
+	if (kfd_prio_hook_doorbell_mmap(pdd, vma, pa)) return 0;
 	return io_remap_pfn_range(...);
 	...>
 }

// ROCm's function holds a lock there, and continues after the mapping.
@doorbell_mmap_locked@
identifier vma, pdd, pa, r;
expression list es;
@@
 kfd_doorbell_mmap(..., struct vm_area_struct *vma)
 {
 	<...
 	pa = kfd_get_process_doorbells(pdd);
 	...
-	r = io_remap_pfn_range(vma, es);
+	r = kfd_prio_hook_doorbell_mmap(pdd, vma, pa) ? 0 : io_remap_pfn_range(vma, es);
 	...>
 }

// Before 6.6 the code was in the notifier itself.
@process_exit@
identifier f = {kfd_process_notifier_release_internal, kfd_process_notifier_release};
identifier p;
@@
 f(...)
 {
 	<...
+	kfd_prio_hook_process_exit(p);
 	cancel_delayed_work_sync(&p->eviction_work);
 	...>
 }

// The process is published: nothing can fail any more, and a further context has its number.
@process_created@
identifier p;
@@
 create_process(...)
 {
 	<...
+	kfd_prio_hook_process_created(p);
 	return p;
 	...>
 }

// create_process() has failed.  KFD frees the process without a grace period, although other threads
// may have found it in KFD's table.  If KFD looks the process of a notifier up with a reference,
// create_process() has one reference more.
@notifier_counted@
@@
 kfd_process_alloc_notifier(...)
 {
 	...
 	struct kfd_process *p = kfd_lookup_process_by_mm(...);
 	...
 }

@process_failed_counted depends on notifier_counted@
identifier p;
@@
 create_process(...)
 {
 	<...
 	hash_del_rcu(&p->kfd_processes);
+	kfd_prio_hook_process_failed(p, &kfd_processes_mutex, 2);
 	...>
 }

@process_failed depends on !notifier_counted@
identifier p;
@@
 create_process(...)
 {
 	<...
 	hash_del_rcu(&p->kfd_processes);
+	kfd_prio_hook_process_failed(p, &kfd_processes_mutex, 1);
 	...>
 }

// No lookup finds a process that is still being created: DBG_TRAP would debug it, and mmap(2) would map
// memory that a failure frees.
@process_found@
identifier p, thread;
@@
 find_process(const struct task_struct *thread, ...)
 {
 	<...
 	p = find_process_by_mm(...);
+	kfd_prio_hook_process_found(&p);
 	...>
 }

// KFD has dropped the kobject of the process, and would use it again.
@process_nameless@
identifier p;
@@
 kfd_create_process(...)
 {
 	<...
 	kobject_put(p->kobj);
+	kfd_prio_hook_process_nameless(p);
 	goto out;
 	...>
 }

// A process without a directory makes none for its queues.
@queue_nameless@
identifier q;
@@
 kfd_procfs_del_queue(struct queue *q)
 {
 	<...
+	if (kfd_prio_hook_queue_nameless(q)) return;
 	kobject_del(&q->kobj);
 	...>
 }

// First statement: the hook waits for the holders of the process (kfd_prio_process_hold()).
@process_release@
identifier p;
statement S, S1;
@@
 kfd_process_wq_release(...)
 {
 	struct kfd_process *p = container_of(...);
 	... when != S1
+	kfd_prio_hook_process_release(p);
 	S
 	... when any
 }

// A process that exits, or its debugger, would wait for ever for an interrupt, because KFD does not find
// the process any more, or discards the interrupt (GFX10).  The process leaves the table before the
// grace period, which a waiter delays.
@drain_interrupts@
identifier pdd;
@@
 kfd_process_drain_interrupts(struct kfd_process_device *pdd)
 {
 	<...
 	pdd->process->irq_drain_is_open = true;
+	if (kfd_prio_hook_drain_interrupts(pdd)) return 0;
 	...>
 }

@process_unhashed@
identifier f = {kfd_process_notifier_release, kfd_process_table_remove, kfd_cleanup_processes};
identifier p;
@@
 f(...)
 {
 	<...
 	hash_del_rcu(&p->kfd_processes);
+	kfd_prio_hook_process_unhashed(p);
 	...>
 }

@process_free@
identifier p;
@@
 kfd_process_wq_release(...)
 {
 	<...
 	kfd_event_free_process(p);
+	kfd_prio_hook_process_free(p);
 	...>
 }

// ---- events of a process -------------------------------------------------------------

// The GPU has signalled an event of the process: an end of work, which is observed sooner.
@signal@
identifier p;
@@
 kfd_signal_event_interrupt(...)
 {
 	<...
+	kfd_prio_hook_signal(p);
 	kfd_unref_process(p);
 	...>
 }

// ---- queues of a process -----------------------------------------------------------

// KFD stores the requested priority without the DQM lock.  With the hook it is recorded instead,
// and kfd_prio_hook_resolve_priority() stores it under the lock: a holder of the lock reads the
// priority of a queue more than once, and must read the same value.
@update_request@
identifier pqn, p;
@@
+	if (!kfd_prio_hook_request_priority(pqn->q, p->priority))
 	pqn->q->properties.priority = p->priority;

@create_failed@
identifier q, r;
@@
 pqm_create_queue(...)
 {
 	<...
+	kfd_prio_hook_destroy_queue(q, KFD_PRIO_DESTROY_CREATE_FAILED, r);
 	uninit_queue(q);
 	...>
 	return r;
 }

@destroy@
identifier pqn;
expression dqm, qpd, r;
@@
 pqm_destroy_queue(...)
 {
 	<...
 	r = dqm->ops.destroy_queue(dqm, qpd, pqn->q);
+	kfd_prio_hook_destroy_queue(pqn->q, KFD_PRIO_DESTROY_IOCTL, r);
 	...>
 }

@process_gone@
identifier pqn;
@@
 pqm_uninit(...)
 {
 	<...
+	kfd_prio_hook_destroy_queue(pqn->q, KFD_PRIO_DESTROY_EXIT, 0);
 	kfd_procfs_del_queue(pqn->q);
 	...>
 }

// ---- a debugger, or a process that is its own --------------------------------------

// Before KFD looks the process up, so that a caller that waits here holds no reference to it.
@debug_trap@
identifier d, a, v;
@@
 kfd_ioctl_set_debug_trap(..., void *d)
 {
 	struct kfd_ioctl_dbg_trap_args *a = d;
 	... when any
+	kfd_prio_hook_debug_trap(a->op);
 	v = find_get_pid(a->pid);
 	... when any
 }

@runtime_enable@
identifier p;
@@
 kfd_ioctl_runtime_enable(..., struct kfd_process *p, ...)
 {
 	...
+	kfd_prio_hook_runtime_enable();
 	mutex_lock(&p->mutex);
 	...
 }

// ---- device queue manager ------------------------------------------------------------

// The priority must be in the properties when the MQD is made from them.
@init_mqd@
identifier f = {create_queue_nocpsch, create_queue_cpsch};
identifier dqm, q, qpd, qd;
expression m;
@@
 f(struct device_queue_manager *dqm, struct queue *q, struct qcm_process_device *qpd,
   const struct kfd_criu_queue_priv_data *qd, ...)
 {
 	<...
+	kfd_prio_hook_create_queue(dqm, qpd, q);
 	if (qd)
 		m->restore_mqd(...);
 	else
 		m->init_mqd(...);
+	kfd_prio_hook_init_mqd(dqm, q, !!qd);
 	...>
 }

@update@
identifier dqm, q, minfo, r;
@@
 update_queue(struct device_queue_manager *dqm, struct queue *q, struct mqd_update_info *minfo)
 {
 	...
 	dqm_lock(dqm);
+	kfd_prio_hook_resolve_priority(dqm, q);
 	<...
+	kfd_prio_hook_update_queue(dqm, q, r);
 	dqm_unlock(dqm);
 	return r;
 	...>
 }

// A preempted queue is off the hardware already.  KFD would unmap all queues of the GPU,
// including those of the process that preempts.
@update_preempted@
identifier q, minfo, pdd, r, active;
@@
 update_queue(struct device_queue_manager *dqm, struct queue *q, struct mqd_update_info *minfo)
 {
 	...
 	pdd = kfd_get_process_device_data(...);
 	...
 	active = q->properties.is_active;
+	if (kfd_prio_hook_update_preempted(pdd, q, minfo, &r)) goto out_unlock;
 	...
 	dqm_unlock(dqm);
 	return r;
 }

// Newer ROCm has an inner function, whose callers, such as set_perfcount(), hold the lock.
@update_preempted_locked@
identifier q, minfo, pdd, r, active;
@@
 update_queue_locked(struct device_queue_manager *dqm, struct queue *q, struct mqd_update_info *minfo)
 {
 	... when any
 	    when exists
 	pdd = kfd_get_process_device_data(...);
 	... when any
 	    when exists
 	active = q->properties.is_active;
+	if (kfd_prio_hook_update_preempted(pdd, q, minfo, &r)) return r;
 	... when any
 	    when exists
 	return r;
 }

@unregister@
identifier f = {unregister_process, process_termination_nocpsch, process_termination_cpsch};
identifier dqm, qpd, cur;
@@
 f(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
 {
 	<...
 	list_del(&cur->list);
+	kfd_prio_hook_unregister_process(dqm, qpd);
 	kfree(cur);
 	...>
 }

// The call is wrapped: when a preempted process ends, no queue of it is on the hardware,
// and the runlist in force does not contain it.
@terminate@
identifier dqm, qpd, filter, r;
expression list es;
@@
 process_termination_cpsch(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
 {
 	<...
-	r = execute_queues_cpsch(dqm, filter, es);
+	r = kfd_prio_hook_terminate_preempted(dqm, qpd, filter) ? 0 : execute_queues_cpsch(dqm, filter, es);
 	...>
 }

// KFD waits by calling schedule() in a loop: a thread of real-time priority would keep
// the CPU from all threads of lower priority.
@fence_wait@
expression e;
statement S;
@@
 amdkfd_fence_wait_timeout(...)
 {
 	<...
 	if (time_after(jiffies, e)) S
+	kfd_prio_hook_fence_wait();
 	...>
 }

@dqm_init@
symbol dqm;
@@
 device_queue_manager_init(...)
 {
 	<...
+	kfd_prio_hook_dqm_init(dqm);
 	return dqm;
 	...>
 }

@dqm_uninit@
identifier dqm;
@@
 device_queue_manager_uninit(struct device_queue_manager *dqm)
 {
 	...
+	kfd_prio_hook_dqm_uninit(dqm);
 	dqm->ops.uninitialize(dqm);
 	...
 }

// If a process rings while another operation holds the DQM lock, the engine decides before
// that operation maps, so that the runlist of the operation preempts.
@map_prepare@
identifier dqm;
statement S, S1;
@@
 map_queues_cpsch(struct device_queue_manager *dqm)
 {
 	... when != S1
+	kfd_prio_hook_map_prepare(dqm);
 	S
 	... when any
 }

// ---- runlist: preempted processes are not in it ---------------------------------------

@runlist_size@
identifier pm, n;
@@
 pm_calc_rlib_size(struct packet_manager *pm, ...)
 {
 	...
 	n = pm->dqm->processes_count;
+	kfd_prio_hook_runlist_size(pm->dqm, &n);
 	...
 }

@runlist_build@
identifier cur, qpd;
iterator name list_for_each_entry;
@@
 pm_create_runlist_ib(...)
 {
 	<...
 	qpd = cur->qpd;
+	if (kfd_prio_hook_runlist_skip(qpd)) continue;
 	...>
 }

// KFD has reset a single queue that it could not unmap; the queue stays off.  Newer trees also mark the
// queue itself, in a statement between these two.
@queue_reset@
identifier dqm, q, qpd, pdd;
@@
 set_queue_as_reset(struct device_queue_manager *dqm, struct queue *q, struct qcm_process_device *qpd)
 {
 	...
 	pdd->has_reset_queue = true;
+	kfd_prio_hook_queue_reset(q);
 	...
 }

// The fault of a doorbell must not wait for as long as KFD does.  It takes KFD's error path, and the
// GPU's thread completes the unmap.
@unmap_wait@
identifier dqm;
expression r;
statement S;
@@
 unmap_queues_cpsch(struct device_queue_manager *dqm, ...)
 {
 	<...
 	r = pm_send_unmap_queue(...);
 	if (r) S
 	...
+	if (kfd_prio_hook_unmap_wait(dqm, &r)) S
 	r = amdkfd_fence_wait_timeout(...);
 	...>
 }

// The time of an unmap is measured from before the packet is sent until the fence was written.
@unmap@
identifier dqm, filter, param;
expression r;
@@
 unmap_queues_cpsch(struct device_queue_manager *dqm, enum kfd_unmap_queues_filter filter,
 		uint32_t param, ...)
 {
 	<...
+	kfd_prio_hook_unmap_queues(dqm, filter, param);
 	r = pm_send_unmap_queue(...);
+	kfd_prio_hook_unmap_sent(dqm, r);
 	...>
 }

@unmap_done@
identifier dqm;
expression r;
@@
 unmap_queues_cpsch(struct device_queue_manager *dqm, ...)
 {
 	<...
 	r = amdkfd_fence_wait_timeout(...);
+	kfd_prio_hook_unmap_done(dqm, r);
 	...>
 }

@map@
identifier dqm;
expression r;
@@
 map_queues_cpsch(struct device_queue_manager *dqm)
 {
 	<...
 	r = pm_send_runlist(...);
+	kfd_prio_hook_map_queues(dqm, r);
 	...>
 }

// KFD uses the level NORMAL for every gang.
@mes_input@
identifier dqm, q, qpd, in;
expression level, off;
@@
 add_queue_mes(struct device_queue_manager *dqm, struct queue *q, struct qcm_process_device *qpd)
 {
 	<...
 	in.gang_global_priority_level = level;
+	kfd_prio_hook_mes_priority(q, &in.gang_global_priority_level);
 	in.doorbell_offset = off;
 	...>
 }

@mes_add@
identifier dqm, q, qpd, in;
expression r, e, m;
@@
 add_queue_mes(struct device_queue_manager *dqm, struct queue *q, struct qcm_process_device *qpd)
 {
 	<...
 	r = e->mes.funcs->add_hw_queue(m, &in);
+	kfd_prio_hook_mes_added(dqm, q, in.gang_global_priority_level, r);
 	...>
 }

// From 7.x on remove_queue_mes() only calls remove_queue_mes_on_reset_option().
@mes_remove@
identifier f = {remove_queue_mes, remove_queue_mes_on_reset_option};
identifier dqm, q, qpd;
expression r, e;
@@
 f(struct device_queue_manager *dqm, struct queue *q, struct qcm_process_device *qpd, ...)
 {
 	<...
+	kfd_prio_hook_mes_remove(dqm, q);
 	r = e->mes.funcs->remove_hw_queue(...);
+	kfd_prio_hook_unmap_done(dqm, r);
 	...>
 }

@evict@
identifier f = {evict_process_queues_nocpsch, evict_process_queues_cpsch};
identifier dqm, qpd, r;
@@
 f(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
 {
 	<...
+	kfd_prio_hook_evict_process(dqm, qpd, r);
 	dqm_unlock(dqm);
 	return r;
 	...>
 }

@restore@
identifier f = {restore_process_queues_nocpsch, restore_process_queues_cpsch};
identifier dqm, qpd, r;
@@
 f(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
 {
 	<...
+	kfd_prio_hook_restore_process(dqm, qpd, r);
 	dqm_unlock(dqm);
 	return r;
 	...>
 }

// First statement: the event of the hang comes before those of its consequences.
@hang@
identifier dqm;
statement S, S1;
@@
 kfd_hws_hang(struct device_queue_manager *dqm)
 {
 	... when != S1
+	kfd_prio_hook_hws_hang(dqm);
 	S
 	... when any
 }
