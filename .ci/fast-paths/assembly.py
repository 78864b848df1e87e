"""Functions in the assembly that rustc emits for ELF, the ways through them, and what counts there (targets.py).

The *fast part* of a function is what lies on ways from its start to its end on which no slow function is called. Slow are
functions that are marked cold, which the compiler puts into sections of their own, those without a fast part, and those that
are named as such. Other functions are followed where their code is at hand.
"""

import dataclasses
import re
import subprocess

from targets import KINDS

UNKNOWN = "a function that only the program knows"


@dataclasses.dataclass
class Block:
    """Instructions that are executed one after the other."""
    instructions: list = dataclasses.field(default_factory=list)
    # What is called, by the position of the instruction. A tail call is a call.
    calls: dict = dataclasses.field(default_factory=dict)
    # Labels, by jump or branch.
    targets: list = dataclasses.field(default_factory=list)
    falls_through: bool = True
    leaves: bool = False


@dataclasses.dataclass
class Function:
    is_cold: bool
    blocks: list = dataclasses.field(default_factory=lambda: [Block()])
    # The blocks that they stand before.
    labels: dict = dataclasses.field(default_factory=dict)
    # The labels in its jump tables.
    table: list = dataclasses.field(default_factory=list)

    def successors(self, number):
        block = self.blocks[number]
        following = [number + 1] if block.falls_through and number + 1 < len(self.blocks) else []
        return following + [self.labels[label] for label in block.targets]


@dataclasses.dataclass
class FastPart:
    # For each kind, the fewest and the most on any way through. A loop counts once.
    ranges: dict
    # What counts and what is called, in the order of the code.
    lines: list
    # The slow functions by which it can be left.
    exits: list
    # What is called and not at hand.
    foreign: list
    instructions: int


