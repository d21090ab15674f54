/* undo/together.h - all ranks put files back. */
#ifndef CAPSULE_UNDO_TOGETHER_H
#define CAPSULE_UNDO_TOGETHER_H
#include <mend/types.h>
#include <mpi.h>

#define EXIT_REFUSED 115
/* Collective. 0: a peer has failed. If a file cannot be put back, the job ends with a message. */
int files_can_go_back(int rank, mend_version_t version, MPI_Comm comm);
int put_files_back(int rank, mend_version_t version, MPI_Comm comm);
/* After a sentence: this job cannot go on from that version (-1: unknown), because of that file. */
void end_refused_job(mend_version_t version, const char *file) __attribute__((noreturn));

#define TRY(call) ((call) == MPI_SUCCESS)
#endif
