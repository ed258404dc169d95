# SPDX-License-Identifier: GPL-2.0
"""A trace.dat of events that nobody recorded: the head of a recording of one CPU, and a page of what is told."""
import re
import struct

PAGE = 4096


def compose(source, events, out):
    """events: (ns, name, {field: value}), in the order of time; fields that are not named are 0."""
    data = open(source, "rb").read()
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
