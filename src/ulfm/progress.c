/* The progress loop of Open MPI, by names that its libraries export but no header declares. A library without them has
 * no hook. */
#include <ulfm/progress.h>

#include <dlfcn.h>
#include <stddef.h>

bool mend_progress_hook(int (*at_turn)(void))
{
    union {
        void *symbol;
        int (*add)(int (*callback)(void));
    } library = {dlsym(RTLD_DEFAULT, "opal_progress_register")};
    return library.symbol && library.add(at_turn) == 0;
}

void (*mend_progress_turn(void))(void)
{
    union {
        void *symbol;
        void (*turn)(void);
    } library = {dlsym(RTLD_DEFAULT, "opal_progress")};
    return library.turn;
}
