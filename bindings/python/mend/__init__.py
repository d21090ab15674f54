"""Mend from Python: checkpoints that survive processes, nodes and disks, and recovery in place.

    import mend                      # before mpi4py.MPI
    from mpi4py import MPI
    import numpy as np

    def work(job):                   # entered again after each repair
        grid = np.zeros(1000)
        store = job.store("heat")
        store.region("grid", grid)   # a view: the array's own memory
        for step in store.steps(10000, every=100):
            ...                      # communicate on job.comm
        return grid

    mend.run(work, spares=1)         # mpirun --with-ft ulfm -n 5: four ranks and a spare

The store alone works without repair, and without MPI at all: see Store.
"""

from ._errors import CODES, Error, NoLibrary, NoVersion, PeerFailed, Stopped
from ._library import version
from ._process import Job, Role, run
from ._store import LEVELS, Store

globals().update(CODES)  # ERR_ARGUMENT, ERR_IO, …: the values of mend/error.h without MEND_

__all__ = ["Error", "Job", "LEVELS", "NoLibrary", "NoVersion", "PeerFailed", "Role", "Stopped", "Store", "run", "version"]
__all__ += list(CODES)
