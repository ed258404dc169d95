# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# Pods that come and go: 100 of them, ten at a time, each with a priority, a limit and a weight by annotation.  Nothing of them
# may stay, and nothing may grow.
batches=10 size=10

# The numbers that may not grow: descriptors of the programs that run on, notes of the hook, processes and groups of the driver
kept() {
	local name pid
	# the names have 15 bytes in /proc
	for name in kfdpriod 10-kfdprio-nri- containerd; do
		pid=$(pgrep -ox "$name") || { echo "$name does not run"; continue; }
		echo "$name: $(find "/proc/$pid/fd" -mindepth 1 | wc -l) descriptors"
	done
	echo "groups that the hook has noted: $(wc -l </run/kfdprio-oci/groups)"
	echo "processes of KFD: $(find /sys/class/kfd/kfd/proc -mindepth 1 -maxdepth 1 | wc -l)"
	echo "groups: $(kfdprio --groups --noheadings | wc -l)"
	echo "containers: $(cri count)"
}

# batch FIRST: the pods FIRST to FIRST + size - 1 start, have what they ask for, and are removed
batch() {
	local i names=() began=$failures
	for ((i = $1; i < $1 + size; i++)); do
		names+=("many$i")
		up "many$i" --annotation org.kfdprio.priority=low --annotation org.kfdprio.max=30% --annotation org.kfdprio.weight=50 &&
			pod_has "many$i" 0 && share_is "${pid_of[many$i]}" "30 50" || failures=$((failures + 1))
	done
	[ "$(kfdprio --groups --noheadings | wc -l)" = $((size + alone)) ] || failures=$((failures + 1))
	down "${names[@]}"
	[ "$failures" = "$began" ]
}
groups_are() { [ "$(kfdprio --groups --noheadings | wc -l)" = "$1" ]; }

failures=0 alone=1 runtime=crun
rules annotation-gpu-time=50% annotation-weight=100 container-max=high
check "containerd starts, with NRI and kfdprio-nri-hooks" containerd_begin on
check "the image is imported" image_import
systemctl start kfdpriod
# one that stays, so that the programs have done everything once
check "$runtime: a pod that stays" up first --annotation org.kfdprio.max=30%
check "$runtime: ten pods start, have what they ask for, and are removed" batch 0
check "... and their groups are gone" wait_for groups_are $alone
kept >"$tmp/before"
sed 's/^/# /' "$tmp/before"
check "... and kfdpriod, the plugin and containerd run" [ "$(grep -c descriptors "$tmp/before")" = 3 ]
for ((nr = 1; nr <= batches; nr++)); do
	batch $((nr * size)) >"$tmp/batch" 2>&1 || sed "s/^/# /" "$tmp/batch"
done
check "$runtime: of $((batches * size)) pods, in groups of $size, each has the priority, limit and weight of its annotations" [ $failures = 0 ]
check "... no group is left but that of the pod that stays" wait_for groups_are $alone
kept >"$tmp/after"
check "... nothing has grown" diff "$tmp/before" "$tmp/after"
systemctl stop kfdpriod
down first
check "no group is left" wait_for no_group
check "no pod is left" [ "$(cri count)" = "0 pods 0 containers" ]
containerd_end
