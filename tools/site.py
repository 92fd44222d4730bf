"""Makes the HTML site from the repository's Markdown pages and the comments in its headers, then checks its links.

The site is FOLDER/site/index.html. `cmake --build --preset docs` calls this, too. It takes Doxygen, its theme
doxygen-awesome-css, and lunr for the search from the distribution: nothing is fetched, and the site works without a
network. Each step whose executable has been built (./run_ladder.sh --beyond) has its explorer there, too, as
has each pitfall with a picture of its trace.

Exit code: 0 done, 1 a warning of Doxygen or a dead link, 2 bad usage, 3 something is not installed.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools import output_file, search
from tools.command_line import REPOSITORY, BadUsage, ExitCode, Failure, NotPossible, Parser, read_text, say
from tools.doxygen_pages import converted
from tools.links import dead_links
from tools.programs import EMULATED, Programs

THEME = Path("/usr/share/doxygen-awesome-css")
# The run whose first block the explorer shows. That of the steps side by side has 256 threads: 8 wavefronts at worst.
TRACED = ("--device", "emulated", "-n", "4096", "--data", "ones", "--block")
BESIDE = ("02_nondivergent", "03_sequential")
# Of integers 14 runs the kernel of 12; the others have no page of their own.
EXPLORED = [step for step in EMULATED if step not in ("14_same_bits", "atomic_shared", "atomic_leader")]
# What is shown as a page, in colours where Doxygen knows the language.
CODE = {".cuh": "{.cpp}", ".cu": "{.cpp}", ".hpp": "{.cpp}", ".cpp": "{.cpp}", ".py": "{.py}", ".js": "{.js}",
        ".hip": "{.cpp}", ".sh": "", ".cmake": ""}
# The sidebar's chapters with their pages, in the order in which they are read. A page is in the first that has it.
CHAPTERS = {
    "Start": ("README.md", "docs/cuda_in_ten_minutes.md", "00_cpu_serial/README.md", "docs/floating_point.md",
              *(f"beyond/atomics/{folder}README.md" for folder in ("", "atomic_each/", "atomic_vector/"))),
    "Ladder": ("0[1-4]_*/README.md", "beyond/atomics/atomic_block/README.md", "docs/why_bandwidth.md",
               "0[5-9]_*/README.md", "docs/work_and_depth.md"),
    "Beyond": ("beyond/README.md", "beyond/0*/README.md", "beyond/1[01]_*/README.md", "docs/tables/README.md",
               "docs/studies.md", "beyond/12_*/README.md", "docs/small_inputs.md", "beyond/1*/README.md",
               *(f"beyond/peers/{folder}README.md" for folder in (
                   "", "cub/", "thrust/", "cublas/", "cooperative_groups/")), "beyond/*/*/README.md"),
    "Pitfalls": ("docs/pitfalls/README.md", "docs/symptoms.md", "docs/pitfalls/*.md"),
    "Reference": ("docs/README.md", "docs/exercises/README.md", *(f"docs/{name}.md" for name in (
        "options", "building", "no_gpu", "glossary", "teaching")), "docs/*.md", "docs/*/README.md",
        "docs/results/*/README.md", "beyond/*/manual.md", "common/README.md", "common/explorer/README.md",
        "common/emulated/README.md", "tools/README.md"),
}
# What Doxygen makes of the comments in headers, as the last chapter has it: its pages, and the kinds that they list.
INTERFACE = {"namespaces": "Namespaces", "annotated": "Types", "files": "Files"}
LAYOUT = '<doxygenlayout version="1.0"><navindex>{}</navindex></doxygenlayout>\n'.format("".join(
    f'<tab type="{kind}list" visible="yes"/>' for kind in ("namespace", "class", "file")))
# Of several pages with the words that are searched for, the one that explains more to a reader comes first: by
# the beginning of its path, or by its chapter.
WEIGHTS = {"docs/results/": 0.4, "Ladder": 1.3, "Reference": 0.8}
# The last line of a page that leads on by itself, as GitHub shows it.
LEADS_ON = re.compile(r"\[← |.* →\]\([^)]*\)$")


def main(words: list[str]) -> int:
    parser = Parser("site", __doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=REPOSITORY / "build-docs", metavar="FOLDER",
                        help="where it is made; default build-docs")
    parser.add_bin()
    options = parser.parse_args(words)
    folder = options.folder.resolve()
    output_file.make_folder(folder)
    if not installed():
        raise NotPossible("the site takes Doxygen, doxygen-awesome-css, Node and lunr. On Debian and Ubuntu:\n  "
                          "sudo apt install --no-install-recommends doxygen doxygen-awesome-css nodejs libjs-lunr")
    make_own_folders(folder)
    site = Site(folder / "site")
    site.make_explorers(Programs(options.bin))
    for page in site.pages:
        text = converted(site.with_kernel(page), label(page), lambda link: site.place_of_link(page, link))
        output_file.write(folder / f"pages/{label(page)}.md", text + site.neighbours(page))
    for path, text in site.source_pages():
        output_file.write(folder / f"pages/{source_label(path)}.md", text)
    output_file.write(folder / "layout.xml", LAYOUT)
    make_dragged(folder / "site/dragged.js")
    run_doxygen(folder)
    tidy(folder / "site", site.navigation())
    weights = {label(page): next((weight for of, weight in WEIGHTS.items() if page.startswith(of) or chapter == of), 1)
               for chapter, pages in site.chapters.items() for page in pages}
    search.make(folder / "site", weights)
    dead = dead_links(folder / "site")
    print(*dead or [f"The site: {folder}/site/index.html"], sep="\n")
    return ExitCode.WRONG if dead else ExitCode.DONE


def installed() -> bool:
    return all(map(shutil.which, ("doxygen", "node"))) and all(map(Path.exists, (THEME, search.LUNR)))


def make_own_folders(folder: Path) -> None:
    """Afresh. Throws BadUsage where one is somebody else's, such as docs/site."""
    is_own = (folder / "pages/index.md").is_file()
    for path in (folder / "site", folder / "pages"):
        if path.exists() and not is_own:
            raise BadUsage(f"'{path}' is not from this command, which would replace it: name another folder")
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()


