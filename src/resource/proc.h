/*
 * proc.h - internal: what the kernel's text files say
 *
 * Pure: each function gets a text that is anything at all, of any length and
 * without a NUL at its end.  What cannot be read is passed over, or -1; a
 * number that does not fit is no number.  Formats: proc(5) and the kernel's
 * Documentation/admin-guide/iostats.rst, cgroup-v1/2.rst.
 */
#ifndef PAI_SRC_RESOURCE_PROC_H
#define PAI_SRC_RESOURCE_PROC_H

#include "base/base.h"

enum { PAI__DEVICE_NAME = 40 };

/* The number a text begins with, after blanks; -1: none, or above INT64_MAX.
 */
int64_t pai__proc_number(const char *text, size_t len);
/* The number after the name at the beginning of a line, or -1. */
int64_t pai__proc_field(const char *text, size_t len, const char *name);
/* The numbers after a name wherever it begins a word, summed up: "rbytes=" of
 * io.stat, "Read" of blkio.  0 when there are none. */
int64_t pai__proc_sum(const char *text, size_t len, const char *name);
/* A limit: "max" and numbers as large as none at all are -1. */
int64_t pai__proc_limit(const char *text, size_t len);
/* pp_dpm_sclk: "1: 800Mhz *" is the clock now; the highest is the most. */
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

/* stat: ticks of a processor since the start. */
typedef struct pai__proc_cpu {
  int32_t number; /* -1: all together */
  uint64_t user;  /* nice ones included; guests are in it */
  uint64_t system;
  uint64_t idle, iowait;
  uint64_t steal; /* taken by the machine below */
} pai__proc_cpu;
/* False at the first line that is of no processor. */
bool pai__proc_next_cpu(pai__proc_walk *w, pai__proc_cpu *out);

/* diskstats.  Lines that cannot be read are passed over, in net/dev, too. */
typedef struct pai__proc_disk {
  char name[PAI__DEVICE_NAME];
  uint64_t reads, read_bytes, writes, write_bytes, busy_ms;
} pai__proc_disk;
bool pai__proc_next_disk(pai__proc_walk *w, pai__proc_disk *out);

/* net/dev */
typedef struct pai__proc_net {
  char name[PAI__DEVICE_NAME];
  uint64_t rx_bytes, rx_packets, rx_errors;
  uint64_t tx_bytes, tx_packets, tx_errors;
} pai__proc_net;
bool pai__proc_next_net(pai__proc_walk *w, pai__proc_net *out);

/* Whether `name` is a part of the disk `whole`: sda1 of sda, nvme0n1p2. */
bool pai__proc_is_part(const char *whole, const char *name);
/* Whether what a device moves is moved by another one, too: dm-0, loop0; lo,
 * docker0, bond0. */
bool pai__proc_is_stacked_disk(const char *name);
bool pai__proc_is_stacked_net(const char *name);

/* --- at once --------------------------------------------------------------- */

typedef struct pai__proc_memory { /* bytes, or -1 */
  int64_t total, free, available, buffers, cached, swap_total, swap_free;
} pai__proc_memory;
void pai__proc_memory_of(pai__proc_memory *out, const char *text, size_t len);

typedef struct pai__proc_load {
  int32_t load[3]; /* hundredths, over 1, 5 and 15 minutes; or -1 */
  int32_t running, threads;
} pai__proc_load;
void pai__proc_load_of(pai__proc_load *out, const char *text, size_t len);

/* PID/stat; false when it is not whole, and then what comes first may be
 * there. */
typedef struct pai__proc_task {
  int32_t pid, group, session; /* -1 */
  char name[20];               /* at most 15 bytes, by the kernel */
  uint64_t ticks;              /* user and system */
  uint64_t started;            /* ticks after the start of the machine */
  int64_t rss_pages;
} pai__proc_task;
bool pai__proc_task_of(pai__proc_task *out, const char *text, size_t len);

/* self/cgroup: the path in hierarchy `controller`, "" the one of version 2;
 * NULL when there is none. */
const char *pai__proc_cgroup(const char *text, size_t len,
                             const char *controller, size_t *path_len);

#endif
