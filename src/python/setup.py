"""Builds the C library by the project's Makefile and puts it into the package.

The C sources are those around this directory, or, in a source distribution, the copy in csrc/.
Environment: CUDA, NVCC, CUDA_ARCH, CC, CFLAGS and the other variables of the Makefile.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools < 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE / "csrc" if (HERE / "csrc").is_dir() else HERE.parent.parent


def version() -> str:
    header = (ROOT / "src" / "tileswap.h").read_text()
    return ".".join(
        re.search(rf"^#define TSW_VERSION_{part} (\d+)$", header, re.M).group(1) for part in ("MAJOR", "MINOR", "PATCH")
    )


def make_library(target: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "BUILD")}
    with tempfile.TemporaryDirectory() as build:
        library = Path(build, "libtileswap.so")
        jobs = env.pop("MAX_JOBS", None) or len(os.sched_getaffinity(0))
        subprocess.check_call(["make", "-C", str(ROOT), f"-j{jobs}", f"BUILD={build}", "WARN=", str(library)], env=env)
        shutil.copyfile(library.resolve(), target)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = HERE / "tileswap" if getattr(self, "editable_mode", False) else Path(self.build_lib, "tileswap")
        make_library(package / "libtileswap.so")


class SdistWithSources(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        tree = Path(base_dir, "csrc")
        for name in ("Makefile", "LICENSE", "src", "kernels"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("python", "*.o"))
            else:
                tree.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, tree / name)


class PlatformWheel(bdist_wheel):
    """Bound to the machine by the library it carries, to no version of Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(
    version=version(),
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithLibrary, "sdist": SdistWithSources, "bdist_wheel": PlatformWheel},
)