def make_dragged(script: Path) -> None:
    """Of the explorer's renderer and what is dragged below pictures. Throws CalledProcessError."""
    renderer = REPOSITORY / "common/explorer"
    modules = ";".join(str(REPOSITORY / name) for name in ("docs/stills/requests.js", "docs/site/dragged.js"))
    subprocess.run(["cmake", f"-DFOLDER={renderer}", f"-DMODULES={modules}", f"-DSCRIPT={script}", "-P",
                    renderer / "bundle.cmake"], check=True)


def text_of(page: str) -> str:
    return read_text(REPOSITORY / page)


def title_of(page: str) -> str:
    return text_of(page).partition("\n")[0].removeprefix("# ").replace("`", "")


def place_in_list(file: Path) -> tuple[int, Path]:
    """Sorts the pages of a folder as its README lists them, and behind them, by name, those that it does not list."""
    readme = file.parent / "README.md"
    listed = readme.read_text("utf-8").find(f"]({file.name})") if readme.is_file() else -1
    return (sys.maxsize if listed < 0 else listed), file


def label(page: str) -> str:
    """The name of a page's HTML file, without its ending."""
    name = page.removesuffix(".md").removesuffix("/README")
    name = {"README": "index", "docs": "docs_map"}.get(name, name)
    return re.sub(r"^(?=[0-9])", "step_", re.sub(r"[^a-zA-Z0-9_]", "_", name))


def source_label(path: str) -> str:
    return f"source_{label(path)}"


