/* fortran_names.h - the other names of mpi_name_(): without and with two underscores (gfortran's -fno-underscoring and
 * -fsecond-underscore, other compilers), the profiling names, and ompi_name_f, which Debian's mpi_f08 library calls.
 */
#ifndef CAPSULE_FORTRAN_NAMES_H
#define CAPSULE_FORTRAN_NAMES_H
#define SAME_AS(name) __attribute__((alias("mpi_" #name "_")))
#define OTHER_NAMES(type, name, PARAMS)        \
    type mpi_##name PARAMS SAME_AS(name);      \
    type mpi_##name##__ PARAMS SAME_AS(name);  \
    type pmpi_##name PARAMS SAME_AS(name);     \
    type pmpi_##name##_ PARAMS SAME_AS(name);  \
    type pmpi_##name##__ PARAMS SAME_AS(name); \
    type ompi_##name##_f PARAMS SAME_AS(name);
#endif
