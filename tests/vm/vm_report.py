# SPDX-License-Identifier: GPL-2.0
"""Finds what a kernel reports about itself in its log: BUG, WARNING, Oops, lockdep, KASAN and the like.

A report is a list of lines.  It begins two lines before the line that gives it away and ends with its
"end trace" or "</TASK>" marker; one without a marker is short.
"""

import re

# Lines are matched from behind the timestamp, so that a message which merely contains one of the
# words (for example "Spectre V2 : WARNING: ...") or a user program's fault is no report.
STAMP = r'^\[[ ]*\d+\.\d+\](?:\[[ ]*[TC]\d+\])?[ ]'
HEAD = re.compile(STAMP + r'''(?:
    -+\[\ cut\ here\ \]
  | WARNING:\ | (?:watchdog:\ )?BUG:\ | BUG\ .*\ Objects\ remaining | kmem_cache_destroy
  | Oops\b | Kernel\ panic | Unable\ to\ handle | kernel\ BUG\ at
  | general\ protection\ fault | invalid\ opcode: | double\ fault: | stack\ segment:
  | KASAN: | UBSAN: | KCSAN: | DMA-API:.*(?:error|warning)
  | kmemleak:\ [1-9]
  | refcount_t: | list_(?:add|del)\ corruption
  | sysfs:\ cannot\ create\ duplicate
  | kobject:?\ .*(?:tried\ to\ init|not\ initialized)
  | kobject_add_internal\ failed
  | INFO:\ (?:task\ .*\ blocked\ for\ more|trying\ to\ register\ non-static\ key)
  | (?:rcu:\ )?INFO:\ rcu.*(?:stall|expedited\ stalls)
)''', re.VERBOSE)
END_TRACE = re.compile(r'---\[ end (?:trace|Kernel panic)')
END_TASK = re.compile(r'</TASK>')
LONGEST = 120
SHORT = 8
BEFORE = 2


def compile_allowed(patterns):
    try:
        return [re.compile(p) for p in patterns]
    except re.error as e:
        raise ValueError(f'--allow-warn {e.pattern!r}: {e}') from e


def find(log, allowed):
    """The reports in the log (a list of lines) that no pattern of allowed matches a line of."""
    reports = []
    i = 0
    while i < len(log):
        if not HEAD.match(log[i]):
            i += 1
            continue
        rest = log[i:i + LONGEST]
        end = first(END_TRACE, rest)
        if end is None:
            end = first(END_TASK, rest)
        if end is None:
            end = min(SHORT, len(rest) - 1)
        report = rest[:end + 1]
        if not any(p.search(line) for p in allowed for line in report):
            reports.append(log[max(0, i - BEFORE):i] + report)
        i += end + 1
    return reports


def first(pattern, lines):
    return next((n for n, line in enumerate(lines) if pattern.search(line)), None)
