/* Mend: errors.
 *
 * Every function of the library returns 0 or a positive result on success and one of the negative
 * codes below on failure, unless its description says otherwise. The library never prints to
 * stdout, never exits, and never calls MPI_Abort unless you chose that policy. mend_error_text()
 * returns a message with the facts.
 */
#ifndef MEND_ERROR_H
#define MEND_ERROR_H

#include <mend/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEND_API __attribute__((visibility("default")))

/* name, value, sentence. Values are part of the ABI: add rows, never renumber. */
#define MEND_ERROR_TABLE(X)                                                                \
    X(OK, 0, "no error")                                                                   \
    /* any layer */                                                                        \
    X(ERR_ARGUMENT, -1, "an argument is not valid")                                        \
    X(ERR_STATE, -2, "the call is not allowed now")                                        \
    X(ERR_NO_MEMORY, -3, "not enough memory")                                              \
    X(ERR_IO, -4, "an input or output operation failed")                                   \
    X(ERR_FULL, -5, "the storage is full")                                                 \
    X(ERR_NOT_FOUND, -6, "it does not exist")                                              \
    X(ERR_EXISTS, -7, "it exists already")                                                 \
    X(ERR_PERMISSION, -8, "the file belongs to another user or may not be used")           \
    X(ERR_CONFIG, -9, "the configuration is not valid")                                    \
    X(ERR_UNSUPPORTED, -10, "this case is not supported")                                  \
    X(ERR_CANCELLED, -11, "the operation was cancelled")                                   \
    X(ERR_TIMEOUT, -12, "the operation did not end in time")                               \
    X(ERR_THREAD, -13, "the call came from a thread or a handler where it is not allowed") \
    X(ERR_INTERNAL, -14, "an internal assumption does not hold")                           \
    X(ERR_DEVICE, -15, "a GPU or its driver failed")                                       \
    /* image and code */                                                                   \
    X(ERR_FORMAT, -30, "the file is not an image of this kind or version")                 \
    X(ERR_DAMAGED, -31, "the file is damaged")                                             \
    X(ERR_TRUNCATED, -32, "the file is shorter than it should be")                         \
    X(ERR_LOST, -33, "too many parts are lost to rebuild the data")                        \
    X(ERR_ARCHITECTURE, -34, "the image belongs to another processor or program")          \
    /* process */                                                                          \
    X(ERR_MPI, -50, "an MPI call failed")                                                  \
    X(ERR_NO_ULFM, -51, "this MPI library has no fault tolerance (ULFM)")                  \
    X(ERR_PEER_FAILED, -52, "a process of the job died")                                   \
    X(ERR_NO_SPARES, -53, "no spare process is left and no other repair is allowed")       \
    X(ERR_STOPPED, -54, "the job was stopped by agreement")                                \
    X(ERR_HUNG, -55, "a process did not answer in time")                                   \
    /* store */                                                                            \
    X(ERR_VERSION, -70, "the version number is not valid here")                            \
    X(ERR_NO_VERSION, -71, "no version can be restored by all ranks")                      \
    X(ERR_RANK_COUNT, -72, "the number of ranks differs from that of the saved version")   \
    X(ERR_REGION, -73, "the region is not known or has another size")                      \
    X(ERR_DEGRADED, -74, "saved, but not at every requested level")                        \
    X(ERR_BUSY, -75, "saves in progress still need every copy")                            \
    X(ERR_NOT_SAVED, -76, "the version was not saved at any level")                        \
    X(ERR_SIZE, -77, "the saved region has another length")                                \
    X(ERR_STREAM, -78, "a stream did not deliver what it announced")                       \
    /* plan */                                                                             \
    X(ERR_INFEASIBLE, -90, "failures come faster than the work can be saved and restored") \
    X(ERR_NOT_CONVERGED, -91, "the iteration did not converge")                            \
    /* flow */                                                                             \
    X(ERR_VIEW, -110, "the view is not valid or differs from the saved one")               \
    X(ERR_PROGRAM, -111, "the program differs from the one that was saved")

enum mend_error {
#define MEND_ERROR_ENUM(name, value, sentence) MEND_##name = value,
    MEND_ERROR_TABLE(MEND_ERROR_ENUM)
#undef MEND_ERROR_ENUM
};

/* The code's name ("MEND_ERR_IO") and its general description; never NULL. Not collective. No
 * errors. */
MEND_API const char *mend_error_name(int code);
MEND_API const char *mend_error_sentence(int code);

/* The last failure of this thread, with its facts (path, rank, errno). Valid until the next
 * failing call of this thread; "" if none. Not collective. No errors. */
MEND_API const char *mend_error_text(void);

/* The library's version, as "major.minor.patch"; that of the headers is in mend/version.h. Not
 * collective. No errors. */
MEND_API const char *mend_version_text(void);

#ifdef __cplusplus
}
#endif
#endif
