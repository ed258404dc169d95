#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# several and different GPUs in one machine, with guest time counting instructions
set -eu
# shellcheck disable=SC2016 # for the shell in the VM
tests/vm/run --icount --timeout 600 --gpu mi210,mi300x,navi21,navi31,gfx12 \
	--param queue_preemption_timeout_ms=1500 -- bash -c '
	bin=build/tests/bin
	nodes=/sys/class/kfd/kfd/topology/nodes
	status=0
	$bin/sim-multi || status=1
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
	ids() { echo $(cat $nodes/*/properties | sed -n "s/^device_id //p"); }
	is "$(ids)" "0 29711 29857 29631 $1" "GPUs are nodes in the order asked for"
	# GPUs go in another order than they came, and the last profile holds for the rest
	rmmod amdgpu || exit
	is "$(ls $nodes 2>&1 | grep -c "^[0-9]")" 0 "rmmod with several GPUs leaves no node"
	insmod "$KFDPRIO_SIM_KO" gpu=navi21,mi210 || exit
	is "$(ids)" "0 29631 29711 29711 29711 29711" "other profiles after insmod"
	is "$(cat $nodes/*/properties | grep ^unique_id | sort -u | wc -l)" 5 "and as many GPUs"
	gpu=$(readlink -f /sys/class/drm/renderD129/device)
	echo 1 >"$gpu/remove"
	is "$(ids)" "0 29631 29711 29711 29711" "the second of them is removed, the others stay"
	$bin/sim-multi >/dev/null
	is $? 0 "and work"
	echo 1 >/sys/bus/pci/rescan
	is "$(ids)" "0 29631 29711 29711 29711 29711" "it is found again"
	$bin/sim-multi >/dev/null
	is $? 0 "and works"
	rmmod amdgpu
	is $? 0 "rmmod"
	echo "1..$n"
	exit $status' - "$(printf '%d %d' 0x744c 0x7550)"
