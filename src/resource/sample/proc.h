/*
 * proc.h - internal: parse text files of /proc and cgroups
 *
 * Pure: each function takes any text, of any length and without a NUL at its
 * end.  Unreadable parts are skipped, or give -1; a number that does not fit
 * counts as unreadable.  Formats: proc(5) and the kernel's
 * Documentation/admin-guide/iostats.rst, cgroup-v1/2.rst.
 */
#ifndef PAI_SRC_RESOURCE_PROC_H
#define PAI_SRC_RESOURCE_PROC_H

#include "base/base.h"

enum { PAI__DEVICE_NAME = 40 };

/* Returns the number at the start of a text, after blanks; -1: none, or above
 * INT64_MAX. */
int64_t pai__proc_number(const char *text, size_t len);
/* Returns the number after a name at the start of a line, or -1. */
int64_t pai__proc_field(const char *text, size_t len, const char *name);
/* Returns the sum of the numbers after a name wherever it begins a word:
 * "rbytes=" of io.stat, "Read" of blkio; 0 if there are none. */
int64_t pai__proc_sum(const char *text, size_t len, const char *name);
/* Parses a limit; -1 for "max" and for numbers so large that they mean no
 * limit. */
int64_t pai__proc_limit(const char *text, size_t len);
/* Parses pp_dpm_sclk: the line "1: 800Mhz *" has the current clock; *most is
 * the highest one. */
void pai__proc_dpm(const char *text, size_t len, int32_t *now, int32_t *most);

/* --- line by line -------------------------------------------------------- */

typedef struct pai__proc_walk {
  const char *at, *end;
} pai__proc_walk;

static inline pai__proc_walk pai__proc_walk_of(const char *text, size_t len)
{
  pai__proc_walk w = { text, text + len };

  return w;
}

/* /proc/stat: ticks of a processor since boot. */
typedef struct pai__proc_cpu {
  int32_t number; /* -1: sum of all processors */
  uint64_t user;  /* with nice and guest time */
  uint64_t system;
  uint64_t idle, iowait;
  uint64_t steal; /* taken by the hypervisor */
} pai__proc_cpu;
/* Returns false at the first line that is not a processor's. */
bool pai__proc_next_cpu(pai__proc_walk *w, pai__proc_cpu *out);

/* A line of diskstats.  Unreadable lines are skipped, in net/dev too. */
typedef struct pai__proc_disk {
  char name[PAI__DEVICE_NAME];
  uint64_t reads, read_bytes, writes, write_bytes, busy_ms;
} pai__proc_disk;
bool pai__proc_next_disk(pai__proc_walk *w, pai__proc_disk *out);

/* A line of net/dev. */
typedef struct pai__proc_net {
  char name[PAI__DEVICE_NAME];
  uint64_t rx_bytes, rx_packets, rx_errors;
  uint64_t tx_bytes, tx_packets, tx_errors;
} pai__proc_net;
bool pai__proc_next_net(pai__proc_walk *w, pai__proc_net *out);

/* Whether `name` is a partition of the disk `whole`: sda1 of sda, nvme0n1p2 of
 * nvme0n1. */
bool pai__proc_is_part(const char *whole, const char *name);
/* Whether the traffic of a device is counted at another device too: dm-0,
 * loop0; lo, docker0, bond0. */
bool pai__proc_is_stacked_disk(const char *name);
bool pai__proc_is_stacked_net(const char *name);

/* --- whole files --------------------------------------------------------- */

typedef struct pai__proc_memory { /* bytes, or -1 */
  int64_t total, free, available, buffers, cached, swap_total, swap_free;
} pai__proc_memory;
void pai__proc_memory_of(pai__proc_memory *out, const char *text, size_t len);

typedef struct pai__proc_load {
  /* load average in hundredths, over 1, 5 and 15 minutes; or -1 */
  int32_t load[3];
  int32_t running, threads;
} pai__proc_load;
void pai__proc_load_of(pai__proc_load *out, const char *text, size_t len);

/* PID/stat. pai__proc_task_of() returns false if the text is incomplete; then
 * the first fields may be set. */
typedef struct pai__proc_task {
  int32_t pid, group, session; /* -1 */
  char name[20];               /* the kernel allows 15 bytes */
  uint64_t ticks;              /* user and system */
  uint64_t started;            /* ticks since boot */
  int64_t rss_pages;
} pai__proc_task;
bool pai__proc_task_of(pai__proc_task *out, const char *text, size_t len);

/* Finds the path in hierarchy `controller` of self/cgroup, "" for version 2;
 * NULL if there is none. */
const char *pai__proc_cgroup(const char *text, size_t len,
                             const char *controller, size_t *path_len);

#endif
