/* mend run --levels: where to keep versions, and how often. */
#include "run.h"
#include "tool.h"

#include <base/config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* memory, partner[:E], local[:E], erasure:K+M[:E], global[:E], separated by commas; E: every E-th version. */
static int parse_level(struct run_job *job, char *word)
{
    char *part[3] = {word, NULL, NULL}, *rest = word;
    long every = strncmp(word, "global", 6) == 0 ? 5 : 1;
    int n = 0, used = 0;
    for (char *w; n < 3 && (w = strsep(&rest, ":"));)
        part[n++] = w;
    bool erasure = strcmp(word, "erasure") == 0;
    if (erasure &&
        (n < 2 || sscanf(part[1], "%d+%d%n", &job->erasure_k, &job->erasure_m, &used) != 2 ||
         part[1][used] || job->erasure_k < 1 || job->erasure_m < 1))
        return tool_wrong_use("run",
                              "erasure needs its group: erasure:K+M, for example erasure:4+1");
    const char *text = part[erasure ? 2 : 1];
    if (rest || (!erasure && n > 2) ||
        (text && (mend_parse_integer(text, &every) || every < 1 || every > 1000000)))
        return tool_wrong_use("run", "level %s: \"%s\" is not a number of versions", word,
                              text ? text : "");
    if (strcmp(word, "memory") == 0 && every == 1)
        return TOOL_OK;
    if (strcmp(word, "partner") == 0)
        job->partner_every = (int)every;
    else if (strcmp(word, "local") == 0)
        job->local_every = (int)every, job->local_fixed = text != NULL;
    else if (erasure)
        job->erasure_every = (int)every, job->erasure_fixed = text != NULL;
    else if (strcmp(word, "global") == 0)
        job->disk_every = (int)every, job->disk_fixed = text != NULL;
    else
        return tool_wrong_use("run",
                              "level \"%s\" is not memory, partner[:E], local[:E], "
                              "erasure:K+M[:E] or global[:E]",
                              word);
    return TOOL_OK;
}

int run_parse_levels(struct run_job *job, const char *text)
{
    char *copy = tool_need(strdup(text)), *rest = copy;
    int rc = TOOL_OK;
    job->levels = text;
    job->partner_every = job->local_every = job->erasure_every = job->disk_every = 0;
    for (char *w; rc == TOOL_OK && (w = strsep(&rest, ","));)
        rc = parse_level(job, w);
    free(copy);
    return rc;
}
