"""The HTML site: it builds without a warning and a dead link, and dead links are found, on it and on GitHub."""

import json
import re
from collections.abc import Callable, Collection
from pathlib import Path
from subprocess import PIPE, CompletedProcess, run

import pytest
from explorer.browser_test import RULES_OF_COLOURS, SIZES, Browser

from tools import links, search, site
from tools.command_line import BadUsage, NotPossible
from tools.doxygen_pages import converted
from tools.programs import Programs

Ran = CompletedProcess[str]
# What readers ask, and the pages that the search lists first for it.
ASKED: dict[str, list[str]] = {
    # Newcomers.
    "wavefront": ["docs_glossary", "step_02_nondivergent"],
    "what is a warp": ["docs_glossary"],
    "why is 01 slow if nothing diverges": ["step_01_interleaved"],
    "what does the tolerance mean": ["docs_floating_point"],
    "why not `volatile`": ["docs_pitfalls_warp_synchronous_tail"],
    "which header do I use in my own code": ["beyond_12_any_operation"],
    "TwoSum": ["docs_glossary", "beyond_14_same_bits"],
    # The issues of other repositories with a reduction.
    "array size is not a power of two": ["step_01_interleaved"],
    "one element reads out of bounds": ["docs_pitfalls_unguarded_second_load"],
    "histogram with atomics": ["docs_pitfalls_histogram_without_atomics"],
    "the second pass gives a wrong sum": ["docs_cuda_in_ten_minutes"],
    "all-ones data passes a wrong kernel": ["common"],
    "GPU sum different from CPU": ["docs_floating_point"],
    "bandwidth above the peak": ["docs_method"],
    "no kernel image is available": ["docs_cuda_in_ten_minutes"],
    "figures nobody can reproduce": ["docs_results"],
    "some block sizes fail": ["step_03_sequential"],
    "ERR_NVGPUCTRPERM": ["docs_counters"],
    # A word that is not yet complete, a name in code, what no page has, and words that every page has.
    "bank confl": ["docs_glossary"],
    "cudaMallocAsync": ["beyond_12_any_operation"],
    "reducshun": [],
    "what is the": [],
    " ": [],
}


@pytest.mark.parametrize("github, doxygen", [
    ("takes <!-- us -->3<!-- /us --> µs", "takes 3 µs"),
    ("# A `<T>` page, $x$", "# A `<T>` page, $x$ {#page}"),
    ("[a](b.md), ![to](c.svg) [of](b.md#an-anchor)", "[a](b.html), ![to](source/c.svg) [of](b.html#b_an-anchor)"),
    ("[here](#here) [there](https://x.org/#y)", "[here](page.html#page_here) [there](https://x.org/#y)"),
    ("## The first [sum](b.md): 2 × `a_b`\n## The first sum: 2 × a_b",
     "@anchor page_the-first-sum-2--a_b\n\n## The first [sum](b.html): 2 × `a_b`\n"
     "@anchor page_the-first-sum-2--a_b-1\n\n## The first sum: 2 × a_b"),
    ("costs $2, or $n - 1$ and `$PATH$` $a$ $$b c$$", r"costs $2, or \f$n - 1\f$ and `$PATH$` \f$a\f$ \f[b c\f]"),
    ("$$\n\\sum x\n$$\n```math\nx\n```", "\\f[\n\\sum x\n\\f]\n\\f[\nx\n\\f]"),
    ("```diff\n@@ -1 +1 @@\n-a < b\n+a & b\n c\n```",
     '@htmlonly[block]\n<pre class="fragment diff"><span class="place">@@ -1 +1 @@</span>\n'
     '<span class="removed">-a &lt; b</span>\n<span class="added">+a &amp; b</span>\n<span class="same"> c</span>\n'
     '</pre>\n@endhtmlonly'),
    ("```cpp\n# $no$ [heading](b.md)\n```", "```cpp\n# $no$ [heading](b.md)\n```"),
    ("<details>\n<summary>Answer</summary>\n\n$y$\n</details>",
     "@htmlonly[block]\n<details>\n<summary>Answer</summary>\n@endhtmlonly\n\n\\f$y\\f$\n"
     "@htmlonly[block]\n</details>\n@endhtmlonly"),
])
def test_a_page_is_converted(github: str, doxygen: str) -> None:
    places = {"b.md": "b.html", "c.svg": "source/c.svg"}
    assert converted(github, "page", lambda link: places.get(link, link)) == f"{doxygen}\n"


