# SPDX-License-Identifier: GPL-2.0 OR MIT
#
# kfdprio: the objects that kfdprio adds to amdkfd, the compile probes for kfd_prio_compat.h, and the
# check that the hooks were compiled.  amdkfd/Makefile includes this file at its end.

kfd_prio_files := $(AMDKFD_PATH)/kfd_prio_fault.o \
		$(AMDKFD_PATH)/kfd_prio_hooks.o \
		$(AMDKFD_PATH)/kfd_prio_main.o \
		$(AMDKFD_PATH)/kfd_prio_modparam.o \
		$(AMDKFD_PATH)/kfd_prio_ioctl.o \
		$(AMDKFD_PATH)/kfd_prio_limit.o \
		$(AMDKFD_PATH)/kfd_prio_shares.o \
		$(AMDKFD_PATH)/kfd_prio_join.o \
		$(AMDKFD_PATH)/kfd_prio_stats.o \
		$(AMDKFD_PATH)/kfd_prio_list.o \
		$(AMDKFD_PATH)/kfd_prio_totals.o \
		$(AMDKFD_PATH)/kfd_prio_debugfs.o \
		$(AMDKFD_PATH)/kfd_prio_thread.o \
		$(AMDKFD_PATH)/kfd_prio_process.o \
		$(AMDKFD_PATH)/kfd_prio_engine.o \
		$(AMDKFD_PATH)/kfd_prio_commit.o \
		$(AMDKFD_PATH)/kfd_prio_evict.o \
		$(AMDKFD_PATH)/kfd_prio_runlist.o \
		$(AMDKFD_PATH)/kfd_prio_neighbour.o \
		$(AMDKFD_PATH)/kfd_prio_rings.o \
		$(AMDKFD_PATH)/kfd_prio_signal.o \
		$(AMDKFD_PATH)/kfd_prio_detect.o \
		$(AMDKFD_PATH)/kfd_prio_claim.o \
		$(AMDKFD_PATH)/kfd_prio_poll.o \
		$(AMDKFD_PATH)/kfd_prio_role.o \
		$(AMDKFD_PATH)/kfd_prio_share.o \
		$(AMDKFD_PATH)/kfd_prio_charge.o \
		$(AMDKFD_PATH)/kfd_prio_cost.o \
		$(AMDKFD_PATH)/kfd_prio_park.o \
		$(AMDKFD_PATH)/kfd_prio_proof.o \
		$(AMDKFD_PATH)/kfd_prio_observe.o \
		$(AMDKFD_PATH)/kfd_prio_aql.o \
		$(AMDKFD_PATH)/kfd_prio_doorbell.o \
		$(AMDKFD_PATH)/kfd_prio_breaker.o \
		$(AMDKFD_PATH)/kfd_prio_orphan.o \
		$(AMDKFD_PATH)/kfd_prio_gpu.o \
		$(AMDKFD_PATH)/kfd_prio_params.o \
		$(AMDKFD_PATH)/kfd_prio_task.o \
		$(AMDKFD_PATH)/kfd_prio_notify.o \
		$(AMDKFD_PATH)/kfd_prio_processes.o \
		$(AMDKFD_PATH)/kfd_prio_identity.o \
		$(AMDKFD_PATH)/kfd_prio_settings.o \
		$(AMDKFD_PATH)/kfd_prio_table.o \
		$(AMDKFD_PATH)/kfd_prio_group.o \
		$(AMDKFD_PATH)/kfd_prio_place.o \
		$(AMDKFD_PATH)/kfd_prio_quota.o \
		$(AMDKFD_PATH)/kfd_prio_turn.o \
		$(AMDKFD_PATH)/kfd_prio_state.o \
		$(AMDKFD_PATH)/kfd_prio_policy.o \
		$(AMDKFD_PATH)/kfd_prio_levels.o \
		$(AMDKFD_PATH)/kfd_prio_lull.o \
		$(AMDKFD_PATH)/kfd_prio_crowd.o \
		$(AMDKFD_PATH)/kfd_prio_floor.o \
		$(AMDKFD_PATH)/kfd_prio_gaps.o \
		$(AMDKFD_PATH)/kfd_prio_backoff.o \
		$(AMDKFD_PATH)/kfd_prio_probes.o \
		$(AMDKFD_PATH)/kfd_prio_events.o
AMDKFD_FILES += $(kfd_prio_files)

# <trace/define_trace.h> includes the event header a second time, by this path.
ccflags-y += -I$(FULL_AMD_PATH)/amdkfd

# amdgpu's Makefile includes amdkfd's in its middle, and a tree may append flags and forced headers
# after it (ROCm's backport/backport.h).  So the probes run in a rule, which has all flags: those
# with which kfd_prio_probes.c, a file of the module, is compiled.
kfd_prio_probes := $(obj)/$(AMDKFD_PATH)/kfd_prio_probes.h
kfd_prio_comma := ,

$(kfd_prio_probes): $(FULL_AMD_PATH)/amdkfd/kfd_prio_probes.sh
	$(Q)$(CONFIG_SHELL) $(FULL_AMD_PATH)/amdkfd/kfd_prio_probes.sh $@ \
		$(CC) $(filter-out -Wp$(kfd_prio_comma)-M%,$(c_flags))

$(addprefix $(obj)/,$(kfd_prio_files) $(AMDKFD_PATH)/kfd_device_queue_manager.o): $(kfd_prio_probes)

# A hook in a branch that is not compiled would be missing without a message.  So kfd_prio_probes.o
# depends on a check of all objects that have hooks: each must refer to its hooks.
kfd_prio_hooked := $(addprefix $(obj)/,$(filter $(AMDKFD_FILES),$(filter-out $(kfd_prio_files), \
	$(patsubst $(FULL_AMD_PATH)/amdkfd/%.c,$(AMDKFD_PATH)/%.o, \
		$(shell grep -l 'kfd_prio_hook_' $(FULL_AMD_PATH)/amdkfd/*.c)))))

$(obj)/$(AMDKFD_PATH)/kfd_prio_probes.o: $(obj)/$(AMDKFD_PATH)/kfd_prio_hooked
$(obj)/$(AMDKFD_PATH)/kfd_prio_hooked: $(kfd_prio_hooked) $(FULL_AMD_PATH)/amdkfd/kfd_prio_hooked.sh
	$(Q)$(CONFIG_SHELL) $(FULL_AMD_PATH)/amdkfd/kfd_prio_hooked.sh $@ $(or $(READELF),readelf) \
		$(FULL_AMD_PATH)/amdkfd $(kfd_prio_hooked)
