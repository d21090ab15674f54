#include "comms.h"

#include <ulfm/ulfm.h>

#include <pthread.h>
#include <stdlib.h>

struct member {
    struct mend_family *family; /* NULL: dissolved */
    MPI_Comm comm;
    MPI_Request request; /* MPI_REQUEST_NULL: the communicator is complete */
    struct member *next;
};

struct mend_family {
    void *owner;
    MPI_Comm root, channel;
    struct member *members; /* newest first; the root is last */
};

/* The only keyval of the process. It lives as long as MPI. */
static int keyval = MPI_KEYVAL_INVALID;
/* Any thread that makes or frees communicators adds or removes members. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void unlink_member(struct mend_family *family, struct member *m)
{
    for (struct member **at = family ? &family->members : NULL; at && *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
}

/* MPI calls this when it frees a communicator. */
static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    struct member *m = value;
    pthread_mutex_lock(&lock);
    unlink_member(m->family, m);
    pthread_mutex_unlock(&lock);
    free(m);
    return MPI_SUCCESS;
}

static int ensure_keyval(void)
{
    if (keyval != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    /* A duplicate gets its own entry (intercept.c), never a copy of this one. */
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
}

static struct member *member_of(MPI_Comm comm)
{
    struct member *m = NULL;
    int found = 0;
    if (keyval == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL)
        return NULL;
    if (PMPI_Comm_get_attr(comm, keyval, &m, &found) != MPI_SUCCESS)
        return NULL;
    return found ? m : NULL;
}

struct mend_family *mend_comms_of(MPI_Comm comm)
{
    struct member *m = member_of(comm);
    return m ? m->family : NULL;
}

void *mend_comms_owner(const struct mend_family *family)
{
    return family->owner;
}

MPI_Comm mend_comms_root(const struct mend_family *family)
{
    return family->root;
}

MPI_Comm mend_comms_channel(const struct mend_family *family)
{
    return family->channel;
}

static struct member *add(struct mend_family *family, MPI_Comm comm, MPI_Request request)
{
    struct member *m = malloc(sizeof *m);
    if (!m)
        return NULL;
    *m = (struct member){.family = family, .comm = comm, .request = request};
    pthread_mutex_lock(&lock);
    m->next = family->members;
    family->members = m;
    pthread_mutex_unlock(&lock);
    return m;
}

int mend_comms_join(struct mend_family *family, MPI_Comm comm)
{
    struct member *m = member_of(comm);
    if (m) {
        if (m->family != family) {
            pthread_mutex_lock(&lock);
            unlink_member(m->family, m);
            m->family = family;
            m->next = family->members;
            family->members = m;
            pthread_mutex_unlock(&lock);
        }
        return MPI_SUCCESS;
    }
    m = add(family, comm, MPI_REQUEST_NULL);
    if (!m)
        return MPI_ERR_NO_MEM;
    int rc = PMPI_Comm_set_attr(comm, keyval, m);
    if (rc != MPI_SUCCESS) {
        pthread_mutex_lock(&lock);
        unlink_member(family, m);
        pthread_mutex_unlock(&lock);
        free(m);
    }
    return rc;
}

void mend_comms_join_later(struct mend_family *family, MPI_Comm comm, MPI_Request request)
{
    for (struct member *m = family->members; m; m = m->next)
        if (m->request != MPI_REQUEST_NULL && m->comm == comm)
            return;
    add(family, comm, request);
}

/* Make duplicates members once their request is complete. The owner may have freed the request. Open MPI keeps such
 * objects for reuse, and then reports "complete", or the state of another duplicate in progress. In that case this
 * duplicate waits longer, which is safe. */
void mend_comms_refresh(struct mend_family *family)
{
    struct member *next;
    for (struct member *m = family->members; m; m = next) {
        int complete = 0;
        next = m->next;
        if (m->request == MPI_REQUEST_NULL)
            continue;
        if (PMPI_Request_get_status(m->request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            !complete)
            continue;
        pthread_mutex_lock(&lock);
        unlink_member(family, m);
        pthread_mutex_unlock(&lock);
        mend_comms_join(family, m->comm);
        free(m);
    }
}

struct mend_family *mend_comms_family(MPI_Comm root, MPI_Comm channel, void *owner)
{
    if (ensure_keyval() != MPI_SUCCESS)
        return NULL;
    struct mend_family *family = calloc(1, sizeof *family);
    if (!family)
        return NULL;
    family->owner = owner;
    family->root = root;
    family->channel = channel;
    if (mend_comms_join(family, root) != MPI_SUCCESS) {
        free(family);
        return NULL;
    }
    return family;
}

void mend_comms_dissolve(struct mend_family *family)
{
    if (!family)
        return;
    pthread_mutex_lock(&lock);
    for (struct member *m = family->members, *next; m; m = next) {
        next = m->next;
        m->family = NULL;
        m->next = NULL;
        if (m->request != MPI_REQUEST_NULL)
            free(m);
    }
    pthread_mutex_unlock(&lock);
    free(family);
}

int mend_comms_revoke(struct mend_family *family)
{
    int n = 0;
    mend_comms_refresh(family);
    mend_ulfm_revoke(family->root);
    for (struct member *m = family->members; m; m = m->next, n++)
        if (m->request == MPI_REQUEST_NULL && m->comm != family->root)
            mend_ulfm_revoke(m->comm);
    return n;
}

int mend_comms_count(const struct mend_family *family)
{
    int n = 0;
    for (struct member *m = family->members; m; m = m->next)
        n++;
    return n;
}

void mend_comms_set_errhandler(struct mend_family *family, MPI_Errhandler handler)
{
    for (struct member *m = family->members; m; m = m->next)
        if (m->request == MPI_REQUEST_NULL)
            PMPI_Comm_set_errhandler(m->comm, handler);
}

int mend_comms_made(MPI_Comm parent, MPI_Comm *made)
{
    struct mend_family *family = mend_comms_of(parent);
    if (!family || !made || *made == MPI_COMM_NULL || mend_comms_of(*made) == family)
        return MPI_SUCCESS;
    int rc = mend_comms_join(family, *made);
    if (rc == MPI_SUCCESS)
        rc = mend_comms_confirm(family->channel, parent, *made);
    if (rc != MPI_SUCCESS) {
        PMPI_Comm_call_errhandler(parent, rc); /* may jump */
        return rc;
    }
    return MPI_SUCCESS;
}
