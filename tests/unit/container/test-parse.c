// SPDX-License-Identifier: GPL-2.0
/* The path of a cgroup, as kubelets and runtimes make it, and as others write it to look like that. */
#include "fixture.h"

static const struct {
	const char *cgroup, *rest; /* rest: what is below the container, or the pod */
	enum container_runtime runtime;
	const char *id, *pod_uid;
} good[] = {
	/* systemd */
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope", "",
	  CONTAINER_CONTAINERD, ID, UID },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", "/x", CONTAINER_CONTAINERD, ID, UID },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID ".scope", "/container",
	  CONTAINER_CRIO, ID, UID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/docker-" ID ".scope", "",
	  CONTAINER_DOCKER, ID, UID },
	/* the UID of a static pod */
	{ "/kubepods.slice/kubepods-podd41d8cd98f00b204e9800998ecf8427e.slice/crio-" ID ".scope", "", CONTAINER_CRIO, ID,
	  "d41d8cd98f00b204e9800998ecf8427e" },
	/* the kubelet's --cgroup-root */
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", "",
	  CONTAINER_CONTAINERD, ID, UID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice", "", CONTAINER_UNKNOWN, "", UID },
	/* cgroupfs */
	{ "/kubepods/burstable/pod" UID "/" ID, "", CONTAINER_UNKNOWN, ID, UID },
	{ "/kubepods/pod" UID "/" ID, "/a/b", CONTAINER_UNKNOWN, ID, UID },
	{ "/kubepods/besteffort/pod" UID "/crio-" ID, "", CONTAINER_CRIO, ID, UID },
	{ "/gpu/kubepods/besteffort/pod" UID, "", CONTAINER_UNKNOWN, "", UID },
	/* no pod */
	{ "/system.slice/docker-" ID ".scope", "", CONTAINER_DOCKER, ID, "" },
	{ "/docker/" ID, "/init.scope", CONTAINER_DOCKER, ID, "" },
	{ "/gpu/" ID, "", CONTAINER_UNKNOWN, ID, "" },
	{ "/machine.slice/libpod-" ID ".scope", "/container", CONTAINER_PODMAN, ID, "" },
	{ "/machine.slice/machine-libpod_pod_" ID2 ".slice/libpod-" ID ".scope", "", CONTAINER_PODMAN, ID, "" },
	{ "/libpod_parent/libpod-" ID, "", CONTAINER_PODMAN, ID, "" },
	{ "/system.slice/web.service/libpod-payload-" ID, "", CONTAINER_PODMAN, ID, "" },
	{ "/system.slice/nerdctl-" ID ".scope", "", CONTAINER_NERDCTL, ID, "" },
	/* the outermost one: a node of a cluster in a container; a container that poses as another one */
	{ "/system.slice/docker-" ID ".scope", "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
	  ".slice/cri-containerd-" ID2 ".scope", CONTAINER_DOCKER, ID, "" },
	{ "/docker/" ID, "/kubepods/pod" UID "/" ID2, CONTAINER_DOCKER, ID, "" },
	{ "/kubepods/burstable/pod" UID "/" ID, "/kubepods/pod11111111-0c3b-4a51-9e66-0123456789ab/" ID2, CONTAINER_UNKNOWN,
	  ID, UID },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope",
	  "/kubepods-pod11111111_0c3b_4a51_9e66_0123456789ab.slice/crio-" ID2 ".scope", CONTAINER_CRIO, ID, UID },
	/* of a runtime that is not known: none of its containers' cgroups counts */
	{ "/kubepods/pod" UID, "/kata_" ID "/" ID2, CONTAINER_UNKNOWN, "", UID },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice", "/sandbox/cri-containerd-" ID2 ".scope", CONTAINER_UNKNOWN, "", UID },
	/* not the helpers of a container */
	{ "/kubepods/pod" UID, "/crio-conmon-" ID, CONTAINER_UNKNOWN, "", UID },
};

static void test_good(void **state)
{
	struct container_place place;
	char cgroup[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		snprintf(cgroup, sizeof(cgroup), "%s%s", good[i].cgroup, good[i].rest);
		print_message("%s\n", cgroup);
		assert_true(container_parse(cgroup, &place));
		assert_string_equal(place.id, good[i].id);
		assert_string_equal(place.pod_uid, good[i].pod_uid);
		assert_int_equal(place.runtime, good[i].runtime);
		assert_int_equal(place.length, strlen(good[i].cgroup));
	}
}

