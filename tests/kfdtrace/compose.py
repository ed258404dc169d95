# SPDX-License-Identifier: GPL-2.0
"""A trace.dat of events that nobody recorded: the head of a recording of one CPU, and a page of what is told."""
import re
import struct

PAGE = 4096
# formats of events that are newer than the recordings of data/, as tracefs has them: (number, fields, print fmt)
REASONS = '__print_symbolic(REC->reason, { 0, "NONE" }, { 1, "MAX" }, { 2, "WEIGHT" })'
NEWER = {
    "kfd_throttle_begin": (64001, "u32 gpu_id, s32 pid, u32 queues, u32 reason, u64 share, u64 cgroup_share, u32 seq",
                           f'"gpu_id=%u pid=%d queues=%u reason=%s share=%llu cgroup_share=%llu seq=%u", REC->gpu_id, REC->pid, REC->queues, {REASONS}, '
                           "REC->share, REC->cgroup_share, REC->seq"),
    "kfd_throttle_end": (64002, "u32 gpu_id, s32 pid, u32 queues, u32 reason, u64 throttled_ns, u32 seq",
                         f'"gpu_id=%u pid=%d queues=%u reason=%s throttled_ns=%llu seq=%u", REC->gpu_id, REC->pid, REC->queues, {REASONS}, '
                         "REC->throttled_ns, REC->seq"),
}


def format_text(name):
    """The file "format" of one of NEWER."""
    number, fields, printed = NEWER[name]
    lines, at = [("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0), ("unsigned char common_preempt_count", 3, 1, 0),
                 ("int common_pid", 4, 4, 1)], 8
    for field in fields.split(", "):
        size = int(field[1:3]) // 8
        lines.append((field, at, size, int(field[0] == "s")))
        at += size
    text = [f"\tfield:{field};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n" for field, offset, size, signed in lines]
    return f"name: {name}\nID: {number}\nformat:\n{''.join(text[:4])}\n{''.join(text[4:])}\nprint fmt: {printed}\n"


def with_formats(data, names):
    """The head of a trace.dat, version 6, whose system kfd has the formats of these events, too."""
    at = data.index(b"kfd\0", data.index(b"header_event\0")) + 4
    number, = struct.unpack_from("<I", data, at)
    added = b"".join(struct.pack("<Q", len(text)) + text for text in (format_text(name).encode() for name in names))
    return data[:at] + struct.pack("<I", number + len(names)) + added + data[at + 4:]


def compose(source, events, out):
    """events: (ns, name, {field: value}), in the order of time; fields that are not named are 0. A file with one of NEWER has the
    formats of all of them."""
    data = open(source, "rb").read()
    if any(name in NEWER for _, name, _ in events):
        data = with_formats(data, [name for name in NEWER if f"name: {name}\n".encode() not in data])
    options = data.index(b"options  \0")
    table = data.index(b"flyrecord\0", options) + 10
    formats = {}
    for name, number, fields in re.findall(r"name: (kfd_\w+)\nID: (\d+)\n(.*?)\nprint fmt", data[:options].decode(errors="replace"), re.S):
        places = re.findall(r":[^;]*?(\w+);\toffset:(\d+);\tsize:(\d+);", fields)
        formats[name] = int(number), {field: (int(at), int(size)) for field, at, size in places}
    first, last, page = events[0][0], events[0][0], b""
    for ns, name, values in events:
        number, fields = formats[name]
        record = bytearray(-(-max(at + size for at, size in fields.values()) // 4) * 4)
        for field, value in {"common_type": number, **values}.items():
            at, size = fields[field]
            record[at:at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
        assert ns - last < 1 << 27, "a time extend would be needed"
        # the length in the record itself, which counts itself
        page += struct.pack("<II", (ns - last) << 5, len(record) + 4) + record
        last = ns
    assert len(page) <= PAGE - 16, "more than a page"
    start = -(-(table + 16) // PAGE) * PAGE
    with open(out, "wb") as file:
        file.write(data[:table] + struct.pack("<QQ", start, PAGE))
        file.write(bytes(start - file.tell()) + struct.pack("<QQ", first, len(page)) + page + bytes(PAGE - 16 - len(page)))
