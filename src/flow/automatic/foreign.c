/* Words of the program that point to memory that is neither saved nor the same in every process. */
#include "automatic/auto.h"
#include "flow.h"

bool foreign_is(const struct auto_range *ranges, uint32_t count, uint64_t word)
{
    int low = 0, high = (int)count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (word < (uint64_t)ranges[middle].from)
            high = middle - 1;
        else if (word >= (uint64_t)ranges[middle].to)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

/* Words that were set before MPI_Init belong to this process. */
uint64_t *foreign_next(const struct auto_range *ranges, uint32_t count, char *from, char *to)
{
    uint64_t *w = (uint64_t *)(((size_t)from + 7) & ~(size_t)7);
    uint64_t *end = (uint64_t *)((size_t)to & ~(size_t)7);
    if (!count)
        return NULL;
    uint64_t low = (uint64_t)ranges[0].from, span = (uint64_t)ranges[count - 1].to - low;
    for (; w < end; w++)
        if (*w - low < span && foreign_is(ranges, count, *w) && *w != origin_word(w))
            return w;
    return NULL;
}
