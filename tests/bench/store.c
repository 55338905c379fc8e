/*
 * store.c - pages of 100,000 jobs; and commits, as a program of its own:
 *
 *   openpai-bench store-commit [--json] [FOLDER]
 *
 * prints, by the clock, how many jobs a second become durable in groups, and
 * how often a plain loop of pwrite() and fdatasync() comes round in the same
 * folder, in turn with them.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp() */

#include "bench.h"

#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 100000, GROUP = 1000, PAGE = 20 };

/* --- jobs ------------------------------------------------------------------------ */

static const char *const states[] = { "SUCCEEDED", "FAILED", "STOPPED" };
static const char *const priorities[] = { NULL, "prod", "test" };

/* One of 100,000: few are live, and those are the latest. */
static int put_job(pai__batch *batch, uint64_t id, const char *config)
{
  bool running = id > JOBS - 50, waiting = !running && id > JOBS - 500;
  char user[16], name[32], vc[16];
  pai__job_row row = {
    .id = id,
    .user = user,
    .name = name,
    .submitted = 1700000000000000 + (pai_time)id * 1000000,
    .vc = vc,
    .priority = priorities[id % 3],
    .state = running   ? "RUNNING"
             : waiting ? "WAITING"
                       : states[id * 7 % 3],
    .sub_state = running ? "AttemptRunning" : "Completed",
    .execution = "START",
    .live = running || waiting,
    .completed =
      running || waiting ? 0 : 1700000001000000 + (pai_time)id * 1000000,
    .exit_code = { !running && !waiting, 0 },
    .gpus = (uint32_t)(id * 13 % 9),
    .tasks = (uint32_t)(id * 11 % 5) + 1,
    .roles = 1,
    .user_retries = (uint32_t)(id % 17 == 0),
    .now = { .state = "AttemptCompleted" },
    .config = config,
  };
  int rc;

  (void)snprintf(user, sizeof(user), "user%02u", (unsigned)(id * 31 % 100));
  (void)snprintf(vc, sizeof(vc), "vc%u", (unsigned)(id * 17 % 10));
  (void)snprintf(name, sizeof(name), "resnet50_%llu_%llu",
                 (unsigned long long)(id * 7919 % 1000),
                 (unsigned long long)id);
  rc = pai__batch_put_job(batch, &row);
  if (rc == PAI_OK && id % 10 == 0)
    rc = pai__batch_put_tag(batch, id, "paper");
  if (rc == PAI_OK && id % 5000 == 0)
    rc = pai__batch_put_tag(batch, id, "best");
  return rc;
}

static int put_group(pai__store *store, pai__batch *batch, uint64_t *next,
                     unsigned group, const char *config)
{
  int rc = PAI_OK;

  pai__batch_clear(batch);
  for (unsigned i = 0; i < group && rc == PAI_OK; i++)
    rc = put_job(batch, (*next)++, config);
  return rc == PAI_OK ? pai__store_commit(store, batch, NULL) : rc;
}

/* A job's file, as long as many are. */
static const char *any_config(void)
{
  static char config[2001];

  memset(config, '#', sizeof(config) - 1);
  return config;
}

/* --- a folder ---------------------------------------------------------------------- */

static char folder[256];

static void remove_folder(void)
{
  char command[300];

  (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
  if (folder[0] != '\0' && system(command) != 0)
    fprintf(stderr, "openpai-bench: cannot remove %s\n", folder);
}

static pai__store *open_in(const char *parent)
{
  pai__store *store;

  (void)snprintf(folder, sizeof(folder), "%s/openpai-bench-XXXXXX", parent);
  if (mkdtemp(folder) == NULL) {
    folder[0] = '\0';
    return NULL;
  }
  (void)atexit(remove_folder);
  if (pai__store_open(&store, &pai__libc_alloc, folder, NULL, NULL) < 0)
    return NULL;
  return store;
}

/* All lists read the same store, which the first one fills. */
static void *setup(void)
{
  static pai__store *store;
  pai__batch *batch;
  uint64_t next = 1;
  int rc = PAI_OK;

  if (store != NULL)
    return store;
  store = open_in("/tmp");
  if (store == NULL || pai__batch_new(&batch, store, NULL) < 0)
    return NULL;
  while (next <= JOBS && rc == PAI_OK)
    rc = put_group(store, batch, &next, GROUP, any_config());
  pai__batch_free(batch);
  return rc == PAI_OK ? store : NULL;
}

static void teardown(void *data)
{
  (void)data; /* the next one uses it */
}

/* --- lists --------------------------------------------------------------------------- */

static int count_row(void *user_data, const pai__job_row *row)
{
  *(size_t *)user_data += row->id != 0;
  return PAI_OK;
}

static int list(void *data, pai__job_query *q, uint64_t *total, size_t rows)
{
  size_t n = 0;
  int rc;

  q->limit = PAGE;
  rc = pai__store_list(data, q, count_row, &n, total, NULL);
  return rc == PAI_OK && n != rows ? PAI_EINTERNAL : rc;
}

#define NAMES(...)                                                   \
  {                                                                  \
    (const char *const[]){ __VA_ARGS__ },                            \
      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), \
  }
