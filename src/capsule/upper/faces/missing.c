/* missing.c - extensions (MPIX_) of the two libraries. They must exist even if nobody calls them, because ld.so refuses to load
 * libraries linked with -z now (libmpichfort, libmpi_usempif08) without them. As with table/refused.def, a call raises an error
 * that names the function.
 */
#include "core/core.h"

#ifdef STANDARD_ABI
typedef int face_has_no_extensions;
#else
static int extension(const char *name)
{
    return raise_error(refuse(name, "it is an extension of one MPI library"), NULL, name);
}
#pragma GCC visibility push(default)
#define MISSING(symbol, name)   \
    int symbol(void);           \
    int symbol(void)            \
    {                           \
        return extension(name); \
    }
#define X(name) MISSING(name, #name) MISSING(P##name, #name)
#ifdef MPICH_ABI
X(MPIX_Allreduce_enqueue)
X(MPIX_Allreduce_enqueue_c)
X(MPIX_Comm_agree)
X(MPIX_Comm_failure_ack)
X(MPIX_Comm_failure_get_acked)
X(MPIX_Comm_get_failed)
X(MPIX_Comm_get_stream)
X(MPIX_Comm_revoke)
X(MPIX_Comm_shrink)
X(MPIX_Comm_test_threadcomm)
X(MPIX_GPU_query_support)
X(MPIX_Grequest_class_allocate)
X(MPIX_Grequest_class_create)
X(MPIX_Grequest_start)
X(MPIX_Info_set_hex)
X(MPIX_Irecv_enqueue)
X(MPIX_Irecv_enqueue_c)
X(MPIX_Isend_enqueue)
X(MPIX_Isend_enqueue_c)
X(MPIX_Query_cuda_support)
X(MPIX_Query_hip_support)
X(MPIX_Query_ze_support)
X(MPIX_Recv_enqueue)
X(MPIX_Recv_enqueue_c)
X(MPIX_Send_enqueue)
X(MPIX_Send_enqueue_c)
X(MPIX_Start_progress_thread)
X(MPIX_Stop_progress_thread)
X(MPIX_Stream_comm_create)
X(MPIX_Stream_comm_create_multiplex)
X(MPIX_Stream_create)
X(MPIX_Stream_free)
X(MPIX_Stream_irecv)
X(MPIX_Stream_irecv_c)
X(MPIX_Stream_isend)
X(MPIX_Stream_isend_c)
X(MPIX_Stream_progress)
X(MPIX_Stream_recv)
X(MPIX_Stream_recv_c)
X(MPIX_Stream_send)
X(MPIX_Stream_send_c)
X(MPIX_Threadcomm_finish)
X(MPIX_Threadcomm_free)
X(MPIX_Threadcomm_init)
X(MPIX_Threadcomm_start)
X(MPIX_Type_iov)
X(MPIX_Type_iov_len)
X(MPIX_Wait_enqueue)
X(MPIX_Waitall_enqueue)
#else
X(MPIX_Comm_ack_failed)
X(MPIX_Comm_agree)
X(MPIX_Comm_failure_ack)
X(MPIX_Comm_failure_get_acked)
X(MPIX_Comm_get_failed)
X(MPIX_Comm_iagree)
X(MPIX_Comm_is_revoked)
X(MPIX_Comm_revoke)
X(MPIX_Comm_shrink)
X(MPIX_Query_cuda_support)
X(MPIX_Query_rocm_support)
#define F(name)                                        \
    MISSING(mpix_comm_##name, "MPIX_COMM_" #name)      \
    MISSING(mpix_comm_##name##_, "MPIX_COMM_" #name)   \
    MISSING(mpix_comm_##name##__, "MPIX_COMM_" #name)  \
    MISSING(pmpix_comm_##name, "MPIX_COMM_" #name)     \
    MISSING(pmpix_comm_##name##_, "MPIX_COMM_" #name)  \
    MISSING(pmpix_comm_##name##__, "MPIX_COMM_" #name) \
    MISSING(ompix_comm_##name##_f, "MPIX_COMM_" #name)
F(ack_failed)
F(agree)
F(failure_ack)
F(failure_get_acked)
F(get_failed)
F(iagree)
F(is_revoked)
F(revoke)
F(shrink)
#endif
#endif
