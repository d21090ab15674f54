/* Level partner: the own file, and a copy of it in the local folder of a rank on another failure domain. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

enum { TAG_LENGTH = 31, TAG_PIECE };

#define PIECE ((size_t)4 << 20)

/* Exchanges two files at once, ours out and the peer's in, piece by piece. A local error does not stop the exchange:
 * the peer still needs to send its file. */
struct swap {
    mend_store *store;
    mend_source mine;
    mend_io_replacement copy;
    char path[PATH_ROOM];
    uint64_t incoming;
    uint8_t *out, *in;
    uint64_t *lengths; /* [0] ours, [1] theirs */
    int error;         /* the first local one */
    bool poisoned;
};

static void note(struct swap *s, int rc)
{
    if (s->error == 0)
        s->error = rc;
}

static int swap_lengths(struct swap *s)
{
    struct net *net = s->store->net;
    s->lengths[0] = s->mine.bytes;
    int rc = net_receive(net, WORK, s->store->placement.holds, TAG_LENGTH, &s->lengths[1],
                         sizeof(uint64_t));
    if (rc == 0)
        rc = net_send(net, WORK, s->store->placement.partner, TAG_LENGTH, &s->lengths[0],
                      sizeof(uint64_t));
    int ended = net_complete(net, WORK, &s->poisoned);
    s->incoming = s->lengths[1];
    return rc ? rc : ended;
}

static int swap_piece(struct swap *s, uint64_t at)
{
    struct net *net = s->store->net;
    size_t out = 0, in = 0;

    if (at < s->mine.bytes) {
        out = s->mine.bytes - at < PIECE ? (size_t)(s->mine.bytes - at) : PIECE;
        note(s, s->mine.read(s->mine.context, at, s->out, out));
    }
    if (at < s->incoming)
        in = s->incoming - at < PIECE ? (size_t)(s->incoming - at) : PIECE;
    int rc = in ? net_receive(net, WORK, s->store->placement.holds, TAG_PIECE, s->in, in) : 0;
    if (rc == 0 && out)
        rc = net_send(net, WORK, s->store->placement.partner, TAG_PIECE, s->out, out);
    MEND_FAULT_POINT(store_partner_send);
    int ended = net_complete(net, WORK, &s->poisoned);
    if (rc || ended)
        return rc ? rc : ended;
    s->store->stats.bytes_sent += out;
    if (in && s->error == 0) {
        struct file_sink sink = {.store = s->store, .fd = s->copy.fd, .at = at, .path = s->path};
        note(s, file_sink_write(&sink, s->in, in));
    }
    return 0;
}

/* Open what arrived before it counts: it must be the image of that rank and version. */
static int check_copy(struct swap *s, const mend_file *file)
{
    mend_image *image = NULL;
    int rc = mend_image_open_file(s->copy.temporary, &image);
    if (rc)
        return rc;
    const mend_image_head *head = mend_image_info(image);
    if (head->rank != file->rank || head->version != file->version ||
        head->save_id != file->save_id)
        rc = mend_fail(MEND_ERR_DAMAGED, "the partner did not send version %lld of rank %d",
                       (long long)file->version, file->rank);
    mend_image_close(image);
    return rc;
}

static int open_swap(struct swap *s, struct job *job, mend_file *copy)
{
    mend_store *store = s->store;
    mend_file own = {MEND_FILE_OWN, store->rank, job->version, job->id};
    char path[PATH_ROOM];

    *copy = (mend_file){MEND_FILE_COPY, store->placement.holds, job->version, job->id};
    s->copy.fd = -1;
    s->out = malloc(PIECE);
    s->in = malloc(PIECE);
    s->lengths = calloc(2, sizeof *s->lengths);
    if (!s->out || !s->in || !s->lengths)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to send a file");
    int rc = file_path(store->local, &own, path);
    if (rc == 0)
        rc = file_path(store->local, copy, s->path);
    if (rc == 0)
        rc = mend_source_file(path, 0, UINT64_MAX, &s->mine);
    if (rc == 0)
        rc = mend_io_replace_begin(&s->copy, s->path);
    return rc;
}

static int partner_exchange(mend_store *store, struct job *job)
{
    struct swap s = {.store = store};
    mend_file copy;

    if (store->placement.partner < 0)
        return 0;
    int64_t ready = open_swap(&s, job, &copy);
    int rc = (int)ready;
    int broken = net_all_min(store->net, WORK, &ready, 1);
    if (rc == 0)
        rc = broken ? broken : (int)ready;
    if (rc == 0)
        rc = swap_lengths(&s);
    atomic_store(&store->bytes_done, 0);
    atomic_store(&store->bytes_total, s.incoming);
    uint64_t longer = s.mine.bytes > s.incoming ? s.mine.bytes : s.incoming;
    for (uint64_t at = 0; rc == 0 && at < longer; at += PIECE)
        rc = swap_piece(&s, at);
    if (rc == 0)
        rc = s.error;
    if (rc == 0)
        rc = check_copy(&s, &copy);
    if (rc == 0)
        rc = mend_io_replace_commit(&s.copy);
    else if (s.copy.path)
        mend_io_replace_abort(&s.copy);
    if (s.mine.close)
        s.mine.close(s.mine.context);
    net_free(s.out, s.poisoned);
    net_free(s.in, s.poisoned);
    net_free(s.lengths, s.poisoned);
    return rc;
}

const struct level_ops level_partner = {.prepare = file_write_own, .exchange = partner_exchange};
