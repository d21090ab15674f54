/* A file that is to go away when the program closes it, and not before: not when the job stops after a checkpoint, to be
 * resumed later. */
#include "chapter.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *name = getenv("CHAPTER_FILE");
    MPI_File file;
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    SAME(MPI_File_open(MPI_COMM_WORLD, name,
                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file),
         MPI_SUCCESS);
    int value = 100 + me;
    MPI_File_write_at(file, me * (MPI_Offset)sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    for (int r = 0; chapter_round(&r); r++) {
        for (int i = 0; i < 8; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < ranks; i++) {
            value = -1;
            MPI_File_read_at(file, i * (MPI_Offset)sizeof value, &value, 1, MPI_INT,
                             MPI_STATUS_IGNORE);
            SAME(value, 100 + i);
        }
    }
    CHECK(access(name, F_OK) == 0);
    SAME(MPI_File_close(&file), MPI_SUCCESS);
    CHECK(access(name, F_OK) != 0);
    return chapter_end("vanish");
}
