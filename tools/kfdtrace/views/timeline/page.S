/* SPDX-License-Identifier: GPL-2.0 */
/* The page of kfdtrace timeline, as it was put together; see the Makefile. */
	.section .rodata
	.globl timeline_page
	.type timeline_page, %object
timeline_page:
	.incbin "timeline.html"
	.byte 0
	.size timeline_page, . - timeline_page
	.section .note.GNU-stack, "", %progbits
