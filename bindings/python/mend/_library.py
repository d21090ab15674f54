"""Finds and loads libmend, and declares what the package calls.

It is loaded when the package is imported, because two things must happen before MPI starts: Mend sets the
parameters that Open MPI needs to live on after a death, and it takes its place before libmpi in the dynamic
linker's order (RTLD_GLOBAL), so that it sees every communicator that mpi4py makes. A library that cannot be loaded
is an error of the first call, not of the import.
"""

import ctypes
import glob
import os
import sys

from ._errors import NoLibrary, error

SONAME = "libmend.so.0"

c_int, c_char_p, c_void_p, c_size_t = ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t
c_int64, c_uint64, c_long = ctypes.c_int64, ctypes.c_uint64, ctypes.c_long
POINTER = ctypes.POINTER


class LevelOptions(ctypes.Structure):
    _fields_ = [("every", c_int), ("keep", c_int), ("compress", c_int)]


class StoreOptions(ctypes.Structure):
    """mend_store_options. Later versions of the library add fields at the end; `size` says how many we know."""

    _fields_ = [
        ("size", c_size_t),
        ("local_dir", c_char_p),
        ("global_dir", c_char_p),
        ("domain", c_char_p),
        ("topology", c_char_p),
        ("level", LevelOptions * 5),
        ("sync", c_int),
        ("erasure_k", c_int),
        ("erasure_m", c_int),
        ("global_files", c_int),
        ("delta", c_int),
        ("delta_chain", c_int),
        ("block", c_size_t),
        ("buffers", c_int),
        ("bandwidth", c_size_t),
        ("max_stall", ctypes.c_double),
        ("copy_on_write", c_int),
        ("memory_tight", c_int),
    ]


class SaveOptions(ctypes.Structure):
    _fields_ = [
        ("levels", ctypes.c_uint),
        ("sync", c_int),
        ("full", c_int),
        ("ids", POINTER(c_int)),
        ("id_count", c_int),
        ("streams", c_void_p),
        ("stream_count", c_int),
    ]


def candidates():
    """Where libmend may be, best first: MEND_LIBRARY, beside an installed package, in a build, the linker's way."""
    if os.environ.get("MEND_LIBRARY"):
        return [os.environ["MEND_LIBRARY"]]
    here = os.path.dirname(os.path.abspath(__file__))
    prefix = os.path.normpath(os.path.join(here, "../../../.."))  # PREFIX/share/mend/python/mend
    found = []
    for pattern in ("lib*/", "lib/*/"):
        found += sorted(glob.glob(os.path.join(glob.escape(prefix), pattern + SONAME)))
    clone = os.path.normpath(os.path.join(here, "../../../build/lib", SONAME))  # bindings/python/mend
    if os.path.exists(clone):
        found.append(clone)
    return found + [SONAME]


def mpi_has_started():
    """Was MPI loaded before this package? Then Mend cannot repair processes."""
    return "mpi4py.MPI" in sys.modules


def declare(lib):
    def function(name, *arguments, result=c_int):
        f = getattr(lib, name)
        f.argtypes, f.restype = arguments, result

    store, process = c_void_p, c_void_p
    comm = comm_type(lib)
    function("mend_error_text", result=c_char_p)
    function("mend_version_text", result=c_char_p)
    function("mend_store_defaults_sized", POINTER(StoreOptions), c_size_t)
    function("mend_store_open", comm, c_int, c_char_p, POINTER(StoreOptions), POINTER(store))
    function("mend_store_rebind", store, comm, c_int)
    function("mend_store_open_single", c_char_p, POINTER(StoreOptions), POINTER(store))
    function("mend_store_close", store)
    function("mend_store_region", store, c_int, c_char_p, c_void_p, c_size_t)
    function("mend_store_region_global", store, c_int, c_char_p, c_void_p, c_size_t, c_uint64, c_uint64)
    function("mend_store_region_remove", store, c_int)
    function("mend_store_save_sized", store, c_int64, POINTER(SaveOptions), c_size_t, c_size_t)
    function("mend_store_wait", store)
    function("mend_store_test", store, POINTER(c_int))
    function("mend_store_reached", store, c_int64, POINTER(ctypes.c_uint))
    function("mend_store_newest", store, POINTER(c_int64))
    function("mend_store_versions", store, POINTER(c_int64), c_int, POINTER(c_int))
    function("mend_store_restore", store, c_int64)
    function("mend_store_restore_newest", store, POINTER(c_int64))
    function("mend_store_prune", store, c_long)
    function("mend_store_discard", store)
    function("mend_process_open_fortran", c_int, c_int, c_int, c_int, POINTER(process))
    function("mend_process_state_fortran", process, *[POINTER(c_int)] * 6, result=None)
    function("mend_process_repair", process)
    function("mend_process_check", process, c_int)
    function("mend_process_is_failure", c_int)
    function("mend_process_close", process)
    return lib


def comm_type(lib):
    """MPI_Comm is a pointer in Open MPI and an int elsewhere."""
    return c_void_p if hasattr(lib, "ompi_mpi_comm_world") else c_int


def load():
    tried = []
    for path in candidates():
        try:
            return declare(ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL))
        except (OSError, AttributeError) as problem:
            tried.append("%s: %s" % (path, problem))
    raise NoLibrary(
        "cannot load libmend (set MEND_LIBRARY to the path of %s, or LD_LIBRARY_PATH); tried %s" % (SONAME, "; ".join(tried))
    )


late = mpi_has_started()
try:
    loaded, problem = load(), None
except NoLibrary as reason:
    loaded, problem = None, reason


def library():
    """libmend; raises NoLibrary where it could not be loaded."""
    if loaded is None:
        raise problem
    return loaded


def checked(code):
    """The result of a call, or its error as an exception."""
    if code < 0:
        raise error(code, library().mend_error_text().decode(errors="replace"))
    return code


def version():
    """The library's version, as "major.minor.patch"."""
    return library().mend_version_text().decode()


def fortran_handle(comm):
    """The integer handle of a communicator: mpi4py's (or of any object with py2f), or the integer itself."""
    if hasattr(comm, "py2f"):
        return comm.py2f()
    if isinstance(comm, int) and not isinstance(comm, bool):
        return comm
    raise TypeError("a communicator of mpi4py or the integer that MPI_Comm_c2f gives, not %r" % (comm,))


def c_handle(handle):
    """MPI_Comm for an integer handle."""
    lib = library()
    if comm_type(lib) is c_int:
        return handle
    convert = lib.MPI_Comm_f2c
    convert.argtypes, convert.restype = [c_int], c_void_p
    return convert(handle)
