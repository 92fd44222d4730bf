"""python3 -m tools COMMAND [OPTION...]: runs the command, which is the module of the same name."""

import importlib
import sys

from tools.command_line import ExitCode, Failure, Parser, say

# In the order in which a maintainer needs them.
COMMANDS = {
    "measure": "measure what the pages show of a GPU",
    "scaling": "measure 13_many_gpus on all GPUs of this machine, or of several",
    "rows": "measure 15_rows beside CUB, torch and jax",
    "profile": "let Nsight Compute count what a step does",
    "compare": "run the steps beside CUB, Thrust, cuBLAS, torch, cupy and jax",
    "plot": "draw the results of one card, or of several",
    "write-pages": "write the generated parts of the pages",
    "check-pages": "name what is stale on the pages",
    "corpus": "run programs that others have written on the emulated device",
    "grade": "grade kernels as exercises of the steps",
    "rounding": "measure what rounding does to each order of additions",
    "site": "make the HTML site, and name links that lead nowhere",
}


def main() -> int:
    parser = Parser("", "Tools for maintainers and for measuring a GPU.", epilog="commands:\n" + "\n".join(
        f"  {name:<11}  {text}" for name, text in COMMANDS.items()))
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="its own --help says more")
    name = "tools"
    try:
        # Only the first word: the options behind it are the command's.
        command = parser.parse_args(sys.argv[1:2]).command
        name = f"tools {command}"
        return int(importlib.import_module(f"tools.{command.replace('-', '_')}").main(sys.argv[2:]))
    except Failure as failure:
        say(f"{name}: error: {failure}")
        return failure.code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except OSError as error:
        say(f"{name}: error: {error.filename or 'output'}: {error.strerror}")
        return ExitCode.NOT_POSSIBLE


if __name__ == "__main__":
    sys.exit(main())
