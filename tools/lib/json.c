// SPDX-License-Identifier: GPL-2.0
/* JSON as the tools print it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <json-c/json.h>

#include "kfdlib.h"

/**
 * json_printable() - a document as text that is safe on a terminal
 * @document: of json-c
 * @pretty: for people, over many lines; else one line
 *
 * Return: to be freed with free(3); NULL without memory.
 */
char *json_printable(struct json_object *document, bool pretty)
{
	int flags = pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED : JSON_C_TO_STRING_PLAIN;
	const char *json =
		json_object_to_json_string_ext(document, flags | JSON_C_TO_STRING_NOSLASHESCAPE);

	return json ? text_json_printable(json) : NULL;
}
