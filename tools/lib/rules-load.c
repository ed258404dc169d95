// SPDX-License-Identifier: GPL-2.0
/* Rules: which files there are, in which order they are read, and names of users and groups. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "message.h"
#include "rules.h"

#define FILE_MAX (1 << 20) /* bytes of a file */
#define SUFFIX	 ".conf"

/* Root's alone are the files that decide about priorities; for tests, another user's */
uid_t rules_owner;

static const char main_file[] = "/etc/kfdprio.conf";

/* A file of one of these hides those of the same name in those after it. */
static const char *const directories[] = {
	"/etc/kfdprio.conf.d",
	"/run/kfdprio.conf.d",
	"/usr/local/lib/kfdprio.conf.d",
	"/usr/lib/kfdprio.conf.d",
};

static bool digits(const char *text)
{
	return *text && !text[strspn(text, "0123456789")] && strlen(text) < 11;
}

static int name_user(const char *name, uid_t *uid)
{
	const struct passwd *passwd = getpwnam(name);

	if (passwd)
		*uid = passwd->pw_uid;
	else if (digits(name) && strtoull(name, NULL, 10) < (uid_t)-1)
		*uid = strtoull(name, NULL, 10);
	else
		return -ENOENT;
	return 0;
}

static int name_group(const char *name, gid_t *gid)
{
	const struct group *group = getgrnam(name);

	if (group)
		*gid = group->gr_gid;
	else if (digits(name) && strtoull(name, NULL, 10) < (gid_t)-1)
		*gid = strtoull(name, NULL, 10);
	else
		return -ENOENT;
	return 0;
}

static const struct rules_names names = { .user = name_user, .group = name_group };

static void out_of_memory(int ret)
{
	if (ret)
		errx(EXIT_FAILURE, "out of memory");
}

/**
 * rules_resolve() - look up the users and groups that were not known
 * @rules: the rules
 *
 * Return: how many are known now.
 */
size_t rules_resolve(struct rules *rules)
{
	size_t found = 0, i;

	for (i = 0; i < rules->nr; i++) {
		struct rule *rule = &rules->rule[i];

		if (rule->pending & RULE_PENDING_USER && !name_user(rule->user, &rule->uid)) {
			rule->pending &= ~RULE_PENDING_USER;
			found++;
		}
		if (rule->pending & RULE_PENDING_GROUP && !name_group(rule->group, &rule->gid)) {
			rule->pending &= ~RULE_PENDING_GROUP;
			found++;
		}
	}
	return found;
}

static void file_note(struct rules *rules, const char *path)
{
	rules->files = reallocarray(rules->files, rules->nr_files + 1, sizeof(*rules->files));
	if (!rules->files)
		out_of_memory(-ENOMEM);
	rules->files[rules->nr_files] = strdup(path);
	if (!rules->files[rules->nr_files++])
		out_of_memory(-ENOMEM);
}

/*
 * In a container without root the files of root are those of nobody whom its user namespace knows.  What is
 * done there is done without privileges.
 */
static bool owner_is_outside(uid_t uid)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned int first = 0, outside = 0, nr = 0, overflow = 0;

	if (file && fscanf(file, "%u %u %u", &first, &outside, &nr) != 3)
		nr = 0;
	if (file)
		fclose(file);
	if (!file || !nr || nr == (unsigned int)-1)
		return false;
	file = fopen("/proc/sys/kernel/overflowuid", "re");
	if (file && fscanf(file, "%u", &overflow) != 1)
		overflow = 0;
	if (file)
		fclose(file);
	return overflow && uid == overflow;
}

/* Why a file or directory is not trusted: users other than root may decide what stands there.  NULL: it is. */
static const char *untrusted(const struct stat *st)
{
	if (st->st_uid != rules_owner && !owner_is_outside(st->st_uid))
		return "refused, since its owner is not root and would decide about all priorities: run 'chown root' on it";
	if (st->st_mode & 022)
		return "refused, since users other than root may write there and would decide about all priorities: run 'chmod go-w' on it";
	return NULL;
}

