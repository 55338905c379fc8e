/* posix_disk.c - what a platform's root takes of the disk */
#define _XOPEN_SOURCE 700 /* nftw() */
#include "disk.h"

#include "cells.h"
#include "remote.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum {
  DEEP = 32,    /* folders that are open at a time */
  MOST = 200000 /* files that are looked at, in all */
};

/* nftw() hands nothing on. */
static int64_t sum;
static long looked;

static int add(const char *path, const struct stat *info, int type,
               struct FTW *place)
{
  (void)path;
  (void)place;
  if (type == FTW_F || type == FTW_SL || type == FTW_D)
    sum += (int64_t)info->st_blocks * 512;
  return ++looked > MOST;
}

/* Of a file, or of a folder with all in it; 0: it is not there. */
static int64_t take_of(const char *root, const char *name)
{
  char *path = cli_join(root, name);

  sum = 0;
  if (path != NULL)
    (void)nftw(path, add, DEEP, FTW_PHYS | FTW_MOUNT);
  free(path);
  return sum;
}

void cli_print_disk(const char *root)
{
  static const struct {
    const char *what, *names[3];
  } parts[] = {
    { "logs", { "jobs", NULL } },
    { "code", { "code", NULL } },
    { "kept files", { "kept", NULL } },
    { "storages", { "storages", NULL } },
    { "database", { "openpai.db", "openpai.db-wal", NULL } },
    { "scheduler's log", { "scheduler.log", "scheduler.log.1", NULL } },
  };
  const char *comma = "disk      ";
  struct statvfs all;
  char size[32];

  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    int64_t bytes = 0;

    for (size_t k = 0; parts[i].names[k] != NULL; k++)
      bytes += take_of(root, parts[i].names[k]);
    if (bytes < 1 << 20)
      continue;
    (void)printf("%s%s %s%s", comma, parts[i].what,
                 looked > MOST ? "over " : "",
                 cli_bytes(size, sizeof(size), bytes));
    comma = ", ";
  }
  if (statvfs(root, &all) == 0)
    (void)printf(
      "%s%s free\n", comma,
      cli_bytes(size, sizeof(size), (int64_t)(all.f_bavail * all.f_frsize)));
  else if (comma[0] == ',')
    (void)putchar('\n');
}
