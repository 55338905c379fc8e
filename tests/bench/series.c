/* series.c - a second of time series of 100 nodes against bare writing */
#define _XOPEN_SOURCE 700 /* pwrite(), mkdtemp() */

#include "bench.h"

#include "series/series.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NODES = 100, GPUS = 800, TASKS = 700, PARTS = 10 };

static struct {
  char folder[64];
  pai__series_store *series;
  int64_t now;
  int fd;
} data;

static void *setup(void)
{
  char path[80];

  (void)snprintf(data.folder, sizeof(data.folder), "/tmp/bench-XXXXXX");
  if (mkdtemp(data.folder) == NULL)
    return NULL;
  (void)snprintf(path, sizeof(path), "%s/bare", data.folder);
  data.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  (void)snprintf(path, sizeof(path), "%s/series", data.folder);
  data.now = 1767229200;
  return data.fd >= 0 && pai__series_open(&data.series, &pai__libc_alloc, NULL,
                                          path) == PAI_OK
           ? &data
           : NULL;
}

static void teardown(void *unused)
{
  static const char *const names[] = {
    "bare",         "series/machines",         "series/gpus",
    "series/tasks", "series/virtual-clusters", "series/queue"
  };
  char path[100];

  (void)unused;
  pai__series_close(data.series);
  (void)close(data.fd);
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    (void)snprintf(path, sizeof(path), "%s/%s", data.folder, names[i]);
    (void)unlink(path);
  }
  (void)snprintf(path, sizeof(path), "%s/series", data.folder);
  (void)rmdir(path);
  (void)rmdir(data.folder);
}

static int put_all(enum pai__series_kind kind, const char *form, int n)
{
  const int64_t values[PAI__SERIES_METRICS] = { 500, 1 << 30, 500, 70,
                                                500, 500,     500, 500 };
  char name[64];
  int rc = PAI_OK;

  for (int i = 0; i < n && rc == PAI_OK; i++) {
    (void)snprintf(name, sizeof(name), form, i);
    rc = pai__series_put(data.series, kind, name, data.now, values);
  }
  return rc;
}

/* The rows of a second; a tenth of the series is flushed. */
static int put(void *unused)
{
  int rc = put_all(PAI__SERIES_MACHINE, "node%d", NODES);

  (void)unused;
  if (rc == PAI_OK)
    rc = put_all(PAI__SERIES_GPU, "node/%d", GPUS);
  if (rc == PAI_OK)
    rc = put_all(PAI__SERIES_TASK, "%d/worker/0", TASKS);
  pai__series_flush(data.series, (uint32_t)(data.now % PARTS), PARTS);
  data.now++;
  return rc;
}

/* As many rows, each written alone. */
static int write_rows(void *unused)
{
  static const char row[16];

  (void)unused;
  for (int i = 0; i < NODES + GPUS + TASKS; i++)
    if (pwrite(data.fd, row, sizeof(row), (off_t)i * 20000) !=
        (ssize_t)sizeof(row))
      return PAI_EIO;
  return PAI_OK;
}

const bench bench_series[] = {
  { "series-put",
    "a second of 100 nodes, 800 GPUs and 700 tasks, against a write for each",
    "series", 0.5, setup, teardown, put, write_rows },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
