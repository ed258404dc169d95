// SPDX-License-Identifier: GPL-2.0
// A process is in the table only when nothing can fail any more; kfd_prio_hook_process_failed() is about one that was.

@notifier@
identifier mm, p;
@@
+/* Its notifier is being registered; protected by kfd_processes_mutex */
+static struct kfd_process *kfd_process_registering;
+
 static struct mmu_notifier *kfd_process_alloc_notifier(struct mm_struct *mm)
 {
-	struct kfd_process *p = kfd_lookup_process_by_mm(mm);
-
-	return p ? &p->mmu_notifier : ERR_PTR(-ESRCH);
+	/* kfd_process_free_notifier() drops it */
+	kref_get(&kfd_process_registering->ref);
+
+	return &kfd_process_registering->mmu_notifier;
 }

@registers@
identifier process, mn, member;
expression ops;
@@
 create_process(...)
 {
 	<...
+	kfd_process_registering = process;
 	mn = mmu_notifier_get(ops, process->member);
 	...>
 }

@early@
typedef uintptr_t;
identifier process;
@@
 create_process(...)
 {
 	<...
-	hash_add_rcu(kfd_processes_table, &process->kfd_processes,
-			(uintptr_t)process->mm);
 	...>
 }

@late@
identifier process;
@@
 create_process(...)
 {
 	<...
 	INIT_WORK(&process->debug_event_workarea, debug_event_write_work_handler);
+
+	/* Lookups find it from now on, and nothing can fail any more */
+	hash_add_rcu(kfd_processes_table, &process->kfd_processes,
+		     (uintptr_t)process->mm);
 	...>
 }

@undo@
identifier process;
@@
 create_process(...)
 {
 	<...
-	hash_del_rcu(&process->kfd_processes);
 	...>
 }
