"""Makes the HTML site from the repository's Markdown pages and the comments in its headers, then checks its links.

The site is FOLDER/site/index.html. `cmake --build --preset docs` calls this, too. It takes Doxygen, its theme
doxygen-awesome-css and MathJax 2 from the distribution: nothing is fetched, and the site works without a network.

Exit code: 0 done, 1 a warning of Doxygen or a dead link, 2 bad usage, 3 something is not installed.
"""

import glob
import html
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tools.command_line import REPOSITORY, BadUsage, ExitCode, Failure, NotPossible, Parser
from tools.links import HEADING, Page, anchor_of, dead_links

THEME = Path("/usr/share/doxygen-awesome-css")
MATHJAX = Path("/usr/share/javascript/mathjax")
# The part of MathJax that draws TeX as SVG.
MATHJAX_PARTS = ("MathJax.js", "extensions", "jax/element", "jax/input/TeX", "jax/output/SVG/config.js",
                 "jax/output/SVG/jax.js", "jax/output/SVG/autoload", "jax/output/SVG/fonts/TeX")
# The navigation has them in this order.
PAGES = ("README.md", "[0-9][0-9]_*/README.md", "beyond/README.md", "beyond/[0-9]*/README.md", "beyond/*/README.md",
         "beyond/*/*/README.md", "common/README.md", "common/device/emulated/README.md", "docs/README.md", "docs/*.md",
         "docs/*/README.md", "docs/results/*/README.md", "docs/pitfalls/*.md")


def main(words: list[str]) -> int:
    parser = Parser("site", __doc__)
    parser.add_argument("folder", nargs="?", default=REPOSITORY / "build-docs", metavar="FOLDER",
                        help="where it is made; default build-docs")
    given = parser.parse_args(words).folder
    if not given:
        raise BadUsage("FOLDER has no name")
    folder = Path(given).resolve()
    require_own_folders(folder)
    require_packages()
    for own in ("site", "pages"):
        shutil.rmtree(folder / own, ignore_errors=True)
        (folder / own).mkdir(parents=True)
    site = Site(folder)
    for page in site.pages:
        (folder / "pages" / f"{label(page)}.md").write_text(
            converted(text_of(page), label(page), lambda link: site.place_of_link(page, link)), "utf-8")
    (folder / "layout.xml").write_text(site.navigation(), "utf-8")
    copy_mathjax(folder / "site/mathjax")
    run_doxygen(folder)
    drop_empty_summaries(folder / "site")
    dead = dead_links_of_site(folder / "site")
    print(*dead or [f"The site: {folder}/site/index.html"], sep="\n")
    return ExitCode.WRONG if dead else ExitCode.DONE


def require_own_folders(folder: Path) -> None:
    """The two folders are made afresh: they must not be somebody else's, such as docs/site."""
    for own in (folder / "site", folder / "pages"):
        if own.exists() and not (folder / "pages/index.md").is_file():
            raise BadUsage(f"'{own}' is not from this command, which would replace it: name another folder")


def require_packages() -> None:
    if not (shutil.which("doxygen") and THEME.is_dir() and MATHJAX.is_dir()):
        raise NotPossible("the site takes Doxygen, doxygen-awesome-css and MathJax 2. On Debian and Ubuntu:\n"
                          "  sudo apt install --no-install-recommends doxygen doxygen-awesome-css libjs-mathjax")


def text_of(page: str) -> str:
    return (REPOSITORY / page).read_text("utf-8")


def label(page: str) -> str:
    """The name of a page's HTML file, without its ending."""
    name = page.removesuffix(".md").removesuffix("/README")
    name = {"README": "index", "docs": "docs_map"}.get(name, name)
    return re.sub(r"^(?=[0-9])", "step_", re.sub(r"[^a-zA-Z0-9_]", "_", name))


class Site:
    """Where the site has what: its pages, and copies of the files that they link to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "site"
        # Each page once, where it comes first.
        self.pages = list(dict.fromkeys(page for pattern in PAGES
                                        for page in sorted(glob.glob(pattern, root_dir=REPOSITORY))))

    def place_of_link(self, page: str, link: str) -> str:
        """Where the site has what the page links to; the link itself where that is nothing of the repository."""
        path = os.path.normpath(f"{os.path.dirname(page) or '.'}/{link}")
        return self.place(path) if path.split("/")[0] != ".." and (REPOSITORY / path).exists() else link

    def place(self, path: str) -> str:
        """A page, or a copy of the file or list of the folder, which is made."""
        if (REPOSITORY / path / "README.md").is_file():
            path = os.path.normpath(f"{path}/README.md")
        if path in self.pages:
            return f"{label(path)}.html"
        source = REPOSITORY / path
        # Browsers show a text and save what they do not know.
        place = f"source/{path}" + ("" if source.suffix in (".svg", ".png", ".txt") else ".txt")
        if source.is_dir():
            place = f"source/{path.replace('/', '_')}.html"
        file = self.folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            items = "".join(f'<li><a href="../{self.place(f"{path}/{name}")}">{name}</a></li>\n'
                            for name in sorted(glob.glob("*", root_dir=source)) if (source / name).is_file())
            head = f"<!DOCTYPE html><meta charset=utf-8><title>{path}</title><h1>{path}</h1>"
            file.write_text(f"{head}<ul>\n{items}</ul>\n", "utf-8")
        else:
            shutil.copy(source, file)
        return place

    def navigation(self) -> str:
        """Doxygen's layout: a tab per page, those of the pitfalls below theirs, and the programming interface."""
        pitfalls = [page for page in self.pages if page.startswith("docs/pitfalls/")]
        tabs = [self.tab(page) for page in self.pages[1:] if page not in pitfalls]
        if pitfalls:
            tabs += [f'<tab type="usergroup" visible="yes" url="{self.place(pitfalls[0])}" title="Pitfalls">',
                     *(self.tab(page) for page in pitfalls[1:]), "</tab>"]
        return "\n".join(['<doxygenlayout version="1.0"><navindex>',
                          '<tab type="mainpage" visible="yes" title="Overview"/>', *tabs,
                          '<tab type="usergroup" visible="yes" title="Programming interface">',
                          '<tab type="namespacelist" visible="yes" title="Namespaces"/>',
                          '<tab type="classlist" visible="yes" title="Types"/>',
                          '<tab type="filelist" visible="yes" title="Files"/>',
                          "</tab></navindex></doxygenlayout>", ""])

    def tab(self, page: str) -> str:
        found = re.search(r"^# (.*)", text_of(page), re.MULTILINE)
        title = html.escape(found[1].replace("`", "") if found else "")
        return f'<tab type="user" visible="yes" url="{self.place(page)}" title="{title}"/>'


