// SPDX-License-Identifier: GPL-2.0
// What kfd_prio_hook_drain_interrupts() and kfd_prio_drain_init() stand for.

@drain@
identifier pdd, r;
@@
 kfd_process_drain_interrupts(struct kfd_process_device *pdd)
 {
 	...
+	/*
+	 * The interrupt handler closes the drain of a process that it finds
+	 * in the table. Interrupts of other processes have no effect.
+	 */
 	r = wait_event_interruptible(pdd->process->wait_irq_drain,
-				     !READ_ONCE(pdd->process->irq_drain_is_open)
+				     !READ_ONCE(pdd->process->irq_drain_is_open) ||
+				     hlist_unhashed_lockless(&pdd->process->kfd_processes)
 				    );
-	if (r)
-		pdd->process->irq_drain_is_open = false;
+	pdd->process->irq_drain_is_open = false;

 	return r;
 }

@init@
identifier process;
@@
 kfd_create_process(...)
 {
 	<...
-	init_waitqueue_head(&process->wait_irq_drain);
 	...>
 }

@init_all@
identifier process;
@@
 create_process(...)
 {
 	<...
 	mutex_init(&process->mutex);
+	init_waitqueue_head(&process->wait_irq_drain);
 	...>
 }

@cleanup@
identifier p, p_temp, cleanup_list;
iterator name hlist_for_each_entry_safe;
@@
 kfd_cleanup_processes(...)
 {
 	<...
 	hlist_for_each_entry_safe(p, p_temp, &cleanup_list, kfd_processes)
+	{
+		hlist_del_init(&p->kfd_processes);
+		wake_up_all(&p->wait_irq_drain);
 		kfd_process_notifier_release_internal(p);
+	}
 	...>
 }
