/* api_pages.c - pages of 20 of 100,000 jobs, a job of 1,000 tasks, and the
 * memory that this takes */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 100000, TASKS = 1000, TIMES = 20 };

static const char *const states[] = { "SUCCEEDED", "FAILED", "STOPPED" };
static const char *const priorities[] = { NULL, "prod", "test" };

/* --- jobs ------------------------------------------------------------------------- */

static int put_tasks(pai__batch *batch, uint64_t id)
{
  int rc = PAI_OK;

  for (uint32_t i = 0; i < TASKS && rc == PAI_OK; i++) {
    pai__task_row row = {
      .job = id,
      .role = "worker",
      .index = i,
      .state = "SUCCEEDED",
      .sub_state = "Completed",
      .created = 1700000000000000,
      .launched = 1700000000100000,
      .completed = 1700000000200000,
      .exit_code = { true, 0 },
      .now = { .uid = "0b5f0d6e-7a3c-5e0f-9d5e-2c1f6e1b8a77",
               .state = "Completed",
               .node = "box",
               .ip = "10.0.0.1",
               .ports = "{\"http\":\"15000,15001\"}",
               .dir = "0/worker-0",
               .created = 1700000000000000,
               .launched = 1700000000100000,
               .completed = 1700000000200000,
               .exit_code = { true, 0 } },
    };

    rc = pai__batch_put_task(batch, &row);
  }
  return rc;
}

static int put_job(pai__batch *batch, uint64_t id, void *data)
{
  char user[16], name[32], vc[16];
  pai__job_row row = {
    .id = id,
    .user = user,
    .name = name,
    .submitted = 1700000000000000 + (pai_time)id * 1000000,
    .vc = vc,
    .priority = priorities[id % 3],
    .state = states[id * 7 % 3],
    .sub_state = "Completed",
    .execution = "START",
    .created = 1700000000000000 + (pai_time)id * 1000000,
    .launched = 1700000000500000 + (pai_time)id * 1000000,
    .completed = 1700000001000000 + (pai_time)id * 1000000,
    .exit_code = { true, 0 },
    .gpus = (uint32_t)(id * 13 % 9),
    .tasks = id == JOBS ? TASKS : (uint32_t)(id * 11 % 5) + 1,
    .roles = 1,
    .user_retries = (uint32_t)(id % 17 == 0),
    .now = { .uid = "x",
             .state = "AttemptCompleted",
             .exit_code = { true, 0 } },
    .config = data,
  };
  int rc;

  (void)snprintf(user, sizeof(user), "user%02u", (unsigned)(id * 31 % 100));
  (void)snprintf(vc, sizeof(vc), "vc%u", (unsigned)(id * 17 % 10));
  (void)snprintf(name, sizeof(name), "resnet50_%llu_%llu",
                 (unsigned long long)(id * 7919 % 1000),
                 (unsigned long long)id);
  if (id == JOBS)
    (void)snprintf(name, sizeof(name), "large");
  rc = pai__batch_put_job(batch, &row);
  if (rc == PAI_OK && id % 10 == 0)
    rc = pai__batch_put_tag(batch, id, "paper");
  if (rc == PAI_OK && id == JOBS)
    rc = put_tasks(batch, id);
  return rc;
}

/* --- what is asked ------------------------------------------------------------------ */

#define LIST "/api/v2/jobs?limit=20&order=submissionTime,DESC"

static size_t write_get(char *to, size_t size, const char *path)
{
  return (size_t)snprintf(to, size, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n",
                          path);
}

#define ASK(name, ...)                               \
  static size_t name(char *to, size_t size, long n)  \
  {                                                  \
    char path[256];                                  \
                                                     \
    (void)n;                                         \
    (void)snprintf(path, sizeof(path), __VA_ARGS__); \
    return write_get(to, size, path);                \
  }

ASK(ask_newest, LIST)
ASK(ask_user, LIST "&username=user%02ld", n % 100)
ASK(ask_vc, LIST "&vc=vc%ld", n % 10)
ASK(ask_state, LIST "&state=%s", states[n % 3])
ASK(ask_user_state, LIST "&username=user%02ld&state=FAILED", n % 100)
ASK(ask_deep, LIST "&offset=%ld", n * 7919 % (JOBS - 20))
ASK(ask_total, LIST "&username=user%02ld&withTotalCount=true", n % 100)
ASK(ask_keyword, LIST "&keyword=net50_%ld", n % 1000)
ASK(ask_rare, LIST "&keyword=_%05ld", 10000 + n * 7919 % 89999)
ASK(ask_no_name, LIST "&keyword=nobody%%27s")
ASK(ask_letter, LIST "&keyword=Q")
ASK(ask_large, "/api/v2/jobs/user%02u~large", (unsigned)(JOBS * 31ul % 100))

static const struct kind {
  const char *name;
  api_request request;
} pages[] = {
  { "api-page", ask_newest },
  { "api-page-user", ask_user },
  { "api-page-vc", ask_vc },
  { "api-page-state", ask_state },
  { "api-page-user-state", ask_user_state },
  { "api-page-deep", ask_deep },
  { "api-page-total", ask_total },
}, dear[] = {
  { "api-keyword", ask_keyword },
  { "api-keyword-rare", ask_rare },
  { "api-keyword-none", ask_no_name },
  { "api-keyword-letter", ask_letter },
  { "api-detail-1000", ask_large },
};

