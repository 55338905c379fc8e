/*
 * rate.c - requests of the API by the clock
 *
 *   openpai-bench api-rate [--json] [--only PART] [SECONDS]
 *
 * over a UNIX socket, asked by another process, at 1, 16 and 64 connections,
 * in turn with bare libmicrohttpd (api_ask.c).  Here: a job, and a list of
 * a few.
 */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 100 };

/* --- what is asked ---------------------------------------------------------------- */

static size_t ask_detail(char *to, size_t size, long n)
{
  return (size_t)snprintf(to, size,
                          "GET /api/v2/jobs/bench~j%ld HTTP/1.1\r\nHost: "
                          "x\r\n\r\n",
                          n % JOBS);
}

static size_t ask_list(char *to, size_t size, long n)
{
  (void)n;
  return (size_t)snprintf(to, size,
                          "GET /api/v2/jobs?limit=20&order=submissionTime,"
                          "DESC HTTP/1.1\r\nHost: x\r\n\r\n");
}

static const struct kind {
  const char *name;
  api_request request;
  int status;
} kinds[] = { { "api-detail", ask_detail, 200 },
              { "api-list", ask_list, 200 } };

/* --- ours -------------------------------------------------------------------------- */

/* JOBS that are over, and one that has all of the machine. */
static int begin(void)
{
  char name[32];
  int all;

  if (api_open(0, NULL, NULL) < 0)
    return -1;
  for (int i = 0; i < JOBS; i++) {
    (void)snprintf(name, sizeof(name), "j%d", i);
    if (api_submit(name, 0, "true") < 0)
      return -1;
  }
  while (api.ended < JOBS && pai_loop_run_once(api.loop) > 0)
    ;
  all = api_submit("all", api.cpus, "sleep 3600");
  while (all > 0 && api.running != all && pai_loop_run_once(api.loop) > 0)
    ;
  return all;
}

static int count_bytes(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  *(size_t *)user_data += len;
  return 0;
}

/* How long our answers are. */
static size_t answer_length(size_t kind)
{
  pai_job_query q = PAI_JOB_QUERY_INIT;
  pai_job_id job;
  size_t len = 0;

  q.limit = 20;
  if (kind == 0 &&
      pai_platform_find(&job, api.platform, "bench~j1", NULL) == PAI_OK)
    (void)!pai_platform_show(api.platform, job, -1, count_bytes, &len, NULL);
  if (kind == 1)
    (void)!pai_platform_list(api.platform, &q, count_bytes, &len, NULL);
  return len > 0 ? len : 70;
}

int api_rates(void)
{
  static const int connections[] = { 1, 16, 64 };
  int all = begin(), rc = all < 0 ? -1 : 0;

  for (size_t k = 0; k < PAI__LEN(kinds) && rc == 0; k++)
    for (size_t i = 0; i < PAI__LEN(connections) && rc == 0; i++)
      rc = api_compare(kinds[k].name, connections[i], kinds[k].status,
                       answer_length(k), kinds[k].request, 0);
  api_close(all);
  return rc;
}

static const struct {
  const char *name;
  int (*run)(void);
} parts[] = { { "rates", api_rates },     { "pages", api_pages },
              { "submits", api_submits }, { "follow", api_follow },
              { "worst", api_worst },     { "extender", api_extender },
              { "express", api_express } };

int main(int argc, char **argv)
{
  const char *only = NULL;
  int rc = 0;

  api.seconds = 0.3;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0)
      api.json = true;
    else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      only = argv[++i];
    else
      api.seconds = strtod(argv[i], NULL);
  }
  for (size_t i = 0; i < PAI__LEN(parts) && rc == 0; i++)
    if (only == NULL || strcmp(only, parts[i].name) == 0)
      rc = parts[i].run();
  if (rc < 0)
    (void)fprintf(stderr, "openpai-bench: the platform cannot be asked\n");
  return rc < 0;
}
