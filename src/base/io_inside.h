/* What the files of base/io share. */
#ifndef BASE_IO_INSIDE_H
#define BASE_IO_INSIDE_H

/* Where to look up `path`: if its folder is pinned, the folder's descriptor, and the rest in
 * *name; else AT_FDCWD and the path itself. -1 with errno ESTALE: the pinned folder is another one
 * now. */
int mend_io_at(const char *path, const char **name);
/* The same for a folder itself: *name is "." for a pinned one. */
int mend_io_at_folder(const char *path, const char **name);
/* Like mend_io_open_folder, for `name` in the folder `at`; `path` is for messages. */
int mend_io_open_folder_at(int at, const char *name, const char *path, int *fd);

#endif
