# A Spack recipe: put it into your own repository as packages/mend/package.py, and mend-0.1.0.tar.gz (make dist)
# into a Spack mirror, or set `git` to your clone and install mend@main.
from spack.package import *


class Mend(CMakePackage):
    """Keeps MPI jobs alive when processes, nodes or storage die."""

    license("MIT")
    version("main", branch="main")
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("scdoc", type="build", when="platform=linux")
    depends_on("openmpi@5:")  # with fault tolerance (ULFM), which is Open MPI 5's default
    depends_on("pmix")  # Mend's own launcher
    depends_on("isa-l")
    depends_on("xxhash")
    depends_on("zstd")
    depends_on("inih")
    depends_on("jansson")

    conflicts("platform=darwin", msg="Mend needs Linux")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)]
