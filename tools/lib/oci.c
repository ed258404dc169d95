// SPDX-License-Identifier: GPL-2.0
/* OCI containers: the state that a hook reads, and the priority and the share that the container asks for. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "oci.h"

/**
 * oci_show() - hostile text, fit for one line of a log
 * @shown: out; 4 * OCI_SHOWN + 4 bytes
 * @raw: any bytes
 *
 * Only ASCII is shown, whatever the locale: the reader of a log may have another one.
 */
void oci_show(char *shown, const char *raw)
{
	char part[OCI_SHOWN + 1], *safe;

	snprintf(part, sizeof(part), "%s", raw);
	safe = text_escape(part, TEXT_ASCII);
	sprintf(shown, "%s%s", safe ? safe : "", strlen(raw) > OCI_SHOWN ? "..." : "");
	free(safe);
}

/* A copy of a member that is text; 0 with NULL in *@text if it is not there. */
static int text_get(struct json_object *object, const char *key, char **text, char *why)
{
	struct json_object *value;

	*text = NULL;
	if (!json_object_object_get_ex(object, key, &value))
		return 0;
	if (!json_object_is_type(value, json_type_string)) {
		snprintf(why, KFDLIB_WHY, "%s is not a string", key);
		return -EINVAL;
	}
	/* a byte 0 would hide the rest */
	if (strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value)) {
		snprintf(why, KFDLIB_WHY, "%s has a byte 0", key);
		return -EINVAL;
	}
	*text = strdup(json_object_get_string(value));
	if (*text)
		return 0;
	snprintf(why, KFDLIB_WHY, "out of memory");
	return -ENOMEM;
}

/* Of CRI: which of a pod's containers it is */
static bool is_sandbox(struct json_object *annotations)
{
	static const char *const keys[] = { "io.kubernetes.cri.container-type", "io.kubernetes.cri-o.ContainerType" };
	struct json_object *value;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (json_object_object_get_ex(annotations, keys[i], &value) && json_object_is_type(value, json_type_string) &&
		    !strcmp(json_object_get_string(value), "sandbox"))
			return true;
	return false;
}

static void annotations_free(struct oci_container *container)
{
	free(container->annotation);
	free(container->asked_max);
	free(container->asked_weight);
	container->annotation = container->asked_max = container->asked_weight = NULL;
}

static int annotations_get(struct json_object *object, struct oci_container *container, char *why)
{
	struct json_object *annotations;
	int ret;

	if (!json_object_object_get_ex(object, "annotations", &annotations) || !annotations)
		return 0;
	if (!json_object_is_type(annotations, json_type_object)) {
		snprintf(why, KFDLIB_WHY, "annotations is not an object");
		return -EINVAL;
	}
	container->sandbox = is_sandbox(annotations);
	ret = text_get(annotations, OCI_ANNOTATION, &container->annotation, why);
	if (!ret)
		ret = text_get(annotations, OCI_MAX, &container->asked_max, why);
	if (!ret)
		ret = text_get(annotations, OCI_WEIGHT, &container->asked_weight, why);
	return ret;
}

static int pid_get(struct json_object *object, pid_t *pid, char *why)
{
	struct json_object *value;
	int64_t number;

	if (json_object_object_get_ex(object, "pid", &value) && json_object_is_type(value, json_type_int)) {
		number = json_object_get_int64(value);
		if (number > 0 && number <= INT_MAX) {
			*pid = number;
			return 0;
		}
	}
	snprintf(why, KFDLIB_WHY,
		 "the state has no PID of a process: call the hook at the stage createRuntime");
	return -EINVAL;
}

