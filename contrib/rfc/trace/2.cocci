// SPDX-License-Identifier: GPL-2.0
// What no hook of kfd_patches/hooks.cocci has a place for: kfdprio's events come after the operation.

@evict_start@
identifier f = {evict_process_queues_nocpsch, evict_process_queues_cpsch};
identifier dqm, qpd;
@@
 f(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
 {
 	<...
 	dqm_lock(dqm);
+	trace_amdkfd_process_evict_start(qpd_to_pdd(qpd));
 	...>
 }

@restore_start@
identifier f = {restore_process_queues_nocpsch, restore_process_queues_cpsch};
identifier dqm, qpd;
@@
 f(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
 {
 	<...
 	dqm_lock(dqm);
+	trace_amdkfd_process_restore_start(qpd_to_pdd(qpd));
 	...>
 }
