// SPDX-License-Identifier: GPL-2.0
// What no hook of kfd_patches/hooks.cocci has a place for.

@reset_start@
identifier node;
@@
 kgd2kfd_pre_reset(...)
 {
 	<...
+	trace_amdkfd_gpu_reset_start(node);
 	kfd_smi_event_update_gpu_reset(node, false, ...);
 	...>
 }

@reset_end@
expression r, node;
@@
 kgd2kfd_post_reset(...)
 {
 	<...
 	r = kfd_resume(node);
+	trace_amdkfd_gpu_reset_end(node, r);
 	...>
 }
