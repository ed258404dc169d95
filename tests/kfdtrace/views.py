# SPDX-License-Identifier: GPL-2.0
"""Checks of tests/kfdtrace/timeline: how the page is used, at any width. Each takes its Story."""
import json
import re
import tempfile
import urllib.parse

from browse import Picture, browse
from compose import compose

MAPPED = (0, 114, 178)

checks = []
check = checks.append


@check
def a_note_leaves_with_what_it_is_about(s):
    """out of view, or hidden by the filter or a fold; else it stays"""
    start, stop = s.slices.of(183, 0, "mapped")[1]
    near = ["view", start - 5_000_000, stop + 5_000_000]
    note = [["key", "Escape"], near, ["key", "ArrowDown"], ["key", "ArrowDown"], ["key", "ArrowDown"], ["key", "."]]
    steps = [*note, ["view", start - 90_000_000, stop], ["view", stop + 10**8, stop + 2 * 10**8], *note, ["filter", "185"], ["filter", ""],
             *note, ["key", "f"], ["key", "f"]]
    details = [step["detail"] for step in browse(s.page, steps, None, ".")["steps"]]
    assert details[5].startswith("mapped: queue 0") and details[6] == details[5] and details[7] == "", details[5:8]
    for at in 13, 21:
        assert details[at].startswith("mapped: queue 0") and details[at + 1] == "", (at, details[at:at + 2])


@check
def keys_of_other_viewers(s):
    """W and S zoom at the pointer, A and D move, M selects a span"""
    x, box, end = 500, s.box, s.report["last_ts_ns"] - s.report["first_ts_ns"]
    steps = [["view", 0, end], ["mouse", "mousemove", x, 300], ["key", "w"], ["key", "s"], ["key", "w"], ["key", "d"], ["key", "a"],
             ["key", "ArrowDown"], ["key", "ArrowDown"], ["key", "ArrowDown"], ["key", "."], ["key", "m"]]
    got = browse(s.page, steps, None, ".")["steps"]
    at = lambda view: view["from"] + (x - box["names"]) / box["plot"] * (view["to"] - view["from"])
    assert abs(got[2]["to"] - got[2]["from"] - 0.7 * end) < 10 and abs(at(got[2]) - at(got[1])) < 10, got[:3]
    assert abs(got[3]["to"] - got[3]["from"] - end) < 10, got[3]
    assert abs(got[5]["from"] - got[4]["from"] - 0.15 * 0.7 * end) < 10 and abs(got[6]["from"] - got[4]["from"]) < 10, got[4:7]
    assert got[11]["detail"].startswith("selected: ") and "inference · PID 183: mapped 100.0 %" in got[11]["detail"], got[11]["detail"]


@check
def the_address_keeps_the_view(s):
    """times, of either count, filter, selection: a page opened with it shows the same"""
    steps = [["view", 1.2e9, 1.3e9], ["filter", "184"], ["mouse", "mousedown", 500, 300], ["mouse", "mousemove", 620, 300],
             ["mouse", "mouseup", 620, 300], ["address"], ["key", "t"], ["address"]]
    state = browse(s.page, steps, None, ".")["steps"]
    for at in 5, 7:
        wanted = dict(urllib.parse.parse_qsl(state[at]["result"][1:]))
        del wanted["test"]
        assert set(wanted) == {"from", "to", "filter", "select"} | ({"time"} if at == 7 else set()), wanted
        again = browse(s.page, [], None, ".", **wanted)["first"]
        for key in "from", "to", "shown", "detail":
            same = again[key] == state[at][key] if isinstance(again[key], str) else abs(again[key] - state[at][key]) < 2000
            assert same, (key, again, state[at])


@check
def the_strip_of_the_whole_recording(s):
    """a click brings a time to the middle; a drag of the window moves it, one beside it chooses another"""
    end = s.report["last_ts_ns"] - s.report["first_ts_ns"]
    steps = [["view", 0, 0.1 * end], ["pointer", "pointerdown", 0.6], ["pointer", "pointerup", 0.6], ["pointer", "pointerdown", 0.6],
             ["pointer", "pointermove", 0.8], ["pointer", "pointerup", 0.8], ["pointer", "pointerdown", 0.2], ["pointer", "pointermove", 0.5],
             ["pointer", "pointerup", 0.5]]
    got = browse(s.page, steps, None, ".")["steps"]
    for at, wanted in (2, (0.55, 0.65)), (5, (0.75, 0.85)), (8, (0.2, 0.5)):
        assert all(abs(got[at][key] / end - part) < 0.002 for key, part in zip(("from", "to"), wanted)), (at, got[at], wanted)


