#ifndef MEND_ARGUMENTS_H
#define MEND_ARGUMENTS_H

/* Bring the words of the subcommand argv[0] into the form that options.def describes.
 * Returns TOOL_OK, or the exit code after it has reported wrong use. */
int tool_arguments(int *argc, char ***argv);

#endif