/* --- measuring ------------------------------------------------------------------------ */

static int count_bytes(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  *(size_t *)user_data += len;
  return 0;
}

/* Each list brings more jobs into memory, until all are there. */
static size_t page_length(void)
{
  pai_job_query q = PAI_JOB_QUERY_INIT;
  size_t len = 0;

  q.limit = 20;
  for (int i = 0; i < JOBS / 100; i++) {
    len = 0;
    if (pai_platform_list(api.platform, &q, count_bytes, &len, NULL) < 0)
      return 0;
  }
  return len;
}

/* Processor time of one request, all of it but the asker's: the median. */
static int measure_dear(const struct kind *kind)
{
  double ms[5], seconds = api.seconds;

  if (api.seconds < 0.3) /* some hundreds of them */
    api.seconds = 0.3;
  for (size_t i = 0; i < PAI__LEN(ms); i++) {
    double cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    double rate = api_ask(api.loop, api.socket, 1, kind->request);

    if (rate <= 0)
      return -1;
    ms[i] = 1e3 * (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) /
            (rate * api.seconds);
  }
  api.seconds = seconds;
  qsort(ms, PAI__LEN(ms), sizeof(ms[0]), bench_by_size);
  bench_print_limit(kind->name, ms[PAI__LEN(ms) / 2], 3, "ms of processor",
                    api.json);
  return 0;
}

/* Of this process, in MiB. */
static double resident(void)
{
  FILE *in = fopen("/proc/self/statm", "r");
  unsigned long all, pages_used = 0;

  if (in != NULL && fscanf(in, "%lu %lu", &all, &pages_used) != 2)
    pages_used = 0;
  if (in != NULL)
    (void)fclose(in);
  return (double)pages_used * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* --- Express (node/pages.py) ------------------------------------------------------------ */

/* Processor time of another process, in seconds. */
static double time_of(int pid)
{
  unsigned long user = 0, kernel = 0;
  char path[64];
  FILE *in;

  (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  in = fopen(path, "r");
  if (in == NULL ||
      fscanf(in,
             "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
             "%lu %lu",
             &user, &kernel) != 2)
    user = 0;
  if (in != NULL)
    (void)fclose(in);
  return ((double)user + (double)kernel) / (double)sysconf(_SC_CLK_TCK);
}

static int compare_express(int pid, const char *socket, int connections)
{
  enum { TURNS = 3 };
  double mine[TURNS], other[TURNS], ratio[TURNS], cpu, rate;
  char name[64];

  for (int i = 0; i < TURNS; i++) {
    cpu = time_of(pid);
    rate = api_ask(api.loop, socket, connections, ask_newest);
    other[i] = (time_of(pid) - cpu) / (rate * api.seconds);
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (rate <= 0 ||
        (rate = api_ask(api.loop, api.socket, connections, ask_newest)) <= 0)
      return -1;
    mine[i] =
      (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (rate * api.seconds);
    ratio[i] = other[i] / mine[i];
  }
  qsort(mine, TURNS, sizeof(double), bench_by_size);
  qsort(other, TURNS, sizeof(double), bench_by_size);
  qsort(ratio, TURNS, sizeof(double), bench_by_size);
  (void)snprintf(name, sizeof(name), "api-express-%d-cpu", connections);
  bench_print(&(bench){ .name = name, .unit = "request", .goal = 20 },
              1e9 * mine[TURNS / 2], 1e9 * other[TURNS / 2], api.json);
  return 0;
}

int api_express(void)
{
  const char *where = getenv("OPENPAI_BENCH_EXPRESS"); /* PID:SOCKET */
  const char *colon = where != NULL ? strchr(where, ':') : NULL;
  static char config[2001];
  int rc = 0;

  if (colon == NULL)
    return 0; /* node is not everywhere */
  memset(config, '#', sizeof(config) - 1);
  if (api_open(JOBS, put_job, config) < 0 || page_length() == 0)
    rc = -1;
  for (int connections = 1; connections <= 64 && rc == 0; connections *= 8)
    rc = compare_express(atoi(where), colon + 1, connections);
  api_close(0);
  return rc;
}

int api_pages(void)
{
  static const int connections[] = { 1, 16, 64 };
  static char config[2001];
  size_t len;
  int rc;

  memset(config, '#', sizeof(config) - 1);
  rc = api_open(JOBS, put_job, config);
  len = rc == 0 ? page_length() : 0;
  rc = len > 0 ? 0 : -1;
  for (size_t k = 0; k < PAI__LEN(dear) && rc == 0; k++)
    rc = measure_dear(&dear[k]);
  if (rc == 0)
    bench_print_limit("api-memory", resident(), 64, "MiB", api.json);
  for (size_t k = 0; k < PAI__LEN(pages) && rc == 0; k++)
    for (size_t i = 0; i < PAI__LEN(connections) && rc == 0; i++)
      rc = api_compare(pages[k].name, connections[i], 200, len,
                       pages[k].request, 0.3);
  if (rc == 0)
    bench_print_limit("api-memory-after", resident(), 64, "MiB", api.json);
  api_close(0);
  return rc;
}
