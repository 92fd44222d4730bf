"""Makes the HTML site from the repository's Markdown pages and the comments in its headers, then checks its links.

The site is FOLDER/site/index.html. `cmake --build --preset docs` calls this, too. It takes Doxygen, its theme
doxygen-awesome-css and MathJax 2 from the distribution: nothing is fetched, and the site works without a network.

Exit code: 0 done, 1 a warning of Doxygen or a dead link, 2 bad usage, 3 something is not installed.
"""

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
MATHJAX_FOLDERS = ("extensions", "jax/element", "jax/input/TeX", "jax/output/SVG/autoload", "jax/output/SVG/fonts/TeX")
MATHJAX_FILES = ("MathJax.js", "jax/output/SVG/config.js", "jax/output/SVG/jax.js")
# The navigation has them in this order.
PAGES = ("README.md", "[0-9][0-9]_*/README.md", "beyond/README.md", "beyond/[0-9]*/README.md", "beyond/*/README.md",
         "beyond/*/*/README.md", "common/README.md", "common/device/emulated/README.md", "docs/README.md", "docs/*.md",
         "docs/*/README.md", "docs/results/*/README.md", "docs/pitfalls/*.md")


def main(words: list[str]) -> int:
    parser = Parser("site", __doc__)
    parser.add_argument("folder", nargs="?", default=str(REPOSITORY / "build-docs"), metavar="FOLDER",
                        help="where it is made; default build-docs")
    given = parser.parse_args(words).folder
    if not given:
        raise BadUsage("FOLDER has no name")
    folder = Path(given).resolve()
    if not (shutil.which("doxygen") and THEME.is_dir() and MATHJAX.is_dir()):
        raise NotPossible("the site takes Doxygen, doxygen-awesome-css and MathJax 2. On Debian and Ubuntu:\n"
                          "  sudo apt install --no-install-recommends doxygen doxygen-awesome-css libjs-mathjax")
    make_own_folders(folder)
    site = Site(folder / "site")
    for page in site.pages:
        text = converted(text_of(page), label(page), lambda link: site.place_of_link(page, link))
        (folder / f"pages/{label(page)}.md").write_text(text, "utf-8")
    (folder / "layout.xml").write_text(site.navigation(), "utf-8")
    for part in MATHJAX_FOLDERS:
        shutil.copytree(MATHJAX / part, folder / "site/mathjax" / part)
    for part in MATHJAX_FILES:
        shutil.copy(MATHJAX / part, folder / "site/mathjax" / part)
    run_doxygen(folder)
    drop_empty_summaries(folder / "site")
    dead = dead_links(folder / "site", (folder / "site").rglob("*.html"), Page)
    print(*dead or [f"The site: {folder}/site/index.html"], sep="\n")
    return ExitCode.WRONG if dead else ExitCode.DONE


def make_own_folders(folder: Path) -> None:
    """Afresh. Throws BadUsage where one is somebody else's, such as docs/site."""
    own = [folder / "site", folder / "pages"]
    for path in own:
        if path.exists() and not (folder / "pages/index.md").is_file():
            raise BadUsage(f"'{path}' is not from this command, which would replace it: name another folder")
    for path in own:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)


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
        self.folder = folder
        # Each page once, where it comes first.
        self.pages = list(dict.fromkeys(str(file.relative_to(REPOSITORY)) for pattern in PAGES
                                        for file in sorted(REPOSITORY.glob(pattern))))

    def place_of_link(self, page: str, link: str) -> str:
        """Where the site has what the page links to; the link itself where that is nothing of the repository."""
        path = os.path.normpath(f"{os.path.dirname(page) or '.'}/{link}")
        return self.place(path) if path.split("/")[0] != ".." and (REPOSITORY / path).exists() else link

    def place(self, path: str) -> str:
        """A page, or a copy of the file or list of the folder, which is made."""
        source = REPOSITORY / path
        if (source / "README.md").is_file():
            path = os.path.normpath(f"{path}/README.md")
        if path in self.pages:
            return f"{label(path)}.html"
        if source.is_dir():
            place = f"source/{path.replace('/', '_')}.html"
            items = "".join(f'<li><a href="../{self.place(f"{path}/{file.name}")}">{file.name}</a></li>\n'
                            for file in sorted(source.glob("[!.]*")) if file.is_file())
            (self.folder / place).write_text(
                f"<!DOCTYPE html><meta charset=utf-8><title>{path}</title><h1>{path}</h1><ul>\n{items}</ul>\n", "utf-8")
        else:
            # Browsers show a text and save what they do not know.
            place = f"source/{path}" + ("" if source.suffix in (".svg", ".png", ".txt") else ".txt")
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, self.folder / place)
        return place

    def navigation(self) -> str:
        """Doxygen's layout: a tab per page, those of the pitfalls below theirs, and the programming interface."""
        pitfalls = [page for page in self.pages if page.startswith("docs/pitfalls/")]
        return "\n".join(['<doxygenlayout version="1.0"><navindex>',
                          '<tab type="mainpage" visible="yes" title="Overview"/>',
                          *(self.tab(page) for page in self.pages[1:] if page not in pitfalls),
                          f'<tab type="usergroup" visible="yes" url="{self.place(pitfalls[0])}" title="Pitfalls">',
                          *(self.tab(page) for page in pitfalls[1:]), "</tab>",
                          '<tab type="usergroup" visible="yes" title="Programming interface">',
                          '<tab type="namespacelist" visible="yes" title="Namespaces"/>',
                          '<tab type="classlist" visible="yes" title="Types"/>',
                          '<tab type="filelist" visible="yes" title="Files"/>',
                          "</tab></navindex></doxygenlayout>", ""])

    def tab(self, page: str) -> str:
        title = html.escape(text_of(page).partition("\n")[0].removeprefix("# ").replace("`", ""))
        return f'<tab type="user" visible="yes" url="{self.place(page)}" title="{title}"/>'


