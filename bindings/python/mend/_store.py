"""The store: numbered versions of a program's data, at several levels."""

import ctypes
import os
import zlib
from ctypes import byref, c_int, c_int64, c_uint, c_void_p, sizeof

from ._errors import CODES, Error, NoVersion, PeerFailed
from ._library import SaveOptions, StoreOptions, c_handle, checked, fortran_handle, library
from ._views import view_of

LEVELS = ("memory", "local", "partner", "erasure", "global")
DELTAS = ("off", "hash", "cmp", "pages")
TEXTS = ("local_dir", "global_dir", "domain", "topology")
NUMBERS = ("erasure_k", "erasure_m", "global_files", "delta_chain", "block", "buffers", "bandwidth", "max_stall")
SWITCHES = ("sync", "copy_on_write")


def level_set(names):
    """The bits of a collection of levels' names."""
    if isinstance(names, str):
        names = [names]
    bits = 0
    for name in names:
        if name not in LEVELS:
            raise ValueError("there is no level %r; the levels are %s" % (name, ", ".join(LEVELS)))
        bits |= 1 << LEVELS.index(name)
    return bits


def fill_levels(options, levels):
    """levels: {"memory": 1, "global": {"every": 10, "keep": 2, "compress": 3}}; those not named are off."""
    level_set(levels)
    for name, wanted in levels.items():
        wanted = wanted if isinstance(wanted, dict) else {"every": wanted}
        for key, value in wanted.items():
            if key not in ("every", "keep", "compress"):
                raise ValueError("level %s: there is no option %r (every, keep, compress)" % (name, key))
            if not isinstance(value, int) or value < 0:
                raise ValueError("level %s: %s must be a whole number, not %r" % (name, key, value))
    for i, name in enumerate(LEVELS):
        row = options.level[i]
        wanted = levels.get(name, 0)
        wanted = wanted if isinstance(wanted, dict) else {"every": wanted}
        row.every = wanted.get("every", 1)
        row.keep = wanted.get("keep", row.keep)
        row.compress = wanted.get("compress", row.compress)


def fill_options(options, given):
    """Put keyword arguments into the structure; None stands for "as configured"."""
    for name, value in given.items():
        if name not in TEXTS + NUMBERS + SWITCHES + ("levels", "delta"):
            raise TypeError("a store has no option %r" % name)
        if value is None:
            continue
        if name == "levels":
            if not isinstance(value, dict):
                raise TypeError('levels is a dictionary, for example {"memory": 1, "global": 10}')
            fill_levels(options, value)
        elif name == "delta":
            if value not in DELTAS:
                raise ValueError("delta is one of %s, not %r" % (", ".join(DELTAS), value))
            options.delta = DELTAS.index(value)
        elif name in TEXTS:
            setattr(options, name, os.fsencode(value))
        elif name in SWITCHES:
            setattr(options, name, 1 if value else 0)
        else:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
                raise ValueError("%s must be a number, not %r" % (name, value))
            setattr(options, name, value)


def number(version, what="the version"):
    """A version's number as an int; accepts NumPy's integers."""
    try:
        value = version.__index__()
    except AttributeError:
        raise TypeError("%s must be a whole number, not %r" % (what, version)) from None
    if not 0 <= value < 2**63:
        raise ValueError("%s must be 0 or more, not %d" % (what, value))
    return value


