/* cluster.c - clusters: reading ours against libyaml's bare events, making one
 * of a description against filling as much memory */
#include "bench.h"

#include <openpai/cluster.h>

#include <malloc.h>
#include <stdlib.h>

static const char description[] =
  "nodes:10000 gpu:8:h100 racks:500 cpus:128 mem:2T numa:2 link:8";

static pai__buf text;
static size_t bytes; /* that the cluster asked for */

static int collect(void *user_data, const char *data, size_t len)
{
  pai__buf_add(user_data, data, len);
  return PAI_OK;
}

static void *setup_text(void)
{
  pai_cluster *c;
  int rc;

  pai__buf_init(&text, &pai__libc_alloc);
  if (pai_cluster_synthetic(&c, description, NULL, NULL) < 0)
    return NULL;
  rc = pai_cluster_write(c, PAI_FORMAT_YAML, collect, &text, NULL);
  pai_cluster_free(c);
  return rc == PAI_OK && pai__buf_ok(&text) ? &text : NULL;
}

static void teardown_text(void *data)
{
  pai__buf_dispose(data);
}

static int load(void *data)
{
  const pai__buf *b = data;
  pai_cluster *c;
  int rc = pai_cluster_parse(&c, b->data, b->len, NULL, NULL);

  pai_cluster_free(c);
  return rc;
}

/* --- made ----------------------------------------------------------------- */

static void *count(void *ctx, void *p, size_t old_size, size_t new_size)
{
  *(size_t *)ctx += new_size > old_size ? new_size - old_size : 0;
  if (new_size != 0)
    return realloc(p, new_size);
  free(p);
  return NULL;
}

/* Large blocks come fresh from the system, as in a program that makes one
 * cluster, and not out of a cache that the round before has filled. */
static void *setup_made(void)
{
  pai_alloc counting = { &bytes, count };
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;

  (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
  opts.alloc = &counting;
  bytes = 0;
  if (pai_cluster_synthetic(&c, description, &opts, NULL) < 0)
    return NULL;
  pai_cluster_free(c);
  return &bytes;
}

static void teardown_made(void *data)
{
  (void)data;
}

static int make(void *data)
{
  pai_cluster *c;
  int rc = pai_cluster_synthetic(&c, description, NULL, NULL);

  (void)data;
  pai_cluster_free(c);
  return rc;
}

/* So that no compiler leaves it out. */
static void *(*volatile set)(void *to, int byte, size_t n) = memset;

static int fill(void *data)
{
  size_t n = *(size_t *)data;
  char *p = malloc(n);

  if (p == NULL)
    return PAI_ENOMEM;
  set(p, 1, n);
  free(p);
  return PAI_OK;
}

const bench bench_cluster[] = {
  { "cluster-load", "10,000 nodes of 8 GPUs, against libyaml's events",
    "cluster", 0.3, setup_text, teardown_text, load, bench_yaml_events },
  { "cluster-make", "the same of a description, against filling the memory",
    "cluster", 0.2, setup_made, teardown_made, make, fill },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
