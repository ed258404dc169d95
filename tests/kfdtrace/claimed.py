#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""tests/kfdtrace/claimed.py FROM TO [older] - meta.json of data/preempt with samples of record --mqd: of queues that are recognised, of
such that are not, and damaged ones.  older: of a recording in which a queue with the same address was before."""
import json
import sys

S = 10**9
with open(sys.argv[1], encoding="utf-8") as file:
    meta = json.load(file)
older = sys.argv[3:] == ["older"]


def entry(pid, index, address, samples, unknown, work, first=178.4, last=179.0):
    """an element of claimed_work"""
    return {"pid": pid, "gpu_id": 2546, "compute_queue_index": index, "write_index_addr": address, "claimed_sample_count": samples,
            "claimed_unknown_count": unknown, "claimed_work_count": work, "claimed_first_sample_ts_ns": int(first * S),
            "claimed_last_sample_ts_ns": int(last * S), "claimed_work_first_ts_ns": int(178.5 * S) if work else None,
            "claimed_work_last_ts_ns": int(178.9 * S) if work else None}


good = [
    entry(230, 0, "0x7ffff7fc1000", 40, 2, 30, *([178.1] if older else [])),
    entry(230, 1, "0x7ffff7fbd000", 41, 41, None),
    entry(230, 2, None, 42, 42, None),
    # two processes with one PID, or two queues with one address: it is not certain which is the queue of the recording
    entry(229, 0, "0x7ffff7fc1000", 43, 0, 43),
    entry(229, 0, "0x7ffff7fc1000", 7, 0, 0),
]
bad = ["x", None, {}, [], dict(good[0], pid=0), dict(good[0], pid="230"), dict(good[0], gpu_id=-1), dict(good[0], claimed_work_count=39),
       dict(good[0], claimed_work_count=None), dict(good[0], claimed_unknown_count=41), dict(good[0], claimed_sample_count=0),
       dict(good[0], claimed_work_first_ts_ns=None), dict(good[1], claimed_work_count=0), dict(good[0], claimed_last_sample_ts_ns=1)]
meta["claimed_work"] = bad + good
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(meta, file)
