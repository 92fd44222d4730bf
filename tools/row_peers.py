"""Times torch or jax on the matrices of sweeps of 15_rows, by the method of python_peers.py:

  python3 -m tools.row_peers LIBRARY FILE SWEEP...
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tools import output_file, results
from tools.command_line import ExitCode, say
from tools.python_peers import LIBRARIES, WARM_UP_RUNS, first_line, random_input
from tools.sample_clock import L2_SIZES_FLUSHED

# Of operations that have another name in torch: torch.max would look for the index, too.
OF_TORCH = {"max": "amax", "variance": "var"}
OF_JAX = {"variance": "var"}


def main(words: list[str]) -> int:
    library_name, file, *sweeps = words
    measured: list[object] = []
    array: Any = None
    for sweep in sweeps:
        cells = {cell["width"]: cell for cell in json.loads(Path(sweep).read_text("utf-8"))}.values()
        first = next(iter(cells))
        operation = first["operation"]
        name = (OF_JAX if library_name == "jax" else OF_TORCH).get(operation, operation)

        def reduce(module: Any, data: Any) -> Any:
            if (library_name, operation) == ("jax", "softmax"):
                module = importlib.import_module("jax.nn")
            # torch.var divides by one less.
            options = {"correction": 0} if (library_name, operation) == ("torch", "variance") else {}
            return getattr(module, name)(data, axis=1, **options)

        try:
            library = LIBRARIES[library_name](reduce)
        except Exception as error:  # as in python_peers.py
            say(f"not usable: {library_name}: {first_line(error)}")
            return ExitCode.NOT_POSSIBLE
        if array is None:
            array = library.to_device(random_input("float32", first["rows"] * first["width"]))
        library.buffer = library.zeros(L2_SIZES_FLUSHED * first["device"]["l2_bytes"] // 4)
        for cell in cells:
            library.data = array.reshape(cell["rows"], cell["width"])
            result = library.sum()
            times = [library.sample()[0] for _ in range(WARM_UP_RUNS + cell["samples"])][WARM_UP_RUNS:]
            p5, median, p95 = map(float, np.quantile(times, [0.05, 0.5, 0.95]))
            # 15_rows has verified its own results; nobody has those of a library.
            measured.append(cell | {
                "verified": False,
                "kernel": f"{library_name}.{name}", "ms": {"median": median, "p5": p5, "p95": p95},
                "gbps": (array.nbytes + result.nbytes) / median / 1e6,
                "version": f"{library_name} {library.module.__version__}"})
            array = library.data  # the same memory, or what a call that took it has given back
        output_file.write(Path(file), results.to_text(measured))
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
