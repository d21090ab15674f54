/* Options, lattice, velocities: everything that a rank can do by itself. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "md.h"

static const char usage[] =
    "usage: md [options]\n"
    "  -c, --cells N | XxYxZ  unit cells of the box, 4 atoms each (default 8)\n"
    "  -s, --steps N          time steps (default 100)\n"
    "  -n, --neighbour N      steps between new neighbour lists (default 20)\n"
    "  -t, --thermo N         print energies every N steps (default: at the end)\n"
    "      --dt T             time step (default 0.005)\n"
    "      --temperature T    initial temperature (default 1.44)\n"
    "      --density D        (default 0.8442)\n"
    "  -k, --kill R@I         rank R kills itself at step I (once; may be repeated)\n"
    "      --mark PATH        where kills are noted, see apps/common/kill.h\n"
    "      --times            print where the time of rank 0 went\n"
    "      --events PATH      the same as a line of that file, see apps/common/times.h\n";

static int parse_cells(const char *text, int *cells)
{
    int n = sscanf(text, "%dx%dx%d", &cells[0], &cells[1], &cells[2]);
    if (n == 1)
        cells[1] = cells[2] = cells[0];
    return (n == 1 || n == 3) && cells[0] > 0 && cells[1] > 0 && cells[2] > 0 ? 0 : -1;
}

int md_parse(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {{"cells", 1, 0, 'c'},
                                          {"steps", 1, 0, 's'},
                                          {"neighbour", 1, 0, 'n'},
                                          {"thermo", 1, 0, 't'},
                                          {"dt", 1, 0, 'd'},
                                          {"temperature", 1, 0, 'T'},
                                          {"density", 1, 0, 'D'},
                                          {"kill", 1, 0, 'k'},
                                          {"mark", 1, 0, 'M'},
                                          {"times", 0, 0, 'x'},
                                          {"events", 1, 0, 'E'},
                                          {"help", 0, 0, 'h'},
                                          {0, 0, 0, 0}};
    int bad = 0;
    *o = (struct options){.cells = {8, 8, 8},
                          .steps = 100,
                          .neighbour_every = 20,
                          .dt = 0.005,
                          .density = 0.8442,
                          .temperature = 1.44,
                          .cutoff = 2.5,
                          .skin = 0.3};
    for (int c; (c = getopt_long(argc, argv, "c:s:n:t:k:h", names, 0)) != -1;) {
        switch (c) {
        case 'c': bad |= parse_cells(optarg, o->cells); break;
        case 's': o->steps = atoi(optarg); break;
        case 'n': o->neighbour_every = atoi(optarg); break;
        case 't': o->thermo_every = atoi(optarg); break;
        case 'd': o->dt = atof(optarg); break;
        case 'T': o->temperature = atof(optarg); break;
        case 'D': o->density = atof(optarg); break;
        case 'x': o->times = 1; break;
        case 'E': snprintf(o->events, sizeof o->events, "%s", optarg); break;
        case 'M': snprintf(o->kills.mark, sizeof o->kills.mark, "%s", optarg); break;
        case 'k': bad |= kill_plan_add(&o->kills, optarg); break;
        default: bad = 1;
        }
    }
    if (bad || optind != argc || o->steps < 0 || o->neighbour_every < 1 || o->density <= 0) {
        fputs(usage, stderr);
        return -1;
    }
    return 0;
}

/* Memory that cannot be had ends the program; there is nothing sensible to do without it. */
void *md_grow(void *memory, size_t *room, size_t need, size_t element)
{
    if (need <= *room && memory)
        return memory;
    size_t more = need + need / 5 + 64;
    memory = realloc(memory, more * element);
    if (!memory) {
        fprintf(stderr, "md: no memory for %zu elements\n", more);
        abort();
    }
    memset((char *)memory + *room * element, 0, (more - *room) * element);
    *room = more;
    return memory;
}

void md_reserve_atoms(struct md *md, size_t atoms)
{
    size_t before = md->room, room;
    if (atoms + 1 <= before && md->x)
        return;
    md->x = md_grow(md->x, (room = before, &room), atoms + 1, sizeof *md->x);
    md->v = md_grow(md->v, (room = before, &room), atoms + 1, sizeof *md->v);
    md->f = md_grow(md->f, (room = before, &room), atoms + 1, sizeof *md->f);
    md->id = md_grow(md->id, (room = before, &room), atoms + 1, sizeof *md->id);
    md->first = md_grow(md->first, (room = before, &room), atoms + 1, sizeof *md->first);
    md->chain = md_grow(md->chain, (room = before, &room), atoms + 1, sizeof *md->chain);
    md->room = room;
}

