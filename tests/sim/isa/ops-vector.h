/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: instructions that are executed: the vector ones. One row each:
 *
 *	X(name, encoding, d, a, b, c, flags, GFX9, GFX10, GFX11, targets, name on GFX10, on GFX11)
 *
 * d, a, b, c: dwords of the destination and of the sources.
 * GFX9, GFX10, GFX11: opcode in that generation, or -1. targets: see enum isa_target.
 * A name of NULL is that of the first column.
 */
#ifndef KFDSIM_ISA_OPS_VECTOR_H
#define KFDSIM_ISA_OPS_VECTOR_H

#define ISA_VOP1_OPS(X) \
	X(v_nop, VOP1, 0, 0, 0, 0, BARE, 0x00, 0x00, 0x00, ALL, NULL, NULL) \
	X(v_mov_b32, VOP1, 1, 1, 0, 0, 0, 0x01, 0x01, 0x01, ALL, NULL, NULL) \
	X(v_mov_b64, VOP1, 2, 2, 0, 0, 0, 0x38, -1, -1, G942, NULL, NULL) \
	X(v_readfirstlane_b32, VOP1, 1, 1, 0, 0, SDST, 0x02, 0x02, 0x02, ALL, NULL, NULL) \
	X(v_cvt_f32_i32, VOP1, 1, 1, 0, 0, 0, 0x05, 0x05, 0x05, ALL, NULL, NULL) \
	X(v_cvt_f32_u32, VOP1, 1, 1, 0, 0, 0, 0x06, 0x06, 0x06, ALL, NULL, NULL) \
	X(v_cvt_u32_f32, VOP1, 1, 1, 0, 0, FLOAT, 0x07, 0x07, 0x07, ALL, NULL, NULL) \
	X(v_cvt_i32_f32, VOP1, 1, 1, 0, 0, FLOAT, 0x08, 0x08, 0x08, ALL, NULL, NULL) \
	X(v_rcp_f32, VOP1, 1, 1, 0, 0, FLOAT, 0x22, 0x2a, 0x2a, ALL, NULL, NULL) \
	X(v_rcp_iflag_f32, VOP1, 1, 1, 0, 0, FLOAT, 0x23, 0x2b, 0x2b, ALL, NULL, NULL) \
	X(v_not_b32, VOP1, 1, 1, 0, 0, 0, 0x2b, 0x37, 0x37, ALL, NULL, NULL) \
	X(v_bfrev_b32, VOP1, 1, 1, 0, 0, 0, 0x2c, 0x38, 0x38, ALL, NULL, NULL) \
	X(v_ffbh_u32, VOP1, 1, 1, 0, 0, 0, 0x2d, 0x39, 0x39, ALL, NULL, "v_clz_i32_u32") \
	X(v_ffbl_b32, VOP1, 1, 1, 0, 0, 0, 0x2e, 0x3a, 0x3a, ALL, NULL, "v_ctz_i32_b32") \
	X(v_ffbh_i32, VOP1, 1, 1, 0, 0, 0, 0x2f, 0x3b, 0x3b, ALL, NULL, "v_cls_i32")

