// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: scalar loads, flat, global, scratch and buffer memory.
 *
 * Lanes go one after the other. When an access faults, those before it are done, the wave stops
 * at the instruction, and isa_memory has the address. When that is there, the wave may go on: atomic operations, and
 * loads into their own address, are done by all lanes or none.
 */
#include "isa-int.h"

/**
 * isa_memory_forget - pages that were found may have gone
 * @mem: the memory
 */
void isa_memory_forget(struct isa_memory *mem)
{
	memset(mem->ptr, 0, sizeof(mem->ptr));
}

/**
 * isa_memory_find - where an address is
 * @mem: the memory
 * @va: the address
 * @access: what for
 *
 * Return: the place, valid to the end of its page; NULL: a fault.
 */
u8 *isa_memory_find(struct isa_memory *mem, u64 va, enum isa_access access)
{
	u64 page = va & ~(u64)(ISA_PAGE - 1);

	if (!mem->ptr[access] || mem->va[access] != page) {
		mem->ptr[access] = mem->page(mem->ctx, page, access);
		mem->va[access] = page;
		if (!mem->ptr[access]) {
			mem->fault_va = va;
			mem->fault_access = access;
			return NULL;
		}
	}
	return mem->ptr[access] + (va - page);
}

/**
 * isa_memory_copy - copy between @data and memory
 * @mem: the memory
 * @va: address there
 * @data: the bytes
 * @bytes: how many
 * @access: ISA_WRITE: from @data
 *
 * Return: false: a fault.
 */
bool isa_memory_copy(struct isa_memory *mem, u64 va, u8 *data, u32 bytes, enum isa_access access)
{
	u32 room, n;
	u8 *p;

	while (bytes) {
		p = isa_memory_find(mem, va, access);
		if (!p)
			return false;
		room = ISA_PAGE - (u32)(va & (ISA_PAGE - 1));
		n = bytes < room ? bytes : room;
		if (access == ISA_WRITE)
			memcpy(p, data, n);
		else
			memcpy(data, p, n);
		va += n;
		data += n;
		bytes -= n;
	}
	return true;
}

/**
 * isa_read - read memory
 * @mem: the memory
 * @va: address
 * @data: where to
 * @bytes: how many
 * @access: ISA_READ or ISA_FETCH
 *
 * Return: false: a fault, see isa_memory.fault_va.
 */
bool isa_read(struct isa_memory *mem, u64 va, void *data, u32 bytes, enum isa_access access)
{
	return isa_memory_copy(mem, va, data, bytes, access);
}

/* Dwords, as they are most often: aligned */
static bool read_dwords(struct isa_memory *mem, u64 va, u32 *data, u32 n)
{
	u32 i;
	u8 *p;

	if (va & 3 || (va & (ISA_PAGE - 1)) > ISA_PAGE - 4 * n)
		return isa_memory_copy(mem, va, (u8 *)data, 4 * n, ISA_READ);
	p = isa_memory_find(mem, va, ISA_READ);
	if (!p)
		return false;
	for (i = 0; i < n; i++)
		data[i] = __atomic_load_n((u32 *)p + i, __ATOMIC_RELAXED);
	return true;
}

static bool write_dwords(struct isa_memory *mem, u64 va, u32 *data, u32 n)
{
	u32 i;
	u8 *p;

	if (va & 3 || (va & (ISA_PAGE - 1)) > ISA_PAGE - 4 * n)
		return isa_memory_copy(mem, va, (u8 *)data, 4 * n, ISA_WRITE);
	p = isa_memory_find(mem, va, ISA_WRITE);
	if (!p)
		return false;
	for (i = 0; i < n; i++)
		__atomic_store_n((u32 *)p + i, data[i], __ATOMIC_RELAXED);
	return true;
}

/**
 * isa_atomic - the new value of an atomic operation
 * @kind: enum isa_atomic_kind
 * @width: in dwords
 * @old: the value before
 * @data: operand
 * @compare: ISA_CMPSWAP: the value that is replaced
 */
