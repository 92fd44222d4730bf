"""python3 -m tools COMMAND [OPTION...]: runs the command, which is the module of the same name."""

import importlib
import io
import os
import sys

from tools.command_line import ExitCode, Failure, Parser, discard, say

# In the order in which a maintainer needs them.
COMMANDS = {
    "measure": "measure what the pages show of a GPU",
    "scaling": "measure 13_many_gpus on all GPUs of this machine, or of several",
    "profile": "let Nsight Compute count what a step does",
    "compare": "run the steps beside CUB, Thrust, cuBLAS, torch, cupy and jax",
    "plot": "draw the results of one card, or of several",
    "write-pages": "write the generated parts of the pages",
    "check-pages": "name what is stale on the pages, and links that lead nowhere",
    "rounding": "measure what rounding does to each order of additions",
    "site": "make the HTML site",
}


def parse_command(words: list[str]) -> tuple[str, list[str]]:
    """The command's name and what is behind it."""
    width = max(len(name) for name in COMMANDS)
    parser = Parser("tools", "Tools for maintainers and for measuring a GPU.", epilog="commands:\n" + "\n".join(
        f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()))
    parser.add_file("command", choices=COMMANDS, metavar="COMMAND", help="its own --help says more")
    # Only the first word: the options behind it are the command's.
    return parser.parse_args(words[:1]).command, words[1:]


def main() -> int:
    # One that is closed would give its number to the next file that is opened. In the order of their numbers.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # As files are, whatever the locale; a name that is no UTF-8 as its bytes.
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    code = run_command()
    try:
        sys.stdout.flush()
    except OSError as error:
        say(f"tools: error: the output cannot be written: {error.strerror}")
        discard(sys.stdout)
        code = code or ExitCode.NOT_POSSIBLE
    return code


def run_command() -> int:
    name = "tools"
    try:
        command, rest = parse_command(sys.argv[1:])
        name = f"tools {command}"
        return int(importlib.import_module(f"tools.{command.replace('-', '_')}").main(rest))
    except SystemExit as end:
        return int(end.code or 0)  # --help, or a build that has said what is wrong
    except Failure as failure:
        say(*f"{name}: error: {failure}".split("\n"))
        return failure.code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except OSError as error:
        say(f"{name}: error: {error.filename or 'output'}: {error.strerror}")
        return ExitCode.NOT_POSSIBLE


if __name__ == "__main__":
    sys.exit(main())
