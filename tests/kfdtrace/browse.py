# SPDX-License-Identifier: GPL-2.0
"""Pages of kfdtrace timeline in headless Chromium: what they say of themselves, and how they look."""
import json
import os
import struct
import subprocess
import sys
import urllib.parse
import zlib

SIZE = (1280, 720)
LIMIT = 300  # s, for a busy machine: a page takes 2 s on one that is not
ATTEMPTS = 3  # of a browser that does not come up, not of a page that is wrong


class Picture:
    """A PNG of 8 bits per channel, as Chromium writes it."""

    def __init__(self, path):
        data = open(path, "rb").read()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG"
        at, packed = 8, b""
        while at < len(data):
            length, kind = struct.unpack_from(">I4s", data, at)
            body = data[at + 8:at + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, depth, colours = struct.unpack_from(">IIBB", body)
            elif kind == b"IDAT":
                packed += body
            at += 12 + length
        assert depth == 8 and colours in (2, 6), f"{path}: a kind of PNG that is not read here"
        self.bytes = 3 if colours == 2 else 4
        stride, raw, self.lines = self.width * self.bytes, zlib.decompress(packed), []
        above = bytearray(stride)
        for y in range(self.height):
            line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
            above = self._line(raw[y * (stride + 1)], line, above)
            self.lines.append(above)

    def _line(self, how, line, above):
        """Undoes the filter of a line, in place."""
        size = self.bytes
        for i in range(len(line)) if how else ():
            left, upper = (line[i - size] if i >= size else 0), above[i]
            if how == 1:
                guess = left
            elif how == 2:
                guess = upper
            elif how == 3:
                guess = (left + upper) // 2
            else:
                corner = above[i - size] if i >= size else 0
                sums = (abs(upper - corner), abs(left - corner), abs(left + upper - 2 * corner))
                guess = (left, upper, corner)[sums.index(min(sums))]
            line[i] = (line[i] + guess) & 255
        return line

    def at(self, x, y):
        """The colour of a pixel: red, green, blue."""
        x, y = int(x), int(y)
        return tuple(self.lines[y][x * self.bytes:x * self.bytes + 3])


def browse(page, steps=(), picture=None, work=".", dark=False, size=SIZE, **wanted):
    """Opens a page as somebody would who likes it dark, or not, and takes the steps of timeline/check.js; returns what the
    page then says of itself."""
    wanted["test"] = json.dumps(list(steps))
    address = "file://" + urllib.parse.quote(os.path.abspath(page)) + "#" + urllib.parse.urlencode(wanted, quote_via=urllib.parse.quote)
    # the page is ours: a sandbox is not to be had everywhere, least of all for root
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--hide-scrollbars", "--force-device-scale-factor=1", "--force-color-profile=srgb",
               f"--blink-settings=preferredColorScheme={0 if dark else 1}",
               "--window-size=%d,%d" % size, f"--user-data-dir={work}/profile", "--dump-dom"]
    if picture:
        command.append(f"--screenshot={picture}")
    for attempt in range(ATTEMPTS):
        try:
            done = subprocess.run(command + [address], capture_output=True, text=True, timeout=LIMIT, env={**os.environ, "HOME": work})
        except subprocess.TimeoutExpired:
            print(f"chromium took too long, attempt {attempt + 1}", file=sys.stderr)
            continue
        start = done.stdout.find('id="state">')
        if start >= 0 and (not picture or os.path.exists(picture)):
            state = json.loads(done.stdout[start + len('id="state">'):done.stdout.index("</script>", start)])
            assert "error" not in state, state["error"]
            state["dom"] = done.stdout
            return state
        print(f"chromium: status {done.returncode}, no state, attempt {attempt + 1}\n{done.stderr[-2000:]}", file=sys.stderr)
    raise SystemExit("chromium does not work")
