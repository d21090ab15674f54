/* os/twins.c - which descriptors share an open file, as after dup()? */
#include <stdint.h>
#include <unistd.h>

#include "os/files.h"
#include "os/os.h"

/* The descriptors of one group are at the same offset of the same file. Some may share one open file (by dup), and
 * with it the offset. So move each to an offset of its own, one after the other; two that then have the same offset
 * are one open file. All threads are parked.
 */
static void find_twins_in(struct file *list, int head)
{
    int count = list[head].count, *first = keep_alloc(((size_t)count + 1) * sizeof *first), k = 1;
    for (int i = head; i >= 0; i = list[i].next, k++) {
        lseek(list[i].fd, list[i].at + k, SEEK_SET);
        first[k] = -1;
    }
    for (int i = head; i >= 0; i = list[i].next) {
        off_t stands = lseek(list[i].fd, 0, SEEK_CUR) - list[i].at;
        if (stands < 1 || stands > count)
            continue; /* it does not seek */
        list[i].twin = first[stands];
        if (first[stands] < 0)
            first[stands] = i;
    }
    for (int i = head; i >= 0; i = list[i].next)
        lseek(list[i].fd, list[i].at, SEEK_SET);
    keep_free(first);
}

static int could_be_one(const struct file *a, const struct file *b)
{
    return a->at == b->at && a->flags == b->flags && a->is.inode == b->is.inode &&
           a->is.device == b->is.device;
}

/* Which descriptors share an open file? A hash table groups the candidates: comparing all pairs takes minutes for
 * a few thousand files. */
void files_find_twins(struct file *list, int n)
{
    size_t slots = 64;
    while (slots < 2 * (size_t)n)
        slots *= 2;
    int *table = keep_alloc(slots * sizeof *table);
    for (size_t s = 0; s < slots; s++)
        table[s] = -1;
    for (int i = 0; i < n; i++) {
        struct file *f = &list[i];
        if (f->at < 0)
            continue;
        uint64_t mix = (f->is.inode * 31 + f->is.device) * 31 + (uint64_t)f->at;
        size_t s = (mix * 0x9e3779b97f4a7c15ull >> 32) & (slots - 1);
        while (table[s] >= 0 && !could_be_one(&list[table[s]], f))
            s = (s + 1) & (slots - 1);
        if (table[s] < 0) {
            table[s] = f->last = i;
            f->count = 1;
            continue;
        }
        struct file *head = &list[table[s]];
        list[head->last].next = i;
        head->last = i;
        head->count++;
    }
    keep_free(table);
    for (int i = 0; i < n; i++)
        if (list[i].count > 1)
            find_twins_in(list, i);
}