@check
def any_width(s):
    """nothing is beside the window, the chart has room, the note wraps: 500 to 2560 pixels, light and dark; a picture of 380"""
    note = [["view", 1.2e9, 1.3e9], ["mouse", "mousedown", 300, 400], ["mouse", "mousemove", 340, 400], ["mouse", "mouseup", 340, 400], ["room"]]
    for wide, high in (500, 900), (768, 1024), (1920, 1080), (2560, 1440):
        state = browse(s.page, note, None, ".", dark=wide % 768 == 0, size=(wide, high))
        room = state["steps"][-1]["result"]
        assert room["window"] == wide and room["wide"] <= wide and room["high"] <= room["windowHigh"] and room["detail"] == 0, room
        assert room["chart"] >= 120 and room["plot"] > 0.5 * wide and room["names"] <= max(0.3 * wide, 104), room
        assert state["steps"][-1]["detail"].startswith("selected: "), state["steps"][-1]
    # Chromium makes no smaller window, but a smaller picture
    browse(s.page, [], "phone.png", ".", size=(380, 760))
    picture = Picture("phone.png")
    blue = [x for y in range(picture.height) for x in range(picture.width) if picture.at(x, y) == MAPPED]
    assert picture.width == 380 and 106 <= sorted(blue)[len(blue) // 10] and max(blue) < 380 - 48, (picture.width, min(blue), max(blue))


@check
def a_stock_recording(s):
    """says so: a driver without preemption shows which queues are mapped, no more"""
    events = [(1000 * 10**6, "kfd_create_queue", {"gpu_id": 7, "pid": 200, "prio": 7}), (1001 * 10**6, "kfd_map_queue", {"gpu_id": 7, "pid": 200, "prio": 7}),
              (1100 * 10**6, "kfd_destroy_queue", {"gpu_id": 7, "pid": 200, "prio": 7, "reason": 1})]
    compose("preempt/trace.dat", events, "none.dat")
    data = open("none.dat", "rb").read()
    # as of a driver that has no such events
    for name in b"preempt_begin", b"preempt_end", b"doorbell_wake", b"set_priority":
        data = data.replace(b"name: kfd_%s\n" % name, b"name: not_%s\n" % name)
    open("stock.dat", "wb").write(data)
    report = json.loads(s.run("report", "--json", "stock.dat"))
    assert report["driver"] == "stock", report["driver"]
    for process in report["processes"]:
        assert all(process[key] is None for key in ("priority", "preempted_count", "preempted_ns", "preempting_count", "wake_count", "parked_ns")), process
    assert [(q["preempted_count"], q["preempted_ns"], q["mapped_ns"]) for q in report["queues"]] == [(None, None, 99 * 10**6)], report["queues"]
    text = s.run("report", "stock.dat")
    assert "stock driver: " in text and "preemptions began" not in text, text
    state = browse(s.make("stock.dat"), [], None, ".")
    assert "stock driver: it shows which queues are mapped, not which of them run" in re.sub(r'<span id="driver" hidden="">', "", state["dom"].split("</header>")[0])
    assert '<span id="driver">' in state["dom"] and "preemption" not in state["dom"].split('id="facts">')[1].split("</p>")[0]


@check
def hours(s):
    """a long recording has them on its axis"""
    labels = [step.get("result") for step in s.one["steps"]]
    assert labels[1][1] == "0.2 s" and labels[3][:3] == ["0:00 h", "0:15 h", "0:30 h"], labels


@check
def empty_says_why(s):
    """a view in which nothing of what matches the filter happens says so, and where to find it; one with something does not"""
    ended, work = 456_000_000 + 1_500_000, tempfile.mkdtemp(dir=".")
    last = max(queue["destroyed_ts_ns"] for queue in json.loads(s.run("report", "--json", "preempt"))["queues"] if queue["pid"] == 229)
    state = browse(s.make("preempt"), [["view", ended + 10_000_000, ended + 60_000_000], ["filter", "229"], ["filter", "230"], ["filter", "none such"],
                                     ["filter", "229"], ["key", "0"]], None, work)
    notes = [step["drawn"].get("note") for step in state["steps"]]
    assert notes[1] and f"{last / 10**9:.9f}" in notes[1] and "Press 0 to show" in notes[1], notes
    assert notes[4] == notes[1] and not notes[0] and not notes[2] and not notes[5], notes
    assert notes[3] == "No queue matches the filter.", notes


@check
def throttled(s):
    """a colour of its own, light and dark, a legend where there is any, and the reason: of a limit, a turn, a number, and none that is known"""
    ms, gpu = 10**6, {"gpu_id": 7}
    of, queue = {**gpu, "pid": 200}, {**gpu, "pid": 200, "queue_id": 0, "prio": 7}
    events = [(0, "kfd_create_queue", queue), (1 * ms, "kfd_map_queue", queue)]
    for seq, (reason, groups) in enumerate([(1, {"share": 4, "cgroup_share": 9}), (2, {"share": 4}), (7, {})]):
        at = (10 + 30 * seq) * ms
        events += [(at, "kfd_throttle_begin", {**of, **groups, "reason": reason, "seq": seq + 1}), (at + 1000, "kfd_unmap_queues", {**gpu, "pid": -1, "filter": 2}),
                   (at + 2000, "kfd_unmap_queues_done", {**gpu, "dur_ns": 1000}),
                   (at + 20 * ms, "kfd_throttle_end", {**of, "reason": reason, "throttled_ns": 20 * ms, "seq": seq + 1}), (at + 20 * ms + 1000, "kfd_map_queue", queue)]
    events += [(100 * ms, "kfd_destroy_queue", queue)]
    compose("preempt/trace.dat", [(1000 * ms + at, name, fields) for at, name, fields in events], "throttled.dat")
    steps = [["view", 0, 100 * ms], *(["over", 200, 0, at * ms] for at in (20, 50, 80)), ["mouse", "mousemove", 5, 5], ["where", 200, 0, 14 * ms], ["where", 200, 0, 5 * ms],
             ["key", "Escape"], ["view", 0, 100 * ms], ["key", "f"], ["where", 200, None, 14 * ms]]
    for dark, page in (False, (255, 255, 255)), (True, (20, 24, 29)):
        work = tempfile.mkdtemp(dir=".")
        state = browse(s.make("throttled.dat"), steps, "throttled.png", work, dark=dark)
        row, = state["rows"]
        assert row["throttled"] == {"nr": 3, "ns": 60 * ms - 6000} and row["preempted"]["nr"] == 0, row
        tips = [step["tip"] for step in state["steps"][1:4]]
        for tip, words in zip(tips, ("throttled by the limit of group 4 or 9", "waited for the turn of another group; it is in group 4", "throttled for the reason 0x7")):
            assert tip.startswith("throttled: queue 0") and tip.endswith(words) and "for 20.0 ms" in tip, tip
        legend = re.sub("<[^>]*>", " ", re.search('id="legend".*?</ul>', state["dom"], re.S).group(0))
        assert "throttled" in legend, legend
        # folded: the process has the colour of its queues
        picture, place = Picture("throttled.png"), state["steps"][-1]["result"]
        colours = {picture.at(place["x"] + dx, place["y"]) for dx in range(-8, 9)}
        assert {(240, 228, 66), (107, 98, 0)} <= colours and page not in colours, (dark, colours)
    state = browse(s.make("throttled.dat"), [["view", 0, 100 * ms]], "throttled.png", ".")
    x, y = (browse("throttled.dat.html", steps[:6], None, ".")["steps"][5]["result"][key] for key in "xy")
    assert {(240, 228, 66), (107, 98, 0)} <= {Picture("throttled.png").at(x + dx, y - 5) for dx in range(-8, 9)}
    # in one pixel, and over a selection: the share of the time
    step = [["view", 0, 100 * 10**9], ["over", 200, 0, 50 * ms], ["view", 0, 100 * ms], ["mouse", "mousedown", 400, 300], ["mouse", "mousemove", 900, 300], ["mouse", "mouseup", 900, 300]]
    got = browse("throttled.dat.html", step, None, ".")["steps"]
    assert re.search(r"throttled [0-9.]+ %", got[-1]["detail"]), got[-1]["detail"]
    assert "throttled" not in re.search('id="legend".*?</ul>', browse(s.page, [], None, ".")["dom"], re.S).group(0)
