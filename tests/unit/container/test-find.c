// SPDX-License-Identifier: GPL-2.0
/* Names of containers, from the records of their runtimes below a directory that stands for /. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "kfdlib.h"
#include "oci-json.h"

#define TASKS "/run/containerd/io.containerd.runtime.v2.task"
#define SLICE "/kubepods.slice/kubepods-pod" UID_ ".slice"

/* the owner of what only root may write, of rules-load.c */
extern uid_t rules_owner;
uid_t rules_owner;

static char root[] = "/tmp/container-test.XXXXXX";
static struct containers known;
static struct container container;

static int file_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int setup(void **state)
{
	(void)state;
	strcpy(strrchr(root, '.') + 1, "XXXXXX");
	if (!mkdtemp(root))
		return -1;
	kfd_system_root = root;
	rules_owner = geteuid();
	umask(022);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	containers_free(&known);
	return nftw(root, file_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* With the directories above it */
static void directory(const char *path)
{
	char whole[1024], *at;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (at = strchr(whole + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(whole, 0755);
		*at = '/';
	}
	assert_true(!mkdir(whole, 0755) || !access(whole, F_OK));
}

static void file(const char *dir, const char *name, const char *text, size_t size)
{
	char path[1024];
	int fd;

	directory(dir);
	snprintf(path, sizeof(path), "%s%s/%s", root, dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
}

static void cgroup(const char *path)
{
	char whole[1024];

	file("/sys/fs/cgroup", "cgroup.controllers", "", 0);
	snprintf(whole, sizeof(whole), "/sys/fs/cgroup%s", path);
	directory(whole);
}

static bool find(const char *path)
{
	containers_free(&known);
	return container_find(&known, path, &container);
}

static void names(const char *path, const char *pod, const char *namespace, const char *name)
{
	print_message("%s\n", path);
	assert_true(find(path));
	assert_string_equal(container.pod, pod);
	assert_string_equal(container.namespace, namespace);
	assert_string_equal(container.container, name);
}

#define CONTAINERD(type, rest) "{\"ociVersion\":\"1.1.0\",\"annotations\":{\"io.kubernetes.cri.container-type\":\"" type "\"" rest "}}"
#define POD ",\"io.kubernetes.cri.sandbox-name\":\"web-0\",\"io.kubernetes.cri.sandbox-namespace\":\"shop\""
#define NAME ",\"io.kubernetes.cri.container-name\":\"serve\""

static void record(const char *namespace, const char *id, const char *text)
{
	char dir[256];

	snprintf(dir, sizeof(dir), TASKS "/%s/%s", namespace, id);
	file(dir, "config.json", text, strlen(text));
}

static void test_containerd(void **state)
{
	static const char path[] = SLICE "/cri-containerd-" ID ".scope/below";

	(void)state;
	cgroup(path);
	/* no record */
	names(path, "", "", "");
	assert_string_equal(container.place.id, ID);
	assert_string_equal(container.place.pod_uid, UID);
	record("k8s.io", ID, CONTAINERD("container", POD NAME));
	names(path, "web-0", "shop", "serve");
	record("k8s.io", ID, CONTAINERD("container", POD NAME ",\"io.kubernetes.cri.sandbox-uid\":\"" UID "\""));
	names(path, "web-0", "shop", "serve");
	/* that of another pod */
	record("k8s.io", ID, CONTAINERD("container", POD NAME ",\"io.kubernetes.cri.sandbox-uid\":\"" UID "0\""));
	names(path, "", "", "");
	/* the sandbox has no name of its own */
	record("k8s.io", ID, CONTAINERD("sandbox", POD NAME));
	names(path, "web-0", "shop", "");
	/* annotations of others do not count */
	record("k8s.io", ID, CONTAINERD("container", NAME ",\"io.kubernetes.pod.name\":\"x\",\"io.kubernetes.pod.namespace\":\"x\","
					"\"io.kubernetes.container.name\":\"x\",\"pod\":\"x\""));
	names(path, "", "", "serve");
}

/* With cgroupfs containerd and Docker have the same name for a cgroup; annotations of a container of Docker name no pod */
static void test_no_prefix(void **state)
{
	static const char docker[] = "{\"Name\":\"/train\",\"ID\":\"x\"}";

	(void)state;
	cgroup("/kubepods/burstable/pod" UID "/" ID);
	record("k8s.io", ID, CONTAINERD("container", POD NAME));
	names("/kubepods/burstable/pod" UID "/" ID, "web-0", "shop", "serve");
	cgroup("/docker/" ID);
	names("/docker/" ID, "", "", "");
	/* of a kubelet that makes no cgroups of pods */
	cgroup("/k8s.io/" ID);
	names("/k8s.io/" ID, "web-0", "shop", "serve");
	record("moby", ID2, CONTAINERD("container", POD NAME));
	cgroup("/docker/" ID2);
	names("/docker/" ID2, "", "", "");
	cgroup("/gpu/" ID2);
	names("/gpu/" ID2, "", "", "");
	cgroup("/system.slice/docker-" ID2 ".scope");
	file("/var/lib/docker/containers/" ID2, "config.v2.json", docker, strlen(docker));
	names("/system.slice/docker-" ID2 ".scope", "", "", "train");
	names("/docker/" ID2, "", "", "train");
	names("/gpu/" ID2, "", "", "train");
	/* of a runtime that has this record, and not of another */
	cgroup("/system.slice/nerdctl-" ID2 ".scope");
	names("/system.slice/nerdctl-" ID2 ".scope", "", "", "");
	cgroup("/machine.slice/libpod-" ID ".scope");
	names("/machine.slice/libpod-" ID ".scope", "", "", "");
}

static void test_crio(void **state)
{
	static const char dir[] = "/run/containers/storage/overlay-containers/" ID "/userdata", path[] = SLICE "/crio-" ID ".scope/container";
	static const char labels[] = "{\"annotations\":{\"io.kubernetes.cri-o.ContainerType\":\"container\",\"io.kubernetes.pod.name\":\"web-1\","
				     "\"io.kubernetes.pod.namespace\":\"shop\",\"io.kubernetes.container.name\":\"serve\",\"io.kubernetes.pod.uid\":\"" UID
				     "\"" POD NAME "}}";

	(void)state;
	cgroup(path);
	names(path, "", "", "");
	file(dir, "config.json", labels, strlen(labels));
	names(path, "web-1", "shop", "serve");
	/* podman keeps its own there, and takes annotations over from images */
	cgroup("/machine.slice/libpod-" ID ".scope");
	names("/machine.slice/libpod-" ID ".scope", "", "", "");
}

static void test_podman(void **state)
{
	static const char dir[] = "/var/lib/containers/storage/overlay-containers", path[] = "/machine.slice/libpod-" ID ".scope/container";
	static const char all[] = "[{\"id\":\"" ID2 "\",\"names\":[\"other\"]},1,null,[],{\"id\":1},{\"id\":\"" ID "\",\"names\":[\"job\",\"alias\"]}]";
	static const char removed[] = "[{\"id\":\"" ID3 "\",\"names\":[\"once\"]},{\"id\":\"" ID "\",\"names\":[]}]";

	(void)state;
	cgroup(path);
	cgroup("/machine.slice/libpod-" ID3 ".scope");
	names(path, "", "", "");
	file(dir, "containers.json", all, strlen(all));
	file(dir, "volatile-containers.json", removed, strlen(removed));
	names(path, "", "", "job");
	names("/machine.slice/libpod-" ID3 ".scope", "", "", "once");
	file(dir, "containers.json", "{}", 2);
	names(path, "", "", "");
}

/* The names of a pod are those of any container in it. */
static void test_pod(void **state)
{
	(void)state;
	cgroup(SLICE "/cri-containerd-" ID ".scope");
	cgroup(SLICE "/cri-containerd-" ID2 ".scope");
	cgroup(SLICE "/other");
	names(SLICE, "", "", "");
	record("k8s.io", ID2, CONTAINERD("sandbox", POD));
	names(SLICE, "web-0", "shop", "");
	assert_string_equal(container.place.id, "");
	names(SLICE "/other", "web-0", "shop", "");
}

/* Damaged, hostile and foreign records: as if there were none */
static void test_damaged(void **state)
{
	static const char path[] = SLICE "/cri-containerd-" ID ".scope", whole[] = CONTAINERD("container", POD NAME);
	static const char *const bad[] = {
		"", "x", "[]", "null", "{}", "{\"annotations\":[]}", "{\"annotations\":null}", "{\"annotations\":\"x\"}",
		"{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":1,\"io.kubernetes.cri.container-name\":[\"x\"]}}",
		"{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"a\\u0000b\"}}",
		"{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"\"}}",
		CONTAINERD("container", POD NAME) "x",
	};
	char long_name[512], name[1024], *large;
	size_t i;

	(void)state;
	cgroup(path);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		record("k8s.io", ID, bad[i]);
		names(path, "", "", "");
	}
	for (i = 0; i < strlen(whole); i++) {
		snprintf(name, sizeof(name), "%.*s", (int)i, whole);
		record("k8s.io", ID, name);
		assert_true(find(path));
		assert_string_equal(container.pod, "");
	}
	/* a name that is cut would be another name */
	memset(long_name, 'n', sizeof(long_name));
	snprintf(name, sizeof(name), CONTAINERD("container", ",\"io.kubernetes.cri.sandbox-name\":\"%.255s\""), long_name);
	record("k8s.io", ID, name);
	assert_true(find(path));
	assert_int_equal(strlen(container.pod), 255);
	snprintf(name, sizeof(name), CONTAINERD("container", ",\"io.kubernetes.cri.sandbox-name\":\"%.256s\""), long_name);
	record("k8s.io", ID, name);
	names(path, "", "", "");
	large = malloc(OCI_JSON_MAX + 1);
	assert_non_null(large);
	memset(large, ' ', OCI_JSON_MAX + 1);
	memcpy(large, whole, strlen(whole));
	file(TASKS "/k8s.io/" ID, "config.json", large, OCI_JSON_MAX);
	names(path, "web-0", "shop", "serve");
	file(TASKS "/k8s.io/" ID, "config.json", large, OCI_JSON_MAX + 1);
	names(path, "", "", "");
	free(large);
	/* others may have written it */
	record("k8s.io", ID, whole);
	names(path, "web-0", "shop", "serve");
	snprintf(name, sizeof(name), "%s" TASKS "/k8s.io/" ID "/config.json", root);
	assert_false(chmod(name, 0620));
	names(path, "", "", "");
	assert_false(unlink(name));
	assert_false(mkfifo(name, 0600));
	names(path, "", "", "");
}

/* A cgroup that a user may have made is no container, however it is called. */
static void test_owner(void **state)
{
	static const char path[] = "/user.slice/user-1000.slice/user@1000.service/kubepods/pod" UID "/" ID;
	char above[1024];

	(void)state;
	record("k8s.io", ID, CONTAINERD("container", POD NAME));
	cgroup(path);
	names(path, "web-0", "shop", "serve");
	snprintf(above, sizeof(above), "%s/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/kubepods/pod" UID, root);
	assert_false(chmod(above, 0775));
	assert_false(find(path));
	assert_int_equal(container.place.length, 0);
	assert_string_equal(container.place.id, "");
	assert_string_equal(container.place.pod_uid, "");
	assert_false(chmod(above, 0755));
	assert_true(find(path));
	rules_owner = geteuid() + 1;
	assert_false(find(path));
	rules_owner = geteuid();
	/* one that is not there, and one of another cgroup namespace */
	assert_false(find("/docker/none/" ID));
	assert_false(find("/../docker/" ID));
}

/* Each is read once. */
static void test_known(void **state)
{
	(void)state;
	cgroup(SLICE "/cri-containerd-" ID ".scope/a");
	record("k8s.io", ID, CONTAINERD("container", POD NAME));
	names(SLICE "/cri-containerd-" ID ".scope/a", "web-0", "shop", "serve");
	record("k8s.io", ID, "{}");
	assert_true(container_find(&known, SLICE "/cri-containerd-" ID ".scope/b", &container));
	assert_string_equal(container.pod, "web-0");
	assert_int_equal(known.nr, 1);
	/* another one, whose path begins in the same way, is another one */
	assert_true(container_find(&known, SLICE "/cri-containerd-" ID2 ".scope", &container));
	assert_string_equal(container.pod, "");
	assert_true(container_find(&known, SLICE, &container));
	assert_string_equal(container.place.id, "");
	assert_int_equal(known.nr, 3);
	/* of the pod, which is known first, it is not the container */
	containers_free(&known);
	assert_true(container_find(&known, SLICE, &container));
	assert_true(container_find(&known, SLICE "/cri-containerd-" ID ".scope", &container));
	assert_string_equal(container.place.id, ID);
}

static void test_of(void **state)
{
	(void)state;
	cgroup(SLICE "/cri-containerd-" ID ".scope");
	record("k8s.io", ID, CONTAINERD("container", POD NAME));
	file("/proc/42", "cgroup", "0::" SLICE "/cri-containerd-" ID ".scope\n", strlen("0::" SLICE "/cri-containerd-" ID ".scope\n"));
	file("/proc/43", "cgroup", "0::/system.slice\n", 17);
	assert_true(container_of(&known, 42, &container));
	assert_string_equal(container.container, "serve");
	assert_false(container_of(&known, 43, &container));
	assert_string_equal(container.container, "");
	assert_false(container_of(&known, 44, &container));
}

int find_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_containerd, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_prefix, setup, teardown),
		cmocka_unit_test_setup_teardown(test_crio, setup, teardown),
		cmocka_unit_test_setup_teardown(test_podman, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pod, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
