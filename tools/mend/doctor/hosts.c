/* Asking the machines of a list.
 *
 *  1. Each machine runs `mend doctor --answer` through the agent that `mend run --launcher` would use, a few at a time.
 *  2. We make a new folder in the folder that they should share; a machine that sees it shares the folder.
 *  3. We compare their answers with this machine's own, which we ask in the same way, without an agent.
 */
#include "doctor.h"
#include "launch.h"

#include <base/event.h>

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 32, OUTPUT_SIZE = 65536, WORDS_SHOWN = 6 };
static const double answer_seconds =
    60; /* unreachable machines, a slow file system, mpirun --version */
static const double clock_seconds = 1; /* smaller differences are not worth a line */

struct asked {
    char *name;
    int code;             /* of tool_capture() */
    char *output;         /* as it came */
    json_t *answer;       /* NULL: none */
    double before, after; /* by our clock */
};

struct round {
    struct asked *hosts;
    int count;
    atomic_int next;
    const char *agent, *self, *folder;
};

static double real_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- which ------------------------------------------------------------------------------------ */

static bool add_host(struct round *r, const char *name, size_t length)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@%";
    if (length == 0 || length > 255 || name[0] == '-' || strspn(name, letters) < length)
        return false;
    for (int i = 0; i < r->count; i++)
        if (strlen(r->hosts[i].name) == length && strncmp(r->hosts[i].name, name, length) == 0)
            return true;
    struct asked *more = realloc(r->hosts, (size_t)(r->count + 1) * sizeof *more);
    char *copy = strndup(name, length);
    if (more)
        r->hosts = more;
    if (!more || !copy) {
        free(copy);
        return false;
    }
    r->hosts[r->count++] = (struct asked){.name = copy};
    return true;
}

