"""The one reader of result files, and their schema: what --json of the steps writes (common/harness/result_json.cpp),
what 13_many_gpus adds to it, and the smaller files of a card's folder (docs/results).

A file that does not fit is refused with its name and the key: BadUsage.
"""

import dataclasses
import functools
import json
import sys
import types
import typing
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from tools import output_file
from tools.command_line import REPOSITORY, BadUsage, ElementType, read_text

# The cards that the pages speak of. Most figures are the first one's; the others stand beside it where cards differ.
H200, H100 = (REPOSITORY / "docs/results" / name for name in ("nvidia_h200", "nvidia_h100_80gb_hbm3"))
CARDS = (H200, H100)

# With the least and the most. Quantities are divided by.
Count = Annotated[int, 0, 2**63 - 1]
Quantity = Annotated[float, 1e-9, 1e15]
QuantityOrZero = Annotated[float, 0.0, 1e15]
# [re, im] of a complex number; text where JSON has no such number: beyond 2^53, NaN, infinities.
Number = int | float | str
Value = Number | list[Number]

# ---- the schema ----


@dataclasses.dataclass(frozen=True, kw_only=True)
class Device:
    kind: Literal["cuda", "emulated", "cpu"]
    name: str
    compute_capability: str | None
    sms: Count | None
    l2_bytes: Count | None
    peak_gbps: QuantityOrZero | None  # 10^9 bytes/s


@dataclasses.dataclass(frozen=True, kw_only=True)
class Quantiles:
    median: Quantity
    p5: Quantity
    p95: Quantity


@dataclasses.dataclass(frozen=True, kw_only=True)
class Milliseconds(Quantiles):
    min: Quantity


@dataclasses.dataclass(frozen=True, kw_only=True)
class Timing:
    flush: Literal["read", "memset", "none"]
    warm_up: Count  # runs
    queued: bool
    lead_in: Count = 0  # empty kernels


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counters:
    """What the emulated device counts, of one launch or of all."""

    blocks: Count
    threads: Count
    shared_load_requests: Count
    shared_load_wavefronts: Count
    shared_load_conflicts: Count
    shared_load_lanes: Count
    shared_store_requests: Count
    shared_store_wavefronts: Count
    shared_store_conflicts: Count
    shared_store_lanes: Count
    global_load_requests: Count
    global_load_sectors: Count
    global_load_lanes: Count
    global_store_requests: Count
    global_store_sectors: Count
    global_store_lanes: Count
    block_barriers: Count
    warp_barriers: Count
    shuffles: Count
    atomics: Count


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pass:
    elements: Count
    blocks: Count
    counters: Counters | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """A run of a step or a peer."""

    step: str
    title: str
    device: Device
    type: ElementType
    elements: Count
    block: Count | None
    grid: Count | None
    samples: Count
    ms: Milliseconds | None
    first_run_ms: QuantityOrZero | None
    timing: Timing | None
    gbps: QuantityOrZero | None
    percent_of_peak: QuantityOrZero | None
    result: Value
    expected: Value
    error: Number
    tolerance: Number
    verified: bool
    data: Literal["random", "ones", "cancelling"]
    seed: int | str
    version: str
    passes: list[Pass]
    counters: Counters | None
    variant: str = ""
    other_variants: list["Result"] = dataclasses.field(default_factory=list)

    @property
    def on_gpu(self) -> bool:
        return self.device.kind == "cuda"

    @property
    def median_ms(self) -> float:
        return self.required(self.ms, "ms").median

    @property
    def bandwidth(self) -> float:
        """GB/s of a run that was timed. Throws BadUsage for another."""
        return self.required(self.gbps, "gbps")

    def required(self, value: "Present | None", key: str) -> "Present":
        if value is None:
            raise BadUsage(f"{self.step}, {self.elements} {self.type}: {key} is null, and a run with times is needed")
        return value


