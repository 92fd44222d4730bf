"""What others, and this repository, have published of the steps: docs/tables/*.json, which this is the reader of."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools import results
from tools.command_line import REPOSITORY, ElementType
from tools.markdown import DASH, count_text, fixed, table
from tools.results import CARDS, Result


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Of a step, or by its name of what is no step here, such as a library."""

    step: str = ""
    also: str = ""  # another kernel of this repository that the figure is one of, or nearer to
    name: str = ""
    gbps: float | None = None
    percent: float | None = None  # of the card's peak, where the source states it
    ms: float | None = None
    note: str = ""

    @property
    def kernels(self) -> list[str]:
        return [self.step, *([self.also] if self.also else [])]


@dataclass(frozen=True, kw_only=True)
class DocumentedTable:
    """One source, one GPU, one input."""

    label: str  # the source in two words: Harris 2007
    source: str  # who has published it, where and when, in Markdown
    gpu: str
    peak_gbps: float
    peak_from: str = ""  # how it follows from the hardware
    elements: int | None = None  # where the source gives a size
    type: ElementType
    block: int | None = None
    method: str
    rows: list[Figure]
    others: list[Figure] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def input(self) -> str:
        """2^22 int32, block 128"""
        size = f"{count_text(self.elements)} {self.type}" if self.elements else f"{self.type}, no size given"
        return size + (f", block {self.block}" if self.block else "")

    def find(self, step: str) -> Figure | None:
        return next((row for row in self.rows if step in row.kernels), None)

    def percent(self, figure: Figure) -> float:
        """Of the peak: that of the GB/s, or what the source states without GB/s."""
        return figure.gbps / self.peak_gbps * 100 if figure.gbps is not None else figure.percent or 0

    def percent_text(self, figure: Figure) -> str:
        """With no more digits than the source gives: 11.3, but 92 where that is all it states."""
        return f"{self.percent(figure):.1f}" if figure.gbps is not None else f"{figure.percent:g}"


# ---- reading ----


def read_tables() -> dict[str, DocumentedTable]:
    """By the names of their files, without .json. Throws BadUsage for one that does not fit."""
    return {file.stem: results.read_one(file, DocumentedTable)
            for file in sorted(REPOSITORY.glob("docs/tables/*.json"))}


def table_of_card(folder: Path) -> DocumentedTable:
    """What `measure` found: the figures stay in the folder of results."""
    measured = results.measured(folder)
    steps = [result for result in results.read(folder, "ladder") if result.on_gpu]
    # It belongs to the input only where all steps have the same; a library has none.
    blocks = {result.block for result in steps if result.block is not None}
    return DocumentedTable(
        label=f"this repository {measured.date[:4]}", source=f"docs/results/{folder.name}", method=measured.command,
        gpu=measured.gpu, peak_gbps=round(steps[0].device.peak_gbps or 0, 1), elements=steps[0].elements,
        type=steps[0].type, block=blocks.pop() if len(blocks) == 1 else None,
        rows=[Figure(step=result.step, gbps=round(result.bandwidth, 1)) for result in steps])


# ---- what pages and programs show ----


def all_of_them() -> list[DocumentedTable]:
    """Others' and the cards', which a result is compared with."""
    return [*read_tables().values(), *map(table_of_card, sorted(CARDS))]


def figures_of(step: str) -> Iterator[tuple[DocumentedTable, Figure]]:
    for documented in all_of_them():
        if figure := documented.find(step):
            yield documented, figure


def published_text(step: str, previous: str) -> str:
    """The figures of a step as the step itself prints them, and the gain over the step before: not every machine can
    run all of them."""
    rows = [[documented.label, documented.gpu, documented.input, as_stated(figure.gbps),
             documented.percent_text(figure), fixed(gain(documented, figure, previous), 2)]
            for documented, figure in figures_of(step)]
    columns = 6 if any(times for *_, times in rows) else 5
    return table(["documented", "GPU", "input", "GB/s", "% of peak", "× the step before"][:columns],
                 [row[:columns] for row in rows], "lllrrr"[:columns])


def gain(documented: DocumentedTable, figure: Figure, previous: str) -> float | None:
    before = documented.find(previous)
    return figure.gbps / before.gbps if before and before.gbps and figure.gbps else None


def published(result: Result) -> str:
    """What others have published of a step for the same input: 2.47 GB/s, 0.3 % of peak (blog 2025, RTX 3090)."""
    return "; ".join(
        f"{figure.gbps:.5g} GB/s, {documented.percent_text(figure)} % of peak ({documented.label}, "
        f"{documented.gpu})" for documented, figure in figures_of(result.step)
        if figure.gbps is not None and (documented.type, documented.elements) == (result.type, result.elements)) or DASH


def all_tables() -> str:
    """The tables of docs/tables/README.md."""
    return "".join(section(name, documented) for name, documented in read_tables().items())


def section(name: str, documented: DocumentedTable) -> str:
    peak_from = f" ({documented.peak_from})" if documented.peak_from else ""
    library = next(iter(documented.others), None)  # the mark that the source itself measures steps by
    rows = []
    for row in (*documented.rows, *documented.others):
        shares = [documented.percent_text(row)]
        if library and row.gbps and library.gbps:
            shares.append(f"{row.gbps / library.gbps * 100:.1f}")
        rows.append([row.step or row.name, as_stated(row.ms), as_stated(row.gbps), *shares, row.note])
    return (
        f"### {documented.label}: {documented.gpu}\n\n"
        f"- Source: {documented.source}. Data: [{name}.json]({name}.json)\n"
        f"- Peak: {documented.peak_gbps:g} GB/s{peak_from}\n"
        f"- Input: {documented.input}\n- Method: {documented.method}\n\n"
        + table(["step", "ms", "GB/s", "% of peak", *([f"% of {library.name}"] if library else []), "note"],
                rows, "lrrrrl" if library else "lrrrl")
        + "\n" + "".join(f"- {remark}\n" for remark in documented.remarks) + ("\n" if documented.remarks else ""))


def header() -> str:
    """common/harness/published_figures_data.hpp: what programs show of the steps beside their own figures."""
    rows = "".join(
        f'    PublishedFigure{{"{kernel}", {{"{documented.label}", "{documented.gpu}", '
        f'"{documented.input}"}}, "{as_stated(row.gbps, "")}", "{documented.percent_text(row)}"}},\n'
        for documented in all_of_them() for row in documented.rows for kernel in row.kernels)
    return (
        "#pragma once\n"
        "/// \\file\n"
        "/// Generated by `python3 -m tools write-pages` from docs/tables: change nothing here.\n\n"
        "#include <array>\n\n"
        '#include "harness/published_figures.hpp"\n\n'
        "namespace reduction {\n\n"
        "// clang-format off\n"
        f"inline constexpr std::array published_figures{{\n{rows}}};\n"
        "// clang-format on\n\n}  // namespace reduction\n")


def as_stated(number: float | None, dash: str = DASH) -> str:
    return dash if number is None else f"{number:.5g}"
