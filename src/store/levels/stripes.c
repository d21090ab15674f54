#include "restore/inventory.h"

int stripe_row(int g, int m, int stripe, int member)
{
    return mend_parity_row(g, m, stripe, member);
}

int stripe_column(int g, int m, int stripe, int member)
{
    int column = 0;
    if (stripe_row(g, m, stripe, member) >= 0)
        return -1;
    for (int i = 0; i < member; i++)
        column += stripe_row(g, m, stripe, i) < 0;
    return column;
}

int stripe_chunk(int g, int m, int stripe, int member)
{
    int chunk = 0;
    for (int s = 0; s < stripe; s++)
        chunk += stripe_row(g, m, s, member) < 0;
    return chunk;
}
