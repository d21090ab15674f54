/* The ABI that a program was built for: which MPI library it asks for. */
#ifndef IMAGE_ABI_H
#define IMAGE_ABI_H

/* The numbers are part of the file format. */
enum mend_abi { MEND_ABI_UNKNOWN, MEND_ABI_OPENMPI, MEND_ABI_MPICH, MEND_ABI_STANDARD };

/* openmpi, mpich or standard; NULL: unknown. */
const char *mend_abi_name(unsigned abi);
enum mend_abi mend_abi_parse(const char *name);
/* The same for people: "Open MPI", "MPICH", "the standard ABI"; NULL: unknown. */
const char *mend_abi_title(unsigned abi);

/* Of a program file. One that names no MPI library, nor any of its libraries does (it loads MPI later, like Python), is
 * taken for Open MPI's. MEND_ABI_UNKNOWN: the file cannot be read. */
enum mend_abi mend_abi_of_program(const char *program);

#endif