#define LIST(name, rows, ...)           \
  static int name(void *data)           \
  {                                     \
    pai__job_query q = { __VA_ARGS__ }; \
    return list(data, &q, NULL, rows);  \
  }

LIST(newest, PAGE, .order = PAI__BY_SUBMITTED)
LIST(of_user, PAGE, .users = NAMES("user42"))
LIST(of_users, PAGE, .users = NAMES("user42", "user07", "user66"))
LIST(of_vc, PAGE, .vcs = NAMES("vc3"))
LIST(of_state, PAGE, .states = NAMES("FAILED"))
LIST(live, PAGE, .states = NAMES("RUNNING", "WAITING"))
LIST(of_user_state, PAGE, .users = NAMES("user42"), .states = NAMES("FAILED"))
LIST(of_vc_state, PAGE, .vcs = NAMES("vc3"), .states = NAMES("FAILED"))
LIST(of_user_live, 5, .users = NAMES("user42"),
     .states = NAMES("RUNNING", "WAITING"))
LIST(of_priority, PAGE, .priorities = NAMES("default"))
LIST(of_tag, PAGE, .tags = NAMES("paper"))
LIST(of_rare_tag, PAGE, .tags = NAMES("best"))
LIST(without_tag, PAGE, .no_tags = NAMES("paper"))
LIST(keyword, PAGE, .keyword = "net50_7")
LIST(rare_keyword, 1, .keyword = "_77777")
LIST(by_name, PAGE, .order = PAI__BY_NAME)
LIST(by_gpus, PAGE, .order = PAI__BY_GPUS)
LIST(by_completed, PAGE, .order = PAI__BY_COMPLETED)
LIST(by_retries, PAGE, .order = PAI__BY_RETRIES)
LIST(deep, PAGE, .offset = 50000)
LIST(after, PAGE, .after_id = 50000, .after_submitted = 1700050000000000)

static int counted(void *data)
{
  pai__job_query q = { .users = NAMES("user42") };
  uint64_t total;

  return list(data, &q, &total, PAGE);
}

static int find_one(void *data)
{
  size_t n = 0;

  return pai__store_job(data, 77777, count_row, &n, NULL);
}

#define ROW(name, what, fn)                          \
  {                                                  \
    name, what, "page", 0, setup, teardown, fn, NULL \
  }

const bench bench_store[] = {
  ROW("store-list", "20 newest of 100,000 jobs", newest),
  ROW("store-list-user", "of one user", of_user),
  ROW("store-list-users", "of three users", of_users),
  ROW("store-list-vc", "of a virtual cluster", of_vc),
  ROW("store-list-state", "failed", of_state),
  ROW("store-list-live", "running or waiting", live),
  ROW("store-list-user-state", "of one user, failed", of_user_state),
  ROW("store-list-vc-state", "of a virtual cluster, failed", of_vc_state),
  ROW("store-list-user-live", "of one user, not over", of_user_live),
  ROW("store-list-priority", "of a priority", of_priority),
  ROW("store-list-tag", "of a tag that 10,000 have", of_tag),
  ROW("store-list-rare-tag", "of a tag that 20 have", of_rare_tag),
  ROW("store-list-no-tag", "without a tag", without_tag),
  ROW("store-list-keyword", "a keyword that 10,000 have", keyword),
  ROW("store-list-rare", "a keyword that one has", rare_keyword),
  ROW("store-list-by-name", "by name", by_name),
  ROW("store-list-by-gpus", "by GPUs", by_gpus),
  ROW("store-list-by-end", "by completion", by_completed),
  ROW("store-list-by-retries", "by retries", by_retries),
  ROW("store-list-deep", "offset 50,000", deep),
  ROW("store-list-after", "behind the 50,000th", after),
  ROW("store-list-counted", "of one user, with their number", counted),
  ROW("store-job", "one job by its id", find_one),
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};

