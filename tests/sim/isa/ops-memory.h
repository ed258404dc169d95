/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: instructions that are executed: LDS and vector memory. One row each:
 *
 *	X(name, encoding, d, a, b, c, flags, GFX9, GFX10, GFX11, targets, name on GFX10, on GFX11)
 *
 * d: dwords that are read; a, b: dwords of the data that are written. VMEM is what FLAT, GLOBAL and
 * MUBUF have in common, less the first part of the name.
 * GFX9, GFX10, GFX11: opcode in that generation, or -1. targets: see enum isa_target.
 * A name of NULL is that of the first column.
 */
#ifndef KFDSIM_ISA_OPS_MEMORY_H
#define KFDSIM_ISA_OPS_MEMORY_H

#define ISA_DS_OPS(X) \
	X(ds_write_b8, DS, 0, 1, 0, 0, 0, 0x1e, 0x1e, 0x1e, ALL, NULL, "ds_store_b8") \
	X(ds_write_b16, DS, 0, 1, 0, 0, 0, 0x1f, 0x1f, 0x1f, ALL, NULL, "ds_store_b16") \
	X(ds_write_b32, DS, 0, 1, 0, 0, 0, 0x0d, 0x0d, 0x0d, ALL, NULL, "ds_store_b32") \
	X(ds_write_b64, DS, 0, 2, 0, 0, 0, 0x4d, 0x4d, 0x4d, ALL, NULL, "ds_store_b64") \
	X(ds_write_b96, DS, 0, 3, 0, 0, 0, 0xde, 0xde, 0xde, ALL, NULL, "ds_store_b96") \
	X(ds_write_b128, DS, 0, 4, 0, 0, 0, 0xdf, 0xdf, 0xdf, ALL, NULL, "ds_store_b128") \
	X(ds_write2_b32, DS, 0, 1, 1, 0, TWO, 0x0e, 0x0e, 0x0e, ALL, NULL, "ds_store_2addr_b32") \
	X(ds_write2st64_b32, DS, 0, 1, 1, 0, TWO, 0x0f, 0x0f, 0x0f, ALL, \
	  NULL, "ds_store_2addr_stride64_b32") \
	X(ds_write2_b64, DS, 0, 2, 2, 0, TWO, 0x4e, 0x4e, 0x4e, ALL, NULL, "ds_store_2addr_b64") \
	X(ds_write2st64_b64, DS, 0, 2, 2, 0, TWO, 0x4f, 0x4f, 0x4f, ALL, \
	  NULL, "ds_store_2addr_stride64_b64") \
	X(ds_read_i8, DS, 1, 0, 0, 0, 0, 0x39, 0x39, 0x39, ALL, NULL, "ds_load_i8") \
	X(ds_read_u8, DS, 1, 0, 0, 0, 0, 0x3a, 0x3a, 0x3a, ALL, NULL, "ds_load_u8") \
	X(ds_read_i16, DS, 1, 0, 0, 0, 0, 0x3b, 0x3b, 0x3b, ALL, NULL, "ds_load_i16") \
	X(ds_read_u16, DS, 1, 0, 0, 0, 0, 0x3c, 0x3c, 0x3c, ALL, NULL, "ds_load_u16") \
	X(ds_read_b32, DS, 1, 0, 0, 0, 0, 0x36, 0x36, 0x36, ALL, NULL, "ds_load_b32") \
	X(ds_read_b64, DS, 2, 0, 0, 0, 0, 0x76, 0x76, 0x76, ALL, NULL, "ds_load_b64") \
	X(ds_read_b96, DS, 3, 0, 0, 0, 0, 0xfe, 0xfe, 0xfe, ALL, NULL, "ds_load_b96") \
	X(ds_read_b128, DS, 4, 0, 0, 0, 0, 0xff, 0xff, 0xff, ALL, NULL, "ds_load_b128") \
	X(ds_read2_b32, DS, 2, 0, 0, 0, TWO, 0x37, 0x37, 0x37, ALL, NULL, "ds_load_2addr_b32") \
	X(ds_read2st64_b32, DS, 2, 0, 0, 0, TWO, 0x38, 0x38, 0x38, ALL, \
	  NULL, "ds_load_2addr_stride64_b32") \
	X(ds_read2_b64, DS, 4, 0, 0, 0, TWO, 0x77, 0x77, 0x77, ALL, NULL, "ds_load_2addr_b64") \
	X(ds_read2st64_b64, DS, 4, 0, 0, 0, TWO, 0x78, 0x78, 0x78, ALL, \
	  NULL, "ds_load_2addr_stride64_b64") \
	X(ds_bpermute_b32, DS, 1, 1, 0, 0, 0, 0x3f, 0xb3, 0xb3, ALL, NULL, NULL) \
	X(ds_add_u32, DS, 0, 1, 0, 0, 0, 0x00, 0x00, 0x00, ALL, NULL, NULL) \
	X(ds_add_rtn_u32, DS, 1, 1, 0, 0, 0, 0x20, 0x20, 0x20, ALL, NULL, NULL) \
	X(ds_sub_u32, DS, 0, 1, 0, 0, 0, 0x01, 0x01, 0x01, ALL, NULL, NULL) \
	X(ds_sub_rtn_u32, DS, 1, 1, 0, 0, 0, 0x21, 0x21, 0x21, ALL, NULL, NULL) \
	X(ds_inc_u32, DS, 0, 1, 0, 0, 0, 0x03, 0x03, 0x03, ALL, NULL, NULL) \
	X(ds_inc_rtn_u32, DS, 1, 1, 0, 0, 0, 0x23, 0x23, 0x23, ALL, NULL, NULL) \
	X(ds_dec_u32, DS, 0, 1, 0, 0, 0, 0x04, 0x04, 0x04, ALL, NULL, NULL) \
	X(ds_dec_rtn_u32, DS, 1, 1, 0, 0, 0, 0x24, 0x24, 0x24, ALL, NULL, NULL) \
	X(ds_min_i32, DS, 0, 1, 0, 0, 0, 0x05, 0x05, 0x05, ALL, NULL, NULL) \
	X(ds_min_rtn_i32, DS, 1, 1, 0, 0, 0, 0x25, 0x25, 0x25, ALL, NULL, NULL) \
	X(ds_max_i32, DS, 0, 1, 0, 0, 0, 0x06, 0x06, 0x06, ALL, NULL, NULL) \
	X(ds_max_rtn_i32, DS, 1, 1, 0, 0, 0, 0x26, 0x26, 0x26, ALL, NULL, NULL) \
	X(ds_min_u32, DS, 0, 1, 0, 0, 0, 0x07, 0x07, 0x07, ALL, NULL, NULL) \
	X(ds_min_rtn_u32, DS, 1, 1, 0, 0, 0, 0x27, 0x27, 0x27, ALL, NULL, NULL) \
	X(ds_max_u32, DS, 0, 1, 0, 0, 0, 0x08, 0x08, 0x08, ALL, NULL, NULL) \
	X(ds_max_rtn_u32, DS, 1, 1, 0, 0, 0, 0x28, 0x28, 0x28, ALL, NULL, NULL) \
	X(ds_and_b32, DS, 0, 1, 0, 0, 0, 0x09, 0x09, 0x09, ALL, NULL, NULL) \
	X(ds_and_rtn_b32, DS, 1, 1, 0, 0, 0, 0x29, 0x29, 0x29, ALL, NULL, NULL) \
	X(ds_or_b32, DS, 0, 1, 0, 0, 0, 0x0a, 0x0a, 0x0a, ALL, NULL, NULL) \
	X(ds_or_rtn_b32, DS, 1, 1, 0, 0, 0, 0x2a, 0x2a, 0x2a, ALL, NULL, NULL) \
	X(ds_xor_b32, DS, 0, 1, 0, 0, 0, 0x0b, 0x0b, 0x0b, ALL, NULL, NULL) \
	X(ds_xor_rtn_b32, DS, 1, 1, 0, 0, 0, 0x2b, 0x2b, 0x2b, ALL, NULL, NULL) \
	X(ds_wrxchg_rtn_b32, DS, 1, 1, 0, 0, 0, 0x2d, 0x2d, 0x2d, ALL, \
	  NULL, "ds_storexchg_rtn_b32") \
	X(ds_cmpst_b32, DS, 0, 1, 1, 0, 0, 0x10, 0x10, 0x10, ALL, NULL, "ds_cmpstore_b32") \
	X(ds_cmpst_rtn_b32, DS, 1, 1, 1, 0, 0, 0x30, 0x30, 0x30, ALL, NULL, "ds_cmpstore_rtn_b32") \
	X(ds_add_u64, DS, 0, 2, 0, 0, 0, 0x40, 0x40, 0x40, ALL, NULL, NULL) \
	X(ds_add_rtn_u64, DS, 2, 2, 0, 0, 0, 0x60, 0x60, 0x60, ALL, NULL, NULL) \
	X(ds_sub_u64, DS, 0, 2, 0, 0, 0, 0x41, 0x41, 0x41, ALL, NULL, NULL) \
	X(ds_sub_rtn_u64, DS, 2, 2, 0, 0, 0, 0x61, 0x61, 0x61, ALL, NULL, NULL) \
	X(ds_inc_u64, DS, 0, 2, 0, 0, 0, 0x43, 0x43, 0x43, ALL, NULL, NULL) \
	X(ds_inc_rtn_u64, DS, 2, 2, 0, 0, 0, 0x63, 0x63, 0x63, ALL, NULL, NULL) \
	X(ds_dec_u64, DS, 0, 2, 0, 0, 0, 0x44, 0x44, 0x44, ALL, NULL, NULL) \
	X(ds_dec_rtn_u64, DS, 2, 2, 0, 0, 0, 0x64, 0x64, 0x64, ALL, NULL, NULL) \
	X(ds_min_i64, DS, 0, 2, 0, 0, 0, 0x45, 0x45, 0x45, ALL, NULL, NULL) \
	X(ds_min_rtn_i64, DS, 2, 2, 0, 0, 0, 0x65, 0x65, 0x65, ALL, NULL, NULL) \
	X(ds_max_i64, DS, 0, 2, 0, 0, 0, 0x46, 0x46, 0x46, ALL, NULL, NULL) \
	X(ds_max_rtn_i64, DS, 2, 2, 0, 0, 0, 0x66, 0x66, 0x66, ALL, NULL, NULL) \
	X(ds_min_u64, DS, 0, 2, 0, 0, 0, 0x47, 0x47, 0x47, ALL, NULL, NULL) \
	X(ds_min_rtn_u64, DS, 2, 2, 0, 0, 0, 0x67, 0x67, 0x67, ALL, NULL, NULL) \
	X(ds_max_u64, DS, 0, 2, 0, 0, 0, 0x48, 0x48, 0x48, ALL, NULL, NULL) \
	X(ds_max_rtn_u64, DS, 2, 2, 0, 0, 0, 0x68, 0x68, 0x68, ALL, NULL, NULL) \
	X(ds_and_b64, DS, 0, 2, 0, 0, 0, 0x49, 0x49, 0x49, ALL, NULL, NULL) \
	X(ds_and_rtn_b64, DS, 2, 2, 0, 0, 0, 0x69, 0x69, 0x69, ALL, NULL, NULL) \
	X(ds_or_b64, DS, 0, 2, 0, 0, 0, 0x4a, 0x4a, 0x4a, ALL, NULL, NULL) \
	X(ds_or_rtn_b64, DS, 2, 2, 0, 0, 0, 0x6a, 0x6a, 0x6a, ALL, NULL, NULL) \
	X(ds_xor_b64, DS, 0, 2, 0, 0, 0, 0x4b, 0x4b, 0x4b, ALL, NULL, NULL) \
	X(ds_xor_rtn_b64, DS, 2, 2, 0, 0, 0, 0x6b, 0x6b, 0x6b, ALL, NULL, NULL) \
	X(ds_wrxchg_rtn_b64, DS, 2, 2, 0, 0, 0, 0x6d, 0x6d, 0x6d, ALL, \
	  NULL, "ds_storexchg_rtn_b64") \
	X(ds_cmpst_b64, DS, 0, 2, 2, 0, 0, 0x50, 0x50, 0x50, ALL, NULL, "ds_cmpstore_b64") \
	X(ds_cmpst_rtn_b64, DS, 2, 2, 2, 0, 0, 0x70, 0x70, 0x70, ALL, NULL, "ds_cmpstore_rtn_b64")

