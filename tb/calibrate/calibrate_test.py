# SPDX-License-Identifier: Apache-2.0
"""The rules of calibrate: rules on measurements that are made up, and the shipped machines from the shipped ones."""

import copy
import json
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

from warpfold.tools.calibrate import calibrate, replay_microbench, rules
from warpfold.tools.calibrate.derive import derive
from warpfold.tools.calibrate.machine_file import Base
from warpfold.tools.calibrate.measurement import Measurement, Missing
from tb.tools import run_tool

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

GPUS = ROOT / "model/gpus"
H100 = json.loads((GPUS / "h100-microbench.json").read_text(encoding="utf-8"))
OTHER_CARD = HERE / "h100-other-card.json"
H200 = Base((GPUS / "h200.toml").read_text(encoding="utf-8"))

# h200.toml and what the rules make of the H200's measurements: why they are not the same.
H200_DIFFERENCES = {
    "latency.global_load": (283, 282),  # 282.6, which the shipped file rounds down
    "l2.rop_cycles": (1.48, 1.47),  # 1.482; the shipped value lies a little lower, after replays
    "l2.flit_cycles": (0.614, 0.617),  # the shipped value is from an earlier run: 2.50 cycles for one word, now 2.51
}
# Cards of one kind differ so; docs/calibrate.md lists them.
OF_THE_CARD = {"latency.global_load", "lsu.tick_groups", "l2.input_sms", "l2.sector_cycles", "l2.line_cycles",
               "l2.flit_cycles", "l2.turn_spread", "l2.dram_latency"}

BUSY, ONE = rules.BUSY, rules.ONE
# Parameters that are so many times as much when all their cases are.
PROPORTIONAL = [rule.parameter for rule in rules.RULES if rule.parameter in (
    "pipe.integer pipe.sfu latency.shared latency.shuffle latency.shuffle_index latency.match latency.match_group "
    "latency.l1_load latency.barrier latency.barrier_warp lsu.tick_groups lsu.red_min lsu.red_flit lsu.red_change "
    "lsu.red_word "
    "lsu.shuffle lsu.match lsu.shared_access lsu.shared_wide lsu.global_load lsu.match_unit lsu.hand_red "
    "lsu.hand_shuffle lsu.hand_shuffle_index lsu.hand_match l2.sector_cycles l2.rop_cycles l2.port_cycles "
    "l2.turn_spread latency.sfu latency.redux latency.uniform l2.dram_latency").split()]


def changed(change):
    """Values from the H100's measurements after change(cases by name, gpu)."""
    content = copy.deepcopy(H100)
    change({result["name"]: result for result in content["results"]}, content["gpu"])
    return derive(Measurement([content]), H200, "h200")[0]


def scale(names, factor):
    def change(cases, gpu):
        for name in names:
            case = cases[name]
            case["median"] *= factor
            for key in ("drained", "steady_gap"):
                if key in case["extra"]:
                    case["extra"][key] *= factor
    return change


def add(amounts):
    def change(cases, gpu):
        for name, amount in amounts.items():
            cases[name]["median"] += amount
    return change


