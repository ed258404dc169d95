// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the shader debugger's registers, as amdkfd's AMDKFD_IOC_DBG_TRAP sets them.
 *
 * The functions of kfd2kgd return or write what those of amdgpu do (amdgpu_amdkfd_*.c of 6.12). Where
 * a VMID has its own trap settings (GFX 9.4.2, 9.4.3, 11 and 12) amdkfd keeps what they return and passes
 * it on with the process: in MAP_PROCESS, or to MES with SET_SHADER_DEBUGGER, which keeps it in the
 * process context. On GFX 9.0 and 10 they are registers of the whole GPU.
 * No code runs, so no setting has an effect: no wave is halted, no access is watched, no trap comes.
 * debugfs debugger shows them.
 */
#include "mes.h"
#include "debugger.h"
#include <linux/debugfs.h>
#include <uapi/linux/kfd_ioctl.h>

/* gc_9_4_3_sh_mask.h, and the same in 11 and 12; 9.4.2 has no TRAP_ON_START and TRAP_ON_END */
#define GDBG_LAUNCH_MODE(mode)	((mode) << 1 & 0x6)	/* SPI_GDBG_PER_VMID_CNTL */
#define GDBG_TRAP_EN		BIT(3)
#define GDBG_EXCP_EN_SHIFT	4
#define GDBG_EXCP_EN		0x1ff0
#define GDBG_EXCP_REPLACE(how)	((how) << 13 & BIT(13))
#define GDBG_TRAP_ON_START	BIT(14)
#define GDBG_TRAP_ON_END	BIT(15)
#define TRAP_MASK_EXCP_EN	0x1ff			/* SPI_GDBG_TRAP_MASK, GFX 9.0 and 10 */
#define TRAP_MASK_REPLACE(how)	((how) << 9 & BIT(9))
#define WAVE_CNTL2(vmid, mode)	(BIT(vmid) | ((mode) << 16 & 0x30000))	/* SPI_GDBG_WAVE_CNTL2 */
#define WATCH_VMID(vmid)	((vmid) << 24 & 0xf000000)	/* TCP_WATCH0_CNTL */
#define WATCH_MODE(mode)	((mode) << 29 & 0x60000000)
#define WATCH_VALID		BIT(31)

/* What MES keeps of SET_SHADER_DEBUGGER in a process context; the firmware's own layout is not known */
struct process_context {
	u32 gdbg, watch[SIM_WATCHES], flags, trap_en;
};

/**
 * sim_debugger_map - a process is mapped with these settings
 * @p: the process
 * @gdbg: SPI_GDBG_PER_VMID_CNTL
 * @watch: TCP_WATCH?_CNTL
 */
void sim_debugger_map(struct sim_proc *p, u32 gdbg, const u32 *watch)
{
	p->gdbg = gdbg;
	memcpy(p->watch, watch, sizeof(p->watch));
}

/* A process as it is seen: MES: its process context holds, now */
static bool read_proc(struct sim_hws *h, const struct sim_proc *p, struct process_context *c)
{
	struct process_context *ctx;

	if (!h->g->prof->mes) {
		c->gdbg = p->gdbg;
		memcpy(c->watch, p->watch, sizeof(c->watch));
		return true;
	}
	ctx = sim_gart_ptr(h->g, p->ctx, sizeof(*ctx));
	if (ctx)
		*c = *ctx;
	return ctx;
}

