/* Learn mode's copies of all views, which undo an experiment, and their hashes. */
#include <base/fail.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn.h"

static bool material(const view *v)
{
    return v->fate == FATE_SAVED || v->fate == FATE_PART || v->fate == FATE_DEAD ||
           v->fate == FATE_FOUND;
}

static int shadow_room(struct learner *l, int count)
{
    if (l->room >= count)
        return 0;
    struct shadow *all = realloc(l->shadows, (size_t)count * sizeof *all);
    if (!all)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for learn mode");
    memset(all + l->room, 0, (size_t)(count - l->room) * sizeof *all);
    l->shadows = all;
    l->room = count;
    return 0;
}

static int shadow_copy(struct shadow *s, view *v)
{
    s->of = v;
    s->bytes = view_bytes(v);
    if (s->room < s->bytes) {
        void *copy = realloc(s->copy, s->bytes);
        if (!copy)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a copy of view '%s'", v->label);
        s->copy = copy;
        s->room = s->bytes;
    }
    return view_get(v, s->copy);
}

int shadow_take(mend_flow *f)
{
    struct learner *l = f->learner;
    int rc = views_arrange(&f->views);
    if (!rc)
        rc = shadow_room(l, f->views.count);
    l->count = 0;
    for (int i = 0; i < f->views.count && !rc; i++)
        if (material(f->views.all[i]))
            rc = shadow_copy(&l->shadows[l->count++], f->views.all[i]);
    l->generation = f->views.generation;
    return rc;
}

/* The run may have reallocated dynamic views. Several may share a count, so set counts last. */
int shadow_put(mend_flow *f)
{
    struct learner *l = f->learner;
    for (int i = 0; i < l->count; i++) {
        struct shadow *s = &l->shadows[i];
        view *v = s->of;
        if (!v->pointer && v->bytes != s->bytes)
            return mend_fail(MEND_ERR_UNSUPPORTED,
                             "learn mode: view '%s' was named again with another length inside the "
                             "loop; make it dynamic",
                             v->label);
        if (v->pointer && view_bytes(v) != s->bytes) {
            int rc = view_resize(v, s->bytes);
            if (rc)
                return rc;
        }
    }
    for (int i = 0; i < l->count; i++)
        if (l->shadows[i].of->pointer)
            *l->shadows[i].of->count = l->shadows[i].bytes / l->shadows[i].of->element;
    int rc = 0;
    for (int i = 0; i < l->count && !rc; i++)
        rc = view_set(l->shadows[i].of, l->shadows[i].copy);
    return rc;
}

void shadow_note(struct learner *l)
{
    for (int i = 0; i < l->count; i++)
        l->shadows[i].hash = view_hash(l->shadows[i].of);
}

bool shadow_same(const struct learner *l)
{
    for (int i = 0; i < l->count; i++)
        if (l->shadows[i].hash != view_hash(l->shadows[i].of))
            return false;
    return true;
}

void shadow_free(struct learner *l)
{
    for (int i = 0; i < l->room; i++)
        free(l->shadows[i].copy);
    free(l->shadows);
}
