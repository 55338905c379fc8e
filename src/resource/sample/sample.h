/*
 * sample.h - internal: compute rates from counters; the data of a sample
 *
 * Pure: sample.c never reads the clock.  Each sampled object keeps the time of
 * its own last reading, so a sample that failed half-way does not distort a
 * rate.
 */
#ifndef PAI_SRC_RESOURCE_SAMPLE_H
#define PAI_SRC_RESOURCE_SAMPLE_H

#include <openpai/sample.h>

#include "resource/sample/proc.h"

/* Returns the rate per second, or -1 if no time has passed or the counter went
 * backwards.  A counter that was in the last quarter of 32 or 64 bits and is
 * now in the first quarter has wrapped. */
int64_t pai__rate(uint64_t before, uint64_t now, int64_t elapsed);

/* --- devices: a name and counters ---------------------------------------- */

enum { PAI__COUNTERS = 6 };

typedef struct pai__device {
  char name[PAI__DEVICE_NAME];
  bool counted;
  pai_time time; /* time of the counts */
  uint64_t count[PAI__COUNTERS];
  int64_t rate[PAI__COUNTERS];
} pai__device;

/* A list of devices in the kernel's order; a device that a round does not name
 * is dropped after it. */
typedef struct pai__devices {
  pai__device *list;
  size_t count, cap;
  size_t at; /* the next place in this round */
  pai__device sum;
} pai__devices;

void pai__devices_begin(pai__devices *d);
/* Finds or adds the device in this round.  NULL: memory is short, and the list
 * is unchanged.  *is_new: the caller must set `counted`. */
pai__device *pai__devices_put(pai__devices *d, const pai_alloc *alloc,
                              const char *name, const uint64_t *count,
                              pai_time now, bool *is_new);
/* Ends a round: drops devices that were not named, and computes the sum. */
void pai__devices_end(pai__devices *d, pai_time now, bool first);
void pai__devices_dispose(pai__devices *d, const pai_alloc *alloc);

/* Run a round with a text of the kernel; `first`: there was no sample before.
 * Returns PAI_OK, PAI_ENOMEM, or PAI_EIO if the text has no processors. */
int pai__sample_cpus(pai__devices *d, const pai_alloc *alloc, const char *text,
                     size_t len, pai_time now, bool first,
                     uint32_t ticks_a_second);
int pai__sample_disks(pai__devices *d, const pai_alloc *alloc,
                      const char *text, size_t len, pai_time now, bool first);
int pai__sample_networks(pai__devices *d, const pai_alloc *alloc,
                         const char *text, size_t len, pai_time now,
                         bool first);

/* --- processes ----------------------------------------------------------- */

typedef struct pai__sample_task {
  int32_t pid, group, session;
  char name[20];
  uint64_t started, ticks;
  uint64_t read_bytes, write_bytes;
  bool has_io;
  int64_t rss_pages;
  /* since the last sample; for a new process, all it has used */
  uint64_t ticks_more, read_more, write_more;
} pai__sample_task;

/* Processes of this sample and of the one before, by pid. */
typedef struct pai__tasks {
  pai__sample_task *now, *before;
  size_t now_count, now_cap, before_count, before_cap;
} pai__tasks;

/* Sorts `now`, once it is complete, and computes the differences to
 * `before`. */
void pai__tasks_compare(pai__tasks *t);
/* Moves `now` to `before`. */
void pai__tasks_turn(pai__tasks *t);
const pai__sample_task *pai__tasks_find(const pai__tasks *t, int32_t pid);
void pai__tasks_dispose(pai__tasks *t, const pai_alloc *alloc);

/* Files of a cgroup. */
enum {
  PAI__CGROUP_CPU,
  PAI__CGROUP_MEMORY,
  PAI__CGROUP_PIDS,
  PAI__CGROUP_IO,
  PAI__CGROUP_PROCS,
  PAI__CGROUP_FILES
};

typedef struct pai__group {
  pai_sample_group view; /* name is set on request */
  char name[20];
  char *path;    /* path of a cgroup, else NULL */
  bool fresh;    /* not sampled yet */
  bool seen;     /* in the list of all groups: it has processes */
  pai_time time; /* time of the last sample */
  uint64_t cpu_more, read_more, write_more;
  bool has_io;
  int fd[PAI__CGROUP_FILES]; /* of a cgroup, or -1 */
  bool old_cgroup;           /* version 1 */
} pai__group;

/* Makes a group that was not sampled yet. */
void pai__sample_group_init(pai__group *g, int kind, int64_t id, bool watched);
/* Begins a sample: resets what is summed up. */
void pai__group_begin(pai__group *g, bool gpus);
/* Adds a process; to a fresh group, with all that it has ever used. */
void pai__group_add(pai__group *g, const pai__sample_task *task,
                    uint32_t page);
/* Ends the sample; `tick` is microseconds a tick. */
void pai__group_end(pai__group *g, pai_time now, uint32_t tick);

/* --- the sample ---------------------------------------------------------- */

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
