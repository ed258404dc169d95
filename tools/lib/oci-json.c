// SPDX-License-Identifier: GPL-2.0
/* JSON that container runtimes have written; see oci-json.h. */
#include <stdio.h>
#include <string.h>

#include "kfdlib.h"
#include "oci-json.h"

/**
 * oci_json_parse() - parse a whole document
 * @json: any bytes
 * @size: how many
 * @type: of its outermost value: an object or an array
 * @what: its name, for @why
 * @why: on failure, what is wrong; KFDLIB_WHY bytes, without text of the document
 *
 * Return: to be freed with json_object_put(3); NULL: it is none, or larger than OCI_JSON_MAX.
 */
struct json_object *oci_json_parse(const char *json, size_t size, enum json_type type, const char *what, char *why)
{
	struct json_object *object = NULL;
	struct json_tokener *tokener;
	enum json_tokener_error error;
	size_t end;

	if (size > OCI_JSON_MAX) {
		snprintf(why, KFDLIB_WHY, "%s is larger than %u MiB", what, OCI_JSON_MAX >> 20);
		return NULL;
	}
	tokener = json_tokener_new();
	if (!tokener) {
		snprintf(why, KFDLIB_WHY, "out of memory");
		return NULL;
	}
	object = json_tokener_parse_ex(tokener, json, size);
	error = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	if (error == json_tokener_continue) {
		/* only what follows ends a number or a word */
		object = json_tokener_parse_ex(tokener, "\n", 1);
		error = json_tokener_get_error(tokener);
		end = size;
	}
	json_tokener_free(tokener);
	while (end < size && strchr(" \t\r\n", json[end]) && json[end])
		end++;
	if (json_object_is_type(object, type) && end == size)
		return object;
	if (object && end < size)
		snprintf(why, KFDLIB_WHY, "%s is not JSON: there is text behind it", what);
	else if (error == json_tokener_success)
		snprintf(why, KFDLIB_WHY, "%s is not a JSON %s", what, json_type_to_name(type));
	else
		snprintf(why, KFDLIB_WHY, "%s is not JSON: %s", what,
			 error == json_tokener_continue ? "it ends too early" : json_tokener_error_desc(error));
	json_object_put(object);
	return NULL;
}
