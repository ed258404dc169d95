/* SPDX-License-Identifier: GPL-2.0 */
/* JSON that container runtimes have written: all text in it is hostile. */
#ifndef OCI_JSON_H
#define OCI_JSON_H

#include <stddef.h>
#include <json-c/json.h>

#define OCI_JSON_MAX (4u << 20) /* bytes of a document */

struct json_object *oci_json_parse(const char *json, size_t size, enum json_type type, const char *what, char *why);

#endif /* OCI_JSON_H */