def test_every_page_has_a_chapter_and_neighbours(tmp_path: Path) -> None:
    made = site.Site(tmp_path)
    assert len(set(made.pages)) == len(made.pages)
    # As their list has them.
    assert made.chapters["Pitfalls"][:3] == [f"docs/pitfalls/{name}.md" for name in (
        "README", "endless_loop", "no_barrier_between_levels")]
    for before, page, after in zip(made.pages, made.pages[1:], made.pages[2:]):
        last_line = site.text_of(page).rstrip().splitlines()[-1]
        ways = made.neighbours(page)
        # Once: by the page itself, or by the site.
        assert ("→](" in last_line) == (ways == ""), page
        for way, other in (("prev", before), ("next", after)):
            assert ways == "" or f'rel="{way}" href="{site.label(other)}.html"' in ways, page
    assert "prev" not in made.neighbours(made.pages[0]) and "next" not in made.neighbours(made.pages[-1])


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
def test_the_search_lists_first_what_answers(built: Path) -> None:
    found = found_by_the_search(built, ASKED)
    assert {words: [page.removesuffix(".html") for page in found[words][:len(pages) or 1]]
            for words, pages in ASKED.items()} == ASKED


def found_by_the_search(made: Path, asked: Collection[str]) -> dict[str, list[str]]:
    """The site's pages that its search lists for each of these questions, best first."""
    code = f"""
        const read = (path) => require("fs").readFileSync(path, "utf8");
        const {{ index, sections }} = Function(read({json.dumps(str(made / "search_index.js"))}) + "return SEARCH;")();
        const lunr = require({json.dumps(str(made / "lunr.js"))});
        const {{ find }} = require({json.dumps(str(search.SEARCH))});
        const loaded = lunr.Index.load(index);
        const found = (words) => [words, find(lunr, loaded, sections, words).map(({{ page }}) => page)];
        process.stdout.write(JSON.stringify(Object.fromEntries(JSON.parse(read(0)).map(found))));"""
    ran = run(["node", "-e", code], input=json.dumps(list(asked)), encoding="utf-8", check=True, stdout=PIPE)
    pages: dict[str, list[str]] = json.loads(ran.stdout)
    return pages


def test_the_sections_of_a_page() -> None:
    lead, one = search.sections("p.html", 1, """# 01 · A `T` {#p}\n\nlead ![picture](a.svg)\n
@anchor p_one\n\n## One *more*\n\n- text **says it** [link](q.html#q_x) [−1, 1)\n
| a | b |\n|:--|--:|\n```sh\n--code\n```\n@htmlonly[block]\n<pre class="fragment diff"><span>&lt;x&gt;</span></pre>
<nav class="neighbours">no</nav>\n@endhtmlonly\n""")
    assert (lead["link"], lead["title"], lead["heading"], lead["text"]) == ("p.html", *["01 · A T"] * 2, "lead picture")
    assert (one["link"], one["title"], one["heading"]) == ("p.html#p_one", "01 · A T", "One more")
    assert one["text"] == "text says it link [−1, 1) a b --code <x>" and one["shown"] == "text says it link [−1, 1) a b"
    assert (one["bold"], one["links"]) == ("says it", ["q.html"])


@needs_all
def test_bold_text_may_begin_with_code(built: Path) -> None:
    assert "<b><code>tid ^ stride</code> stays inside the warp.</b>" in (built / "step_05_unroll_warp.html").read_text()
    assert [page.name for page in built.glob("*.html") if "**<code>" in page.read_text()] == []


@needs_all
def test_the_sidebar_leads_to_pages(built: Path) -> None:
    # Links in HTML are checked by the command itself; the sidebar is made of scripts.
    named = {page for script in [built / "navtreedata.js", built / "menudata.js", *built.glob("*_8hpp.js")]
             for page in re.findall(r'"([^"#\s]+\.html)', script.read_text("utf-8"))}
    assert len(named) > 100 and [page for page in sorted(named) if not (built / page).exists()] == []


