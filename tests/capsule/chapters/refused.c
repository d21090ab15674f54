/* What the capsule does not carry: an error that names the function, never a crash. Run only inside the capsule. */
#include "chapter.h"

#define REFUSED(call)                                                         \
    do {                                                                      \
        int rc_ = (call), class_ = 0;                                         \
        MPI_Error_class(rc_, &class_);                                        \
        CHECK(rc_ != MPI_SUCCESS && class_ == MPI_ERR_UNSUPPORTED_OPERATION); \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Comm c;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors without an object */
    REFUSED(MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c,
                           MPI_ERRCODES_IGNORE));
    REFUSED(MPI_Open_port(MPI_INFO_NULL, port));
    REFUSED(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c));
    REFUSED(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c));
    REFUSED(MPI_Comm_join(0, &c));
    REFUSED(MPI_Register_datarep("mine", NULL, NULL, NULL, NULL));
    rounds = 1;
    return chapter_end("refused");
}
