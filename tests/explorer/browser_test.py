"""The explorer's page in a browser: headless Chromium, driven by Selenium.

Skipped where there is no Chromium, no driver for it or no Selenium; the test with axe-core also where neither
AXE_CORE names an axe.min.js nor a virtual environment in a build*/ has one.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.command_line import REPOSITORY

EXPLORER = REPOSITORY / "common/explorer"
SIZES = {"wide": (1440, 900), "narrow": (390, 844)}
SECOND = REPOSITORY / "docs/stills/05_unroll_warp.json"
RULES_OF_COLOURS = ("color-contrast", "link-in-text-block")  # axe-core's; they are all that dark and light differ in


def trace_of(name: str) -> dict[str, Any]:
    """The emulated device's trace of a step or of a pitfall, which a picture of a page is drawn from."""
    trace: dict[str, Any] = json.loads((REPOSITORY / f"docs/stills/{name}.json").read_text("utf-8"))
    return trace


class Browser:
    """A headless Chromium with one window."""

    def __init__(self, chromium: str, driver: str) -> None:
        from selenium import webdriver
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.chrome.service import Service
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars"):
            options.add_argument(f"--{argument}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        try:
            self.driver = webdriver.Chrome(service=Service(driver), options=options)
        except WebDriverException as error:
            pytest.skip(f"Chromium does not start here: {error.msg}")

    def open(self, page: Path, size: tuple[int, int], scheme: str) -> None:
        """Opens a page from its file in a window of a size, dark or light."""
        width, height = size
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.get("about:blank")
        self.prefer(scheme)
        self.driver.get(page.as_uri())
        # A frame later what depends on the page's width is drawn, too.
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def prefer(self, scheme: str) -> None:
        """Makes the open page, and those after it, dark or light."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def js(self, code: str, *arguments: Any) -> Any:
        """Returns what a function body returns in the page."""
        return self.driver.execute_script(code, *arguments)

    def press(self, *keys: str, shift: bool = False) -> None:
        """Presses keys where the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys
        chain = ActionChains(self.driver)
        for key in keys:
            if shift:
                chain = chain.key_down(Keys.SHIFT).send_keys(key).key_up(Keys.SHIFT)
            else:
                chain = chain.send_keys(key)
        chain.perform()

    def check_quiet(self, where: str) -> None:
        """Fails if the console has a message, or the page is wider than its window."""
        messages = self.driver.get_log("browser")
        assert not messages, f"{where}: the console says {messages}"
        width, window = self.js("return [document.documentElement.scrollWidth, innerWidth]")
        assert width <= window, f"{where}: the page is {width} wide in a window of {window}"

    def position(self) -> tuple[int, int]:
        """Returns where the slider is, and its last value."""
        at, last = self.js("const s = document.getElementById('slider'); return [Number(s.value), Number(s.max)]")
        return int(at), int(last)

    def moment(self) -> str:
        """Returns the sentence about the moment."""
        text: str = self.js("return document.getElementById('moment').textContent")
        return text

    def show_all(self) -> None:
        """Opens what is folded, at a moment in the middle."""
        self.js("document.querySelectorAll('details').forEach((d) => { d.open = true; });"
                "const slider = document.getElementById('slider');"
                "slider.value = Math.floor(slider.max * 0.4); slider.dispatchEvent(new Event('input'))")

    def serious_findings(self, *rules: str) -> list[tuple[str, list[str]]]:
        """What axe-core finds serious in the page, by all rules or these: of each its name and elements.

        Skips without axe-core.
        """
        named = os.environ.get("AXE_CORE")
        files = [Path(named)] if named else sorted(REPOSITORY.glob("build*/**/axe.min.js"))
        if not files:
            pytest.skip("there is no axe-core here (pip install axe-playwright-python in a venv, build/venv)")
        # Of a file it may not load the stylesheets.
        if not self.js("return 'axe' in window"):
            self.js(files[0].read_text(encoding="utf-8"))
        options = {"preload": False, "resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
        violations = self.driver.execute_async_script(
            "const [options, done] = arguments; axe.run(options).then((results) => done(results.violations),"
            " (error) => done([{impact: 'critical', id: String(error), nodes: []}]))", options)
        return [(found["id"], [node["html"][:160] for node in found["nodes"][:3]]) for found in violations
                if found["impact"] in ("serious", "critical")]


def check_steps(browser: Browser, where: str) -> None:
    """Goes through a page by keyboard: to the end event by event, back by barriers."""
    from selenium.webdriver.common.keys import Keys
    browser.js("document.getElementById('slider').focus()")
    browser.press(Keys.HOME)
    at, last = browser.position()
    assert at == 0, where
    browser.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    tops = ("return [...document.querySelectorAll('#slider, #moment, .tally, main h3, summary, .view')]"
            ".map((each) => Math.round(each.getBoundingClientRect().top + scrollY))")
    browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    first = browser.js(tops)
    seen = {browser.moment()}
    while at < last:
        browser.press(Keys.ARROW_RIGHT)
        now = browser.position()[0]
        assert now == at + 1, f"{where}: from {at} to {now}"
        assert browser.js(tops) == first, f"{where}: something jumps at {now}"
        at = now
        seen.add(browser.moment())
        assert not browser.js("return /undefined|NaN/.test(document.getElementById('main').textContent)"), where
    assert len(seen) == last + 1, f"{where}: {len(seen)} sentences for {last + 1} moments"
    browser.press(Keys.ARROW_RIGHT)
    assert browser.position()[0] == last, where
    if any("barrier" in moment for moment in seen):
        browser.press(Keys.ARROW_LEFT, shift=True)
        assert "barrier" in browser.moment(), f"{where}: {browser.moment()}"
        barrier = browser.position()[0]
        browser.press(Keys.PAGE_UP)
        assert browser.position()[0] < barrier, where
        browser.press(Keys.PAGE_DOWN)
        assert browser.position()[0] == barrier, where
    browser.press(Keys.END)
    assert browser.position()[0] == last, where
    # The counters at the end are those of the whole block.
    table = browser.js("return [...document.querySelectorAll('.counters tbody tr')]"
                       ".map((row) => [...row.cells].map((cell) => cell.textContent))")
    assert table, where
    for name, *numbers in table:
        assert numbers[0::2] == numbers[1::2], f"{where}: {name} {numbers}"
    browser.press(Keys.HOME)
    assert browser.position()[0] == 0, where
    # Play goes on by itself, and a second press stops it.
    browser.press(Keys.SPACE)
    browser.driver.execute_async_script("setTimeout(arguments[0], 1300)")
    browser.press(Keys.SPACE)
    assert 0 < browser.position()[0] < 6, f"{where}: {browser.position()}"
    stopped = browser.position()[0]
    browser.driver.execute_async_script("setTimeout(arguments[0], 600)")
    assert browser.position()[0] == stopped, where


def check_current_line(browser: Browser, where: str) -> None:
    """The current line is marked in the source, in words and not by colour alone."""
    lines = browser.js("return [...document.querySelectorAll('[aria-current=true]')].map((li) => li.dataset.line)")
    assert bool(lines) == ("Line " in browser.moment()), f"{where}: {lines}, {browser.moment()}"
    for number in lines:
        assert f"Line {number}" in browser.moment(), f"{where}: line {number}, {browser.moment()}"


def check_finding(browser: Browser, where: str) -> None:
    """A finding leads to its witnesses, whose letters explorer.test.js has."""
    buttons = browser.js("return document.querySelectorAll('[data-go]').length")
    assert buttons == 2, where
    for k in range(buttons):
        wanted = browser.js("const button = document.querySelectorAll('[data-go]')[arguments[0]];"
                            "button.click(); return Number(button.dataset.go)", k)
        assert browser.position()[0] == wanted, where
        assert browser.js("return document.querySelectorAll('li.asked').length") == 1, where
        assert browser.js("return document.querySelectorAll('li[aria-current] b').length") == 2, where
        browser.press("f")
        assert browser.js("return document.querySelectorAll('li.asked').length") == 1, where
    assert browser.js("return document.getElementById('found').textContent") == "The race", where
    assert browser.js("return document.getElementById('conflict').hidden"), where


def check_jumps(browser: Browser, where: str) -> None:
    """Buttons and keys lead to the costly moments, and the address to any, also of a page that is open."""
    browser.js("document.getElementById('first').click()")
    visited = []
    for _ in range(3):
        browser.press("c")
        assert "for bank conflicts" in browser.moment(), f"{where}: {browser.moment()}"
        visited.append(browser.position()[0])
    assert visited == sorted(set(visited)), f"{where}: {visited}"
    for button in ("first", "worst"):
        browser.js("document.getElementById(arguments[0]).click()", button)
        browser.press("w")
        assert "02_nondivergent: Event 38 of 71" in browser.moment(), f"{where}: {browser.moment()}"
    assert browser.js("return document.getElementById('found').hidden"), where
    link = browser.js("return document.getElementById('link').hash")
    for address, event in (("#event=45,45", 45), (link, 38), ("#event=999", 71)):
        browser.js("location.hash = arguments[0]", address)
        browser.driver.execute_async_script("setTimeout(arguments[0], 50)")
        assert f"Event {event} of" in browser.moment(), f"{where}: {browser.moment()}"
    heads = browser.js("return [...document.querySelectorAll('.pane')].map((pane) => pane.getAttribute('aria-label'))")
    assert heads == ["02_nondivergent", "03_sequential"], where


def check_refused(browser: Browser, where: str) -> None:
    """A page whose finding is an access that never happened opens at the end, with its line in sight, and says so."""
    at, last = browser.position()
    assert at == last, f"{where}: {at} of {last}"
    in_sight = ("const line = document.querySelector('li.asked').getBoundingClientRect();"
                "const box = document.querySelector('.source').getBoundingClientRect();"
                "return line.top >= box.top && line.bottom <= box.bottom")
    assert browser.js(in_sight), where
    said = browser.js("return document.querySelector('.view.access .end').textContent")
    assert "reads shared[32] (shared has 32 elements)" in said and "refused" in said, f"{where}: {said}"
    browser.js("document.getElementById('first').click()")
    assert not browser.js("return document.querySelector('.end, li.asked')"), where
    browser.js("document.querySelector('[data-in]').click()")
    assert browser.position()[0] == last and browser.js(in_sight), where


def check_terms(browser: Browser, where: str) -> None:
    """A term explains itself when it has the focus, until Escape."""
    shown = ("const tip = document.querySelector('.term').nextElementSibling;"
             "return getComputedStyle(tip).display !== 'none' && tip.textContent.length > 20")
    assert not browser.js(shown), where
    browser.js("document.querySelector('.term').focus()")
    assert browser.js(shown), where
    from selenium.webdriver.common.keys import Keys
    browser.press(Keys.ESCAPE)
    assert not browser.js(shown), where


def check_finding_alone(browser: Browser, where: str) -> None:
    """A fault before the first event is told, with its lines; there is nothing to step through."""
    assert "race in sum" in browser.js("return document.getElementById('findings').innerText"), where
    assert browser.js("return document.querySelectorAll('.source b').length") == 2, where
    assert browser.js("return document.getElementById('problem').hidden"), where
    assert not browser.js("return document.getElementById('controls').checkVisibility()"), where
    assert not browser.js("return document.querySelectorAll('[data-view]').length"), where


def check_second_trace(browser: Browser, good: list[Path], bad: Path) -> None:
    """A second trace comes from a file or a page, chosen or dropped; what is none gets a sentence, changes nothing."""
    from selenium.webdriver.common.by import By
    chosen = browser.driver.find_element(By.ID, "file")
    chosen.send_keys(str(bad))
    wait = "const done = arguments[0]; setTimeout(() => done(document.getElementById('problem').textContent), 300)"
    problem = browser.driver.execute_async_script(wait)
    assert "is not a trace" in problem, problem
    panes = "return document.querySelectorAll('.pane').length"
    assert browser.js(panes) == 1
    for file in good:
        chosen.send_keys(str(file))
        assert browser.driver.execute_async_script(wait) == ""
        assert browser.js(panes) == 2
        browser.js("document.getElementById('close').click()")
        assert browser.js(panes) == 1
    browser.js("const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'dropped.json'));"
               "const drop = {dataTransfer: data, bubbles: true, cancelable: true};"
               "document.body.dispatchEvent(new DragEvent('drop', drop))",
               good[0].read_text(encoding="utf-8"))
    assert browser.driver.execute_async_script(wait) == ""
    assert browser.js(panes) == 2
    browser.js("document.getElementById('close').click()")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("explorer pages")
    template = folder / "template.html"
    subprocess.run(["cmake", f"-DFOLDER={EXPLORER}", f"-DPAGE={template}", "-P", EXPLORER / "bundle.cmake"], check=True)
    one, other, race = map(trace_of, ("01_interleaved", "05_unroll_warp", "warp_synchronous_tail"))
    beside = [trace_of("03_sequential"), trace_of("02_nondivergent")]  # the earlier step stands left
    evil = trace_of("05_unroll_warp")
    evil["title"] = evil["program"] = "</script><img src=x onerror=\"document.title='broken in'\">"
    evil["sources"][0]["lines"] = [evil["title"] for _ in evil["sources"][0]["lines"]]
    without_events: dict[str, Any] = {**race, "events": []}
    traces = {"one": [one], "two": [one, other], "beside": beside, "finding": [race], "evil": [evil],
              "refused": [trace_of("tail_past_shared_memory")], "shuffles": [trace_of("08_warp_shuffle")],
              "no events": [without_events], "second without events": [other, without_events]}
    made = {}
    for name, shown in traces.items():
        made[name] = folder / f"{name}.html"
        text = template.read_text(encoding="utf-8")
        made[name].write_text(text.replace("@explorer_traces@", json.dumps(shown).replace("<", "\\u003c")),
                              encoding="utf-8")
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_pages(browser: Browser, pages: dict[str, Path], size: str, scheme: str) -> None:
    for kind, path in pages.items():
        where = f"{kind} {size} {scheme}"
        browser.open(path, SIZES[size], scheme)
        browser.check_quiet(where)
        if kind in ("one", "two", "shuffles") and (scheme == "light" or kind == "two"):
            check_steps(browser, where)
        if kind == "beside":
            check_jumps(browser, where)
        if kind == "finding":
            check_finding(browser, where)
        if kind == "refused":
            check_refused(browser, where)
        if kind == "one":
            check_terms(browser, where)
            check_second_trace(browser, [SECOND, pages["finding"]], EXPLORER / "package.json")
        browser.show_all()
        if kind == "second without events":
            assert browser.js("return document.querySelectorAll('.pane').length") == 1, where
            assert "no events" in browser.js("return document.getElementById('problem').innerText")
        if kind == "no events":
            check_finding_alone(browser, where)
        elif kind != "evil":
            check_current_line(browser, where)
        title = browser.driver.title
        assert "broken in" not in title or kind == "evil" and title.startswith("</script>"), title
        assert browser.js("return document.images.length") == 0, where
        browser.check_quiet(where)


@pytest.mark.parametrize("size", SIZES)
def test_axe_has_no_serious_finding(browser: Browser, pages: dict[str, Path], size: str) -> None:
    for kind, path in pages.items():
        browser.open(path, SIZES[size], "light")
        browser.show_all()
        assert browser.serious_findings() == [], kind
        browser.prefer("dark")
        assert browser.serious_findings(*RULES_OF_COLOURS) == [], kind