#define ISA_VOP2_OPS(X) \
	X(v_cndmask_b32, VOP2, 1, 1, 1, 0, CIN, 0x00, 0x01, 0x01, ALL, NULL, NULL) \
	X(v_add_f32, VOP2, 1, 1, 1, 0, FLOAT, 0x01, 0x03, 0x03, ALL, NULL, NULL) \
	X(v_sub_f32, VOP2, 1, 1, 1, 0, FLOAT, 0x02, 0x04, 0x04, ALL, NULL, NULL) \
	X(v_subrev_f32, VOP2, 1, 1, 1, 0, FLOAT, 0x03, 0x05, 0x05, ALL, NULL, NULL) \
	X(v_mul_f32, VOP2, 1, 1, 1, 0, FLOAT, 0x05, 0x08, 0x08, ALL, NULL, NULL) \
	X(v_mul_i32_i24, VOP2, 1, 1, 1, 0, 0, 0x06, 0x09, 0x09, ALL, NULL, NULL) \
	X(v_mul_hi_i32_i24, VOP2, 1, 1, 1, 0, 0, 0x07, 0x0a, 0x0a, ALL, NULL, NULL) \
	X(v_mul_u32_u24, VOP2, 1, 1, 1, 0, 0, 0x08, 0x0b, 0x0b, ALL, NULL, NULL) \
	X(v_mul_hi_u32_u24, VOP2, 1, 1, 1, 0, 0, 0x09, 0x0c, 0x0c, ALL, NULL, NULL) \
	X(v_min_i32, VOP2, 1, 1, 1, 0, 0, 0x0c, 0x11, 0x11, ALL, NULL, NULL) \
	X(v_max_i32, VOP2, 1, 1, 1, 0, 0, 0x0d, 0x12, 0x12, ALL, NULL, NULL) \
	X(v_min_u32, VOP2, 1, 1, 1, 0, 0, 0x0e, 0x13, 0x13, ALL, NULL, NULL) \
	X(v_max_u32, VOP2, 1, 1, 1, 0, 0, 0x0f, 0x14, 0x14, ALL, NULL, NULL) \
	X(v_lshrrev_b32, VOP2, 1, 1, 1, 0, 0, 0x10, 0x16, 0x19, ALL, NULL, NULL) \
	X(v_ashrrev_i32, VOP2, 1, 1, 1, 0, 0, 0x11, 0x18, 0x1a, ALL, NULL, NULL) \
	X(v_lshlrev_b32, VOP2, 1, 1, 1, 0, 0, 0x12, 0x1a, 0x18, ALL, NULL, NULL) \
	X(v_and_b32, VOP2, 1, 1, 1, 0, 0, 0x13, 0x1b, 0x1b, ALL, NULL, NULL) \
	X(v_or_b32, VOP2, 1, 1, 1, 0, 0, 0x14, 0x1c, 0x1c, ALL, NULL, NULL) \
	X(v_xor_b32, VOP2, 1, 1, 1, 0, 0, 0x15, 0x1d, 0x1d, ALL, NULL, NULL) \
	X(v_xnor_b32, VOP2, 1, 1, 1, 0, 0, 0x3d, 0x1e, 0x1e, G90AP, NULL, NULL) \
	X(v_fmac_f32, VOP2, 1, 1, 1, 0, FLOAT | ACC, 0x3b, 0x2b, 0x2b, G90AP, NULL, NULL) \
	X(v_fmamk_f32, VOP2, 1, 1, 1, 0, FLOAT | MK, 0x17, 0x2c, 0x2c, G942P, NULL, NULL) \
	X(v_fmaak_f32, VOP2, 1, 1, 1, 0, FLOAT | AK, 0x18, 0x2d, 0x2d, G942P, NULL, NULL) \
	X(v_add_co_u32, VOP2, 1, 1, 1, 0, COUT, 0x19, -1, -1, G9, NULL, NULL) \
	X(v_sub_co_u32, VOP2, 1, 1, 1, 0, COUT, 0x1a, -1, -1, G9, NULL, NULL) \
	X(v_subrev_co_u32, VOP2, 1, 1, 1, 0, COUT, 0x1b, -1, -1, G9, NULL, NULL) \
	X(v_addc_co_u32, VOP2, 1, 1, 1, 0, COUT | CIN, 0x1c, 0x28, 0x20, ALL, \
	  "v_add_co_ci_u32", "v_add_co_ci_u32") \
	X(v_subb_co_u32, VOP2, 1, 1, 1, 0, COUT | CIN, 0x1d, 0x29, 0x21, ALL, \
	  "v_sub_co_ci_u32", "v_sub_co_ci_u32") \
	X(v_subbrev_co_u32, VOP2, 1, 1, 1, 0, COUT | CIN, 0x1e, 0x2a, 0x22, ALL, \
	  "v_subrev_co_ci_u32", "v_subrev_co_ci_u32") \
	X(v_add_u32, VOP2, 1, 1, 1, 0, 0, 0x34, 0x25, 0x25, ALL, "v_add_nc_u32", "v_add_nc_u32") \
	X(v_sub_u32, VOP2, 1, 1, 1, 0, 0, 0x35, 0x26, 0x26, ALL, "v_sub_nc_u32", "v_sub_nc_u32") \
	X(v_subrev_u32, VOP2, 1, 1, 1, 0, 0, 0x36, 0x27, 0x27, ALL, \
	  "v_subrev_nc_u32", "v_subrev_nc_u32")

