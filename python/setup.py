"""Puts libRopeC.so of the build tree into the wheel.

The library is that of ROPE_C_LIBRARY, or of build/release beside this folder.
It needs the libMLIR.so that it was built with.
"""

import os
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(os.path.dirname(HERE), "build", "release", "lib", "libRopeC.so")


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        library = os.environ.get("ROPE_C_LIBRARY", BUILT)
        if not os.path.exists(library):
            raise SystemExit(
                f"{library} is missing: build it by tools/dev build, or set ROPE_C_LIBRARY"
            )
        shutil.copy(library, os.path.join(self.build_lib, "rope_mlir", "libRopeC.so"))


class BinaryDistribution(Distribution):
    """Makes the wheel one for this platform."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithLibrary}, distclass=BinaryDistribution)
