/* env.c - the environment: what is asked of it, memory, error classes of the program's own, info, handles of Fortran. */
#include "conform.h"

static void asked(void)
{
    int flag = -1, level = -1, version = -1, sub = -1, n = -1, x = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Aint at = 0;
    CALL(MPI_Initialized(&flag));
    say("%d", flag);
    CALL(MPI_Finalized(&flag));
    say("%d", flag);
    CALL(MPI_Query_thread(&level));
    say("level %d", level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED ||
                        level == MPI_THREAD_SERIALIZED || level == MPI_THREAD_MULTIPLE);
    CALL(MPI_Is_thread_main(&flag));
    say("main %d", flag != 0);
    CALL(MPI_Get_version(&version, &sub));
    say("version %d.%d; of the header %d.%d", version, sub, MPI_VERSION, MPI_SUBVERSION);
    CALL(MPI_Get_library_version(text, &n));
    say("%d characters: %s", n == (int)strlen(text) || n == (int)strlen(text) + 1, text);
    CALL(MPI_Get_processor_name(text, &n));
    say("%d characters", n == (int)strlen(text));
    CALL(MPI_Get_address(&x, &at));
    say("%d", (void *)at == (void *)&x);
    say("difference %ld", (long)MPI_Aint_diff(MPI_Aint_add(at, 24), at));
    say("%d %d", MPI_Wtime() > 0, MPI_Wtick() > 0);
    CALL(MPI_Pcontrol(1));
    CALL(MPI_Pcontrol(7, "anything", 3));
}

static void memory(void)
{
    int *p = NULL, n = -1;
    char *back = NULL;
    static char buffer[4096];
    CALL(MPI_Alloc_mem(64, MPI_INFO_NULL, &p));
    p[15] = 1;
    CALL(MPI_Free_mem(p));
    p = NULL;
    CALL(MPI_Alloc_mem(0, MPI_INFO_NULL, &p));
    CALL(MPI_Free_mem(p));
    FAILS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &p));
    CALL(MPI_Buffer_attach(buffer, sizeof buffer));
    FAILS(MPI_Buffer_attach(buffer, sizeof buffer));
    CALL(MPI_Buffer_detach(&back, &n));
    say("ours %d, %d bytes", back == buffer, n);
}

