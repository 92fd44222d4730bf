"""The HTML site: it builds without a warning and a dead link, and dead links are found."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, CompletedProcess, run

import pytest
from explorer.browser_test import RULES_OF_COLOURS, SIZES, Browser

from tools import links, search, site
from tools.command_line import REPOSITORY, BadUsage, NotPossible
from tools.doxygen_pages import converted
from tools.programs import Programs

Ran = CompletedProcess[str]
# What readers ask, and where the first page that is found leads: to one of these pages, or to a term of the glossary.
ASKED = {
    # Words, also in part, and names in code.
    "wavefront": "docs_glossary_wavefront",
    "bank confl": "docs_glossary_bank-conflict",
    "TwoSum": "docs_glossary_twosum",
    "what does __shfl_down_sync do": "docs_glossary_shuffle",
    "cudaMallocAsync": "beyond_12_any_operation_manual",
    "ERR_NVGPUCTRPERM": "docs_counters",
    # Written together, or as others call it.
    "bankconflict": "docs_glossary_bank-conflict",
    "threadblock": "docs_glossary_block",
    "smem": "docs_glossary_shared-memory",
    "race condition": "docs_glossary_race",
    "data race": "docs_glossary_race",
    "warp divergence": "docs_glossary_divergence",
    # Newcomers' questions.
    "what is a warp": "docs_glossary_warp",
    "what is occupancy": "docs_glossary_occupancy",
    "coalesced memory access": "docs_glossary_coalesced",
    "bank conflict padding": "docs_pitfalls_columns_without_padding",
    "why is 01 slow if nothing diverges": "step_01_interleaved",
    "what does the tolerance mean": "docs_floating_point",
    "why not `volatile`": "docs_pitfalls_warp_synchronous_tail",
    "which header do I use": "beyond_12_any_operation_manual",
    "which header do I use in my own code": "beyond_12_any_operation_manual",
    "how do I choose the block size": "docs_studies",
    "how many blocks should I launch": "step_07_cascade",
    "can I run this without a GPU": "docs_no_gpu",
    "does it work on AMD": "docs_amd",
    "mac no nvidia gpu": "docs_no_gpu",
    "no gpu laptop": "docs_no_gpu",
    "how to sum an array on GPU": "step_01_interleaved",
    # What they see.
    "why is my sum wrong": "docs_symptoms",
    "why is my kernel slow": "docs_symptoms",
    "the result changes from run to run": "docs_symptoms",
    "my sum is different every run": "docs_symptoms",
    "my kernel never finishes": "docs_symptoms",
    "deadlock": "docs_symptoms",
    "illegal memory access": "docs_symptoms",
    "kernel does nothing no output": "docs_pitfalls_launch_that_nobody_checks",
    "cuda error invalid configuration": "docs_pitfalls_launch_that_nobody_checks",
    "float sum is off by a little": "docs_symptoms",
    "atomicAdd slow": "beyond_atomics_atomic_block",
    "__syncthreads inside an if": "docs_pitfalls_barrier_inside_the_bounds_check",
    # The issues of other repositories with a reduction.
    "array size is not a power of two": "step_01_interleaved",
    "one element reads out of bounds": "docs_pitfalls_unguarded_second_load",
    "histogram with atomics": "docs_pitfalls_histogram_without_atomics",
    "the second pass gives a wrong sum": "docs_cuda_in_ten_minutes",
    "all-ones data passes a wrong kernel": "common",
    "GPU sum different from CPU": "docs_floating_point",
    "bandwidth above the peak": "docs_method",
    "no kernel image is available": "docs_cuda_in_ten_minutes",
    "figures nobody can reproduce": "docs_results",
    "some block sizes fail": "step_03_sequential",
    # What no page has, and words that every page has.
    "reducshun": "",
    "what is the": "",
    " ": "",
}


@pytest.mark.parametrize("github, doxygen", [
    ("takes <!-- us -->3<!-- /us --> µs", "takes 3 µs"),
    ("# A `<T>` page", "# A `<T>` page {#page}"),
    ("[a](b.md), ![to](c.svg) [of](b.md#an-anchor)", "[a](b.html), ![to](source/c.svg) [of](b.html#b_an-anchor)"),
    ("[here](#here) [there](https://x.org/#y)", "[here](page.html#page_here) [there](https://x.org/#y)"),
    ("## The first sum: 2 × `a_b`", "@anchor page_the-first-sum-2--a_b\n\n## The first sum: 2 × `a_b`"),
    ("```diff\n@@ -1 +1 @@\n-a < b\n+a & b\n c\n```",
     '@htmlonly[block]\n<pre class="fragment diff"><span class="place">@@ -1 +1 @@</span>\n'
     '<span class="removed">-a &lt; b</span>\n<span class="added">+a &amp; b</span>\n<span class="same"> c</span>\n'
     '</pre>\n@endhtmlonly'),
    ("```cpp\n# no [heading](b.md)\n```", "```cpp\n# no [heading](b.md)\n```"),
    ("<details>\n<summary>Answer</summary>\n\n**y**\n</details>",
     "@htmlonly[block]\n<details>\n<summary>Answer</summary>\n@endhtmlonly\n\n**y**\n"
     "@htmlonly[block]\n</details>\n@endhtmlonly"),
])
def test_a_page_is_converted(github: str, doxygen: str) -> None:
    places = {"b.md": "b.html", "c.svg": "source/c.svg"}
    assert converted(github, "page", lambda link: places.get(link, link)) == f"{doxygen}\n"


def test_every_page_has_a_chapter_and_neighbours(tmp_path: Path) -> None:
    made = site.Site(tmp_path)
    assert len(set(made.pages)) == len(made.pages)
    # As their list has them.
    assert made.chapters["Pitfalls"][:4] == ["docs/pitfalls/README.md", "docs/symptoms.md", *(
        f"docs/pitfalls/{name}.md" for name in ("endless_loop", "no_barrier_between_levels"))]
    for before, page, after in zip(made.pages, made.pages[1:], made.pages[2:]):
        last_line = site.text_of(page).rstrip().splitlines()[-1]
        ways = made.neighbours(page)
        # Once: by the page itself, or by the site.
        assert ("→](" in last_line) == (ways == ""), page
        for way, other in (("prev", before), ("next", after)):
            assert ways == "" or f'rel="{way}" href="{site.label(other)}.html"' in ways, page
    assert "prev" not in made.neighbours(made.pages[0]) and "next" not in made.neighbours(made.pages[-1])


def test_the_pages_of_the_course_lead_on_as_their_chapters_have_them(tmp_path: Path) -> None:
    chapters = site.Site(tmp_path).chapters
    order = [page for chapter in ("Start", "Ladder", "Beyond") for page in chapters[chapter]]
    for before, page, after in zip(order, order[1:], [*order[2:], chapters["Pitfalls"][0]]):
        way = {to: os.path.relpath(to, Path(page).parent) for to in (before, after, "README.md")}
        title = {to: site.text_of(to).partition("\n")[0].removeprefix("# ") for to in (before, after)}
        links = [f"[← {title[before]}]({way[before]})"] * (before != "README.md")
        links += [f"[the ladder]({way['README.md']})", f"[{title[after]} →]({way[after]})"]
        assert site.text_of(page).rstrip("\n").rpartition("\n")[2] == " · ".join(links), page


def test_a_link_that_begins_with_a_number_leads_to_that_step(tmp_path: Path) -> None:
    pages = {page: site.text_of(page) for page in site.Site(tmp_path).pages}
    links = [(page, *found) for page, text in pages.items()
             for found in re.findall(r"\[(\d\d)\b[^]\n]*\]\([^)#\n]*?\b(\d\d)_\w+/", text)]
    assert len(links) > 200 and not [link for link in links if link[1] != link[2]]


needs_all = pytest.mark.skipif(not site.installed(), reason="what `python3 -m tools site` takes is not here")


@pytest.fixture(scope="module")
def built(tools: Callable[..., Ran], bin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, in a folder whose name has a space: no warning, no dead link."""
    folder = tmp_path_factory.mktemp("made") / "a site"
    made = tools("site", folder, "--bin", bin_folder)
    left_out = [step for step in site.EXPLORED if not (bin_folder / step).exists()]
    assert made.stderr == (f"Left out: the explorers of {', '.join(left_out)}, which are not built in '{bin_folder}'\n"
                           if left_out else "")
    assert (made.returncode, made.stdout) == (0, f"The site: {folder}/site/index.html\n")
    return folder / "site"


