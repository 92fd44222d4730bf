"""Writes the generated parts of pages: what stands between <!-- NAME:begin --> and <!-- NAME:end -->, and whole pages.

The README of each step gets the diff from the kernel of the step before, the counters of a run on the emulated device
beside those of the step before, and the figures that were measured and published. Other pages get what was measured on
a GPU (docs/results), the counts of GPUs beside the emulated ones, the programs and the findings of the pitfalls, and
the example that the package's test builds. Sentences get the figures that tools/figures.py names. The plots are drawn
where the matplotlib is that drew them before. docs/counters/compiled.json is made by the nvcc that it names, where that
is.

No page is written unless all could be made. `check-pages` only names what is stale.

Exit code: 0 done, 1 a GPU counts otherwise than the emulated device, 2 bad usage or a file that does not fit,
3 a program that fails.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools import (bandwidth, compiled, corpus, counters, documented_tables, exercises, figures, output_file, pages,
                   pitfall, plot, rounding, step_pages, studies)
from tools.command_line import REPOSITORY, BadUsage, ExitCode, Failure, Parser, read_text, say
from tools.markdown import code, with_section
from tools.programs import ATOMICS, NUMBERED, Programs, steps_of
from tools.results import H100, H200
from tools.step_pages import SERIAL

FIGURES = Path("common/harness/published_figures_data.hpp")
PACKAGE_PAGE = Path("beyond/12_any_operation/README.md")
PROMISES_PAGE = Path("beyond/14_same_bits/README.md")
SOLUTIONS = Path("docs/solutions")


def named(*sections: Callable[[], str]) -> dict[str, Callable[[], str]]:
    return {section.__name__: section for section in sections}


# The sections of pages by the names of what makes them.
SECTIONS: dict[Path, dict[str, Callable[[], str]]] = {
    Path("docs/cuda_in_ten_minutes.md"): {"program": lambda: code("cpp", text_of(Path("docs/first_program/main.cu")))},
    Path("docs/foreign_kernels.md"): {"corpus": corpus.section},
    Path("docs/tables/README.md"): {"tables": documented_tables.all_tables},
    Path("README.md"): named(studies.ladder, studies.provenance),
    Path("docs/studies.md"): named(
        studies.apart, studies.block_size, studies.blocks_begun, studies.grid, studies.array_size,
        studies.element_type, studies.beside_jax),
    Path("docs/why_bandwidth.md"): named(bandwidth.roofs, bandwidth.instructions),
    Path("docs/work_and_depth.md"): named(bandwidth.work_and_depth),
    Path("docs/small_inputs.md"): named(bandwidth.in_flight, studies.small_inputs),
    exercises.EXERCISES / "README.md": named(exercises.goals),
    Path("docs/floating_point.md"): named(rounding.errors),
    Path("docs/method.md"): named(
        pages.flush, pages.queue, pages.lead_in, pages.warm_up, pages.repeat, pages.provenance),
    Path("beyond/13_many_gpus/README.md"): named(pages.scaling, pages.scaling_model),
    Path("beyond/atomics/atomic_block/README.md"): {
        "measured": lambda: pages.atomics(H100), "by_block": pages.atomics_by_block},
    Path("beyond/15_rows/README.md"): {
        "rows": pages.rows_of_cards,
        "log_sum_exp": lambda: code("cpp", from_line(SOLUTIONS / "15_rows/log_sum_exp.cuh", "///"))},
    Path("beyond/peers/README.md"): {
        "measured": lambda: pages.peers(H100, only=("int32", "float32")),
        "back_to_back": lambda: pages.peers(H100, file="back_to_back")},
    PACKAGE_PAGE: {
        **named(pages.against_cub, pages.against_xla, pages.beside_xla),
        "example": lambda: from_package_test("smallest|Square|sum_of_squares|largest"),
        "moments": lambda: code("cpp", from_line(SOLUTIONS / "12_any_operation/moments.cuh", "struct"))},
    PACKAGE_PAGE.with_name("manual.md"): {
        "project": lambda: code("cmake", from_line(Path("tests/package/CMakeLists.txt"), "cmake_minimum_required"))},
    PROMISES_PAGE: {
        "example": lambda: from_package_test("sum_in_one_order|sum_with_bound"),
        "order": lambda: code("cpp", from_line(SOLUTIONS / "14_same_bits/one_order.hpp", "/// Adds in a tree")),
        "promises": lambda: pages.promises(H100, types=["float32"])},
}


class Part(NamedTuple):
    """A generated section of a page; the page as a whole where it has no name."""

    file: Path  # from the repository's root
    section: str | None
    text: str


def main(words: list[str]) -> int:
    parser = Parser("write-pages", __doc__)
    parser.add_bin()
    programs = Programs(parser.parse_args(words).bin)
    compiled.write()
    parts, differences = generated(programs)
    texts = stale_texts([*parts, *findings(programs)]) | plot.stale()
    # Programs show these figures, and pages what programs show: a build with the old ones must not go on.
    build_again = FIGURES in texts
    for file, text in texts.items():
        if not build_again or file == FIGURES:
            output_file.write(REPOSITORY / file, text)
            print(f"{file} is new")
    if build_again:
        raise Failure("build again, then run this again")
    for line in differences:
        say(line)
    return ExitCode.WRONG if differences else ExitCode.DONE


def stale_texts(parts: Iterable[Part]) -> dict[Path, str]:
    """The new texts of the files that are not as their parts say."""
    texts: dict[Path, str] = {}
    for part in parts:
        try:
            texts[part.file] = part.text if part.section is None else with_section(
                texts.get(part.file) or text_of(part.file), part.section, part.text)
        except BadUsage as failure:
            raise BadUsage(f"{part.file}: {failure}") from None
    return {file: text for file, text in texts.items() if not (REPOSITORY / file).exists() or text != text_of(file)}


def text_of(file: Path) -> str:
    return read_text(REPOSITORY / file)


# ---- the parts ----


def generated(programs: Programs) -> tuple[list[Part], list[str]]:
    """All that is on the pages whichever compiler has built the programs; and a line for each count of a GPU that
    differs."""
    programs.require("ladder_table", "emulate", "10_single_pass", *ATOMICS)
    counted, differences = counters.tables(programs)
    parts = [Part(FIGURES, None, documented_tables.header()),
             Part(Path("docs/counters/README.md"), "counters", counted),
             *(Part(page, name, text()) for page, texts in SECTIONS.items() for name, text in texts.items()),
             *(Part(page, name, figure) for page, name, figure in figures.of_pages()), *of_steps(programs)]
    for program in pitfall.all_of_them():
        parts.append(Part(program.with_suffix(".md"), *pitfall.source_part(program)))
    for measured in sorted(REPOSITORY.glob("docs/results/*/measured.json")):
        page = measured.with_name("README.md").relative_to(REPOSITORY)
        parts.append(Part(page, None, pages.card_page(measured.parent, programs)))
    return parts, differences


def of_steps(programs: Programs) -> Iterator[Part]:
    # Those with a page. Each with the one before it, and the one whose kernel it changes: atomic_block has 04's tree.
    atomics = [page.parent.relative_to(REPOSITORY) for name in ATOMICS
               for page in REPOSITORY.glob(f"beyond/atomics/{name}/README.md")]
    steps: list[tuple[Path, Path | None, Path]] = [
        *zip(atomics, (None, *atomics), (SERIAL, atomics[0], Path("04_first_add")))]
    previous = None
    for folder in NUMBERED:
        steps.append((folder, previous, previous or SERIAL))
        # 13 is 12 on several GPUs: what comes after it begins with 12, too.
        if folder.name in steps_of("ladder", "beyond"):
            previous = folder
    with tempfile.TemporaryDirectory() as scratch:
        of_card = step_pages.StepPages(programs, Path(scratch), H200)
        for folder, before, origin in steps:
            texts = of_card.sections(folder, before, origin)
            yield from (Part(folder / "README.md", name, text) for name, text in texts.items())


def from_line(file: Path, start: str) -> str:
    """The file from the first line on that begins so."""
    lines = text_of(file).splitlines()
    return "\n".join(lines[next(k for k, line in enumerate(lines) if line.startswith(start)):]) + "\n"


def from_package_test(names: str) -> str:
    """The header, and of the package's test the functions and structs with these names."""
    source = text_of(Path("tests/package/main.cu"))
    includes = re.findall(r"^#include <reduction/.*", source, re.MULTILINE)
    calls = re.findall(rf"^(?:///[^\n]*\n)*(?:cudaError_t (?:{names})\(.*?^}}|struct (?:{names}) .*?^}};)$", source,
                       re.MULTILINE | re.DOTALL)
    return code("cpp", "\n".join([*includes, "", "\n\n".join(calls)]))


# ---- what differs from compiler to compiler: the test of the pitfalls holds it ----


def findings(programs: Programs) -> Iterator[Part]:
    """What the emulated device says of the pitfalls."""
    for program in pitfall.all_of_them():
        yield Part(program.with_suffix(".md"), *pitfall.said_part(programs, program))
