/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: instructions that are executed: the scalar ones. One row each:
 *
 *	X(name, encoding, d, a, b, c, flags, GFX9, GFX10, GFX11, targets, name on GFX10, on GFX11)
 *
 * d, a, b, c: dwords of the destination and of the sources.
 * GFX9, GFX10, GFX11: opcode in that generation, or -1. targets: see enum isa_target.
 * A name of NULL is that of the first column.
 */
#ifndef KFDSIM_ISA_OPS_SCALAR_H
#define KFDSIM_ISA_OPS_SCALAR_H

#define ISA_SOP2_OPS(X) \
	X(s_add_u32, SOP2, 1, 1, 1, 0, 0, 0x00, 0x00, 0x00, ALL, NULL, NULL) \
	X(s_sub_u32, SOP2, 1, 1, 1, 0, 0, 0x01, 0x01, 0x01, ALL, NULL, NULL) \
	X(s_add_i32, SOP2, 1, 1, 1, 0, 0, 0x02, 0x02, 0x02, ALL, NULL, NULL) \
	X(s_sub_i32, SOP2, 1, 1, 1, 0, 0, 0x03, 0x03, 0x03, ALL, NULL, NULL) \
	X(s_addc_u32, SOP2, 1, 1, 1, 0, 0, 0x04, 0x04, 0x04, ALL, NULL, NULL) \
	X(s_subb_u32, SOP2, 1, 1, 1, 0, 0, 0x05, 0x05, 0x05, ALL, NULL, NULL) \
	X(s_min_i32, SOP2, 1, 1, 1, 0, 0, 0x06, 0x06, 0x12, ALL, NULL, NULL) \
	X(s_min_u32, SOP2, 1, 1, 1, 0, 0, 0x07, 0x07, 0x13, ALL, NULL, NULL) \
	X(s_max_i32, SOP2, 1, 1, 1, 0, 0, 0x08, 0x08, 0x14, ALL, NULL, NULL) \
	X(s_max_u32, SOP2, 1, 1, 1, 0, 0, 0x09, 0x09, 0x15, ALL, NULL, NULL) \
	X(s_cselect_b32, SOP2, 1, 1, 1, 0, 0, 0x0a, 0x0a, 0x30, ALL, NULL, NULL) \
	X(s_cselect_b64, SOP2, 2, 2, 2, 0, 0, 0x0b, 0x0b, 0x31, ALL, NULL, NULL) \
	X(s_and_b32, SOP2, 1, 1, 1, 0, 0, 0x0c, 0x0e, 0x16, ALL, NULL, NULL) \
	X(s_and_b64, SOP2, 2, 2, 2, 0, 0, 0x0d, 0x0f, 0x17, ALL, NULL, NULL) \
	X(s_or_b32, SOP2, 1, 1, 1, 0, 0, 0x0e, 0x10, 0x18, ALL, NULL, NULL) \
	X(s_or_b64, SOP2, 2, 2, 2, 0, 0, 0x0f, 0x11, 0x19, ALL, NULL, NULL) \
	X(s_xor_b32, SOP2, 1, 1, 1, 0, 0, 0x10, 0x12, 0x1a, ALL, NULL, NULL) \
	X(s_xor_b64, SOP2, 2, 2, 2, 0, 0, 0x11, 0x13, 0x1b, ALL, NULL, NULL) \
	X(s_andn2_b32, SOP2, 1, 1, 1, 0, 0, 0x12, 0x14, 0x22, ALL, NULL, "s_and_not1_b32") \
	X(s_andn2_b64, SOP2, 2, 2, 2, 0, 0, 0x13, 0x15, 0x23, ALL, NULL, "s_and_not1_b64") \
	X(s_orn2_b32, SOP2, 1, 1, 1, 0, 0, 0x14, 0x16, 0x24, ALL, NULL, "s_or_not1_b32") \
	X(s_orn2_b64, SOP2, 2, 2, 2, 0, 0, 0x15, 0x17, 0x25, ALL, NULL, "s_or_not1_b64") \
	X(s_nand_b32, SOP2, 1, 1, 1, 0, 0, 0x16, 0x18, 0x1c, ALL, NULL, NULL) \
	X(s_nand_b64, SOP2, 2, 2, 2, 0, 0, 0x17, 0x19, 0x1d, ALL, NULL, NULL) \
	X(s_nor_b32, SOP2, 1, 1, 1, 0, 0, 0x18, 0x1a, 0x1e, ALL, NULL, NULL) \
	X(s_nor_b64, SOP2, 2, 2, 2, 0, 0, 0x19, 0x1b, 0x1f, ALL, NULL, NULL) \
	X(s_xnor_b32, SOP2, 1, 1, 1, 0, 0, 0x1a, 0x1c, 0x20, ALL, NULL, NULL) \
	X(s_xnor_b64, SOP2, 2, 2, 2, 0, 0, 0x1b, 0x1d, 0x21, ALL, NULL, NULL) \
	X(s_lshl_b32, SOP2, 1, 1, 1, 0, 0, 0x1c, 0x1e, 0x08, ALL, NULL, NULL) \
	X(s_lshl_b64, SOP2, 2, 2, 1, 0, 0, 0x1d, 0x1f, 0x09, ALL, NULL, NULL) \
	X(s_lshr_b32, SOP2, 1, 1, 1, 0, 0, 0x1e, 0x20, 0x0a, ALL, NULL, NULL) \
	X(s_lshr_b64, SOP2, 2, 2, 1, 0, 0, 0x1f, 0x21, 0x0b, ALL, NULL, NULL) \
	X(s_ashr_i32, SOP2, 1, 1, 1, 0, 0, 0x20, 0x22, 0x0c, ALL, NULL, NULL) \
	X(s_ashr_i64, SOP2, 2, 2, 1, 0, 0, 0x21, 0x23, 0x0d, ALL, NULL, NULL) \
	X(s_bfm_b32, SOP2, 1, 1, 1, 0, 0, 0x22, 0x24, 0x2a, ALL, NULL, NULL) \
	X(s_bfm_b64, SOP2, 2, 1, 1, 0, 0, 0x23, 0x25, 0x2b, ALL, NULL, NULL) \
	X(s_mul_i32, SOP2, 1, 1, 1, 0, 0, 0x24, 0x26, 0x2c, ALL, NULL, NULL) \
	X(s_bfe_u32, SOP2, 1, 1, 1, 0, 0, 0x25, 0x27, 0x26, ALL, NULL, NULL) \
	X(s_bfe_i32, SOP2, 1, 1, 1, 0, 0, 0x26, 0x28, 0x27, ALL, NULL, NULL) \
	X(s_bfe_u64, SOP2, 2, 2, 1, 0, 0, 0x27, 0x29, 0x28, ALL, NULL, NULL) \
	X(s_bfe_i64, SOP2, 2, 2, 1, 0, 0, 0x28, 0x2a, 0x29, ALL, NULL, NULL) \
	X(s_absdiff_i32, SOP2, 1, 1, 1, 0, 0, 0x2a, 0x2c, 0x06, ALL, NULL, NULL) \
	X(s_mul_hi_u32, SOP2, 1, 1, 1, 0, 0, 0x2c, 0x35, 0x2d, ALL, NULL, NULL) \
	X(s_mul_hi_i32, SOP2, 1, 1, 1, 0, 0, 0x2d, 0x36, 0x2e, ALL, NULL, NULL) \
	X(s_lshl1_add_u32, SOP2, 1, 1, 1, 0, 0, 0x2e, 0x2e, 0x0e, ALL, NULL, NULL) \
	X(s_lshl2_add_u32, SOP2, 1, 1, 1, 0, 0, 0x2f, 0x2f, 0x0f, ALL, NULL, NULL) \
	X(s_lshl3_add_u32, SOP2, 1, 1, 1, 0, 0, 0x30, 0x30, 0x10, ALL, NULL, NULL) \
	X(s_lshl4_add_u32, SOP2, 1, 1, 1, 0, 0, 0x31, 0x31, 0x11, ALL, NULL, NULL) \
	X(s_pack_ll_b32_b16, SOP2, 1, 1, 1, 0, 0, 0x32, 0x32, 0x32, ALL, NULL, NULL) \
	X(s_pack_lh_b32_b16, SOP2, 1, 1, 1, 0, 0, 0x33, 0x33, 0x33, ALL, NULL, NULL) \
	X(s_pack_hh_b32_b16, SOP2, 1, 1, 1, 0, 0, 0x34, 0x34, 0x34, ALL, NULL, NULL)

