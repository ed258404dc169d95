/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The members of amdkfd's structures that stock.bpf.c reads.  Where they are, and whether the driver
 * that runs has them, is found when the program is loaded (CO-RE): by name, in the driver's BTF.
 * "___old": a type of the same name in drivers before 6.5 and in ROCm's of that time.
 */
#ifndef KFDTRACE_BPF_KFD_H
#define KFDTRACE_BPF_KFD_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct task_struct {
	int tgid;
};

struct device_queue_manager;

struct kfd_node {
	unsigned int id;
	struct device_queue_manager *dqm;
};

struct kfd_dev___old {
	unsigned int id;
	struct device_queue_manager *dqm;
};

enum kfd_queue_type {
	KFD_QUEUE_TYPE_COMPUTE,
	KFD_QUEUE_TYPE_HIQ = 2,
	KFD_QUEUE_TYPE_DIQ,
	KFD_QUEUE_TYPE_SDMA_XGMI,
};

enum kfd_queue_format {
	KFD_QUEUE_FORMAT_PM4,
	KFD_QUEUE_FORMAT_AQL,
};

enum kfd_unmap_queues_filter {
	KFD_UNMAP_QUEUES_FILTER_ALL_QUEUES = 1,
	KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES,
	KFD_UNMAP_QUEUES_FILTER_BY_PASID,
};

struct queue_properties {
	enum kfd_queue_type type;
	enum kfd_queue_format format;
	unsigned int queue_id;
	__u64 queue_address;
	__u64 queue_size;
	__u32 priority;
	__u32 queue_percent;
	void *read_ptr;
	void *write_ptr;
	__u32 doorbell_off;
	_Bool is_active;
	_Bool is_reset;
	__u64 ctx_save_restore_area_address;
	__u32 ctx_save_restore_area_size;
};

struct kfd_process {
	struct task_struct *lead_thread;
};

struct queue {
	struct list_head list;
	__u64 gart_mqd_addr;
	struct queue_properties properties;
	struct kfd_process *process;
	struct kfd_node *device;
};

struct process_queue_manager {
	struct kfd_process *process;
};

struct qcm_process_device {
	struct device_queue_manager *dqm;
	struct process_queue_manager *pqm;
	struct list_head queues_list;
	unsigned int queue_count;
	unsigned int evicted;
};

struct device_process_node {
	struct qcm_process_device *qpd;
	struct list_head list;
};

struct kfd_mem_obj {
	__u64 gpu_addr;
};

struct packet_manager_funcs {
	int map_process_size;
	int map_queues_size;
};

struct packet_manager {
	struct device_queue_manager *dqm;
	_Bool allocated;
	struct kfd_mem_obj *ib_buffer_obj;
	unsigned int ib_size_bytes;
	const struct packet_manager_funcs *pmf;
};

struct device_queue_manager {
	struct kfd_node *dev;
	struct list_head queues;
	unsigned int processes_count;
	unsigned int active_queue_count;
	unsigned int active_cp_queue_count;
	_Bool sched_running;
	_Bool sched_halt;
};

#pragma clang attribute pop

#endif /* KFDTRACE_BPF_KFD_H */