static void codes(void)
{
    int class = 0, code = 0, other = 0, of = -1, n = -1, *last = NULL, flag = -1;
    char text[MPI_MAX_ERROR_STRING] = "";
    CALL(MPI_Add_error_class(&class));
    CALL(MPI_Add_error_code(class, &code));
    CALL(MPI_Add_error_code(MPI_ERR_ARG, &other));
    CALL(MPI_Add_error_string(class, "a class of ours"));
    CALL(MPI_Add_error_string(code, "a code of ours"));
    CALL(MPI_Error_string(class, text, &n));
    say("%d %s", n, text);
    CALL(MPI_Error_string(code, text, &n));
    say("%d %s", n, text);
    CALL(MPI_Error_class(code, &of));
    say("of it %d", of == class);
    CALL(MPI_Error_class(other, &of));
    say("of it %d", of == MPI_ERR_ARG);
    CALL(MPI_Error_string(MPI_SUCCESS, text, &n));
    say("%d %s", n, text);
#ifdef OPEN_MPI /* MPICH looks behind its objects */
    FAILS(MPI_Add_error_string(MPI_ERR_ARG, "not ours"));
    FAILS(MPI_Error_class(-12345, &of));
    FAILS(MPI_Error_string(-12345, text, &n));
#endif
    CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    say("last used %d", flag && *last > 0); /* MPICH counts classes only */
    say("beyond the library's %d %d", *last >= MPI_ERR_LASTCODE, class > MPI_ERR_LASTCODE);
#ifdef MPICH
    FAILS(MPI_Remove_error_class(class)); /* it has a code */
    FAILS(MPI_Remove_error_code(class));
    CALL(MPI_Remove_error_string(code));
    CALL(MPI_Remove_error_code(code));
    CALL(MPI_Remove_error_string(class));
    CALL(MPI_Remove_error_class(class));
    CALL(MPI_Remove_error_code(other));
#endif
#define ERROR_CLASS(name, value, ...)               \
    if (name <= MPI_ERR_LASTCODE) {                 \
        int class_ = -1;                            \
        MPI_Error_class(name, &class_);             \
        MPI_Error_string(name, text, &n);           \
        say(#name " %d: %s", class_ == name, text); \
    }
#include "table/errors.def"
#undef ERROR_CLASS
}

/* How the job was started. Here a shell starts it natively: that command is not told. */
static void started(const char *what, MPI_Info env)
{
    static const char *const keys[] = {"command", "argv", "maxprocs",     "soft",
                                       "host",    "arch", "thread_level", "file"};
    char word[MPI_MAX_INFO_VAL + 1];
    int flag = -1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        MPI_Info_get(env, keys[i], MPI_MAX_INFO_VAL, word, &flag);
        say("%s: %s %s", what, keys[i], !flag ? "is not there" : i < 2 ? "is there" : word);
    }
}
static void hints(void)
{
    MPI_Info i, copy;
    int n = -1, flag = -1, length = -1;
    char word[MPI_MAX_INFO_VAL + 1] = "", key[MPI_MAX_INFO_KEY + 1] = "";
    CALL(MPI_Info_create(&i));
    CALL(MPI_Info_set(i, "colour", "green"));
    CALL(MPI_Info_set(i, "size", "12"));
    CALL(MPI_Info_get_valuelen(i, "colour", &length, &flag));
    say("%d %d", length, flag);
    length = UNTOUCHED;
    CALL(MPI_Info_get_valuelen(i, "none", &length, &flag));
    say("%d %d", length, flag);
    CALL(MPI_Info_get(i, "colour", 3, word, &flag));
    say("%d %s", flag, word);
    CALL(MPI_Info_get_nkeys(i, &n));
    say("%d keys", n);
    CALL(MPI_Info_get_nthkey(i, 1, key));
    say("%s", key);
    FAILS(MPI_Info_get_nthkey(i, 2, key));
    FAILS(MPI_Info_get_nthkey(i, -1, key));
    CALL(MPI_Info_dup(i, &copy));
    CALL(MPI_Info_delete(i, "colour"));
    CALL(MPI_Info_delete(i, "colour"));
    CALL(MPI_Info_get(copy, "colour", MPI_MAX_INFO_VAL, word, &flag));
    say("%d %s", flag, word);
    FAILS(MPI_Info_set(i, "", "x"));
    CALL(MPI_Info_free(&copy));
    say("%s", copy == MPI_INFO_NULL ? "null" : "not null");
    CALL(MPI_Info_free(&copy));
    CALL(MPI_Info_free(&i));
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
    MPI_Info env;
    int room = sizeof word;
    CALL(MPI_Info_create(&i));
    MPI_Info_set(i, "colour", "green");
    CALL(MPI_Info_get_string(i, "colour", &room, word, &flag));
    say("%d %d %s", room, flag, word);
    room = 3;
    CALL(MPI_Info_get_string(i, "colour", &room, word, &flag));
    say("%d %d %s", room, flag, word);
    room = 0;
    CALL(MPI_Info_get_string(i, "colour", &room, NULL, &flag));
    say("%d %d", room, flag);
    MPI_Info_free(&i);
    CALL(MPI_Info_create_env(0, NULL, &env));
    started("created", env);
    MPI_Info_free(&env);
    started("predefined", MPI_INFO_ENV);
#endif
}

