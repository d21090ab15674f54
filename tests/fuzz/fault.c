/* The text of MEND_FAULT: any text is taken or refused with a sentence; kills are not carried out
 * here. */
#include <base/config.h>
#include <base/fail.h>
#include <base/fault.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    int code = mend_fault_configure(text);
    if (code != MEND_OK && (code != MEND_ERR_CONFIG || mend_fault_armed || !mend_error_text()[0]))
        abort();
    double seconds;
    unsigned long long bytes;
    long integer;
    bool boolean;
    if (mend_parse_seconds(text, &seconds) == MEND_OK && !(seconds >= 0))
        abort();
    if (mend_parse_bytes(text, &bytes) == MEND_OK && bytes > (1ull << 63))
        abort();
    mend_parse_integer(text, &integer);
    mend_parse_boolean(text, &boolean);
    mend_fault_configure(NULL);
    free(text);
    return 0;
}
