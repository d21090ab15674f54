"""A dataset written row by row by all ranks, read back by others."""
import importlib

from mpi4py import MPI

h5py = importlib.import_module("h5py._debian_h5py_mpi")
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
with h5py.File("data.h5", "w", driver="mpio", comm=world) as f:
    data = f.create_dataset("grid", (40, size * 10), dtype="f8")
    for i in range(40):
        with data.collective:
            data[i, rank * 10:(rank + 1) * 10] = [i * 1000.0 + rank * 10 + j for j in range(10)]
        world.Barrier()
        if i % 10 == 9 and rank == 0:
            print("row", i, flush=True)
    f.flush()
    with data.collective:
        part = data[:, ((rank + 1) % size) * 10:((rank + 1) % size) * 10 + 10]
    total = world.allreduce(float(part.sum()))
    if rank == 0:
        print("total", total, h5py.get_config().mpi, flush=True)
