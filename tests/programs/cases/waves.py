"""mpi4py-fft: a distributed array that changes its distribution, subcommunicators of a grid, transforms there and back"""
import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

world = MPI.COMM_WORLD
fft = PFFT(world, [24, 20, 16], axes=(0, 1, 2), dtype=float, planner_effort='FFTW_ESTIMATE')
u = newDistArray(fft, False)
u[:] = np.arange(u.size).reshape(u.shape) % 17 + world.rank
for step in range(40):
    spectrum = fft.forward(u)
    spectrum *= 0.99
    u = fft.backward(spectrum, u)
    v = u.redistribute(axis=1) if step % 5 == 0 else u
    part = world.gather(float(np.sum(np.abs(v))), root=0)
    if world.rank == 0 and step % 4 == 3:
        print(step, [x.hex() for x in part])
        sys.stdout.flush()
