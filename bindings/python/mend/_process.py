"""Process recovery: spares replace dead ranks, and the work runs again.

The process layer is opened in its mode MANUAL: MPI's calls return errors, which mpi4py raises as exceptions. Nothing
jumps over Python's frames. mend.run() catches the exception at the top of the work, where all ranks can meet.
"""

import enum
import sys
import traceback
import warnings
from ctypes import byref, c_int, c_void_p

from . import _library
from ._errors import CODES, Error, PeerFailed, Stopped
from ._library import checked, fortran_handle, library
from ._store import Store

POLICIES = ("none", "spare", "spawn", "shrink", "stop")


class Role(enum.IntEnum):
    INITIAL = 0  # nothing has failed yet
    RECOVERED = 1  # a spare that took a dead rank's place: it has none of its data
    SURVIVOR = 2  # has worked before the failure
    SPARE = 3
    RELEASED = 4  # a spare that was never needed


def mpi():
    try:
        from mpi4py import MPI
    except ImportError:
        raise Error(CODES["ERR_UNSUPPORTED"], "mpi4py is missing: give an integer handle as comm") from None
    return MPI


def policy_numbers(policy):
    """One or two names of policies, as the numbers that the library wants."""
    names = [policy] if isinstance(policy, str) else list(policy)
    if len(names) > 2:
        raise ValueError("at most two policies, not %d" % len(names))
    for name in names:
        if name not in POLICIES[1:]:
            raise ValueError("there is no policy %r; the policies are %s" % (name, ", ".join(POLICIES[1:])))
    return [POLICIES.index(name) for name in names] + [0] * (2 - len(names))


class Job:
    """The working ranks of `comm`, without the last `spares` processes, which wait inside this call.

    comm, handle  the resilient communicator (mpi4py's, and its integer); another one after each repair
    rank, size    in it
    role          Role.INITIAL, SURVIVOR, RECOVERED or RELEASED
    generation    0, and one more with every repair
    spares        left

    Most programs use mend.run() and see a Job only as the argument of their body. Without ULFM in the MPI library
    (or in this run of it) a job without spares works, but is not repaired: `resilient` is False.
    """

    def __init__(self, comm=None, *, spares=0, policy=()):
        self._process = None
        self._stores = {}  # name: (store, the generation it is bound to)
        first, second = policy_numbers(policy)
        if isinstance(spares, bool) or not isinstance(spares, int) or spares < 0:
            raise ValueError("spares must be 0 or more, not %r" % (spares,))
        lib = library()
        if _library.late:
            raise Error(CODES["ERR_STATE"], "MPI was loaded before mend: put `import mend` before `from mpi4py import MPI`")
        comm = mpi().COMM_WORLD if comm is None else comm
        process = c_void_p()
        code = lib.mend_process_open_fortran(fortran_handle(comm), spares, first, second, byref(process))
        self.resilient = code == 0
        if code == CODES["ERR_NO_ULFM"] and spares == 0:
            self.handle, self.role, self.generation, self.spares = fortran_handle(comm), Role.INITIAL, 0, 0
            whole = mpi().Comm.f2py(self.handle)
            self.rank, self.size = whole.Get_rank(), whole.Get_size()
            return
        checked(code)
        self._process = process
        self._refresh()

    def _refresh(self):
        found = [c_int() for _ in range(6)]
        library().mend_process_state_fortran(self._process, *[byref(value) for value in found])
        self.handle, role, self.rank, self.size, self.generation, self.spares = [value.value for value in found]
        self.role = Role(role)

    @property
    def comm(self):
        """The resilient communicator as mpi4py's. Objects made from that of an earlier generation are invalid."""
        MPI = mpi()
        return MPI.Intracomm(MPI.Comm.f2py(self.handle))

    def store(self, name, **options):
        """The job's store of this name: opened the first time, bound to the repaired communicator after a failure.
        Collective over the job."""
        if name not in self._stores:
            self._stores[name] = Store(name, self.handle, **options), self.generation
        store, bound = self._stores[name]
        if bound != self.generation:
            store.rebind(self.handle)
            self._stores[name] = store, self.generation
        return store

    def is_failure(self, problem):
        """Was this exception caused by the death of a process, which repair() can handle?"""
        if not self.resilient:
            return False
        if isinstance(problem, PeerFailed):
            return True
        code = getattr(problem, "Get_error_code", None)  # mpi4py's
        return code is not None and library().mend_process_is_failure(code()) == 1

    def check(self):
        """Raise PeerFailed if this process knows of a failure. For long computations. Not collective."""
        if self._process:
            checked(library().mend_process_check(self._process, 0))

    def repair(self):
        """Meet all living processes and repair the job; then rank, comm, role and generation are new. Collective.
        Raises Stopped where it cannot be repaired."""
        if not self._process:
            raise Error(CODES["ERR_STATE"], "this job cannot be repaired")
        try:
            checked(library().mend_process_repair(self._process))
        finally:
            self._refresh()

    def finish(self):
        """The end of the work. True: all ranks have come here. False: a process died before, the job was repaired,
        and its work must be done again. Collective."""
        if self._process:
            code = library().mend_process_close(self._process)
            if code == CODES["ERR_PEER_FAILED"]:
                self._refresh()
                return False
            checked(code)
            self._process = None
        while self._stores:
            _, (store, _) = self._stores.popitem()
            try:
                store.close()
            except PeerFailed:
                pass  # after the end of the work nobody needs the dead process
            except Error as problem:
                warnings.warn("store %s: %s" % (store.name, problem), RuntimeWarning, stacklevel=2)
        return True

    def _release(self):
        """After Stopped: free the handle, which involves no other rank."""
        if self._process:
            library().mend_process_close(self._process)
            self._process = None


def give_up(problem):
    """A rank cannot continue because of its own error, and the others would wait for it: without repairs, end them."""
    sys.stdout.flush()
    traceback.print_exception(type(problem), problem, problem.__traceback__)
    sys.stderr.flush()
    mpi().COMM_WORLD.Abort(1)


def meet_again(job, problem):
    """After a repair all ranks ask each other whether one of them has given up. The exception to raise, or None."""
    who = job.comm.allreduce(-1 if problem is None else job.rank, op=mpi().MAX)
    if who < 0:
        return None
    return Stopped(CODES["ERR_STOPPED"], "rank %d raised an exception" % who) if problem is None else problem


def run(body, *arguments, comm=None, spares=0, policy=()):
    """Run body(job, *arguments) on every working rank, again from its beginning after each repair, until it returns
    everywhere. Returns what it returned; None on a spare that was not needed.

    The body makes its communicators from job.comm, gets its store from job.store(), registers its regions and restores
    (or uses store.steps(), which does). An exception other than that of a dead process ends the job: it comes out of
    this call, and all other ranks get Stopped. (Where the job cannot be repaired, by MPI_Abort.) So does every survivor
    where no spare is left. Collective over comm (by default all of MPI_COMM_WORLD)."""
    job = Job(comm, spares=spares, policy=policy)
    problem = None  # that this rank gives up for
    while job.role != Role.RELEASED:
        try:
            end = meet_again(job, problem) if job.generation > 0 else None
            if end is None:
                result = body(job, *arguments)
        except BaseException as caught:
            if not job.is_failure(caught):
                if not job.resilient:
                    if job.size > 1:
                        give_up(caught)
                    raise
                problem = caught
            try:  # in here: buffers of messages under way live in the frames that `caught` holds
                job.repair()  # after a rank's own exception, too: it brings the others here
            except Stopped:
                job._release()
                raise
            continue
        if job.finish():
            if end is not None:
                raise end
            return result
    job.finish()
    return None
