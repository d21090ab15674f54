#!/usr/bin/env python3
"""heat.py: heat in a plate, in Python, that survives the death of ranks.

    mpirun --with-ft ulfm -n 5 python3 heat.py --spares 1     # a spare takes a dead rank's place, nothing is relaunched
    mpirun -n 4 python3 heat.py --dir /scratch/heat           # without spares: start it again, and it resumes

Each rank has some rows of the plate. The store keeps versions of them: in the memory of two ranks and, with --dir, in
files. With --kill RANK:STEP that rank kills itself (SIGKILL) at that step, to show what happens; a second --kill acts
after the first repair. The result printed at the end is the same with and without deaths, bit for bit.
"""

import argparse
import hashlib
import os
import signal

import mend  # before mpi4py.MPI

import numpy as np
from mpi4py import MPI

ROWS, COLUMNS = 40, 100  # per rank


def exchange(comm, plate):
    """The neighbours' rows beside ours."""
    rank, size = comm.Get_rank(), comm.Get_size()
    up = rank - 1 if rank > 0 else MPI.PROC_NULL
    down = rank + 1 if rank < size - 1 else MPI.PROC_NULL
    comm.Sendrecv(plate[1], dest=up, sendtag=1, recvbuf=plate[-1], source=down, recvtag=1)
    comm.Sendrecv(plate[-2], dest=down, sendtag=2, recvbuf=plate[0], source=up, recvtag=2)


def work(job, options):
    """From the newest version, or from the beginning, to the end. Entered again after each repair."""
    plate = np.zeros((ROWS + 2, COLUMNS))
    if job.rank == 0:
        plate[0] = 100.0
    store = job.store("heat", local_dir=options.dir)
    store.region("plate", plate)
    resumed = None
    for step in store.steps(options.steps, every=options.every):
        resumed = step if resumed is None else resumed
        if options.kill[job.generation : job.generation + 1] == [(job.rank, step)]:
            os.kill(os.getpid(), signal.SIGKILL)
        exchange(job.comm, plate)
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + 0.2 * (around - 4.0 * inner)
    whole = np.empty((job.size * ROWS, COLUMNS)) if job.rank == 0 else None
    job.comm.Gather(np.ascontiguousarray(plate[1:-1]), whole)
    if job.rank == 0:
        digest = hashlib.sha256(whole.tobytes()).hexdigest()[:16]
        return "sum %r digest %s repairs %d from step %s" % (float(whole.sum()), digest, job.generation, resumed)
    return None


def rank_and_step(text):
    rank, step = text.split(":")
    return int(rank), int(step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--every", type=int, default=20, help="steps from one version to the next")
    parser.add_argument("--spares", type=int, default=0)
    parser.add_argument("--dir", help="folder for versions in files")
    parser.add_argument("--kill", type=rank_and_step, metavar="RANK:STEP", action="append", default=[])
    options = parser.parse_args()
    result = mend.run(work, options, spares=options.spares)
    if result:
        print(result, flush=True)


if __name__ == "__main__":
    main()
