# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# With --icount: latencies of an online job that shares the GPU with an offline job, with the plugin and without.
install_kfdprio
plugstack partition=online:high,batch:low
start_cluster
check "munge, slurmctld, slurmd" wait_for node_is idle
# With --icount an idle guest's time goes on while the host answers: no file is read first when it is measured.
cat "$load" >/dev/null
online() { as_alice srun -Q -p online --gres=shard:1 "$load" --rate 20 --dispatch-ns 3000000 --secs 5 --json --name online >"/tmp/$1.json"; }
beside() { # NAME: beside an offline job
	as_alice sbatch -Q -p batch --gres=shard:1 -o /dev/null --wrap "exec $load --dispatch-ns 25000000 --queues 3 --secs 3000"
	wait_for job_pid kfdload >/dev/null
	online "$1"
	scancel -f -u alice
	wait_for idle
}
online alone
beside plugin
plugstack
beside without
for name in alone plugin without; do
	note "online P50 and P99 (simulated, us), $name: $(json "/tmp/$name.json" p50) $(json "/tmp/$name.json" p99)"
done
check "with the plugin: online P99 is at most 1 ms more than alone" at_most "$(json /tmp/plugin.json p99)" \
	"$(awk -v a="$(json /tmp/alone.json p99)" 'BEGIN { print a + 1000 }')"
check "without: more than 10 ms more" at_least "$(json /tmp/without.json p99)" \
	"$(awk -v a="$(json /tmp/alone.json p99)" 'BEGIN { print a + 10000 }')"
