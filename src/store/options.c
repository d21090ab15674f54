/* Options: read from the configuration, checked, copied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/grow.h>
#include <base/config.h>

#include "internal.h"
#include "open.h"

static const char *const names[MEND_LEVEL_COUNT] = {"memory", "local", "partner", "erasure",
                                                    "global"};

const char *mend_level_name(mend_level level)
{
    return (int)level >= 0 && level < MEND_LEVEL_COUNT ? names[level] : "?";
}

static const char *text_of(const mend_config *c, enum mend_config_key key)
{
    const char *text = mend_config_string(c, key);
    return text && *text ? text : NULL;
}

/* The texts that options point to must outlive the configuration: keep one copy of each in the process until it
 * exits. */
static const char *keep_text(const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct kept {
        struct kept *next;
        char text[];
    } *all;
    struct kept *k;

    if (!text)
        return NULL;
    pthread_mutex_lock(&lock);
    for (k = all; k && strcmp(k->text, text) != 0; k = k->next)
        ;
    if (!k && (k = malloc(sizeof *k + strlen(text) + 1))) {
        strcpy(k->text, text);
        k->next = all;
        all = k;
    }
    pthread_mutex_unlock(&lock);
    return k ? k->text : NULL;
}

/* The index of a word in a list that ends with NULL. -1 and a message: not in it. */
static int parse_word(const char *key, const char *text, const char *const words[])
{
    char all[100] = "";
    for (int i = 0; words[i]; i++) {
        if (text && strcmp(text, words[i]) == 0)
            return i;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", words[i]);
    }
    mend_fail(MEND_ERR_CONFIG, "%s = %s: must be one of %s", key, text ? text : "", all);
    return -1;
}

static int parse_words(const mend_config *c, mend_store_options *o)
{
    static const char *const delta[] = {"off", "hash", "cmp", "pages", NULL};
    static const char *const tight[] = {"no", "yes", "auto", NULL};
    int d = parse_word("store.delta", mend_config_string(c, MEND_KEY_STORE_DELTA), delta);
    int t = d < 0 ? -1
                  : parse_word("store.memory_tight",
                               mend_config_string(c, MEND_KEY_STORE_MEMORY_TIGHT), tight);
    if (d < 0 || t < 0)
        return MEND_ERR_CONFIG;
    o->delta = (mend_delta)d;
    o->memory_tight = t;
    return 0;
}

static int read_defaults(mend_store_options *o)
{
    mend_config c;
    int rc = mend_config_load(&c, NULL);
    if (rc)
        return rc;
    *o = (mend_store_options){
        .size = sizeof *o,
        .local_dir = keep_text(text_of(&c, MEND_KEY_STORE_LOCAL)),
        .global_dir = keep_text(text_of(&c, MEND_KEY_STORE_GLOBAL)),
        .domain = keep_text(text_of(&c, MEND_KEY_STORE_DOMAIN)),
        .topology = keep_text(text_of(&c, MEND_KEY_STORE_TOPOLOGY)),
        .sync = mend_config_boolean(&c, MEND_KEY_STORE_SYNC),
        .copy_on_write = mend_config_boolean(&c, MEND_KEY_STORE_COPY_ON_WRITE),
        .erasure_k = (int)mend_config_integer(&c, MEND_KEY_STORE_ERASURE_K),
        .erasure_m = (int)mend_config_integer(&c, MEND_KEY_STORE_ERASURE_M),
        .global_files = (int)mend_config_integer(&c, MEND_KEY_STORE_GLOBAL_FILES),
        .delta_chain = (int)mend_config_integer(&c, MEND_KEY_STORE_DELTA_CHAIN),
        .block = (size_t)mend_config_bytes(&c, MEND_KEY_STORE_BLOCK),
        .buffers = (int)mend_config_integer(&c, MEND_KEY_STORE_BUFFERS),
        .bandwidth = (size_t)mend_config_bytes(&c, MEND_KEY_STORE_BANDWIDTH),
        .max_stall = mend_config_seconds(&c, MEND_KEY_STORE_MAX_STALL),
    };
    static const enum mend_config_key every[] = {
        MEND_KEY_STORE_MEMORY_EVERY, MEND_KEY_STORE_LOCAL_EVERY, MEND_KEY_STORE_PARTNER_EVERY,
        MEND_KEY_STORE_ERASURE_EVERY, MEND_KEY_STORE_GLOBAL_EVERY};
    static const enum mend_config_key keep[] = {
        MEND_KEY_STORE_MEMORY_KEEP, MEND_KEY_STORE_LOCAL_KEEP, MEND_KEY_STORE_PARTNER_KEEP,
        MEND_KEY_STORE_ERASURE_KEEP, MEND_KEY_STORE_GLOBAL_KEEP};
    for (int i = 0; i < MEND_LEVEL_COUNT; i++) {
        o->level[i].every = (int)mend_config_integer(&c, every[i]);
        o->level[i].keep = (int)mend_config_integer(&c, keep[i]);
    }
    o->level[MEND_LEVEL_LOCAL].compress =
        (int)mend_config_integer(&c, MEND_KEY_STORE_LOCAL_COMPRESS);
    o->level[MEND_LEVEL_GLOBAL].compress =
        (int)mend_config_integer(&c, MEND_KEY_STORE_GLOBAL_COMPRESS);
    rc = parse_words(&c, o);
    mend_config_free(&c);
    return rc;
}

