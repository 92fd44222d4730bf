"""The one reader of result files: of what --json of the steps writes (common/harness/result_json.cpp), of what
13_many_gpus adds to it, and of the smaller files of a card's folder (docs/results).

Here is of each record what the tools need; other keys may stand there. A file that does not fit is refused with its
name and the key: BadUsage.
"""

import dataclasses
import functools
import json
import types
import typing
from pathlib import Path
from typing import Literal, TypeVar

from tools import output_file
from tools.command_line import REPOSITORY, BadUsage, ElementType, read_text

# The cards that the pages speak of. Most figures are the first one's; the others stand beside it where cards differ.
H200, H100 = (REPOSITORY / "docs/results" / name for name in ("nvidia_h200", "nvidia_h100_80gb_hbm3"))
CARDS = (H200, H100)

# [re, im] of a complex number; text where JSON has no such number: beyond 2^53, NaN, infinities.
Number = int | float | str
Value = Number | list[Number]

# ---- the schema ----


@dataclasses.dataclass(frozen=True, kw_only=True)
class Device:
    kind: Literal["cuda", "emulated", "cpu"]
    name: str
    compute_capability: str | None
    sms: int | None
    l2_bytes: int | None
    peak_gbps: float | None  # 10^9 bytes/s


@dataclasses.dataclass(frozen=True, kw_only=True)
class Milliseconds:
    median: float
    p5: float
    p95: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Timing:
    flush: Literal["read", "memset", "none"]
    warm_up: int  # runs
    queued: bool
    lead_in: int = 0  # empty kernels
    back_to_back: int = 1  # reductions in a sample


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pass:
    elements: int
    blocks: int
    counters: dict[str, int] | None  # what the emulated device counts


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """A run of a step or a peer."""

    step: str
    device: Device
    type: ElementType
    elements: int
    block: int | None
    samples: int
    ms: Milliseconds | None
    first_run_ms: float | None
    timing: Timing | None
    gbps: float | None
    percent_of_peak: float | None
    result: Value
    error: Number
    tolerance: Number
    verified: bool
    seed: int | str
    version: str
    passes: list[Pass]
    counters: dict[str, int] | None  # of all passes
    variant: str = ""
    other_variants: list["Result"] = dataclasses.field(default_factory=list)

    @property
    def on_gpu(self) -> bool:
        return self.device.kind == "cuda"

    # Of a run that was timed.

    @property
    def times(self) -> Milliseconds:
        assert self.ms, self
        return self.ms

    @property
    def median_ms(self) -> float:
        return self.times.median

    @property
    def us(self) -> float:
        return 1e3 * self.median_ms

    @property
    def bandwidth(self) -> float:
        assert self.gbps, self
        return self.gbps

    @property
    def method(self) -> Timing:
        assert self.timing, self
        return self.timing


@dataclasses.dataclass(frozen=True, kw_only=True)
class RanksResult(Result):
    """A run of 13_many_gpus."""

    ranks: int
    nodes: int
    elements_per_rank: int
    weak: bool
    combined_by: str
    times_one_rank: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured:
    """measured.json: where and how a card's results were measured."""

    gpu: str
    driver: str
    cuda: str
    date: str  # 2026-11-21
    command: str
    commit: str
    clock_mhz: int | None = None  # the highest of the multiprocessors; it was not always noted

    @property
    def short_commit(self) -> str:
        """Twelve digits, and whether there were changes, as `measure` has it from git."""
        return " ".join([self.commit[:12], *self.commit.split()[1:]])


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgainstCub:
    """Of against_cub.json: 12_any_operation's header and CUB's reduction, timed in turn on one input."""

    case: str  # sum_int32
    elements: int
    ms: Milliseconds
    cub_ms: Milliseconds
    gbps: float
    cub_version: str

    @property
    def cub_over_ours(self) -> float:
        return self.cub_ms.median / self.ms.median

    @property
    def within_tick(self) -> bool:
        """Whether the two are as close as two readings of the same time may be: 0.1 µs."""
        return round(abs(self.cub_ms.median - self.ms.median), 6) <= 1e-4


@dataclasses.dataclass(frozen=True, kw_only=True)
class AloneResult:
    """Of many_gpus_alone.json: one GPU of several by itself."""

    rank: int
    elements: int
    ms: Milliseconds
    gbps: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowsResult:
    """Of rows.json: an operation on each row of a matrix, or on each column, by a kernel of 15_rows or by a library."""

    operation: str
    kernel: str
    rows: int
    width: int
    ms: Milliseconds
    gbps: float  # each element once and each result once


# ---- the reader ----

Record = TypeVar("Record")


def read_list(file: Path, record: type[Record]) -> list[Record]:
    """The records of a file, which is a list of them or a single one. Throws BadUsage for any other file."""
    try:
        document = json.loads(read_text(file))
    except ValueError as error:
        raise BadUsage(f"'{file}' is no JSON: {error}") from None
    records = document if isinstance(document, list) else [document]
    if not records:
        raise BadUsage(f"'{file}' has no result")
    return [decode(record, item, f"'{file}': [{k}]") for k, item in enumerate(records)]


def read_one(file: Path, record: type[Record]) -> Record:
    return read_list(file, record)[0]


def measured(folder: Path) -> Measured:
    """Where and how a card's results were measured. Throws BadUsage where that is not there."""
    return read_one(folder / "measured.json", Measured)


def read(folder: Path, name: str) -> list[Result]:
    """The results in a card's file, of which not every card has all: none where it is missing."""
    return read_as(folder, name, Result)


def read_as(folder: Path, name: str, record: type[Record]) -> list[Record]:
    file = folder / f"{name}.json"
    return read_list(file, record) if file.exists() else []


def gather(files: list[Path], target: Path, record: type) -> None:
    """Writes the records of all files into one list, as they stand there. Throws BadUsage where one does not fit."""
    gathered: list[object] = []
    for file in files:
        read_list(file, record)
        document = json.loads(read_text(file))
        gathered += document if isinstance(document, list) else [document]
    output_file.write(target, to_text(gathered))


def to_text(document: object) -> str:
    """JSON with one line for each record of a list, and for each key of a record by itself."""
    if isinstance(document, list):
        return "[\n" + ",\n".join(json.dumps(record, ensure_ascii=False) for record in document) + "\n]\n"
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def decode(kind: typing.Any, value: typing.Any, where: str) -> typing.Any:
    """`value` as a `kind`: a dataclass of the schema or the type of one of its fields. Throws BadUsage with `where`."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        fields = {key: decode(of, value[key], f"{where}.{key}") for key, of in types_of_fields(kind).items()
                  if key in value}
        try:
            return kind(**fields)
        except TypeError as error:  # "missing 1 required keyword-only argument: 'gbps'"
            raise BadUsage(f"{where}: {error}") from None
    if origin is dict and isinstance(value, dict):
        return {key: decode(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if origin is list and isinstance(value, list):
        return [decode(arguments[0], item, f"{where}[{k}]") for k, item in enumerate(value)]
    if origin in (types.UnionType, typing.Union):
        failures = []
        for choice in arguments:
            try:
                return decode(choice, value, where)
            except BadUsage as failure:
                failures.append(failure)
        raise failures[0]
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is kind or origin is Literal and value in arguments:
        return value
    raise BadUsage(f"{where} is {json.dumps(value)[:40]}, and {kind.__name__ if isinstance(kind, type) else kind} "
                   "belongs there")


@functools.cache
def types_of_fields(kind: type) -> dict[str, typing.Any]:
    return typing.get_type_hints(kind)
