// SPDX-License-Identifier: GPL-2.0
// The shader of kfdprio doctor --soak, for GFX9 to GFX12; tools/kfdprio/doctor/shader/assemble makes machine code of it.
//
// Each work-item counts on with x = A x + C for as many rounds as it is told, in a vector register; each wave does so in
// a scalar register. Both, and a word of LDS that was written before the first round, make the result: a save that loses
// or changes one of them, the program counter or the mask of lanes shows in it. doctor/shader.c has the same
// in C, in closed form.
//
// Arguments: result address (8 bytes), rounds, seed, mask of the place of a result (4 bytes each).
// Registers at the start: s[0:1] arguments, v0 number in the work-group; s2 work-group (GFX12: ttmp9).

	.set generation, .amdgcn.gfx_generation_number

	.macro wait_scalar
	.if generation >= 12
	s_wait_kmcnt 0
	.else
	s_waitcnt lgkmcnt(0)
	.endif
	.endm

	.macro wait_lds
	.if generation >= 12
	s_wait_dscnt 0
	.else
	s_waitcnt lgkmcnt(0)
	.endif
	.endm

	.macro add to, scalar, vector
	.if generation >= 10
	v_add_nc_u32 \to, \scalar, \vector
	.else
	v_add_u32 \to, \scalar, \vector
	.endif
	.endm

	.text
	.p2align 8
soak:
	s_load_dwordx4 s[4:7], s[0:1], 0x0	// result address, rounds, seed
	s_load_dword s12, s[0:1], 0x10		// mask
	.if generation >= 12
	s_mov_b32 s2, ttmp9
	.endif
	s_mov_b32 s10, 1664525			// A
	s_mov_b32 s11, 1013904223		// C
	v_and_b32 v0, 0x3ff, v0
	s_lshl_b32 s3, s2, 8
	wait_scalar
	add v1, s3, v0				// number in the grid
	v_lshlrev_b32 v2, 2, v0
	v_xor_b32 v3, s7, v1			// x
	ds_write_b32 v2, v3
	s_mov_b32 s8, s7			// the wave's x
	wait_lds
next:
	v_mul_lo_u32 v3, v3, s10
	add v3, s11, v3
	s_mul_i32 s8, s8, s10
	s_add_u32 s8, s8, s11
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 next

	ds_read_b32 v4, v2
	v_and_b32 v1, s12, v1
	v_lshlrev_b32 v1, 2, v1
	wait_lds
	v_xor_b32 v3, s8, v3
	.if generation >= 10
	v_add_nc_u32 v3, v3, v4
	.else
	v_add_u32 v3, v3, v4
	.endif
	global_store_dword v1, v3, s[4:5]
	s_endpgm
	// what is read ahead of the program counter
	.if generation >= 10
	.fill 64, 4, 0xbf9f0000
	.endif

	// The descriptor: where vector registers of gfx90a and later end is a field of its own.
	.set minor, .amdgcn.gfx_generation_minor
	.set stepping, .amdgcn.gfx_generation_stepping
	.rodata
	.p2align 6
	.if generation == 9 && (minor == 4 || stepping == 10)
	.amdhsa_kernel soak
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
	.end_amdhsa_kernel
	.else
	.amdhsa_kernel soak
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
	.endif