# ---- from a page for GitHub to one for Doxygen, which knows neither GitHub's anchors nor diffs ----

# A block between fences, a formula of several lines, or a line.
PIECE = re.compile(r"^```(.*)\n((?:.*\n)*?)```.*\n|^\$\$\n((?:.*\n)*?)\$\$\n|^(.*)\n", re.MULTILINE)


def converted(text: str, name: str, place: Callable[[str], str]) -> str:
    """The page with the label `name` for Doxygen. `place` says where the site has what a link leads to."""
    anchors: Counter[str] = Counter()

    def piece(match: re.Match[str]) -> str:
        kind, block, formula, line = match.groups()
        if formula is not None or kind == "math":
            return f"\\f[\n{block if formula is None else formula}\\f]\n"
        if kind == "diff":
            lines = "".join(map(diff_line, block.splitlines()))
            return f'@htmlonly[block]\n<pre class="fragment diff">{lines}</pre>\n@endhtmlonly\n'
        if kind is not None:
            return match[0]
        # What GitHub folds. Doxygen would close the tags at the end of each paragraph, so they pass it by.
        if re.fullmatch(r"</?details>|<summary>.*</summary>", line):
            begin, end = line.endswith("details>"), line != "<details>"
            return "@htmlonly[block]\n" * begin + f"{line}\n" + "@endhtmlonly\n" * end
        line = linked(line, name, place)
        if heading := HEADING.fullmatch(match[4]):
            if heading[1] == "#":
                return line + ("\n" if name == "index" else f" {{#{name}}}\n")
            return f"@anchor {name}_{anchor_of(heading[2], anchors)}\n\n{line}\n"
        return f"{with_formulas(line)}\n"

    return PIECE.sub(piece, text.rstrip("\n") + "\n")


def diff_line(line: str) -> str:
    kind = "place" if line.startswith(("@@", "---", "+++")) else {"+": "added", "-": "removed"}.get(line[:1], "same")
    return f'<span class="{kind}">{html.escape(line, quote=False)}</span>\n'


def linked(line: str, name: str, place: Callable[[str], str]) -> str:
    """The line with its links led to the site; GitHub's anchors have the label of their page in front."""

    def led(match: re.Match[str]) -> str:
        link, _, anchor = match[1].partition("#")
        if "://" in match[1]:
            return match[0]
        target = place(link) if link else f"{name}.html"
        return f"]({target}" + (f"#{target.removesuffix('.html')}_{anchor}" if anchor else "")

    return re.sub(r"\]\(([^) ]+)", led, line)


def with_formulas(line: str) -> str:
    """GitHub's formulas, $...$ and $$...$$, as Doxygen's. Code between backticks has dollars of its own."""

    def formula(match: re.Match[str]) -> str:
        return f"\\f[{match[1]}\\f]" if match[1] else f"\\f${match[2]}\\f$"

    parts = line.split("`")
    parts[::2] = [re.sub(r"\$\$([^$]+)\$\$|\$([^$ ](?:[^$]*[^$ ])?)\$", formula, part) for part in parts[::2]]
    return "`".join(parts)


# ---- what is around the pages ----


def copy_mathjax(folder: Path) -> None:
    for part in MATHJAX_PARTS:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        if (MATHJAX / part).is_dir():
            shutil.copytree(MATHJAX / part, folder / part)
        elif (MATHJAX / part).exists():
            shutil.copy(MATHJAX / part, folder / part)


def run_doxygen(folder: Path) -> None:
    """Its warnings are errors. Throws Failure."""
    settings = text_of("docs/site/Doxyfile") + f'INPUT += "{folder}/pages"\n'
    ran = subprocess.run(["doxygen", "-"], cwd=REPOSITORY, input=settings, text=True,
                         env={**os.environ, "SITE_FOLDER": str(folder), "SITE_THEME": str(THEME)})
    if ran.returncode != 0:
        raise Failure(f"Doxygen ended with exit code {ran.returncode}; its warnings are above")


def drop_empty_summaries(folder: Path) -> None:
    """Where all nested classes are private, Doxygen 1.9 links to a list that it leaves out."""
    for file in folder.glob("*.html"):
        text = file.read_text("utf-8")
        if 'href="#nested-classes"' in text and 'name="nested-classes"' not in text:
            file.write_text(re.sub(r'<a href="#nested-classes">Classes</a> *&#124; *', "", text), "utf-8")


def dead_links_of_site(folder: Path) -> list[str]:
    """The dead links of a folder of HTML, a line each."""
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    pages = {name: Page((folder / name).read_text("utf-8")) for name in files
             if name.endswith(".html") and not name.startswith("mathjax/")}
    return dead_links(pages, files)
