/* online/none.c - for MPI libraries without fault tolerance: nothing is recovered in place. */
#include "online/online.h"
#include "round/agent.h"

#ifndef OPEN_MPI
void recover_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    die("this MPI library has no fault tolerance (ULFM): --online is not possible");
}
void recover_look(void)
{
}
void recover_error(int rc, const char *function)
{
    (void)rc;
    (void)function;
}
void recover_checkpoint(struct upper *upper, const struct control_save *order,
                        struct snapshot_result *result)
{
    (void)upper;
    (void)order;
    (void)result;
}
void recover_resumed(void)
{
}
void recover_finalize(void)
{
}
void recover_ended(int code)
{
    (void)code;
}
void recover_begun(void)
{
}
void creation_begin(void)
{
}
void creation_end(void)
{
}
void comm_made(MPI_Comm comm)
{
    (void)comm;
}
void comm_gone(MPI_Comm comm)
{
    (void)comm;
}
#endif
