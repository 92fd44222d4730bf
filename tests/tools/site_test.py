"""The HTML site: it builds without a warning and a dead link, and dead links are found, on it and on GitHub."""

import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tools import links, site
from tools.command_line import BadUsage, NotPossible

Ran = CompletedProcess[str]
INSTALLED = bool(shutil.which("doxygen")) and site.THEME.is_dir() and site.MATHJAX.is_dir()


@pytest.mark.parametrize("github, doxygen", [
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
    assert site.converted(github, "page", lambda link: places.get(link, link)) == f"{doxygen}\n"


def test_chapters_and_neighbours(tmp_path: Path) -> None:
    made = site.Site(tmp_path)
    assert list(made.chapters) == ["Start", "Ladder", "Beyond", "Pitfalls", "Reference"]
    assert made.pages[:2] == ["README.md", "docs/cuda_in_ten_minutes.md"] and len(set(made.pages)) == len(made.pages)
    assert "docs/glossary.md" in made.chapters["Start"] and "tools/README.md" in made.chapters["Reference"]
    assert [page[:3] for page in made.chapters["Ladder"]] == [f"0{k}_" for k in range(8)]
    for before, page, after in zip(made.pages, made.pages[1:], made.pages[2:]):
        last_line = site.text_of(page).rstrip().splitlines()[-1]
        ways = made.neighbours(page)
        # Once: by the page itself, or by the site.
        assert ("→](" in last_line) == (ways == ""), page
        assert ways == "" or f'rel="prev" href="{site.label(before)}.html"' in ways, page
        assert ways == "" or f'rel="next" href="{site.label(after)}.html"' in ways, page
    assert "prev" not in made.neighbours(made.pages[0]) and "next" not in made.neighbours(made.pages[-1])


@pytest.mark.skipif(not INSTALLED, reason="there is no Doxygen, doxygen-awesome-css or MathJax")
def test_the_site_builds_where_nothing_of_others_is(tools: Callable[..., Ran], tmp_path: Path) -> None:
    folder = tmp_path / "a site"
    (folder / "site").mkdir(parents=True)
    with pytest.raises(BadUsage, match="is not from this command"):
        site.main([str(folder)])
    (folder / "site").rmdir()
    made = tools("site", folder)
    assert (made.returncode, made.stderr) == (0, "") and made.stdout == f"The site: {folder}/site/index.html\n"
    assert "MathJax" in (folder / "site/index.html").read_text() and (folder / "site/mathjax/MathJax.js").exists()
    site.make_own_folders(folder)
    assert not list((folder / "site").iterdir())


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotPossible, match="sudo apt install"):
        site.main([str(tmp_path)])
    assert not list(tmp_path.iterdir())


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
    assert sorted(links.dead_links_of_pages(tmp_path)) == [
        "README.md: dead link #same-a_b-2-2", "README.md: dead link no.png", "README.md: dead link no.svg",
        "README.md: dead link nowhere.md", "docs/x.md: dead link ../README.md#no"]
