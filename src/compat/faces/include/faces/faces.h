/* What the faces of VeloC, FTI and SCR have in common. All calls are collective over comm. */
#ifndef COMPAT_FACES_H
#define COMPAT_FACES_H

#include <mend/store.h>

/* Do all ranks say MEND_OK? Else a code for those that did. With MPI_COMM_NULL: the code. */
int mend_face_agree(MPI_Comm comm, int code);

/* How many failure domains are the ranks of `comm` on? `own` is this rank's. Agreed. */
int mend_face_domains(MPI_Comm comm, const char *own, int *domains);

/* Groups of at most `group` failure domains, of which `losses` may be lost: the store's k and m. With fewer domains
 * than that, one may be lost. */
void mend_face_parity(int domains, int group, int losses, mend_store_options *options);

#endif