int mend_store_defaults_sized(mend_store_options *options, size_t size)
{
    mend_store_options own;
    if (!options)
        return mend_fail(MEND_ERR_ARGUMENT, "no place for the options (NULL)");
    int rc = read_defaults(&own);
    if (rc == 0) {
        own.size = size;
        mend_result_give(options, size, &own, sizeof own);
    }
    return rc;
}

/* -1: use a level where it is possible. */
static void resolve_levels(mend_store *store)
{
    mend_level_options *level = store->options.level;
    if (level[MEND_LEVEL_MEMORY].every < 0)
        level[MEND_LEVEL_MEMORY].every = store->size > 1;
    if (level[MEND_LEVEL_LOCAL].every < 0)
        level[MEND_LEVEL_LOCAL].every = store->local_dir != NULL;
    if (level[MEND_LEVEL_GLOBAL].every < 0)
        level[MEND_LEVEL_GLOBAL].every =
            store->global_dir ? (store->local_dir || store->size > 1 ? 10 : 1) : 0;
    store->levels = 0;
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        if (level[i].every > 0)
            store->levels |= MEND_LEVEL_BIT(i);
}

int options_check(mend_store *store)
{
    const mend_store_options *o = &store->options;
    resolve_levels(store);
    if ((store->levels & LEVELS_OWN_FILE) && !store->local_dir)
        return mend_fail(MEND_ERR_CONFIG,
                         "the levels local, partner and erasure need a local folder");
    if ((store->levels & MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL)) && !store->global_dir)
        return mend_fail(MEND_ERR_CONFIG, "the level global needs a global folder");
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        if (o->level[i].every < 0 || (o->level[i].every && o->level[i].keep < 1) ||
            o->level[i].compress < 0 || o->level[i].compress > 19)
            return mend_fail(MEND_ERR_CONFIG, "level %s: every %d, keep %d, compress %d", names[i],
                             o->level[i].every, o->level[i].keep, o->level[i].compress);
    if (o->block < MEND_IMAGE_BLOCK_MIN || o->block > MEND_IMAGE_BLOCK_MAX ||
        (o->block & (o->block - 1)))
        return mend_fail(MEND_ERR_CONFIG,
                         "blocks of %zu bytes: a power of two from 4 KiB to 16 MiB is needed",
                         o->block);
    if (o->copy_on_write && o->delta == MEND_DELTA_PAGES)
        return mend_fail(MEND_ERR_CONFIG, "copy_on_write and delta = pages would watch the same "
                                          "pages: choose one of them");
    if (o->buffers < 1 || o->global_files < 0 || o->delta_chain < 0 || o->max_stall < 0 ||
        o->erasure_k < 1 || o->erasure_m < 0 || o->erasure_k + o->erasure_m > GROUP_MAX ||
        (int)o->delta < 0 || o->delta > MEND_DELTA_PAGES)
        return mend_fail(
            MEND_ERR_CONFIG,
            "buffers %d, global_files %d, delta_chain %d, max_stall %g, erasure %d+%d (at most %d)",
            o->buffers, o->global_files, o->delta_chain, o->max_stall, o->erasure_k, o->erasure_m,
            GROUP_MAX);
    if ((store->levels & MEND_LEVEL_BIT(MEND_LEVEL_ERASURE)) && o->erasure_m < 1)
        return mend_fail(MEND_ERR_CONFIG, "the level erasure needs erasure_m of at least 1");
    return 0;
}

static int copy_text(const char *from, char **to)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? mend_fail(MEND_ERR_NO_MEMORY, "no memory for options") : 0;
}

int options_take(mend_store *store, const mend_store_options *options)
{
    int rc = 0;
    if (options && options->size < sizeof options->size)
        return mend_fail(MEND_ERR_ARGUMENT, "the options were not filled by mend_store_defaults()");
    if (options)
        rc = mend_options_take(&store->options, sizeof store->options, options, options->size,
                               "mend_store_options");
    else
        rc = mend_store_defaults(&store->options);
    if (rc == 0)
        rc = copy_text(store->options.local_dir, &store->local_dir);
    if (rc == 0)
        rc = copy_text(store->options.global_dir, &store->global_dir);
    if (rc == 0)
        rc = copy_text(store->options.domain, &store->domain);
    if (rc == 0)
        rc = copy_text(store->options.topology, &store->topology);
    return rc;
}

int domain_of(mend_store *store, char domain[DOMAIN_SIZE])
{
    memset(domain, 0, DOMAIN_SIZE);
    if (store->domain && strlen(store->domain) >= DOMAIN_SIZE)
        return mend_fail(MEND_ERR_ARGUMENT, "the failure domain has more than %d bytes: %s",
                         DOMAIN_SIZE - 1, store->domain);
    if (store->domain)
        strcpy(domain, store->domain);
    else if (store->topology)
        return placement_domain_from_file(store->topology, store->rank, domain);
    else if (gethostname(domain, DOMAIN_SIZE - 1) != 0)
        return mend_fail_errno("this host has no name");
    return 0;
}
