# SPDX-License-Identifier: Apache-2.0
"""The project's own kernels: how their loops lie, and what their passes and segments are called."""

from collections.abc import Sequence

SEGMENTS = {
    "baseline": ["plain"],
    "sw-s": ["check", "plain", "setup", "per_lane", "leader"],
    "sw-b": ["check", "agree", "plain", "butterfly", "leader"],
    "skip": ["check", "butterfly", "leader"],
    "cccl": ["butterfly", "leader"],
    "vector": ["plain"],
    "skip-vector": ["check", "butterfly", "leader"],
    "shared-slot": ["check", "plain", "setup", "turn", "leader"],
}
CONVERGED = ("sw-b", "skip", "skip-vector")
# Variants with REDs of several floats, which code for older architectures adds one by one.
VECTORS = ("vector", "skip-vector")
VECTOR_FLOATS, VECTORS_SINCE = 4, 90


class Shape:
    """The shape of a kernel: loops around one place that adds.

    levels      names of the loops around the innermost one that adds, from the outside: a pass through one
                is the path of its name, without what is in the loops within
    leaves      places where a pass of the innermost loop ends early, in their order: (path, alone). Where
                `alone`, converged kernels do not vote, and the path is that of the next place that votes.
                A path of None is never gone by a whole warp.
    exits       paths that lead past the outermost loop, in the order of their branches
    turns       loops that do not add, in the order of their addresses: one turn is the path of its name,
                without what is in the loops within; they may lie in the one that adds
    parameters  floats of a reduction
    variants    those that there are"""

    def __init__(
        self,
        parameters: int,
        variants: Sequence[str],
        levels: Sequence[str] = (),
        leaves: Sequence[tuple[str | None, bool]] = (),
        exits: Sequence[str] = (),
        turns: Sequence[str] = (),
    ) -> None:
        self.parameters = parameters
        self.variants = variants
        self.levels = list(levels)
        self.leaves = list(leaves)
        self.exits = list(exits)
        self.turns = list(turns)
        named = [name for name, _ in self.leaves if name]
        self.paths = self.exits + ["prologue"] + self.levels + self.turns + named + ["taken", "epilogue"]

    def atomics(self, variant: str) -> int:
        """Of a reduction: a float that no vector is full of has one to itself."""
        wide = self.parameters // VECTOR_FLOATS if variant in VECTORS else 0
        return wide + self.parameters - wide * VECTOR_FLOATS

    def variants_of(self, arch: str) -> list[str]:
        """Those that there are for an architecture ("sm_90")."""
        old = int(arch.removeprefix("sm_")) < VECTORS_SINCE
        return [variant for variant in self.variants if not (old and variant in VECTORS)]


DIVERGENT = ("baseline", "sw-s")  # a warp cannot stay together
SCATTER = ("baseline", "sw-s", "sw-b")  # lanes of a warp may differ in their primitive
SLOTS = SCATTER + ("shared-slot",)  # and they may add in shared memory
APART = ("baseline",)  # active lanes never share a primitive
ALL = ("baseline", "sw-s", "sw-b", "skip", "cccl")
STRUCTS = ALL + VECTORS + ("shared-slot",)  # gradients are in structs
APART_STRUCTS = APART + ("vector",)

# By name; `paths` are in the order of Workload::paths(). 3DGS is that of warpfold_capture.
GAUSSIANS = "backward"
WORKLOADS = {
    GAUSSIANS: Shape(
        9, ALL, levels=["batch"], leaves=[("skip_position", False), ("skip_power", True), ("skip_alpha", False)]
    ),
    "block_reduced": Shape(1, APART, levels=["batch"], leaves=[("idle", False)], turns=["sum", "meet"]),
    "block_reduced_struct": Shape(9, APART_STRUCTS, levels=["batch"], leaves=[("idle", False)], turns=["sum", "meet"]),
    "camera_pose": Shape(12, ALL, exits=["outside"], leaves=[("unseen", False)]),
    "camera_pose_halved": Shape(1, APART, exits=["outside"], leaves=[("unseen", False), (None, False)]),
    "dynibar": Shape(6, ALL, exits=["outside"]),
    "embedding": Shape(1, SCATTER, exits=["outside"]),
    "embedding_rows": Shape(8, SCATTER, exits=["outside"]),
    "envmap": Shape(3, SLOTS, exits=["outside"]),
    "fit_ballot": Shape(9, ALL, leaves=[("skip", False)], turns=["cull", "paint"]),
    "fit_staged": Shape(9, ALL, leaves=[("skip", False)], turns=["group", "collect", "append", "sort", "paint"]),
    "four_pixels": Shape(9, ALL, levels=["batch"], leaves=[("skip_position", False), ("skip_alpha", False)]),
    "gradient_struct": Shape(
        9, STRUCTS, levels=["batch"], leaves=[("skip_position", False), ("skip_power", True), ("skip_alpha", False)]
    ),
    "halved": Shape(1, APART, levels=["batch"], leaves=[("skip_alpha", False), (None, False)]),
    "halved_vector": Shape(4, APART_STRUCTS, levels=["batch"], leaves=[("skip_alpha", False), (None, False)]),
    "hash_grid": Shape(2, SCATTER, exits=["outside"]),
    "hexplane": Shape(24, SCATTER, exits=["outside"]),
    "pagerank": Shape(1, SCATTER, leaves=[(None, False)]),
    "per_splat": Shape(9, APART, leaves=[("idle", False)], turns=["collect", "steps"]),
    "per_splat_struct": Shape(9, APART_STRUCTS, leaves=[("idle", False)], turns=["collect", "steps"]),
    "spheres": Shape(8, DIVERGENT, exits=["outside"], leaves=[("empty", False)]),
    "tile_warp": Shape(9, STRUCTS, levels=["batch"], leaves=[("skip_alpha", False)]),
    "tile_warp_halved": Shape(1, APART, levels=["batch"], leaves=[("skip_alpha", False), (None, False)]),
}


def kernel_name(workload: str, variant: str) -> str:
    return f"warpfold_{workload}_{variant.replace('-', '_')}"
