/* Chapter 14 of MPI-3.1: the tools interface. What it shows is the library's own; here only that it hangs together. A handle
 * may become invalid (after a restart the library is another one): then it is made anew. */
#include "chapter.h"

static MPI_T_cvar_handle kept;
static int kept_index = -1;

static void control(void)
{
    int n = 0;
    CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n >= 0);
    for (int i = 0; i < n && i < 40; i++) {
        char name[512], desc[4096];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, bind, scope, back = -1,
            count;
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_cvar_handle h;
        int rc = MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &names, desc, &desc_len,
                                     &bind, &scope);
        if (rc != MPI_SUCCESS)
            continue; /* a hole in the numbering */
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        if (MPI_T_cvar_get_index(name, &back) == MPI_SUCCESS)
            CHECK(back == i);
        if (names != MPI_T_ENUM_NULL) {
            int items = 0, value;
            name_len = sizeof name;
            CHECK(MPI_T_enum_get_info(names, &items, name, &name_len) == MPI_SUCCESS);
            name_len = sizeof name;
            if (items > 0)
                CHECK(MPI_T_enum_get_item(names, 0, &value, name, &name_len) == MPI_SUCCESS);
        }
        if (bind != MPI_T_BIND_NO_OBJECT || type != MPI_INT)
            continue;
        CHECK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count) == MPI_SUCCESS && count >= 1);
        if (count == 1) {
            int value;
            CHECK(MPI_T_cvar_read(h, &value) == MPI_SUCCESS);
            if (kept_index < 0) {
                kept_index = i;
                MPI_T_cvar_handle_alloc(i, NULL, &kept, &count);
            }
        }
        CHECK(MPI_T_cvar_handle_free(&h) == MPI_SUCCESS && h == MPI_T_CVAR_HANDLE_NULL);
    }
}
static void keep(void)
{
    int value, count;
    if (kept_index < 0)
        return;
    int rc = MPI_T_cvar_read(kept, &value);
    if (rc == MPI_T_ERR_INVALID_HANDLE) {
        MPI_T_cvar_handle_free(&kept);
        kept_index = -1; /* the numbers belong to the library, too */
        return;
    }
    CHECK(rc == MPI_SUCCESS);
    (void)count;
}
static void performance(void)
{
    int n = 0, cats = 0, stamp;
    MPI_T_pvar_session s;
    CHECK(MPI_T_pvar_get_num(&n) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_create(&s) == MPI_SUCCESS);
    for (int i = 0; i < n && i < 40; i++) {
        char name[512], desc[4096];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, class, bind, readonly,
            continuous, atomic, back;
        MPI_Datatype type;
        MPI_T_enum names;
        int rc = MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &names, desc,
                                     &desc_len, &bind, &readonly, &continuous, &atomic);
        if (rc != MPI_SUCCESS)
            continue;
        if (!strncmp(name, "mtl_psm2_", 9))
            continue; /* Open MPI itself dies where that network is not in use */
        if (MPI_T_pvar_get_index(name, class, &back) == MPI_SUCCESS)
            CHECK(back == i);
        if (bind == MPI_T_BIND_NO_OBJECT) {
            MPI_T_pvar_handle h;
            int count;
            if (MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count) != MPI_SUCCESS)
                continue;
            if (!continuous) {
                MPI_T_pvar_start(s, h);
                MPI_T_pvar_stop(s, h);
            }
            char value[4096];
            if (count <= 64)
                MPI_T_pvar_read(s, h, value);
            CHECK(MPI_T_pvar_handle_free(s, &h) == MPI_SUCCESS);
        }
    }
    CHECK(MPI_T_pvar_session_free(&s) == MPI_SUCCESS && s == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_category_get_num(&cats) == MPI_SUCCESS);
    for (int i = 0; i < cats && i < 20; i++) {
        char name[512], desc[4096];
        int name_len = sizeof name, desc_len = sizeof desc, c, p, sub, list[64];
        if (MPI_T_category_get_info(i, name, &name_len, desc, &desc_len, &c, &p, &sub) !=
            MPI_SUCCESS)
            continue;
        CHECK(MPI_T_category_get_cvars(i, c < 64 ? c : 64, list) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_pvars(i, p < 64 ? p : 64, list) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_categories(i, sub < 64 ? sub : 64, list) == MPI_SUCCESS);
    }
    CHECK(MPI_T_category_changed(&stamp) == MPI_SUCCESS);
#ifndef OPEN_MPI /* which has no such functions */
    int events = -1, sources = -1, in_category = -1;
    CHECK(MPI_T_event_get_num(&events) == MPI_SUCCESS && events == 0);
    CHECK(MPI_T_source_get_num(&sources) == MPI_SUCCESS && sources == 0);
    if (cats)
        CHECK(MPI_T_category_get_num_events(0, &in_category) == MPI_SUCCESS && in_category == 0);
    CHECK(MPI_T_event_get_index("nothing", &events) == MPI_T_ERR_INVALID_NAME);
#endif
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init(&argc, &argv);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    chapter_begin(argc, argv);
    for (int r = 0; chapter_round(&r); r++) {
        control();
        keep();
        performance();
        for (int i = 0; i < 4; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        SAME(r, r);
    }
    if (kept_index >= 0)
        MPI_T_cvar_handle_free(&kept);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return chapter_end("tool");
}
