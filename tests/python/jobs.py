"""jobs.py CASE: programs that are hit by deaths, for jobs.sh. Rank 0 of the working ranks prints the result.

    derived  communicators made from the job's one, objects instead of buffers; a rank dies among them
    end      a rank dies when the others have finished
    save     a rank dies inside a save (the library's own fault point)
    shrink   no spares: the others take over the dead rank's part of an array over all ranks
    stopped  no spares and no other policy: all survivors are told
    wrong    an exception that is no failure: its rank gets it, the others are told
    late     mend is imported after MPI
    nothing  (with any of them, as a second word) nobody dies
"""

import os
import signal
import sys

case, disturbed = sys.argv[1], sys.argv[2:] != ["nothing"]
if case == "late":
    from mpi4py import MPI
import mend
import numpy as np
from mpi4py import MPI

SPARES = 0 if case in ("shrink", "stopped") else 2


def die(job, rank, step, at=30):
    if disturbed and job.generation == 0 and job.rank == rank and step == at:
        os.kill(os.getpid(), signal.SIGKILL)


def derived(job):
    pair, copy = job.comm.Split(job.rank // 2, job.rank), job.comm.Dup()
    state = np.array([job.rank, 1.0])
    store = job.store("derived")
    store.region("state", state)
    for step in store.steps(60, every=10):
        die(job, 2, step)
        state[0] += pair.allreduce({"value": state[1]}["value"])
        if step % 7 == 0:
            state[1] = sum(copy.allgather(state[0])) / 1000.0
    return job.comm.gather(state.tobytes().hex())


def end(job):
    total = job.comm.allreduce(job.rank)
    if job.rank == 1:
        die(job, 1, 30)
    return total


def save(job):
    state = np.full(1000, float(job.rank))
    store = job.store("save")
    store.region("state", state)
    for step in store.steps(60, every=10):
        state += job.comm.allreduce(state[0])
    return state.tobytes().hex()[:64]


def shrink(job):
    total = 1200
    bounds = [total * i // job.size for i in range(job.size + 1)]
    first, last = bounds[job.rank], bounds[job.rank + 1]
    part = np.arange(first, last, dtype=float)
    store = job.store("shrink")
    store.region("part", part, offset=first * 8, total=total * 8)
    for step in store.steps(60, every=10):
        die(job, 2, step)
        job.comm.Barrier()
        part[:] = np.sqrt(part * step + 1.0)
    pieces = job.comm.gather(part.tobytes())
    return b"".join(pieces).hex()[-64:] + " sum %r" % float(np.frombuffer(b"".join(pieces)).sum()) if pieces else None


def stopped(job):
    for step in range(60):
        die(job, 1, step)
        job.comm.Barrier()


def wrong(job):
    job.store("wrong").region("x", np.zeros(10))
    if job.rank == 1:
        raise ValueError("a mistake of rank 1")
    job.comm.Barrier()


def late(job):
    raise AssertionError("a job was opened")


rank = MPI.COMM_WORLD.Get_rank()
final = []


def body(job):
    result = globals()[case](job)
    final[:] = [job.rank, job.size, job.generation]
    return result


try:
    result = mend.run(body, spares=SPARES, policy="shrink" if case == "shrink" else ())
except mend.Stopped as problem:
    print("rank %d stopped: %s" % (rank, problem), flush=True)
    sys.exit(0)  # at any other code the launcher ends those that have not yet printed this
except ValueError as problem:
    print("own: %s" % problem, flush=True)
    sys.exit(0)
except mend.Error as problem:
    print("rank %d refused: %s" % (rank, problem), flush=True)
    sys.exit(4)
if final and final[0] == 0:
    print("result %s ranks %d repairs %d" % (result, final[1], final[2]), flush=True)
