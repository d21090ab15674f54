#include <base/fail.h>
#include <base/fault.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum action { KILL, STOP, EIO_ERROR, ENOSPC_ERROR, SHORT, FLIP, DELAY };

struct order {
    enum mend_fault_place place;
    enum action action;
    int rank; /* -1: any */
    long first_hit;
    bool from_then_on;
    long delay_ms;
    atomic_long hits;
};

enum { ORDERS_MAX = 32 };

bool mend_fault_armed;
static struct {
    struct order orders[ORDERS_MAX];
    int count;
    int own_rank;
} plan = {.own_rank = -1};

static const char *const place_names[] = {
#define FAULT_POINT(id, name) name,
#include <base/fault_points.def>
#undef FAULT_POINT
};

const char *mend_fault_place_name(enum mend_fault_place place)
{
    return (unsigned)place < MEND_FAULT_PLACES ? place_names[place] : "?";
}

void mend_fault_set_rank(int rank)
{
    plan.own_rank = rank;
}

static int find_place(const char *name)
{
    for (int i = 0; i < MEND_FAULT_PLACES; i++)
        if (strcmp(place_names[i], name) == 0)
            return i;
    return -1;
}

static bool parse_number(const char *text, long *value, char *end_char)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    *end_char = *end;
    return end != text && errno == 0 && *value >= 0 && (*end == 0 || (*end == '+' && end[1] == 0));
}

static bool parse_word(struct order *order, const char *word, bool *has_action)
{
    static const char *const names[] = {"kill", "stop", "eio", "enospc", "short", "flip"};
    long value;
    char end;
    if (strncmp(word, "rank=", 5) == 0) {
        if (!parse_number(word + 5, &value, &end) || end)
            return false;
        order->rank = (int)value;
        return true;
    }
    if (strncmp(word, "hit=", 4) == 0) {
        if (!parse_number(word + 4, &order->first_hit, &end) || order->first_hit < 1)
            return false;
        order->from_then_on = end == '+';
        return true;
    }
    *has_action = true;
    if (strncmp(word, "delay=", 6) == 0) {
        order->action = DELAY;
        return parse_number(word + 6, &order->delay_ms, &end) && !end;
    }
    for (int i = 0; i < 6; i++) {
        if (strcmp(word, names[i]) == 0) {
            order->action = (enum action)i;
            return true;
        }
    }
    return false;
}

static int parse_order(char *text)
{
    if (plan.count == ORDERS_MAX)
        return mend_fail(MEND_ERR_CONFIG, "MEND_FAULT holds more than %d faults", ORDERS_MAX);
    struct order *order = &plan.orders[plan.count];
    memset(order, 0, sizeof *order);
    order->rank = -1;
    order->first_hit = 1;
    char *rest;
    char *word = strtok_r(text, ":", &rest);
    int place = word ? find_place(word) : -1;
    if (place < 0)
        return mend_fail(MEND_ERR_CONFIG, "MEND_FAULT names an unknown place: %s",
                         word ? word : "");
    order->place = (enum mend_fault_place)place;
    bool has_action = false;
    while ((word = strtok_r(NULL, ":", &rest)))
        if (!parse_word(order, word, &has_action))
            return mend_fail(MEND_ERR_CONFIG, "MEND_FAULT at %s: \"%s\" does not parse",
                             place_names[place], word);
    if (!has_action)
        return mend_fail(MEND_ERR_CONFIG, "MEND_FAULT at %s names no action", place_names[place]);
    plan.count++;
    return MEND_OK;
}

int mend_fault_configure(const char *text)
{
    plan.count = 0;
    mend_fault_armed = false;
    if (!text || !*text)
        return MEND_OK;
    char *copy = strdup(text), *rest = NULL;
    if (!copy)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for MEND_FAULT");
    int code = MEND_OK;
    for (char *one = strtok_r(copy, ",", &rest); one && !code; one = strtok_r(NULL, ",", &rest))
        code = parse_order(one);
    free(copy);
    mend_fault_armed = code == MEND_OK && plan.count > 0;
    return code;
}

static int rank_from_launcher(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value)
            return atoi(value);
    }
    return -1;
}

__attribute__((constructor)) static void read_environment(void)
{
    plan.own_rank = rank_from_launcher();
    if (mend_fault_configure(getenv("MEND_FAULT")) != MEND_OK) {
        fprintf(stderr, "mend: %s\n", mend_error_text());
        _exit(2);
    }
}

static enum mend_fault_effect carry_out(const struct order *order)
{
    switch (order->action) {
    case KILL:
        kill(getpid(), SIGKILL);
        pause();
        return MEND_FAULT_NONE;
    case STOP: kill(getpid(), SIGSTOP); return MEND_FAULT_NONE;
    case DELAY: {
        struct timespec t = {order->delay_ms / 1000, order->delay_ms % 1000 * 1000000};
        nanosleep(&t, NULL);
        return MEND_FAULT_NONE;
    }
    case EIO_ERROR: return MEND_FAULT_EIO;
    case ENOSPC_ERROR: return MEND_FAULT_ENOSPC;
    case SHORT: return MEND_FAULT_SHORT;
    case FLIP: return MEND_FAULT_FLIP;
    }
    return MEND_FAULT_NONE;
}

enum mend_fault_effect mend_fault_hit(enum mend_fault_place place)
{
    enum mend_fault_effect effect = MEND_FAULT_NONE;
    for (int i = 0; i < plan.count; i++) {
        struct order *order = &plan.orders[i];
        if (order->place != place || (order->rank >= 0 && order->rank != plan.own_rank))
            continue;
        long hit = atomic_fetch_add(&order->hits, 1) + 1;
        if (hit == order->first_hit || (order->from_then_on && hit > order->first_hit)) {
            enum mend_fault_effect e = carry_out(order);
            if (e != MEND_FAULT_NONE)
                effect = e;
        }
    }
    return effect;
}