/**
 * oci_state_parse() - the state of a container, as a runtime writes it to the hook's standard input
 * @json: any bytes
 * @size: how many
 * @container: filled in as far as the state was read, also on failure; to be freed
 * @why: on failure, what is wrong; KFDLIB_WHY bytes, without text of the state
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int oci_state_parse(const char *json, size_t size, struct oci_container *container, char *why)
{
	struct json_object *object = oci_json_parse(json, size, json_type_object, "the state", why);
	int ret;

	*container = (struct oci_container){ .pid = 0 };
	if (!object)
		return -EINVAL;
	ret = text_get(object, "id", &container->id, why);
	if (!ret)
		ret = pid_get(object, &container->pid, why);
	if (!ret)
		ret = text_get(object, "bundle", &container->bundle, why);
	if (!ret)
		ret = annotations_get(object, container, why);
	json_object_put(object);
	return ret;
}

/**
 * oci_config_parse() - the annotations of a container's config.json, where the state has none
 * @json: any bytes
 * @size: how many
 * @container: its annotations are filled in
 * @why: on failure, what is wrong; KFDLIB_WHY bytes, without text of the file
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int oci_config_parse(const char *json, size_t size, struct oci_container *container, char *why)
{
	struct json_object *object = oci_json_parse(json, size, json_type_object, "config.json", why);
	int ret;

	annotations_free(container);
	if (!object)
		return -EINVAL;
	ret = annotations_get(object, container, why);
	json_object_put(object);
	return ret;
}

/**
 * oci_container_free() - free what was read of a container
 * @container: empty afterwards
 */
void oci_container_free(struct oci_container *container)
{
	free(container->id);
	free(container->bundle);
	annotations_free(container);
	*container = (struct oci_container){ .pid = 0 };
}

/**
 * oci_priority_parse() - the priority that a container asks for
 * @word: any bytes
 * @priority: out
 *
 * Words only: a number would let a container ask for more than 11, beside those whose priority the
 * administrator has set.
 *
 * Return: 0 or -EINVAL.
 */
int oci_priority_parse(const char *word, int *priority)
{
	if (!strcmp(word, "low"))
		*priority = KFD_PRIO_LOW;
	else if (!strcmp(word, "normal"))
		*priority = KFD_PRIO_NORMAL;
	else if (!strcmp(word, "high"))
		*priority = KFD_PRIO_HIGH;
	else
		return -EINVAL;
	return 0;
}

/* One source of the two; -EINVAL if it asks for what there is not. */
static int source_parse(const char *word, const char *what, int *priority, char *why)
{
	char shown[4 * OCI_SHOWN + 4];

	if (!oci_priority_parse(word, priority))
		return 0;
	/* the hostile text comes last: what follows it could be taken for ours */
	oci_show(shown, word);
	snprintf(why, KFDLIB_WHY, "%s is low, normal or high, not '%s'", what, shown);
	return -EINVAL;
}

/**
 * oci_priority_choose() - the priority of a container, within the limit of the host
 * @container: with its annotation, if it has one
 * @argument: what a CDI device asks for, or NULL
 * @rules: with the limit
 * @priority: out; KFD_PRIO_UNSET: the container asks for none
 * @why: on failure, what is wrong and what to do; KFDLIB_WHY bytes
 *
 * With annotation and device, the lower priority of the two holds.
 *
 * Return: 0; -EINVAL: an unknown word; -EPERM: above the limit.
 */
int oci_priority_choose(const struct oci_container *container, const char *argument,
			const struct rules *rules, int *priority, char *why)
{
	int limit = rules_container_max(rules), asked;

	*priority = KFD_PRIO_UNSET;
	if (argument && source_parse(argument, "--priority", priority, why))
		return -EINVAL;
	if (container->annotation) {
		if (source_parse(container->annotation, "the annotation " OCI_ANNOTATION, &asked, why))
			return -EINVAL;
		if (*priority == KFD_PRIO_UNSET || asked < *priority)
			*priority = asked;
	}
	if (*priority <= limit)
		return 0;
	if (rules->nr_errors)
		snprintf(why, KFDLIB_WHY,
			 "priority %d (%s) is refused: kfdprio.conf has an error, and only low is given until it is corrected; see 'kfdprio rules check'",
			 *priority, prio_band(*priority));
	else
		snprintf(why, KFDLIB_WHY,
			 "priority %d (%s) is above this host's limit for containers, %d (%s): the administrator sets container-max= in kfdprio.conf",
			 *priority, prio_band(*priority), limit, prio_band(limit));
	return -EPERM;
}