#define ISA_SOPK_OPS(X) \
	X(s_movk_i32, SOPK, 1, 0, 0, 0, 0, 0x00, 0x00, 0x00, ALL, NULL, NULL) \
	X(s_cmovk_i32, SOPK, 1, 0, 0, 0, 0, 0x01, 0x02, 0x02, ALL, NULL, NULL) \
	X(s_cmpk_eq_i32, SOPK, 0, 1, 0, 0, 0, 0x02, 0x03, 0x03, ALL, NULL, NULL) \
	X(s_cmpk_lg_i32, SOPK, 0, 1, 0, 0, 0, 0x03, 0x04, 0x04, ALL, NULL, NULL) \
	X(s_cmpk_gt_i32, SOPK, 0, 1, 0, 0, 0, 0x04, 0x05, 0x05, ALL, NULL, NULL) \
	X(s_cmpk_ge_i32, SOPK, 0, 1, 0, 0, 0, 0x05, 0x06, 0x06, ALL, NULL, NULL) \
	X(s_cmpk_lt_i32, SOPK, 0, 1, 0, 0, 0, 0x06, 0x07, 0x07, ALL, NULL, NULL) \
	X(s_cmpk_le_i32, SOPK, 0, 1, 0, 0, 0, 0x07, 0x08, 0x08, ALL, NULL, NULL) \
	X(s_cmpk_eq_u32, SOPK, 0, 1, 0, 0, 0, 0x08, 0x09, 0x09, ALL, NULL, NULL) \
	X(s_cmpk_lg_u32, SOPK, 0, 1, 0, 0, 0, 0x09, 0x0a, 0x0a, ALL, NULL, NULL) \
	X(s_cmpk_gt_u32, SOPK, 0, 1, 0, 0, 0, 0x0a, 0x0b, 0x0b, ALL, NULL, NULL) \
	X(s_cmpk_ge_u32, SOPK, 0, 1, 0, 0, 0, 0x0b, 0x0c, 0x0c, ALL, NULL, NULL) \
	X(s_cmpk_lt_u32, SOPK, 0, 1, 0, 0, 0, 0x0c, 0x0d, 0x0d, ALL, NULL, NULL) \
	X(s_cmpk_le_u32, SOPK, 0, 1, 0, 0, 0, 0x0d, 0x0e, 0x0e, ALL, NULL, NULL) \
	X(s_addk_i32, SOPK, 1, 0, 0, 0, 0, 0x0e, 0x0f, 0x0f, ALL, NULL, NULL) \
	X(s_mulk_i32, SOPK, 1, 0, 0, 0, 0, 0x0f, 0x10, 0x10, ALL, NULL, NULL) \
	X(s_getreg_b32, SOPK, 1, 0, 0, 0, 0, 0x11, 0x12, 0x11, ALL, NULL, NULL) \
	X(s_setreg_b32, SOPK, 0, 1, 0, 0, 0, -1, 0x13, -1, G10, NULL, NULL) \
	X(s_waitcnt_vscnt, SOPK, 0, 1, 0, 0, WAIT, -1, 0x17, 0x18, G10P, NULL, NULL) \
	X(s_waitcnt_vmcnt, SOPK, 0, 1, 0, 0, WAIT, -1, 0x18, 0x19, G10P, NULL, NULL) \
	X(s_waitcnt_expcnt, SOPK, 0, 1, 0, 0, WAIT, -1, 0x19, 0x1a, G10P, NULL, NULL) \
	X(s_waitcnt_lgkmcnt, SOPK, 0, 1, 0, 0, WAIT, -1, 0x1a, 0x1b, G10P, NULL, NULL)