class Store:
    """A store of this process alone (comm=None: no MPI is needed) or of all ranks of a communicator.

        with mend.Store("heat", MPI.COMM_WORLD, local_dir="/tmp/heat") as store:
            store.region("grid", grid)
            for step in store.steps(1000, every=50):
                ...

    comm: a communicator of mpi4py, or its integer handle (MPI_Comm_c2f). rank: this process' number in the job;
    -1: its rank in comm. Options: local_dir, global_dir, levels, sync, delta, … as in mend_store_options; what is
    not given comes from the configuration (MEND_STORE_*).

    Methods marked "Collective" are called by all ranks, in the same order; if a process dies inside, they raise
    PeerFailed. Errors of the library are raised as mend.Error.
    """

    def __init__(self, name, comm=None, *, rank=-1, **options):
        self._handle = None
        if not isinstance(name, str) or not name:
            raise TypeError("a store's name is a text, not %r" % (name,))
        self.name = name
        self._views = {}  # label: (id, the memory)
        fill_options(StoreOptions(), options)  # mistakes are found before anything is opened
        fortran = None if comm is None else fortran_handle(comm)
        self._alone = fortran is None
        lib = library()
        filled = StoreOptions()
        checked(lib.mend_store_defaults_sized(byref(filled), sizeof(filled)))
        fill_options(filled, options)
        handle = c_void_p()
        if fortran is None:
            checked(lib.mend_store_open_single(name.encode(), byref(filled), byref(handle)))
        else:
            checked(lib.mend_store_open(c_handle(fortran), rank, name.encode(), byref(filled), byref(handle)))
        self._handle = handle

    def _use(self):
        if self._handle is None:
            raise Error(CODES["ERR_STATE"], "the store %r is closed" % self.name)
        return self._handle

    def __enter__(self):
        self._use()
        return self

    def __exit__(self, kind, problem, trace):
        if kind is None:
            self.close()
        elif self._alone or issubclass(kind, PeerFailed):
            try:
                self.close()
            except Error:
                pass  # the exception under way says more
        # else the other ranks may be elsewhere, and close() would wait for them

    def close(self):
        """Finish the background work and release everything; files stay. Collective while all peers live. A second
        call does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            try:
                checked(library().mend_store_close(handle))
            finally:
                self._views.clear()

    def rebind(self, comm, *, rank=-1):
        """Continue with another communicator, after a repair. Regions stay. Collective over comm, together with the
        Store(...) of a replacement."""
        checked(library().mend_store_rebind(self._use(), c_handle(fortran_handle(comm)), rank))

    # ---- regions

    def region(self, label, data, *, id=None, offset=None, total=None):
        """Save and restore `data`'s own memory as region `label`: a NumPy array, array.array, bytearray or anything
        else with a writable, contiguous buffer. The same label again moves the region to other memory.

        id: the region's number in the files; by default made from the label. offset, total: in bytes; this is a part
        of an array over all ranks, which another number of ranks can restore."""
        if not isinstance(label, str) or not label:
            raise TypeError("a region's label is a text, not %r" % (label,))
        if (offset is None) != (total is None):
            raise TypeError("offset and total belong together")
        view = view_of(data)
        id = zlib.crc32(label.encode()) & 0x7FFFFFFF if id is None else id
        for other, (known, _) in self._views.items():
            if known == id and other != label:
                raise ValueError("regions %r and %r have the same id %d: give one of them another" % (other, label, id))
        if label in self._views and self._views[label][0] != id:
            raise ValueError("region %r has the id %d already" % (label, self._views[label][0]))
        lib, handle, text, bytes = library(), self._use(), label.encode(), sizeof(view)
        if total is None:
            checked(lib.mend_store_region(handle, id, text, ctypes.addressof(view), bytes))
        else:
            offset, total = number(offset, "offset"), number(total, "total")
            checked(lib.mend_store_region_global(handle, id, text, ctypes.addressof(view), bytes, offset, total))
        self._views[label] = (id, view)

    def remove(self, label):
        """Forget a region; saved versions keep it."""
        id, _ = self._views[label]
        checked(library().mend_store_region_remove(self._use(), id))
        del self._views[label]

    # ---- saving

    def save(self, version, *, levels=None, sync=False, full=False):
        """Save all regions as `version`, a number larger than that of the last save. Returns when the data may be
        changed again. levels: names, instead of those that are due; sync: wait for them; full: no delta. Collective."""
        options = SaveOptions(levels=0 if levels is None else level_set(levels), sync=bool(sync), full=bool(full))
        version = number(version)
        checked(library().mend_store_save_sized(self._use(), version, byref(options), sizeof(options), 0))

    def wait(self):
        """Wait until all background work is done. Raises the error of a level that failed. Collective."""
        checked(library().mend_store_wait(self._use()))

    def test(self):
        """Is all background work of this rank done? Not collective."""
        done = c_int()
        checked(library().mend_store_test(self._use(), byref(done)))
        return bool(done.value)

    def reached(self, version):
        """The names of the levels at which `version` is committed, as far as this rank knows. Not collective."""
        bits = c_uint()
        checked(library().mend_store_reached(self._use(), number(version), byref(bits)))
        return {name for i, name in enumerate(LEVELS) if bits.value >> i & 1}

    # ---- restoring

    def newest(self):
        """The newest version that every rank can restore, or None. Collective."""
        found = c_int64()
        try:
            checked(library().mend_store_newest(self._use(), byref(found)))
        except NoVersion:
            return None
        return found.value

    def versions(self):
        """All versions that every rank can restore, newest first. Collective."""
        room, count = 64, c_int()
        while True:
            found = (c_int64 * room)()
            checked(library().mend_store_versions(self._use(), found, room, byref(count)))
            if count.value <= room:
                return list(found[: count.value])
            room = count.value

    def restore(self, version):
        """Restore all regions from `version`, in their own memory. Collective; after an error (PeerFailed excepted)
        nothing has changed."""
        checked(library().mend_store_restore(self._use(), number(version)))

    def restore_newest(self):
        """Restore the newest version that every rank can restore. Returns its number; None: there is none. Collective."""
        found = c_int64()
        try:
            checked(library().mend_store_restore_newest(self._use(), byref(found)))
        except NoVersion:
            return None
        return found.value

    def steps(self, stop, *, start=0, every=1):
        """The numbers of a loop's steps, with checkpoints: begin at the newest version (or at `start`), and save
        before each step that `every` divides, as the version of that number. Everything that changes from step to step
        must be a region. Collective.

        A save for which the last one leaves no room in time (ERR_BUSY, on all ranks alike) is left out."""
        start, stop, every = number(start, "start"), number(stop, "stop"), number(every, "every")
        if every < 1:
            raise ValueError("every must be 1 or more")
        restored = self.restore_newest()
        for step in range(start if restored is None else restored, stop):
            if step % every == 0 and step != restored:
                try:
                    self.save(step)
                except Error as problem:
                    if problem.code != CODES["ERR_BUSY"]:
                        raise
            yield step

    # ---- housekeeping

    def prune(self, before):
        """Remove versions older than `before`, except the newest. Collective."""
        checked(library().mend_store_prune(self._use(), number(before, "before")))

    def discard(self):
        """Remove all versions, even those of earlier runs. Collective."""
        checked(library().mend_store_discard(self._use()))
