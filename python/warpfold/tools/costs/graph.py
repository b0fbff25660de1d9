# SPDX-License-Identifier: Apache-2.0
"""Depth-first search of a graph: an order, the edges that close a loop, and what lies in a loop."""


from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

State = TypeVar("State", bound=Hashable)


class Exploration(Generic[State]):
    """What can be reached from `starts` by way of `onward(state)`, which gives states.

    following  state -> [state]
    order      states, each behind all that it leads to but by edges that close a loop
    back       the edges that close a loop, (from, to)
    looped     states that lead back to themselves"""

    def __init__(self, starts: Iterable[State], onward: Callable[[State], list[State]]) -> None:
        self.following: dict[State, list[State]] = {}
        self.order: list[State] = []
        self.back: set[tuple[State, State]] = set()
        self.looped: set[State] = set()
        self._onward = onward
        self._index: dict[State, int] = {}
        self._low: dict[State, int] = {}  # Tarjan's numbers
        self._component: list[State] = []
        self._open: set[State] = set()  # states of components that are not complete
        self._on_path: set[State] = set()
        for start in starts:
            if start not in self._index:
                self._from(start)

    def _enter(self, state: State, stack: list[tuple[State, Iterator[State]]]) -> None:
        self._index[state] = self._low[state] = len(self._index)
        self._component.append(state)
        self._open.add(state)
        self._on_path.add(state)
        self.following[state] = self._onward(state)
        stack.append((state, iter(self.following[state])))

    def _from(self, start: State) -> None:
        index, low = self._index, self._low
        stack: list[tuple[State, Iterator[State]]] = []
        self._enter(start, stack)
        while stack:
            state, rest = stack[-1]
            to = next(rest, None)
            if to is None:
                stack.pop()
                self._on_path.discard(state)
                self.order.append(state)
                if stack:
                    before = stack[-1][0]
                    low[before] = min(low[before], low[state])
                if low[state] == index[state]:
                    self._complete(state)
            elif to not in index:
                self._enter(to, stack)
            else:
                if to in self._on_path:
                    self.back.add((state, to))
                if to in self._open:
                    low[state] = min(low[state], index[to])

    def _complete(self, root: State) -> None:
        members: list[State] = []
        while not members or members[-1] != root:
            members.append(self._component.pop())
            self._open.discard(members[-1])
        if len(members) > 1 or (root, root) in self.back:
            self.looped.update(members)
