"""What people come for, in the order in which they come: the navigation and the first page.

A group is a title, what the first page says of it, and its entries: page (with an anchor, or a manual page, or a header), its
short name, and a line about it. Pages of the guide that are named nowhere here appear under "More".
"""

CONTENTS = [
    ("Start here", "From nothing to your own program that survives a kill.", [
        ("quick-start", "Quick start in 15 minutes", "your own program, protected"),
        ("which-layer", "Which layer do I need?", "six questions that decide"),
        ("building", "Building Mend", "systems without apt, your own MPI"),
        ("packages", "Packages and containers", "Debian packages, recipes, modules, images"),
    ]),
    ("Protect a program", "Without a change, with four lines, or with one layer.", [
        ("online", "Unmodified programs", "mend run: binaries survive kill -9"),
        ("flow", "A few changed lines", "safe points and views"),
        ("store", "Checkpoints: the store", "memory, node-local, parity, shared disk"),
        ("process", "Process recovery", "spares, repair policies, ways to resume"),
        ("fortran", "From Fortran", "safe points, store and recovery in the module"),
        ("gpu", "Data on GPUs", "regions and views in device memory"),
    ]),
    ("Moving from another system", "Your calls, your habits, and what becomes of them here.", [
        ("compat#veloc", "From VeloC", "veloc.h, unchanged"),
        ("compat#fti", "From FTI", "fti.h, its levels and its file"),
        ("compat#scr", "From SCR", "scr.h, its parameters"),
        ("compat#fenix", "From Fenix", "fenix.h, processes and data"),
        ("equivalents#systems-without-an-interface-to-call", "From Kokkos Resilience, DMTCP, MANA, BLCR",
         "what you did, and what you do now"),
        ("compat", "Programs with other interfaces", "all four headers"),
        ("equivalents", "Calls side by side", "one table of calls and levels"),
        ("comparison", "Mend and its neighbours", "feature by feature, figure by figure"),
    ]),
    ("Operate at a centre", "Batch systems, lost nodes, figures for your dashboards.", [
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
        ("mend-simulate.1", "mend simulate", "play a plan out"),
    ]),
    ("What Mend promises", "And what it does not, each with the test behind it.", [
        ("promises", "What Mend promises", "promises, failure semantics, trust"),
        ("limits", "Limits", "of every part, on one page"),
        ("file-format", "The file format", "byte by byte, for those who keep files"),
        ("figures", "The paper's evaluation, repeated", "where the time goes"),
    ]),
    ("Reference", "Commands and calls.", [
        ("commands", "Commands", "every manual page"),
        ("api", "API reference", "every header"),
    ]),
    ("How it is made", "For contributors and the curious.", [
        ("layers", "The layers", "what each may depend on"),
        ("capsule-internals", "Inside the capsule", "how an unmodified program runs"),
        ("architectures", "Architectures", "what depends on the CPU"),
        ("open-mpi-faults", "Open MPI's faults", "and Mend's workarounds"),
        ("guide", "All pages of the guide", "in one list"),
    ]),
]

# Sections of the guide that list limits; together they make one page.
LIMITS = ("Limits", "What Mend does not promise", "Known gaps", "Known problems", "What it does not do",
          "What was tested, and what was not", "What works inside containers")
