/* Requests that Open MPI keeps.
 *
 * Open MPI's ob1 keeps the request of the last blocking send, and of the last receive, for the next
 * one. If that send was given up because its receiver died in the middle of a message, the request
 * still has the rest of that message in its list of ranges; the next large send to anybody begins
 * with it, sends it to the dead, and waits for ever (messages in fragments only: no single copy, or
 * tcp). So the kept requests are forgotten; the next call takes new ones. */
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
