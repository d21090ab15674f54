/* progress.c - while a thread waits for one thing, the library goes on with others (MPI_THREAD_MULTIPLE). Two ranks.
 *
 *   progress grequest    a rank has a large message under way and waits for a generalized request, which a thread of its own
 *                        completes when the other rank has the message
 *   progress detach      a thread detaches a buffer whose message is received only when another thread has sent one
 *   progress full        what finds no room in the buffer is an error
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 4 << 20 };
static int rank, there[2];
static MPI_Request promise;

static int query(void *extra, MPI_Status *st)
{
    (void)extra;
    MPI_Status_set_elements(st, MPI_BYTE, 0);
    MPI_Status_set_cancelled(st, 0);
    return MPI_SUCCESS;
}
static int forget(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}
static int no_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

/* No call of MPI tells it: the other rank makes a file. */
static void *keep_promise(void *file)
{
    while (access(file, F_OK))
        usleep(1000);
    MPI_Grequest_complete(promise);
    return NULL;
}
static void grequest(char *bytes, char *file)
{
    pthread_t id;
    MPI_Request out;
    if (rank == 1) {
        MPI_Recv(bytes, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fclose(fopen(file, "w"));
        return;
    }
    MPI_Isend(bytes, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &out);
    MPI_Grequest_start(query, forget, no_cancel, NULL, &promise);
    pthread_create(&id, NULL, keep_promise, file);
    MPI_Wait(&promise, MPI_STATUS_IGNORE);
    pthread_join(id, NULL);
    MPI_Wait(&out, MPI_STATUS_IGNORE);
}

static void *send_word(void *unused)
{
    (void)unused;
    usleep(300000); /* the other thread waits for its buffer by then */
    MPI_Send(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    return NULL;
}
static void detach(char *bytes)
{
    int word, size = LARGE + MPI_BSEND_OVERHEAD;
    char *buffer = malloc(size);
    pthread_t id;
    if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(bytes, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Buffer_attach(buffer, size);
    MPI_Bsend(bytes, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    memset(bytes, 'x', LARGE);
    pthread_create(&id, NULL, send_word, NULL);
    MPI_Buffer_detach(&buffer, &size);
    pthread_join(id, NULL);
    there[0] = size == LARGE + MPI_BSEND_OVERHEAD;
    free(buffer);
}

/* Each send that fails has a communicator for itself: Open MPI (5.0.7) has numbered it, so that nothing arrives there after it. */
static void bsend(char *bytes, int n, MPI_Comm comm)
{
    MPI_Comm other = comm;
    if (comm == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (rank == 0) {
        int class, rc = MPI_Bsend(bytes, n, MPI_CHAR, 1, 0, other);
        MPI_Error_class(rc, &class);
        printf("progress: %d bytes: %s\n", n,
               class == MPI_SUCCESS      ? "sent"
               : class == MPI_ERR_BUFFER ? "no room"
                                         : "another error");
        fflush(stdout);
    }
}
static void full(char *bytes)
{
    char *buffer = malloc(LARGE + MPI_BSEND_OVERHEAD), *at;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    bsend(bytes, LARGE, MPI_COMM_NULL);
    for (int spare = MPI_BSEND_OVERHEAD; spare >= 0; spare = spare > 25 ? 25 : spare - 1) {
        MPI_Comm same;
        int fits = spare >= (int)(2 * sizeof(size_t) + sizeof(void *)), size;
        MPI_Comm_dup(MPI_COMM_WORLD, &same);
        if (rank == 0)
            MPI_Buffer_attach(buffer, LARGE + spare);
        bsend(bytes, LARGE, fits ? same : MPI_COMM_NULL);
        if (fits)
            bsend(bytes, LARGE, MPI_COMM_NULL);
        bsend(bytes, 10, same);
        if (rank == 1 && fits)
            MPI_Recv(bytes, LARGE, MPI_CHAR, 0, 0, same, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Recv(bytes, 10, MPI_CHAR, 0, 0, same, MPI_STATUS_IGNORE);
        if (rank == 0)
            MPI_Buffer_detach(&at, &size);
    }
    free(buffer);
}

int main(int argc, char **argv)
{
    int provided, wrong = 0;
    char *bytes = malloc(LARGE), *file = argc > 2 ? argv[2] : "progress.there";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(bytes, rank ? 0 : 'm', LARGE);
    there[0] = 1;
    if (argc > 1 && !strcmp(argv[1], "detach"))
        detach(bytes);
    else if (argc > 1 && !strcmp(argv[1], "full"))
        full(bytes);
    else
        grequest(bytes, file);
    for (int i = 0; rank == 1 && i < LARGE; i++)
        wrong += bytes[i] != 'm';
    there[1] = !wrong;
    MPI_Allreduce(MPI_IN_PLACE, there, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf("progress: buffer %s, message %s\n", there[0] ? "right" : "wrong",
               there[1] ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