/* -errno, with @why, the whole message, where the number says too little; *@size bytes in *@text.  @trusted: root's alone */
static int file_read(const char *path, bool trusted, char **text, size_t *size, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t got = 1;

	*why = NULL;
	*size = 0;
	*text = NULL;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		close(fd);
		return -errno;
	}
	/* as in systemd, a link to /dev/null hides a file of a package */
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)) {
		close(fd);
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		*why = "cannot read the file: it is not a regular file";
	else if (st.st_size > FILE_MAX)
		*why = "cannot read the file: it is larger than 1 MiB";
	else if (trusted && untrusted(&st))
		*why = untrusted(&st);
	if (*why) {
		close(fd);
		return -EINVAL;
	}
	*text = malloc(FILE_MAX + 1);
	if (!*text)
		out_of_memory(-ENOMEM);
	while (got > 0 && *size <= FILE_MAX) {
		got = read(fd, *text + *size, FILE_MAX + 1 - *size);
		if (got > 0)
			*size += got;
	}
	close(fd);
	if (got < 0)
		return -errno;
	return 0;
}

static void file_load(struct rules *rules, const char *path, bool trusted)
{
	const char *why;
	size_t size;
	char *text;
	int ret;

	ret = file_read(path, trusted, &text, &size, &why);
	file_note(rules, path);
	if (ret)
		out_of_memory(rules_fail(rules, path, 0, 0, "%s%s", why ? "" : "cannot read the file: ",
					 why ? why : strerror(-ret)));
	else if (text)
		out_of_memory(rules_parse(rules, path, text, size, &names));
	free(text);
}

/**
 * rules_load_file() - add the rules of a file that is not in its place yet
 * @rules: those that come before; in, out
 * @path: the file, of any user
 *
 * What is wrong, with the file too, is in @rules->errors.
 */
void rules_load_file(struct rules *rules, const char *path)
{
	file_load(rules, path, false);
}

static int is_conf(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > strlen(SUFFIX) &&
	       !strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX);
}

/* A file of a directory; the name decides the order, then the directory's place. */
struct drop_in {
	char *name;
	size_t directory;
};

static int drop_in_compare(const void *left, const void *right)
{
	const struct drop_in *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : a->directory < b->directory ? -1 : a->directory > b->directory;
}

static size_t drop_ins_find(struct rules *rules, struct drop_in **found)
{
	char path[KFDLIB_PATH];
	struct dirent **entries;
	size_t nr = 0, i;
	struct stat st;
	int n, at;

	*found = NULL;
	for (i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		snprintf(path, sizeof(path), "%s%s", kfd_system_root, directories[i]);
		n = scandir(path, &entries, is_conf, NULL);
		if (n < 0) {
			if (errno != ENOENT)
				out_of_memory(rules_fail(rules, path, 0, 0, "cannot read the directory: %s",
							 strerror(errno)));
			continue;
		}
		/* who may write it may hide a file of it */
		if (n && !stat(path, &st) && untrusted(&st))
			out_of_memory(rules_fail(rules, path, 0, 0, "%s", untrusted(&st)));
		*found = reallocarray(*found, nr + n + 1, sizeof(**found));
		if (!*found)
			out_of_memory(-ENOMEM);
		for (at = 0; at < n; at++) {
			(*found)[nr].name = strdup(entries[at]->d_name);
			if (!(*found)[nr].name)
				out_of_memory(-ENOMEM);
			(*found)[nr++].directory = i;
			free(entries[at]);
		}
		free(entries);
	}
	if (nr)
		qsort(*found, nr, sizeof(**found), drop_in_compare);
	return nr;
}

/**
 * rules_load() - read all rules of the system
 * @rules: filled in
 *
 * /etc/kfdprio.conf comes first, then the drop-ins of all directories by their names.
 * Does not return without memory.
 *
 * Return: 0, or -EINVAL: something is wrong, see @rules->errors.
 */
int rules_load(struct rules *rules)
{
	struct drop_in *found;
	char path[KFDLIB_PATH];
	size_t nr, i;

	memset(rules, 0, sizeof(*rules));
	snprintf(path, sizeof(path), "%s%s", kfd_system_root, main_file);
	if (!access(path, F_OK) || errno != ENOENT)
		file_load(rules, path, true);
	nr = drop_ins_find(rules, &found);
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", kfd_system_root,
			 directories[found[i].directory], found[i].name);
		if (!i || strcmp(found[i].name, found[i - 1].name))
			file_load(rules, path, true);
	}
	for (i = 0; i < nr; i++)
		free(found[i].name);
	free(found);
	return rules->nr_errors ? -EINVAL : 0;
}
