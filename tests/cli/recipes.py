"""recipes.py SOURCE: the recipes for packages and containers say the same as the source: its version, and what it needs.

  - debian/changelog, the recipes for Spack and EasyBuild and the modulefiles have the version of version.h;
  - both recipes are Python that can be run, with names that stand for Spack's and EasyBuild's own;
  - the containers install what debian/control needs for a build;
  - every library that CMake asks pkg-config for is in each of them.
"""
import glob
import os
import re
import sys
import types

# what pkg-config calls a library, and what Debian, Spack and EasyBuild do
LIBRARIES = {
    "libisal": ("libisal-dev", "isa-l", "ISA-L"),
    "libxxhash": ("libxxhash-dev", "xxhash", "xxHash"),
    "libzstd": ("libzstd-dev", "zstd", "zstd"),
    "inih": ("libinih-dev", "libinih", "inih"),
    "jansson": ("libjansson-dev", "jansson", "Jansson"),
    "pmix": ("libpmix-dev", "pmix", "PMIx"),
}
NOT_IN_RECIPES = {"ompi-c", "mpich", "cmocka"}  # the MPI itself, and the tests

root = os.path.abspath(sys.argv[1])
wrong = 0


def read(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def check(good, text):
    global wrong
    if not good:
        print("FAIL:", text)
        wrong += 1


def spack():
    """The class of the recipe, and what it depends on; once as in Spack 1.0, once as before it."""
    for new in True, False:
        package, versions, needs = types.ModuleType("spack.package"), [], []
        base = type("CMakePackage", (), {})
        package.license = package.conflicts = lambda *a, **k: None
        package.version = lambda name, **k: versions.append(name)
        package.depends_on = lambda spec, **k: needs.append(re.split("[@ ]", spec)[0])
        for name in "spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack_repo.builtin.build_systems.cmake":
            sys.modules[name] = types.ModuleType(name)
        sys.modules["spack.package"] = package
        if new:
            sys.modules["spack_repo.builtin.build_systems.cmake"].CMakePackage = base
        else:
            sys.modules["spack_repo"] = None  # an import of it fails
            package.CMakePackage = base
        names = {}
        exec(compile(read("contrib/spack/package.py"), "package.py", "exec"), names)
        check(issubclass(names["Mend"], base), "Spack's recipe is no CMakePackage")
        check(versions == [version], f"Spack's recipe has the versions {versions}")
        check(f"mend-{version}.tar.gz" in names["Mend"].url, "Spack's recipe names another archive")
    return needs


def easybuild():
    (path,) = glob.glob(os.path.join(root, "contrib/easybuild/*.eb"))
    names = {"SOURCELOWER_TAR_GZ": "%(namelower)s-%(version)s.tar.gz", "SHLIB_EXT": "so"}
    exec(compile(read(path), path, "exec"), names)
    for key in "easyblock", "name", "version", "homepage", "description", "toolchain", "sources", "moduleclass":
        check(key in names, f"EasyBuild's recipe has no {key}")
    chain = names["toolchain"]
    want = f"{names['name']}-{names['version']}-{chain['name']}-{chain['version']}.eb"
    check(os.path.basename(path) == want, f"EasyBuild looks for {want}")
    check(names["version"] == version, f"EasyBuild's recipe has version {names['version']}")
    return [row[0] for row in names["dependencies"]]


def words(text):
    return set(re.findall(r"(?<![\w-])[a-z][a-z0-9+.-]+", text))


version = ".".join(re.findall(r"#define MEND_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", read("include/mend/version.h")))
check(read("debian/changelog").startswith(f"mend ({version}-"), "debian/changelog has another version")
for name in "mend.lua", "mend.tcl":
    check(f"/opt/mend/{version}" in read("contrib/modulefile/" + name), f"{name} has another version")

control = read("debian/control")
build = words(re.search(r"(?ms)^Build-Depends: (.*?)^$", control).group(1)) - {"debhelper-compat"}
dockerfile = read("contrib/container/Dockerfile").split("\nFROM ")[1]  # its first stage builds
for name, text in ("Dockerfile", dockerfile), ("mend.def", read("contrib/container/mend.def")):
    missing = build - words(text)
    check(not missing, f"contrib/container/{name} does not install {' '.join(sorted(missing))}")

asked = set()
for path in [p for n in ("CMakeLists.txt", "cmake/*.cmake", "src/*/CMakeLists.txt") for p in glob.glob(os.path.join(root, n))]:
    asked |= set(re.findall(r"^\s*pkg_check_modules\(\w+ (?:REQUIRED )?(?:IMPORTED_TARGET )?([\w-]+)\)", read(path), re.M))
check(len(asked) >= len(LIBRARIES), f"CMake asks for {' '.join(sorted(asked))} only")
in_spack, in_easybuild = spack(), easybuild()
for library in sorted(asked - NOT_IN_RECIPES):
    check(library in LIBRARIES, f"CMake asks for {library}: in which packages is it?")
    debian, name, other = LIBRARIES.get(library, ("", "", ""))
    check(debian in build, f"debian/control does not name {debian}")
    check(name in in_spack, f"Spack's recipe does not name {name}")
    check(other in in_easybuild, f"EasyBuild's recipe does not name {other}")
print("PASS" if not wrong else f"{wrong} wrong")
sys.exit(wrong > 0)
