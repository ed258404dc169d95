/* SPDX-License-Identifier: GPL-2.0 */
/* A hash table that grows; the caller owns the elements and compares the keys. */
#ifndef KFDTRACE_TABLE_H
#define KFDTRACE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct table_node - the first member of what is in a table
 * @next: of the same slot
 * @hash: of its key
 */
struct table_node {
	struct table_node *next;
	uint64_t hash;
};

/**
 * struct table - a table; all zeros is an empty one
 * @slots: array of @nr_slots, a power of two
 * @nr: nodes in all of them
 */
struct table {
	struct table_node **slots;
	size_t nr_slots, nr;
};

uint64_t table_hash(uint32_t a, uint32_t b, uint32_t c);
void *table_first(const struct table *table, uint64_t hash);
void *table_next(const void *item);
int table_add(struct table *table, struct table_node *node, uint64_t hash);
void table_remove(struct table *table, const struct table_node *node);
void table_free(struct table *table);

#endif /* KFDTRACE_TABLE_H */