class Site:
    """Where the site has what: its pages, pages of the code and the folders that they link to, and copies of files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The code and the folders that have a page, and what links to each.
        self.sources: dict[str, list[str]] = {}
        # Of each page those of the explorer, by name.
        self.explorers: dict[str, list[str]] = {}
        self.chapters: dict[str, list[str]] = {}
        self.pages: list[str] = []
        for chapter, patterns in CHAPTERS.items():
            found = dict.fromkeys(str(file.relative_to(REPOSITORY)) for pattern in patterns
                                  for file in sorted(REPOSITORY.glob(pattern), key=place_in_list))
            self.chapters[chapter] = [page for page in found if page not in self.pages]
            self.pages += self.chapters[chapter]

    def place_of_link(self, page: str, link: str) -> str:
        """Where the site has what the page links to; the link itself where that is nothing of the repository."""
        path = os.path.normpath(f"{os.path.dirname(page) or '.'}/{link}")
        return self.place(path, page) if path.split("/")[0] != ".." and (REPOSITORY / path).exists() else link

    def place(self, path: str, linked_from: str) -> str:
        """A page, or a copy of the file, which is made."""
        source = REPOSITORY / path
        if (source / "README.md").is_file():
            path = os.path.normpath(f"{path}/README.md")
        if path in self.pages:
            return f"{label(path)}.html"
        if source.is_dir() or source.suffix in CODE:
            self.sources.setdefault(path, []).append(linked_from)
            return f"{source_label(path)}.html"
        # Browsers show a text and save what they do not know, such as a notebook.
        place = f"source/{path}" + ("" if source.suffix in (".svg", ".png", ".txt", ".ipynb") else ".txt")
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, self.folder / place)
        return place

    def source_pages(self) -> Iterator[tuple[str, str]]:
        """The code and the folders that the pages link to: of each its path, and a page with the way back."""
        written: set[str] = set()
        while left := [path for path in self.sources if path not in written]:
            for path in left:
                source = REPOSITORY / path
                if source.is_dir():
                    content = "".join(f"- [{file.name}]({self.place(f'{path}/{file.name}', path)})\n"
                                      for file in sorted(source.glob("[!.]*")) if file.is_file())
                else:
                    content = f"~~~~~~{CODE[source.suffix]}\n{text_of(path)}~~~~~~\n"
                # The page of its own folder first.
                others = sorted(set(self.sources[path]), key=lambda at: (Path(at).parent != Path(path).parent, at))
                back = [f"[{title_of(other) if other in self.pages else other}]({self.place(other, path)})"
                        for other in others]
                yield path, f"# {path} {{#{source_label(path)}}}\n\n← {' · '.join(back)}\n\n{content}"
            written.update(left)

    def make_explorers(self, programs: Programs) -> None:
        """A page for each step that the emulated device runs, for two side by side, and for each pitfall with a picture
        of its trace, all with the way back; says which steps have none."""
        (self.folder / "explorer").mkdir()
        shown: dict[str, dict[str, str]] = {}  # by name: of each page the trace
        with tempfile.TemporaryDirectory() as scratch:
            template, file = Path(scratch, "page.html"), Path(scratch, "trace.json")
            subprocess.run(["cmake", "-DFOLDER=common/explorer", f"-DPAGE={template}", "-P",
                            "common/explorer/bundle.cmake"], cwd=REPOSITORY, check=True)
            empty_page = read_text(template)
            for step in filter(programs.has, EXPLORED):
                programs.text(step, *TRACED, "256" if step in BESIDE else "64", "--trace", file)
                of = next(page for page in self.pages if page.endswith(f"{step}/README.md"))
                shown[step] = {of: read_text(file)}
        if shown.keys() >= set(BESIDE):
            shown["_".join(BESIDE)] = shown[BESIDE[0]] | shown[BESIDE[1]]
        for pitfall in map(Path, self.chapters["Pitfalls"]):
            if (REPOSITORY / f"docs/stills/{pitfall.stem}.json").is_file():
                # A finding names the page that is most like it: here that is the trace's own.
                trace = re.sub(r'"page":"[^"]+"', f'"page":"{pitfall}"', text_of(f"docs/stills/{pitfall.stem}.json"))
                shown[f"pitfall_{pitfall.stem}"] = {str(pitfall): trace}
        for name, traces in shown.items():
            links = " ".join(f'<a href="../{label(page)}.html">← {html.escape(title_of(page))}</a>' for page in traces)
            body = f'<body data-site="../">\n<nav aria-label="Back">{links}</nav>\n'
            page = empty_page.replace("<body>\n", body, 1)
            held = f"[{','.join(traces.values())}]".replace("<", "\\u003c")
            output_file.write(self.folder / f"explorer/{name}.html", page.replace("@explorer_traces@", held))
            for of in traces:
                self.explorers.setdefault(of, []).append(name)
        if missing := [step for step in EXPLORED if not programs.has(step)]:
            say(f"Left out: the explorers of {', '.join(missing)}, which are not built in '{programs.folder}'")

    def with_kernel(self, page: str) -> str:
        """The page's text with links to its kernel and its explorers: above the first heading, of a pitfall folded."""
        text, says = text_of(page), {"_".join(BESIDE): "02 and 03 side by side"}
        links = [f"[{says.get(name, 'one block of it, access by access, in the explorer')}](explorer/{name}.html)"
                 for name in self.explorers.get(page, [])]
        if page in self.chapters["Pitfalls"] and links:
            return text.replace("</summary>\n", f"</summary>\n\n{links[0].replace('[one', '[One')}.\n", 1)
        if (REPOSITORY / page).with_name("kernel.cuh").is_file():
            links.insert(0, "[The whole kernel](kernel.cuh)")
        return text.replace("\n## ", f"\n{' · '.join(links)}\n\n## ", 1) if links else text

    def navigation(self) -> str:
        """The list of pages that stands beside each, in chapters that fold."""
        chapters = {name: {label(page): title_of(page) for page in pages} for name, pages in self.chapters.items()}
        lists = [f"<details><summary>{name}</summary>\n<ul>\n{links_to(pages)}</ul></details>\n"
                 for name, pages in {**chapters, "Programming interface": INTERFACE}.items()]
        return f'<nav id="pages" aria-label="Pages">\n{"".join(lists)}</nav>\n'

    def neighbours(self, page: str) -> str:
        """The links below a page to those before and after it; nothing where its own last line has them."""
        if LEADS_ON.match(text_of(page).rstrip("\n").rpartition("\n")[2]):
            return ""
        at = self.pages.index(page)
        links = [f'<a rel="{way}" href="{label(other)}.html">{html.escape(title_of(other))}</a>'
                 for way, others in (("prev", self.pages[max(at - 1, 0):at]), ("next", self.pages[at + 1:at + 2]))
                 for other in others]
        nav = f'<nav class="neighbours" aria-label="Before and after">{" ".join(links)}</nav>'
        return f"\n@htmlonly[block]\n{nav}\n@endhtmlonly\n"


