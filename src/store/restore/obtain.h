#ifndef STORE_OBTAIN_H
#define STORE_OBTAIN_H

#include "restore/inventory.h"

/* Make part `want` of the attempt readable for this rank (-2: this rank only helps): verified, from any place that
 * has it. Collective on the CALL lane. The result is agreed: all get what they want, or all get the same error. *part
 * is NULL for -2. */
int obtain_part(mend_store *store, const struct inventory *inventory, const struct attempt *attempt,
                int want, struct part **part);

#endif
