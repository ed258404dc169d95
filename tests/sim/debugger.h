/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: the shader debugger, see debugger.c: functions of the kfd2kgd tables */
#ifndef KFDSIM_DEBUGGER_H
#define KFDSIM_DEBUGGER_H

#include "sim.h"

#if SIM_DEBUGGER

u32 sim_vmid_enable_debug_trap(struct amdgpu_device *adev, bool restore_dbg_registers, u32 vmid);
u32 sim_vmid_disable_debug_trap(struct amdgpu_device *adev, bool keep_trap_enabled, u32 vmid);
int sim_vmid_validate_override(struct amdgpu_device *adev, u32 how, u32 *supported);
u32 sim_vmid_set_override(struct amdgpu_device *adev, u32 vmid, u32 how, u32 bits, u32 request,
			  u32 *prev, u32 cntl_prev);
u32 sim_vmid_set_launch_mode(struct amdgpu_device *adev, u8 mode, u32 vmid);
u32 sim_vmid_set_watch(struct amdgpu_device *adev, u64 addr, u32 mask, u32 id, u32 mode, u32 vmid,
		       u32 inst);
u32 sim_global_enable_debug_trap(struct amdgpu_device *adev, bool restore_dbg_registers, u32 vmid);
u32 sim_global_disable_debug_trap(struct amdgpu_device *adev, bool keep_trap_enabled, u32 vmid);
int sim_global_validate_override(struct amdgpu_device *adev, u32 how, u32 *supported);
u32 sim_global_set_override(struct amdgpu_device *adev, u32 vmid, u32 how, u32 bits, u32 request,
			    u32 *prev, u32 cntl_prev);
u32 sim_global_set_launch_mode(struct amdgpu_device *adev, u8 mode, u32 vmid);
u32 sim_global_set_watch(struct amdgpu_device *adev, u64 addr, u32 mask, u32 id, u32 mode, u32 vmid,
			 u32 inst);
u32 sim_clear_watch(struct amdgpu_device *adev, u32 id);

/* behind other members of a table: where each VMID has its settings, and where the GPU has them */
#define SIM_KFD2KGD_VMID_DEBUGGER						\
	, .enable_debug_trap = sim_vmid_enable_debug_trap,			\
	.disable_debug_trap = sim_vmid_disable_debug_trap,			\
	.validate_trap_override_request = sim_vmid_validate_override,		\
	.set_wave_launch_trap_override = sim_vmid_set_override,			\
	.set_wave_launch_mode = sim_vmid_set_launch_mode,			\
	.set_address_watch = sim_vmid_set_watch,				\
	.clear_address_watch = sim_clear_watch

#define SIM_KFD2KGD_GLOBAL_DEBUGGER						\
	, .enable_debug_trap = sim_global_enable_debug_trap,			\
	.disable_debug_trap = sim_global_disable_debug_trap,			\
	.validate_trap_override_request = sim_global_validate_override,		\
	.set_wave_launch_trap_override = sim_global_set_override,		\
	.set_wave_launch_mode = sim_global_set_launch_mode,			\
	.set_address_watch = sim_global_set_watch,				\
	.clear_address_watch = sim_clear_watch

#else

#define SIM_KFD2KGD_VMID_DEBUGGER
#define SIM_KFD2KGD_GLOBAL_DEBUGGER

#endif

#endif
