/* What fenix.c and fenix_data.c share. */
#ifndef COMPAT_FENIX_INTERNAL_H
#define COMPAT_FENIX_INTERNAL_H

#include <mend/process.h>

/* The handle between Fenix_Init and Fenix_Finalize, else NULL. */
mend_process *mend_fenix_process(void);

/* Called on every active rank with the new communicator in place after Fenix_Init and each
 * recovery; and before Fenix_Finalize lets go. For the data functions. */
void mend_fenix_data_rebind(const mend_repair *now);
void mend_fenix_data_end(void);

#endif
