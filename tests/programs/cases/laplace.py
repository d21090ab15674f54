"""A Poisson equation on a distributed grid, solved by PETSc."""
from petsc4py import PETSc

n = 40
da = PETSc.DMDA().create([n, n], stencil_width=1)
A = da.createMatrix()
A.setUp()
(xs, xe), (ys, ye) = da.getRanges()
row, col = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(ys, ye):
    for i in range(xs, xe):
        row.index = (i, j)
        for di, dj, v in ((0, 0, 4.0), (-1, 0, -1.0), (1, 0, -1.0), (0, -1, -1.0), (0, 1, -1.0)):
            if 0 <= i + di < n and 0 <= j + dj < n:
                col.index = (i + di, j + dj)
                A.setValueStencil(row, col, v)
A.assemble()
b, x = da.createGlobalVec(), da.createGlobalVec()
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
ksp.getPC().setType("jacobi")
ksp.setTolerances(rtol=1e-10)
ksp.setMonitor(lambda k, it, r: PETSc.Sys.Print(it, f"{r:.15e}"))
for k in range(3):
    b.set(1.0 + k)
    ksp.solve(b, x)
    PETSc.Sys.Print("norm", f"{x.norm():.15e}")