static int debugger_show(struct seq_file *m, void *unused)
{
	struct sim_gpu *g = m->private;
	struct sim_hws *h = g->hws;
	struct process_context c;
	struct eng_proc *p;
	u32 i;

	seq_printf(m, "trap_mask %#x wave_cntl2 %#x\n", READ_ONCE(g->dbg_regs.trap_mask),
		   READ_ONCE(g->dbg_regs.wave_cntl2));
	for (i = 0; i < SIM_WATCHES; i++)
		seq_printf(m, "watch %u addr %#llx cntl %#x\n", i, READ_ONCE(g->dbg_regs.watch_addr[i]),
			   READ_ONCE(g->dbg_regs.watch_cntl[i]));
	mutex_lock(&h->lock);
	for (p = h->eng.procs; p; p = p->next)
		if (read_proc(h, to_sp(p), &c))
			seq_printf(m, "process pasid %#x gdbg %#x watch %#x %#x %#x %#x\n",
				   to_sp(p)->pasid, c.gdbg, c.watch[0], c.watch[1], c.watch[2],
				   c.watch[3]);
	mutex_unlock(&h->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugger);

/**
 * sim_debugger_debugfs - the file of this file
 * @g: the GPU, with its directory
 */
void sim_debugger_debugfs(struct sim_gpu *g)
{
	debugfs_create_file("debugger", 0444, g->dbg, g, &debugger_fops);
}

#if SIM_DEBUGGER

/**
 * sim_debugger_misc - MES: SET_SHADER_DEBUGGER
 * @h: the firmware, its lock held
 * @in: the command's input
 *
 * Return: 0, or -EINVAL: another command, or the process context is not in GART
 */
int sim_debugger_misc(struct sim_hws *h, const struct mes_misc_op_input *in)
{
	struct process_context c = {};

	if (in->op != MES_MISC_OP_SET_SHADER_DEBUGGER)
		return -EINVAL;
	if (!in->set_shader_debugger.flags.process_ctx_flush) {
		c.gdbg = in->set_shader_debugger.spi_gdbg_per_vmid_cntl;
		c.flags = in->set_shader_debugger.flags.u32all;
		c.trap_en = in->set_shader_debugger.trap_en;
		memcpy(c.watch, in->set_shader_debugger.tcp_watch_cntl, sizeof(c.watch));
	}
	return sim_gart_write(h->g, in->set_shader_debugger.process_context_addr, &c, sizeof(c)) ?
		0 : -EINVAL;
}

/* ---- a VMID has its own settings ---- */

/**
 * sim_vmid_enable_debug_trap - kfd2kgd.enable_debug_trap, as are the following
 * @adev: the GPU
 * @restore_dbg_registers: without effect on these GPUs
 * @vmid: without effect
 */
u32 sim_vmid_enable_debug_trap(struct amdgpu_device *adev, bool restore_dbg_registers, u32 vmid)
{
	return GDBG_TRAP_EN;
}

/**
 * sim_vmid_disable_debug_trap - kfd2kgd.disable_debug_trap
 * @adev: the GPU
 * @keep_trap_enabled: GFX 9.4.2: whether traps stay on; the others always keep them
 * @vmid: without effect
 */
u32 sim_vmid_disable_debug_trap(struct amdgpu_device *adev, bool keep_trap_enabled, u32 vmid)
{
	return keep_trap_enabled || to_sim(adev)->prof->gc != IP_VERSION(9, 4, 2) ? GDBG_TRAP_EN : 0;
}

/* Does a wave trap when it starts and ends, if asked to? */
static bool traps_at_ends(const struct sim_profile *p)
{
	return p->gc == IP_VERSION(9, 4, 3) || p->gc >= IP_VERSION(11, 0, 4);
}

/**
 * sim_vmid_validate_override - kfd2kgd.validate_trap_override_request
 * @adev: the GPU
 * @how: KFD_DBG_TRAP_OVERRIDE_*
 * @supported: what the GPU does not have of KFD_DBG_TRAP_MASK_* is taken away
 */
int sim_vmid_validate_override(struct amdgpu_device *adev, u32 how, u32 *supported)
{
	u32 has = GDBG_EXCP_EN >> GDBG_EXCP_EN_SHIFT;

	if (traps_at_ends(to_sim(adev)->prof))
		has |= KFD_DBG_TRAP_MASK_TRAP_ON_WAVE_START | (u32)KFD_DBG_TRAP_MASK_TRAP_ON_WAVE_END;
	*supported &= has;
	return how == KFD_DBG_TRAP_OVERRIDE_OR || how == KFD_DBG_TRAP_OVERRIDE_REPLACE ? 0 : -EPERM;
}

/**
 * sim_vmid_set_override - kfd2kgd.set_wave_launch_trap_override
 * @adev: the GPU
 * @vmid: without effect
 * @how: KFD_DBG_TRAP_OVERRIDE_*
 * @bits: which traps of @request are on
 * @request: which are changed
 * @prev: set to those that were on
 * @cntl_prev: what was returned the last time
 */
u32 sim_vmid_set_override(struct amdgpu_device *adev, u32 vmid, u32 how, u32 bits, u32 request,
			  u32 *prev, u32 cntl_prev)
{
	u32 cntl;

	*prev = (cntl_prev & GDBG_EXCP_EN) >> GDBG_EXCP_EN_SHIFT;
	if (cntl_prev & GDBG_TRAP_ON_START)
		*prev |= KFD_DBG_TRAP_MASK_TRAP_ON_WAVE_START;
	if (cntl_prev & GDBG_TRAP_ON_END)
		*prev |= KFD_DBG_TRAP_MASK_TRAP_ON_WAVE_END;
	bits = (bits & request) | (*prev & ~request);
	cntl = GDBG_TRAP_EN | (bits << GDBG_EXCP_EN_SHIFT & GDBG_EXCP_EN) | GDBG_EXCP_REPLACE(how);
	if (bits & KFD_DBG_TRAP_MASK_TRAP_ON_WAVE_START)
		cntl |= GDBG_TRAP_ON_START;
	if (bits & KFD_DBG_TRAP_MASK_TRAP_ON_WAVE_END)
		cntl |= GDBG_TRAP_ON_END;
	return cntl;
}

/**
 * sim_vmid_set_launch_mode - kfd2kgd.set_wave_launch_mode
 * @adev: the GPU
 * @mode: KFD_DBG_TRAP_WAVE_LAUNCH_MODE_*
 * @vmid: without effect
 */
u32 sim_vmid_set_launch_mode(struct amdgpu_device *adev, u8 mode, u32 vmid)
{
	return GDBG_LAUNCH_MODE(mode);
}

static void set_watch(struct sim_gpu *g, u32 id, u64 addr, u32 cntl)
{
	WRITE_ONCE(g->dbg_regs.watch_addr[id], addr & GENMASK_ULL(47, 0));
	WRITE_ONCE(g->dbg_regs.watch_cntl[id], cntl);
}

/* TCP_WATCH?_CNTL.MASK leaves out the bits of a cache line; its width */
static u32 watch_mask(const struct sim_profile *p, u32 mask)
{
	return p->gc < IP_VERSION(9, 4, 3) ? mask >> 6 & 0xffffff : mask >> 7 & 0x7fffff;
}

/**
 * sim_vmid_set_watch - kfd2kgd.set_address_watch
 * @adev: the GPU
 * @addr: what is watched
 * @mask: bits of the address that count
 * @id: number of the watch point
 * @mode: KFD_DBG_TRAP_ADDRESS_WATCH_MODE_*
 * @vmid: without effect
 * @inst: XCC
 */
u32 sim_vmid_set_watch(struct amdgpu_device *adev, u64 addr, u32 mask, u32 id, u32 mode, u32 vmid,
		       u32 inst)
{
	struct sim_gpu *g = to_sim(adev);

	/* whether it counts for a process is that process's setting, which is returned */
	set_watch(g, id, addr, 0);
	return WATCH_VALID | WATCH_MODE(mode) | watch_mask(g->prof, mask);
}

/* ---- the settings are the whole GPU's ---- */

/**
 * sim_global_enable_debug_trap - kfd2kgd.enable_debug_trap
 * @adev: the GPU
 * @restore_dbg_registers: GFX 10.1 only
 * @vmid: the debugged process's
 */
u32 sim_global_enable_debug_trap(struct amdgpu_device *adev, bool restore_dbg_registers, u32 vmid)
{
	WRITE_ONCE(to_sim(adev)->dbg_regs.trap_mask, 0);
	return 0;
}

/**
 * sim_global_disable_debug_trap - kfd2kgd.disable_debug_trap
 * @adev: the GPU
 * @keep_trap_enabled: without effect
 * @vmid: the debugged process's
 */
u32 sim_global_disable_debug_trap(struct amdgpu_device *adev, bool keep_trap_enabled, u32 vmid)
{
	WRITE_ONCE(to_sim(adev)->dbg_regs.trap_mask, 0);
	return 0;
}

/**
 * sim_global_validate_override - kfd2kgd.validate_trap_override_request
 * @adev: the GPU
 * @how: KFD_DBG_TRAP_OVERRIDE_*
 * @supported: what a process may not have for the sake of the others is taken away
 */
int sim_global_validate_override(struct amdgpu_device *adev, u32 how, u32 *supported)
{
	*supported &= KFD_DBG_TRAP_MASK_DBG_ADDRESS_WATCH;
	return how == KFD_DBG_TRAP_OVERRIDE_OR ? 0 : -EINVAL;
}

/**
 * sim_global_set_override - kfd2kgd.set_wave_launch_trap_override
 * @adev: the GPU
 * @vmid: the debugged process's
 * @how: KFD_DBG_TRAP_OVERRIDE_*
 * @bits: which traps of @request are on
 * @request: which are changed
 * @prev: set to those that were on
 * @cntl_prev: without effect
 */
u32 sim_global_set_override(struct amdgpu_device *adev, u32 vmid, u32 how, u32 bits, u32 request,
			    u32 *prev, u32 cntl_prev)
{
	struct sim_gpu *g = to_sim(adev);

	*prev = READ_ONCE(g->dbg_regs.trap_mask) & TRAP_MASK_EXCP_EN;
	bits = (bits & request) | (*prev & ~request);
	WRITE_ONCE(g->dbg_regs.trap_mask, (bits & TRAP_MASK_EXCP_EN) | TRAP_MASK_REPLACE(how));
	return 0;
}

/**
 * sim_global_set_launch_mode - kfd2kgd.set_wave_launch_mode
 * @adev: the GPU
 * @mode: KFD_DBG_TRAP_WAVE_LAUNCH_MODE_*
 * @vmid: the debugged process's
 */
u32 sim_global_set_launch_mode(struct amdgpu_device *adev, u8 mode, u32 vmid)
{
	WRITE_ONCE(to_sim(adev)->dbg_regs.wave_cntl2, mode ? WAVE_CNTL2(vmid, mode) : 0);
	return 0;
}

/**
 * sim_global_set_watch - kfd2kgd.set_address_watch
 * @adev: the GPU
 * @addr: what is watched
 * @mask: bits of the address that count
 * @id: number of the watch point
 * @mode: KFD_DBG_TRAP_ADDRESS_WATCH_MODE_*
 * @vmid: the debugged process's
 * @inst: without effect
 */
u32 sim_global_set_watch(struct amdgpu_device *adev, u64 addr, u32 mask, u32 id, u32 mode, u32 vmid,
			 u32 inst)
{
	struct sim_gpu *g = to_sim(adev);

	set_watch(g, id, addr, WATCH_VALID | WATCH_VMID(vmid) | WATCH_MODE(mode) |
		  watch_mask(g->prof, mask));
	return 0;
}

/**
 * sim_clear_watch - kfd2kgd.clear_address_watch of all GPUs
 * @adev: the GPU
 * @id: number of the watch point
 */
u32 sim_clear_watch(struct amdgpu_device *adev, u32 id)
{
	WRITE_ONCE(to_sim(adev)->dbg_regs.watch_cntl[id], 0);
	return 0;
}

#endif