#define ISA_VOPC_OPS(X) \
	X(v_cmp_lt_i32, VOPC, 0, 1, 1, 0, CMP, 0xc1, 0x81, 0x41, ALL, NULL, NULL) \
	X(v_cmpx_lt_i32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xd1, 0x91, 0xc1, ALL, NULL, NULL) \
	X(v_cmp_eq_i32, VOPC, 0, 1, 1, 0, CMP, 0xc2, 0x82, 0x42, ALL, NULL, NULL) \
	X(v_cmpx_eq_i32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xd2, 0x92, 0xc2, ALL, NULL, NULL) \
	X(v_cmp_le_i32, VOPC, 0, 1, 1, 0, CMP, 0xc3, 0x83, 0x43, ALL, NULL, NULL) \
	X(v_cmpx_le_i32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xd3, 0x93, 0xc3, ALL, NULL, NULL) \
	X(v_cmp_gt_i32, VOPC, 0, 1, 1, 0, CMP, 0xc4, 0x84, 0x44, ALL, NULL, NULL) \
	X(v_cmpx_gt_i32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xd4, 0x94, 0xc4, ALL, NULL, NULL) \
	X(v_cmp_ne_i32, VOPC, 0, 1, 1, 0, CMP, 0xc5, 0x85, 0x45, ALL, NULL, NULL) \
	X(v_cmpx_ne_i32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xd5, 0x95, 0xc5, ALL, NULL, NULL) \
	X(v_cmp_ge_i32, VOPC, 0, 1, 1, 0, CMP, 0xc6, 0x86, 0x46, ALL, NULL, NULL) \
	X(v_cmpx_ge_i32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xd6, 0x96, 0xc6, ALL, NULL, NULL) \
	X(v_cmp_lt_u32, VOPC, 0, 1, 1, 0, CMP, 0xc9, 0xc1, 0x49, ALL, NULL, NULL) \
	X(v_cmpx_lt_u32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xd9, 0xd1, 0xc9, ALL, NULL, NULL) \
	X(v_cmp_eq_u32, VOPC, 0, 1, 1, 0, CMP, 0xca, 0xc2, 0x4a, ALL, NULL, NULL) \
	X(v_cmpx_eq_u32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xda, 0xd2, 0xca, ALL, NULL, NULL) \
	X(v_cmp_le_u32, VOPC, 0, 1, 1, 0, CMP, 0xcb, 0xc3, 0x4b, ALL, NULL, NULL) \
	X(v_cmpx_le_u32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xdb, 0xd3, 0xcb, ALL, NULL, NULL) \
	X(v_cmp_gt_u32, VOPC, 0, 1, 1, 0, CMP, 0xcc, 0xc4, 0x4c, ALL, NULL, NULL) \
	X(v_cmpx_gt_u32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xdc, 0xd4, 0xcc, ALL, NULL, NULL) \
	X(v_cmp_ne_u32, VOPC, 0, 1, 1, 0, CMP, 0xcd, 0xc5, 0x4d, ALL, NULL, NULL) \
	X(v_cmpx_ne_u32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xdd, 0xd5, 0xcd, ALL, NULL, NULL) \
	X(v_cmp_ge_u32, VOPC, 0, 1, 1, 0, CMP, 0xce, 0xc6, 0x4e, ALL, NULL, NULL) \
	X(v_cmpx_ge_u32, VOPC, 0, 1, 1, 0, CMP | CMPX, 0xde, 0xd6, 0xce, ALL, NULL, NULL) \
	X(v_cmp_lt_i64, VOPC, 0, 2, 2, 0, CMP, 0xe1, 0xa1, 0x51, ALL, NULL, NULL) \
	X(v_cmpx_lt_i64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xf1, 0xb1, 0xd1, ALL, NULL, NULL) \
	X(v_cmp_eq_i64, VOPC, 0, 2, 2, 0, CMP, 0xe2, 0xa2, 0x52, ALL, NULL, NULL) \
	X(v_cmpx_eq_i64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xf2, 0xb2, 0xd2, ALL, NULL, NULL) \
	X(v_cmp_le_i64, VOPC, 0, 2, 2, 0, CMP, 0xe3, 0xa3, 0x53, ALL, NULL, NULL) \
	X(v_cmpx_le_i64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xf3, 0xb3, 0xd3, ALL, NULL, NULL) \
	X(v_cmp_gt_i64, VOPC, 0, 2, 2, 0, CMP, 0xe4, 0xa4, 0x54, ALL, NULL, NULL) \
	X(v_cmpx_gt_i64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xf4, 0xb4, 0xd4, ALL, NULL, NULL) \
	X(v_cmp_ne_i64, VOPC, 0, 2, 2, 0, CMP, 0xe5, 0xa5, 0x55, ALL, NULL, NULL) \
	X(v_cmpx_ne_i64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xf5, 0xb5, 0xd5, ALL, NULL, NULL) \
	X(v_cmp_ge_i64, VOPC, 0, 2, 2, 0, CMP, 0xe6, 0xa6, 0x56, ALL, NULL, NULL) \
	X(v_cmpx_ge_i64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xf6, 0xb6, 0xd6, ALL, NULL, NULL) \
	X(v_cmp_lt_u64, VOPC, 0, 2, 2, 0, CMP, 0xe9, 0xe1, 0x59, ALL, NULL, NULL) \
	X(v_cmpx_lt_u64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xf9, 0xf1, 0xd9, ALL, NULL, NULL) \
	X(v_cmp_eq_u64, VOPC, 0, 2, 2, 0, CMP, 0xea, 0xe2, 0x5a, ALL, NULL, NULL) \
	X(v_cmpx_eq_u64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xfa, 0xf2, 0xda, ALL, NULL, NULL) \
	X(v_cmp_le_u64, VOPC, 0, 2, 2, 0, CMP, 0xeb, 0xe3, 0x5b, ALL, NULL, NULL) \
	X(v_cmpx_le_u64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xfb, 0xf3, 0xdb, ALL, NULL, NULL) \
	X(v_cmp_gt_u64, VOPC, 0, 2, 2, 0, CMP, 0xec, 0xe4, 0x5c, ALL, NULL, NULL) \
	X(v_cmpx_gt_u64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xfc, 0xf4, 0xdc, ALL, NULL, NULL) \
	X(v_cmp_ne_u64, VOPC, 0, 2, 2, 0, CMP, 0xed, 0xe5, 0x5d, ALL, NULL, NULL) \
	X(v_cmpx_ne_u64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xfd, 0xf5, 0xdd, ALL, NULL, NULL) \
	X(v_cmp_ge_u64, VOPC, 0, 2, 2, 0, CMP, 0xee, 0xe6, 0x5e, ALL, NULL, NULL) \
	X(v_cmpx_ge_u64, VOPC, 0, 2, 2, 0, CMP | CMPX, 0xfe, 0xf6, 0xde, ALL, NULL, NULL) \
	X(v_cmp_lt_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x41, 0x01, 0x11, ALL, NULL, NULL) \
	X(v_cmpx_lt_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x51, 0x11, 0x91, ALL, NULL, NULL) \
	X(v_cmp_eq_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x42, 0x02, 0x12, ALL, NULL, NULL) \
	X(v_cmpx_eq_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x52, 0x12, 0x92, ALL, NULL, NULL) \
	X(v_cmp_le_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x43, 0x03, 0x13, ALL, NULL, NULL) \
	X(v_cmpx_le_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x53, 0x13, 0x93, ALL, NULL, NULL) \
	X(v_cmp_gt_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x44, 0x04, 0x14, ALL, NULL, NULL) \
	X(v_cmpx_gt_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x54, 0x14, 0x94, ALL, NULL, NULL) \
	X(v_cmp_lg_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x45, 0x05, 0x15, ALL, NULL, NULL) \
	X(v_cmpx_lg_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x55, 0x15, 0x95, ALL, NULL, NULL) \
	X(v_cmp_ge_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x46, 0x06, 0x16, ALL, NULL, NULL) \
	X(v_cmpx_ge_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x56, 0x16, 0x96, ALL, NULL, NULL) \
	X(v_cmp_o_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x47, 0x07, 0x17, ALL, NULL, NULL) \
	X(v_cmpx_o_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x57, 0x17, 0x97, ALL, NULL, NULL) \
	X(v_cmp_u_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x48, 0x08, 0x18, ALL, NULL, NULL) \
	X(v_cmpx_u_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x58, 0x18, 0x98, ALL, NULL, NULL) \
	X(v_cmp_nge_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x49, 0x09, 0x19, ALL, NULL, NULL) \
	X(v_cmpx_nge_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x59, 0x19, 0x99, ALL, NULL, NULL) \
	X(v_cmp_nlg_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x4a, 0x0a, 0x1a, ALL, NULL, NULL) \
	X(v_cmpx_nlg_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x5a, 0x1a, 0x9a, ALL, NULL, NULL) \
	X(v_cmp_ngt_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x4b, 0x0b, 0x1b, ALL, NULL, NULL) \
	X(v_cmpx_ngt_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x5b, 0x1b, 0x9b, ALL, NULL, NULL) \
	X(v_cmp_nle_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x4c, 0x0c, 0x1c, ALL, NULL, NULL) \
	X(v_cmpx_nle_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x5c, 0x1c, 0x9c, ALL, NULL, NULL) \
	X(v_cmp_neq_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x4d, 0x0d, 0x1d, ALL, NULL, NULL) \
	X(v_cmpx_neq_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x5d, 0x1d, 0x9d, ALL, NULL, NULL) \
	X(v_cmp_nlt_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT, 0x4e, 0x0e, 0x1e, ALL, NULL, NULL) \
	X(v_cmpx_nlt_f32, VOPC, 0, 1, 1, 0, CMP | FLOAT | CMPX, 0x5e, 0x1e, 0x9e, ALL, NULL, NULL)

