"""What nvidia-smi and nvcc say of the first GPU of this machine, which is CUDA's first one."""

import os
import re
import shutil
import subprocess

from tools.command_line import NotPossible

# CUDA's first GPU is then nvidia-smi's first one, too.
os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"


def require() -> None:
    """Throws NotPossible where CUDA sees no GPU."""
    if not name():
        raise NotPossible("there is no NVIDIA GPU here, or no driver for it, or CUDA_VISIBLE_DEVICES names none")


def count() -> int:
    """How many CUDA sees."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return len(visible.split(",")) if visible else said("nvidia-smi", "-L").count("GPU ")


def query(field: str) -> str:
    """Of the first GPU that CUDA sees, which is given by its number or UUID."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    return visible and said("nvidia-smi", f"--id={visible}", f"--query-gpu={field}", "--format=csv,noheader,nounits")


def name() -> str:
    return query("name")


def slug(of: str) -> str:
    """A GPU's name as that of a file: nvidia_h200."""
    return re.sub(r"[^a-z0-9]+", "_", of.lower()).strip("_") or "gpu"


def cuda_version() -> str:
    """What nvcc says, else the newest that the driver supports."""
    if found := re.search(r"release ([\d.]+),", said("nvcc", "--version")):
        return found[1]
    found = re.search(r"CUDA Version: *([\d.]+)", said("nvidia-smi"))
    return f"{found[1]} (driver)" if found else "unknown"


def said(*command: str) -> str:
    """What the program prints; nothing where it is not there or fails."""
    if shutil.which(command[0]) is None:
        return ""
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
    return ran.stdout.strip() if ran.returncode == 0 else ""
