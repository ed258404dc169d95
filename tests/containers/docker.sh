# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# Containers of Docker: by CDI device, docker exec, and a rule for the cgroups of Docker.
docker() { in13 docker "$@"; }
dockerd_begin() {
	mkdir -p "$debian13/etc/docker"
	echo '{ "features": { "cdi": true }, "storage-driver": "vfs", "bridge": "none", "iptables": false, "ip6tables": false }' \
		>"$debian13/etc/docker/daemon.json"
	in13 dockerd >>/run/dockerd.log 2>&1 &
	dockerd=$!
	wait_for docker version && return
	tail -n 5 /run/dockerd.log | sed 's/^/# /'
	return 1
}
image_import() { tar -C "$out/rootfs" -cf - . | docker import - kfd; }
runs() { # NAME OPTION...
	local name=$1
	shift
	docker run -d --name "$name" --network none --device /dev/kfd --device /dev/dri/renderD128 "$@" kfd /bin/sh -c "$opens" &&
		pid_of[$name]=$(docker inspect -f '{{.State.Pid}}' "$name") && wait_for kfd_open "${pid_of[$name]-}"
}

rules container-max=high
check "dockerd starts, with the feature cdi" dockerd_begin
check "the image is imported" image_import
note "Docker $(docker version -f '{{.Server.Version}}')"
check "Docker: a container starts" runs plain
check "Docker: ... without a device of kfdprio it has no priority" pod_has plain unset
check "Docker: the CDI device kfdprio.org/priority=low: a container starts" runs low --device kfdprio.org/priority=low
check "Docker: ... its first process has it" pod_has low 0
check "Docker: the CDI device kfdprio.org/priority=high: a container starts" runs high --device kfdprio.org/priority=high
check "Docker: ... its first process has it" pod_has high 11
check "Docker: the annotation alone: a container starts" runs ignored --annotation org.kfdprio.priority=low
check "Docker: ... and has no priority" pod_has ignored unset
docker exec -d low sh -c ": by-exec; $opens"
wait_for pgrep -f '^sh -c : by-exec'
child=$(pgrep -f '^sh -c : by-exec')
check "Docker: a process of docker exec has no priority" pid_has "$child" unset
rules container-max=high 'cgroup=/system.slice/docker-*.scope priority=3'
systemctl start kfdpriod
check "Docker: ... until a rule for the cgroups of Docker is in force" wait_for pid_has "$child" 3
check "Docker: ... which holds for a container without a device" wait_for pod_has plain 3
check "Docker: ... and for one with a device" wait_for pod_has high 3
docker exec -d high sh -c ": later-exec; $opens"
wait_for pgrep -f '^sh -c : later-exec'
check "Docker: ... and for what docker exec starts later" wait_for pid_has "$(pgrep -f '^sh -c : later-exec')" 3
systemctl stop kfdpriod
docker rm -f plain low high ignored >"$tmp/rm" 2>&1
kill "$dockerd"
wait "$dockerd" 2>/dev/null
