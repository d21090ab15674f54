/* track.c - which pages of the upper half were written since its last image.
 *
 *   1. A survey asks, mapping by mapping, which pages are present and which of them were written since the last
 *      survey; the kernel protects the latter in the same step (track_pages). We read their content after that.
 *      So a page that is clean the next time is as the image has it: as in its slot, or, if the image has no such
 *      page, zero (or as in the file).
 *   2. Private mappings only: other processes write to shared ones past our page tables. We do not watch a mapping
 *      that is new, was moved, or belongs to somebody else's userfaultfd: all its pages count as written and are
 *      compared, as are those of mappings that we do not ask about at all. Memory that was given back and touched
 *      again has no protection, so it counts as written. A child of fork() inherits nothing of this.
 *   3. Memory was like one image at a time (track_memory_is), known by its serial number: the last one that this
 *      process took or loaded. Any other image is compared with that one by its slots (images/fill.c). So a version
 *      that was abandoned needs no list of what it had seen: the pages in which it differs from the last have slots
 *      of their own.
 *   4. Each first write to a page costs a fault. If more than half of a large mapping is written between two
 *      versions, we compare it instead, for a time that doubles each time.
 *   5. Devices may write to memory past the page tables (network cards, GPUs, xpmem, io_uring). While the process
 *      has any file open that may be such a device, nothing is known: we compare everything.
 */
#include "images/track.h"

#include <base/config.h>
#include <base/event.h>
#include <base/track.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { LARGE = 256, LONGEST_PAUSE = 16 }; /* pages; versions */

struct area { /* a large mapping */
    uint64_t from;
    int pause, left; /* versions for which it is not tracked */
    int armed;       /* writes were recorded since the last survey */
};
struct areas {
    struct area *list;
    size_t count, room;
};

static struct {
    int state; /* 0: not asked yet, 1: it works, -1: it does not */
    int uffd, told;
    uint64_t image, serial;
    struct areas last, now;
} track = {.uffd = -1};

static void tell_once(const char *why)
{
    if (!track.told++)
        mend_event("checkpoint.untracked", ev_str("why", why));
}

static int open_kernel(void)
{
    if (!strcmp(mend_setting_string(MEND_KEY_ONLINE_TRACK), "no")) {
        tell_once("online.track is no");
        return -1;
    }
    if (!mend_track_works() || (track.uffd = mend_track_open()) < 0) {
        tell_once("the kernel does not track writes (mend doctor)");
        return -1;
    }
    return 1;
}

/* Files that cannot write to memory by themselves; of devices only the known ones. */
static int is_harmless(const char *name, const struct stat *file)
{
    unsigned major_number = major(file->st_rdev);
    if (!S_ISCHR(file->st_mode))
        return !strstr(name, "io_uring");
    return major_number == 1 || major_number == 4 || major_number == 5 || /* memory, terminals */
           (major_number >= 136 && major_number <= 143);
}

/* Step 5. */
static int some_device(char *name, size_t room)
{
    char path[300];
    struct stat file;
    int found = 0;
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *e; all && !found && (e = readdir(all));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t n = readlink(path, name, room - 1);
        if (n <= 0 || stat(path, &file))
            continue;
        name[n] = 0;
        found = !is_harmless(name, &file);
    }
    if (all)
        closedir(all);
    else
        snprintf(name, room, "cannot read /proc/self/fd");
    return found || !all;
}

int track_start(void)
{
    char why[600];
    track.now.count = 0;
    if (!track.state)
        track.state = open_kernel();
    if (track.state < 0)
        return 0;
    if (some_device(why, sizeof why)) {
        tell_once(why);
        track.image = 0;
        return 0;
    }
    return 1;
}

static struct area area_at(uint64_t from)
{
    for (size_t i = 0; i < track.last.count; i++)
        if (track.last.list[i].from == from)
            return track.last.list[i];
    return (struct area){.from = from, .armed = 1};
}

static void remember(struct area area)
{
    struct areas *a = &track.now;
    if (a->count == a->room) {
        size_t room = 2 * a->room + 16;
        struct area *more = realloc(a->list, room * sizeof *more);
        if (!more)
            return; /* it is tracked in any case */
        a->list = more;
        a->room = room;
    }
    a->list[a->count++] = area;
}

