#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""rewrite.py IN OUT VERSION BUFFER... [OPTION=TEXT]... - the trace.dat IN, of version 6, as other recorders write it.

A BUFFER is NAME:CLOCK:EVENTS, EVENTS a list of names joined by commas, or "all", or "none"; NAME is empty for the
main one. Records of other events become those of sched:sched_switch in that buffer. An OPTION is a number. See
trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5)."""
import re, struct, sys

data = open(sys.argv[1], "rb").read()
pos = 0
def take(size):
	global pos
	pos += size
	assert pos <= len(data)
	return data[pos - size:pos]
def number(size):
	return int.from_bytes(take(size), "little")
def sized(size):
	return take(number(size))
def string():
	global pos
	end = data.index(b"\0", pos) + 1
	text = data[pos:end]
	pos = end
	return text

assert take(10) == b"\x17\x08\x44tracing" and string() == b"6\0"
flags = take(2)
page_size = number(4)
begin = pos
assert take(12) == b"header_page\0"
sized(8)
assert take(13) == b"header_event\0"
sized(8)
headers = data[begin:pos]
begin = pos
for _ in range(number(4)):
	sized(8)
ftrace = data[begin:pos]
begin = pos
ids = {}
for _ in range(number(4)):
	system = string()
	for _ in range(number(4)):
		form = sized(8).decode()
		ids[re.search("name: (.*)", form).group(1)] = int(re.search("ID: (.*)", form).group(1))
OTHER = 65000
form = b"name: sched_switch\nID: %d\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n" % OTHER
systems = struct.pack("<I", struct.unpack_from("<I", data, begin)[0] + 1) + data[begin + 4:pos]
systems += b"sched\0" + struct.pack("<IQ", 1, len(form)) + form
begin = pos
sized(4)
kallsyms = data[begin:pos]
begin = pos
sized(4)
printk = data[begin:pos]
begin = pos
sized(8)
cmdlines = data[begin:pos]
cpus = number(4)
assert take(10) == b"options  \0"
options = []
while True:
	option = number(2)
	if not option:
		break
	options.append((option, sized(4)))
assert take(10) == b"flyrecord\0"
places = [(number(8), number(8)) for _ in range(cpus)]
pages = [data[at:at + size] for at, size in places]

def filtered(page_data, wanted):
	"""Records of other events become those of sched_switch: where they lie, times stay right."""
	out = bytearray(page_data)
	for at in range(0, len(out), page_size):
		here, end = at + 16, at + 16 + (struct.unpack_from("<Q", out, at + 8)[0] & 0xfffff)
		while here < end:
			word = struct.unpack_from("<I", out, here)[0]
			kind, size = word & 31, 0
			if kind == 29:
				size = struct.unpack_from("<I", out, here + 4)[0] + 4
			elif kind in (30, 31):
				size = 8
			else:
				record = here + 4 if kind else here + 8
				size = 4 + 4 * kind if kind else 4 + (struct.unpack_from("<I", out, here + 4)[0] + 3 & ~3)
				if struct.unpack_from("<H", out, record)[0] not in wanted:
					struct.pack_into("<H", out, record, OTHER)
			here += size
	return bytes(out)

version = sys.argv[3]
buffers, extra = [], []
for word in sys.argv[4:]:
	if re.match("[0-9]+=", word):
		option, text = word.split("=", 1)
		extra.append((int(option), text.encode() + b"\0"))
		continue
	name, clock, events = word.split(":")
	wanted = None if events == "all" else {ids[e] for e in events.split(",") if e in ids}
	content = [b""] * cpus if events == "none" else [p if wanted is None else filtered(p, wanted) for p in pages]
	buffers.append((name.encode() + b"\0", clock, content))
main_clock = [c for n, c, _ in buffers if n == b"\0"]
options = [o for o in options if o[0] != 4] + extra
if main_clock:
	options.append((4, b"local [" + main_clock[0].encode() + b"]\0"))

def aligned(out):
	return out + b"\0" * (-len(out) % page_size)
def option_bytes(some):
	return b"".join(struct.pack("<HI", o, len(t)) + t for o, t in some)

if version == "6":
	main = next(content for n, _, content in buffers if n == b"\0")
	others = [b for b in buffers if b[0] != b"\0"]
	head = b"\x17\x08\x44tracing6\0" + flags + struct.pack("<I", page_size) + headers + ftrace + systems + kallsyms + printk + cmdlines
	head += struct.pack("<I", cpus) + b"options  \0"
	# the places are known when all sizes are: two rounds
	at = {}
	for _ in range(2):
		out = head + option_bytes(options + [(3, struct.pack("<Q", at.get(n, 0)) + n) for n, _, _ in others]) + b"\0\0"
		for n, _, content in [(b"\0", "", main)] + others:
			at[n] = len(out)
			table = len(out) + 10 + 16 * cpus
			place = table + -table % page_size
			out += b"flyrecord\0"
			for c in content:
				out += struct.pack("<QQ", place, len(c))
				place += len(c)
			out = aligned(out) + b"".join(content)
else:
	out = b"\x17\x08\x44tracing7\0" + flags + struct.pack("<I", page_size) + b"none\0\0"
	first = len(out)
	out += bytes(8)
	def section(number, content):
		global out
		at = len(out)
		out += struct.pack("<HHIQ", number, 0, 0, len(content)) + content
		return at
	located = [(i, struct.pack("<Q", section(i, c))) for i, c in ((16, headers), (17, ftrace), (18, systems), (19, kallsyms), (20, printk), (21, cmdlines))]
	for name, clock, content in buffers:
		at = len(out)
		body = at + 16 + -(at + 16) % page_size
		out += struct.pack("<HHIQ", 3, 0, 0, body - at - 16 + sum(map(len, content)))
		out = aligned(out)
		option = struct.pack("<Q", at) + name + clock.encode() + b"\0" + struct.pack("<II", page_size, cpus)
		for cpu, c in enumerate(content):
			option += struct.pack("<IQQ", cpu, len(out), len(c))
			out += c
		located.append((3, option))
	last = section(0, option_bytes(located + [(8, struct.pack("<I", cpus))] + options) + struct.pack("<HIQ", 0, 8, 0))
	out = out[:first] + struct.pack("<Q", last) + out[first + 8:]
open(sys.argv[2], "wb").write(out)
