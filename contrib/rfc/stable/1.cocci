// SPDX-License-Identifier: GPL-2.0
// No hook: the fault is in no tree that kfdprio changes there.

@reference@
identifier p, dqm;
expression r;
@@
 kfd_dqm_suspend_bad_queue_mes(...)
 {
 	...
 	struct kfd_process *p = kfd_lookup_process_by_pasid(...);
 	...
 	dqm_unlock(dqm);
+	kfd_unref_process(p);
 	return r;
 }