static bool add_list(struct round *r, const char *list)
{
    bool ok = true;
    for (const char *at = list; ok && at;) {
        ok = add_host(r, at, strcspn(at, ",:"));
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return ok;
}

static bool add_file(struct round *r, const char *path, char *why, size_t size)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    if (!file) {
        snprintf(why, size, "hostfile %s: %s", path, strerror(errno));
        return false;
    }
    for (int number = 1; ok && getline(&line, &room, file) > 0; number++) {
        line[strcspn(line, "#\n")] = 0;
        const char *name = line + strspn(line, " \t\r");
        if (*name)
            ok = add_host(r, name, strcspn(name, " \t\r:"));
        if (!ok)
            snprintf(why, size, "hostfile %s, line %d: not the name of a machine", path, number);
    }
    free(line);
    fclose(file);
    if (ok && r->count == 0) {
        snprintf(why, size, "hostfile %s names no machine", path);
        ok = false;
    }
    return ok;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void read_answer(struct asked *a)
{
    const char *line = strstr(a->output, "mend-answer ");
    a->answer =
        line ? json_loads(line + strlen("mend-answer "), JSON_DISABLE_EOF_CHECK, NULL) : NULL;
}

/* agent NULL: this machine. */
static void ask(struct asked *a, const struct round *r, const char *agent)
{
    tool_arguments w = {.count = 0};
    char *words = strdup(agent ? agent : ""), *rest = words;
    bool ok = words != NULL;
    for (char *word; ok && (word = strsep(&rest, " \t"));)
        ok = !*word || tool_add(&w, word);
    ok = ok && (!agent || tool_add(&w, a->name)) && tool_add(&w, r->self) &&
         tool_add(&w, "doctor") && tool_add(&w, "--answer") &&
         (!r->folder || (tool_add(&w, "--dir") && tool_add(&w, r->folder)));
    a->output = calloc(1, OUTPUT_SIZE);
    a->code = TOOL_NOT_STARTED;
    a->before = real_time();
    if (ok && a->output) {
        a->code = tool_capture(w.list, answer_seconds, a->output, OUTPUT_SIZE);
        read_answer(a);
    }
    a->after = real_time();
    tool_arguments_free(&w);
    free(words);
}

static void *ask_some(void *argument)
{
    struct round *r = argument;
    for (int i; (i = atomic_fetch_add(&r->next, 1)) < r->count;)
        ask(&r->hosts[i], r, r->agent);
    return NULL;
}

static void ask_all(struct round *r)
{
    pthread_t threads[AT_ONCE];
    int started = 0;
    while (started < AT_ONCE && started < r->count &&
           pthread_create(&threads[started], NULL, ask_some, r) == 0)
        started++;
    if (started == 0)
        ask_some(r);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* ---- what it means --------------------------------------------------------------------------- */

static const char *text_of(const json_t *answer, const char *key)
{
    const char *text = json_string_value(json_object_get(answer, key));
    return text ? text : "";
}

/* The last line of an agent's output, without control characters. */
static void last_line(const char *output, char *line, size_t size)
{
    const char *begin = output, *end = output + strlen(output);
    while (end > begin && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' '))
        end--;
    for (const char *c = output; c < end; c++)
        if (*c == '\n')
            begin = c + 1;
    snprintf(line, size, "%.*s", (int)(end - begin > 200 ? 200 : end - begin), begin);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
}

static void note_silent(doctor *d, const struct asked *a)
{
    char line[256];
    last_line(a->output ? a->output : "", line, sizeof line);
    if (a->code == TOOL_TIMED_OUT)
        doctor_find(
            d, a->name, DOCTOR_BAD, "is the machine up, and does the agent ask for a password?",
            "no answer after %.0f s%s%s", answer_seconds, line[0] ? "; it said: " : "", line);
    else
        doctor_find(d, a->name, DOCTOR_BAD,
                    "the agent must reach it without a password, and Mend must be there under the "
                    "same path",
                    "no answer%s%s", line[0] ? ": " : " (the agent could not be started)", line);
}

/* Copies the words of the comma-separated `list` that `other` lacks; returns how many. */
static int lacking(const char *list, const char *other, char *words, size_t size)
{
    int count = 0;
    size_t used = 0;
    words[0] = 0;
    for (const char *w = list; *w; w += strspn(w, " ")) {
        size_t length = strcspn(w, " ");
        bool found = false;
        for (const char *o = other; *o && !found; o += strspn(o, " ")) {
            size_t n = strcspn(o, " ");
            found = n == length && strncmp(o, w, n) == 0;
            o += n;
        }
        if (!found && count++ < WORDS_SHOWN && used + length + 3 < size)
            used += (size_t)snprintf(words + used, size - used, "%s%.*s", used ? ", " : "",
                                     (int)length, w);
        w += length;
    }
    return count;
}

/* How far its clock is off; 0 if its time lies between our two. */
static double clock_off(const struct asked *a)
{
    double clock = json_number_value(json_object_get(a->answer, "clock"));
    return clock < a->before ? clock - a->before : clock > a->after ? clock - a->after : 0;
}

/* Does anything stop a job there? */
static bool note_obstacle(doctor *d, const struct asked *a, const json_t *own, const char *folder)
{
    static const struct {
        const char *key, *what, *advice;
    } equal[] = {
        {"machine", "architecture", "a job has one architecture: leave this machine out"},
        {"mend", "Mend", "install the same Mend on all machines"},
        {"openmpi", "Open MPI", "install the same Open MPI on all machines"},
    };
    bool found = false;
    for (size_t i = 0; i < sizeof equal / sizeof equal[0]; i++) {
        const char *theirs = text_of(a->answer, equal[i].key), *ours = text_of(own, equal[i].key);
        if (strcmp(theirs, ours) != 0) {
            doctor_find(d, a->name, DOCTOR_BAD, equal[i].advice, "%s is %s there, and %s here",
                        equal[i].what, theirs[0] ? theirs : "missing", ours[0] ? ours : "missing");
            found = true;
        }
    }
    if (json_integer_value(json_object_get(a->answer, "user")) !=
        json_integer_value(json_object_get(own, "user"))) {
        doctor_find(d, a->name, DOCTOR_BAD,
                    "Mend refuses images of another user: use the same user",
                    "the agent runs commands there as user %lld, here you are %lld",
                    (long long)json_integer_value(json_object_get(a->answer, "user")),
                    (long long)json_integer_value(json_object_get(own, "user")));
        found = true;
    }
    if (folder && !json_is_true(json_object_get(a->answer, "folder"))) {
        doctor_find(d, a->name, DOCTOR_BAD,
                    "checkpoints for a relaunch need a folder that all machines share",
                    "%s is not the same folder there, or cannot be written to", folder);
        found = true;
    }
    return found;
}

static void note_answer(doctor *d, const struct asked *a, const json_t *own, const char *folder)
{
    char words[256];
    bool found = note_obstacle(d, a, own, folder);
    int missing =
        lacking(text_of(own, "features"), text_of(a->answer, "features"), words, sizeof words);
    if (missing && strcmp(text_of(a->answer, "machine"), text_of(own, "machine")) == 0) {
        doctor_find(d, a->name, DOCTOR_MISSING, "ranks that use them cannot be moved there",
                    "the processor lacks %d features that this machine has: %s%s", missing, words,
                    missing > WORDS_SHOWN ? ", …" : "");
        found = true;
    }
    if (clock_off(a) > clock_seconds || clock_off(a) < -clock_seconds) {
        doctor_find(d, a->name, DOCTOR_MISSING, "times in reports will be off: set the clock (NTP)",
                    "the clock there differs by %+.1f s", clock_off(a));
        found = true;
    }
    if (!json_is_true(json_object_get(a->answer, "daemon"))) {
        doctor_find(d, a->name, DOCTOR_MISSING,
                    "only mend run --launcher mpirun can use this machine",
                    "mend-node is missing there");
        found = true;
    }
    if (!found)
        doctor_find(d, a->name, DOCTOR_GOOD, NULL, "Mend %s, Open MPI %s, %s, glibc %s%s",
                    text_of(a->answer, "mend"), text_of(a->answer, "openmpi"),
                    text_of(a->answer, "machine"), text_of(a->answer, "libc"),
                    folder ? ", shares the folder" : "");
}

static void free_round(struct round *r)
{
    for (int i = 0; i < r->count; i++) {
        free(r->hosts[i].name);
        free(r->hosts[i].output);
        json_decref(r->hosts[i].answer);
    }
    free(r->hosts);
}

/* False: `text` has a character that the agent's shell would interpret. */
static bool plain(const char *text)
{
    return !text[strcspn(text, " \t\n\"'$`\\;&|<>()*?~#")];
}

/* A new folder in `folder`: *path, absolute. */
static bool make_shared(const char *folder, char *path, size_t size, char *why, size_t why_size)
{
    char *whole = realpath(folder, NULL);
    int n = whole ? snprintf(path, size, "%s/.mend-doctor-XXXXXX", whole) : -1;
    bool ok = n > 0 && (size_t)n < size && plain(whole) && mkdtemp(path);
    if (!ok)
        snprintf(why, why_size,
                 whole && !plain(whole) ? "%s has characters that the agent's shell would change"
                                        : "cannot make a folder in %s",
                 folder);
    free(whole);
    return ok;
}

static bool find_self(char *path, size_t size, char *why, size_t why_size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = 0;
    if (!plain(path))
        snprintf(why, why_size, "the path %s has characters that the agent's shell would change",
                 path);
    return plain(path);
}

static bool read_hosts(struct round *r, const char *list, const char *file, char *why, size_t size)
{
    if (!list)
        return add_file(r, file, why, size);
    bool ok = add_list(r, list);
    if (!ok)
        snprintf(why, size, "%s is not a list of machines: NAME[:SLOTS],…", list);
    return ok;
}

int doctor_check_hosts(doctor *d, const char *list, const char *file, const char *agent,
                       const char *folder, char *why, size_t size)
{
    char self[4096], shared[4200];
    struct round r = {.agent = agent, .self = self, .folder = folder ? shared : NULL};
    struct asked here = {.name = NULL};
    if (!agent)
        r.agent = getenv("SLURM_JOB_ID") ? "srun --overlap -N1 -n1 -w" : "ssh -x";
    bool ok = read_hosts(&r, list, file, why, size) && find_self(self, sizeof self, why, size) &&
              (!folder || make_shared(folder, shared, sizeof shared, why, size));
    if (ok) {
        ask(&here, &r, NULL);
        ask_all(&r);
        for (int i = 0; i < r.count; i++)
            if (r.hosts[i].answer && here.answer)
                note_answer(d, &r.hosts[i], here.answer, folder);
            else
                note_silent(d, &r.hosts[i]);
        if (folder)
            rmdir(shared);
    }
    free(here.output);
    json_decref(here.answer);
    free_round(&r);
    return ok ? 0 : -1;
}
