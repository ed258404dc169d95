/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of the reference model share */
#ifndef ENGINE_REFERENCE_INT_H
#define ENGINE_REFERENCE_INT_H

#include "reference.h"

void ref_push(struct line *l, int id);
void ref_drop(struct line *l, int id);
void ref_requeue(struct line *from, struct line *to, int id);
struct line ref_all_queues(const struct ref *r);
const struct script_item *ref_item(const struct ref *r, int q, const struct ref_work *w);
const struct script_item *ref_offered(const struct ref *r, int q);
u64 ref_queue_quantum(const struct ref *r, int q);
bool ref_proc_waits(const struct ref *r, int p);
bool ref_off(const struct ref *r, int p);
void ref_cut(struct ref *r, int q);
void ref_save(struct ref *r, int q);
void ref_map(struct ref *r);

#endif
