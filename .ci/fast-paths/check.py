#!/usr/bin/env -S python3 -B
"""Holds the fast paths in an assembly against their rules, and against the text that is kept of them.

A rule says how much of each kind there may be on any way through a fast path, and what that may call: no --bless gets round
it. The text has the instructions that write or order memory, what is called, and the number of instructions in all. Every
difference is an error, but a number may change by 5 %.
"""

import argparse
import dataclasses
import difflib
import pathlib
import re
import sys

from assembly import UNKNOWN, Program
from targets import KINDS, TARGETS

# Where a fast path ends, beside functions that are marked cold: where a thread is about to wait, where a panic begins, and
# where somebody else's code does, such as a barrier's function.
SLOW = re.compile(
    r"waitline::wait::(block_on|spin::)|<.* as waitline::wait::Waiter>::"
    r"|core::(option|panicking|result|slice)::|alloc::(alloc|raw_vec)::"
    rf"|{UNKNOWN}"
)

TOLERANCE = 0.05


@dataclasses.dataclass
class Rule:
    """At least and at most so many on each way through, and none of what is not named."""
    ranges: dict
    # Functions of others.
    calls: str = r"(?!)"
    # Whether a panic may begin right there, instead of in a cold function.
    panics: bool = False


RMW, ACQUIRE, RELEASE, LOAD, _, STORE, FULL_FENCE, LESSER_FENCE = KINDS
ONE, MAYBE, UP_TO_3, UP_TO_4 = (1, 1), (0, 1), (0, 3), (0, 4)
CLOCK = r"clock_gettime|std::time::(Instant|SystemTime)::(now|checked_add)"

# By the modules of probes.rs.
RULES = {
    "taking": Rule({RMW: ONE, ACQUIRE: ONE}),
    "trying": Rule({RMW: MAYBE, ACQUIRE: MAYBE}),
    # Stores make a deadline, or remember whether it was long past. The coarse clock has an anchor, which is loaded.
    "trying_by_the_clock": Rule({RMW: MAYBE, ACQUIRE: MAYBE, LOAD: MAYBE, STORE: UP_TO_4}, calls=CLOCK),
    "giving": Rule({RMW: ONE, RELEASE: ONE}),
    "giving_back": Rule({RMW: MAYBE, RELEASE: MAYBE}),
    "counting_down": Rule({RMW: ONE, RELEASE: ONE, ACQUIRE: MAYBE}),
    # Only the last arrival acquires, and if it has a function to run it does not release yet. Stores make a token.
    "arriving": Rule({RMW: MAYBE, RELEASE: MAYBE, ACQUIRE: MAYBE, STORE: UP_TO_3}, panics=True),
    "leaving": Rule({RMW: MAYBE, RELEASE: MAYBE, ACQUIRE: MAYBE, STORE: MAYBE}, calls=r"std::panicking::.*", panics=True),
    "meeting": Rule({RMW: MAYBE, RELEASE: MAYBE, ACQUIRE: MAYBE, LOAD: MAYBE, STORE: UP_TO_3}, panics=True),
    "withdrawing": Rule({RMW: MAYBE, LOAD: MAYBE}),
    "counting_up": Rule({RMW: MAYBE}, panics=True),
    "making": Rule({STORE: ONE}, calls=r"__rust_\w*alloc\w*"),
    "sending": Rule({RMW: ONE, RELEASE: ONE, ACQUIRE: ONE, STORE: MAYBE}, calls=r"__rust_dealloc"),
    "receiving": Rule({LOAD: ONE, STORE: MAYBE, RMW: MAYBE}),
    "dropping": Rule({LOAD: ONE, RMW: MAYBE, RELEASE: MAYBE, ACQUIRE: MAYBE}, calls=r"__rust_dealloc"),
    "looking": Rule({LOAD: ONE}),
    "looking_twice": Rule({LOAD: (1, 2)}),
    "looking_by_the_clock": Rule({LOAD: (1, 3), STORE: UP_TO_4}, calls=CLOCK),
    "reading": Rule({}),
    "notifying": Rule({FULL_FENCE: ONE}),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bless", action="store_true", help="rewrite the text")
    parser.add_argument("--compiler", required=True, help="what compiled it, to be noted in the text")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("assembly", type=pathlib.Path, nargs="+")
    options = parser.parse_args()

    target = TARGETS[options.target]
    paths = fast_paths(Program(target, [file.read_text() for file in options.assembly], SLOW.match))
    broken = {name: list(breaches(target, rule_of(name), path)) for name, path in paths.items()}
    if any(broken.values()):
        for name in filter(broken.get, paths):
            print(f"{options.text.stem}: {name}", *(f"breaks its rule: {breach}" for breach in broken[name]), sep="\n  ")
            print(*(f"    {line}" for line in paths[name].lines), "", sep="\n")
        sys.exit(1)

    header = f"# As compiled by {options.compiler}. Written by .ci/codegen --bless.\n"
    if options.bless:
        options.text.write_text(header + "".join(describe(name, path, 0) for name, path in paths.items()))
        print(f"{options.text}: {len(paths)} fast paths")
        return
    kept_header, *kept = options.text.read_text().splitlines(keepends=True)
    if kept_header != header:
        print(f"{options.text.stem}: {len(paths)} fast paths keep to their rules; not compared with the text, which is of")
        print(f"  another compiler than {options.compiler}: {kept_header[2:]}", end="")
        return
    counts = dict(re.findall(r"^(\S+): (\d+) instructions$", "".join(kept), re.M))
    now = "".join(describe(name, path, int(counts.get(name, 0))) for name, path in paths.items())
    now = now.splitlines(keepends=True)
    if now != kept:
        print(*difflib.unified_diff(kept, now, str(options.text), "the fast paths now"), sep="")
        sys.exit(1)
    print(f"{options.text.stem}: {len(paths)} fast paths are as expected")


def rule_of(name):
    return RULES[name.split("::")[0]]


def fast_paths(program):
    """By module and name of the probe, in alphabetical order."""
    paths = {}
    for symbol in [*program.functions, *program.aliases]:
        if probe := re.fullmatch(rf"probes::((?:{'|'.join(RULES)})::\w+)", program.names[symbol]):
            paths[probe[1]] = program.fast_part(symbol)
            if not paths[probe[1]]:
                sys.exit(f"{probe[1]} has no fast path: it calls a slow function on every way through")
    for rule in RULES:
        if not any(rule_of(name) is RULES[rule] for name in paths):
            sys.exit(f"there is no probe '{rule}::…'")
    return dict(sorted(paths.items()))


def breaches(target, rule, path):
    for kind in KINDS:
        (fewest, most), (at_least, at_most) = path.ranges[kind], rule.ranges.get(kind, (0, 0))
        if (fewest < at_least or most > at_most) and (kind in (RMW, STORE, FULL_FENCE, LESSER_FENCE) or target.tells_order):
            yield f"{kind}: {fewest} to {most} on a way through, not {at_least} to {at_most}"
    for call in path.foreign:
        if not re.fullmatch(rule.calls, call):
            yield f"{call} is called"
    for end in path.exits:
        if end.startswith("core::") and not rule.panics:
            yield f"{end} is called right here, not in a cold function"


def describe(name, path, kept_count):
    count = path.instructions
    if abs(count - kept_count) <= kept_count * TOLERANCE:
        count = kept_count
    lines = [*path.lines, *(f"or {end}" for end in path.exits)]
    return f"\n{name}: {count} instructions\n" + "".join(f"    {line}\n" for line in lines)


if __name__ == "__main__":
    main()
