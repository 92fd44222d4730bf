"""The cell magic %%emulate of a notebook: the cell is a CUDA program, which runs without a GPU.

`%run docs/notebook/emulate_magic.py` defines it. Behind %%emulate stand words for ./emulate, as in a terminal.
The page of `--trace page.html` is shown below what was printed.
"""

import html
import itertools
import shlex
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

EMULATE = Path(__file__).resolve().parents[2] / "emulate"
SHELL = get_ipython()


def emulate(line: str, cell: str) -> None:
    words = shlex.split(line)
    pages = [Path(value.partition(":")[0]) for option, value in itertools.pairwise(words) if option == "--trace"]
    for page in pages:
        page.unlink(missing_ok=True)  # an old one must not be shown for a program that is not compiled
    source = Path("cell.cu")
    words.insert(words.index("--") if "--" in words else len(words), str(source))
    source.write_text("\n" + cell, "utf-8")  # its lines have the cell's numbers
    try:
        # As `!` does it: with colours, and ended by the stop button. Nobody would type what the program reads.
        SHELL.system(shlex.join([str(EMULATE), *words]) + " </dev/null")
    finally:
        source.unlink(missing_ok=True)
    for page in filter(Path.exists, pages):
        text = html.escape(page.read_text("utf-8"))
        display({"text/html": f'<iframe srcdoc="{text}" style="width: 100%; height: 1000px; border: 0"></iframe>',
                 "text/plain": str(page)}, raw=True)


SHELL.register_magic_function(emulate, "cell")