@needs_all
def test_the_search_finds_what_answers(built: Path) -> None:
    code = f"""
        const read = (path) => require("fs").readFileSync(path, "utf8");
        const data = Function(read({json.dumps(str(built / "search_index.js"))}) + "return SEARCH;")();
        const lunr = require({json.dumps(str(built / "lunr.js"))});
        const {{ find }} = require({json.dumps(str(search.SEARCH))});
        const index = lunr.Index.load(data.index);
        const first = (words) => find(lunr, index, data, words).pages[0]?.link ?? "";
        process.stdout.write(JSON.stringify(JSON.parse(read(0)).map((words) => [words, first(words)])));"""
    ran = run(["node", "-e", code], input=json.dumps(list(ASKED)), encoding="utf-8", check=True, stdout=PIPE)
    assert {words: link.partition("#")[2] if "docs_glossary" in link else link.partition(".html")[0]
            for words, link in json.loads(ran.stdout)} == ASKED


def test_the_glossary_is_in_order_and_has_every_counter() -> None:
    text = (REPOSITORY / "docs/glossary.md").read_text("utf-8")
    terms = re.findall("(?m)^### (.*)", text)
    assert terms == sorted(terms, key=str.lower)
    first = {term[0].upper(): term for term in reversed(terms)}
    assert re.findall(r"\[([A-Z])\]\(#(.*?)\)", text) == [
        (letter, first[letter].lower().replace(" ", "-")) for letter in sorted(first)]
    counters = re.findall(r'NamedCounter{"(\w+)"', (REPOSITORY / "common/emulated/count/counters.hpp").read_text())
    assert counters and not [name for name in counters if f"`{name}`" not in text.partition("\n## The counters\n")[2]]