#define ISA_SOP1_OPS(X) \
	X(s_mov_b32, SOP1, 1, 1, 0, 0, 0, 0x00, 0x03, 0x00, ALL, NULL, NULL) \
	X(s_mov_b64, SOP1, 2, 2, 0, 0, 0, 0x01, 0x04, 0x01, ALL, NULL, NULL) \
	X(s_cmov_b32, SOP1, 1, 1, 0, 0, 0, 0x02, 0x05, 0x02, ALL, NULL, NULL) \
	X(s_cmov_b64, SOP1, 2, 2, 0, 0, 0, 0x03, 0x06, 0x03, ALL, NULL, NULL) \
	X(s_not_b32, SOP1, 1, 1, 0, 0, 0, 0x04, 0x07, 0x1e, ALL, NULL, NULL) \
	X(s_not_b64, SOP1, 2, 2, 0, 0, 0, 0x05, 0x08, 0x1f, ALL, NULL, NULL) \
	X(s_brev_b32, SOP1, 1, 1, 0, 0, 0, 0x08, 0x0b, 0x04, ALL, NULL, NULL) \
	X(s_brev_b64, SOP1, 2, 2, 0, 0, 0, 0x09, 0x0c, 0x05, ALL, NULL, NULL) \
	X(s_bcnt0_i32_b32, SOP1, 1, 1, 0, 0, 0, 0x0a, 0x0d, 0x16, ALL, NULL, NULL) \
	X(s_bcnt0_i32_b64, SOP1, 1, 2, 0, 0, 0, 0x0b, 0x0e, 0x17, ALL, NULL, NULL) \
	X(s_bcnt1_i32_b32, SOP1, 1, 1, 0, 0, 0, 0x0c, 0x0f, 0x18, ALL, NULL, NULL) \
	X(s_bcnt1_i32_b64, SOP1, 1, 2, 0, 0, 0, 0x0d, 0x10, 0x19, ALL, NULL, NULL) \
	X(s_ff0_i32_b32, SOP1, 1, 1, 0, 0, 0, 0x0e, 0x11, -1, G9 | G10, NULL, NULL) \
	X(s_ff0_i32_b64, SOP1, 1, 2, 0, 0, 0, 0x0f, 0x12, -1, G9 | G10, NULL, NULL) \
	X(s_ff1_i32_b32, SOP1, 1, 1, 0, 0, 0, 0x10, 0x13, 0x08, ALL, NULL, "s_ctz_i32_b32") \
	X(s_ff1_i32_b64, SOP1, 1, 2, 0, 0, 0, 0x11, 0x14, 0x09, ALL, NULL, "s_ctz_i32_b64") \
	X(s_flbit_i32_b32, SOP1, 1, 1, 0, 0, 0, 0x12, 0x15, 0x0a, ALL, NULL, "s_clz_i32_u32") \
	X(s_flbit_i32_b64, SOP1, 1, 2, 0, 0, 0, 0x13, 0x16, 0x0b, ALL, NULL, "s_clz_i32_u64") \
	X(s_flbit_i32, SOP1, 1, 1, 0, 0, 0, 0x14, 0x17, 0x0c, ALL, NULL, "s_cls_i32") \
	X(s_flbit_i32_i64, SOP1, 1, 2, 0, 0, 0, 0x15, 0x18, 0x0d, ALL, NULL, "s_cls_i32_i64") \
	X(s_sext_i32_i8, SOP1, 1, 1, 0, 0, 0, 0x16, 0x19, 0x0e, ALL, NULL, NULL) \
	X(s_sext_i32_i16, SOP1, 1, 1, 0, 0, 0, 0x17, 0x1a, 0x0f, ALL, NULL, NULL) \
	X(s_bitset0_b32, SOP1, 1, 1, 0, 0, 0, 0x18, 0x1b, 0x10, ALL, NULL, NULL) \
	X(s_bitset0_b64, SOP1, 2, 1, 0, 0, 0, 0x19, 0x1c, 0x11, ALL, NULL, NULL) \
	X(s_bitset1_b32, SOP1, 1, 1, 0, 0, 0, 0x1a, 0x1d, 0x12, ALL, NULL, NULL) \
	X(s_bitset1_b64, SOP1, 2, 1, 0, 0, 0, 0x1b, 0x1e, 0x13, ALL, NULL, NULL) \
	X(s_getpc_b64, SOP1, 2, 0, 0, 0, 0, 0x1c, 0x1f, 0x47, ALL, NULL, NULL) \
	X(s_and_saveexec_b64, SOP1, 2, 2, 0, 0, 0, 0x20, 0x24, 0x21, ALL, NULL, NULL) \
	X(s_or_saveexec_b64, SOP1, 2, 2, 0, 0, 0, 0x21, 0x25, 0x23, ALL, NULL, NULL) \
	X(s_xor_saveexec_b64, SOP1, 2, 2, 0, 0, 0, 0x22, 0x26, 0x25, ALL, NULL, NULL) \
	X(s_andn2_saveexec_b64, SOP1, 2, 2, 0, 0, 0, 0x23, 0x27, 0x31, ALL, \
	  NULL, "s_and_not1_saveexec_b64") \
	X(s_orn2_saveexec_b64, SOP1, 2, 2, 0, 0, 0, 0x24, 0x28, 0x33, ALL, \
	  NULL, "s_or_not1_saveexec_b64") \
	X(s_nand_saveexec_b64, SOP1, 2, 2, 0, 0, 0, 0x25, 0x29, 0x27, ALL, NULL, NULL) \
	X(s_nor_saveexec_b64, SOP1, 2, 2, 0, 0, 0, 0x26, 0x2a, 0x29, ALL, NULL, NULL) \
	X(s_xnor_saveexec_b64, SOP1, 2, 2, 0, 0, 0, 0x27, 0x2b, 0x2b, ALL, NULL, NULL) \
	X(s_and_saveexec_b32, SOP1, 1, 1, 0, 0, 0, -1, 0x3c, 0x20, G10P, NULL, NULL) \
	X(s_or_saveexec_b32, SOP1, 1, 1, 0, 0, 0, -1, 0x3d, 0x22, G10P, NULL, NULL) \
	X(s_xor_saveexec_b32, SOP1, 1, 1, 0, 0, 0, -1, 0x3e, 0x24, G10P, NULL, NULL) \
	X(s_andn2_saveexec_b32, SOP1, 1, 1, 0, 0, 0, -1, 0x3f, 0x30, G10P, \
	  NULL, "s_and_not1_saveexec_b32") \
	X(s_orn2_saveexec_b32, SOP1, 1, 1, 0, 0, 0, -1, 0x40, 0x32, G10P, \
	  NULL, "s_or_not1_saveexec_b32") \
	X(s_nand_saveexec_b32, SOP1, 1, 1, 0, 0, 0, -1, 0x41, 0x26, G10P, NULL, NULL) \
	X(s_nor_saveexec_b32, SOP1, 1, 1, 0, 0, 0, -1, 0x42, 0x28, G10P, NULL, NULL) \
	X(s_xnor_saveexec_b32, SOP1, 1, 1, 0, 0, 0, -1, 0x43, 0x2a, G10P, NULL, NULL) \
	X(s_abs_i32, SOP1, 1, 1, 0, 0, 0, 0x30, 0x34, 0x15, ALL, NULL, NULL)

