#include <base/fail.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char text[1024];

int(mend_fail)(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return code;
}

static int code_of_errno(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT: return MEND_ERR_FULL;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP: return MEND_ERR_PERMISSION;
    case ENOENT:
    case ENOTDIR: return MEND_ERR_NOT_FOUND;
    case EEXIST: return MEND_ERR_EXISTS;
    case ENOMEM: return MEND_ERR_NO_MEMORY;
    default: return MEND_ERR_IO;
    }
}

int(mend_fail_errno)(const char *format, ...)
{
    int error = errno;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, ": %s", strerror(error));
    errno = error;
    return code_of_errno(error);
}

int(mend_fail_within)(int code, const char *format, ...)
{
    char inner[sizeof text];
    memcpy(inner, text, sizeof inner);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, ": %s", inner);
    return code;
}

const char *mend_error_text(void)
{
    return text;
}

const char *mend_error_name(int code)
{
    switch (code) {
#define NAME_CASE(name, value, sentence) \
    case value: return "MEND_" #name;
        MEND_ERROR_TABLE(NAME_CASE)
#undef NAME_CASE
    }
    return "MEND_ERR_UNKNOWN";
}

const char *mend_error_sentence(int code)
{
    switch (code) {
#define SENTENCE_CASE(name, value, sentence) \
    case value: return sentence;
        MEND_ERROR_TABLE(SENTENCE_CASE)
#undef SENTENCE_CASE
    }
    return "this is not a code of Mend";
}

const char *mend_version_text(void)
{
#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)
    return VALUE_OF(MEND_VERSION_MAJOR) "." VALUE_OF(MEND_VERSION_MINOR) "." VALUE_OF(
        MEND_VERSION_PATCH);
}
