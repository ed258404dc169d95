#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The same seed gives the same bytes, times included, in 10 boots beside 8 busy processes: no file of the load is read from the host
# while it runs (tests/vm/run --initramfs). Another seed gives others. The kernel's logs are the same, too, to the last time in them:
# nothing of the host reaches the guest from the boot on. In LATE (default 2) of them QEMU's threads are late where that matters
# (tests/lib/late_idle.c), as on a host that is much busier.
set -u
# shellcheck source=tests/lib/busy.sh
. tests/lib/busy.sh
boots=${BOOTS:-10} load=${BUSY:-8} late=${LATE:-2}
tmp=$(mktemp -d) || exit 1
trap 'busy_end; rm -rf "$tmp"' EXIT
n=0 bad=0
ok() { # STATUS TEXT
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; fi
}
program=build/tests/bin/sim-determinism
# a QEMU whose threads are late; the VM knows nothing of it, or it would be another VM
grep -q __longjmp_chk "$(command -v qemu-system-x86_64)" || { echo "# this QEMU does not call __longjmp_chk(): none is late"; late=0; }
mkdir "$tmp/late"
printf '#!/bin/sh\nLD_PRELOAD=%q exec %q "$@"\n' "$PWD/build/tests/bin/late_idle.so" "$(command -v qemu-system-x86_64)" \
	>"$tmp/late/qemu-system-x86_64"
chmod 755 "$tmp/late/qemu-system-x86_64"
# run SEED FILE: what the load prints, and the kernel's log
run() {
	tests/vm/run --quick-saves --icount --timeout 1800 --seed "$1" --initramfs "$program" --keep -- "$program" >"$2" 2>"$2.err" || {
		ok 1 "a boot with seed $1"
		tail -n 20 "$2.err" | sed 's/^/# /'
		echo "1..$n"
		exit 1
	}
	log=$(sed -n 's/^tests\/vm\/run: kernel log: //p' "$2.err")
	cp "$log" "$2.log"
	rm -rf "${log%/*}"
}

busy_start "$load"
run 8 "$tmp/other"
run 11 "$tmp/first"
events=$(wc -l <"$tmp/first")
[ "$events" -gt 100 ]
ok $? "there are many events ($events)"
! cmp -s "$tmp/other" "$tmp/first"
ok $? "another seed: others"
differ=0 logs=0
for ((i = 2; i <= boots; i++)); do
	[ $i -le $((boots - late)) ] || PATH=$tmp/late:${PATH#"$tmp/late:"}
	run 11 "$tmp/next"
	cmp -s "$tmp/first" "$tmp/next" || {
		# both sides: a hunk may be the whole file
		[ $differ -gt 0 ] || {
			for side in '<' '>'; do
				diff "$tmp/first" "$tmp/next" | grep "^$side" | head -n 10 | cut -c1-200 | sed 's/^/# /'
			done
			mkdir -p build/identical
			cp "$tmp/first" "$tmp/first.log" "$tmp/next" "$tmp/next.log" build/identical/
			echo "# boot $i, and the first one: build/identical"
		}
		differ=$((differ + 1))
	}
	cmp -s "$tmp/first.log" "$tmp/next.log" || {
		[ $logs -gt 0 ] || diff "$tmp/first.log" "$tmp/next.log" | head -n 20 | tr -d '\r' | sed 's/^/# /'
		logs=$((logs + 1))
	}
done
[ $differ = 0 ]
ok $? "the same seed, $boots boots beside $load busy processes, QEMU late in $late: the same bytes (of $differ boots not)"
[ $logs = 0 ]
ok $? "and the same kernel log (of $logs boots not)"
echo "1..$n"
exit $bad