@needs_all
def test_the_site_builds_where_nothing_of_others_is(built: Path, tmp_path: Path) -> None:
    assert "MathJax" in (built / "index.html").read_text() and (built / "mathjax/MathJax.js").exists()
    (tmp_path / "site").mkdir()
    with pytest.raises(BadUsage, match="is not from this command"):
        site.main([str(tmp_path)])
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").touch()
    (tmp_path / "site/old.html").touch()
    site.make_own_folders(tmp_path)
    assert not list((tmp_path / "site").iterdir())


def test_code_and_folders_have_a_page_with_a_way_back(tmp_path: Path) -> None:
    made = site.Site(tmp_path)
    place = made.place_of_link("01_interleaved/README.md", "kernel.cuh")
    assert place == "source_step_01_interleaved_kernel_cuh.html"
    made.place_of_link("docs/README.md", "../docs/pitfalls/fixed")
    pages = dict(made.source_pages())
    kernel, folder = pages["01_interleaved/kernel.cuh"], pages["docs/pitfalls/fixed"]
    title = site.title_of("01_interleaved/README.md")
    assert f"← [{title}](step_01_interleaved.html)" in kernel and "~~~~~~{.cpp}\n#pragma once\n" in kernel
    assert "- [endless_loop.cuh](source_docs_pitfalls_fixed_endless_loop_cuh.html)" in folder
    assert "← [docs/pitfalls/fixed](source_docs_pitfalls_fixed.html)" in pages["docs/pitfalls/fixed/endless_loop.cuh"]


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
    assert 'href="../step_03_sequential.html">← 03 · Sequential addressing</a></nav>\n<header>' in (
        tmp_path / "explorer/03_sequential.html").read_text("utf-8")


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotPossible, match="sudo apt install"):
        site.main([str(tmp_path)])
    assert not list(tmp_path.iterdir())


# A page of each kind.
SHOWN = ("index", "step_03_sequential", "docs_glossary", "docs_why_bandwidth", "docs_floating_point", "docs_teaching",
         "docs_results_nvidia_h200", "docs_pitfalls_warp_synchronous_tail", "source_step_01_interleaved_kernel_cuh",
         "source_docs_pitfalls_fixed", "classreduction_1_1Report", "report_8hpp", "report_8hpp_source", "files",
         "explorer/03_sequential")
WITH_SIDEBAR = ("index", "step_03_sequential", "classreduction_1_1Report")  # a top, one below, one two below


def findings(browser: Browser, page: Path, size: str, whole: bool = True, folder: Path | None = None) -> list[str]:
    """What axe-core finds serious in either scheme; fails where the console says anything or the page is too wide.

    A page that is not `whole` is looked at without its sidebar, which all have and which takes half of the time.
    """
    found = []
    for scheme, rules in (("light", ()), ("dark", RULES_OF_COLOURS)):
        where = f"{page.stem}_{size}_{scheme}"
        if scheme == "light":
            browser.open(page, SIZES[size], scheme)
            browser.check_quiet(where)
            if not whole:
                browser.js("document.getElementById('side-nav')?.remove()")
        else:
            # Nothing but colours changes.
            browser.prefer(scheme)
        if folder:
            browser.driver.save_screenshot(str(folder / f"site_{where}.png"))
        found += [f"{where}: {rule}: {elements}" for rule, elements in browser.serious_findings(*rules)]
    return found


@needs_all
def test_a_page_of_each_kind_in_a_browser(built: Path, browser: Browser, request: pytest.FixtureRequest) -> None:
    folder = request.config.getoption("--screenshots")
    found = [line for page in SHOWN for line in findings(
        browser, built / f"{page}.html", "wide", whole=page in WITH_SIDEBAR or folder is not None, folder=folder)]
    assert not found, "\n".join(found)


@needs_all
def test_a_page_of_each_kind_fits_a_telephone(built: Path, browser: Browser, request: pytest.FixtureRequest) -> None:
    """Neither scheme changes a width, so one is enough."""
    for page in SHOWN:
        browser.open(built / f"{page}.html", SIZES["narrow"], "dark")
        browser.check_quiet(page)
        if folder := request.config.getoption("--screenshots"):
            browser.driver.save_screenshot(str(folder / f"site_{page.replace('/', '_')}_narrow.png"))


