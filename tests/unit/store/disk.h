/*
 * disk.h - a disk that fails when it is told to, and that forgets what was
 * not synced when the power goes
 *
 * It stands between SQLite and its own files, for all connections that are
 * opened after disk_install().
 */
#ifndef PAI_TESTS_STORE_DISK_H
#define PAI_TESTS_STORE_DISK_H

#include <stdbool.h>
#include <stdint.h>

void disk_install(void);

extern unsigned disk_calls;   /* reads, writes, syncs, ... so far */
extern unsigned disk_fail_at; /* that one fails, 0: none; */
extern bool disk_for_ever;    /* and all behind it */

extern bool disk_full; /* nothing can be written */

/* From now on writes are remembered until they are synced; and at the n-th
 * call from now on the power goes: some of those that are not, by the seed,
 * never happened, and the process ends. */
void disk_cut_power_at(unsigned n, uint64_t seed);

#endif