# ---- from a page for GitHub to one for Doxygen, which knows neither GitHub's anchors nor diffs ----

# A formula of several lines, a block between fences, or a line.
PIECE = re.compile(r"^(?:\$\$|```math)\n((?:.*\n)*?)(?:\$\$|```)\n|^```(.*)\n((?:.*\n)*?)```.*\n|^(.*)\n", re.MULTILINE)


def converted(text: str, name: str, place: Callable[[str], str]) -> str:
    """The page with the label `name` for Doxygen. `place` says where the site has what a link leads to."""
    anchors: Counter[str] = Counter()

    def piece(match: re.Match[str]) -> str:
        formula, kind, block, line = match.groups()
        if formula is not None:
            return f"\\f[\n{formula}\\f]\n"
        if kind == "diff":
            lines = "".join(map(diff_line, block.splitlines()))
            return f'@htmlonly[block]\n<pre class="fragment diff">{lines}</pre>\n@endhtmlonly\n'
        if kind is not None:
            return match[0]
        # What GitHub folds. Doxygen would close the tags at the end of each paragraph, so they pass it by.
        if re.fullmatch(r"</?details>|<summary>.*</summary>", line):
            begin, end = line.endswith("details>"), line != "<details>"
            return "@htmlonly[block]\n" * begin + f"{line}\n" + "@endhtmlonly\n" * end
        heading, line = HEADING.fullmatch(line), linked(line, name, place)
        if not heading:
            return f"{with_formulas(line)}\n"
        if heading[1] == "#":
            return line + ("\n" if name == "index" else f" {{#{name}}}\n")
        return f"@anchor {name}_{anchor_of(heading[2], anchors)}\n\n{line}\n"

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
    parts = line.split("`")
    for k, part in enumerate(parts[::2]):
        part = re.sub(r"\$\$([^$]+)\$\$", r"\\f[\1\\f]", part)
        parts[2 * k] = re.sub(r"\$([^$ ](?:[^$]*[^$ ])?)\$", r"\\f$\1\\f$", part)
    return "`".join(parts)


# ---- Doxygen ----


def run_doxygen(folder: Path) -> None:
    """Its warnings are errors. Throws Failure."""
    settings = text_of("docs/site/Doxyfile") + f'INPUT += "{folder}/pages"\n'
    ran = subprocess.run(["doxygen", "-"], cwd=REPOSITORY, input=settings, encoding="utf-8",
                         env={**os.environ, "SITE_FOLDER": str(folder), "SITE_THEME": str(THEME)})
    if ran.returncode != 0:
        raise Failure(f"Doxygen ended with exit code {ran.returncode}; its warnings are above")


def drop_empty_summaries(folder: Path) -> None:
    """Where all nested classes are private, Doxygen 1.9 links to a list that it leaves out."""
    for file in folder.glob("*.html"):
        text = file.read_text("utf-8")
        if 'href="#nested-classes"' in text and 'name="nested-classes"' not in text:
            file.write_text(re.sub(r'<a href="#nested-classes">Classes</a> *&#124; *', "", text), "utf-8")
