// SPDX-License-Identifier: GPL-2.0
/* A hash table that grows. */
#include <errno.h>
#include <stdlib.h>

#include "table.h"

#define FIRST_SLOTS 1024

/**
 * table_hash() - three numbers as one
 * @a: the first
 * @b: the second
 * @c: the third
 *
 * Return: the hash.
 */
uint64_t table_hash(uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t key = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15ULL;

	key = (key ^ key >> 29 ^ c) * 0xbf58476d1ce4e5b9ULL;
	return key ^ key >> 32;
}

static struct table_node *same_hash(struct table_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

/**
 * table_first() - look up
 * @table: the table
 * @hash: of the key
 *
 * Return: one of those with that hash, the last that was added, or NULL.
 */
void *table_first(const struct table *table, uint64_t hash)
{
	return table->nr_slots ? same_hash(table->slots[hash & (table->nr_slots - 1)], hash) : NULL;
}

/**
 * table_next() - look further
 * @item: of table_first() or table_next()
 *
 * Return: another one with the same hash, or NULL.
 */
void *table_next(const void *item)
{
	const struct table_node *node = item;

	return same_hash(node->next, node->hash);
}

static int grow(struct table *table)
{
	size_t nr_slots = table->nr_slots ? 2 * table->nr_slots : FIRST_SLOTS, i;
	struct table_node **slots = calloc(nr_slots, sizeof(struct table_node *)), *node, **slot;

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < table->nr_slots; i++)
		while ((node = table->slots[i])) {
			table->slots[i] = node->next;
			slot = &slots[node->hash & (nr_slots - 1)];
			node->next = *slot;
			*slot = node;
		}
	free(table->slots);
	table->slots = slots;
	table->nr_slots = nr_slots;
	return 0;
}

/**
 * table_add() - put something in
 * @table: the table
 * @node: of it; stays until it is removed
 * @hash: of its key
 *
 * Return: 0 or -ENOMEM.
 */
int table_add(struct table *table, struct table_node *node, uint64_t hash)
{
	struct table_node **slot;

	if (table->nr >= table->nr_slots && grow(table))
		return -ENOMEM;
	slot = &table->slots[hash & (table->nr_slots - 1)];
	node->hash = hash;
	node->next = *slot;
	*slot = node;
	table->nr++;
	return 0;
}

/**
 * table_remove() - take something out
 * @table: it is in there
 * @node: of it
 */
void table_remove(struct table *table, const struct table_node *node)
{
	struct table_node **at = &table->slots[node->hash & (table->nr_slots - 1)];

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	table->nr--;
}

/**
 * table_free() - free the table, but not what is in it
 * @table: the table; is empty then
 */
void table_free(struct table *table)
{
	free(table->slots);
	*table = (struct table){ 0 };
}
