# SPDX-License-Identifier: GPL-2.0 OR MIT
#
# kfdprio: our part of amdkfd's object list, included at the end of
# amdkfd/Makefile; the compile probes for kfd_prio_compat.h; and what is asked of
# the objects that have hooks.

kfd_prio_files := $(AMDKFD_PATH)/kfd_prio_fault.o \
		$(AMDKFD_PATH)/kfd_prio_hooks.o \
		$(AMDKFD_PATH)/kfd_prio_main.o \
		$(AMDKFD_PATH)/kfd_prio_modparam.o \
		$(AMDKFD_PATH)/kfd_prio_ioctl.o \
		$(AMDKFD_PATH)/kfd_prio_limit.o \
		$(AMDKFD_PATH)/kfd_prio_stats.o \
		$(AMDKFD_PATH)/kfd_prio_list.o \
		$(AMDKFD_PATH)/kfd_prio_totals.o \
		$(AMDKFD_PATH)/kfd_prio_debugfs.o \
		$(AMDKFD_PATH)/kfd_prio_thread.o \
		$(AMDKFD_PATH)/kfd_prio_process.o \
		$(AMDKFD_PATH)/kfd_prio_engine.o \
		$(AMDKFD_PATH)/kfd_prio_evict.o \
		$(AMDKFD_PATH)/kfd_prio_runlist.o \
		$(AMDKFD_PATH)/kfd_prio_neighbour.o \
		$(AMDKFD_PATH)/kfd_prio_claim.o \
		$(AMDKFD_PATH)/kfd_prio_role.o \
		$(AMDKFD_PATH)/kfd_prio_cost.o \
		$(AMDKFD_PATH)/kfd_prio_park.o \
		$(AMDKFD_PATH)/kfd_prio_rest.o \
		$(AMDKFD_PATH)/kfd_prio_observe.o \
		$(AMDKFD_PATH)/kfd_prio_aql.o \
		$(AMDKFD_PATH)/kfd_prio_doorbell.o \
		$(AMDKFD_PATH)/kfd_prio_breaker.o \
		$(AMDKFD_PATH)/kfd_prio_orphan.o \
		$(AMDKFD_PATH)/kfd_prio_gpu.o \
		$(AMDKFD_PATH)/kfd_prio_params.o \
		$(AMDKFD_PATH)/kfd_prio_notify.o \
		$(AMDKFD_PATH)/kfd_prio_processes.o \
		$(AMDKFD_PATH)/kfd_prio_identity.o \
		$(AMDKFD_PATH)/kfd_prio_table.o \
		$(AMDKFD_PATH)/kfd_prio_policy.o \
		$(AMDKFD_PATH)/kfd_prio_backoff.o \
		$(AMDKFD_PATH)/kfd_prio_probes.o \
		$(AMDKFD_PATH)/kfd_prio_events.o
AMDKFD_FILES += $(kfd_prio_files)

# The event header is read a second time through <trace/define_trace.h>.
ccflags-y += -I$(FULL_AMD_PATH)/amdkfd

# amdkfd's Makefile is read in the middle of amdgpu's: a tree may append flags and forced headers
# after it (ROCm's backport/backport.h).  So the probes are a rule, which has the flags of all:
# those that kfd_prio_probes.c, a file of the module like any other, is compiled with.
kfd_prio_probes := $(obj)/$(AMDKFD_PATH)/kfd_prio_probes.h
kfd_prio_comma := ,

$(kfd_prio_probes): $(FULL_AMD_PATH)/amdkfd/kfd_prio_probes.sh
	$(Q)$(CONFIG_SHELL) $(FULL_AMD_PATH)/amdkfd/kfd_prio_probes.sh $@ \
		$(CC) $(filter-out -Wp$(kfd_prio_comma)-M%,$(c_flags))

$(addprefix $(obj)/,$(kfd_prio_files) $(AMDKFD_PATH)/kfd_device_queue_manager.o): $(kfd_prio_probes)

# A hook in a branch that is not compiled would be missing without a word.  The last of our
# objects is made when all that have hooks are there, and refer to them.
kfd_prio_hooked := $(addprefix $(obj)/,$(filter $(AMDKFD_FILES),$(filter-out $(kfd_prio_files), \
	$(patsubst $(FULL_AMD_PATH)/amdkfd/%.c,$(AMDKFD_PATH)/%.o, \
		$(shell grep -l 'kfd_prio_hook_' $(FULL_AMD_PATH)/amdkfd/*.c)))))

$(obj)/$(AMDKFD_PATH)/kfd_prio_probes.o: $(obj)/$(AMDKFD_PATH)/kfd_prio_hooked
$(obj)/$(AMDKFD_PATH)/kfd_prio_hooked: $(kfd_prio_hooked) $(FULL_AMD_PATH)/amdkfd/kfd_prio_hooked.sh
	$(Q)$(CONFIG_SHELL) $(FULL_AMD_PATH)/amdkfd/kfd_prio_hooked.sh $@ $(or $(READELF),readelf) \
		$(FULL_AMD_PATH)/amdkfd $(kfd_prio_hooked)