def links_to(pages: dict[str, str]) -> str:
    return "".join(f'<li><a href="{name}.html">{html.escape(title)}</a></li>\n' for name, title in pages.items())


# ---- Doxygen ----


def run_doxygen(folder: Path) -> None:
    """Its warnings are errors. Throws Failure."""
    settings = text_of("docs/site/Doxyfile") + f'INPUT += "{folder}/pages"\nSTRIP_FROM_PATH += "{folder}/pages"\n'
    ran = subprocess.run(["doxygen", "-"], cwd=REPOSITORY, input=settings, encoding="utf-8",
                         env={**os.environ, "SITE_FOLDER": str(folder), "SITE_THEME": str(THEME)})
    if ran.returncode != 0:
        raise Failure(f"Doxygen ended with exit code {ran.returncode}; its warnings are above")


def tidy(folder: Path, navigation: str) -> None:
    """Takes out what Doxygen 1.9 makes for nobody, and gives each page its place in the navigation, a list of what is
    on it, and to a screen reader one title and one text."""
    # A page about the file of each page, to which nothing leads, and lists of what a class's page has anyhow.
    for file in [*folder.glob("*_8md.html"), *folder.glob("*-members.html")]:
        file.unlink()
    for file in folder.glob("*.html"):
        text = read_text(file)
        text = re.sub(r'( *&#124; *)?<a href="[^"]*-members\.html">List of all members</a>', "", text)
        # Where all nested classes are private, it links to a list that it leaves out.
        if 'name="nested-classes"' not in text:
            text = re.sub(r'<a href="#nested-classes">Classes</a> *(&#124; *)?', "", text)
        # In a page's code it takes names for those of the programming interface, such as `shared`.
        if f'"{file.name}"' in navigation:
            text = re.sub(r'<a class="code[^>]*>(.*?)</a>', r"\1", text)
        # An option, which it takes for a dash.
        text = re.sub(r"&ndash;(?=[a-z])", "--", text)
        # Bold text that begins with code, whose asterisks it leaves.
        text = re.sub(r"\*\*(<code>.+?)\*\*", r"<b>\1</b>", text)
        text = re.sub(r'<a (href="[^"]*")>(?=<span class="icondoc">)', r'<a \1 aria-label="Its source">', text)
        # Its headings begin with that of the page, which it makes none.
        if "<h1>" in text:
            text = re.sub(r"(</?h)([1-5])\b", lambda tag: f"{tag[1]}{int(tag[2]) + 1}", text)
        text = re.sub(r'<div class="title">(.*?)</div>', r'<h1 class="title">\1</h1>', text, count=1)
        text = re.sub(r'(?s)<div id="nav-path".*?</div>\n', "", text)
        text = text.replace("</div><!-- top -->\n", f'{with_place(navigation, file.name)}</div><!-- top -->\n'
                            '<main id="text" tabindex="-1">\n', 1)
        text = text.replace('<div class="contents">\n', f'<div class="contents">\n{contents(text)}', 1)
        text = text.replace("<!-- start footer part -->", "</main>\n<footer>", 1)
        output_file.write(file, text.replace("</address>\n</body>", "</address>\n</footer>\n</body>", 1))
    for file in (folder / "explorer").glob("*.html"):
        output_file.write(file, read_text(file).replace('rel="icon" href="data:,"', 'rel="icon" href="../favicon.svg"'))


def with_place(navigation: str, page: str) -> str:
    """The navigation with the page marked, and its chapter open."""
    marked = navigation.replace(f'<a href="{page}">', f'<a href="{page}" aria-current="page">')
    return re.sub(r"<details>(?=(?:(?!</details>).)*aria-current)", "<details open>", marked, flags=re.DOTALL)


def contents(text: str) -> str:
    """What is on a page with some headings."""
    headings = re.findall(r'<a class="anchor" id="([^"]+)"></a> *</p><h2>(.*?)</h2>', text)
    if len(headings) < 3:
        return ""
    items = "".join(f'<li><a href="#{anchor}">{re.sub("<[^>]*>", "", title)}</a></li>\n' for anchor, title in headings)
    return '<nav id="contents" aria-label="On this page"><details><summary>On this page</summary>\n' \
        f"<ul>\n{items}</ul></details></nav>\n"
