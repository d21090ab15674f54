/* faces/empty.c - a library that only carries a second soname and needs the first one. */
typedef int face_empty;
