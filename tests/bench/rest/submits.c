/*
 * submits.c - submissions of 64 connections, each of which is in the
 * database when it is answered
 *
 * In turn with them: what the disk can do, a loop of pwrite() and fdatasync()
 * of 4 KiB; and the rows of as many such jobs in groups of 100.  Where the disk
 * syncs in no time, nothing can be gained by syncing less: with
 * OPENPAI_BENCH_SYNC_US fdatasync() takes so many microseconds at least, for
 * all three.
 */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5, CONNECTIONS = 64, SYNCS = 100, GROUP = 100, GROUPS = 10 };

/* SQLite finds this one before libc's, if it can be seen. */
__attribute__((visibility("default"))) int fdatasync(int fd);

int fdatasync(int fd)
{
  static double least = -1;
  double begin = bench_seconds(CLOCK_MONOTONIC), left;
  const char *text = getenv("OPENPAI_BENCH_SYNC_US");
  int rc = (int)syscall(SYS_fdatasync, fd);

  if (least < 0)
    least = text != NULL ? strtod(text, NULL) / 1e6 : 0;
  left = begin + least - bench_seconds(CLOCK_MONOTONIC);
  if (left > 0) {
    struct timespec t = { 0, (long)(left * 1e9) };

    (void)nanosleep(&t, NULL);
  }
  return rc;
}

static size_t ask_submit(char *to, size_t size, long n)
{
  char body[1024];
  int len = snprintf(body, sizeof(body), API_JOB, "w", api.cpus, "true");

  return (size_t)snprintf(to, size,
                          "POST /api/v2/jobs?name=w%d-%ld HTTP/1.1\r\nHost: "
                          "x\r\nContent-Type: text/yaml\r\n"
                          "Content-Length: %d\r\n\r\n%s",
                          (int)getpid(), n, len, body);
}

/* --- the two baselines -------------------------------------------------------------- */

static double sync_plain(void)
{
  static const char block[4096];
  char path[BENCH_FOLDER + 8];
  double begin;
  int fd, n = 0;

  (void)snprintf(path, sizeof(path), "%s/plain", api.root);
  fd = open(path, O_WRONLY | O_CREAT, 0600);
  begin = bench_seconds(CLOCK_MONOTONIC);
  while (fd >= 0 && n < SYNCS &&
         pwrite(fd, block, sizeof(block), (off_t)n * 4096) > 0 &&
         fdatasync(fd) == 0)
    n++;
  if (fd >= 0)
    (void)close(fd);
  return n == SYNCS ? n / (bench_seconds(CLOCK_MONOTONIC) - begin) : -1;
}

/* What a submission of this job writes: it and its file, and then, as it waits,
 * it once more and its task. */
static int put_rows(pai__batch *batch, uint64_t id)
{
  static char fold[120], task_fold[40];
  char name[32], text[1024];
  pai__job_row row = { .id = id,
                       .user = "bench",
                       .name = name,
                       .submitted = 1700000000000000 + (pai_time)id,
                       .vc = "default",
                       .state = "WAITING",
                       .sub_state = "AttemptCreationPending",
                       .execution = "START",
                       .live = true,
                       .created = 1700000000000000,
                       .tasks = 1,
                       .roles = 1,
                       .now = { .uid = "0b5f0d6e-7a3c-5e0f-9d5e-2c1f6e1b8a77",
                                .state = "AttemptCreationPending" },
                       .fold = { fold, sizeof(fold) },
                       .config = text };
  pai__task_row task = { .job = id,
                         .role = "a",
                         .state = "WAITING",
                         .sub_state = "TaskAttemptCreationPending",
                         .created = 1700000000000000,
                         .now = { .state = "TaskAttemptCreationPending" },
                         .fold = { task_fold, sizeof(task_fold) } };

  (void)snprintf(name, sizeof(name), "w%llu", (unsigned long long)id);
  (void)snprintf(text, sizeof(text), API_JOB, name, api.cpus, "true");
  if (pai__batch_put_job(batch, &row) < 0)
    return -1;
  row.config = NULL;
  return pai__batch_put_job(batch, &row) < 0 ||
             pai__batch_put_task(batch, &task) < 0
           ? -1
           : 0;
}