#define ISA_VMEM_OPS(X) \
	X(load_ubyte, VMEM, 1, 0, 0, 0, 0, 0x10, 0x08, 0x10, ALL, NULL, "load_u8") \
	X(load_sbyte, VMEM, 1, 0, 0, 0, 0, 0x11, 0x09, 0x11, ALL, NULL, "load_i8") \
	X(load_ushort, VMEM, 1, 0, 0, 0, 0, 0x12, 0x0a, 0x12, ALL, NULL, "load_u16") \
	X(load_sshort, VMEM, 1, 0, 0, 0, 0, 0x13, 0x0b, 0x13, ALL, NULL, "load_i16") \
	X(load_dword, VMEM, 1, 0, 0, 0, 0, 0x14, 0x0c, 0x14, ALL, NULL, "load_b32") \
	X(load_dwordx2, VMEM, 2, 0, 0, 0, 0, 0x15, 0x0d, 0x15, ALL, NULL, "load_b64") \
	X(load_dwordx3, VMEM, 3, 0, 0, 0, 0, 0x16, 0x0f, 0x16, ALL, NULL, "load_b96") \
	X(load_dwordx4, VMEM, 4, 0, 0, 0, 0, 0x17, 0x0e, 0x17, ALL, NULL, "load_b128") \
	X(store_byte, VMEM, 0, 1, 0, 0, 0, 0x18, 0x18, 0x18, ALL, NULL, "store_b8") \
	X(store_short, VMEM, 0, 1, 0, 0, 0, 0x1a, 0x1a, 0x19, ALL, NULL, "store_b16") \
	X(store_dword, VMEM, 0, 1, 0, 0, 0, 0x1c, 0x1c, 0x1a, ALL, NULL, "store_b32") \
	X(store_dwordx2, VMEM, 0, 2, 0, 0, 0, 0x1d, 0x1d, 0x1b, ALL, NULL, "store_b64") \
	X(store_dwordx3, VMEM, 0, 3, 0, 0, 0, 0x1e, 0x1f, 0x1c, ALL, NULL, "store_b96") \
	X(store_dwordx4, VMEM, 0, 4, 0, 0, 0, 0x1f, 0x1e, 0x1d, ALL, NULL, "store_b128") \
	X(atomic_swap, VMEM, 1, 1, 0, 0, ATOMIC, 0x40, 0x30, 0x33, ALL, NULL, "atomic_swap_b32") \
	X(atomic_swap_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x60, 0x50, 0x41, ALL, NULL, "atomic_swap_b64") \
	X(atomic_cmpswap, VMEM, 1, 2, 0, 0, ATOMIC, 0x41, 0x31, 0x34, ALL, \
	  NULL, "atomic_cmpswap_b32") \
	X(atomic_cmpswap_x2, VMEM, 2, 4, 0, 0, ATOMIC, 0x61, 0x51, 0x42, ALL, \
	  NULL, "atomic_cmpswap_b64") \
	X(atomic_add, VMEM, 1, 1, 0, 0, ATOMIC, 0x42, 0x32, 0x35, ALL, NULL, "atomic_add_u32") \
	X(atomic_add_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x62, 0x52, 0x43, ALL, NULL, "atomic_add_u64") \
	X(atomic_sub, VMEM, 1, 1, 0, 0, ATOMIC, 0x43, 0x33, 0x36, ALL, NULL, "atomic_sub_u32") \
	X(atomic_sub_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x63, 0x53, 0x44, ALL, NULL, "atomic_sub_u64") \
	X(atomic_smin, VMEM, 1, 1, 0, 0, ATOMIC, 0x44, 0x35, 0x38, ALL, NULL, "atomic_min_i32") \
	X(atomic_smin_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x64, 0x55, 0x45, ALL, NULL, "atomic_min_i64") \
	X(atomic_umin, VMEM, 1, 1, 0, 0, ATOMIC, 0x45, 0x36, 0x39, ALL, NULL, "atomic_min_u32") \
	X(atomic_umin_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x65, 0x56, 0x46, ALL, NULL, "atomic_min_u64") \
	X(atomic_smax, VMEM, 1, 1, 0, 0, ATOMIC, 0x46, 0x37, 0x3a, ALL, NULL, "atomic_max_i32") \
	X(atomic_smax_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x66, 0x57, 0x47, ALL, NULL, "atomic_max_i64") \
	X(atomic_umax, VMEM, 1, 1, 0, 0, ATOMIC, 0x47, 0x38, 0x3b, ALL, NULL, "atomic_max_u32") \
	X(atomic_umax_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x67, 0x58, 0x48, ALL, NULL, "atomic_max_u64") \
	X(atomic_and, VMEM, 1, 1, 0, 0, ATOMIC, 0x48, 0x39, 0x3c, ALL, NULL, "atomic_and_b32") \
	X(atomic_and_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x68, 0x59, 0x49, ALL, NULL, "atomic_and_b64") \
	X(atomic_or, VMEM, 1, 1, 0, 0, ATOMIC, 0x49, 0x3a, 0x3d, ALL, NULL, "atomic_or_b32") \
	X(atomic_or_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x69, 0x5a, 0x4a, ALL, NULL, "atomic_or_b64") \
	X(atomic_xor, VMEM, 1, 1, 0, 0, ATOMIC, 0x4a, 0x3b, 0x3e, ALL, NULL, "atomic_xor_b32") \
	X(atomic_xor_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x6a, 0x5b, 0x4b, ALL, NULL, "atomic_xor_b64") \
	X(atomic_inc, VMEM, 1, 1, 0, 0, ATOMIC, 0x4b, 0x3c, 0x3f, ALL, NULL, "atomic_inc_u32") \
	X(atomic_inc_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x6b, 0x5c, 0x4c, ALL, NULL, "atomic_inc_u64") \
	X(atomic_dec, VMEM, 1, 1, 0, 0, ATOMIC, 0x4c, 0x3d, 0x40, ALL, NULL, "atomic_dec_u32") \
	X(atomic_dec_x2, VMEM, 2, 2, 0, 0, ATOMIC, 0x6c, 0x5d, 0x4d, ALL, NULL, "atomic_dec_u64")

#define ISA_MUBUF_OPS(X) \
	X(buffer_wbinvl1, MUBUF, 0, 0, 0, 0, BARE, 0x3e, -1, -1, G900 | G90A, NULL, NULL) \
	X(buffer_wbinvl1_vol, MUBUF, 0, 0, 0, 0, BARE, 0x3f, -1, -1, G900 | G90A, NULL, NULL) \
	X(buffer_wbl2, MUBUF, 0, 0, 0, 0, BARE, 0x28, -1, -1, G90A | G942, NULL, NULL) \
	X(buffer_invl2, MUBUF, 0, 0, 0, 0, BARE, 0x29, -1, -1, G90A, NULL, NULL) \
	X(buffer_inv, MUBUF, 0, 0, 0, 0, BARE, 0x29, -1, -1, G942, NULL, NULL) \
	X(buffer_gl0_inv, MUBUF, 0, 0, 0, 0, BARE, -1, 0x71, 0x2b, G10P, NULL, NULL) \
	X(buffer_gl1_inv, MUBUF, 0, 0, 0, 0, BARE, -1, 0x72, 0x2c, G10P, NULL, NULL)

#endif