/* A handle of each kind goes to Fortran and back. */
#define THERE_AND_BACK(What, Type, handle)                  \
    do {                                                    \
        Type there_ = handle;                               \
        MPI_Fint f_ = MPI_##What##_c2f(there_);             \
        say(#handle " %d", MPI_##What##_f2c(f_) == there_); \
    } while (0)
static void handles(void)
{
    MPI_Win win;
    MPI_Request q;
    MPI_Message m = MPI_MESSAGE_NO_PROC;
    MPI_Status s = FRESH, back = FRESH;
    MPI_Fint f[sizeof(MPI_Status) / sizeof(MPI_Fint) + 2];
    int word = 0, n = -1;
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Irecv(&word, 1, MPI_INT, MPI_PROC_NULL, 0, world, &q);
    THERE_AND_BACK(Comm, MPI_Comm, world);
    THERE_AND_BACK(Comm, MPI_Comm, MPI_COMM_NULL);
    THERE_AND_BACK(Type, MPI_Datatype, MPI_DOUBLE);
    THERE_AND_BACK(Type, MPI_Datatype, MPI_DATATYPE_NULL);
    THERE_AND_BACK(Group, MPI_Group, MPI_GROUP_EMPTY);
    THERE_AND_BACK(Op, MPI_Op, MPI_SUM);
    THERE_AND_BACK(Info, MPI_Info, MPI_INFO_NULL);
    THERE_AND_BACK(Errhandler, MPI_Errhandler, MPI_ERRORS_RETURN);
    THERE_AND_BACK(Win, MPI_Win, win);
    THERE_AND_BACK(Win, MPI_Win, MPI_WIN_NULL);
    THERE_AND_BACK(File, MPI_File, MPI_FILE_NULL);
    THERE_AND_BACK(Request, MPI_Request, MPI_REQUEST_NULL);
    THERE_AND_BACK(Request, MPI_Request, q);
    THERE_AND_BACK(Message, MPI_Message, m);
    MPI_Wait(&q, &s);
    MPI_Win_free(&win);
    MPI_Recv_init(&word, 1, MPI_INT, 0, 0, world, &q);
    MPI_Request_free(&q);
    s.MPI_SOURCE = 3;
    s.MPI_TAG = 4;
    s.MPI_ERROR = 0;
    MPI_Status_set_elements(&s, MPI_INT, 5);
    MPI_Status_set_cancelled(&s, 1);
    CALL(MPI_Status_c2f(&s, f));
    CALL(MPI_Status_f2c(f, &back));
    MPI_Get_count(&back, MPI_INT, &n);
    say_status("through Fortran", 0, &back);
    say("%d", n);
#ifdef OPEN_MPI /* MPICH's are in its library for Fortran */
    MPI_F08_status f08;
    CALL(MPI_Status_c2f08(&s, &f08));
    back = FRESH;
    CALL(MPI_Status_f082c(&f08, &back));
    MPI_Get_count(&back, MPI_INT, &n);
    say_status("through Fortran 2008", 0, &back);
    say("%d", n);
    CALL(MPI_Status_f082f(&f08, f));
    CALL(MPI_Status_f2f08(f, &f08));
    CALL(MPI_Status_f082c(&f08, &back));
    say_status("both ways", 0, &back);
#endif
    CALL(MPI_Test_cancelled(&back, &n));
    say("cancelled %d", n != 0);
}

/* What is deleted by MPI_Finalize: of these the last one first. */
static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    say("deleted %s", (char *)value);
    return MPI_SUCCESS;
}
static int deleted_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)extra;
    say("deleted %s", (char *)value);
    return MPI_SUCCESS;
}
static void left_for_the_end(void)
{
    int first, second, of_type;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &first, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &second, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, deleted_type, &of_type, NULL);
    CALL(MPI_Comm_set_attr(MPI_COMM_SELF, first, "the first of self"));
    CALL(MPI_Comm_set_attr(MPI_COMM_SELF, second, "the second of self"));
    CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, first, "the first of world"));
    CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, second, "the second of world"));
    CALL(MPI_Type_set_attr(MPI_INT, of_type, "that of a type"));
}

void part_env(void)
{
    asked();
    memory();
    codes();
    hints();
    handles();
    left_for_the_end();
}
