"""Figures that sentences need: they stand there between <!-- NAME --> and <!-- /NAME -->."""

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tools import bandwidth, results
from tools.command_line import REPOSITORY, BadUsage, read_text
from tools.results import H100, H200, Result

MARKED = re.compile(r"<!-- (\w+) -->[^<\n]*<!-- /\1 -->")


def of_pages() -> Iterator[tuple[Path, str, str]]:
    """A page, a name that stands on it, and its figure. Throws BadUsage for a name that is none."""
    for file in [REPOSITORY / "docs/cuda_in_ten_minutes.md", *sorted(REPOSITORY.glob("beyond/**/*.md"))]:
        page = file.relative_to(REPOSITORY)
        for name in dict.fromkeys(MARKED.findall(read_text(file))):
            if name not in FIGURES:
                raise BadUsage(f"{page}: there is no figure '{name}'")
            yield page, name, FIGURES[name]()


# ---- what they are made of ----


@functools.cache
def measured(file: str) -> dict[tuple[str, int, str], Result]:
    """By step, elements and type: the H100's beside other programs, else the H200's."""
    card = H100 if file == "peers" else H200
    return {(result.step, result.elements, result.type): result for result in results.read(card, file)}


def ms(file: str, step: str, elements: int, element_type: str) -> float:
    return measured(file)[step, elements, element_type].median_ms


def atomics(step: str) -> float:
    """In ms."""
    return ms("atomics", step, 2**25, "float32")


def peers(step: str, other: str, elements: int, element_type: str) -> float:
    """The bandwidth of one in percent of the other's."""
    return 100 * ms("peers", other, elements, element_type) / ms("peers", step, elements, element_type)


def thrust_after_cub() -> str:
    """In µs."""
    times = [1e3 * (ms("peers", "peer_thrust", n, "int32") - ms("peers", "peer_cub", n, "int32"))
             for n in (2**20, 2**25, 2**28)]
    return f"{min(times):.0f} to {max(times):.0f}"


def printed(line: str) -> float:
    """By the programs of docs/first_program, on the line that begins so."""
    text = read_text(REPOSITORY / "docs/first_program/nvidia_h200.txt")
    return float(re.findall(rf"^{line}\b.* ([\d.]+) (?:cycles|ms)$", text, re.MULTILINE)[0])


# ---- the figures ----


FIGURES: dict[str, Callable[[], str]] = {
    # docs/cuda_in_ten_minutes.md
    "cycles_of_a_register": lambda: f"{printed('registers'):.0f}",
    "cycles_of_shared_memory": lambda: f"{printed('shared memory'):.0f}",
    "cycles_of_l1": lambda: f"{printed('L1'):.0f}",
    "cycles_of_l2": lambda: f"{round(printed('L2'), -1):.0f}",
    "cycles_of_global_memory": lambda: f"{bandwidth.LATENCY:.0f}",
    "latency_us": lambda: f"{bandwidth.LATENCY / bandwidth.clock(H200) * 1e6:.2f}",
    "kib_needed_under_way": lambda: f"{bandwidth.bytes_needed(H200) / 1024:.0f}",
    "divergent_ms": lambda: f"{printed('every other thread'):.2f}",
    "not_divergent_ms": lambda: f"{printed('half of each block'):.2f}",
    # beyond/atomics: of 2^25 float32, and what the atomics of 2^28 in blocks of 256 would take
    "atomic_ns": lambda: f"{1e6 * atomics('atomic_each') / 2**25:.2f}",
    "atomic_each_ms": lambda: f"{atomics('atomic_each'):.1f}",
    "atomic_vector_ms": lambda: f"{atomics('atomic_vector'):.1f}",
    "atomic_block_ms": lambda: f"{atomics('atomic_block'):.3f}",
    "atomics_of_blocks_ms": lambda: f"{atomics('atomic_each') * 8 / 512:.2f}",
    "first_add_ms": lambda: f"{ms('sweep_size', '04_first_add', 2**28, 'int32'):.2f}",
    # beyond/peers
    "jax_ahead_percent": lambda: f"{peers('peer_jax', '12_any_operation', 2**22, 'float32') - 100:.1f}",
    "jax_behind_percent": lambda: f"{100 - peers('peer_jax', '12_any_operation', 2**22, 'int64'):.0f}",
    "thrust_after_cub_us": thrust_after_cub,
    "cublas_float32_percent": lambda: f"{peers('peer_cublas', 'peer_cub', 2**28, 'float32'):.0f}",
    "cublas_float64_percent": lambda: f"{peers('peer_cublas', 'peer_cub', 2**28, 'float64'):.0f}",
    "cublas_complex128_percent": lambda: f"{peers('peer_cublas', 'peer_cub', 2**28, 'complex128'):.0f}",
}