u64 isa_atomic(u32 kind, u32 width, u64 old, u64 data, u64 compare)
{
	u64 sign = width == 2 ? 1ULL << 63 : 1ULL << 31;

	switch (kind) {
	case ISA_SWAP:
		return data;
	case ISA_CMPSWAP:
		return old == compare ? data : old;
	case ISA_ADD:
		return old + data;
	case ISA_SUB:
		return old - data;
	case ISA_SMIN:
		return (old ^ sign) < (data ^ sign) ? old : data;
	case ISA_UMIN:
		return old < data ? old : data;
	case ISA_SMAX:
		return (old ^ sign) > (data ^ sign) ? old : data;
	case ISA_UMAX:
		return old > data ? old : data;
	case ISA_AND:
		return old & data;
	case ISA_OR:
		return old | data;
	case ISA_XOR:
		return old ^ data;
	case ISA_INC:
		return old >= data ? 0 : old + 1;
	default: /* ISA_DEC */
		return !old || old > data ? data : old - 1;
	}
}

/* An atomic operation that others, the host's too, see as one. @data: @width dwords, twice with a comparison */
static bool atomic(struct isa_memory *mem, u64 va, u32 kind, u32 width, const u32 *data, u32 *old)
{
	/* cppcheck-suppress ctuArrayIndex; an array of the caller */
	u64 operand = data[0], compare = data[1], wide;
	u32 word;
	u8 *p;

	if (va & (4 * width - 1)) {
		mem->fault_va = va;
		mem->fault_access = ISA_WRITE;
		return false;
	}
	p = isa_memory_find(mem, va, ISA_WRITE);
	if (!p)
		return false;
	if (width == 1) {
		word = __atomic_load_n((u32 *)p, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n((u32 *)p, &word, (u32)isa_atomic(kind, 1, word, operand, compare),
						    false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		old[0] = word;
		return true;
	}
	operand |= (u64)data[1] << 32;
	compare = kind == ISA_CMPSWAP ? data[2] | (u64)data[3] << 32 : 0;
	wide = __atomic_load_n((u64 *)p, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n((u64 *)p, &wide, isa_atomic(kind, 2, wide, operand, compare), false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	old[0] = (u32)wide;
	old[1] = (u32)(wide >> 32);
	return true;
}

static void stop(struct isa_wave *w, const struct isa_insn *insn, enum isa_state state)
{
	w->pc -= insn->dwords;
	w->state = state;
}

static void fault(struct isa_wave *w, const struct isa_insn *insn)
{
	stop(w, insn, ISA_FAULTED);
}

/* A buffer's bytes, as far as offsets go; 0: none is read */
static u64 buffer_bytes(const u32 *rsrc)
{
	u32 stride = rsrc[1] >> 16 & 0x3fff;

	return stride ? (u64)stride * rsrc[2] : rsrc[2];
}

/**
 * isa_smem - execute a scalar load
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 */
void isa_smem(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 data[16], i, offset;
	u64 base, bytes;

	if (row->flags & ISA_BARE)
		return;
	base = isa_scalar64(g, w, insn, insn->src[0]);
	offset = insn->src[1] == ISA_NONE ? 0 : isa_scalar32(w, insn, insn->src[1]);
	if (row->src[0] == 2) {
		base += (u64)(s64)insn->imm + offset;
		if (!read_dwords(g->mem, base & ~3ULL, data, row->dst)) {
			fault(w, insn);
			return;
		}
	} else {
		bytes = buffer_bytes(&w->s[insn->src[0]]);
		base &= 0xffffffffffffULL;
		offset = (offset + (u32)insn->imm) & ~3u;
		for (i = 0; i < row->dst; i++) {
			data[i] = 0;
			if ((u64)offset + 4 * i + 4 > bytes)
				continue;
			if (!read_dwords(g->mem, (base & ~3ULL) + offset + 4 * i, &data[i], 1)) {
				fault(w, insn);
				return;
			}
		}
	}
	for (i = 0; i < row->dst; i++)
		w->s[insn->dst + i] = data[i];
}

/**
 * isa_small - bytes of a load or store that are not whole dwords
 * @op: the instruction
 * @is_signed: gets whether what is loaded is extended by its sign
 *
 * Return: 0: dwords.
 */
u32 isa_small(u32 op, bool *is_signed)
{
	*is_signed = op == OP_load_sbyte || op == OP_load_sshort;
	switch (op) {
	case OP_load_ubyte:
	case OP_load_sbyte:
	case OP_store_byte:
		return 1;
	case OP_load_ushort:
	case OP_load_sshort:
	case OP_store_short:
		return 2;
	}
	return 0;
}

/* The address of a lane of MUBUF; false: out of range. V#: ISA documents, "buffer resource descriptor" */
static bool buffer_va(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn,
		      u32 l, u32 bytes, u64 *va)
{
	const u32 *rsrc = &w->s[insn->src[2]];
	u32 index = 0, stride = rsrc[1] >> 16 & 0x3fff, next = insn->src[0], select;
	u64 offset = (u64)(u32)insn->imm;
	bool raw;

	if (insn->mods & ISA_IDXEN)
		index = isa_vgpr(g, w, next++)[l];
	if (insn->mods & ISA_OFFEN)
		offset += isa_vgpr(g, w, next)[l];
	*va = (rsrc[0] | (u64)(rsrc[1] & 0xffff) << 32) + isa_scalar32(w, insn, insn->sdst) +
	      (u64)index * stride + offset;
	if (isa_generation(g->prog->target)) {
		select = rsrc[3] >> 28 & 3;
		if (select == 2)
			return rsrc[2];
		raw = select == 3;
		if (!select && offset + bytes > stride)
			return false;
	} else {
		raw = !stride;
	}
	return raw ? (u64)index * stride + offset + bytes <= rsrc[2] : index < rsrc[2];
}

/**
 * isa_loaded - registers of a lane get what was loaded
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 * @l: the lane
 * @data: dwords
 * @bytes: of them, as of isa_small()
 * @is_signed: likewise
 */
void isa_loaded(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l, u32 *data, u32 bytes,
		   bool is_signed)
{
	u32 i;

	if (is_signed)
		data[0] = bytes == 1 ? (u32)(s8)data[0] : (u32)(s16)data[0];
	for (i = 0; i < isa_rows[insn->op].dst; i++)
		isa_vgpr(g, w, insn->dst + i)[l] = data[i];
}

/* One lane's access; false: it faults */
static bool access(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l, u64 va)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 data[4], i, bytes;
	bool is_signed;

	for (i = 0; i < row->src[0]; i++)
		data[i] = isa_vgpr(g, w, insn->src[1] + i)[l];
	bytes = isa_small(insn->op, &is_signed);
	if (row->flags & ISA_ATOMIC) {
		u32 old[2];

		if (!atomic(g->mem, va, (insn->op - OP_atomic_swap) / 2, row->dst, data, old))
			return false;
		for (i = 0; insn->dst != ISA_NONE && i < row->dst; i++)
			isa_vgpr(g, w, insn->dst + i)[l] = old[i];
		return true;
	}
	if (row->src[0])
		return bytes ? isa_memory_copy(g->mem, va, (u8 *)data, bytes, ISA_WRITE) :
			       write_dwords(g->mem, va, data, row->src[0]);
	data[0] = 0;
	if (bytes ? !isa_memory_copy(g->mem, va, (u8 *)data, bytes, ISA_READ) :
		    !read_dwords(g->mem, va, data, row->dst))
		return false;
	isa_loaded(g, w, insn, l, data, bytes, is_signed);
	return true;
}

/*
 * May the lanes before one that faults be executed again, once the page is there? Not if their memory has been
 * changed by what it was, or their address by what was loaded.
 */
static bool repeatable(const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];

	if (row->flags & ISA_ATOMIC)
		return false;
	return insn->dst == ISA_NONE || insn->dst > insn->src[0] + 1 || insn->dst + row->dst <= insn->src[0];
}

/* Is a flat address one of scratch memory? */
static bool is_private(const struct isa_group *g, const struct isa_insn *insn, u64 va)
{
	return insn->format == ISA_FLAT && g->private_base && va >> 32 == g->private_base;
}

/* The address of a lane; false: it accesses no memory */
static bool lane_va(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn, u32 l,
		    u32 bytes, u64 *va)
{
	if (insn->format == ISA_MUBUF)
		return buffer_va(g, w, insn, l, bytes, va);
	*va = (u64)(s64)insn->imm + isa_vgpr(g, w, insn->src[0])[l];
	if (insn->src[2] == ISA_NONE)
		*va += (u64)isa_vgpr(g, w, insn->src[0] + 1)[l] << 32;
	else
		*va += isa_scalar64(g, w, insn, insn->src[2]);
	return insn->format != ISA_FLAT || *va >> 32 != g->shared_base;
}

/* Before an instruction that is not repeatable(): is the memory of all lanes there? False: a lane faults */
static bool all_there(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn, u64 exec,
		      u32 bytes, bool scratch)
{
	enum isa_access access = isa_rows[insn->op].flags & ISA_ATOMIC ? ISA_WRITE : ISA_READ;
	u64 va = 0;
	u32 l;

	for (l = 0; l < g->lanes; l++) {
		if (!(exec >> l & 1) || (!scratch && !lane_va(g, w, insn, l, bytes, &va)))
			continue;
		if (scratch || is_private(g, insn, va)) {
			if (!isa_scratch_there(g, w, insn, l, bytes, access))
				return false;
		} else if (!isa_memory_find(g->mem, va, access) || !isa_memory_find(g->mem, va + bytes - 1, access)) {
			return false;
		}
	}
	return true;
}

/* What a lane out of a buffer's range reads */
static void nothing(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l)
{
	u32 i;

	for (i = 0; insn->dst != ISA_NONE && i < isa_rows[insn->op].dst; i++)
		isa_vgpr(g, w, insn->dst + i)[l] = 0;
}

/**
 * isa_vmem - execute an access to memory by each lane
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 */
void isa_vmem(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u64 exec = isa_exec(g, w), base = (u64)(s64)insn->imm, va;
	const u32 *low, *high = NULL;
	bool is_signed, scratch = insn->format == ISA_SCRATCH;
	u32 l, bytes;

	if (row->flags & ISA_BARE || !exec)
		return;
	bytes = isa_small(insn->op, &is_signed);
	if (!bytes)
		bytes = 4 * (row->flags & ISA_ATOMIC || !row->src[0] ? row->dst : row->src[0]);
	if (insn->format == ISA_MUBUF && isa_buffer_swizzled(g, w, insn)) {
		scratch = isa_buffer_scratch(g, w, insn);
		if (!scratch) {
			stop(w, insn, ISA_REFUSED);
			return;
		}
	}
	if (!repeatable(insn) && !all_there(g, w, insn, exec, bytes, scratch)) {
		fault(w, insn);
		return;
	}
	for (l = 0; scratch && l < g->lanes; l++) {
		if (exec >> l & 1 && !isa_scratch(g, w, insn, l)) {
			fault(w, insn);
			return;
		}
	}
	if (scratch)
		return;
	if (insn->format == ISA_MUBUF) {
		for (l = 0; l < g->lanes; l++) {
			if (!(exec >> l & 1))
				continue;
			if (!buffer_va(g, w, insn, l, bytes, &va)) {
				nothing(g, w, insn, l);
			} else if (!access(g, w, insn, l, va)) {
				fault(w, insn);
				return;
			}
		}
		return;
	}
	low = isa_vgpr(g, w, insn->src[0]);
	if (insn->src[2] == ISA_NONE)
		high = isa_vgpr(g, w, insn->src[0] + 1);
	else
		base += isa_scalar64(g, w, insn, insn->src[2]);
	for (l = 0; l < g->lanes; l++) {
		if (!(exec >> l & 1))
			continue;
		va = base + low[l] + (high ? (u64)high[l] << 32 : 0);
		if (insn->format == ISA_FLAT && va >> 32 == g->shared_base) {
			isa_lds_flat(g, w, insn, l, (u32)va);
		} else if (is_private(g, insn, va)) {
			if (row->flags & ISA_ATOMIC) {
				stop(w, insn, ISA_REFUSED);
				return;
			}
			if (!isa_scratch(g, w, insn, l)) {
				fault(w, insn);
				return;
			}
		} else if (!access(g, w, insn, l, va)) {
			fault(w, insn);
			return;
		}
	}
}
