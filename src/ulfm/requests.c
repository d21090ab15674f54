/* Requests that Open MPI keeps.
 *
 * Open MPI's ob1 keeps the request of the last blocking send, and of the last receive, for the next one. If it gave
 * up that send because the receiver died in the middle of a message, the request still lists the rest of that
 * message. The next large send to anybody begins with it, sends it to the dead process, and waits forever. (This
 * affects messages in fragments only: no single copy, or tcp.) So we make Open MPI forget the kept requests; the next
 * call takes new ones. */
#include <ulfm/ulfm.h>

#include <stddef.h>

extern void *mca_pml_ob1_sendreq __attribute__((weak));
extern void *mca_pml_ob1_recvreq __attribute__((weak));

void mend_ulfm_forget_kept_requests(void)
{
    if (&mca_pml_ob1_sendreq)
        mca_pml_ob1_sendreq = NULL;
    if (&mca_pml_ob1_recvreq)
        mca_pml_ob1_recvreq = NULL;
}