class Program:
    def __init__(self, target, texts, names_slow):
        """names_slow says of a demangled name whether that function is slow."""
        self.target = target
        self.functions = {}
        self.aliases = {}
        for text in texts:
            self.read(text)
        self.names = demangle({*self.functions, *self.aliases,
                               *(call for function in self.functions.values()
                                 for block in function.blocks for call in block.calls.values())})
        self.names_slow = names_slow
        self.fast_parts = {}

    def read(self, text):
        symbols = set(re.findall(r"^\s*\.type\s+([^,]+),\s*@function", text, re.M))
        # Of functions that have turned out to be the same.
        self.aliases.update(re.findall(r"^(?:\s*\.set\s+)?([\w.$]+)(?:, | = )([\w.$]+)$", text, re.M))
        entry = r"\s+\.(?:byte|hword|half|short|word|long|quad)\s.*\n"
        tables = dict(re.findall(rf"^(\.LJTI\w+):\n((?:{entry})+)", text, re.M))
        function, is_cold = None, False
        for line in text.splitlines():
            if line.startswith(("\t.section\t", "\t.text")):
                is_cold = ".text.unlikely." in line
            elif line.startswith(".Lfunc_end"):
                function = None
            elif label := re.match(r"([\w.$]+):", line):
                if label[1] in symbols:
                    function = self.functions[label[1]] = Function(is_cold)
                elif function:
                    if function.blocks[-1].instructions:
                        function.blocks.append(Block())
                    function.labels[label[1]] = len(function.blocks) - 1
            elif function and re.match(r"\t[^.\s]", line):
                for table in re.findall(r"\.LJTI\w+", line):
                    function.table += re.findall(r"\.LBB\w+", tables[table])
                self.append(function, " ".join(line.split()))

    def append(self, function, instruction):
        block, target = function.blocks[-1], self.target
        position = len(block.instructions)
        block.instructions.append(instruction)

        def is_a(pattern):
            return re.fullmatch(pattern, instruction)

        if call := is_a(target.call):
            block.calls[position] = call[1]
        elif is_a(target.indirect_call):
            block.calls[position] = UNKNOWN
        elif jump := is_a(target.jump):
            block.falls_through = False
            if jump[1].startswith(".L"):
                block.targets.append(jump[1])
            else:
                block.calls[position] = jump[1]
                block.leaves = True
        elif branch := is_a(target.branch):
            block.targets.append(branch[1])
        elif is_a(target.leave):
            block.falls_through, block.leaves = False, True
        elif is_a(target.indirect_jump) and function.table:
            block.falls_through, block.targets = False, function.table
        elif is_a(target.indirect_jump):
            block.falls_through, block.leaves = False, True
            block.calls[position] = UNKNOWN
        if not block.falls_through or block.targets:
            function.blocks.append(Block())

    def resolve(self, symbol):
        while symbol in self.aliases:
            symbol = self.aliases[symbol]
        return symbol

    def is_slow(self, symbol):
        function = self.functions.get(self.resolve(symbol))
        if self.names_slow(self.names[symbol]) or function and function.is_cold:
            return True
        return function is not None and self.fast_part(symbol) is None

    def fast_part(self, symbol):
        """None if every way through is slow."""
        symbol = self.resolve(symbol)
        if symbol not in self.fast_parts:
            self.fast_parts[symbol] = None  # for a function that calls itself
            self.fast_parts[symbol] = self.find_fast_part(self.functions[symbol])
        return self.fast_parts[symbol]

    def find_fast_part(self, function):
        blocks = function.blocks
        slow = {number for number, block in enumerate(blocks) if any(map(self.is_slow, block.calls.values()))}
        reached = reachable([0], function.successors, slow)
        predecessors = {number: [] for number in reached}
        for number in reached:
            for successor in function.successors(number):
                predecessors.get(successor, []).append(number)
        ends = [number for number in reached if blocks[number].leaves]
        fast = reachable(ends, predecessors.__getitem__, set())
        if 0 not in fast:
            return None

        counts = {number: self.count(function, number) for number in fast}
        lines, exits, foreign, instructions = [], [], [], 0
        for number in sorted(fast):
            instructions += len(blocks[number].instructions)
            lines += self.describe(blocks[number])
            for position, call in blocks[number].calls.items():
                if self.resolve(call) in self.functions:
                    part = self.fast_part(call)
                    instructions += part.instructions
                    exits += part.exits
                    foreign += part.foreign
                elif not self.target.kinds(blocks[number].instructions[position]):
                    foreign.append(self.names[call])
        for number in sorted({successor for number in reached for successor in function.successors(number)} & slow):
            exits += [self.names[call] for call in blocks[number].calls.values() if self.is_slow(call)]
        ranges = {kind: self.range_of(function, fast, counts, kind) for kind in KINDS}
        return FastPart(ranges, lines, sorted(set(exits)), sorted(set(foreign)), instructions)

    def count(self, function, number):
        """The range of each kind in one block, with what it calls."""
        block = function.blocks[number]
        total = {kind: [0, 0] for kind in KINDS}
        for position, instruction in enumerate(block.instructions):
            for kind in self.kinds(function, number, position, instruction):
                total[kind][0] += 1
                total[kind][1] += 1
        for call in block.calls.values():
            if self.resolve(call) in self.functions:
                for kind, (fewest, most) in self.fast_part(call).ranges.items():
                    total[kind][0] += fewest
                    total[kind][1] += most
        return total

    def kinds(self, function, number, position, instruction):
        load = re.fullmatch(self.target.load_exclusive, instruction)
        if not load:
            return self.target.kinds(instruction)
        stores = self.stores_of(function, number, position)
        releases = stores and all(re.fullmatch(self.target.store_exclusive, store)[1] for store in stores)
        return ["read-modify-write"] + ["acquire"] * bool(load[1]) + ["release"] * bool(releases)

    def stores_of(self, function, number, position):
        """The store exclusives that come next after a load exclusive, one for each way on."""
        stores, waiting, seen = [], [(number, position + 1)], set()
        while waiting:
            number, start = waiting.pop()
            for instruction in function.blocks[number].instructions[start:]:
                if re.fullmatch(self.target.store_exclusive, instruction):
                    stores.append(instruction)
                    break
                if re.fullmatch(self.target.load_exclusive, instruction):
                    break
            else:
                following = set(function.successors(number)) - seen
                seen |= following
                waiting += [(successor, 0) for successor in following]
        return stores

    def range_of(self, function, fast, counts, kind):
        """The fewest and the most from the start to an end, on ways that go round no loop twice."""
        ranges = {}

        def visit(number):
            ranges[number] = None  # while this goes on: a way that comes back here has gone round a loop
            onwards = [(0, 0)] if function.blocks[number].leaves else []
            for successor in function.successors(number):
                if successor in fast:
                    if successor not in ranges:
                        visit(successor)
                    if ranges[successor] is not None:
                        onwards.append(ranges[successor])
            if onwards:
                fewest, most = counts[number][kind]
                ranges[number] = (fewest + min(low for low, _ in onwards), most + max(high for _, high in onwards))

        visit(0)
        return ranges[0]

    def describe(self, block):
        """Its lines in the text."""
        exclusive = f"{self.target.load_exclusive}|{self.target.store_exclusive}"
        for position, instruction in enumerate(block.instructions):
            kinds = self.target.kinds(instruction)
            if kinds or re.fullmatch(exclusive, instruction):
                yield "plain " * ("plain store" in kinds) + self.target.shown(instruction)
            elif call := block.calls.get(position):
                yield f"call {self.names[call]}"
                if self.resolve(call) in self.functions:
                    yield from (f"    {line}" for line in self.fast_part(call).lines)


def reachable(starts, successors, barred):
    seen, waiting = set(), list(starts)
    while waiting:
        number = waiting.pop()
        if number not in seen and number not in barred:
            seen.add(number)
            waiting += successors(number)
    return seen


def demangle(symbols):
    """Without what differs from build to build, or from one way of the compiler to mangle names to the other."""
    symbols = sorted(symbols)
    done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True)
    names = (re.sub(r"::h[0-9a-f]{16}$|\[[0-9a-f]+\]", "", name) for name in done.stdout.splitlines())
    return dict(zip(symbols, (re.sub(r"^__rustc::|^<([\w:]+)>(?=::)", r"\1", name) for name in names), strict=True))
