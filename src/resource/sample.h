/*
 * sample.h - internal: a sample, and counters becoming rates
 *
 * Pure: sample.c never asks for the time.  What is sampled keeps the time of
 * its own last look, so a sample that failed half-way spoils no rate.
 */
#ifndef PAI_SRC_RESOURCE_SAMPLE_H
#define PAI_SRC_RESOURCE_SAMPLE_H

#include <openpai/sample.h>

#include "resource/proc.h"

/* Per second, or -1: no time has gone by, or the counter went backwards.  One
 * that was in the last quarter of 32 or 64 bits and is now in the first one
 * has wrapped. */
int64_t pai__rate(uint64_t before, uint64_t now, int64_t elapsed);

/* --- things with a name and counters ---------------------------------------- */

enum { PAI__COUNTERS = 6 };

typedef struct pai__device {
  char name[PAI__DEVICE_NAME];
  bool counted;
  pai_time time; /* of the counts */
  uint64_t count[PAI__COUNTERS];
  int64_t rate[PAI__COUNTERS];
} pai__device;

/* A list that follows the order of the kernel's; what a round does not name is
 * gone after it. */
typedef struct pai__devices {
  pai__device *list;
  size_t count, cap;
  size_t at; /* the next place in this round */
  pai__device sum;
} pai__devices;

void pai__devices_begin(pai__devices *d);
/* NULL when memory is short; then the list is as it was.  *is_new: its
 * `counted` is to be set. */
pai__device *pai__devices_put(pai__devices *d, const pai_alloc *alloc,
                              const char *name, const uint64_t *count,
                              pai_time now, bool *is_new);
/* Drops those not named, and sums up. */
void pai__devices_end(pai__devices *d, pai_time now, bool first);
void pai__devices_dispose(pai__devices *d, const pai_alloc *alloc);

/* Rounds from the kernel's texts; `first`: there was no sample before.
 * PAI_OK, PAI_ENOMEM; PAI_EIO: it tells of no processors. */
int pai__sample_cpus(pai__devices *d, const pai_alloc *alloc, const char *text,
                     size_t len, pai_time now, bool first,
                     uint32_t ticks_a_second);
int pai__sample_disks(pai__devices *d, const pai_alloc *alloc,
                      const char *text, size_t len, pai_time now, bool first);
int pai__sample_networks(pai__devices *d, const pai_alloc *alloc,
                         const char *text, size_t len, pai_time now,
                         bool first);

/* --- processes ---------------------------------------------------------------- */

typedef struct pai__task {
  int32_t pid, group, session;
  char name[20];
  uint64_t started, ticks;
  uint64_t read_bytes, write_bytes;
  bool has_io;
  int64_t rss_pages;
  /* since the look before; of a new one, all it has */
  uint64_t ticks_more, read_more, write_more;
} pai__task;

/* Of the look now and the one before, by pid. */
typedef struct pai__tasks {
  pai__task *now, *before;
  size_t now_count, now_cap, before_count, before_cap;
} pai__tasks;

/* After all of `now` is filled in: puts it in order, and finds out what is
 * more than before. */
void pai__tasks_compare(pai__tasks *t);
/* The now ones become those before. */
void pai__tasks_turn(pai__tasks *t);
const pai__task *pai__tasks_find(const pai__tasks *t, int32_t pid);
void pai__tasks_dispose(pai__tasks *t, const pai_alloc *alloc);

typedef struct pai__group {
  pai_sample_group view; /* name is set when it is asked for */
  char name[20];
  char *path;    /* of a cgroup, else NULL */
  bool fresh;    /* has had no look yet */
  bool seen;     /* one of all groups: has processes */
  pai_time time; /* of the last look */
  uint64_t cpu_more, read_more, write_more;
  bool has_io;
  int cpu_fd, memory_fd, pids_fd, io_fd, procs_fd; /* of a cgroup, or -1 */
  bool old_cgroup;                                 /* version 1 */
} pai__group;

/* Begins a look: nothing is there. */
void pai__group_begin(pai__group *g, bool gpus);
/* Adds a process; a fresh group gets all it has ever used. */
void pai__group_add(pai__group *g, const pai__task *task, uint32_t page);
/* Ends it; `tick` is microseconds a tick. */
void pai__group_end(pai__group *g, pai_time now, uint32_t tick);

/* --- all of it ------------------------------------------------------------------ */

struct pai_sample {
  pai_sample_machine machine;
  pai__devices cpus, disks, networks;
  pai_sample_file_system *file_systems;
  pai_sample_gpu *gpus;
  pai__group *watched;
  size_t watched_count, watched_cap;
  pai__group *others; /* by id */
  size_t other_count, other_cap;
};

#endif
