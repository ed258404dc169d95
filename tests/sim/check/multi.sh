#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# several and different GPUs in one machine, with guest time counting instructions
set -euo pipefail
gpus=$(tests/sim/gpus)	# a kernel knows those that were there before it
allow=()
case $(basename "$(tests/vm/fetch-kernel --quiet "${KFDPRIO_KERNEL:-6.12}")") in
# its amdkfd, the stock one as well, has a process or queue too many in its count after the reset
# of one GPU of several, and says so at rmmod: WARN_ON(dqm->active_queue_count > 0 || ...)
6.1.*) allow=(--allow-warn 'amdkfd/kfd_device_queue_manager\.c:[0-9]* uninitialize') ;;
esac
# shellcheck disable=SC2016,SC2046 # for the shell in the VM; one argument a GPU
tests/vm/run --icount --timeout 600 --gpu "$(cut -d' ' -f1 <<<"$gpus" | paste -sd,)" \
	--param queue_preemption_timeout_ms=1500 "${allow[@]}" -- bash -c '
	bin=build/tests/bin
	nodes=/sys/class/kfd/kfd/topology/nodes
	status=0
	$bin/sim-multi || status=1
	$bin/sim-multi priority || status=1
	$bin/sim-multi reset || status=1
	n=0
	is() { # HAVE WANT TEXT
		n=$((n + 1))
		if [ "$1" = "$2" ]; then
			echo "ok $n - $3"
		else
			status=1
			echo "not ok $n - $3"
			echo "# have \"$1\", want \"$2\""
		fi
	}
	# device IDs of gpu=navi21,mi210 with N GPUs
	other() { echo 0 29631 $(yes 29711 | head -n $(($1 - 1))); }
	ids() { echo $(cat $nodes/*/properties | sed -n "s/^device_id //p"); }
	is "$(ids)" "0 $*" "GPUs are nodes in the order asked for"
	if command -v rocminfo >/dev/null; then
		rocminfo >/tmp/rocminfo 2>/tmp/unknown
		is $? 0 "rocminfo"
		# ROCr 5.2 of Debian 12: name, CUs, wave size, L1, L2 and L3 of those that it knows
		is "$(awk "/^  Name: *gfx/ { printf \"%s \", \$2 }
			/^  (Compute Unit|Wavefront Size):|^    L[123]:/ && /\(|Unit/ {
				sub(/.*: */, \"\"); sub(/\(.*/, \"\"); printf \"%s \", \$1 }" /tmp/rocminfo |
			sed "s/^.*gfx90a/gfx90a/")" \
			"gfx90a 16 8192 104 64 gfx1030 16 4096 131072 80 32 " "the GPUs that it knows"
		is "$(grep -c "unrecognized id" /tmp/unknown)" $(($# - 2)) "and says of the others that it does not"
	else
		n=$((n + 1))
		echo "ok $n - rocminfo # SKIP not installed"
	fi
	# GPUs go in another order than they came, and the last profile holds for the rest
	tests/sim/unload || exit
	is "$(ls $nodes 2>&1 | grep -c "^[0-9]")" 0 "rmmod with several GPUs leaves no node"
	insmod "$KFDPRIO_SIM_KO" gpu=navi21,mi210 || exit
	is "$(ids)" "$(other $#)" "other profiles after insmod"
	is "$(cat $nodes/*/properties | grep ^unique_id | sort -u | wc -l)" $# "and as many GPUs"
	gpu=$(readlink -f /sys/class/drm/renderD129/device)
	echo 1 >"$gpu/remove"
	is "$(ids)" "$(other $(($# - 1)))" "the second of them is removed, the others stay"
	$bin/sim-multi >/dev/null
	is $? 0 "and work"
	echo 1 >/sys/bus/pci/rescan
	is "$(ids)" "$(other $#)" "it is found again"
	$bin/sim-multi >/dev/null
	is $? 0 "and works"
	tests/sim/unload
	is $? 0 "rmmod"
	echo "1..$n"
	exit $status' - $(printf '%d ' $(cut -d' ' -f2 <<<"$gpus"))
