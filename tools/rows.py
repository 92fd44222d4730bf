"""Measures 15_rows on the first GPU of this machine, beside 12, CUB, torch and jax: each operation, at widths from 16
to 2^20, on as many elements. It takes some minutes.

The results are rows.json in FOLDER, by default docs/results/<the GPU's name>. `plot` draws them, and `write-pages`
shows them. A table of each operation is printed.

Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 this machine cannot do it, 130 Ctrl-C.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tools import gpu, output_file, pages, programs, results
from tools.command_line import ExitCode, Parser, parse_count, say
from tools.markdown import count_text
from tools.programs import Programs
from tools.results import H200, RowsResult

PROGRAM = "15_rows"
OPERATIONS = ("sum", "max", "argmax", "variance", "softmax")


def main(words: list[str]) -> int:
    parser = Parser("rows", __doc__)
    parser.add_measurement()
    parser.add_argument("-n", "--elements", type=parse_count, default=2**28, metavar="COUNT",
                        help="rows times width; default 2^28")
    parser.add_argument("-s", "--samples", type=int, default=20, metavar="COUNT", help="timed runs of each; default 20")
    options = parser.parse_args(words)
    gpu.require()
    folder = (options.folder or H200.with_name(gpu.slug(gpu.name()))).resolve()
    output_file.make_folder(folder)
    executables = Programs(options.bin or programs.build([PROGRAM]))
    executables.require(PROGRAM)
    with tempfile.TemporaryDirectory() as scratch:
        sweeps = []
        for operation in OPERATIONS:
            run = f"{PROGRAM} -o {operation} --sweep width -n {count_text(options.elements)} -s {options.samples}"
            say(run)
            sweeps.append(executables.write(Path(scratch, f"{operation}.json"), run))
        files = [*sweeps]
        for library in ("torch", "jax"):  # each in a process of its own, as in `compare`
            say(library)
            file = Path(scratch, f"{library}.json")
            subprocess.run([sys.executable, "-m", "tools.row_peers", library, file, *sweeps])
            files += [file] if file.exists() else []
        results.gather(files, folder / "rows.json", RowsResult)
    print(pages.rows(folder))
    return ExitCode.DONE
