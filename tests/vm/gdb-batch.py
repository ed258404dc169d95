# SPDX-License-Identifier: GPL-2.0
# Read by gdb at the end of what tests/vm/run --gdb=batch makes: lets the VM run to its end and says where it stops.
import gdb


def known_frames():
    """How many frames have debug info, and one more; gdb can but guess what is below those."""
    frame, number = gdb.newest_frame(), 1
    while frame is not None and frame.function() is not None:
        frame, number = frame.older(), number + 1
    return number


try:
    while True:
        gdb.execute("continue")
        gdb.execute(f"backtrace {known_frames()}")
        gdb.execute("info args")
except gdb.error as error:
    # the VM has ended
    if "Remote" not in str(error) and "not being run" not in str(error):
        raise