#define ISA_SOPC_OPS(X) \
	X(s_cmp_eq_i32, SOPC, 0, 1, 1, 0, 0, 0x00, 0x00, 0x00, ALL, NULL, NULL) \
	X(s_cmp_lg_i32, SOPC, 0, 1, 1, 0, 0, 0x01, 0x01, 0x01, ALL, NULL, NULL) \
	X(s_cmp_gt_i32, SOPC, 0, 1, 1, 0, 0, 0x02, 0x02, 0x02, ALL, NULL, NULL) \
	X(s_cmp_ge_i32, SOPC, 0, 1, 1, 0, 0, 0x03, 0x03, 0x03, ALL, NULL, NULL) \
	X(s_cmp_lt_i32, SOPC, 0, 1, 1, 0, 0, 0x04, 0x04, 0x04, ALL, NULL, NULL) \
	X(s_cmp_le_i32, SOPC, 0, 1, 1, 0, 0, 0x05, 0x05, 0x05, ALL, NULL, NULL) \
	X(s_cmp_eq_u32, SOPC, 0, 1, 1, 0, 0, 0x06, 0x06, 0x06, ALL, NULL, NULL) \
	X(s_cmp_lg_u32, SOPC, 0, 1, 1, 0, 0, 0x07, 0x07, 0x07, ALL, NULL, NULL) \
	X(s_cmp_gt_u32, SOPC, 0, 1, 1, 0, 0, 0x08, 0x08, 0x08, ALL, NULL, NULL) \
	X(s_cmp_ge_u32, SOPC, 0, 1, 1, 0, 0, 0x09, 0x09, 0x09, ALL, NULL, NULL) \
	X(s_cmp_lt_u32, SOPC, 0, 1, 1, 0, 0, 0x0a, 0x0a, 0x0a, ALL, NULL, NULL) \
	X(s_cmp_le_u32, SOPC, 0, 1, 1, 0, 0, 0x0b, 0x0b, 0x0b, ALL, NULL, NULL) \
	X(s_bitcmp0_b32, SOPC, 0, 1, 1, 0, 0, 0x0c, 0x0c, 0x0c, ALL, NULL, NULL) \
	X(s_bitcmp1_b32, SOPC, 0, 1, 1, 0, 0, 0x0d, 0x0d, 0x0d, ALL, NULL, NULL) \
	X(s_bitcmp0_b64, SOPC, 0, 2, 1, 0, 0, 0x0e, 0x0e, 0x0e, ALL, NULL, NULL) \
	X(s_bitcmp1_b64, SOPC, 0, 2, 1, 0, 0, 0x0f, 0x0f, 0x0f, ALL, NULL, NULL) \
	X(s_cmp_eq_u64, SOPC, 0, 2, 2, 0, 0, 0x12, 0x12, 0x10, ALL, NULL, NULL) \
	X(s_cmp_lg_u64, SOPC, 0, 2, 2, 0, 0, 0x13, 0x13, 0x11, ALL, NULL, NULL)

