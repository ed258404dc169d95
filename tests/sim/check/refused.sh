#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# profiles that are unknown, or younger than a kernel's amdkfd, are refused by name; Linux 6.1
set -euo pipefail
known=$(tests/sim/gpus --kernel 6.1 | cut -d' ' -f1)
younger=$(comm -13 <(sort <<<"$known") <(tests/sim/gpus --kernel 6.12 | cut -d' ' -f1 | sort))
# shellcheck disable=SC2016,SC2086 # for the shell in the VM; one argument a profile
tests/vm/run --kernel 6.1 -- bash -c '
	n=0 status=0
	ok() { # NAME COMMAND...
		local name=$1
		shift
		n=$((n + 1))
		if "$@" >/tmp/log 2>&1; then
			echo "ok $n - $name"
		else
			status=1
			echo "not ok $n - $name"
			sed "s/^/# /" /tmp/log
		fi
	}
	refused() { # PROFILE ERRNO TEXT
		dmesg -C
		! insmod "$KFDPRIO_SIM_KO" gpu="mi210,$1" 2>/tmp/err || return 1
		cat /tmp/err
		dmesg
		grep -q "$2" /tmp/err && dmesg | grep -q "kfdsim: .*GPU profile \"$1\".*$3" &&
			! [ -e /dev/kfd ]
	}
	ok "rmmod" rmmod amdgpu
	ok "a profile that is not there: EINVAL, the log has those that are" \
		refused rx9999 "Invalid" "known: mi210 "
	for gpu; do
		ok "$gpu: EOPNOTSUPP, the log says why" refused "$gpu" "not supported" "the amdkfd of Linux 6.1 knows no "
	done
	ok "insmod with one that it knows" insmod "$KFDPRIO_SIM_KO" gpu=mi210
	ok "and it works" build/client/kfdload --secs 0.2
	echo "1..$n"
	exit $status' - $younger