@needs_all
@pytest.mark.parametrize("size", SIZES)
def test_every_page_in_a_browser(built: Path, browser: Browser, size: str) -> None:
    found = [line for page in sorted(built.rglob("*.html")) for line in findings(browser, page, size, whole=False)]
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
    browser.press("\ue00c")  # Escape
    assert browser.js("return document.getElementById('found').hidden")
    browser.js("document.getElementById('scheme').click()")
    browser.driver.get((built / "step_01_interleaved.html").as_uri())
    assert browser.js("return document.documentElement.classList.contains('dark-mode')"), "it is remembered"
    browser.js("document.getElementById('scheme').click()")
    assert browser.js("return document.querySelectorAll('div.toc a').length") > 5
    assert browser.js("return document.querySelectorAll('doxygen-awesome-fragment-copy-button').length") > 1
    # No title of the sidebar is clipped.
    labels = browser.js("return [...document.querySelectorAll('#nav-tree .label')].map((label) => [label.textContent,"
                        " label.scrollWidth <= label.clientWidth && label.scrollHeight <= label.clientHeight])")
    assert len(labels) > 10 and all(whole for _, whole in labels), labels
    # On a telephone what is found fits the window, and a page leads to the next.
    browser.open(built / "docs_pitfalls_endless_loop.html", SIZES["narrow"], "dark")
    browser.press("/", *"wavefront")
    browser.driver.execute_async_script(wait)
    left, right, width = browser.js("const found = document.getElementById('found').getBoundingClientRect();"
                                    "return [found.left, found.right, innerWidth]")
    assert 0 < left < right < width
    browser.press("\ue00c")
    browser.js("document.querySelector('nav.neighbours a[rel=next]').click()")
    assert browser.driver.current_url.endswith("/docs_pitfalls_no_barrier_between_levels.html")


@needs_all
def test_the_menu_opens_by_a_tap(built: Path, browser: Browser) -> None:
    """A finger on the middle of the button reaches it: on a telephone nothing lies over it."""
    browser.open(built / "step_03_sequential.html", SIZES["narrow"], "light")
    button = browser.js("const at = document.querySelector('label.main-menu-btn').getBoundingClientRect();"
                        "return {x: at.x + at.width / 2, y: at.y + at.height / 2}")
    is_shown = "document.getElementById('main-menu').getClientRects().length > 0"
    assert not browser.js(f"return {is_shown}")
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        for kind, points in (("touchStart", [button]), ("touchEnd", [])):
            browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        # It slides open; without an answer the script's time runs out.
        browser.driver.execute_async_script(
            "const done = arguments[0];"
            f"const look = () => {{ if ({is_shown}) done(); else setTimeout(look, 50); }}; look()")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_dead_links_are_found(tmp_path: Path) -> None:
    for name, text in (
            ("README.md", "# Title\n## Same `a_b`, 2²!\n## Same a_b, 2\n<a name='old'></a>\n"
             "[1](docs) [2](docs/x.md#over-here) ![3](no.svg)\n"
             "[4](#same-a_b-2) [5](#same-a_b-2-1) [6](#same-a_b-2-2) [7](#old) [8](https://x.org/no#n) [9](docs#here)\n"
             "`[no](code)` ``[&](int `x`)``\n```cpp\n# no heading\n[&](int x)\n```\n[below]\n\n[below]: nowhere.md\n"
             "<!-- [no](comment) --> <img src='no.png'> <p id='here'><a href='#here'>\n"),
            ("docs/README.md", "## Here\n"),
            ("docs/x.md", "# Over-here\n[1](../README.md#title) [2](../README.md#no) [3](../docs)\n"),
            ("build/y.md", "[made](by/somebody.md)\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert sorted(links.dead_links(tmp_path, links.pages_of(tmp_path), links.markdown_page)) == [
        "README.md: dead link #same-a_b-2-2", "README.md: dead link no.png", "README.md: dead link no.svg",
        "README.md: dead link nowhere.md", "docs/x.md: dead link ../README.md#no"]