/* --- commits ---------------------------------------------------------------------------- */

enum { TURNS = 15, SYNCS = 150, MOST_COMMITS = 100, LEAST_COMMITS = 2 };

/* What one turn of both came to. */
typedef struct turn {
  double jobs, syncs; /* a second, by the clock */
  double cpu;         /* of ours, microseconds a job */
  double ratio;
} turn;

/* What the disk can do: 4 KiB into a file that is there. */
static int sync_plain(turn *t)
{
  static const char block[4096];
  char path[300];
  double start;
  int fd, n = 0;

  (void)snprintf(path, sizeof(path), "%s/plain", folder);
  fd = open(path, O_WRONLY | O_CREAT, 0600);
  if (fd < 0)
    return -1;
  start = bench_seconds(CLOCK_MONOTONIC);
  while (n < SYNCS && pwrite(fd, block, sizeof(block), (off_t)n * 4096) > 0 &&
         fdatasync(fd) == 0)
    n++;
  t->syncs = n / (bench_seconds(CLOCK_MONOTONIC) - start);
  (void)close(fd);
  return n == SYNCS ? 0 : -1;
}

static int commit_groups(turn *t, pai__store *store, pai__batch *batch,
                         uint64_t *next, unsigned group)
{
  unsigned commits = 1000 / group;
  double start = bench_seconds(CLOCK_MONOTONIC);
  double cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);

  commits = commits > MOST_COMMITS    ? MOST_COMMITS
            : commits < LEAST_COMMITS ? LEAST_COMMITS
                                      : commits;
  for (unsigned i = 0; i < commits; i++)
    if (put_group(store, batch, next, group, any_config()) < 0)
      return -1;
  t->jobs = commits * group / (bench_seconds(CLOCK_MONOTONIC) - start);
  t->cpu =
    (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e6 / (commits * group);
  return 0;
}

static int by_ratio(const void *a, const void *b)
{
  double x = ((const turn *)a)->ratio, y = ((const turn *)b)->ratio;

  return (x > y) - (x < y);
}

/* The turn in the middle: disks have moods, but mostly longer ones. */
static int run_turns(turn *out, pai__store *store, pai__batch *batch,
                     uint64_t *next, unsigned group)
{
  turn turns[TURNS];

  for (int i = 0; i < TURNS; i++) {
    if (sync_plain(&turns[i]) < 0 ||
        commit_groups(&turns[i], store, batch, next, group) < 0)
      return -1;
    turns[i].ratio = turns[i].jobs / turns[i].syncs;
  }
  qsort(turns, TURNS, sizeof(turns[0]), by_ratio);
  *out = turns[TURNS / 2];
  return 0;
}

static void print_turn(unsigned group, const turn *t, bool json)
{
  if (json)
    printf("{\"name\":\"store-commit\",\"group\":%u,\"jobs_s\":%.0f,"
           "\"fdatasync_s\":%.0f,\"ratio\":%.3f,\"cpu_us\":%.1f}\n",
           group, t->jobs, t->syncs, t->ratio, t->cpu);
  else
    printf("groups of %4u %8.0f jobs a second, %6.1f us of processor each   "
           "fdatasync %8.0f a second   ratio %6.2f\n",
           group, t->jobs, t->cpu, t->syncs, t->ratio);
  fflush(stdout);
}

int bench_store_commit(int argc, char **argv)
{
  static const unsigned groups[] = { 1, 10, 100, 1000 };
  bool json = argc > 0 && strcmp(argv[0], "--json") == 0;
  pai__store *store = open_in(argc > (json ? 1 : 0) ? argv[argc - 1] : ".");
  pai__batch *batch = NULL;
  uint64_t next = 1;
  int rc = store == NULL || pai__batch_new(&batch, store, NULL) < 0 ? -1 : 0;

  for (size_t g = 0; g < PAI__LEN(groups) && rc == 0; g++) {
    turn t;
    rc = run_turns(&t, store, batch, &next, groups[g]);
    if (rc == 0)
      print_turn(groups[g], &t, json);
  }
  pai__batch_free(batch);
  pai__store_close(store);
  if (rc != 0)
    fprintf(stderr, "openpai-bench: store-commit failed\n");
  return rc != 0;
}
