"""The HTML site: it builds without a warning and a dead link, and dead links are found, on it and on GitHub."""

import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tools import links, site

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


@pytest.mark.skipif(not INSTALLED, reason="there is no Doxygen, doxygen-awesome-css or MathJax")
def test_the_site_builds_again_and_again(tools: Callable[..., Ran], tmp_path: Path) -> None:
    folder = tmp_path / "a site"
    for _ in range(2):
        made = tools("site", folder)
        assert (made.returncode, made.stderr) == (0, "") and made.stdout == f"The site: {folder}/site/index.html\n"
        (folder / "site/left_over.html").touch()
    assert "MathJax" in (folder / "site/index.html").read_text() and (folder / "site/mathjax/MathJax.js").exists()


def test_a_folder_of_others_is_kept(tools: Callable[..., Ran], tmp_path: Path) -> None:
    theirs = tmp_path / "site/theirs.txt"
    theirs.parent.mkdir()
    theirs.touch()
    refused = tools("site", tmp_path)
    assert refused.returncode == 2 and "is not from this command" in refused.stderr and theirs.exists()
    assert [tools("site", *words).returncode for words in ([""], ["-x"], ["a", "b"])] == [2, 2, 2]


def test_what_is_not_installed_is_named(tools: Callable[..., Ran], tmp_path: Path) -> None:
    refused = tools("site", tmp_path, env={"PATH": str(tmp_path)})
    assert refused.returncode == 3 and "sudo apt install" in refused.stderr and not list(tmp_path.iterdir())


def test_dead_links_of_html_are_found(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.html").write_text('<a name="x"></a><a href="in/b.html#y">1</a><a href="#x">2</a><a href="#z">3</a>'
                                     '<a href="https://x.org/no">4</a><!-- <a href="no"> --><img src="no.png">')
    (tmp_path / "in/b.html").write_text('<p id="y"><a href="../a.html#x">1</a><a href="../a.html#y">2</a><a href="#">3')
    assert site.dead_links_of_site(tmp_path) == [
        "a.html: dead link #z", "a.html: dead link no.png", "in/b.html: dead link ../a.html#y"]


def test_dead_links_of_markdown_are_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(
        "# Title\n## Same `a_b`, 2²!\n## Same a_b, 2\n<a name='old'></a>\n"
        "[1](docs) [2](docs/x.md#over-here) ![3](no.svg)\n"
        "[4](#same-a_b-2) [5](#same-a_b-2-1) [6](#same-a_b-2-2) [7](#old) [8](https://x.org/no#no) [9](docs#here)\n"
        "`[no](code)` ``[&](int `x`)``\n```cpp\n# no heading\n[&](int x)\n```\n[below]\n\n[below]: nowhere.md\n"
        "<!-- [no](comment) --> <img src='no.png'>\n")
    (tmp_path / "docs/README.md").write_text("## Here\n")
    (tmp_path / "docs/x.md").write_text("# Over-here\n[1](../README.md#title) [2](../README.md#no) [3](../docs)\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/y.md").write_text("[made](by/somebody.md)\n")
    assert sorted(links.dead_links_of_pages(tmp_path)) == [
        "README.md: dead link #same-a_b-2-2", "README.md: dead link no.png", "README.md: dead link no.svg",
        "README.md: dead link nowhere.md", "docs/x.md: dead link ../README.md#no"]
