// SPDX-License-Identifier: GPL-2.0
/* Containers as columns of lists. */
#define _GNU_SOURCE
#include <stdio.h>

#include "container.h"

#define SHORT_ID 12 /* digits of an ID in a table, as runtimes print it */

/**
 * container_cell() - the value of a cell
 * @container: which
 * @column: which of its columns
 * @table: it is printed in a table, where a container without a known name has the first digits of its ID
 * @value: filled in; its text is that of @container, or in @value itself
 */
void container_cell(const struct container *container, enum container_column column, bool table, struct list_value *value)
{
	const char *text = "";

	switch (column) {
	case CONTAINER_COLUMN_POD:
		text = container->pod;
		break;
	case CONTAINER_COLUMN_NAMESPACE:
		text = container->namespace;
		break;
	case CONTAINER_COLUMN_CONTAINER:
		text = container->container;
		if (*text || !table)
			break;
		snprintf(value->room, sizeof(value->room), "%.*s", SHORT_ID, container->place.id);
		text = value->room;
		break;
	case CONTAINER_COLUMN_ID:
		text = container->place.id;
		break;
	default:
		text = container->place.pod_uid;
	}
	list_text(value, *text ? text : NULL);
}

/**
 * container_columns_show() - let a table have the columns of containers without being asked for
 * @container: in the table; the columns that have something for it are shown
 * @columns: of the table; changed
 * @first: the first of those of containers
 */
void container_columns_show(const struct container *container, struct list_column *columns, unsigned int first)
{
	if (*container->pod) {
		columns[first + CONTAINER_COLUMN_POD].place = LIST_EVERYWHERE;
		columns[first + CONTAINER_COLUMN_NAMESPACE].place = LIST_EVERYWHERE;
	}
	if (*container->place.id)
		columns[first + CONTAINER_COLUMN_CONTAINER].place = LIST_EVERYWHERE;
}
