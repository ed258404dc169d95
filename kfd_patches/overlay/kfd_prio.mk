# SPDX-License-Identifier: GPL-2.0 OR MIT
#
# kfdprio: our part of amdkfd's object list, included at the end of
# amdkfd/Makefile, and the compile probes for kfd_prio_compat.h.

AMDKFD_FILES += $(AMDKFD_PATH)/kfd_prio_main.o \
		$(AMDKFD_PATH)/kfd_prio_ioctl.o \
		$(AMDKFD_PATH)/kfd_prio_table.o \
		$(AMDKFD_PATH)/kfd_prio_queue.o \
		$(AMDKFD_PATH)/kfd_prio_engine.o \
		$(AMDKFD_PATH)/kfd_prio_gpu.o \
		$(AMDKFD_PATH)/kfd_prio_claim.o \
		$(AMDKFD_PATH)/kfd_prio_doorbell.o \
		$(AMDKFD_PATH)/kfd_prio_observe.o \
		$(AMDKFD_PATH)/kfd_prio_stats.o \
		$(AMDKFD_PATH)/kfd_prio_debugfs.o \
		$(AMDKFD_PATH)/kfd_prio_knobs.o \
		$(AMDKFD_PATH)/kfd_prio_policy.o \
		$(AMDKFD_PATH)/kfd_prio_events.o

# The event header is read a second time through <trace/define_trace.h>.
ccflags-y += -I$(FULL_AMD_PATH)/amdkfd

# kfd_prio_compiles CODE: does CODE compile after kfd_priv.h's struct device_queue_manager is known?
kfd_prio_compiles = printf '%s\n' \
	'\#include "kfd_device_queue_manager.h"' '$(strip $(1))' | \
	$(CC) $(LINUXINCLUDE) $(KBUILD_CPPFLAGS) $(KBUILD_CFLAGS) $(KBUILD_SUBDIR_CCFLAGS) $(ccflags-y) \
		-include linux/kconfig.h -DKBUILD_MODNAME='"amdgpu"' -DKBUILD_BASENAME='"probe"' \
		-DKFD_PRIO_PROBE -w -fsyntax-only -x c - >/dev/null 2>&1
# kfd_prio_probe NAME, CODE: -DKFD_PRIO_HAVE_NAME if CODE compiles.  Run once, kept beside the sources.
kfd_prio_probe = $(call kfd_prio_compiles, $(2)) && \
	echo 'ccflags-y += -DKFD_PRIO_HAVE_$(strip $(1))' >>$(kfd_prio_probes)

kfd_prio_comma := ,
kfd_prio_hash := \#
kfd_prio_probes := $(FULL_AMD_PATH)/amdkfd/kfd_prio_probes.mk
# A tree that is built again after this file has changed: probe anew.
$(shell [ $(kfd_prio_probes) -nt $(FULL_AMD_PATH)/amdkfd/kfd_prio.mk ] || rm -f $(kfd_prio_probes))
ifeq ($(wildcard $(kfd_prio_probes)),)
$(shell echo '# made by kfd_prio.mk' >$(kfd_prio_probes))
$(shell $(call kfd_prio_probe, KFD_NODE, \
	int probe(struct kfd_node *n); int probe(struct kfd_node *n) { return n->kfd->shared_resources.enable_mes; }))
$(shell $(call kfd_prio_probe, OCCUPANCY_BY_QUEUE, \
	unsigned long probe(void); unsigned long probe(void) { return sizeof(struct kfd_cu_occupancy) + sizeof(&kfd_dqm_is_queue_in_process); }))
$(shell $(call kfd_prio_probe, RESET_QUEUE, \
	int probe(struct kfd_process_device *p); int probe(struct kfd_process_device *p) { return p->has_reset_queue; }))
$(shell $(call kfd_prio_probe, SCHED_HALT, \
	int probe(struct device_queue_manager *d); int probe(struct device_queue_manager *d) { return d->sched_halt; }))
$(shell $(call kfd_prio_probe, FLUSH_TLB_NO_TYPE, \
	void probe(struct kfd_process_device *p); void probe(struct kfd_process_device *p) { kfd_flush_tlb(p); }))
$(shell $(call kfd_prio_probe, HRTIMER_SETUP, \
	unsigned long probe(void); unsigned long probe(void) { return sizeof(&hrtimer_setup); }))
$(shell $(call kfd_prio_probe, EXIT_GROUP_DEAD, \
	$(kfd_prio_hash)include <trace/events/sched.h>' \
	'_Static_assert(__builtin_types_compatible_p(__typeof__(&check_trace_callback_type_sched_process_exit)$(kfd_prio_comma) void (*)(void (*)(void *$(kfd_prio_comma) struct task_struct *$(kfd_prio_comma) bool)))$(kfd_prio_comma) "");))
$(shell $(call kfd_prio_probe, QUEUE_IS_RESET, \
	bool probe(struct queue *q); bool probe(struct queue *q) { return q->properties.is_reset; }))
$(shell $(call kfd_prio_probe, MQD_REPIN, \
	bool probe(struct queue *q); bool probe(struct queue *q) { return q->needs_mqd_repin; }))
$(shell $(call kfd_prio_probe, KEEP_IDLE_EVICTED, \
	int probe(void); int probe(void) { return keep_idle_process_evicted; }))
# A compiler that is missing, or takes nothing, says nothing about the tree: that answer is not kept.
$(shell $(call kfd_prio_compiles, int probe(void);) || rm -f $(kfd_prio_probes))
endif
-include $(kfd_prio_probes)
