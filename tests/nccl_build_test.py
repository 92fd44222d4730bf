"""Whether a build has 13_many_gpus, and which NCCL that takes, of made-up ones: CMake says it in one line."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.command_line import REPOSITORY

# What this machine has is not found.
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(nccl LANGUAGES CXX)
find_package(PkgConfig QUIET)
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)
include({REPOSITORY}/beyond/13_many_gpus/Nccl.cmake)
"""
NEWER = "set NCCL_HOME to the folder of a newer one"


@pytest.fixture
def configure(tmp_path: Path) -> Callable[..., str]:
    """What CMake says of NCCL in a new build folder, with these options, and variables of the environment."""
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)

    def run(*options: str, **variables: str | Path) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NCCL_")}
        environment |= {"PKG_CONFIG_LIBDIR": str(tmp_path)} | {name: str(value) for name, value in variables.items()}
        ran = subprocess.run(["cmake", "--fresh", "-S", tmp_path, "-B", tmp_path / "build", *options],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        if ran.returncode != 0:
            return " ".join(ran.stdout.split())
        [line] = [line for line in ran.stdout.splitlines() if "NCCL" in line]
        return line

    return run


def nccl(folder: Path, version: str, library: str = "lib/libnccl.so") -> Path:
    for file in (folder / library, folder / "include/nccl.h"):
        file.parent.mkdir(parents=True)
        file.touch()
    numbers = zip(("MAJOR", "MINOR", "PATCH"), version.split("."), strict=True)
    (folder / "include/nccl.h").write_text("".join(f"#define NCCL_{name} {number}\n" for name, number in numbers))
    return folder


def test_the_folder_that_is_named(configure: Callable[..., str], tmp_path: Path) -> None:
    old, new, wheel = (nccl(tmp_path / "old", "2.12.9"), nccl(tmp_path / "new", "2.13.4", "lib64/libnccl.so"),
                       nccl(tmp_path / "wheel", "2.28.9", "lib/libnccl.so.2"))
    by_new = f"-- 13_many_gpus with NCCL 2.13.4 ({new}/lib64/libnccl.so)"
    assert configure(NCCL_HOME=new) == configure(NCCL_ROOT=new) == by_new
    assert configure(f"-DNCCL_HOME={new}", NCCL_HOME=old, NCCL_ROOT=old) == configure(f"-DNCCL_ROOT={new}") == by_new
    assert configure(NCCL_HOME=wheel) == f"-- 13_many_gpus with NCCL 2.28.9 ({wheel}/lib/libnccl.so.2)"
    assert configure(NCCL_HOME=old) == (
        f"-- 13_many_gpus without NCCL: NCCL 2.12.9 ({old}/lib/libnccl.so) is older than 2.13; {NEWER}")


def test_the_one_that_pkg_config_knows(configure: Callable[..., str], tmp_path: Path, need: Callable[[str], str]
                                       ) -> None:
    need("pkg-config")
    known = nccl(tmp_path / "known", "2.20.5")
    (tmp_path / "nccl.pc").write_text(f"libdir={known}/lib\nincludedir={known}/include\nName: nccl\nDescription: -\n"
                                      "Version: 2.20.5\nLibs: -L${libdir} -lnccl\nCflags: -I${includedir}\n")
    assert configure() == f"-- 13_many_gpus with NCCL 2.20.5 ({known}/lib/libnccl.so)"
    named = nccl(tmp_path / "named", "2.21.5")
    assert configure(NCCL_HOME=named) == f"-- 13_many_gpus with NCCL 2.21.5 ({named}/lib/libnccl.so)"


def test_none(configure: Callable[..., str], tmp_path: Path) -> None:
    assert configure() == ("-- 13_many_gpus without NCCL: there is no NCCL; where it is elsewhere, "
                           "set NCCL_HOME to its folder")
    assert (f"NCCL_HOME is '{tmp_path}', but there are no include/nccl.h and lib/libnccl.so in it"
            in configure(NCCL_HOME=tmp_path))


def test_without_mpi(need: Callable[[str], str], tmp_path: Path) -> None:
    """A FindMPI that finds none stands for a machine without MPI."""
    (tmp_path / "FindMPI.cmake").write_text("""include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPI REQUIRED_VARS MPI_OF_THIS_TEST HANDLE_COMPONENTS)
""")
    (tmp_path / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(without_mpi LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH ${{CMAKE_CURRENT_SOURCE_DIR}})
add_subdirectory({REPOSITORY}/beyond/13_many_gpus ranks)
""")
    said = subprocess.run([need("cmake"), "-S", tmp_path, "-B", tmp_path / "build"], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    lines = [line for line in said.stdout.splitlines() if not re.match("-- (Configuring|Generating|Build files)", line)]
    assert lines == ["-- 13_many_gpus is left out: there is no MPI"]
