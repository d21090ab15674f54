#include <base/fail.h>
#include <base/grow.h>

#include <string.h>

int mend_options_take(void *own, size_t own_size, const void *given, size_t size, const char *name)
{
    memset(own, 0, own_size);
    if (!given)
        return MEND_OK;
    if (size == 0)
        return mend_fail(MEND_ERR_ARGUMENT, "%s: the field size is 0", name);
    const unsigned char *bytes = given;
    for (size_t i = own_size; i < size; i++)
        if (bytes[i])
            return mend_fail(MEND_ERR_UNSUPPORTED,
                             "%s: byte %zu is set, but this library knows only %zu bytes: the "
                             "program was built for a newer Mend",
                             name, i, own_size);
    memcpy(own, given, size < own_size ? size : own_size);
    return MEND_OK;
}

void mend_result_give(void *given, size_t size, const void *own, size_t own_size)
{
    memcpy(given, own, size < own_size ? size : own_size);
    if (size > own_size)
        memset((char *)given + own_size, 0, size - own_size);
}

int mend_size_same(const char *name, size_t size, size_t own_size)
{
    if (size == own_size)
        return MEND_OK;
    return mend_fail(MEND_ERR_UNSUPPORTED,
                     "%s has %zu bytes in the program and %zu in this library: build the program "
                     "with the headers of this Mend",
                     name, size, own_size);
}
