"""Results of a card that is made up: complete as the steps write them, with times that are easy to check."""

import json
from pathlib import Path
from typing import Any

SIZES = {"int32": 4, "int64": 8, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16}
Result = dict[str, Any]
MEASURED = {"gpu": "Made up", "driver": "1.2.3", "cuda": "13.0", "date": "2026-11-21", "commit": "c0ffee" * 7,
            "command": "python3 -m tools measure"}


def device(kind: str = "cuda", peak: float = 4000) -> Result:
    gpu = kind == "cuda"
    return {"kind": kind, "name": "Made up" if gpu else "a core", "compute_capability": "9.0" if gpu else None,
            "sms": 132 if gpu else None, "l2_bytes": 2**26 if gpu else None, "peak_gbps": peak if gpu else None}


def result(step: str, ms: float, element_type: str = "int32", elements: int = 2**28, block: int | None = 256,
           **changes: Any) -> Result:
    """One of a GPU, but for 00; `changes` replace what a key has."""
    cpu = step.startswith("00_")
    gbps = elements * SIZES.get(element_type, 2) / ms / 1e6
    made = {
        "step": step, "title": "made up", "device": device("cpu" if cpu else "cuda"), "type": element_type,
        "elements": elements, "block": None if cpu or step.startswith("peer_") else block, "grid": None, "samples": 10,
        "ms": {"median": ms, "p5": ms * 0.99, "p95": ms * 1.01, "min": ms * 0.98},
        "first_run_ms": None if cpu else ms * 2,
        "timing": None if cpu else {"flush": "read", "warm_up": 3, "queued": True, "lead_in": 8}, "gbps": gbps,
        "percent_of_peak": None if cpu else gbps / 40, "result": 1, "expected": 1, "error": 0.0, "tolerance": 0.0,
        "verified": True, "data": "random", "seed": 1, "version": "0.1.0", "passes": [], "counters": None}
    return made | changes


def against_cub(case: str, elements: int, ms: float = 0.008, cub_ms: float = 0.01) -> Result:
    """A cell of 12_against_cub."""
    mine, cubs = result("12_any_operation", ms, elements=elements), result("peer_cub", cub_ms, elements=elements)
    return {"case": case, "elements": elements, "element_bytes": 4, "samples": 41, "ms": mine["ms"],
            "cub_ms": cubs["ms"], "gbps": mine["gbps"], "cub_gbps": cubs["gbps"], "verified": True,
            "device": mine["device"], "timing": mine["timing"], "seed": 1, "version": "0.1.0", "cub_version": "3.0.1"}


def ranks(number: int, ms: float, elements: int, weak: bool = True, combined_by: str = "NCCL") -> Result:
    """A job of 13_many_gpus, with so many elements per rank."""
    clocks = {"flush": "read", "warm_up": 3, "queued": True, "lead_in": 8}
    return result("13_many_gpus", ms, elements=number * elements, block=None, timing=clocks, first_run_ms=None) | {
        "ranks": number, "nodes": 1, "elements_per_rank": elements, "weak": weak, "combined_by": combined_by,
        "gbps_per_rank": 1.0, "times_one_rank": 1.0 if elements else None}


def alone(rank: int, ms: float, elements: int = 2**10) -> Result:
    """One GPU of several by itself, in short."""
    return {"rank": rank, "uuid": f"GPU-{rank}", "type": "int32", "elements": elements, "samples": 9,
            "ms": {"median": ms, "p5": ms, "p95": ms}, "gbps": elements * 4 / ms / 1e6}


def timing(result: Result, **changes: Any) -> Result:
    return result | {"timing": result["timing"] | changes}


def write_card(folder: Path) -> None:
    """All files of a card's folder."""
    programs = ("07_cascade", "08_warp_shuffle", "12_any_operation", "peer_cub")
    small, large = 2**10, 2**20
    ladder = [result("00_cpu_serial", 100), *(result(step, 0.4 - k / 10) for k, step in enumerate(programs))]
    files: dict[str, Any] = {
        "measured": MEASURED,
        "ladder": ladder,
        "repeat": ladder[1:],
        "sweep_block": [result(step, 0.4, block=block) for step in programs for block in (32, 1024)],
        "sweep_size": [result(step, n / 1e6, elements=n) for step in programs for n in (small, large)],
        "sweep_type": [result(step, 0.4, element_type) for step in programs for element_type in SIZES],
        "against_cub": [
            *(against_cub(f"sum_{element_type}", n, cub_ms=0.00795 if (element_type, n) == ("int64", small) else 0.01)
              for element_type in SIZES for n in (small, 1399, large) if element_type != "complex128" or n != large),
            *(against_cub(f"{case}_{element_type}", n, ms) for element_type in ("float32", "float64")
              for case, ms in (("same_bits", 0.01), ("compensated", 0.016)) for n in (small, 2**17, 2**18, large)
              if (case, n) != ("compensated", 2**18)),
            against_cub("max_half", large), against_cub("max_half", 2**24), against_cub("max_half", 2**26),
            against_cub("argmin_float32", 2**24)],
        "peers": [result("peer_cub", 0.5, element_type, n) for element_type in SIZES for n in (large, 2**28)]
        + [result("peer_torch", 1, element_type, version="torch 1.2.3") for element_type in SIZES],
        "atomics": [result("atomic_each", 32, "float32", 2**25), result("atomic_block", 0.5, "float32", 2**25),
                    result("atomic_block", 0.5)],
        "method_flush": [timing(result("07_cascade", 0.4), flush=flush) for flush in ("read", "memset", "none")],
        "method_queue": [timing(result("07_cascade", 0.4 + k / 100), queued=k == 0) for k in (0, 1)],
        "method_lead_in": [timing(result(step, ms, elements=large), lead_in=number) for number, step, ms in (
            (8, "peer_cub", 0.007), (0, "07_cascade", 0.009), (0, "peer_cub", 0.008))],
        "method_warm_up": [timing(result("07_cascade", 0.4 + k / 100), warm_up=runs)
                           for runs in (0, 3) for k in range(3)],
        "many_gpus": [ranks(1, 0.001, small), ranks(2, 0.0013, small),
                      *(ranks(p, ms, n, False, "the kernels") for p, ms, n in (
                          (1, 0.4, 2**28), (2, 0.21, 2**27), (1, 0.01, 0), (2, 0.012, 0))),
                      ranks(1, 0.0001, 0), ranks(2, 0.0002, 0)],
        "many_gpus_alone": [*map(alone, (0, 1), (0.001, 0.00125)), *(alone(k, 0.01, 0) for k in (0, 1))],
        "many_gpus_measured": MEASURED | {"command": "python3 -m tools scaling"},
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in files.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
