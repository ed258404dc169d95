#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
#
# kfd_prio_probes.sh HEADER CC FLAG... - compile a probe for each type and call that
# kfd_prio_compat.h needs, and write HEADER, with "#define KFD_PRIO_HAVE_<NAME> 1" for each probe
# that compiles.  kfd_prio.mk runs it, with the flags of the module's own files.
#
# The script refuses a kernel with PREEMPT_RT, for builds that do not use dkms/can-build.  Then it
# compiles KFD's own headers with the flags.  If that fails, the result of a probe means nothing,
# and the script stops the build with the messages of the compiler.
set -u
header=$1
shift

# compile CODE COMPILER...: compiles CODE after KFD's headers
compile() {
	printf '#include "kfd_device_queue_manager.h"\n%s\n' "$1" >"$header.c"
	shift
	"$@" -w -fsyntax-only -x c "$header.c"
}
trap 'rm -f "$header.c" "$header.new" "$header.log"' EXIT

# Without KFD's headers, which may not compile on such a kernel.  The code compiles only if the option
# is set; the check below finds any other failure.
printf '#ifndef CONFIG_PREEMPT_RT\n#error "not set"\n#endif\n' >"$header.c"
if "$@" -w -fsyntax-only -x c "$header.c" >/dev/null 2>&1; then
	echo "kfdprio does not support kernels with PREEMPT_RT, and this build has CONFIG_PREEMPT_RT: build for a kernel without it" >&2
	exit 1
fi

if ! compile 'int probe(void);' "$@" >"$header.log" 2>&1; then
	cat "$header.log" >&2
	echo "kfdprio: the compile probes cannot run: amdkfd's headers do not compile with the flags of this build, see above" >&2
	exit 1
fi

# Each line has a NAME, and code that compiles only if the tree has it.  Probes of a function compare
# its type, because older compilers only warn about a call with another signature.
{
	echo "/* made by kfd_prio_probes.sh */"
	while read -r name code; do
		case $name in ''|'#'*) continue ;; esac
		found=0
		compile "$(echo "$code" | sed 's/ \\n /\n/')" "$@" >/dev/null 2>&1 && found=1
		[ $found = 0 ] || echo "#define KFD_PRIO_HAVE_$name 1"
		[ $found = 0 ] || list="${list:+$list }$name"
	done <<-'END'
		KFD_NODE int probe(struct kfd_node *n) { return n->kfd->shared_resources.enable_mes; }
		OCCUPANCY_BY_QUEUE unsigned long probe(void) { return sizeof(struct kfd_cu_occupancy) + sizeof(&kfd_dqm_is_queue_in_process); }
		OCCUPANCY_OF_XCC _Static_assert(__builtin_types_compatible_p(__typeof__(((struct kfd2kgd_calls *)0)->get_cu_occupancy), void (*)(struct amdgpu_device *, int, int *, int *, uint32_t)), "");
		RESET_QUEUE int probe(struct kfd_process_device *p) { return p->has_reset_queue; }
		SCHED_HALT int probe(struct device_queue_manager *d) { return d->sched_halt; }
		IS_RESETTING int probe(struct device_queue_manager *d) { return d->is_resetting; }
		FLUSH_TLB_NO_TYPE void probe(struct kfd_process_device *p) { kfd_flush_tlb(p); }
		HRTIMER_SETUP unsigned long probe(void) { return sizeof(&hrtimer_setup); }
		EXIT_GROUP_DEAD #include <trace/events/sched.h> \n _Static_assert(__builtin_types_compatible_p(__typeof__(&check_trace_callback_type_sched_process_exit), void (*)(void (*)(void *, struct task_struct *, bool))), "");
		DIQ int probe(void) { return KFD_QUEUE_TYPE_DIQ; }
		OVER_SUBSCRIPTION bool probe(struct device_queue_manager *d) { return d->packet_mgr.is_over_subscription && d->gws_queue_count && d->dev->max_proc_per_quantum && get_cp_queues_num(d); }
		IS_SUSPENDED bool probe(struct queue *q) { return q->properties.is_suspended; }
		MQD_STRIDE u64 probe(struct mqd_manager *m, struct queue *q) { return m->mqd_stride(m, &q->properties); }
		V12_1_MQD #include "v12_structs.h" \n unsigned long probe(void) { return sizeof(struct v12_1_compute_mqd); }
		XNACK_CHAIN int probe(struct amdgpu_device *a, struct kfd_process *p) { return a->gmc.xnack_flags & AMDGPU_GMC_XNACK_FLAG_CHAIN && p->xnack_enabled; }
		QUEUE_IS_RESET bool probe(struct queue *q) { return q->properties.is_reset; }
		MQD_REPIN bool probe(struct queue *q) { return q->needs_mqd_repin; }
		SAVE_AREA #include "kfd_topology.h" \n unsigned int probe(struct kfd_node_properties *p) { return p->cwsr_size; }
		GRACE_PERIOD int probe(struct device_queue_manager *d) { return d->packet_mgr.pmf->set_grace_period_size && d->dev->kfd2kgd->build_grace_period_packet_info; }
		DEQUEUE_WAIT int probe(struct device_queue_manager *d) { return d->packet_mgr.pmf->config_dequeue_wait_counts_size && d->dev->kfd2kgd->build_dequeue_wait_counts_packet_info; }
		DBG_TRAP int probe(void) { return KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT + KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT; }
		V12_MQD #include "v12_structs.h" \n unsigned int probe(struct v12_sdma_mqd *m) { return m->sdmax_rlcx_ib_sub_remain; }
		FATAL_ERROR unsigned long probe(void) { return sizeof(&amdgpu_amdkfd_is_fed); }
		USER_QUEUES int probe(void) { return amdgpu_user_queue; }
		IRQ_DRAIN void probe(struct kfd_process *p) { wake_up_all(&p->wait_irq_drain); }
		PDD_PASID u32 probe(struct kfd_process_device *pdd) { return pdd->pasid; }
		MES_SUSPEND _Static_assert(__builtin_types_compatible_p(__typeof__(&amdgpu_mes_suspend_resume_all_supported), bool (*)(struct amdgpu_device *)), ""); int probe(struct amdgpu_device *a, struct mes_suspend_gang_input *i, struct mes_resume_gang_input *r) { i->suspend_all_gangs = r->resume_all_gangs = 1; return a->mes.funcs->suspend_gang(&a->mes, i) + a->mes.funcs->resume_gang(&a->mes, r); }
		MES_GANG_XCC u32 probe(struct mes_suspend_gang_input *i, struct mes_resume_gang_input *r) { return i->xcc_id + r->xcc_id; }
		KEEP_IDLE_EVICTED int probe(void) { return keep_idle_process_evicted; }
	END
	echo "#define KFD_PRIO_PROBES \"${list-}\""
} >"$header.new" && mv "$header.new" "$header"