@needs_all
def test_the_site_builds_where_nothing_of_others_is(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    with pytest.raises(BadUsage, match="is not from this command"):
        site.main([str(tmp_path)])
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").touch()
    (tmp_path / "site/old.html").touch()
    site.make_own_folders(tmp_path)
    assert not list((tmp_path / "site").iterdir())


def test_a_step_leads_to_its_kernel_and_its_explorer_and_that_leads_back(
        tmp_path: Path, bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = site.Site(tmp_path)
    assert "\n[The whole kernel](kernel.cuh)\n\n## The change\n" in made.with_kernel("01_interleaved/README.md")
    assert made.with_kernel("docs/README.md") == site.text_of("docs/README.md")
    made.make_explorers(Programs(bin_folder))
    left_out = capsys.readouterr().err
    steps = {page.split("/")[-2]: page for page in made.pages if "/" in page}
    for step in site.EXPLORED:
        has_page = f"(explorer/{step}.html)" in made.with_kernel(steps[step])
        assert has_page == (tmp_path / f"explorer/{step}.html").exists() != (step in left_out), step
    beside = "_".join(site.BESIDE)
    for name in ("03_sequential", beside):
        assert 'href="../step_03_sequential.html">← 03 · Sequential addressing</a></nav>\n<header>' in (
            tmp_path / f"explorer/{name}.html").read_text("utf-8")
    for step in site.BESIDE:
        assert f" · [02 and 03 side by side](explorer/{beside}.html)\n\n## " in made.with_kernel(steps[step]), step
    before, link, _ = made.with_kernel("docs/pitfalls/scan_in_place.md").partition(
        "</summary>\n\n[One block of it, access by access, in the explorer](explorer/pitfall_scan_in_place.html).\n")
    assert link and before.count("<details>") == 1 and (tmp_path / "explorer/pitfall_scan_in_place.html").exists()


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotPossible, match="sudo apt install"):
        site.main([str(tmp_path)])
    assert not list(tmp_path.iterdir())


# A page of each kind.
SHOWN = ("index", "step_03_sequential", "docs_glossary", "docs_why_bandwidth", "docs_floating_point", "docs_teaching",
         "docs_results_nvidia_h200", "docs_pitfalls_warp_synchronous_tail", "source_step_01_interleaved_kernel_cuh",
         "docs_symptoms", "classreduction_1_1Report", "harness_2report_8hpp", "harness_2report_8hpp_source", "files",
         "explorer/03_sequential", "explorer/02_nondivergent_03_sequential", "explorer/pitfall_scan_in_place")


@needs_all
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_a_page_of_each_kind_opens(built: Path, browser: Browser, size: str, scheme: str) -> None:
    for page in SHOWN:
        assert (built / f"{page}.html").exists(), page
        browser.open(built / f"{page}.html", SIZES[size], scheme)
        browser.check_quiet(page)
        assert browser.js("return document.querySelectorAll('h1').length") == 1, page
        assert browser.js("return document.querySelector('link[rel=icon]').href").endswith("/favicon.svg"), page


@needs_all
def test_the_pages_are_reached_by_keyboard_and_by_touch(built: Path, browser: Browser) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    browser.open(built / "step_03_sequential.html", SIZES["wide"], "light")
    browser.press(Keys.TAB, Keys.ENTER, Keys.TAB)
    assert browser.js("return document.activeElement.closest('main') !== null"), "past what all pages have"
    browser.open(built / "index.html", SIZES["narrow"], "light")
    for pressed in ("#menu", "#pages details:nth-of-type(2) summary", "#pages a[href^=step_05]"):
        browser.driver.find_element(By.CSS_SELECTOR, pressed).click()
    assert browser.driver.current_url.endswith("/step_05_unroll_warp.html")
    assert browser.js("return document.querySelector('#pages details[open] [aria-current]').href.includes('step_05')")


@needs_all
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_serious_on_every_page(built: Path, browser: Browser, size: str) -> None:
    """Without the sidebar, which all have and which takes half of the time. Nothing but colours changes in the dark."""
    found = []
    for page in sorted(built.rglob("*.html")):
        browser.open(page, SIZES[size], "light")
        browser.check_quiet(page.stem)
        browser.js("document.getElementById('pages')?.remove()")
        found += [f"{page.stem}: {finding}" for finding in browser.serious_findings()]
        browser.prefer("dark")
        found += [f"{page.stem}, dark: {finding}" for finding in browser.serious_findings(*RULES_OF_COLOURS)]
    assert not found, "\n".join(found)


@needs_all
def test_search_and_scheme_in_a_browser(built: Path, browser: Browser) -> None:
    browser.open(built / "index.html", SIZES["wide"], "light")
    browser.press("/", *"wavefront")
    wait = "const done = arguments[0]; const look = () => {" \
        "const links = [...document.querySelectorAll('#found a')].map((link) => link.getAttribute('href'));" \
        "if (links[0]?.includes('wavefront')) done(links); else setTimeout(look, 50); }; look()"
    links = browser.driver.execute_async_script(wait)
    assert links[0] == "docs_glossary.html#docs_glossary_wavefront" and links[1].startswith("step_02_nondivergent.html")
    assert browser.js("return document.querySelector('#found mark').textContent") == "wavefront"
    assert browser.js("return document.getElementById('count').textContent") == f"{len(links)} found"
    browser.press("\ue015", "\ue015", "\ue013")  # down, down, up
    assert browser.js("return document.activeElement.getAttribute('href')") == links[0]
    browser.press("\ue00c")  # Escape
    assert browser.js("return document.activeElement.id") == "words"
    assert browser.js("return document.getElementById('found').hidden")
    browser.js("document.getElementById('scheme').click()")
    browser.driver.get((built / "step_01_interleaved.html").as_uri())
    assert browser.js("return document.documentElement.classList.contains('dark-mode')"), "it is remembered"
    browser.js("document.getElementById('scheme').click()")


@needs_all
def test_below_a_picture_is_something_to_drag(built: Path, browser: Browser) -> None:
    browser.open(built / "docs_pitfalls_columns_without_padding.html", SIZES["narrow"], "light")
    said = "const done = arguments[0]; const look = () => {" \
        "const output = document.querySelector('.dragged output');" \
        "if (output) done(output.textContent); else setTimeout(look, 50); }; look()"
    assert browser.driver.execute_async_script(said) == "padding 0: 32 lanes ask for 1 bank: 32 wavefronts"
    browser.js("document.querySelector('.textblock details').open = true;"
               "document.querySelector('.dragged input').focus()")
    high = browser.js("return document.querySelector('.dragged').offsetHeight")
    browser.press("\ue014")  # to the right
    assert browser.driver.execute_async_script(said) == "padding 1: 32 lanes ask for 32 banks: 1 wavefront"
    assert browser.js("return document.activeElement.getAttribute('aria-valuetext')") == "1"
    assert browser.js("return document.querySelector('.dragged').offsetHeight") == high
    browser.check_quiet("dragged")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = "return ['.dragged', '[src$=\"padding.svg\"]'].map((name) => document.querySelector(name).offsetHeight > 0)"
    assert browser.js(shown) == [False, True]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


# What a reader looks for: where he begins, what he presses, one after the other (with ?, what he asks the search), and
# what he reads then.
TASKS = {
    "step 05 from the start": ("index", ["05_unroll_warp"], "05 · "),
    "the worst conflict of 02": (
        "step_02_nondivergent", ["one block of it, access by access, in the explorer", "Worst request"],
        "Warp 0 reads shared memory: .* of them for bank conflicts. Line 18"),
    "02 beside 03": ("step_02_nondivergent", ["02 and 03 side by side"],
                     "8 wavefronts, 7 of them for bank conflicts(?s:.*)1 wavefront, no bank conflict"),
    "a wrong value": ("docs_pitfalls_no_barrier_between_levels", ["What it says, what is wrong, and the fix"],
                      "where it should read 64"),
    "both lines of a race": (
        "docs_pitfalls_no_barrier_between_levels",
        ["What it says, what is wrong, and the fix", "One block of it, access by access, in the explorer", "The race"],
        r"thread 1 writes shared\[1\] at .*:10: (?s:.*)thread 0 reads it at .*:10: (?s:.*)Line 10"),
    "why a sum is wrong": ("index", ["?why is my sum wrong", "Why is my sum wrong, or my kernel slow?"],
                           "A wrong sum, a program that hangs, a slow kernel: look up what you see"),
    "which header": ("docs_glossary", ["?which header do I use", "12 · The manual of reduction::reduce"], "#include"),
    "slow atomics": ("step_03_sequential", ["?atomicAdd slow", "Atomic · each block"],
                     "adds that sum to the result with one atomic"),
}
PRESSED = """
    const [among, text, done] = arguments;
    const find = () => [...document.querySelectorAll(among)].find((each) =>
      (each.querySelector("b") ?? each).textContent.trim() === text && each.checkVisibility() && each.offsetHeight);
    const look = (before) => {  // until it stays: what is found changes with each letter
      const found = find();
      if (found && found === before) done(found); else setTimeout(look, 200, found);
    };
    look();"""
READ = """
    const pictures = [...document.images].filter((image) => image.checkVisibility()).map((image) => image.alt);
    return [document.body.innerText, ...pictures].join("\\n")"""


@needs_all
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("task", TASKS)
def test_what_a_reader_looks_for_is_three_taps_away(built: Path, browser: Browser, task: str, size: str) -> None:
    page, pressed, read = TASKS[task]
    browser.open(built / f"{page}.html", SIZES[size], "light")
    among = "a, button, summary"
    for text in pressed:
        if text.startswith("?"):
            browser.press("/", *text[1:])
            among = "#found a"
        else:
            browser.driver.execute_async_script(PRESSED, among, text).click()
    assert len(pressed) <= 3 and re.search(read, browser.js(READ)), browser.js(READ)
    browser.check_quiet(task)


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "index.html").write_text(
        "<a name='old'></a> <a href='docs/x.html#over-here'> <img src='no.png'> <p id='here'><a href='#here'> "
        "<a href='#old'> <a href='https://x.org/no#n'> <a href='#no'> <a href='docs'> <a href='nowhere.html'>")
    (tmp_path / "docs/x.html").write_text("<p id='over-here'><a href='../index.html#here'><a href='../index.html#no'>")
    assert links.dead_links(tmp_path) == [
        "docs/x.html: dead link ../index.html#no", "index.html: dead link no.png", "index.html: dead link #no",
        "index.html: dead link nowhere.html"]
