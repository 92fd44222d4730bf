"""The pages of the steps: their one shape, the numbers that are worked out on them, and what their commands print."""

import itertools
import math
import os.path
import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import REPOSITORY

import made_up_results
from tools import counters as counters_of_gpus
from tools import ptx, results
from tools.command_line import BadUsage
from tools.nsight_compute import BLOCKS, INSTRUCTIONS
from tools.programs import NUMBERED as STEPS
from tools.programs import Programs
from tools.step_pages import COUNTED_RUN, SERIAL, helps, in_glossary

IN_SHAPE = STEPS[:11]
HEADINGS = ["The change", "Predict", "Run", "What to look for", "How fast", "Why it is correct",
            "When it does not help", "What is still slow", "Exercise"]
# It has neither a kernel before it nor a GPU's counters and times.
HEADINGS_OF_SERIAL = ["The two sums", "Predict", "Run", "What to look for", "Why the order may change",
                      "When it does not help", "What is still slow", "Exercise"]


def text_of(step: Path) -> str:
    return (REPOSITORY / step / "README.md").read_text(encoding="utf-8")


def of_each(steps: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("step", steps, ids=[step.name for step in steps])


def between(text: str, name: str) -> str:
    """A generated section."""
    return text.partition(f"<!-- {name}:begin -->\n")[2].partition(f"<!-- {name}:end -->")[0]


def parts_of(step: Path) -> dict[str, str]:
    """The text below each heading of the second level, by the heading."""
    top, *rest = re.split(r"^## ", text_of(step), flags=re.MULTILINE)
    return {"": top} | {part.partition("\n")[0]: part.partition("\n")[2] for part in rest}


def folded(text: str) -> list[str]:
    return re.findall(r"^<details>\n<summary>[^<]+</summary>\n\n(.*?)\n\n</details>$", text, re.MULTILINE | re.DOTALL)


# ---- the shape ----


@of_each(IN_SHAPE)
def test_a_page_has_the_one_shape(step: Path) -> None:
    parts = parts_of(step)
    assert list(parts) == ["", *(HEADINGS_OF_SERIAL if step == SERIAL else HEADINGS)]
    how_hard = r"\*\*How hard\.\*\* .+\n\n" if step.parts[0] == "beyond" else ""
    assert re.fullmatch(r"# \d\d · .+\n\n" + how_hard + r"\*\*The idea\.\*\* .+\n\n!\[.+\]\(.+/stills/" + step.name
                        + r"\.svg\)\n\n\*.+\*\n\n", parts[""])
    assert "?" in parts["Predict"].partition("<details>")[0] and len(folded(parts["Predict"])) == 1
    [solution] = folded(parts["Exercise"])
    assert between(solution, "solution").count("\n") > 5
    assert f"cmake --build build --target {step.name}\nbuild/bin/{step.name} " in parts["Exercise"]
    assert f"\nbuild/bin/{step.name} " in parts["Run"]
    assert text_of(step).count("<details>") == sum(len(folded(part)) for part in parts.values())
    if step != SERIAL:
        assert 4 <= between(parts["What to look for"], "changed").count("\n") <= 5
        *_, counters = folded(parts["What to look for"])
        assert between(counters, "counters")
        assert between(parts["How fast"], "documented") and between(parts["When it does not help"], "helps")
        assert between(parts["The change"], "kernel" if step.name[:2] == "01" else "diff")


@of_each(IN_SHAPE)
def test_a_page_leads_to_those_beside_it(step: Path) -> None:
    k = STEPS.index(step)

    def link(other: Path, text: str) -> str:
        return f"[{text.format(text_of(other).partition(chr(10))[0][2:])}]({os.path.relpath(other, step)}/README.md)"

    way = [link(other, "← {}") for other in STEPS[:k][-1:]]
    way += [f"[the ladder]({os.path.relpath('README.md', step)})"]
    way += [link(other, "{} →") for other in STEPS[k + 1:][:1]]
    assert text_of(step).endswith(f"\n\n{' · '.join(way)}\n")


# ---- what the commands print ----


@pytest.mark.parametrize("name, elements, passes", [
    ("01_interleaved", "1000003", "3907 → 16 → 1"), ("03_sequential", "2^20", "4096 → 16 → 1"),
    ("04_first_add", "2^20", "2048 → 4 → 1"), ("03_sequential", "2^17", "512 → 2 → 1"),
    ("04_first_add", "2^17", "256 → 1"), ("06_templated", "2^22", "8192 → 16 → 1"), ("07_cascade", "2^22", "1056 → 1"),
    ("07_cascade", "2^20", "512 → 1"),
    *[("06_templated", n, passes) for n, passes in (("2^10", "2 → 1"), ("2^12", "8 → 1"), ("2^18", "512 → 1"),
                                                    ("2^19", "1024 → 2 → 1"))],
    *[("07_cascade", n, passes) for n, passes in (("2^12", "2 → 1"), ("2^18", "128 → 1"), ("2^19", "256 → 1"))],
    ("08_warp_shuffle", "2^12", "2 → 1"),
    *[("09_vector_loads", n, passes) for n, passes in (("2^10", "1"), ("2^12", "1"), ("2^13", "2 → 1"),
                                                       ("2^16", "16 → 1"), ("2^20", "256 → 1"))],
    *[("10_single_pass", n, passes) for n, passes in (("2^10", "1"), ("2^13", "1"), ("2^16", "4"), ("2^20", "64"))]])
def test_passes(bin_folder: Path, name: str, elements: str, passes: str) -> None:
    threads = 1024 if name == "10_single_pass" else 256
    assert re.search(rf"^passes  {passes} blocks? of {threads} threads$", Programs(bin_folder).text(
        name, "--device", "emulated", "-n", elements), re.MULTILINE)
    assert any(passes in text_of(step) for step in IN_SHAPE)


# ---- what is worked out ----

BLOCK = 256
STRIDES = [2**k for k in range(8)]


def lanes_by_warp(threads: list[int]) -> list[list[int]]:
    return [list(lanes) for _, lanes in itertools.groupby(threads, lambda thread: thread // 32)]


def most_in_a_bank(words: list[int]) -> int:
    return max(sum(word % 32 == bank for word in words) for bank in range(32))


def row(name: str, cells: list[int], last: str) -> str:
    return f"| {' | '.join([name, *map(str, cells)])} |{last} |\n"


def test_the_levels_of_01_and_02() -> None:
    """Which threads add on which level, as the kernels say; the sums are the requests that the steps count."""
    interleaved = [[tid for tid in range(BLOCK) if tid % (2 * stride) == 0] for stride in STRIDES]
    neighbouring = [[tid for tid in range(BLOCK) if 2 * stride * tid < BLOCK] for stride in STRIDES]
    warps = [[len(lanes_by_warp(threads)) for threads in step] for step in (interleaved, neighbouring)]
    banks = [max(most_in_a_bank([2 * stride * tid for tid in lanes]) for lanes in lanes_by_warp(threads))
             for stride, threads in zip(STRIDES, neighbouring)]
    page_01, page_02 = map(text_of, STEPS[1:3])
    assert (row("warps that add", warps[0], " 47") + row("threads that add", list(map(len, interleaved)), " 255")
            ) in page_01
    assert (row("warps that add in 01", warps[0], " 47") + row("warps that add in 02", warps[1], " 12")
            + row("lanes in one bank in 02", banks, "")) in page_02
    assert [sum(warps[0]), sum(map(len, interleaved)), sum(warps[1])] == [47, 255, 12]
    assert [count * most for count, most in zip(warps[1], banks)] == warps[0]
    assert f"that is {sum(map(len, interleaved)) / sum(warps[0]):.1f} active lanes of 32" in page_01
    for count, page, requests in ((sum(warps[0]), page_01, 150), (sum(warps[1]), page_02, 45)):
        assert requests == count * 3 + BLOCK // 32 + 1
        assert f"{count} × 3 + 8 + 1 = {requests}" in page
        assert f"[shared memory requests](../docs/glossary.md#request) | {'150 | ' * (count == 12)}{requests} |" in page


def test_the_words_of_02s_solution() -> None:
    first = next(tid for tid in range(BLOCK) if tid + tid // 32 >= BLOCK)
    assert f"thread {first} writes word {first} + {first // 32} = 256" in text_of(STEPS[2])
    assert [(32 * lane + 32 * lane // 32) % 32 for lane in range(8)] == list(range(8))


def test_the_barriers_of_04() -> None:
    assert "Of the 9 block barriers, 6 follow levels with `stride` 32 or less" in text_of(STEPS[4])
    assert (1 + len(STRIDES), sum(stride <= 32 for stride in STRIDES)) == (9, 6)


def test_the_counts_of_05(bin_folder: Path, tmp_path: Path) -> None:
    page = text_of(STEPS[5])
    barriers = {}
    for block in (32, 64, 256):
        for step in STEPS[4:6]:
            [first, *_] = counted(Programs(bin_folder), step, "-n", "2^18", "-b", str(block)).passes
            assert first.counters
            barriers[step.name[:2], block] = first.counters.block_barriers // first.blocks
    assert [barriers["05", block] for block in (256, 64, 32)] == [3, 1, 1]
    assert [barriers["04", block] for block in (256, 64, 32)] == [9, 7, 6]
    assert "now has 3 (load, 128, 64). A block of 64 had 7 and one of 32 had 6; both now have 1." in page
    # First stores, the levels 128 and 64, the tail, the last load.
    assert 8 + (4 + 2) * 3 + (1 + 6 * 2) + 1 == 40 and 8 + (4 + 2) * 3 + 6 * 3 + 1 == 45
    assert "6 × 3 requests become 1 + 6 × 2" in page
    assert "[shared memory requests](../docs/glossary.md#request) | 45 | 40 |" in page


def test_the_instructions_of_06() -> None:
    page, kernels = text_of(STEPS[6]), ptx.COMPILED.kernels()
    assert [kernel.block for kernel in kernels] == [None, 32, 64, 128, 256, 512, 1024]
    for kernel in kernels[1:]:  # one after the load, and one for each stride above 32
        above = [stride for stride in (64, 128, 256, 512) if 2 * stride <= (kernel.block or 0)]
        assert kernel.block_barriers == 1 + len(above)
    before, after = ([re.findall(r"(?:@%p\d+ )?(\w+)", line)[0] for line in kernel.level if ":" not in line]
                     for kernel in ptx.of_block_256())
    assert (len(before), len(after)) == (13, 7) and "13 instructions of a level become 7" in page
    assert Counter(before) - Counter(after) == Counter(["shr", "shl", "add", "setp", "mov", "bra"])
    assert all(name in page for name in ("`%r53`", "`%r2` and `%r1`", "`@%p4 bra`", "127 in the test", "512 bytes"))
    assert "%r1, 127;" in between(page, "ptx_levels") and "+512]" in between(page, "ptx_levels")


def test_the_numbers_of_07() -> None:
    page = text_of(STEPS[7])
    blocks = [2**28]
    while blocks[-1] > 1:
        blocks.append(-(-blocks[-1] // 512))
    assert f"({' → '.join(map(str, blocks[1:]))}) with a tree in each of {sum(blocks[1:]):,} blocks".replace(
        ",", " ") in page
    assert f"≈ {2**22 / (1056 * BLOCK):.1f} elements" in page
    assert "513 of them instead of 1062" in page and (512 + 1, 1056 + 5 + 1) == (513, 1062)


def counted(programs: Programs, step: Path, *options: str) -> results.Result:
    """What the step counts on the emulated device."""
    return programs.result(step.name, "--device", "emulated", *options)


def test_the_numbers_of_08(bin_folder: Path, tmp_path: Path) -> None:
    page, warps = text_of(STEPS[8]), BLOCK // 32
    assert f"each thread adds {2**28 / (132 * 2048):.0f} elements before" in page
    for element_type, words, said in (("int32", 1, "45 shuffles: 8 warps with 5 each, and 5 of the first"),
                                      ("int64", 2, "For `int64` they are 90"), ("complex128", 4, "`complex128` 180")):
        run = counted(Programs(bin_folder), STEPS[8], "-n", "2^18", "-t", element_type)
        assert run.counters and run.counters.shuffles == run.counters.blocks * (5 * warps + 5) * words
        assert f"{(5 * warps + 5) * words}" in said and said in page
    before, after = 40 + 12 + 3 * warps, 9 + 45 + warps
    assert f"The tree of 07 is {before} instructions" in page and f"Now it is {after}, with 9 accesses" in page
    for name, cells in (("block-barrier", "3 | 1"), ("request", "40 | 9"), ("shuffle", "0 | 45")):
        assert f"glossary.md#{name}) | {cells} |\n" in between(page, "changed")
    _, gpu = counters_of_gpus.read(REPOSITORY / "docs/counters/nvidia_h200.csv")
    executed = [gpu[step.name][INSTRUCTIONS] / gpu[step.name][BLOCKS] for step in STEPS[7:9]]
    assert [f"{count:.0f}" for count in executed] == ["1244", "1229"]
    assert "counts](../../docs/counters/README.md#the-counts) 1229 [warp instructions]" in page
    assert "per block instead of 1244 and, as the emulated device, 8 stores to shared memory and 1 load." in page


def test_the_numbers_of_09(bin_folder: Path, tmp_path: Path) -> None:
    page, programs = text_of(STEPS[9]), Programs(bin_folder)
    sectors = 32 * 16 // 32
    passes = {step: counted(programs, step, "-n", "2^22").passes[0] for step in STEPS[8:10]}
    [(before, old), (after, new)] = [(one.blocks, one.counters) for one in passes.values()]
    assert old and new and (before, after, 2**22 // after) == (1056, 1024, 4096)
    assert (new.global_load_requests, new.global_load_sectors) == (8 * 4 * after, 8 * 4 * sectors * after)
    assert new.global_store_requests == after
    assert f"first {after} blocks sums {2**22 // after} elements: 8 warps with 4 loads of {sectors} sectors" in page
    assert old.global_load_sectors == 4 * old.global_load_requests
    assert f"each of {before} blocks has {old.global_load_requests / before:.0f} loads of 4 sectors" in page
    for step in STEPS[8:10]:
        run = counted(programs, step, "-n", "2^22", "-t", "complex128").counters
        assert run and run.global_load_requests + run.global_store_requests == 132162
    assert "132162 requests for 2²² elements in both" in page

    in_blocks_of_32 = counted(programs, STEPS[8], "-n", "2^22", "-b", "32").passes[0].blocks
    assert in_blocks_of_32 == 132 * 32 and "only 32 of them fit on a multiprocessor, and 1024 threads" in page
    needed = re.findall(r"= \*\*(.*) KiB\*\* per multi", (REPOSITORY / "docs/why_bandwidth.md").read_text("utf-8"))
    assert f"8 KiB under way, where [about {float(needed[0]):.0f} are needed]" in page and "Now they have 64." in page
    assert (32 * 32 * 8, 32 * 32 * 64, 2048 * 8, 2048 * 64) == (8 << 10, 64 << 10, 16 << 10, 128 << 10)
    assert "8 bytes. With 2048 threads, the most that fit, that is 16 KiB" in page
    assert "64 bytes under way, a full multiprocessor 128 KiB" in page
    assert "65 536 registers for 2048 threads are 32 for each. Four vectors alone are 16" in page
    assert (65536 // 2048, 4 * 16 // 4) == (32, 16)


def test_the_numbers_of_10(bin_folder: Path, tmp_path: Path) -> None:
    page, programs = text_of(STEPS[10]), Programs(bin_folder)
    for block, said in ((256, "an atomic for each: 1024. A block meets 2 barriers"),
                        (1024, "there are 256 blocks: 256 atomics, and 513 barriers")):
        run = counted(programs, STEPS[10], "-n", "2^22", "-b", str(block)).counters
        assert run and run.atomics == run.blocks == 2**22 // (16 * block)
        assert run.block_barriers == 2 * run.blocks + 1
        assert f" {run.atomics}" in said and said in page and f" {run.block_barriers} " in page
    assert "`passes  1024 blocks of 256 threads`" in page
    apart = 0.0
    for card in ("nvidia_h200", "nvidia_h100_80gb_hbm3"):
        swept = results.read_list(REPOSITORY / f"docs/results/{card}/sweep_size.json", results.Result)
        speeds = {(one.step, one.elements): one.bandwidth for one in swept}
        over_09 = {k: speeds[STEPS[10].name, 2**k] / speeds[STEPS[9].name, 2**k] for k in range(15, 29)}
        apart = max(apart, *(abs(1 / over_09[k] - 1) for k in (15, 16, 17)))
        assert min(over_09[k] for k in range(18, 29)) > 1
    assert "at 2¹⁵ elements, the fence" in page
    assert f"from 2¹⁵ to 2¹⁷ the two steps are within {math.ceil(1000 * apart) / 10} % of each other" in page
    assert "From 2¹⁸ on 10 is faster" in page


def test_the_run_is_the_one_that_the_tables_show() -> None:
    assert COUNTED_RUN == ("--device", "emulated", "-n", "2^22", "-b", str(BLOCK))


# ---- what is refused ----


def test_a_counter_that_the_glossary_lacks_is_named() -> None:
    with pytest.raises(BadUsage, match="docs/glossary.md does not explain 'spills', which 04_first_add prints"):
        in_glossary("spills", STEPS[4])


def test_a_measurement_that_the_sweeps_lack_is_named(tmp_path: Path) -> None:
    made_up_results.write_card(tmp_path)
    with pytest.raises(BadUsage, match=r"have no \('01_interleaved', 268435456, 'int32', 32\)"):
        helps(tmp_path, STEPS[2], STEPS[1])
