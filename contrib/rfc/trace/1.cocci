// SPDX-License-Identifier: GPL-2.0
// What no hook of kfd_patches/hooks.cocci has a place for.

// Both ends of the operation, so that every start has an end.
@create@
identifier q;
expression r, dqm;
@@
+	trace_amdkfd_queue_create_start(q);
 	r = dqm->ops.create_queue(dqm, q, ...);
+	trace_amdkfd_queue_create_end(q, r);

// There the queue still has its process device, and kernel queues have none.
@release@
identifier pdd, pqn;
@@
 pqm_uninit(...)
 {
 	<...
 	if (pdd) {
+		trace_amdkfd_queue_release(pqn->q);
 		kfd_queue_unref_bo_vas(pdd, &pqn->q->properties);
 		...
 	} else { ... }
 	...>
 }