#define ISA_SOPP_OPS(X) \
	X(s_nop, SOPP, 0, 0, 0, 0, 0, 0x00, 0x00, 0x00, ALL, NULL, NULL) \
	X(s_endpgm, SOPP, 0, 0, 0, 0, BARE, 0x01, 0x01, 0x30, ALL, NULL, NULL) \
	X(s_branch, SOPP, 0, 0, 0, 0, BRANCH, 0x02, 0x02, 0x20, ALL, NULL, NULL) \
	X(s_cbranch_scc0, SOPP, 0, 0, 0, 0, BRANCH, 0x04, 0x04, 0x21, ALL, NULL, NULL) \
	X(s_cbranch_scc1, SOPP, 0, 0, 0, 0, BRANCH, 0x05, 0x05, 0x22, ALL, NULL, NULL) \
	X(s_cbranch_vccz, SOPP, 0, 0, 0, 0, BRANCH, 0x06, 0x06, 0x23, ALL, NULL, NULL) \
	X(s_cbranch_vccnz, SOPP, 0, 0, 0, 0, BRANCH, 0x07, 0x07, 0x24, ALL, NULL, NULL) \
	X(s_cbranch_execz, SOPP, 0, 0, 0, 0, BRANCH, 0x08, 0x08, 0x25, ALL, NULL, NULL) \
	X(s_cbranch_execnz, SOPP, 0, 0, 0, 0, BRANCH, 0x09, 0x09, 0x26, ALL, NULL, NULL) \
	X(s_barrier, SOPP, 0, 0, 0, 0, BARE, 0x0a, 0x0a, 0x3d, ALL, NULL, NULL) \
	X(s_waitcnt, SOPP, 0, 0, 0, 0, WAIT, 0x0c, 0x0c, 0x09, ALL, NULL, NULL) \
	X(s_waitcnt_depctr, SOPP, 0, 0, 0, 0, WAIT, -1, 0x23, 0x08, G10P, NULL, NULL) \
	X(s_sethalt, SOPP, 0, 0, 0, 0, 0, 0x0d, 0x0d, 0x02, ALL, NULL, NULL) \
	X(s_sleep, SOPP, 0, 0, 0, 0, 0, 0x0e, 0x0e, 0x03, ALL, NULL, NULL) \
	X(s_setprio, SOPP, 0, 0, 0, 0, 0, 0x0f, 0x0f, 0x35, ALL, NULL, NULL) \
	X(s_sendmsg, SOPP, 0, 0, 0, 0, WAIT, 0x10, 0x10, 0x36, ALL, NULL, NULL) \
	X(s_trap, SOPP, 0, 0, 0, 0, 0, 0x12, 0x12, 0x10, ALL, NULL, NULL) \
	X(s_icache_inv, SOPP, 0, 0, 0, 0, BARE, 0x13, 0x13, 0x3c, ALL, NULL, NULL) \
	X(s_inst_prefetch, SOPP, 0, 0, 0, 0, 0, -1, 0x20, 0x04, G10P, \
	  NULL, "s_set_inst_prefetch_distance") \
	X(s_clause, SOPP, 0, 0, 0, 0, 0, -1, 0x21, 0x05, G10P, NULL, NULL) \
	X(s_delay_alu, SOPP, 0, 0, 0, 0, WAIT, -1, -1, 0x07, G11, NULL, NULL)