Present = TypeVar("Present")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RanksResult(Result):
    """A run of 13_many_gpus."""

    ranks: Count
    nodes: Count
    elements_per_rank: Count
    weak: bool
    combined_by: str
    gbps_per_rank: QuantityOrZero | None
    times_one_rank: QuantityOrZero | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoneRank(Result):
    """A rank of `13_many_gpus --alone`."""

    rank: Count
    uuid: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured:
    """measured.json: where and how a card's results were measured."""

    gpu: str
    driver: str
    cuda: str
    date: str  # 2026-11-21
    command: str
    commit: str
    clock_mhz: Count | None = None  # the highest of the multiprocessors; it was not always noted

    @property
    def short_commit(self) -> str:
        """Twelve digits, and whether there were changes, as `measure` has it from git."""
        digits, space, changes = self.commit.partition(" ")
        return digits[:12] + space + changes


@dataclasses.dataclass(frozen=True, kw_only=True)
class SecondClock:
    """Of second_clock.json: the times of Nsight Compute and of the step itself."""

    step: str
    ncu_ms: Quantity
    step_ms: Quantity


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgainstCub:
    """Of against_cub.json: 12_any_operation's header and CUB's reduction, timed in turn on one input."""

    case: str  # sum_int32
    elements: Count
    element_bytes: Count
    samples: Count  # of each
    ms: Milliseconds | None
    cub_ms: Milliseconds | None
    gbps: QuantityOrZero | None
    cub_gbps: QuantityOrZero | None
    verified: bool  # both have the same result
    device: Device
    timing: Timing
    seed: int | str
    version: str
    cub_version: str

    @property
    def medians(self) -> tuple[float, float]:
        """The header's and CUB's, in ms. Throws BadUsage where the results differed, which are not timed."""
        if self.ms is None or self.cub_ms is None:
            raise BadUsage(f"{self.case}, {self.elements} elements: ms is null, and a run with times is needed")
        return self.ms.median, self.cub_ms.median

    @property
    def cub_over_ours(self) -> float:
        ours, cub = self.medians
        return cub / ours

    @property
    def within_tick(self) -> bool:
        """Whether the two are as close as two readings of the same time may be: 0.1 µs, as 12_against_cub has it."""
        ours, cub = self.medians
        return abs(cub - ours) < 1e-4 * 1.001


@dataclasses.dataclass(frozen=True, kw_only=True)
class AloneResult:
    """Of many_gpus_alone.json: one GPU of several by itself."""

    rank: Count
    uuid: str = ""
    type: ElementType
    elements: Count
    samples: Count
    ms: Quantiles
    gbps: QuantityOrZero


# ---- the reader ----

Record = TypeVar("Record")


def read_list(file: Path, record: type[Record] = Result) -> list[Record]:  # type: ignore[assignment]
    """The records of a file, which is a list of them or a single one. Throws BadUsage for any other file."""
    kind: typing.Any = record
    return list(decoded(file, read_text(file), kind))


@functools.lru_cache(maxsize=64)
def decoded(file: Path, text: str, record: typing.Any) -> tuple[typing.Any, ...]:
    """The records of a file with this text: one page after the other is generated from the same files."""
    document = parse(file, text)
    if not isinstance(document, list):
        return (decode(record, document, f"'{file}'"),)
    if not document:
        raise BadUsage(f"'{file}' has no result")
    return tuple(decode(record, item, f"'{file}': [{k}]") for k, item in enumerate(document))


def read_one(file: Path, record: type[Record]) -> Record:
    """The one record of a file. Throws BadUsage for any other file."""
    return typing.cast(Record, decode(record, load(file), f"'{file}'"))


def measured(folder: Path) -> Measured:
    """Where and how a card's results were measured. Throws BadUsage where that is not there."""
    return read_one(folder / "measured.json", Measured)


def read_list_if_there(file: Path, record: type[Record] = Result) -> list[Record]:  # type: ignore[assignment]
    """The same of a file that not every card has: nothing where it is missing."""
    return read_list(file, record) if file.exists() else []


