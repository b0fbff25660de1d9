# SPDX-License-Identifier: Apache-2.0
"""Backward kernels of 3D Gaussian Splatting on a GPU: times of their launches on five scenes (forms.json), and of whole
trainings (training.json)."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from .store import Document
from .text import Table

FORMS, TRAINING = "forms", "training"
PIXEL = "pixel"  # the original: a thread a pixel
# Rows of the table `forms`: name, tiles, kernel, and the policies of which the fastest counts.
FORM_ROWS = (
    ("plain REDs, the published list of tiles", "box", PIXEL, ("baseline",)),
    ("plain REDs", "tight", PIXEL, ("baseline",)),
    ("ARC-SW, best `sw-b`", "tight", PIXEL, ("sw-b:",)),
    ("warp sum (`skip`)", "tight", PIXEL, ("skip",)),
    ("recursive halving", "tight", "halved", ("baseline",)),
    ("recursive halving, fixed point", "tight", "halved", ("fixed",)),
    ("recursive halving, vector REDs", "tight", "halved_vector", ("vector",)),
    ("block reduction, a float a lane", "tight", "block_reduced", ("baseline",)),
    ("block reduction, structs, vector REDs", "tight", "block_reduced_struct", ("vector",)),
    ("block reduction, structs, bulk operations", "tight", "block_reduced_struct", ("bulk",)),
    ("a warp a tile, best policy", "tight", "tile_warp", ("",)),
    ("a warp a tile, recursive halving", "tight", "tile_warp_halved", ("baseline",)),
    ("per splat", "tight", "per_splat", ("baseline",)),
    ("per splat, gradients in a struct, vector REDs", "tight", "per_splat_struct", ("vector",)),
    ("per splat, gradients in a struct, bulk operations", "tight", "per_splat_struct", ("bulk",)),
    ("per splat, gradients in a struct, fixed point", "tight", "per_splat_struct", ("fixed",)),
    ("the pixel kernel without atomics", "tight", PIXEL, ("none",)),
    ("per splat, by ncu", "tight", "per_splat", ("ncu",)),
    ("per splat of Faster-GS, by ncu, on its own list", "own", "Faster-GS", ("ncu",)),
    ("warp sum, beside gsplat's", "tight", PIXEL, ("beside",)),
    ("warp sum of gsplat", "tight", "gsplat", ("beside",)),
    ("a warp a tile, best policy, beside LiteGS's", "tight", "tile_warp", ("beside",)),
    ("a warp a tile of LiteGS", "tight", "LiteGS", ("beside",)),
    ("a warp a tile of LiteGS, tiles of 16 x 8", "16 x 8", "LiteGS", ("beside",)),
)
# Names of kernels in the table `training`.
TRAINED = {
    "baseline": "plain REDs",
    "sw-b:12": "ARC-SW, `sw-b:12`",
    "auto": "ARC-SW, tuned in training",
    "skip": "warp sum (`skip`)",
    "shared_slot": "shared slot, struct",
    "halved": "recursive halving",
    "halved_fixed": "recursive halving, fixed point",
    "halved_vector": "recursive halving, vector REDs",
    "block_reduced": "block reduction, a float a lane",
    "tile_warp": "a warp a tile, `skip`",
    "tile_warp_halved": "a warp a tile, recursive halving",
    "per_splat": "per splat",
    "per_splat_struct": "per splat, struct, vector REDs",
    "per_splat_bulk": "per splat, struct, bulk operations",
    "per_splat_fixed": "per splat, struct, fixed point",
}
TRAINED_SCENES = ("lego", "ship")
NOT_SOFTWARE = ("none", "ncu", "beside")
NO_SCENE = "generated"  # rows of kernels that are not of 3D Gaussians


def best(document: Document, scene: str, tiles: str, kernel: str, prefixes: tuple[str, ...]) -> float | None:
    """Milliseconds of the fastest policy with one of the prefixes; None where none was timed."""
    return min(
        (
            ms
            for *where, policy, ms in document["rows"]
            if where == [scene, tiles, kernel]
            and (policy.startswith(prefixes) and prefixes != ("",) or prefixes == ("",) and policy not in NOT_SOFTWARE)
        ),
        default=None,
    )


def form_rows(document: Document) -> Table:
    """The table `forms`: milliseconds of a launch."""
    scenes = [scene for scene in dict.fromkeys(row[0] for row in document["rows"]) if scene != NO_SCENE]
    rows = []
    for name, tiles, kernel, policies in FORM_ROWS:
        found = [best(document, scene, tiles, kernel, policies) for scene in scenes]
        timed = [ms for ms in found if ms is not None]
        mean = math.exp(statistics.fmean(map(math.log, timed))) if len(timed) == len(scenes) else None
        rows.append([name, *("-" if ms is None else f"{ms:.3f}" for ms in (*found, mean))])
    return ["kernel, on the tight list but where it says otherwise", *scenes, "geometric mean"], rows


class Trained(NamedTuple):
    seconds: float
    kernel: float  # seconds of them
    psnr: float  # dB
    gaussians: int


def trained(document: Document) -> dict[tuple[str, str, str], Trained]:
    """By scene, tiles and kernel."""
    return {(scene, tiles, kernel): Trained(*rest) for scene, tiles, kernel, *rest in document["rows"]}


def training_rows(document: Document) -> Table:
    """The table `training`."""
    found = trained(document)
    head = [
        "kernel",
        *(
            f"{scene}, {tiles}: {what}"
            for tiles in ("box", "tight")
            for scene in TRAINED_SCENES
            for what in ("s (in the kernel)", "PSNR, dB")
        ),
    ]
    rows = []
    for kernel, name in TRAINED.items():
        row = [name]
        for tiles in ("box", "tight"):
            for scene in TRAINED_SCENES:
                one = found.get((scene, tiles, kernel))
                row += [f"{one.seconds:.1f} ({one.kernel:.1f})", f"{one.psnr:.2f}"] if one else ["-", "-"]
        rows.append(row)
    return head, rows


def form_value(document: Document, words: Sequence[str]) -> str:
    """SCENE.TILES.KERNEL.POLICY: milliseconds. Kernels that are not of 3D Gaussians: generated.none.KERNEL.POLICY."""
    scene, tiles, kernel, policy = words[:4]
    ms = best(document, scene, tiles, kernel, (policy,))
    if ms is None:
        raise KeyError(".".join(words))
    return f"{ms:.3f}"


def training_value(document: Document, words: Sequence[str]) -> str:
    """SCENE.TILES.KERNEL.seconds, .kernel (seconds) or .psnr (dB); psnr-spread: the most that one is from plain REDs on the
    same list, dB."""
    found = trained(document)
    if words == ["psnr-spread"]:
        spread = (abs(one.psnr - found[scene, tiles, "baseline"].psnr) for (scene, tiles, _), one in found.items())
        return f"{max(spread):.2f}"
    scene, tiles, kernel, name = words[:4]
    one = found[scene, tiles, kernel]
    return {"seconds": f"{one.seconds:.1f}", "kernel": f"{one.kernel:.1f}", "psnr": f"{one.psnr:.2f}"}[name]
