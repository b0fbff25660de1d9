# SPDX-License-Identifier: Apache-2.0
"""calibrate/energy.py: made-up launches give back the energies that they were made with."""

import json
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

from warpfold.tools.calibrate import calibrate, energy
from tb.tools import run_tool

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

GPUS = ROOT / "model/gpus"
H100 = "NVIDIA H100 80GB HBM3"
TRUTH = {"instruction_pj": 350.0, "shuffle_pj": 650.0, "rop_pj": 1400.0, "active_watts": 20.0}
# Millions of instructions, shuffles, of those of zeros, sector operations; milliseconds.
LAUNCHES = {"baseline": (160, 0, 0, 90, 1.4), "sw-b:8": (220, 20, 0, 15, 0.6), "sw-s:16": (330, 54, 0, 37, 0.7),
            "skip": (240, 34, 0, 7, 0.9), "none": (130, 0, 0, 0, 0.4), "cccl": (800, 240, 206, 7, 2.3)}


def run_of(policy):
    instructions, shuffles, zeros, rop, _ = LAUNCHES[policy]
    return {"policy": policy, "rop_ops": rop * 1e6, "noc_bytes": rop * 40e6,
            "activity": {"instructions": instructions * 1e6, "shuffles": shuffles * 1e6,
                         "shuffles_of_zeros": zeros * 1e6, "l2_misses": 0, "l2_evictions": 0},
            "config": {"l2": {"line_bytes": 128}, "energy": {"noc_byte_pj": 8.0, "dram_byte_pj": 32.0}}}


def scene(name, factor=1.0, gpu=H100):
    def joules(policy):
        instructions, shuffles, zeros, rop, ms = LAUNCHES[policy]
        mj = (instructions * TRUTH["instruction_pj"] + (shuffles - zeros) * TRUTH["shuffle_pj"]
              + rop * (TRUTH["rop_pj"] + 320)) * 1e-3 + ms * TRUTH["active_watts"]
        return factor * mj / 1e3
    return {"scene": name, "gpu": gpu, "idle_watts": 121.0 if name == "truck" else 125.0,
            "energy": [{"policy": policy, "kernel_ms": LAUNCHES[policy][-1],
                        "joules_per_launch_above_idle": joules(policy)} for policy in LAUNCHES]}


class Energies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def make(self, *contents):
        """Exit code, output, errors, and the machine file or None."""
        files = []
        for number, content in enumerate(contents):
            files.append(self.folder / f"e{number}.json")
            files[-1].write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        with mock.patch.object(energy, "simulated", lambda machine, trace, policies, jobs:
                                  {policy: run_of(policy) for policy in policies}):
            code, out, err = run_tool("calibrate", "--name", "mine", "--measurements", GPUS / "h100-microbench.json",
                                      "--no-replay", "--out", self.folder / "out",
                                      *(word for file in files for word in ("--energies", file)))
        made = self.folder / "out/mine.toml"
        return code, out, err, made.read_text(encoding="utf-8") if made.exists() else None

    def refused(self, part, *contents):
        code, _, err, made = self.make(*contents)
        self.assertEqual((code, err.count("\n"), made), (2, 1, None), err)
        self.assertIn(part, err)

    def test_the_first_scene_is_fitted_and_others_are_compared(self):
        code, out, err, made = self.make({"scenes": [scene("truck"), scene("kitchen", 1.25)]})
        self.assertEqual((code, err), (0, ""))
        found = tomllib.loads(made)["energy"]
        for name, value in TRUTH.items():
            self.assertAlmostEqual(found[name], value, delta=0.6)
        self.assertEqual(found["idle_watts"], 123)
        self.assertIn("5 launches that were fitted: mean 0.0%, worst 0.0%\n", out)
        # cccl of truck is right; a quarter more was measured of kitchen.
        self.assertIn("7 launches that had no part in the fit: mean 17.1%, worst 20.0%\n", out)

    def test_nothing_but_energies_is_another(self):
        made = self.make(scene("truck"))[3]
        shipped = (GPUS / "h100.toml").read_text(encoding="utf-8").replace('"h100"', '"mine"')
        different = [one for one, other in zip(made.splitlines(), shipped.splitlines(), strict=True) if one != other]
        self.assertLessEqual({line.partition(" = ")[0] for line in different}, {*TRUTH, "idle_watts"})

    def test_a_scene_without_a_trace_is_said(self):
        code, out, _, _ = self.make({"scenes": [scene("truck"), scene("nowhere")]})
        self.assertEqual(code, 0)
        self.assertIn("nowhere: measured, but there is no trace of it\n", out)

    def test_bad_input_leaves_no_machine(self):
        self.refused("e0.json: is not JSON", "{")
        self.refused("not energies of warpfold_capture", {"scenes": [{"scene": "truck", "energy": []}]})
        self.refused("e0.json: energies of NVIDIA H200, the microbenchmarks are of " + H100,
                     scene("truck", gpu="NVIDIA H200"))
        self.refused("0 launches of nowhere with a trace are too few", scene("nowhere"))
        few = scene("truck")
        few["energy"] = few["energy"][:4]
        self.refused("4 launches of truck with a trace are too few", few)


if __name__ == "__main__":
    unittest.main()