/* A limit or a weight that is no such thing.  The hostile text comes last, as above. */
static int share_unknown(const char *annotation, const char *what, const char *word, char *why)
{
	char shown[4 * OCI_SHOWN + 4];

	oci_show(shown, word);
	snprintf(why, KFDLIB_WHY, "the annotation %s is %s, not '%s'", annotation, what, shown);
	return -EINVAL;
}

static int max_choose(const char *word, const struct rules *rules, uint32_t *max, char *why)
{
	char asked[16], limit[16];

	if (kfd_max_parse(word, max))
		return share_unknown(OCI_MAX, "a percentage from 0.01% to 100%", word, why);
	if (rules->annotation_max >= *max)
		return 0;
	if (rules->annotation_max)
		snprintf(why, KFDLIB_WHY,
			 "the limit %s is above this host's limit for annotations, %s: the administrator sets annotation-gpu-time= in kfdprio.conf",
			 *max < KFD_PRIO_MAX_NONE ? kfd_max_text(*max, asked, sizeof(asked)) : "100%",
			 kfd_max_text(rules->annotation_max, limit, sizeof(limit)));
	else
		snprintf(why, KFDLIB_WHY,
			 "this host lets no annotation set a limit of GPU time: the administrator sets annotation-gpu-time= in kfdprio.conf");
	return -EPERM;
}

static int weight_choose(const char *word, const struct rules *rules, uint32_t *weight, char *why)
{
	if (kfd_weight_parse(word, weight))
		return share_unknown(OCI_WEIGHT, "a number from 1 to 10000", word, why);
	if (*weight <= rules->annotation_weight)
		return 0;
	if (rules->annotation_weight)
		snprintf(why, KFDLIB_WHY,
			 "the weight %u is above this host's limit for annotations, %u: the administrator sets annotation-weight= in kfdprio.conf",
			 *weight, rules->annotation_weight);
	else
		snprintf(why, KFDLIB_WHY,
			 "this host lets no annotation set a weight: the administrator sets annotation-weight= in kfdprio.conf");
	return -EPERM;
}

/**
 * oci_share_choose() - the share of GPU time of a container, within the limits of the host
 * @container: with its annotations
 * @rules: with the limits
 * @setting: out: neither limit nor weight: the container asks for none
 * @why: on failure, what is wrong and what to do; KFDLIB_WHY bytes
 *
 * Return: 0; -EINVAL: no limit, or no weight; -EPERM: above what the host allows.
 */
int oci_share_choose(const struct oci_container *container, const struct rules *rules, struct share_setting *setting,
		     char *why)
{
	int ret = 0;

	*setting = (struct share_setting){ .max = KFD_PRIO_MAX_NONE, .weight = KFD_PRIO_WEIGHT_NONE };
	if (!container->asked_max && !container->asked_weight)
		return 0;
	if (rules->nr_errors) {
		snprintf(why, KFDLIB_WHY,
			 "kfdprio.conf has an error, and no annotation sets a limit or a weight until it is corrected; see 'kfdprio rules check'");
		return -EPERM;
	}
	if (container->asked_max)
		ret = max_choose(container->asked_max, rules, &setting->max, why);
	if (!ret && container->asked_weight)
		ret = weight_choose(container->asked_weight, rules, &setting->weight, why);
	return ret;
}

/**
 * oci_share_rule() - the rule that gives a share to a cgroup, or to one above it
 * @rules: the rules
 * @cgroup: the cgroup of a container
 *
 * A group of the container's own would take the place of that group (the nearest cgroup counts), and free the
 * container from its limit.  So any such rule is found, whether or not another one stands before it, and whether or not
 * its group exists yet.
 *
 * Return: the first; NULL: there is none.
 */
const struct rule *oci_share_rule(const struct rules *rules, const char *cgroup)
{
	const struct rule *rule;

	for (rule = rules->rule; rule < rules->rule + rules->nr; rule++)
		if (rule_shares(rule) && rule_share_cgroup(rule, cgroup))
			return rule;
	return NULL;
}
