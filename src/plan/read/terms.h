/* The best plan under a deadline, or with some slack where one core would be the cheapest. */
#ifndef PLAN_TERMS_H
#define PLAN_TERMS_H

#include "search/search.h"

/* `least`: the best for the objective alone. Errors: MEND_ERR_INFEASIBLE (the deadline). */
int mend_plan_search_terms(search *search, candidate *best, candidate *least);

#endif
