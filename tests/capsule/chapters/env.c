/* Chapters 6.7, 8 and 9 of MPI-3.1: attributes with callbacks, error handlers, error codes, info,
 * names, memory, time, threads, and what the deprecated functions say. */
#include "chapter.h"

static int ckey, tkey, wkey, nkey, copies, deletes;
static MPI_Comm holder;
static MPI_Datatype type_holder;
static MPI_Win win;
static MPI_Errhandler comm_h, win_h, file_h;
static int comm_errors, win_errors, file_errors, last_class;
static MPI_Info info;
static int new_class, new_code;

static int copy_comm(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c;
    CHECK(key == ckey && extra == &copies);
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int del_comm(MPI_Comm c, int key, void *val, void *extra)
{
    (void)c;
    (void)val;
    CHECK(key == ckey && extra == &copies);
    deletes++;
    return MPI_SUCCESS;
}
static int copy_type(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
    (void)t;
    (void)extra;
    CHECK(key == tkey);
    *(void **)out = in;
    *flag = 1;
    copies += 10;
    return MPI_SUCCESS;
}
static int del_type(MPI_Datatype t, int key, void *val, void *extra)
{
    (void)t, (void)key, (void)val, (void)extra;
    deletes += 10;
    return MPI_SUCCESS;
}
static int del_win(MPI_Win w, int key, void *val, void *extra)
{
    (void)w, (void)key, (void)val, (void)extra;
    deletes += 100;
    return MPI_SUCCESS;
}
static void on_comm(MPI_Comm *c, int *code, ...)
{
    (void)c;
    MPI_Error_class(*code, &last_class);
    comm_errors++;
}
static void on_win(MPI_Win *w, int *code, ...)
{
    (void)w;
    MPI_Error_class(*code, &last_class);
    win_errors++;
}
static void on_file(MPI_File *f, int *code, ...)
{
    (void)f;
    MPI_Error_class(*code, &last_class);
    file_errors++;
}

static void begin(void)
{
    MPI_Comm_create_keyval(copy_comm, del_comm, &ckey, &copies);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &nkey, NULL);
    MPI_Type_create_keyval(copy_type, del_type, &tkey, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, del_win, &wkey, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &holder);
    MPI_Type_contiguous(3, MPI_INT, &type_holder);
    static int memory[4];
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_set_attr(holder, ckey, (void *)1000);
    MPI_Comm_set_attr(holder, nkey, (void *)5);
    MPI_Type_set_attr(type_holder, tkey, (void *)2000);
    MPI_Win_set_attr(win, wkey, (void *)3000);
    MPI_Comm_create_errhandler(on_comm, &comm_h);
    MPI_Win_create_errhandler(on_win, &win_h);
    MPI_File_create_errhandler(on_file, &file_h);
    MPI_Info_create(&info);
    MPI_Info_set(info, "first", "1");
    MPI_Info_set(info, "second", "two words");
    MPI_Add_error_class(&new_class);
    MPI_Add_error_code(new_class, &new_code);
    MPI_Add_error_string(new_code, "a code of ours");
    MPI_Add_error_string(new_class, "a class of ours");
}

static void attributes(int r)
{
    void *v;
    int flag, c0 = copies, d0 = deletes;
    MPI_Comm twin;
    MPI_Datatype t2;
    MPI_Comm_get_attr(holder, ckey, &v, &flag);
    SAME(flag, 1);
    SAME((long)v, 1000 + r);
    MPI_Comm_dup(holder, &twin);
    SAME(copies - c0, 1);
    MPI_Comm_get_attr(twin, ckey, &v, &flag);
    SAME((long)v, 1001 + r);
    MPI_Comm_get_attr(twin, nkey, &v, &flag);
    SAME(flag, 0);
    MPI_Comm_delete_attr(twin, ckey);
    SAME(deletes - d0, 1);
    MPI_Comm_get_attr(twin, ckey, &v, &flag);
    SAME(flag, 0);
    MPI_Comm_set_attr(twin, ckey, (void *)7);
    MPI_Comm_set_attr(twin, ckey, (void *)8); /* deletes the old one */
    SAME(deletes - d0, 2);
    MPI_Comm_free(&twin);
    SAME(deletes - d0, 3);
    MPI_Comm_set_attr(holder, ckey, (void *)(1001L + r));
    MPI_Type_get_attr(type_holder, tkey, &v, &flag);
    SAME((long)v, 2000);
    MPI_Type_dup(type_holder, &t2);
    MPI_Type_get_attr(t2, tkey, &v, &flag);
    SAME(flag, 1);
    MPI_Type_delete_attr(t2, tkey);
    MPI_Type_set_attr(t2, tkey, NULL);
    MPI_Type_free(&t2);
    MPI_Win_get_attr(win, wkey, &v, &flag);
    SAME((long)v, 3000);
    MPI_Win_delete_attr(win, wkey);
    MPI_Win_set_attr(win, wkey, (void *)3000);
    SAME(deletes - d0, 4 + 20 + 100);
    int *ub;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag);
    CHECK(flag && *ub >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &ub, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &ub, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &ub, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &ub, &flag);
    CHECK(flag);
    void *base;
    MPI_Aint *size;
    int *unit, *flavor, *model;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    SAME(*size, 4 * sizeof(int));
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    SAME(*unit, sizeof(int));
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    SAME(*flavor == MPI_WIN_FLAVOR_CREATE, 1);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    CHECK(*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE);
}

