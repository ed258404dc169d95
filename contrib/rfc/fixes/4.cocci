// SPDX-License-Identifier: GPL-2.0
// kfd_prio_hook_process_failed() waits for references; KFD itself can free the process by the last one.

@release@
identifier process;
@@
 create_process(...)
 {
 	<...
 	hash_del_rcu(&process->kfd_processes);
+	/* Lookups until here may have taken references: the last one frees it */
 	synchronize_srcu(&kfd_processes_srcu);
+	pqm_uninit(&process->pqm);
+	/* One is from kref_init(), one from above */
+	kfd_unref_process(process);
+	kfd_unref_process(process);
+	return ERR_PTR(err);
+
 	...>
 }

// kfd_process_wq_release() drops the task, and destroys the IDs
@task@
identifier process;
@@
 create_process(...)
 {
 	<...
 	kref_get(&process->ref);
+	get_task_struct(process->lead_thread);
 	...>
 }

@task_late@
identifier process;
@@
 create_process(...)
 {
 	<...
 	kfd_unref_process(process);
-	get_task_struct(process->lead_thread);
 	...>
 }

@ids@
identifier process, mn;
@@
 create_process(...)
 {
 	<...
+	ida_init(&process->id_table);
 	mn = mmu_notifier_get(...);
 	...
-	ida_init(&process->id_table);
 	...>
 }