#define ISA_SMEM_OPS(X) \
	X(s_load_dword, SMEM, 1, 2, 0, 0, 0, 0x00, 0x00, 0x00, ALL, NULL, "s_load_b32") \
	X(s_load_dwordx2, SMEM, 2, 2, 0, 0, 0, 0x01, 0x01, 0x01, ALL, NULL, "s_load_b64") \
	X(s_load_dwordx4, SMEM, 4, 2, 0, 0, 0, 0x02, 0x02, 0x02, ALL, NULL, "s_load_b128") \
	X(s_load_dwordx8, SMEM, 8, 2, 0, 0, 0, 0x03, 0x03, 0x03, ALL, NULL, "s_load_b256") \
	X(s_load_dwordx16, SMEM, 16, 2, 0, 0, 0, 0x04, 0x04, 0x04, ALL, NULL, "s_load_b512") \
	X(s_buffer_load_dword, SMEM, 1, 4, 0, 0, 0, 0x08, 0x08, 0x08, ALL, \
	  NULL, "s_buffer_load_b32") \
	X(s_buffer_load_dwordx2, SMEM, 2, 4, 0, 0, 0, 0x09, 0x09, 0x09, ALL, \
	  NULL, "s_buffer_load_b64") \
	X(s_buffer_load_dwordx4, SMEM, 4, 4, 0, 0, 0, 0x0a, 0x0a, 0x0a, ALL, \
	  NULL, "s_buffer_load_b128") \
	X(s_buffer_load_dwordx8, SMEM, 8, 4, 0, 0, 0, 0x0b, 0x0b, 0x0b, ALL, \
	  NULL, "s_buffer_load_b256") \
	X(s_buffer_load_dwordx16, SMEM, 16, 4, 0, 0, 0, 0x0c, 0x0c, 0x0c, ALL, \
	  NULL, "s_buffer_load_b512") \
	X(s_dcache_inv, SMEM, 0, 0, 0, 0, BARE, 0x20, 0x20, 0x21, ALL, NULL, NULL) \
	X(s_dcache_wb, SMEM, 0, 0, 0, 0, BARE, 0x21, 0x21, -1, G9 | G1010, NULL, NULL) \
	X(s_gl1_inv, SMEM, 0, 0, 0, 0, BARE, -1, 0x1f, 0x20, G10P, NULL, NULL)

#endif
