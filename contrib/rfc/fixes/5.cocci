// SPDX-License-Identifier: GPL-2.0
// What kfd_prio_drain_ends() stands for where a process has a PASID for each GPU.

@no_pasid@
identifier pdd;
@@
 kfd_process_drain_interrupts(struct kfd_process_device *pdd)
 {
 	<...
+	/* No VM, so no queues; the handlers discard interrupts without a PASID */
+	if (!pdd->pasid)
+		return 0;
+
 	pdd->process->irq_drain_is_open = true;
 	...>
 }