/* A velocity in [-0.5, 0.5)^3 that depends on the atom's number only. */
static void velocity_of(int64_t id, double *v)
{
    for (int d = 0; d < 3; d++) {
        uint64_t h = ((uint64_t)id * 3 + (uint64_t)d + 1) * 0x9e3779b97f4a7c15u;
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
        h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
        v[d] = (double)((h ^ (h >> 31)) >> 11) * 0x1p-53 - 0.5;
    }
}

/* Mean velocity and the factor that gives the wanted temperature. Every rank walks over all atoms,
 * so that nothing has to be communicated and all get the same bits. */
static void velocity_scale(const struct md *md, double *mean, double *factor)
{
    double sum[3] = {0}, square = 0, v[3];
    for (int64_t i = 0; i < md->atoms; i++) {
        velocity_of(i, v);
        for (int d = 0; d < 3; d++)
            sum[d] += v[d];
    }
    for (int d = 0; d < 3; d++)
        mean[d] = sum[d] / (double)md->atoms;
    for (int64_t i = 0; i < md->atoms; i++) {
        velocity_of(i, v);
        for (int d = 0; d < 3; d++)
            square += (v[d] - mean[d]) * (v[d] - mean[d]);
    }
    *factor = sqrt(md->o.temperature * 3.0 * ((double)md->atoms - 1.0) / square);
}

static int is_mine(const struct md *md, const double *x)
{
    for (int d = 0; d < 3; d++)
        if (x[d] < md->low[d] || x[d] >= md->high[d])
            return 0;
    return 1;
}

static void fill_lattice(struct md *md, double a)
{
    static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    double mean[3], factor;
    velocity_scale(md, mean, &factor);
    int64_t id = 0;
    for (int i = 0; i < md->o.cells[0]; i++)
        for (int j = 0; j < md->o.cells[1]; j++)
            for (int k = 0; k < md->o.cells[2]; k++)
                for (int c = 0; c < 4; c++, id++) {
                    double x[3] = {(i + corner[c][0]) * a, (j + corner[c][1]) * a,
                                   (k + corner[c][2]) * a};
                    if (!is_mine(md, x))
                        continue;
                    int n = md->local++;
                    md_reserve_atoms(md, (size_t)md->local);
                    memcpy(md->x[n], x, sizeof x);
                    velocity_of(id, md->v[n]);
                    for (int d = 0; d < 3; d++)
                        md->v[n][d] = (md->v[n][d] - mean[d]) * factor;
                    md->id[n] = id;
                }
}

void md_setup(struct md *md)
{
    const struct options *o = &md->o;
    double a = cbrt(4.0 / o->density);
    md->reach = o->cutoff + o->skin;
    md->local = md->ghosts = 0;
    if (!md->started)
        md->started = MPI_Wtime();
    md->atoms = 4L * o->cells[0] * o->cells[1] * o->cells[2];
    for (int d = 0; d < 3; d++) {
        md->box[d] = o->cells[d] * a;
        md->low[d] = md->box[d] * md->at[d] / md->dims[d];
        md->high[d] = md->box[d] * (md->at[d] + 1) / md->dims[d];
        if (md->high[d] - md->low[d] < md->reach) {
            if (md->rank == 0)
                fprintf(stderr,
                        "md: %d ranks are too many for this box: a part of %g is less than %g\n",
                        md->ranks, md->high[d] - md->low[d], md->reach);
            exit(1);
        }
    }
    md_reserve_atoms(md, (size_t)(md->atoms / md->ranks + 64));
    fill_lattice(md, a);
}

void md_times(const struct md *md)
{
    double loop = MPI_Wtime() - md->started;
    if (md->o.times)
        printf("md: times loop %.6f force %.6f neighbour %.6f exchange %.6f computed %d\n", loop,
               md->seconds_force, md->seconds_neighbour, md->seconds_exchange, md->computed);
    times_event(md->o.events, "app.times",
                "\"loop\":%.6f,\"force\":%.6f,\"neighbour\":%.6f,\"exchange\":%.6f,\"computed\":%d",
                loop, md->seconds_force, md->seconds_neighbour, md->seconds_exchange, md->computed);
}

void md_free(struct md *md)
{
    void *all[] = {md->x,    md->v,    md->f,    md->id,  md->first, md->chain,
                   md->list, md->cell, md->sent, md->out, md->in};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}
