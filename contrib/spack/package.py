# A Spack recipe. Put it into a repository of your own (`spack repo create`) as packages/mend/package.py, and then, in the folder
# that has mend-0.1.0.tar.gz (make dist):
#
#   spack install --no-checksum mend
#
# or, in the source: spack dev-build mend@0.1.0
import os

from spack.package import *

try:  # Spack 1.0 and newer
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # older ones have it in spack.package
    pass


class Mend(CMakePackage):
    """Keeps MPI jobs alive when processes, nodes or storage die."""

    url = f"file://{os.getcwd()}/mend-0.1.0.tar.gz"
    manual_download = True

    license("MIT")
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("openmpi@5:")  # with fault tolerance (ULFM), which is Open MPI 5's default
    depends_on("pmix")  # Mend's own launcher
    depends_on("isa-l")
    depends_on("xxhash")
    depends_on("zstd")
    depends_on("libinih")
    depends_on("jansson")

    conflicts("platform=darwin", msg="Mend needs Linux")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)]