#define ISA_VOP3_OPS(X) \
	X(v_mad_i32_i24, VOP3, 1, 1, 1, 1, 0, 0x1c2, 0x142, 0x20a, ALL, NULL, NULL) \
	X(v_mad_u32_u24, VOP3, 1, 1, 1, 1, 0, 0x1c3, 0x143, 0x20b, ALL, NULL, NULL) \
	X(v_bfe_u32, VOP3, 1, 1, 1, 1, 0, 0x1c8, 0x148, 0x210, ALL, NULL, NULL) \
	X(v_bfe_i32, VOP3, 1, 1, 1, 1, 0, 0x1c9, 0x149, 0x211, ALL, NULL, NULL) \
	X(v_bfi_b32, VOP3, 1, 1, 1, 1, 0, 0x1ca, 0x14a, 0x212, ALL, NULL, NULL) \
	X(v_fma_f32, VOP3, 1, 1, 1, 1, FLOAT, 0x1cb, 0x14b, 0x213, ALL, NULL, NULL) \
	X(v_alignbit_b32, VOP3, 1, 1, 1, 1, 0, 0x1ce, 0x14e, 0x216, ALL, NULL, NULL) \
	X(v_alignbyte_b32, VOP3, 1, 1, 1, 1, 0, 0x1cf, 0x14f, 0x217, ALL, NULL, NULL) \
	X(v_min3_i32, VOP3, 1, 1, 1, 1, 0, 0x1d1, 0x152, 0x21a, ALL, NULL, NULL) \
	X(v_min3_u32, VOP3, 1, 1, 1, 1, 0, 0x1d2, 0x153, 0x21b, ALL, NULL, NULL) \
	X(v_max3_i32, VOP3, 1, 1, 1, 1, 0, 0x1d4, 0x155, 0x21d, ALL, NULL, NULL) \
	X(v_max3_u32, VOP3, 1, 1, 1, 1, 0, 0x1d5, 0x156, 0x21e, ALL, NULL, NULL) \
	X(v_med3_i32, VOP3, 1, 1, 1, 1, 0, 0x1d7, 0x158, 0x220, ALL, NULL, NULL) \
	X(v_med3_u32, VOP3, 1, 1, 1, 1, 0, 0x1d8, 0x159, 0x221, ALL, NULL, NULL) \
	X(v_sad_u32, VOP3, 1, 1, 1, 1, 0, 0x1dc, 0x15d, 0x225, ALL, NULL, NULL) \
	X(v_mul_lo_u32, VOP3, 1, 1, 1, 0, 0, 0x285, 0x169, 0x32c, ALL, NULL, NULL) \
	X(v_mul_hi_u32, VOP3, 1, 1, 1, 0, 0, 0x286, 0x16a, 0x32d, ALL, NULL, NULL) \
	X(v_mul_hi_i32, VOP3, 1, 1, 1, 0, 0, 0x287, 0x16c, 0x32e, ALL, NULL, NULL) \
	X(v_lshlrev_b64, VOP3, 2, 1, 2, 0, 0, 0x28f, 0x2ff, 0x33c, ALL, NULL, NULL) \
	X(v_lshrrev_b64, VOP3, 2, 1, 2, 0, 0, 0x290, 0x300, 0x33d, ALL, NULL, NULL) \
	X(v_ashrrev_i64, VOP3, 2, 1, 2, 0, 0, 0x291, 0x301, 0x33e, ALL, NULL, NULL) \
	X(v_mad_u64_u32, VOP3, 2, 1, 1, 2, COUT, 0x1e8, 0x176, 0x2fe, ALL, NULL, NULL) \
	X(v_mad_i64_i32, VOP3, 2, 1, 1, 2, COUT, 0x1e9, 0x177, 0x2ff, ALL, NULL, NULL) \
	X(v_lshl_add_u32, VOP3, 1, 1, 1, 1, 0, 0x1fd, 0x346, 0x246, ALL, NULL, NULL) \
	X(v_add_lshl_u32, VOP3, 1, 1, 1, 1, 0, 0x1fe, 0x347, 0x247, ALL, NULL, NULL) \
	X(v_add3_u32, VOP3, 1, 1, 1, 1, 0, 0x1ff, 0x36d, 0x255, ALL, NULL, NULL) \
	X(v_lshl_or_b32, VOP3, 1, 1, 1, 1, 0, 0x200, 0x36f, 0x256, ALL, NULL, NULL) \
	X(v_and_or_b32, VOP3, 1, 1, 1, 1, 0, 0x201, 0x371, 0x257, ALL, NULL, NULL) \
	X(v_or3_b32, VOP3, 1, 1, 1, 1, 0, 0x202, 0x372, 0x258, ALL, NULL, NULL) \
	X(v_xad_u32, VOP3, 1, 1, 1, 1, 0, 0x1f3, 0x345, 0x245, ALL, NULL, NULL) \
	X(v_xor3_b32, VOP3, 1, 1, 1, 1, 0, -1, 0x178, 0x240, G10P, NULL, NULL) \
	X(v_perm_b32, VOP3, 1, 1, 1, 1, 0, 0x1ed, 0x344, 0x244, ALL, NULL, NULL) \
	X(v_bcnt_u32_b32, VOP3, 1, 1, 1, 0, 0, 0x28b, 0x364, 0x31e, ALL, NULL, NULL) \
	X(v_mbcnt_lo_u32_b32, VOP3, 1, 1, 1, 0, 0, 0x28c, 0x365, 0x31f, ALL, NULL, NULL) \
	X(v_mbcnt_hi_u32_b32, VOP3, 1, 1, 1, 0, 0, 0x28d, 0x366, 0x320, ALL, NULL, NULL) \
	X(v_bfm_b32, VOP3, 1, 1, 1, 0, 0, 0x293, 0x363, 0x31d, ALL, NULL, NULL) \
	X(v_readlane_b32, VOP3, 1, 1, 1, 0, SDST, 0x289, 0x360, 0x360, ALL, NULL, NULL) \
	X(v_writelane_b32, VOP3, 1, 1, 1, 0, WLANE, 0x28a, 0x361, 0x361, ALL, NULL, NULL) \
	X(v_add_i32, VOP3, 1, 1, 1, 0, 0, 0x29c, 0x37f, 0x326, ALL, "v_add_nc_i32", "v_add_nc_i32") \
	X(v_sub_i32, VOP3, 1, 1, 1, 0, 0, 0x29d, 0x376, 0x325, ALL, "v_sub_nc_i32", "v_sub_nc_i32") \
	X(v_lshl_add_u64, VOP3, 2, 2, 1, 2, 0, 0x208, -1, -1, G942, NULL, NULL) \
	X(v_add_co_u32_e64, VOP3, 1, 1, 1, 0, COUT, -1, 0x30f, 0x300, G10P, \
	  "v_add_co_u32", "v_add_co_u32") \
	X(v_sub_co_u32_e64, VOP3, 1, 1, 1, 0, COUT, -1, 0x310, 0x301, G10P, \
	  "v_sub_co_u32", "v_sub_co_u32") \
	X(v_subrev_co_u32_e64, VOP3, 1, 1, 1, 0, COUT, -1, 0x319, 0x302, G10P, \
	  "v_subrev_co_u32", "v_subrev_co_u32")

#define ISA_VOP3P_OPS(X) \
	X(v_pk_mov_b32, VOP3P, 2, 2, 2, 0, 0, 0x33, -1, -1, G90A | G942, NULL, NULL)

#endif