static int class_of(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    return class;
}

/* Wrong calls between right ones: a library may trust the next call no more because the last one was right. */
static void wrong_after_right(void)
{
    int out[2] = {3, 4}, in = 0;
    MPI_Request q, late;
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&in, 1, MPI_INT, me, 11, holder, &q);
        SAME(MPI_Send(out, 1, MPI_INT, me, 11, holder), 0);
        SAME(MPI_Wait(&q, MPI_STATUS_IGNORE), 0);
        SAME(in, 3);
        in = 0;
        SAME(class_of(MPI_Send(out, -1, MPI_INT, me, 11, holder)), MPI_ERR_COUNT);
        SAME(class_of(MPI_Send(out, 1, MPI_INT, me, -5, holder)), MPI_ERR_TAG);
        SAME(class_of(MPI_Send(NULL, 1, MPI_INT, me, 11, holder)), MPI_ERR_BUFFER);
        SAME(class_of(MPI_Isend(out, 1, MPI_DATATYPE_NULL, me, 11, holder, &q)), MPI_ERR_TYPE);
        SAME(class_of(MPI_Isend(out, -1, MPI_INT, me, 11, holder, &q)), MPI_ERR_COUNT);
        /* too long, where nobody wants the status: it is there already, or comes while we wait */
        MPI_Isend(out, 2, MPI_INT, me, 12, holder, &q);
        SAME(class_of(MPI_Recv(&in, 1, MPI_INT, me, 12, holder, MPI_STATUS_IGNORE)),
             MPI_ERR_TRUNCATE);
        SAME(MPI_Wait(&q, MPI_STATUS_IGNORE), 0);
        MPI_Irecv(&in, 1, MPI_INT, (me + ranks - 1) % ranks, 13, holder, &late);
        MPI_Isend(out, 2, MPI_INT, (me + 1) % ranks, 13, holder, &q);
        SAME(class_of(MPI_Wait(&late, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
        SAME(MPI_Wait(&q, MPI_STATUS_IGNORE), 0);
        in = 0;
        MPI_Isend(out + 1, 1, MPI_INT, me, 14, holder, &q);
        SAME(MPI_Recv(&in, 1, MPI_INT, me, 14, holder, MPI_STATUS_IGNORE), 0);
        SAME(MPI_Wait(&q, MPI_STATUS_IGNORE), 0);
        SAME(in, 4);
    }
}

static void errors(int r)
{
    MPI_Errhandler h;
    int buf = 0, class, len, e0 = comm_errors;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_set_errhandler(holder, comm_h);
    MPI_Comm_get_errhandler(holder, &h);
    CHECK(h == comm_h);
    MPI_Errhandler_free(&h);
    int rc = MPI_Send(&buf, 1, MPI_INT, ranks + 5, 0, holder);
    CHECK(rc != MPI_SUCCESS);
    MPI_Error_class(rc, &class);
    SAME(class == MPI_ERR_RANK, 1);
    SAME(comm_errors - e0, 1);
    SAME(last_class == MPI_ERR_RANK, 1);
    MPI_Comm_call_errhandler(holder, new_code);
    SAME(comm_errors - e0, 2);
    CHECK(last_class == new_class);
    MPI_Comm_set_errhandler(holder, MPI_ERRORS_RETURN);
    rc = MPI_Send(&buf, -1, MPI_INT, 0, 0, holder);
    MPI_Error_class(rc, &class);
    SAME(class == MPI_ERR_COUNT, 1);
    MPI_Error_string(rc, text, &len);
    CHECK(len > 0 && len == (int)strlen(text));
    /* a message too long for its buffer */
    int two[2] = {1, 2}, one;
    MPI_Request q;
    MPI_Status st;
    MPI_Isend(two, 2, MPI_INT, me, 9, holder, &q);
    rc = MPI_Recv(&one, 1, MPI_INT, me, 9, holder, &st);
    MPI_Error_class(rc, &class);
    SAME(class == MPI_ERR_TRUNCATE, 1);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    wrong_after_right();
    MPI_Win_set_errhandler(win, win_h);
    MPI_Win_get_errhandler(win, &h);
    CHECK(h == win_h);
    MPI_Errhandler_free(&h);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    SAME(win_errors, r + 1);
    MPI_File_set_errhandler(MPI_FILE_NULL, file_h);
    MPI_File_get_errhandler(MPI_FILE_NULL, &h);
    CHECK(h == file_h);
    MPI_Errhandler_free(&h);
    MPI_File f;
    rc = MPI_File_open(MPI_COMM_SELF, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    MPI_Error_class(rc, &class);
    SAME(class == MPI_ERR_NO_SUCH_FILE, 1);
    SAME(file_errors, r + 1);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Error_string(new_code, text, &len);
    SAME(strcmp(text, "a code of ours"), 0);
    MPI_Error_class(new_code, &class);
    CHECK(class == new_class);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &len);
    CHECK(strlen(text) > 4);
}

static void info_things(void)
{
    MPI_Info two;
    int n, flag, len;
    char key[MPI_MAX_INFO_KEY], v[MPI_MAX_INFO_VAL];
    MPI_Info_get_nkeys(info, &n);
    SAME(n, 2);
    MPI_Info_get_nthkey(info, 1, key);
    SAME(strcmp(key, "second"), 0);
    MPI_Info_get_valuelen(info, "second", &len, &flag);
    SAME(len, 9);
    MPI_Info_get(info, "second", sizeof v - 1, v, &flag);
    SAME(strcmp(v, "two words"), 0);
    int size = 4;
    MPI_Info_get_string(info, "second", &size, v, &flag);
    SAME(strcmp(v, "two"), 0);
    SAME(size, 10);
    MPI_Info_dup(info, &two);
    MPI_Info_set(two, "first", "other");
    MPI_Info_delete(two, "second");
    MPI_Info_get_nkeys(two, &n);
    SAME(n, 1);
    MPI_Info_get(info, "first", sizeof v - 1, v, &flag);
    SAME(strcmp(v, "1"), 0);
    MPI_Info_free(&two);
    CHECK(two == MPI_INFO_NULL);
    MPI_Info_create_env(0, NULL, &two);
    MPI_Info_free(&two);
    MPI_Info_get(MPI_INFO_ENV, "no such", sizeof v - 1, v, &flag);
    SAME(flag, 0);
}

static void *kept_memory;
static void other(int r)
{
    char name[MPI_MAX_PROCESSOR_NAME], lib[MPI_MAX_LIBRARY_VERSION_STRING];
    int len, v, s, flag, level;
    MPI_Get_processor_name(name, &len);
    CHECK(len == (int)strlen(name) && len > 0);
    MPI_Get_library_version(lib, &len);
    CHECK(len > 0 && len < (int)sizeof lib);
    MPI_Get_version(&v, &s);
    CHECK(v >= 3);
    MPI_Initialized(&flag);
    SAME(flag, 1);
    MPI_Finalized(&flag);
    SAME(flag, 0);
    MPI_Query_thread(&level);
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&flag);
    SAME(flag, 1);
    double t0 = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1);
    static double before;
    CHECK(t0 >= before);
    before = t0;
    MPI_Pcontrol(r % 3);
    long *mem;
    MPI_Alloc_mem(4096 * sizeof(long), MPI_INFO_NULL, &mem);
    for (int i = 0; i < 4096; i++)
        mem[i] = i;
    if (kept_memory) {
        SAME(((long *)kept_memory)[4095], 4095);
        MPI_Free_mem(kept_memory);
    }
    kept_memory = mem;
}

int main(int argc, char **argv)
{
    int provided, at_exit_key;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    chapter_begin(argc, argv);
    CHECK(provided >= MPI_THREAD_SINGLE);
    begin();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &at_exit_key, NULL);
    for (int r = 0; chapter_round(&r); r++) {
        attributes(r);
        errors(r);
        info_things();
        other(r);
    }
    MPI_Free_mem(kept_memory);
    MPI_Comm_free_keyval(&at_exit_key);
    CHECK(at_exit_key == MPI_KEYVAL_INVALID);
    MPI_Comm_free_keyval(&ckey); /* still attached: lives on until its last use */
    int d0 = deletes;
    MPI_Win_free(&win);
    SAME(deletes - d0, 100);
    ckey = -1;
    MPI_Comm_free_keyval(&nkey);
    MPI_Win_free_keyval(&wkey);
    MPI_Type_free(&type_holder);
    MPI_Type_free_keyval(&tkey);
    MPI_Errhandler_free(&comm_h);
    MPI_Errhandler_free(&win_h);
    MPI_Errhandler_free(&file_h);
    MPI_Info_free(&info);
    return chapter_end("env");
}
