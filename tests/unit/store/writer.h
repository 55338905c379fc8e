/* writer.h - who writes for ever, and whether all it was told is there */
#ifndef PAI_TESTS_STORE_WRITER_H
#define PAI_TESTS_STORE_WRITER_H

#include <stdint.h>

/* Commits groups of jobs in the folder, in a process of its own, since it
 * never returns: writes each id that is durable to the file. */
_Noreturn void write_for_ever(int to);

/* Opens what it left behind: all jobs behind `seen` up to the one that was told
 * are there, with all that was put with them, and of what nobody was told at
 * most one commit, as a whole.  Returns the last id. */
uint64_t check_folder(uint64_t seen, uint64_t told);

#endif
