// SPDX-License-Identifier: GPL-2.0
// What kfd_prio_drain_ends() stands for.

@fence@
identifier client_id;
expression clients;
@@
 event_interrupt_isr_v10(...)
 {
 	<...
 	if (clients && client_id != SOC15_IH_CLIENTID_SE3SH
+	    && !KFD_IRQ_IS_FENCE(client_id, source_id)
 	   )
 		return false;
 	...>
 }
