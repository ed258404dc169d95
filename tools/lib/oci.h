/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Containers of the Open Container Initiative (OCI): what a hook is given, and which priority the
 * container asks for.
 *
 * Whoever starts a container, and the author of its image, choose its annotations: all text is hostile.
 * Pure but for memory.
 */
#ifndef OCI_H
#define OCI_H

#include <stddef.h>
#include <sys/types.h>

#include "oci-json.h"
#include "rules.h"

#define OCI_ANNOTATION	"org.kfdprio.priority"
#define OCI_MAX		"org.kfdprio.max"
#define OCI_WEIGHT	"org.kfdprio.weight"
#define OCI_SHOWN	64	  /* bytes of hostile text that are shown, before "..." */

/**
 * struct oci_container - a container, as its runtime describes it to a hook
 * @id: its name, raw; "" if there is none
 * @pid: of its first process, in the runtime's PID namespace
 * @bundle: directory of its config.json; NULL: not given
 * @annotation: OCI_ANNOTATION, raw; NULL: not given
 * @asked_max: OCI_MAX, raw; NULL: not given
 * @asked_weight: OCI_WEIGHT, raw; NULL: not given
 * @sandbox: it is the one that holds the namespaces of a pod, and runs nothing of its user
 */
struct oci_container {
	char *id;
	pid_t pid;
	char *bundle;
	char *annotation;
	char *asked_max, *asked_weight;
	bool sandbox;
};

int oci_state_parse(const char *json, size_t size, struct oci_container *container, char *why);
int oci_config_parse(const char *json, size_t size, struct oci_container *container, char *why);
void oci_container_free(struct oci_container *container);

int oci_priority_parse(const char *word, int *priority);
int oci_priority_choose(const struct oci_container *container, const char *argument,
			const struct rules *rules, int *priority, char *why);
int oci_share_choose(const struct oci_container *container, const struct rules *rules, struct share_setting *setting,
		     char *why);
const struct rule *oci_share_rule(const struct rules *rules, const char *cgroup);
void oci_show(char *shown, const char *raw);

#endif /* OCI_H */