static void test_none(void **state)
{
	static const char *const bad[] = {
		"", "/", "//", "/..", "0::/", ID, "docker-" ID ".scope",
		"/system.slice/serve.service", "/user.slice/user-1000.slice/session-1.scope", "/kubepods.slice", "/kubepods/burstable",
		"/kubepods.slice/kubepods-burstable.slice",
		/* an ID has 64 digits */
		"/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde",
		"/docker/" ID "0", "/docker/x" ID, "/docker/" ID ".scope", "/docker/" ID " ", "/docker/" ID "\n",
		"/docker/0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
		"/system.slice/docker-" ID ".service", "/system.slice/docker-" ID ".scope.scope", "/system.slice/docker-.scope",
		"/system.slice/docker-" ID ".scop", "/system.slice/xdocker-" ID ".scope", "/system.slice/Docker-" ID ".scope",
		"/machine.slice/libpod-conmon-" ID ".scope", "/machine.slice/crio-conmon-" ID ".scope",
		"/machine.slice/libpod-" ID "-x.scope",
		/* a pod is below kubepods, and its UID has hexadecimal digits */
		"/pod" UID, "/burstable/pod" UID, "/x/burstable/pod" UID, "/kubepods/x/pod" UID, "/kubepods/burstable/x/pod" UID,
		"/xkubepods/pod" UID, "/kubepodsx/pod" UID, "/kubepods/pod", "/kubepods/podx", "/kubepods/pod" UID "\"", "/kubepods/pod" UID "0",
		"/kubepods/pod" UID_, "/kubepods/pod6f2d1a90 0c3b", "/kubepods.slice/kubepods-pod" UID ".slice",
		"/kubepods.slice/kubepods-pod" UID_, "/kubepods.slice/kubepods-pod.slice", "/x.slice/xkubepods-pod" UID_ ".slice",
		"/kubepods.slice/kubepods-other-pod" UID_ ".slice", "/kubepods.slice/kubepods-burstable-besteffort-pod" UID_ ".slice",
		"/kubepods.slice/kubepods-burstable-pod" UID_ ".slice.slice", "/kubepods.slice", "/kubepods-pod.slice", "/kubepods.slic",
	};
	struct container_place place;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		print_message("%s\n", bad[i]);
		memset(&place, 'x', sizeof(place));
		assert_false(container_parse(bad[i], &place));
		assert_string_equal(place.id, "");
		assert_string_equal(place.pod_uid, "");
		assert_int_equal(place.length, 0);
	}
}

/* Pieces of paths in any order: what is found is a part of the path, of the characters that it may have. */
static void test_random(void **state)
{
	static const char *const pieces[] = {
		"/", "kubepods", "burstable", "-", "pod", UID, UID_, ".slice", ".scope", "docker", "docker-", "crio-", "libpod-", ID,
		"0123456789abcdef", "\xff", "conmon-", "..", "x", "cri-containerd-", "kubepods-pod", "/kubepods/pod", "/docker/",
	};
	const char *seed = getenv("SEED"), *steps = getenv("STEPS");
	struct container_place place, again;
	unsigned int left = steps ? atoi(steps) : 20000, found = 0, i;
	char cgroup[1024], *copy;

	(void)state;
	srandom(seed ? atoi(seed) : 1);
	while (left--) {
		*cgroup = '\0';
		for (i = random() % 12; i; i--)
			strcat(cgroup, pieces[random() % (sizeof(pieces) / sizeof(*pieces))]);
		/* in a block of its own: a byte behind it is found by the sanitizer */
		copy = strdup(cgroup);
		assert_non_null(copy);
		if (container_parse(copy, &place)) {
			found++;
			assert_true(place.length <= strlen(copy));
			assert_true(copy[place.length] == '/' || !copy[place.length]);
			assert_true(*place.id || *place.pod_uid);
			assert_true(!*place.id || strlen(place.id) == CONTAINER_ID);
			assert_int_equal(strspn(place.id, "0123456789abcdef"), strlen(place.id));
			assert_int_equal(strspn(place.pod_uid, "0123456789abcdef-"), strlen(place.pod_uid));
			/* what is below does not count */
			copy[place.length] = '\0';
			assert_true(container_parse(copy, &again));
			assert_string_equal(again.id, place.id);
			assert_string_equal(again.pod_uid, place.pod_uid);
			assert_int_equal(again.runtime, place.runtime);
			assert_int_equal(again.length, place.length);
		} else {
			assert_int_equal(place.length + *place.id + *place.pod_uid, 0);
		}
		free(copy);
	}
	assert_true(found || !steps || atoi(steps) < 1000);
}

int parse_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
