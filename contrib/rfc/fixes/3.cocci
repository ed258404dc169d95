// SPDX-License-Identifier: GPL-2.0
// An error path of create_process() for contexts, which kfd_prio_hook_process_failed() covers, is gone.

@late@
identifier process, err, out;
@@
 create_process(...)
 {
 	<...
-	err = kfd_process_alloc_id(process);
-	if (err) {
-		pr_err("Creating kfd process: failed to alloc an id\n");
-		goto out;
-	}
-
 	kfd_unref_process(process);
 	...>
 }

@undo@
identifier process;
@@
 create_process(...)
 {
 	<...
-	kfd_process_free_id(process);
 	...>
 }

@primary@
identifier process;
expression e;
@@
 create_process(...)
 {
 	<...
-	process->context_id = e;
 	mn = mmu_notifier_get(...);
 	...>
 }

@early@
identifier process, err, out;
@@
 create_process(...)
 {
 	<...
 	err = svm_range_list_init(process);
 	if (err)
 		goto out;
+
+	/* Lookups compare the ID: before the process is in the table */
+	if (primary)
+		process->context_id = KFD_CONTEXT_ID_PRIMARY;
+	err = kfd_process_alloc_id(process);
+	if (err) {
+		pr_err("Creating kfd process: failed to alloc an id\n");
+		goto err_alloc_id;
+	}
 	...>
 }
