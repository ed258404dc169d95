// SPDX-License-Identifier: GPL-2.0
/* Containers: what the path of a cgroup shows of one.  Pure. */
#define _GNU_SOURCE
#include <string.h>

#include "container.h"

/* Before the ID in the name of a cgroup */
static const struct {
	const char *text;
	enum container_runtime runtime;
} prefixes[] = {
	{ "cri-containerd-", CONTAINER_CONTAINERD },
	{ "crio-", CONTAINER_CRIO },
	{ "docker-", CONTAINER_DOCKER },
	{ "libpod-payload-", CONTAINER_PODMAN }, /* --cgroups=split, as in units of quadlet */
	{ "libpod-", CONTAINER_PODMAN },
	{ "nerdctl-", CONTAINER_NERDCTL },
	{ "", CONTAINER_UNKNOWN },
};

/**
 * struct part - a directory of the path
 * @at: its name
 * @len: bytes of it
 */
struct part {
	const char *at;
	size_t len;
};

static bool part_is(const struct part *part, const char *name)
{
	return part->len == strlen(name) && !memcmp(part->at, name, part->len);
}

/* Takes @text off its beginning, if it is there */
static bool part_take(struct part *part, const char *text)
{
	size_t len = strlen(text);

	if (part->len < len || memcmp(part->at, text, len))
		return false;
	part->at += len;
	part->len -= len;
	return true;
}

/* Exactly as many digits as an ID has, and at most ".scope", which systemd needs */
static bool id_parse(struct part name, const char *prefix, char *id)
{
	if (!part_take(&name, prefix) || name.len < CONTAINER_ID ||
	    strspn(name.at, "0123456789abcdef") != CONTAINER_ID)
		return false;
	memcpy(id, name.at, CONTAINER_ID);
	id[CONTAINER_ID] = '\0';
	name.at += CONTAINER_ID;
	name.len -= CONTAINER_ID;
	return !name.len || (*prefix && part_is(&name, ".scope"));
}

static bool container_part(const struct part *part, const struct part *above, struct container_place *place)
{
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (id_parse(*part, prefixes[i].text, place->id)) {
			place->runtime = prefixes[i].runtime;
			/* Docker without systemd */
			if (place->runtime == CONTAINER_UNKNOWN && part_is(above, "docker"))
				place->runtime = CONTAINER_DOCKER;
			return true;
		}
	*place->id = '\0';
	return false;
}

/* systemd has _ where the UID has -, which divides the names of slices. */
static bool uid_parse(const struct part *part, char dash, char *uid)
{
	size_t i;

	if (!part->len || part->len > CONTAINER_POD_UID)
		return false;
	for (i = 0; i < part->len; i++) {
		uid[i] = part->at[i] == dash ? '-' : part->at[i];
		if (!strchr("0123456789abcdef-", uid[i]) || (part->at[i] == '-' && dash != '-')) {
			*uid = '\0';
			return false;
		}
	}
	uid[i] = '\0';
	return true;
}

/* kubepods-burstable-podUID.slice; before it the name of a slice further up, if the kubelet has one (--cgroup-root) */
static bool pod_slice(const struct part *part, char *uid)
{
	static const char kubepods[] = "kubepods", slice[] = ".slice";
	struct part rest = *part;
	const char *found = memmem(part->at, part->len, kubepods, strlen(kubepods));

	if (!found || (found != part->at && found[-1] != '-') || part->len < strlen(slice) ||
	    memcmp(part->at + part->len - strlen(slice), slice, strlen(slice)))
		return false;
	rest.at = found + strlen(kubepods);
	rest.len = part->at + part->len - strlen(slice) - rest.at;
	if (!part_take(&rest, "-burstable"))
		part_take(&rest, "-besteffort");
	return part_take(&rest, "-pod") && uid_parse(&rest, '_', uid);
}

/* @above: the directories above it, the nearest first */
static bool pod_part(const struct part *part, const struct part *above, char *uid)
{
	struct part rest = *part;
	bool class = part_is(&above[0], "burstable") || part_is(&above[0], "besteffort");

	if (pod_slice(part, uid))
		return true;
	return part_is(&above[class], "kubepods") && part_take(&rest, "pod") && uid_parse(&rest, '-', uid);
}

/**
 * container_parse() - the container, or the pod, that a cgroup belongs to
 * @cgroup: its path in the hierarchy, any bytes
 * @place: filled in; empty if there is none
 *
 * The outermost one counts: a container may give cgroups below its own any names, and is still shown as what it is.
 * The container of a pod is directly below the pod's cgroup.  Who made the cgroup is not examined; see container_find().
 *
 * Return: whether there is one.
 */
bool container_parse(const char *cgroup, struct container_place *place)
{
	struct part part, above[2] = { { "", 0 }, { "", 0 } };
	const char *at = cgroup;

	*place = (struct container_place){ .length = 0 };
	while (*at == '/') {
		part.at = at + 1;
		part.len = strcspn(part.at, "/");
		at = part.at + part.len;
		if (container_part(&part, &above[0], place)) {
			place->length = at - cgroup;
			return true;
		}
		if (*place->pod_uid)
			break;
		if (pod_part(&part, above, place->pod_uid))
			place->length = at - cgroup;
		above[1] = above[0];
		above[0] = part;
	}
	return place->length;
}