static double insert_groups(pai__store *store, pai__batch *batch,
                            uint64_t *next)
{
  double begin = bench_seconds(CLOCK_MONOTONIC);

  for (int g = 0; g < GROUPS; g++) {
    pai__batch_clear(batch);
    for (int i = 0; i < GROUP; i++)
      if (put_rows(batch, ++*next) < 0)
        return -1;
    if (pai__store_commit(store, batch, NULL) < 0)
      return -1;
  }
  return GROUPS * GROUP / (bench_seconds(CLOCK_MONOTONIC) - begin);
}

/* --- in turn ------------------------------------------------------------------------- */

static void print(const char *name, double ours, double base, double ratio,
                  double goal)
{
  if (api.json)
    printf("{\"name\":\"%s\",\"ours_s\":%.0f,\"baseline_s\":%.0f,"
           "\"ratio\":%.3f,\"goal\":%.2f}\n",
           name, ours, base, ratio, goal);
  else
    printf("%-30s %8.0f a second   baseline %8.0f   ratio %6.2f   goal "
           "%5.2f%s\n",
           name, ours, base, ratio, goal, ratio < goal ? "   missed" : "");
  fflush(stdout);
}

static double processor(void)
{
  return bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static int run_turns(pai__store *store, pai__batch *batch)
{
  double ours[TURNS], syncs[TURNS], groups[TURNS];
  double of_syncs[TURNS], of_groups[TURNS];
  double cpu[TURNS], groups_cpu[TURNS], begin;
  uint64_t next = 0;

  for (int i = 0; i < TURNS; i++) {
    syncs[i] = sync_plain();
    begin = processor();
    groups[i] = insert_groups(store, batch, &next);
    groups_cpu[i] = (processor() - begin) / (GROUPS * GROUP);
    begin = processor();
    ours[i] = api_ask(api.loop, api.socket, CONNECTIONS, ask_submit);
    cpu[i] = (processor() - begin) / (ours[i] * api.seconds);
    if (syncs[i] <= 0 || groups[i] <= 0 || ours[i] <= 0)
      return -1;
    of_syncs[i] = ours[i] / syncs[i];
    of_groups[i] = ours[i] / groups[i];
  }
  qsort(ours, TURNS, sizeof(double), bench_by_size);
  qsort(syncs, TURNS, sizeof(double), bench_by_size);
  qsort(groups, TURNS, sizeof(double), bench_by_size);
  qsort(cpu, TURNS, sizeof(double), bench_by_size);
  qsort(groups_cpu, TURNS, sizeof(double), bench_by_size);
  qsort(of_syncs, TURNS, sizeof(double), bench_by_size);
  qsort(of_groups, TURNS, sizeof(double), bench_by_size);
  print("api-submits-of-fdatasync", ours[TURNS / 2], syncs[TURNS / 2],
        of_syncs[TURNS / 2], 2);
  print("api-submits-of-groups", ours[TURNS / 2], groups[TURNS / 2],
        of_groups[TURNS / 2], 0.5);
  bench_print(&(bench){ .name = "api-submits-cpu", .unit = "job" },
              1e9 * cpu[TURNS / 2], 1e9 * groups_cpu[TURNS / 2], api.json);
  return 0;
}

int api_submits(void)
{
  char folder[BENCH_FOLDER];
  pai__store *store = NULL;
  pai__batch *batch = NULL;
  int all, rc = -1;

  if (bench_make_folder(folder) < 0 || api_open(0, NULL, NULL) < 0)
    return -1;
  all = api_submit("all", api.cpus, "sleep 3600");
  while (all > 0 && api.running != all && pai_loop_run_once(api.loop) > 0)
    ;
  if (all > 0 &&
      pai__store_open(&store, &pai__libc_alloc, folder, NULL, NULL) ==
        PAI_OK &&
      pai__batch_new(&batch, store, NULL) == PAI_OK)
    rc = run_turns(store, batch);
  pai__batch_free(batch);
  pai__store_close(store);
  bench_remove(folder);
  api_close(all);
  return rc;
}
