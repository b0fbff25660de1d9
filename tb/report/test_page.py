# SPDX-License-Identifier: Apache-2.0
"""The report in headless Chromium: it draws, hovers, sorts, prints, follows the theme and the width, asks nothing of
the network, logs no error, and takes names of any text."""

import base64
import copy
import json
import os
import pathlib
import re
import socket
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import fixture

EVIL = 'x\\</script><b id="evil">&amp;"'


def start_browser():
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            socket.getaddrinfo("localhost", None)
        except OSError as error:
            raise unittest.SkipTest(f"no localhost to find the browser at: {error} (is there /etc/hosts?)") from error
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        results, timeline = fixture.simulate(cls.folder)
        cls.runs = json.loads(results.read_text())["runs"]
        cls.page = cls.folder / "small.html"
        fixture.must("report", results, "--timeline", timeline, "--area", fixture.AREA, "--out", cls.page)
        cls.browser = start_browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.temporary.cleanup()

    def make(self, name, runs):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"schema": "warpfold.sim/1", "runs": runs}))
        page = self.folder / f"{name}.html"
        fixture.must("report", path, "--out", page)
        return page

    def open(self, page=None, width=1280, dark=False):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.get((page or self.page).as_uri())
        # On a busy machine a script may find the page before the page's own script has run.
        WebDriverWait(self.browser, 60).until(lambda _: self.script("return typeof wf !== 'undefined'"))
        self.script("wf.drawAll()")

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def count(self, selector):
        return self.script("return document.querySelectorAll(arguments[0]).length", selector)

    def texts(self, selector):
        return self.script("return Array.from(document.querySelectorAll(arguments[0]), (each) => each.textContent)", selector)

    def tip(self):
        return self.script("return document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")

    def assert_quiet(self):
        """No error in the console, no request beside the page itself."""
        self.assertEqual(self.browser.get_log("browser"), [])
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self.assertTrue(url.startswith(("file://", "data:")), url)
                if url.startswith("file://"):
                    self.assertTrue(url.split("#")[0].endswith(".html"), url)

    def test_draws_every_run(self):
        self.open()
        self.assertEqual(self.count("#speedup rect.run"), len(self.runs))
        for section in ("cycles", "bounds", "energy"):
            self.assertEqual(self.count(f"#{section} g.row"), len(self.runs), section)
        self.assertEqual(self.count("#time .panel"), min(12, len(self.runs)))
        kinds = {row["unit"] for row in json.loads(pathlib.Path(fixture.AREA).read_text())["rows"] if "unit" in row}
        self.assertEqual(self.count("#area g.row"), len(kinds))
        self.assertEqual(self.count("#area .point"), 2)
        self.assertEqual(self.count("#thresholds .point"), 2 * 4)
        cycles = {(run["gpu"], run["policy"]): run["cycles"] for run in self.runs}
        shown = self.texts("#speedup .panel:first-child .value")
        self.assertEqual(len(shown), len(self.runs) // 2)
        best = max(cycles["rtx4090", "baseline"] / cycles["rtx4090", run["policy"]]
                   for run in self.runs if run["gpu"] == "rtx4090")
        self.assertEqual(max(float(text.split("×")[0].replace(",", "")) for text in shown),
                         float(f"{best:.2f}" if best < 9.995 else f"{best:.1f}"))
        self.assertEqual(sum("◆" in text for text in shown), 1)
        self.assert_quiet()

    def test_bars_are_as_long_as_their_values(self):
        self.open()
        rows = self.script("""return Array.from(document.querySelectorAll("#bounds .panel:first-child g.row"), (row) =>
            [Number(row.querySelector(".mark").getAttribute("width")), parseFloat(row.querySelector(".value").textContent)])""")
        scale = max(width for width, _ in rows) / max(value for _, value in rows)
        for width, value in rows:
            self.assertAlmostEqual(width, value * scale, delta=1.02 * scale)

    def test_pointer_shows_a_tip(self):
        self.open()
        bar = self.browser.find_elements(By.CSS_SELECTOR, "#speedup rect.run")[1]
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", bar)
        self.assertEqual(self.tip(), "")
        ActionChains(self.browser).move_to_element(bar).perform()
        WebDriverWait(self.browser, 10).until(lambda _: self.tip())
        cycles = {f"{run['cycles']:,}" for run in self.runs}
        self.assertTrue(any(text in self.tip() for text in cycles), self.tip())
        ActionChains(self.browser).send_keys(Keys.ESCAPE).perform()
        self.assertEqual(self.tip(), "")

    def test_arrow_keys_walk_the_marks(self):
        self.open()
        self.script("document.querySelector('#speedup svg').focus()")
        ActionChains(self.browser).send_keys(Keys.ARROW_DOWN).perform()
        self.assertIn("baseline", self.tip())
        ActionChains(self.browser).send_keys(Keys.ARROW_DOWN).perform()
        self.assertNotIn("baseline", self.tip().split("·")[0])
        self.assertIn("cycles", self.texts("#spoken")[0])
        self.script("document.querySelector('#time svg').focus()")
        ActionChains(self.browser).send_keys(Keys.ARROW_RIGHT).perform()
        self.assertIn("0 to ", self.tip())

    def column(self, name):
        headers = [text.strip() for text in self.texts("#counters thead th")]
        place = next(index for index, text in enumerate(headers) if text.startswith(name))
        return self.texts(f"#counters tbody tr > :nth-child({place + 1})"), \
            self.browser.find_elements(By.CSS_SELECTOR, "#counters thead th")[place]

    def test_tables_sort_by_click_and_by_key(self):
        self.open()
        expected = sorted(run["cycles"] for run in self.runs)
        _, header = self.column("Cycles")
        button = header.find_element(By.TAG_NAME, "button")
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button)
        self.assertIsNone(header.get_attribute("aria-sort"))
        button.click()
        self.assertEqual([int(text.replace(",", "")) for text in self.column("Cycles")[0]], expected[::-1])
        self.assertEqual(header.get_attribute("aria-sort"), "descending")
        self.script("arguments[0].focus()", button)
        ActionChains(self.browser).send_keys(Keys.ENTER).perform()
        self.assertEqual([int(text.replace(",", "")) for text in self.column("Cycles")[0]], expected)
        self.assertEqual(header.get_attribute("aria-sort"), "ascending")
        self.script("arguments[0].focus()", self.column("Policy")[1].find_element(By.TAG_NAME, "button"))
        ActionChains(self.browser).send_keys(Keys.SPACE).perform()
        self.assertEqual(self.column("Policy")[0][0], "arc-hw")
        self.assertEqual(self.count("#counters th[aria-sort]"), 1)

    def test_every_counter_is_in_a_table(self):
        self.open()
        shown = set()
        for index in range(self.count("#counters .choice button")):
            self.script("document.querySelectorAll('#counters .choice button')[arguments[0]].click()", index)
            shown.update(self.texts("#counters tbody td"))
        run = self.runs[-1]
        for values in (run["activity"], run["stalls"]["subcore_cycles"], run["stalls"]["warp_cycles"]):
            for key, value in values.items():
                self.assertIn(f"{value:,}", shown, key)

    def test_each_figure_has_its_data_as_a_table(self):
        self.open()
        figures = self.count("figure")
        self.assertGreaterEqual(figures, 7)
        self.assertEqual(self.count("figure > details.alternative"), figures)
        self.script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        WebDriverWait(self.browser, 10).until(lambda _: self.count("figure > details table") == figures)
        self.assertEqual(self.count("#cycles tbody tr"), len(self.runs))
        self.assertEqual(self.count("table"), self.count("table > caption"))
        self.assertEqual(self.count("tbody th:not([scope=row]), thead th:not([scope=col])"), 0)
        self.assertEqual(self.count("svg"), self.count("svg[role=img][aria-label][tabindex='0']"))
        parameters = self.texts("#configurations tbody th")
        self.assertIn("l2.rop_cycles", parameters)

    def test_theme(self):
        def background():
            return self.script("return getComputedStyle(document.body).backgroundColor")
        self.open()
        light = background()
        self.browser.find_element(By.ID, "theme").click()
        dark = background()
        self.assertNotEqual(dark, light)
        self.open(dark=True)
        self.assertEqual(background(), dark)
        self.browser.find_element(By.ID, "theme").click()
        self.assertEqual(background(), light)

    def test_text_has_contrast(self):
        """4.5 at least between each text and what is behind it, the AA of WCAG, in both themes."""
        for dark in (False, True):
            self.open(dark=dark)
            low = self.script("""
                const light = (text) => text.match(/[\\d.]+/g).slice(0, 3).map((part) => Number(part) / 255)
                    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
                    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
                const behind = (node) => {
                  for (let each = node; each; each = each.parentElement) {
                    const color = getComputedStyle(each).backgroundColor;
                    if (!/, 0\\)$/.test(color)) { return color; }
                  }
                };
                return Array.from(document.querySelectorAll("p, li, dt, dd, h1, h2, h3, span.note, span.unit, button, a, figcaption, text, th, td"))
                  .filter((node) => node.textContent.trim() && node.getClientRects().length).map((node) => {
                    const style = getComputedStyle(node);
                    const below = node.classList.contains("inside") ? getComputedStyle(node.previousElementSibling).fill : behind(node);
                    const pair = [light(node.closest("svg") ? style.fill : style.color), light(below)].sort((a, b) => b - a);
                    return [(pair[0] + 0.05) / (pair[1] + 0.05), `${node.tagName} ${node.getAttribute("class")} ${node.textContent.slice(0, 30)}`];
                  }).filter((each) => each[0] < 4.5);""")
            self.assertEqual(low, [], f"dark {dark}")

    def test_narrow(self):
        self.open(width=390)
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390)
        self.assertEqual(self.count("#speedup rect.run"), len(self.runs))
        self.script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390)
        outside = self.script("""return Array.from(document.querySelectorAll("svg text"))
            .filter((text) => text.getBoundingClientRect().right > 391 || text.getBoundingClientRect().left < -1)
            .map((text) => text.textContent)""")
        self.assertEqual(outside, [])

    def test_skip_link_comes_first(self):
        self.open()
        ActionChains(self.browser).send_keys(Keys.TAB).perform()
        self.assertEqual(self.script("return document.activeElement.className"), "skip")
        ActionChains(self.browser).send_keys(Keys.ENTER).perform()
        self.assertEqual(self.script("return document.activeElement.id"), "main")

    def test_prints(self):
        self.open(dark=True)
        pdf = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
        self.assertTrue(pdf.startswith(b"%PDF") and 3 <= pages <= 40, pages)
        # Made for the width of the paper, whatever the window's.
        self.script("window.dispatchEvent(new Event('beforeprint'))")
        self.assertLessEqual(self.script("return Number(document.querySelector('#time svg').getAttribute('width'))"), 690)
        self.script("window.dispatchEvent(new Event('afterprint'))")
        self.assertGreater(self.script("return Number(document.querySelector('#time svg').getAttribute('width'))"), 900)
        self.browser.get("data:text/html,<p>empty")
        empty = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
        self.assertGreater(len(pdf), 5 * len(empty))
        self.open(dark=True)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        look = self.script("""return [getComputedStyle(document.body).backgroundColor, document.querySelector("#theme").getClientRects().length,
            document.querySelector("#speedup svg").getClientRects().length]""")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        self.assertEqual(look, ["rgb(255, 255, 255)", 0, 1])

    def test_names_are_text(self):
        runs = copy.deepcopy(self.runs)
        for run in runs:
            run["trace"] = EVIL
            run["gpu"] = "<img src=x onerror=fail()>"
            run["config"]["name"] = "<i id='evil'>"
        runs[1]["policy"] = "<script>fail()</script>"
        self.open(self.make("evil", runs))
        self.script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        self.assertIn('<b id="evil">', self.browser.title)
        self.assertEqual(self.count("#evil, img"), 0)
        self.assertEqual(self.count("script"), 3)
        self.assertTrue(any("onerror" in text for text in self.texts("#speedup h3")))
        self.assert_quiet()

    def test_runs_without_a_baseline_are_told(self):
        runs = [{**run, "speedup": None} for run in self.runs if (run["gpu"], run["policy"]) != ("rtx3060", "baseline")]
        left = sum(run["gpu"] == "rtx3060" for run in runs)
        self.open(self.make("half", runs))
        self.assertEqual(self.count("#speedup .panel"), 1)
        self.assertIn(f"{left} runs without a baseline", self.texts("#speedup figcaption")[0])

    def test_failed_checks_show(self):
        self.open()
        self.assertIn("All checks ok", self.texts(".checks")[0])
        runs = copy.deepcopy(self.runs)
        runs[3]["conserved"] = False
        self.open(self.make("failed", runs))
        self.assertIn("NOT ok", self.texts(".checks")[0])
        self.assertIn(runs[3]["policy"], self.texts(".checks")[0])

    def test_footer_names_the_library(self):
        self.open()
        footer = self.texts("footer")[0]
        self.assertRegex(footer, r"D3 \d+\.\d+\.\d+ \(BSD 3-Clause")
        self.assertIn(self.script("return d3.version"), footer)
        self.assertIn("Redistribution and use in source and binary forms", footer)
        self.assertEqual(self.script("""return Array.from(document.querySelectorAll("[src], [href]"), (each) =>
            each.getAttribute("src") || each.getAttribute("href")).filter((each) => !/^(#|data:)/.test(each))"""), [])

    def test_one_run(self):
        run = next(run for run in self.runs if run["policy"] == "arc-hw")
        self.open(self.make("one", [run]))
        self.assertEqual(self.count("#speedup rect.run"), 1)
        self.assertEqual(self.count("#cycles g.row"), 1)
        self.open(self.make("alone", [{**run, "speedup": None}]))
        self.assertEqual(self.count("#speedup"), 0)
        self.assertEqual(self.texts("#cycles .axis-title"), ["% of the run’s cycles"])
        self.assert_quiet()

    def test_a_thousand_runs(self):
        runs = []
        while len(runs) < 1000:
            for run in self.runs:
                runs.append({**run, "trace": f"trace{len(runs) // len(self.runs)}.wft"})
        self.open(self.make("many", runs[:1000]))
        self.assertEqual(self.count("#cycles .panel"), 12)
        self.script("document.querySelector('#cycles .more').click()")
        self.assertEqual(self.count("#cycles g.row"), 1000)
        self.assertEqual(self.count("#counters tbody tr"), 1000)
        self.assertEqual(self.count("#figure-1 .panel"), 2)
        names = {run["policy"].split(":")[0] for run in self.runs} - {"baseline"}
        traces = len({run["trace"] for run in runs[:1000]})
        self.assertEqual(self.count("#figure-2 .legend li"), len(names))
        self.assertLessEqual(abs(self.count("#figure-2 .point") - 2 * traces * len(names)), len(self.runs))
        self.assert_quiet()

    def test_the_same_runs_of_two_files(self):
        faster = [{**run, "cycles": run["cycles"] // 2} if run["policy"] == "arc-hw" else run for run in self.runs]
        for name, runs in (("old", self.runs), ("new", faster)):
            (self.folder / f"{name}.json").write_text(json.dumps({"schema": "warpfold.sim/1", "runs": runs}))
        page = self.folder / "both.html"
        fixture.must("report", self.folder / "old.json", self.folder / "new.json", "--out", page)
        self.open(page)
        self.assertEqual(self.count("#speedup .panel"), 4)
        self.assertEqual(sum("new.json" in text for text in self.texts("#speedup h3")), 2)
        self.assertEqual(self.count(".headline"), 4)
        self.assert_quiet()

    def test_variants_of_a_machine(self):
        runs = []
        for size in (16384, 65536):
            for run in self.runs:
                changed = copy.deepcopy(run)
                changed["config"]["lab"]["bytes"] = size
                runs.append(changed)
        self.open(self.make("variants", runs))
        self.assertEqual(sum("lab.bytes = 65536" in text for text in self.texts("#speedup h3")), 2)
        self.assertNotIn("left out", self.texts("#speedup figcaption")[0])
        self.assertEqual(self.texts("#configurations tbody td.strong"), ["16,384", "16,384", "65,536", "65,536"])


if __name__ == "__main__":
    unittest.main()
