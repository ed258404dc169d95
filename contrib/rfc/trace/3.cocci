// SPDX-License-Identifier: GPL-2.0
// What no hook of kfd_patches/hooks.cocci has a place for.

// An unmap that could not be sent has ended.
@unmap_not_sent@
identifier dqm, out;
expression r;
@@
 unmap_queues_cpsch(struct device_queue_manager *dqm, ...)
 {
 	<...
 	r = pm_send_unmap_queue(...);
-	if (r)
-		goto out;
+	if (r) {
+		trace_amdkfd_runlist_unmap_end(dqm->dev, r);
+		goto out;
+	}
 	...>
 }

// Of the queues of processes; the other call is for those of KFD.
@queue@
identifier pm, q;
expression r, buffer, debug;
@@
 pm_create_runlist_ib(struct packet_manager *pm, ...)
 {
 	<...
+	trace_amdkfd_runlist_queue(q);
 	r = pm->pmf->map_queues(pm, buffer, q, debug);
 	...>
 }
