/* Parameters that Open MPI must find before MPI_Init: the SETTING rows of cures.def. */
#include <ulfm/ulfm.h>

#include <signal.h>
#include <stdlib.h>

static const struct {
    const char *variable, *value;
} settings[] = {
#define SETTING(cure, variable, value) {variable, value},
#include <ulfm/cures.def>
};

static bool fault_tolerant_job(void)
{
    const char *enabled = getenv("OMPI_MCA_mpi_ft_enable");
    return enabled && enabled[0] != '0';
}

/* Runs when the library is loaded, sets parameters only in jobs with fault tolerance, and keeps what the user has
 * set. ulfm.c refers to it, so that the linker keeps it in a program linked with an archive. */
__attribute__((constructor)) void mend_ulfm_set_parameters(void)
{
    if (!fault_tolerant_job())
        return;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setenv(settings[i].variable, settings[i].value, 0);
}

void mend_ulfm_survive_broken_pipes(void)
{
    struct sigaction now;
    if (fault_tolerant_job() && sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}