/* Step 4. `before`: its state at the last survey. */
static void consider_pause(const struct mend_range *r, struct area before, uint64_t touched,
                           uint64_t written)
{
    struct area now = {.from = r->start, .armed = 1};
    if (touched < LARGE)
        return;
    if (2 * written > touched) {
        now.pause = before.pause ? 2 * before.pause : 1;
        now.pause = now.pause < LONGEST_PAUSE ? now.pause : LONGEST_PAUSE;
        now.left = now.pause;
        now.armed = 0;
        mend_track_protect(track.uffd, r, false);
    }
    remember(now);
}

static int is_paused(struct area *a)
{
    if (!a->left)
        return 0;
    a->left--;
    remember(*a);
    return 1;
}

static int nothing(void *context, uintptr_t start, uintptr_t end, unsigned is)
{
    (void)context, (void)start, (void)end, (void)is;
    return 0;
}

static int is_watched(int pagemap, uint64_t from)
{
    struct mend_range first = {from, from + ground.page_size};
    return mend_track_pages(pagemap, &first, false, false, nothing, NULL) == 0;
}

struct pass { /* over a mapping */
    enum pages which;
    pagemap_take *touched, *written;
    void *context;
    int known;              /* 0: every present page counts as written */
    struct mend_range last; /* touched, not reported yet: more may follow it */
    uint64_t touched_pages, written_pages;
};

static int tell_last(struct pass *p)
{
    return p->last.end ? p->touched(p->context, p->last.start, p->last.end) : 0;
}

static int take(void *context, uintptr_t start, uintptr_t end, unsigned is)
{
    struct pass *p = context;
    int rc = 0;
    if (p->which == PAGES_WRITTEN && is & TRACK_OF_FILE)
        return 0;
    if (p->last.end != start) {
        rc = tell_last(p);
        p->last.start = start;
    }
    p->last.end = end;
    p->touched_pages += (end - start) / ground.page_size;
    if (is & TRACK_WRITTEN || !p->known) {
        p->written_pages += (end - start) / ground.page_size;
        rc = rc < 0 ? rc : p->written(p->context, start, end);
    }
    return rc;
}

int track_pages(int pagemap, uint64_t from, uint64_t to, enum pages which, pagemap_take *touched,
                pagemap_take *written, void *context)
{
    struct pass p = {.which = which, .touched = touched, .written = written, .context = context};
    struct mend_range r = {from, to};
    struct area area = area_at(from);
    if (is_paused(&area))
        return 1;
    p.known = is_watched(pagemap, from) && area.armed;
    if (mend_track_watch(track.uffd, &r)) /* no change if we watch it already */
        return 1;
    if (mend_track_pages(pagemap, &r, which == PAGES_WRITTEN, true, take, &p) || tell_last(&p) < 0)
        return 1;
    if (p.known)
        consider_pause(&r, area, p.touched_pages, p.written_pages);
    else if (!area.armed) { /* the next survey will know */
        area.armed = 1;
        remember(area);
    }
    return 0;
}

void track_end(void)
{
    struct areas old = track.last;
    track.last = track.now;
    track.now = old;
    track.now.count = 0;
}

uint64_t track_new_serial(void)
{
    return ++track.serial;
}

void track_memory_is(uint64_t serial)
{
    track.image = track.state > 0 ? serial : 0;
}

uint64_t track_image(void)
{
    return track.image;
}

static int take_clean(void *context, uintptr_t start, uintptr_t end, unsigned is)
{
    struct pass *p = context;
    int rc = 0;
    if (is & (TRACK_WRITTEN | TRACK_OF_FILE))
        return 0;
    if (p->last.end != start) {
        rc = tell_last(p);
        p->last.start = start;
    }
    p->last.end = end;
    return rc;
}

int track_clean(int pagemap, uint64_t from, uint64_t to, pagemap_take *take_one, void *context)
{
    struct pass p = {.touched = take_one, .context = context};
    struct mend_range r = {from, to};
    if (mend_track_pages(pagemap, &r, true, false, take_clean, &p) || tell_last(&p) < 0)
        return 1;
    return mend_track_watch(track.uffd, &r) != 0; /* it is watched, but by somebody else */
}

int track_is_checked(void)
{
    return !strcmp(mend_setting_string(MEND_KEY_ONLINE_TRACK), "check");
}

void track_wrong(uint64_t address, const char *when)
{
    mend_event("checkpoint.wrong", ev_str("when", when), ev_int("address", (long long)address));
    fprintf(stderr, "mend: the page at %llx counted as unchanged but has changed (%s)\n",
            (unsigned long long)address, when);
    abort();
}
