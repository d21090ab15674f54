"""The navigation and the first page, in the order of what readers look for first.

A group is a title, its line on the first page, and its entries: page (with an anchor, or a manual page, or a header), its
short name, and a line about it. Pages of the guide that are not named here appear under "More".
"""

CONTENTS = [
    ("Start here", "Build Mend, and protect your own program.", [
        ("quick-start", "Quick start in 15 minutes", "your own program, protected"),
        ("which-layer", "Which layer do I need?", "six questions to choose it"),
        ("building", "Building Mend", "systems without apt, your own MPI"),
        ("packages", "Packages and containers", "Debian packages, recipes, modules, images"),
    ]),
    ("Protect a program", "Unmodified, with five changed lines, or with one layer.", [
        ("online", "Unmodified programs", "mend run: binaries survive kill -9"),
        ("flow", "A few changed lines", "safe points and views"),
        ("store", "Checkpoints: the store", "memory, node-local, parity, shared disk"),
        ("process", "Process recovery", "spares, repair policies, ways to resume"),
        ("fortran", "From Fortran", "safe points, store and recovery in the module"),
        ("python", "From Python", "the store and recovery, with mpi4py and NumPy"),
        ("gpu", "Data on GPUs", "regions and views in device memory"),
    ]),
    ("Moving from another system", "Keep your calls, or find the equivalents.", [
        ("compat#veloc", "From VeloC", "veloc.h, unchanged"),
        ("compat#fti", "From FTI", "fti.h, its levels and its configuration file"),
        ("compat#scr", "From SCR", "scr.h, its parameters"),
        ("compat#fenix", "From Fenix", "fenix.h, processes and data"),
        ("equivalents#systems-without-an-interface-to-call", "From Kokkos Resilience, DMTCP, MANA, BLCR",
         "your commands, and Mend's equivalents"),
        ("compat", "Programs with other interfaces", "all four headers"),
        ("equivalents", "Calls side by side", "one table of calls and levels"),
        ("comparison", "Mend and similar systems", "feature by feature, figure by figure"),
    ]),
    ("Operate at a centre", "Batch systems, lost nodes, metrics for your dashboards.", [
        ("slurm", "Under Slurm", "time limits, preemption, requeue"),
        ("slurm#for-administrators", "For administrators", "prolog, epilog, accounting"),
        ("nodes", "When a node dies", "Mend's launcher, second by second"),
        ("events", "Events and metrics", "every event, and Prometheus"),
        ("scale", "Scale", "messages, bytes, memory; what breaks first"),
        ("mend.conf.5", "Configuration", "every key and its variable"),
    ]),
    ("How often to checkpoint", "The planner and the simulator that checks it.", [
        ("how-often-should-i-checkpoint", "How often should I checkpoint?", "at which level, on how many cores"),
        ("mend-plan.1", "mend plan", "the model's file and the methods"),
        ("mend-simulate.1", "mend simulate", "simulate a plan"),
    ]),
    ("What Mend promises", "And what it does not promise; the tests of each promise.", [
        ("promises", "What Mend promises", "promises, failure semantics, trust"),
        ("limits", "Limits", "of every part, on one page"),
        ("file-format", "The file format", "byte by byte"),
        ("figures", "The paper's evaluation, repeated", "where the time goes"),
    ]),
    ("Reference", "Commands and calls.", [
        ("commands", "Commands", "every manual page"),
        ("api", "API reference", "every header"),
    ]),
    ("Internals", "For contributors.", [
        ("layers", "The layers", "what each may depend on"),
        ("capsule-internals", "Inside the capsule", "how an unmodified program runs"),
        ("architectures", "Architectures", "code that depends on the CPU"),
        ("open-mpi-faults", "Open MPI's faults", "and Mend's workarounds"),
        ("guide", "All pages of the guide", "in one list"),
    ]),
]

# Sections of the guide that list limits; together they make one page.
LIMITS = ("Limits", "What Mend does not promise", "Known gaps", "Known problems", "What it does not do",
          "What was tested, and what was not", "What works inside containers")
