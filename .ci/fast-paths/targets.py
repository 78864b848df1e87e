"""What instructions mean, target by target: where control goes, what orders memory, and what changes it."""

import re

# What is counted. "acquire" and "release" are those of read-modify-writes; plain stores are those beyond the stack.
KINDS = (
    "read-modify-write",
    "acquire",
    "release",
    "acquiring load",
    "releasing store",
    "plain store",
    "full fence",
    "lesser fence",
)

SYMBOL = r"[\w.$]+"


class Target:
    """Instructions are given with single spaces, as in 'ldaxr x8, [x0]'. Patterns match whole instructions."""

    # Where the target of a call, jump or branch is the group. A jump to another function is a tail call.
    call: str
    jump: str
    branch: str
    leave: str
    # To where only the program knows.
    indirect_call: str
    indirect_jump: str
    # Whether a read-modify-write says what it orders. Otherwise it orders everything.
    tells_order = True
    # A read-modify-write may be two instructions, with a retry.
    load_exclusive = store_exclusive = r"(?!)"

    def kinds(self, instruction):
        """Those that the instruction counts as, if any. Exclusives are not asked for."""
        raise NotImplementedError

    def shown(self, instruction):
        """An instruction that counts, without what register allocation decides."""
        return instruction.split(" ")[0]


def kinds_of_rmw(acquires, releases):
    return ["read-modify-write"] + ["acquire"] * bool(acquires) + ["release"] * bool(releases)


class X86_64(Target):
    call = rf"callq? \*?({SYMBOL})(?:@\w+)?(?:\(%rip\))?"
    jump = rf"jmpq? \*?({SYMBOL})(?:@\w+)?(?:\(%rip\))?"
    branch = rf"j\w+ ({SYMBOL})"
    leave = r"retq?"
    indirect_call = r"callq? \*.*"
    indirect_jump = r"jmpq? \*.*"
    tells_order = False
    # What has its last operand in memory and does not just read it.
    store = re.compile(
        r"(?!bt[lqw]? |call|cmp|jmp|push|test|u?comis)"
        r"(?:\w+ .*, |(?:dec|inc|neg|not|set\w+)\w? )[^,]*\((?!%rsp)[^()]*\)$"
    )

    def kinds(self, instruction):
        # A locked change of the stack that changes nothing is a fence too, and a cheaper one on some processors.
        if re.match(r"mfence|lock (or|add)\w? \$0, .*\(%rsp\)$", instruction):
            return ["full fence"]
        if re.match(r"[ls]fence", instruction):
            return ["lesser fence"]
        # An exchange with memory is locked without saying so.
        if re.match(r"lock |xchg\w? .*\(", instruction):
            return ["read-modify-write"]
        return ["plain store"] if self.store.match(instruction) else []

    def shown(self, instruction):
        return instruction if instruction.endswith("(%rsp)") else re.match(r"(lock )?\w+", instruction)[0]


class AArch64(Target):
    call = rf"bl ({SYMBOL})"
    jump = rf"b ({SYMBOL})"
    branch = rf"(?:b\.\w+ |cbn?z \w+, |tbn?z \w+, #\d+, )({SYMBOL})"
    leave = r"ret"
    indirect_call = r"blr .*"
    indirect_jump = r"br .*"
    load_exclusive = r"ld(a?)x[rp][bh]? .*"
    store_exclusive = r"st(l?)x[rp][bh]? .*"
    # With LSE: ldadd, ldaddal, staddl, swpa, casalh, …
    atomic = re.compile(r"(?:(?:ld|st)(?:add|clr|eor|set|[su]max|[su]min)|swp|casp?)(a?)(l?)[bh]? ")
    # By the compiler's library, which asks the processor whether it has LSE.
    helper = re.compile(r"bl? __aarch64_(?:cas|swp|ld[a-z]+)\d+_(acq|acq_rel|rel|relax|sync)$")

    def kinds(self, instruction):
        if atomic := self.atomic.match(instruction):
            return kinds_of_rmw(*atomic.groups())
        if helper := self.helper.match(instruction):
            return kinds_of_rmw(helper[1] in ("acq", "acq_rel", "sync"), helper[1] in ("rel", "acq_rel", "sync"))
        if re.match(r"ld(a|ap|apu|la)r", instruction):
            return ["acquiring load"]
        if re.match(r"st(l|ll|lu)r", instruction):
            return ["releasing store"]
        if fence := re.match(r"d[ms]b (?:\w*(ld|st))?", instruction):
            return ["lesser fence" if fence[1] else "full fence"]
        return ["plain store"] if re.match(r"stu?[rp][bh]? .*\[(?!sp)", instruction) else []

    def shown(self, instruction):
        name, operands = instruction.split(" ", 1)
        # The width is that of the last register before the address.
        width = re.search(r"([wxbhsdq])(?:\d+|zr), \[", operands)
        return f"{name} {width[1]}" if width else instruction


class RiscV64(Target):
    call = rf"call ({SYMBOL})(?:@plt)?"
    jump = rf"(?:j|tail) ({SYMBOL})(?:@plt)?"
    branch = rf"b\w+ (?:\w+, )+({SYMBOL})"
    leave = r"ret"
    indirect_call = r"jalr .*"
    indirect_jump = r"jr .*"
    load_exclusive = r"lr\.[wd](\.aq(?:rl)?)? .*"
    store_exclusive = r"sc\.[wd](\.(?:aq)?rl)? .*"

    def kinds(self, instruction):
        if atomic := re.match(r"amo\w+\.[bhwdq](?:\.(aq)?(rl)?)? ", instruction):
            return kinds_of_rmw(*atomic.groups())
        # There are no loads and stores with an order of their own. These fences follow the ones and precede the others.
        if instruction == "fence r, rw":
            return ["acquiring load"]
        if instruction == "fence rw, w":
            return ["releasing store"]
        if instruction == "fence rw, rw":
            return ["full fence"]
        if re.match(r"fence\b", instruction):
            return ["lesser fence"]
        return ["plain store"] if re.match(r"f?s[bhwd] .*\((?!sp\))", instruction) else []

    def shown(self, instruction):
        return instruction if instruction.startswith("fence") else super().shown(instruction)


TARGETS = {"x86_64": X86_64(), "aarch64": AArch64(), "riscv64gc": RiscV64()}
