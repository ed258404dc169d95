# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# With --icount: P99 of an online service; 1000 short processes: what they cost kfdpriod, and that no record is lost.
install_kfdprio
rules 'unit=inference.slice priority=12' 'cgroup=/batch.slice priority=low' 'user=4000000000 priority=low' 'cgroup=/system.slice priority=3'
systemctl start kfdpriod
# With --icount an idle guest's time goes on while the host answers: no file is read first when it is measured.
cat "$load" >/dev/null
online="--rate 20 --dispatch-ns 3000000 --secs 5 --json --name online"
unit alone.service Slice=inference.slice Type=oneshot "ExecStart=$load $online" StandardOutput=file:/run/alone.json
unit train.service Slice=batch.slice "ExecStart=$load --dispatch-ns 25000000 --queues 3 --secs 3000"
unit shared.service Slice=inference.slice Type=oneshot "ExecStart=$load $online" StandardOutput=file:/run/shared.json
systemctl start alone
systemctl start train
systemctl start shared
alone=$(json /run/alone.json p99)
shared=$(json /run/shared.json p99)
note "online P99 (simulated, us): alone $alone, beside a service of batch.slice $shared"
check "rules alone: online P99 is at most 1 ms more than alone" at_most "$shared" "$(awk -v a="$alone" 'BEGIN { print a + 1000 }')"
systemctl stop train
cat >/run/crowd.py <<'END'
import os, sys, time
# each has KFD open for a moment, as a short program does
for _ in range(int(sys.argv[1])):
    pid = os.fork()
    if not pid:
        os.open("/dev/kfd", os.O_RDWR)
        time.sleep(0.01)
        os._exit(0)
    if int(sys.argv[2]):
        os.waitpid(pid, 0)
END
usage() { systemctl show -P CPUUsageNSec kfdpriod; }
python3 /run/crowd.py 20 1
sleep 1
mark
before=$(usage)
python3 /run/crowd.py 1000 1
sleep 1
each=$((($(usage) - before) / 1000))
# With --icount an instruction takes 1 ns: this counts instructions, of kfdpriod and of the kernel for it.
note "instructions of kfdpriod for a process: $each"
note "10,000 processes a minute: $(awk -v e="$each" 'BEGIN { printf "%.0f million instructions a second", e * 10000 / 60e6 }')"
check "a short process costs kfdpriod at most 60,000 instructions" at_most "$each" 60000
check "no record was lost" sh -c '! journalctl -o cat -u kfdpriod --no-pager | grep lost'
rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$(main_pid kfdpriod)/status")
note "resident memory of kfdpriod: $rss KiB"
# a stopped service reads nothing: records overflow, and the list makes up for it
opens late inference.slice
systemctl start late
systemctl kill -s STOP kfdpriod
python3 /run/crowd.py 1100 1
echo go >/run/late
sleep 0.5
mark
check "while the service is stopped, nothing is set" has late unset
systemctl kill -s CONT kfdpriod
check "when it goes on, the process whose record was lost has its priority" gets late 12
check "... and the journal says that records were lost" wait_for said "notifications were lost"
check "the descriptor of a user without the capability: refused" \
	sh -c 'setpriv --reuid=65534 --clear-groups kfdpriod 2>&1 | grep -q "needs CAP_SYS_NICE"'
