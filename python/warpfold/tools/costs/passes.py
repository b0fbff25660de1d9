# SPDX-License-Identifier: Apache-2.0
"""Passes of a warp through the loops of a kernel that a Shape describes.

A kernel is loops around one place that adds; its Shape tells how many there are and what their passes are called. A
pass through the innermost loop is the way of the lane that comes furthest: a lane that leaves earlier goes straight to
the place where the warp meets again, and what is there is counted once although lanes that come at different times
issue its BSYNC each. A branch leaves a pass where one side of it can no longer come to an atomic: the divergent
kernels of 3DGS have three such branches (position, power, alpha), the converged ones two (position; power and alpha
together behind the ballot), and cccl none: every pass reduces, and one without an active lane leaves out no more than
the leader's atomics and what comes with them.
"""

from collections.abc import Collection

from .cost import Stretch
from .flow import IS_ATOMIC, IS_SHARED_ATOMIC, IS_SHUFFLE, Choice, Flow, Test, is_at
from .instructions import Instruction, SassError
from .shapes import CONVERGED, Shape


class Passes:
    """Passes through a kernel that its Shape describes, but the one that adds: `parts` has their stretches by path."""

    def __init__(self, flow: Flow, variant: str, shape: Shape) -> None:
        self.flow = flow
        self.variant = variant
        self.shape = shape
        self.parameters = shape.parameters
        self.converged = variant in CONVERGED
        self.every_pass = variant == "cccl"  # no branch leaves a pass but the leader's
        self.reduces = IS_SHARED_ATOMIC if variant == "shared-slot" else IS_SHUFFLE  # what a reduction is known by
        self._find_loops()
        self._find_pass()
        self.parts: dict[str, list[Stretch]] = {}  # path or segment -> [Stretch]
        self._outer()
        self._skips()

    def _find_loops(self) -> None:
        flow = self.flow
        adding = {h: b for h, b in flow.loops.items() if any(IS_ATOMIC(flow.code[a]) for a in b)}
        chain = sorted(adding, key=lambda h: len(adding[h]))
        if len(chain) != 1 + len(self.shape.levels):
            lacks = ": nothing goes round" if not chain else ""
            raise SassError(f"found {len(chain)} loops around the atomics, not {1 + len(self.shape.levels)}{lacks}")
        for within, around in zip(chain, chain[1:]):
            if not flow.loops[within] < flow.loops[around]:
                raise SassError("the loops around the atomics are not one in the other")
        self.inner = chain[0]
        body = flow.loops[self.inner]
        if any(IS_ATOMIC(flow.code[a]) and a not in body for a in flow.next):
            raise SassError("there are atomics outside of the innermost loop")
        self.outer = list(reversed(chain[1:]))  # from the outside
        others = [h for h in sorted(flow.loops) if h not in adding]
        self.serial = [
            h
            for h in others
            if self.variant in ("sw-s", "shared-slot")
            and flow.loops[h] < body
            and any(self.reduces(flow.code[a]) for a in flow.loops[h])
        ]
        self.turns = [h for h in others if h not in self.serial]
        if len(self.turns) != len(self.shape.turns):
            raise SassError(f"found {len(self.turns)} loops without atomics, not {len(self.shape.turns)}")
        self.turning = {a for h in self.turns for a in flow.loops[h]}
        self._find_meet()

    def _find_meet(self) -> None:
        """The first place behind the atomics that every pass of the innermost loop comes by."""
        flow = self.flow
        body = flow.loops[self.inner]
        ends = {a for a in body if any(s == self.inner or s not in body for s in flow.next[a])}

        def is_end(i: Instruction) -> bool:
            return i.address in ends

        places = []
        for a in body:
            behind = not IS_ATOMIC(flow.code[a]) and not any(
                flow.reaches(s, IS_ATOMIC, {self.inner}) for s in flow.next[a] if s in body
            )
            if behind and (a in ends or not flow.reaches(self.inner, is_end, {a})):
                places.append(a)
        # The one that comes before all the others.
        first = [a for a in places if all(b == a or flow.reaches(a, is_at(b), {self.inner}) for b in places)]
        if not first:
            raise SassError("found no place behind the atomics that every pass comes by")
        self.meet = first[0]

    def _through(
        self,
        address: int,
        successors: list[int],
        wanted: Test,
        blocked: Collection[int],
        stay: Collection[int] | None = None,
    ) -> int:
        """The side of a branch that a warp takes on its way to `wanted`. Of a body that only some lanes
        run, it runs the body."""
        able = [s for s in successors if (stay is None or s in stay) and self.flow.reaches(s, wanted, blocked)]
        if not able:
            raise SassError(f"no way on from the branch at {address:#x}")
        if len(able) == 1:
            return able[0]
        around = {h for h in self.turns + self.serial if address in self.flow.loops[h]}
        away = [s for s in able if s not in around]
        if len(away) == 1:
            return away[0]
        stop = set(blocked) | around
        body = [s for s in able for t in able if s != t and self.flow.reaches(s, is_at(t), stop - {t})]
        if len(body) == 1:
            return body[0]
        # The test at the head of a loop that does not add, on a way past it.
        if around:
            loop = self.flow.loops[min(around, key=lambda h: len(self.flow.loops[h]))]
            out = [s for s in able if s not in loop]
            if len(out) == 1:
                return out[0]
        raise SassError(f"the sides of the branch at {address:#x} do not pass each other by")

    def _side(self, address: int, successors: list[int], wanted: Test, what: str) -> tuple[int, int]:
        """The side of a branch that comes to `wanted` within the pass, and the other."""
        able = [s for s in successors if self.flow.reaches(s, wanted, {self.inner, self.meet})]
        if len(able) != 1:
            raise SassError(f"the branch at {address:#x} does not part the ways to {what}")
        return able[0], [s for s in successors if s != able[0]][0]

    def _find_pass(self) -> None:
        flow = self.flow
        body = flow.loops[self.inner]
        wanted: list[tuple[str | None, bool]] = [
            (name, alone)
            for name, alone in self.shape.leaves
            if (not self.converged and name) or (self.converged and not alone)
        ]
        if self.every_pass:
            wanted = [(None, False)]  # the leader's branch: a pass without an event does not go there
        self.leaves: list[int] = []
        self.exits: dict[int, int] = {}

        def choose(address: int, successors: list[int]) -> int | None:
            stay = [s for s in successors if s in body]
            if len(stay) == 1:
                return stay[0]
            able = [s for s in stay if flow.reaches(s, IS_ATOMIC, {self.inner, self.meet})]
            if len(able) == 1 and len(self.leaves) < len(wanted):
                self.leaves.append(address)
                self.exits[address] = [s for s in stay if s != able[0]][0]
                return None if self.every_pass else able[0]
            if len(able) != len(stay) or self._parts_reduction(stay):
                return None
            return self._through(address, stay, IS_ATOMIC, {self.inner, self.meet})

        flow.walk(self.inner, {self.meet}, choose)
        if len(self.leaves) != len(wanted):
            raise SassError(f"found {len(self.leaves)} of the {len(wanted)} branches that leave a pass")
        self.leave_names = [name for name, _ in wanted]

    def _parts_reduction(self, successors: list[int]) -> bool:
        """Is it the first branch of the reduction, where some way goes without what that is known by?"""

        def reduces(i: Instruction) -> bool:
            return self.reduces(i) and i.address not in self.turning

        able = [s for s in successors if self.flow.reaches(s, reduces, {self.inner, self.meet})]
        return len(able) == 1

    def _until(self, leave: int) -> tuple[list[int], int]:
        way = self.flow.walk(self.inner, {self.meet}, lambda a, s: None if a == leave else self._onward(a, s))
        return way, self._onward(leave, self.flow.next[leave])

    def _onward(self, address: int, successors: list[int]) -> int:
        if address in self.exits:
            return [s for s in successors if s != self.exits[address]][0]
        stay = [s for s in successors if s in self.flow.loops[self.inner]]
        return self._through(address, stay, IS_ATOMIC, {self.inner, self.meet})

    def _before_reduction(self) -> tuple[list[int], int]:
        if self.leaves:
            return self._until(self.leaves[-1])
        return [], self.inner

    def _latch(self) -> list[int]:
        return self._to_header(self.meet, self.inner, self.flow.loops[self.inner])

    def _to_header(self, start: int, header: int, within: set[int]) -> list[int]:
        """From `start` on to the next pass of the loop `header`, by way of nothing that adds."""
        goal = is_at(header)
        return self.flow.walk(
            start,
            {header},
            lambda a, s: (
                self._through(a, [t for t in s if t in within], goal, set())
                if len([t for t in s if t in within]) > 1
                else [t for t in s if t in within][0]
            ),
        )

    def _outer(self) -> None:
        flow = self.flow
        headers = self.outer + [self.inner]

        def add(name: str, way: list[int]) -> None:
            self.parts[name] = [Stretch([], way, {a for a in way if a not in self.turning})]

        def to(goal: int, blocked: set[int]) -> Choice:
            return lambda a, s: self._through(a, s, is_at(goal), blocked)

        # Branches and returns ahead of the outermost loop that lead past it.
        exits: list[tuple[int, int | None]] = []

        def choose(address: int, successors: list[int]) -> int:
            able = [s for s in successors if flow.reaches(s, is_at(headers[0]))]
            if len(able) == 1:
                exits.append((address, [s for s in successors if s != able[0]][0]))
                return able[0]
            return self._through(address, successors, is_at(headers[0]), set())

        prologue = flow.walk(flow.entry, {headers[0]}, choose)
        for a in prologue:
            if flow.code[a].opcode == "EXIT":
                exits.append((a, None))
        exits.sort(key=lambda e: prologue.index(e[0]))
        if len(exits) < len(self.shape.exits):
            raise SassError(f"found {len(exits)} of the {len(self.shape.exits)} early ends")
        for name, (address, start) in zip(self.shape.exits, exits):
            way = prologue[: prologue.index(address) + 1]
            if start is not None:
                way = way + flow.walk(start, set(), lambda a, s: s[0])
            add(name, way)
        add("prologue", prologue)
        for name, header, within in zip(self.shape.levels, headers, headers[1:]):
            body = flow.loops[header]
            head = flow.walk(header, {within}, to(within, {header} - {within}))
            add(name, head + self._to_header(self._end_of(within), header, body))
        last = self._end_of(headers[0])
        epilogue = flow.walk(last, set(), lambda a, s: self._through(a, s, lambda i: i.opcode == "EXIT", set()))
        if flow.code[epilogue[-1]].opcode != "EXIT":
            raise SassError("the kernel does not end with EXIT")
        add("epilogue", epilogue)
        for name, header in zip(self.shape.turns, self.turns):
            body = flow.loops[header]
            following = flow.next[header]
            first = following[0] if len(following) == 1 else [s for s in following if s in body][0]
            inner = {a for h in self.turns if flow.loops[h] < body for a in flow.loops[h]}
            way = [header] + self._to_header(first, header, body)
            self.parts[name] = [Stretch([], way, {a for a in way if a not in inner})]

    def _end_of(self, header: int) -> int:
        """Where the loop goes on when it ends."""
        body = self.flow.loops[header]
        ends = {s for a in body for s in self.flow.next[a] if s not in body}
        if len(ends) != 1:
            raise SassError(f"the loop at {header:#x} does not end in one place")
        return ends.pop()

    def _skips(self) -> None:
        body = self.flow.loops[self.inner]
        for name, _ in self.shape.leaves:
            if name is None:
                continue
            names = [n for n, _ in self.shape.leaves]
            later: list[str | None] = (
                [None] if self.every_pass else [n for n in names[names.index(name) :] if n in self.leave_names]
            )
            if not later:
                raise SassError(f"there is no branch for the path {name}")
            leave = self.leaves[self.leave_names.index(later[0])]
            way = self._until(leave)[0] + self._to_header(self.exits[leave], self.inner, body)
            self.parts[name] = [Stretch([], way, {a for a in way if a not in self.turning})]
