#ifndef STORE_OPEN_H
#define STORE_OPEN_H

#include "internal.h"

int options_take(mend_store *store, const mend_store_options *options);
int options_check(mend_store *store);
int domain_of(mend_store *store, char domain[DOMAIN_SIZE]);

#endif
