# SPDX-License-Identifier: Apache-2.0
"""The pass that is taken, and the segments of the variant's own reduction behind it.

Where code of both is mixed in one block, an instruction belongs to the reduction if nothing that is added or kept for
the next pass depends on it: for the most part addresses, popc, match and the branches. So a pass and the segments that
follow it always add up to what is issued.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .cost import FIELDS, Cost, Stretch, cost_of, slots
from .flow import IS_ATOMIC, IS_SHARED_ATOMIC, IS_SHUFFLE, Flow, Test
from .instructions import COUNTS, INSTRUCTION_BYTES, Instruction, SassError
from .passes import Passes
from .shapes import SEGMENTS, Shape


class Ways(Passes):
    """Ways of a warp through a kernel that its Shape describes, by path and segment. Each way of the reduction ends
    where the warp meets."""

    def __init__(self, flow: Flow, variant: str, shape: Shape) -> None:
        super().__init__(flow, variant, shape)
        self._taken()

    def cost(self, name: str) -> tuple[Cost, int]:
        """The cost of a path or segment, and how many results of an unknown class it waits for."""
        return cost_of(self.flow.code, self.parts[name])

    def addresses(self, name: str) -> list[int]:
        return [a for stretch in self.parts[name] for a in stretch.way if stretch.counts(a)]

    def _to_branch(self, start: int, wanted: Test, what: str) -> tuple[list[int], int, int]:
        """From `start` to the branch that parts the ways to `wanted`, past branches around bodies that only some
        lanes run: the way, and both sides."""
        sides: list[int] = []

        def choose(address: int, successors: list[int]) -> int | None:
            able = [s for s in successors if self.flow.reaches(s, wanted, {self.inner, self.meet})]
            if len(able) == len(successors):
                return self._through(address, successors, wanted, {self.inner, self.meet})
            sides.extend(self._side(address, successors, wanted, what))
            return None

        way = self.flow.walk(start, {self.meet}, choose)
        if not sides:
            raise SassError(f"found no branch that parts the ways to {what}")
        return way, sides[0], sides[1]

    def _to_meet(self, start: int) -> list[int]:
        blocked = {self.inner, self.meet}
        way = self.flow.walk(
            start,
            {self.meet},
            lambda a, s: (
                self._through(a, s, IS_ATOMIC, blocked)
                if any(self.flow.reaches(t, IS_ATOMIC, blocked) for t in s)
                else s[0]
            ),
        )
        self._check_atomics(start, way)
        return way

    def _check_atomics(self, start: int, way: list[int]) -> None:
        atomics = sum(IS_ATOMIC(self.flow.code[a]) for a in way)
        expected = self.shape.atomics(self.variant)
        if atomics != expected:
            unrolled = ": the loop has been unrolled" if atomics > expected else ""
            raise SassError(f"the way from {start:#x} has {atomics} atomics, not {expected}{unrolled}")

    def _taken(self) -> None:
        getattr(self, "_taken_" + self.variant.replace("-", "_"))()

    def _taken_baseline(self) -> None:
        before, start = self._before_reduction()
        rest = self._to_meet(start)
        own = self._not_values(rest, [rest])
        self._mixed(before, rest, {a: "plain" for a in own})
        self.parts.setdefault("plain", [])  # nothing but the atomics, where the loop moves the address on

    def _taken_sw_s(self) -> None:
        flow = self.flow
        before, start = self._before_reduction()
        trunk, to_loop, to_plain = self._to_branch(start, IS_SHUFFLE, "the serial loop")
        if not any(flow.code[a].opcode == "MATCH" for a in trunk):
            raise SassError("found no MATCH in front of the serial loop")
        serial = [
            h
            for h in flow.loops
            if flow.loops[h] < flow.loops[self.inner] and any(IS_SHUFFLE(flow.code[a]) for a in flow.loops[h])
        ]
        if len(serial) != 1:
            raise SassError(f"found {len(serial)} serial loops")
        header = serial[0]
        loop = flow.loops[header]
        setup = flow.walk(to_loop, {header}, lambda a, s: self._side(a, s, IS_SHUFFLE, "the serial loop")[0])
        ends: set[Any] = set()

        def around(address: int, successors: list[int]) -> int:
            stay = [s for s in successors if s in loop]
            ends.update(s for s in successors if s not in loop)
            if len(stay) != 1:
                raise SassError(f"unknown branch at {address:#x} in the serial loop")
            return stay[0]

        first = flow.next[header][0]
        turn = [header] + flow.walk(first, {header}, around)
        if sum(IS_SHUFFLE(flow.code[a]) for a in turn) != self.parameters:
            raise SassError(f"a turn of the serial loop does not have {self.parameters} SHFL: it has been unrolled")
        if len(ends) != 1:
            raise SassError("the serial loop does not end in one place")
        leader = self._to_meet(ends.pop())
        plain = self._to_meet(to_plain)
        own = self._not_values(trunk, [trunk + setup + turn + leader, trunk + plain])
        self._mixed(before, trunk, {a: "check" for a in own}, plain)
        trunk_way = before + trunk
        self._add("plain", Stretch(trunk_way, plain))
        self._add("setup", Stretch(trunk_way, setup))
        self._add("per_lane", Stretch(trunk_way + setup + turn, turn))
        self._add("leader", Stretch(trunk_way + setup + turn, leader))

    def _taken_shared_slot(self) -> None:
        flow = self.flow
        before, start = self._before_reduction()
        trunk, to_slot, to_plain = self._to_branch(start, IS_SHARED_ATOMIC, "the slot")
        if not any(flow.code[a].opcode == "MATCH" for a in trunk):
            raise SassError("found no MATCH in front of the slot")
        if len(self.serial) != self.parameters:
            raise SassError(f"found {len(self.serial)} loops that add in the slot, not {self.parameters}")
        turning = set().union(*(flow.loops[h] for h in self.serial))
        blocked = {self.inner, self.meet}

        def onward(address: int, successors: list[int]) -> int:
            if address in turning:
                return [s for s in successors if s not in turning or s in self.serial][0]
            adds = any(flow.reaches(s, IS_SHARED_ATOMIC, blocked) for s in successors)
            return self._through(address, successors, IS_SHARED_ATOMIC if adds else IS_ATOMIC, blocked)

        way = flow.walk(to_slot, {self.meet}, onward)
        self._check_atomics(to_slot, way)
        last = max(way.index(a) for a in turning)
        plain = self._to_meet(to_plain)
        own = self._not_values(trunk, [trunk + plain])  # lone lanes add the same; the slot's address adds nothing
        self._mixed(before, trunk, {a: "check" for a in own}, plain)
        trunk_way = before + trunk
        self._add("plain", Stretch(trunk_way, plain))
        labels = {a: "turn" if a in turning else "setup" for a in way[: last + 1]}
        self._labelled(trunk_way, way, labels, "leader")

    def _butterfly(self, before: list[int], start: int) -> tuple[list[int], list[int]]:
        """From `start` through the butterfly to the leader's branch, and the leader's way."""

        def parts_leader(address: int, successors: list[int]) -> int | None:
            able = [s for s in successors if self.flow.reaches(s, IS_ATOMIC, {self.inner, self.meet})]
            return None if len(able) == 1 else self._through(address, successors, IS_ATOMIC, {self.inner, self.meet})

        way = self.flow.walk(start, {self.meet}, parts_leader)
        branch = way[-1]
        to_leader, _ = self._side(branch, self.flow.next[branch], IS_ATOMIC, "the atomics")
        leader = self._to_meet(to_leader)
        return way, leader

    def _check_shuffles(self, way: list[int]) -> None:
        shuffles = sum(IS_SHUFFLE(self.flow.code[a]) for a in way)
        if shuffles != 5 * self.parameters:
            raise SassError(f"the butterfly has {shuffles} SHFL, not {5 * self.parameters}")

    def _taken_sw_b(self) -> None:
        before, start = self._before_reduction()
        is_butterfly = lambda i: i.name.startswith("SHFL.BFLY")
        trunk, to_test, to_plain = self._to_branch(start, is_butterfly, "the butterfly")
        test, to_sums, fails = self._to_branch(to_test, is_butterfly, "the butterfly, once its lanes agree")
        if not any(self.flow.code[a].opcode == "VOTE" for a in test):
            raise SassError("found no VOTE in front of the butterfly")
        if not any(self.flow.code[a].opcode in COUNTS for a in self._where_counted(trunk)):
            raise SassError("found no POPC in front of the threshold's branch")
        if fails != to_plain:
            raise SassError("lanes that disagree and too few lanes do not go the same way")
        sums, leader = self._butterfly(before + trunk + test, to_sums)
        self._check_shuffles(sums)
        plain = self._to_meet(to_plain)
        own = self._not_values(trunk, [trunk + test + sums + leader, trunk + plain])
        self._mixed(before, trunk, {a: "check" for a in own}, plain)
        trunk_way = before + trunk
        self._add("agree", Stretch(trunk_way, test))
        self._add("plain", Stretch(trunk_way, plain))
        whole = trunk_way + test
        lone = self._not_values(sums, [sums + leader])
        self._labelled(whole, sums, {a: "leader" for a in lone if not self._keeps_together(a)}, "butterfly")
        self._add("leader", Stretch(whole + sums, leader))

    def _where_counted(self, trunk: list[int]) -> dict[int, list[int]]:
        return self.flow.next  # once for all passes where the active lanes stay the same

    def _keeps_together(self, address: int) -> bool:
        return self.flow.code[address].name.startswith(("BRA.DIV", "BRA.CONV", "WARPSYNC"))

    def _taken_cccl(self) -> None:
        self._always_reduced([], self.inner)

    def _taken_skip(self) -> None:
        self._always_reduced(*self._before_reduction())
        self.parts["check"] = []  # the ballot and its branch are part of the passes

    _taken_vector = _taken_baseline
    _taken_skip_vector = _taken_skip

    def _always_reduced(self, before: list[int], start: int) -> None:
        rest, leader = self._butterfly(before, start)
        self._check_shuffles(rest)
        own = self._not_values(rest, [rest + leader])
        labels = {a: "butterfly" if self._keeps_together(a) else "leader" for a in own}
        tainted: set[str] = set()
        for a in rest:
            i = self.flow.code[a]
            if IS_SHUFFLE(i) or (tainted & set(i.reads()) and a not in own):
                labels[a] = "butterfly"
                tainted |= set(i.writes())
            else:
                tainted -= set(i.writes())
        self._mixed(before, rest, labels, leader)
        self._add("leader", Stretch(before + rest, leader))

    def _add(self, name: str, stretch: Stretch) -> None:
        self.parts.setdefault(name, []).append(stretch)

    def _labelled(self, before: list[int], way: list[int], labels: dict[int, str], rest: str) -> None:
        """Splits `way`, whose instructions belong to `labels` or else to `rest`."""
        for name in sorted(set(labels.values()) | {rest}):
            self._add(name, Stretch(before, way, {a for a in way if labels.get(a, rest) == name}))

    def _mixed(self, before: list[int], way: list[int], labels: dict[int, str], through: Sequence[int] = ()) -> None:
        """The pass that is taken: `before`, then what of `way` has no label, then the end of the pass. Between
        the two it comes `through` a way of the reduction, which counts elsewhere."""
        whole = before + way + list(through) + self._latch()
        labels = {a: name for a, name in labels.items() if a not in through}
        for name in sorted(set(labels.values())):
            self._add(name, Stretch(before, way, {a for a in way if labels.get(a) == name}))
        elsewhere = {*labels, *through, *self.turning}
        self._add("taken", Stretch([], whole, {a for a in whole if a not in elsewhere}))

    def _not_values(self, way: list[int], continuations: list[list[int]]) -> set[int]:
        """Instructions of `way` that nothing depends on that is added or kept for the next pass."""
        code = self.flow.code
        kept = self._live_at_meet()
        needed = set()
        for continuation in continuations:
            want = set(kept)
            for a in reversed(continuation):
                i = code[a]
                if IS_ATOMIC(i):
                    want |= set(i.added_value())
                    continue
                written = set(i.writes())
                if written & want:
                    needed.add(a)
                    if i.guard is None:
                        want -= written
                    want |= set(i.value_reads())
        return {a for a in way if a not in needed and not IS_ATOMIC(code[a])}

    def _live_at_meet(self) -> set[str]:
        """Registers whose value where the warp meets is still needed, by data flow over the kernel."""
        code = self.flow.code
        live: dict[int, set[str]] = {a: set() for a in self.flow.next}
        changed = True
        while changed:
            changed = False
            for a in sorted(live, reverse=True):
                out = set()
                for s in self.flow.next[a]:
                    out |= live[s]
                i = code[a]
                if i.guard is None:
                    out -= set(i.writes())
                out |= set(i.reads())
                if out != live[a]:
                    live[a] = out
                    changed = True
        return live[self.meet]


def ranges(addresses: list[int]) -> str:
    """Addresses in the order of issue, runs as first-last."""
    text = []
    first = last = None
    for a in addresses:
        if last is not None and a == last + INSTRUCTION_BYTES:
            last = a
            continue
        if first is not None:
            text.append(f"{first:x}" if first == last else f"{first:x}-{last:x}")
        first = last = a
    if first is not None:
        text.append(f"{first:x}" if first == last else f"{first:x}-{last:x}")
    return " ".join(text)


def variant_costs(
    instructions: list[Instruction],
    variant: str,
    registers: int,
    shape: Shape,
    explain: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """trace::VariantCost of a kernel as JSON has it. `explain(line)` gets the addresses of each part."""
    flow = Flow(instructions)
    ways = Ways(flow, variant, shape)
    paths: list[Cost] = []
    reduce: dict[str, Cost] = {}
    for name in shape.paths + SEGMENTS[variant]:
        cost, unclassed = ways.cost(name)
        if name in shape.paths:
            paths.append(cost)
        else:
            reduce[name] = cost
        if explain:
            explain(
                f"  {name:14} {slots(cost):4} slots {cost['stall_cycles']:5} stall "
                + " ".join(f"{f}={cost[f]}" for f in FIELDS if f not in ("stall_cycles", "waits") and cost[f])
                + "".join(f" {kind}:{wanted - asked}" for kind, asked, wanted in cost["waits"])
                + (f" (waits of no known class: {unclassed})" if unclassed else "")
            )
            explain(f"  {'':14} {ranges(ways.addresses(name))}")
    return {"paths": paths, "reduce": reduce, "registers": registers}
