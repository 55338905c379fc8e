/* cmd_down.c - `down` and `status`: end the platform, or show its state */
#define _XOPEN_SOURCE 700 /* nftw() */
#include "cells.h"
#include "remote.h"
#include "table.h"
#include "unit.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

enum {
  DEEP = 32,    /* most folders open at a time */
  MOST = 200000 /* most files counted */
};

/* nftw() passes no user data. */
static int64_t taken;
static long looked;

static int add(const char *path, const struct stat *info, int type,
               struct FTW *place)
{
  (void)path;
  (void)place;
  if (type == FTW_F || type == FTW_SL || type == FTW_D)
    taken += (int64_t)info->st_blocks * 512;
  return ++looked > MOST;
}

/* Returns the disk usage of a file or folder; 0 if it does not exist. */
static int64_t take_of(const char *root, const char *name)
{
  char *path = cli_join(root, name);

  taken = 0;
  if (path != NULL)
    (void)nftw(path, add, DEEP, FTW_PHYS | FTW_MOUNT);
  free(path);
  return taken;
}

/* Prints the disk usage of the root's parts of at least one MiB, and the free
 * space. */
static void cli_print_disk(const char *root)
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

enum { PATIENCE = 60 * 1000, PAUSE = 10 }; /* ms */

/* The number of jobs that are not over. */
static long long count_jobs(const pai_json *status)
{
  long long sum = 0;

  for (cli_each e = cli_each_of(status, cli_json_get(status, 0, "jobs"));
       cli_next(&e);)
    sum += cli_json_number(status, e.at, "", 0);
  return sum;
}

/* Whether a process exists and is not a zombie. */
static bool lives(long long pid)
{
  char path[64], text[512] = "";
  const char *state;
  FILE *file;

  (void)snprintf(path, sizeof(path), "/proc/%lld/stat", pid);
  file = fopen(path, "r");
  if (file == NULL)
    return false;
  (void)!fread(text, 1, sizeof(text) - 1, file);
  (void)fclose(file);
  state = strrchr(text, ')'); /* "PID (NAME) STATE ..." */
  return state != NULL && state[1] == ' ' && state[2] != 'Z';
}

/* Waits until nothing listens any more and the process has released the
 * root. */
static bool wait_for_end(cli_remote *r, long long pid)
{
  const struct timespec pause = { 0, PAUSE * 1000 * 1000 };
  cli_answer a;

  for (int ms = 0; ms < PATIENCE; ms += PAUSE) {
    cli_call(r, &a, "server.info", cli_no_arguments());
    cli_answer_free(&a);
    if (a.status == PAI_ENOTFOUND && a.http == 0 && !lives(pid))
      return true;
    (void)nanosleep(&pause, NULL);
  }
  cli_fail("the platform does not stop");
  cli_help(stderr, "see ROOT/log");
  return false;
}

/* Returns false if there is no platform (*code is CLI_OK), or after printing
 * an error (CLI_NO). */
static bool find_platform(cli_remote *r, pai_json **status, int *code)
{
  cli_answer a;
  bool there;

  cli_call(r, &a, "server.status", cli_no_arguments());
  there = a.status == PAI_OK && cli_json_read(status, a.body, a.len);
  *code = CLI_NO;
  if (!there && a.status == PAI_ENOTFOUND && a.http == 0) {
    *code = CLI_OK;
  } else if (!there) {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  return there;
}

int cli_end_platform(cli_remote *r, bool kill, bool quiet)
{
  pai_json *status;
  long long jobs, pid;
  int code;

  if (!find_platform(r, &status, &code)) {
    if (code == CLI_OK && !quiet)
      (void)printf("no platform runs in %s\n", r->root);
    return code;
  }
  jobs = count_jobs(status);
  pid = cli_json_number(status, 0, "pid", 0);
  cli_json_free(&status);
  if (!cli_call_do(r, "server.shutdown",
                   cli_json_make("{\"kill\":%c}", cli_truth(kill))) ||
      !wait_for_end(r, pid))
    return CLI_NO;
  if (quiet)
    return CLI_OK;
  (void)printf("the platform has stopped\n");
  if (jobs > 0 && !kill)
    (void)fprintf(stderr,
                  "note: %lld job%s go%s on; openpai up finds %s, and "
                  "--kill would have ended %s\n",
                  jobs, jobs == 1 ? "" : "s", jobs == 1 ? "es" : "",
                  jobs == 1 ? "it" : "them", jobs == 1 ? "it" : "them");
  return CLI_OK;
}

int cli_do_down(const cli_down_args *a)
{
  int code = CLI_NO;
  cli_remote r;

  if (a->system && cli_root == NULL)
    cli_root = cli_system_root();
  if (cli_remote_open(&r, false)) {
    code = cli_end_platform(&r, a->kill, a->quiet);
    cli_remote_close(&r);
  }
  return a->disable && code == CLI_OK ? cli_unit_disable(a->system) : code;
}

/* --- status -------------------------------------------------------------- */

static void print_status(const pai_json *s)
{
  static const char *const warnings[] = { "warning", "trouble" };

  cli_print_fields(stdout, cli_columns_status, &(cli_each){ .json = s });
  for (size_t i = 0; i < 2; i++)
    if (cli_json_has(s, 0, warnings[i]))
      cli_say(PAI_LOG_WARNING, cli_json_text(s, 0, warnings[i]));
}

static int show_status(cli_remote *r, bool json)
{
  pai_json *status;
  cli_answer a;
  int code = CLI_NO;

  cli_call(r, &a, "server.status", cli_no_arguments());
  if (a.status == PAI_ENOTFOUND && a.http == 0 && r->root != NULL) {
    if (json)
      (void)printf("null\n");
    else
      (void)printf("no platform runs in %s\n", r->root);
  } else if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (json) {
    (void)printf("%s\n", a.body);
    code = CLI_OK;
  } else if (cli_json_read(&status, a.body, a.len)) {
    print_status(status);
    if (r->root != NULL)
      cli_print_disk(r->root);
    cli_json_free(&status);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  return code;
}

int cli_do_status(const cli_status_args *a)
{
  int code = CLI_NO;
  cli_remote r;

  if (a->system && cli_root == NULL)
    cli_root = cli_system_root();
  if (cli_remote_open(&r, false)) {
    code = show_status(&r, a->json);
    cli_remote_close(&r);
  }
  return code;
}
