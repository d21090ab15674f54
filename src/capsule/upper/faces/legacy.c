/* legacy.c - functions that MPI-3.0 removed but both libraries still export. This file does not include
 * mpi.h, which no longer allows these names: a handle is a pointer or an int, and passes through
 * untouched either way.
 */
#include <stdint.h>
typedef uintptr_t any; /* a handle */
int PMPI_Get_address(const void *, long *);
int PMPI_Comm_create_errhandler(void *, void *);
int PMPI_Comm_get_errhandler(any, void *);
int PMPI_Comm_set_errhandler(any, any);
int PMPI_Type_get_extent(any, long *, long *);
int PMPI_Type_create_hindexed(int, const int *, const long *, any, void *);
int PMPI_Type_create_hvector(int, int, long, any, void *);
int PMPI_Type_create_struct(int, const int *, const long *, const void *, void *);
#define OLD(Name, PARAMS, ...) \
    int PMPI_##Name PARAMS;    \
    int PMPI_##Name PARAMS     \
    {                          \
        __VA_ARGS__;           \
    }                          \
    int MPI_##Name PARAMS __attribute__((weak, alias("PMPI_" #Name)));
OLD(Address, (void *where, long *address), return PMPI_Get_address(where, address))
OLD(Errhandler_create, (void *fn, void *errh), return PMPI_Comm_create_errhandler(fn, errh))
OLD(Errhandler_get, (any comm, void *errh), return PMPI_Comm_get_errhandler(comm, errh))
OLD(Errhandler_set, (any comm, any errh), return PMPI_Comm_set_errhandler(comm, errh))
OLD(Type_extent, (any type, long *extent), long lb; return PMPI_Type_get_extent(type, &lb, extent))
OLD(Type_lb, (any type, long *lb), long extent; return PMPI_Type_get_extent(type, lb, &extent))
OLD(Type_ub, (any type, long *ub), long lb = 0, extent = 0;
    int rc = PMPI_Type_get_extent(type, ub ? &lb : ub, &extent); if (ub) *ub = lb + extent;
    return rc)
OLD(Type_hindexed, (int n, int *lens, long *disps, any type, void *out),
    return PMPI_Type_create_hindexed(n, lens, disps, type, out))
OLD(Type_hvector, (int n, int len, long stride, any type, void *out),
    return PMPI_Type_create_hvector(n, len, stride, type, out))
OLD(Type_struct, (int n, int *lens, long *disps, void *types, void *out),
    return PMPI_Type_create_struct(n, lens, disps, types, out))
