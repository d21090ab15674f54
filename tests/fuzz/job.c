/* job.json: any text is refused with a sentence that names it, or has a program all of whose words are there; and
 * whatever bytes an argument has, they come back from the file. */
#include "../../tools/mend/jobfile.h"

#include <base/fail.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_any_text(const char *text, size_t size)
{
    json_t *job;
    int rc = jobfile_parse(text, size, "job.json", &job);
    if (rc) {
        if (rc != MEND_ERR_DAMAGED || strncmp(mend_error_text(), "job.json", 8) != 0)
            abort();
        return;
    }
    json_t *program = json_object_get(job, "program");
    if (json_array_size(program) == 0)
        abort();
    for (size_t i = 0; i < json_array_size(program); i++)
        if (!jobfile_text(json_array_get(program, i)))
            abort();
    jobfile_member(job, "folder");
    jobfile_member(job, "hostfile");
    json_decref(job);
}

static void check_bytes_come_back(const char *bytes)
{
    json_t *written = json_pack("{s:[o,s],s:o}", "program", jobfile_bytes(bytes), "second",
                                "folder", jobfile_bytes(bytes)),
           *read;
    char *text = json_dumps(written, JSON_INDENT(2));
    if (!text || jobfile_parse(text, strlen(text), "job.json", &read))
        abort();
    if (strcmp(jobfile_text(json_array_get(json_object_get(read, "program"), 0)), bytes) != 0 ||
        strcmp(jobfile_member(read, "folder"), bytes) != 0)
        abort();
    json_decref(read);
    json_decref(written);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    check_any_text(text, size);
    check_bytes_come_back(text);
    free(text);
    return 0;
}