def extra(name, **values):
    return lambda cases, gpu: cases[name]["extra"].update(values)


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.now = changed(lambda cases, gpu: None)

    def moves(self, parameter, change, to):
        """It is that afterwards, and was not before."""
        self.assertNotEqual(self.now[parameter].value, to, parameter)
        self.assertEqual(changed(change)[parameter].value, to, parameter)

    def undecided(self, parameter, change, why):
        value = changed(change)[parameter]
        self.assertEqual((value.source, value.value), ("undetermined", H200.values[parameter]))
        self.assertIn(why, value.comment)

    def test_every_parameter_has_a_rule_or_a_reason(self):
        self.assertEqual(set(self.now), set(H200.values))
        self.assertEqual(len({rule.parameter for rule in rules.RULES}), len(rules.RULES))

    def test_a_case_that_takes_three_times_as_long_moves_its_parameter_by_that(self):
        of_parameter = {rule.parameter: rule for rule in rules.RULES}
        self.assertEqual(len(PROPORTIONAL), 33)
        for parameter in PROPORTIONAL:
            rule = of_parameter[parameter]
            readings = list(self.now[parameter].readings.values())
            expected = rule.rounding(rule.choose(readings) * 3)
            self.moves(parameter, scale(rule.cases, 3), expected)

    def test_what_is_taken_off_stays_off(self):
        self.moves("latency.special", add({"latency/s2r": 10}), 33)
        self.moves("latency.constant", add({"latency/ldc_chain": 10}), 38)
        self.moves("latency.branch", add({"control/loop/subcores=1/warps_each=1": 3}), 8)
        self.moves("latency.cta_launch", add({f"control/cta_gap/threads={n}": 100 for n in (32, 256, 1024)}), 460)
        self.moves("latency.uniform", add({"latency/s2ur": 4}), 42)
        self.moves("lsu.queue_depth", add({"burst/stamped/same_32/subcores=4/warps_each=1": 5}), 21)
        self.moves("noc.injection_depth", scale(["burst/flight/one_lane/gpu"], 2), 512)
        self.moves("l2.dram_latency", add({"latency/load_dram_chain/stride=1024": 50}),
                   self.now["l2.dram_latency"].value + 50)

    def test_a_match_beside_reds_and_beside_shuffles_counts_alike(self):
        # 8 cycles more for 16 beside REDs are half a cycle each, and a quarter in the mean.
        beside = "mixed/red=16/shfl=0/lds=0/match=16/ffma=0/lanes={}/warps=32"
        before = sum(self.now["lsu.match"].readings.values()) / 2
        self.moves("lsu.match", add({beside.format(1): 8, beside.format(8): 8}), round(before + 0.25, 1))

    def test_a_gpu_without_vector_reds_takes_the_base_machines(self):
        def older(cases, gpu):
            cases["vector/same/words=4/v4/lanes=1/warps=32/sm"]["name"] = "gone"
        self.undecided("lsu.red_word", older, "vector REDs were not measured")

    def test_a_turn_of_an_addition_in_shared_memory(self):
        # Ten cycles more for each lane, whatever an addition takes by itself.
        def longer(warps):
            return add({f"shared_add/same/lanes={n}/warps={warps}": 10 * n + 5 for n in (4, 8, 16, 32)})
        self.moves("latency.shared_cas", longer(1), 53)
        self.moves("lsu.shared_cas", longer(32), 12.44)

        def older(cases, gpu):
            for warps in (1, 32):
                cases[f"shared_add/same/lanes=8/warps={warps}"]["name"] = f"gone {warps}"
        for parameter in ("latency.shared_cas", "lsu.shared_cas"):
            self.undecided(parameter, older, "additions in shared memory were not measured")
        self.undecided("latency.shared_cas", lambda cases, gpu: gpu.update(compute_capability=80), "sm_80")

    def test_the_device(self):
        self.moves("sm.count", lambda cases, gpu: gpu.update(sms=108), 108)
        self.moves("sm.clock_ghz", lambda cases, gpu: gpu.update(sm_clock_khz=1_410_000), 1.41)
        self.moves("l2.bytes", lambda cases, gpu: gpu.update(l2_bytes=41943040), 41943040)
        self.moves("l2.dram_bytes_per_cycle", lambda cases, gpu: gpu.update(memory_bus_bits=2560), 846.5)
        self.moves("l1.bytes", lambda cases, gpu: gpu.update(compute_capability=80), 192 * 1024)
        self.undecided("latency.branch", lambda cases, gpu: gpu.update(compute_capability=80), "sm_80")

    def test_issue_order(self):
        ends = [[1000 * (warp + 1)] * 8 for warp in range(4)]
        self.moves("sm.issue_order", extra("control/red_order/warps=4", cycle_of_each_eighth=ends), "gto")
        self.undecided("sm.issue_order", extra("control/red_order/warps=4", cycle_of_each_eighth=[[600], [1000]]),
                       "60%")

    def test_sleep(self):
        cases = [f"share/sleep/ctas={n}/warps=12" for n in (2, 4, 5)]
        self.moves("lsu.sleep_cycles", scale(cases, 2), 32768)
        self.undecided("lsu.sleep_cycles", scale(cases, 1.4), "no ticks")

    def test_slices(self):
        self.moves("l2.slices", lambda cases, gpu: cases["slices/classes"].update(median=48), 48)
        self.undecided("l2.slices", extra("slices/classes", pieces_of_class=[30] * 79 + [1]), "disturbed")
        count = len(H100_PARTNERS)
        self.moves("l2.slices_per_port", extra("slices/ports", slowest=[0.83] * count, next=[0.83] * count), 1)
        self.undecided("l2.slices_per_port", extra("slices/ports", slowest_partner=[1] * count), "partner of their")

    def test_pieces_whose_slices_are_partners_are_told(self):
        content = copy.deepcopy(H100)
        self.assertEqual(derive(Measurement([content]), H200, "h200")[1], [])
        pairs = [at ^ 1 for at in range(len(H100_PARTNERS))]
        next(r for r in content["results"] if r["name"] == "slices/ports")["extra"]["slowest_partner"] = pairs
        notes = derive(Measurement([content]), H200, "h200")[1]
        self.assertEqual(len(notes), 1)
        self.assertIn("both at one port", notes[0])

    def test_which_addresses_share_a_slice(self):
        def slow(shares):
            def change(cases, gpu):
                for name in rules.PAIRS:
                    cases[name]["median"] = 5.0 if shares(int(name.rpartition("=")[2])) else 3.5
            return change
        whole = changed(slow(lambda offset: offset < 512))
        self.assertEqual((whole["l2.slice_bytes"].value, whole["l2.interleave_bytes"].value), (512, 512))
        turns = changed(slow(lambda offset: offset // 128 in (0, 2)))
        self.assertEqual((turns["l2.slice_bytes"].value, turns["l2.interleave_bytes"].value), (128, 512))
        self.undecided("l2.slice_bytes", slow(lambda offset: offset // 32 % 3 == 1), "do not follow")
        self.undecided("l2.slice_bytes", slow(lambda offset: False), "not seen")

    def test_inputs_of_a_port(self):
        two = [0.9] * 90 + [1.5] * 18
        self.moves("l2.input_sms", extra("share/address", over_mean_by_sm=two), 30)
        self.undecided("l2.input_sms", extra("share/address", over_mean_by_sm=[1.0] * 108), "one share")
        three = [0.9] * 60 + [1.0] * 60 + [1.4] * 12
        self.undecided("l2.input_sms", extra("share/address", over_mean_by_sm=three), "3 kinds")

    def test_the_l2(self):
        cases = [f"red/hot_block/sectors={n}/words=8/lines=2" for n in (2, 4)]
        self.moves("l2.line_cycles", extra(cases[1], drained=132 * 4 * 2.0),
                   round((2.0 + self.now["l2.line_cycles"].readings[f"{cases[0]}, a sector of two"]) / 2, 2))
        flits = [f"red/consecutive/lanes={n}/warps=32/gpu" for n in (2, 16, 24, 32)]
        before = self.now["l2.flit_cycles"]
        self.moves("l2.flit_cycles", scale(flits, 2), round(2 * sum(before.readings.values()) / 4, 3))

    def test_readings_that_contradict_each_other_are_told(self):
        self.assertEqual(self.now["pipe.integer"].misfit, "")
        apart = changed(scale([f"ops/shf/{BUSY}"], 2))["pipe.integer"]
        self.assertIn("apart", apart.misfit)
        self.assertEqual((self.now["pipe.integer"].determined, apart.determined), ("well", "poorly"))


H100_PARTNERS = next(r for r in H100["results"] if r["name"] == "slices/ports")["extra"]["slowest_partner"]


class Shipped(unittest.TestCase):
    def test_h200_but_for_what_is_explained(self):
        measured = Measurement.read([GPUS / "h200-microbench.json", GPUS / "h200-recorded.json"])
        values, _ = derive(measured, H200, "h200")
        differences = {p: (v.value, H200.values[p]) for p, v in values.items() if v.value != H200.values[p]}
        self.assertEqual(differences, H200_DIFFERENCES)
        self.assertGreaterEqual(sum(v.source in ("measured", "recorded", "device") for v in values.values()), 55)

    def test_h100_is_what_the_command_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = run("--name", "h100", "--measurements", GPUS / "h100-microbench.json", "--out", folder,
                                 "--no-replay", "--compare", "h200")
            self.assertEqual((code, err), (0, ""))
            made = (Path(folder) / "h100.toml").read_text(encoding="utf-8")
            # Energies are fitted to simulations, which take a minute (scripts/nightly.sh).
            shipped = (GPUS / "h100.toml").read_text(encoding="utf-8")
            self.assertEqual(made.partition("[energy]")[0], shipped.partition("[energy]")[0])
            again = (Path(folder) / "h100-microbench.json").read_text(encoding="utf-8")
            self.assertEqual(again, (GPUS / "h100-microbench.json").read_text(encoding="utf-8"))
        self.assertIn("  l2.slices: 80 (h200: 96)\n", out)
        self.assertRegex(out, r"\nHow well 98 parameters are determined: "
                              r"\d+ exact, \d+ well, \d+ fair, \d+ poorly, \d+ not\n")
        self.assertEqual(tomllib.loads(made)["l2"]["slices"], 80)

    def test_another_card_of_the_kind(self):
        of = [derive(Measurement.read([path]), H200, "h200")[0] for path in (GPUS / "h100-microbench.json", OTHER_CARD)]
        different = {p for p in of[0] if of[0][p].value != of[1][p].value}
        self.assertLessEqual(different, OF_THE_CARD)
        for parameter in different:
            one, other = of[0][parameter].value, of[1][parameter].value
            self.assertLess(abs(one / other - 1), 0.05, parameter)


def run(*args):
    return run_tool("calibrate", *args)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def measurements(self, content, name="m.json"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def refused(self, part, *args):
        code, out, err = run("--out", self.folder / "out", "--no-replay", *args)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        self.assertIn(part, err)
        self.assertFalse(list(self.folder.glob("out/*.toml")))

    def test_the_simulator_takes_the_file_and_the_replay_holds(self):
        code, out, err = run("--name", "mine", "--measurements", GPUS / "h100-microbench.json", "--out", self.folder,
                             "--match", "red/(same/lanes=32|distinct_8_lines/lanes=16)/warps=32/sm")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("2 cases: mean absolute error", out)
        self.assertIn("2 within 5 %", out)

    def test_what_sets_the_rates_is_replayed_unless_other_cases_are_named(self):
        replayed = []
        with mock.patch.object(replay_microbench, "modelled", lambda name, *rest: replayed.append(name) or 1.0):
            code, _, err = run("--name", "mine", "--measurements", GPUS / "h100-microbench.json", "--out", self.folder)
        self.assertEqual((code, err), (0, ""))
        for case in ("red/same/lanes=32/warps=32/sm", "vector/packed/words=4/v4/lanes=32/warps=32/gpu"):
            self.assertIn(case, replayed)
        self.assertNotIn("red/same/lanes=32/warps=1/sm", replayed)

    def test_missing_cases_are_named_in_one_line(self):
        content = copy.deepcopy(H100)
        absent = ("latency/s2r", "share/clocks")
        content["results"] = [one for one in content["results"] if one["name"] not in absent]
        self.refused("missing: latency/s2r, share/clocks", "--name", "x", "--measurements", self.measurements(content))
        del content["gpu"]["registers_of_sm"]
        self.refused("gpu.registers_of_sm, latency/s2r", "--name", "x", "--measurements", self.measurements(content))
        self.assertRaises(Missing, derive, Measurement([content]), H200, "h200")

    def test_bad_input(self):
        good = GPUS / "h100-microbench.json"
        self.refused("m.json: is not warpfold.microbench/1", "--name", "x", "--measurements", self.measurements("{}"))
        self.refused("no.json", "--name", "x", "--measurements", self.folder / "no.json")
        self.refused("is no name", "--name", "a/b", "--measurements", good)
        self.refused("base machine h300", "--name", "x", "--base", "h300", "--measurements", good)
        self.refused("two GPUs", "--name", "x", "--measurements", good, "--measurements", GPUS / "h200-recorded.json")
        old = copy.deepcopy(H100)
        old["gpu"]["compute_capability"] = 61
        self.refused("needed is 7.0", "--name", "x", "--measurements", self.measurements(old))

    def test_bad_usage(self):
        for words, part in ((["--measurements", "x"], "--name"), (["--name"], "--name: expected one argument"),
                            (["--name", "x", "--fast"], "unrecognized arguments: --fast"),
                            (["--name", "x", "--measurements", "x", "--energy"], "--energy measures")):
            self.refused(part, *words)


if __name__ == "__main__":
    unittest.main()
