"""Much of MPI in one Python program: each round uses every part, and what it prints depends on all rounds before."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
win = MPI.Win.Allocate(8 * size, 8, comm=world)
shared = MPI.Win.Allocate_shared(8, 8, comm=world.Split_type(MPI.COMM_TYPE_SHARED))
dynamic_memory = array("d", [0.0] * 4)
dynamic = MPI.Win.Create_dynamic(comm=world)
dynamic.Attach(dynamic_memory)
address = world.allgather(MPI.Get_address(dynamic_memory))
half = world.Split(rank % 2, rank)
inter = None
if size > 1:
    inter = half.Create_intercomm(0, world, 1 if rank % 2 == 0 else 0, 7)
    merged = inter.Merge(rank % 2 == 1)
file = MPI.File.Open(world, "data.bin", MPI.MODE_RDWR | MPI.MODE_CREATE)
block = MPI.DOUBLE.Create_subarray([4, 2 * size], [4, 2], [0, 2 * rank]).Commit()
cart = world.Create_cart([size], periods=[True])
total = MPI.Op.Create(lambda a, b, t: memoryview(b).cast("d").__setitem__(
    0, memoryview(a).cast("d")[0] + memoryview(b).cast("d")[0]), commute=True)
persistent_out, persistent_in = array("i", [0]), array("i", [0])
send = cart.Send_init(persistent_out, dest=(rank + 1) % size, tag=3)
receive = cart.Recv_init(persistent_in, source=(rank - 1) % size, tag=3)
state = float(rank + 1)
for i in range(12):
    got = world.sendrecv({"round": i, "state": state}, dest=(rank + 1) % size, source=(rank - 1) % size)
    state = (state + got["state"] * 0.5) % 1000.0
    # one-sided: fetch and add under a lock, put between fences, accumulate
    value, old = array("q", [i + rank]), array("q", [0])
    win.Lock(0, MPI.LOCK_SHARED)
    win.Fetch_and_op(value, old, 0, 0, MPI.SUM)
    win.Unlock(0)
    win.Fence()
    put = array("q", [i * rank])  # must live until the epoch ends
    if rank > 0:
        win.Put([put, MPI.INT64_T], 0, rank)
    win.Fence()
    given = array("d", [state])
    dynamic.Lock((rank + 1) % size)
    dynamic.Put([given, MPI.DOUBLE], (rank + 1) % size, (address[(rank + 1) % size], 1, MPI.DOUBLE))
    dynamic.Unlock((rank + 1) % size)
    world.Barrier()
    state = (state + dynamic_memory[0]) % 1000.0
    shared.Lock_all()
    memoryview(shared.tomemory()).cast("d")[0] = state
    shared.Sync()
    shared.Unlock_all()
    world.Barrier()
    neighbour = memoryview(shared.Shared_query((rank + 1) % size)[0]).cast("d")[0]
    state = (state + neighbour) % 1000.0
    # files
    file.Set_view(i * 64 * size, MPI.DOUBLE, block)
    file.Write_all(array("d", [state + j for j in range(8)]))
    back = array("d", [0.0] * 8)
    file.Read_at_all(0, back)
    assert back[7] == state + 7
    # inter-communicators, collectives, persistent and non-blocking ones
    if inter:
        state = (state + sum(inter.allgather(state))) % 1000.0
        state = (state + merged.allreduce(state)) % 1000.0
    persistent_out[0] = i + rank
    MPI.Prequest.Startall([send, receive])
    MPI.Request.Waitall([send, receive])
    assert persistent_in[0] == i + (rank - 1) % size
    one, out = array("d", [state]), array("d", [0.0])
    world.Iallreduce(one, out).Wait()
    mine = array("d", [state])
    summed = array("d", [0.0])
    world.Allreduce(mine, summed, op=total)
    assert abs(summed[0] - out[0]) < 1e-9
    if rank == 0:
        mem = memoryview(win.tomemory()).cast("q")
        print(i, f"{state:.12f}", f"{summed[0]:.9f}", list(mem), flush=True)
    world.Barrier()  # nobody begins the next round while rank 0 looks
file.Close()
win.Free()
dynamic.Detach(dynamic_memory)
dynamic.Free()
shared.Free()