def gather(files: list[Path], target: Path, record: type = Result) -> None:
    """Writes the records of all files into one list, as they stand there. Throws BadUsage where one does not fit."""
    results: list[object] = []
    for file in files:
        read_list(file, record)
        document = load(file)
        results += document if isinstance(document, list) else [document]
    output_file.write(target, to_text(results))


def to_text(document: object) -> str:
    """JSON with one line for each row: for each record of a list, also of a list in a record, and for each key of a
    record by itself."""
    return lines(document) + "\n"


def lines(value: object) -> str:
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(on_one_line, value)) + "\n]"
    if isinstance(value, dict):
        items = {key: lines(item) if is_list_of_records(item) else on_one_line(item) for key, item in value.items()}
        return "{\n" + ",\n".join(f'  "{key}": {item}' for key, item in items.items()) + "\n}"
    return on_one_line(value)


def is_list_of_records(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def on_one_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def load(file: Path) -> object:
    """The JSON of a file, whatever it is. Throws BadUsage where it is none."""
    return parse(file, read_text(file))


def parse(file: Path, text: str) -> object:
    def refuse(constant: str) -> object:
        raise ValueError(f"{constant} is no number")

    try:
        document = json.loads(text, parse_constant=refuse)
        json.dumps(document, ensure_ascii=False).encode()  # "\\ud800" is no text
        return document
    except (ValueError, RecursionError) as error:
        raise BadUsage(f"'{file}' is no JSON: {error}") from None


def decode(kind: typing.Any, value: typing.Any, where: str) -> typing.Any:
    """`value` as a `kind`: a dataclass of the schema or the type of one of its fields. Throws BadUsage with `where`."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return decode_record(kind, value, where)
    if origin is list and isinstance(value, list):
        return [decode(arguments[0], item, f"{where}[{k}]") for k, item in enumerate(value)]
    if origin in (types.UnionType, typing.Union):
        for choice in arguments:
            if matches(choice, value):
                return decode(choice, value, where)
    elif origin is Literal:
        if value in arguments and isinstance(value, str):
            return value
    elif origin is Annotated:
        if matches(arguments[0], value) and arguments[1] <= value <= arguments[2]:
            return arguments[0](value)
    elif origin is not list and matches(kind, value):
        return value
    raise BadUsage(f"{where} is {shown(value)}, and {described(kind)} belongs there")


def decode_record(kind: typing.Any, value: typing.Any, where: str) -> typing.Any:
    if not isinstance(value, dict):
        raise BadUsage(f"{where} is {shown(value)}, and an object belongs there")
    hints = types_of_fields(kind)
    for key in value:
        if key not in hints:
            raise BadUsage(f"{where}: the key '{key[:80]}' is unknown")
    for field in dataclasses.fields(kind):
        optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if field.name not in value and not optional:
            raise BadUsage(f"{where}: the key '{field.name}' is missing")
    return kind(**{key: decode(hints[key], item, f"{where}.{key}") for key, item in value.items()})


@functools.cache
def types_of_fields(kind: type) -> dict[str, typing.Any]:
    return typing.get_type_hints(kind, include_extras=True)


def matches(kind: typing.Any, value: object) -> bool:
    """Whether the value has the form of this kind; what is in it, decode() looks at."""
    origin = typing.get_origin(kind)
    if origin is Annotated:
        return matches(typing.get_args(kind)[0], value)
    if dataclasses.is_dataclass(kind):
        return isinstance(value, dict)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    return isinstance(value, origin or kind)


def shown(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def described(kind: typing.Any) -> str:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(described(choice) for choice in arguments)
    if origin is Literal:
        return "one of " + ", ".join(arguments)
    if origin is Annotated:
        return "a whole number from 0 on" if arguments[0] is int else \
            f"a number from {arguments[1]:g} to {arguments[2]:g}"
    if dataclasses.is_dataclass(kind):
        return "an object"
    return {list: "a list", int: "a whole number", float: "a number", str: "a text", bool: "true or false",
            types.NoneType: "null"}[origin or kind]
