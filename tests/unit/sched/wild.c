/* wild.c - a policy that does anything it may, for tests */
#include "wild.h"

#include "base/base.h"
#include "base/prng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct wild {
  pai__prng prng;
} wild;

static int open_wild(void **state, void *data, const pai_policy_host *host,
                     const pai_cluster *cluster, const char *options)
{
  wild *w = calloc(1, sizeof(*w));

  (void)data;
  (void)host;
  (void)cluster;
  (void)options;
  if (w == NULL)
    return PAI_ENOMEM;
  w->prng = (pai__prng){ 7 };
  *state = w;
  return PAI_OK;
}

static void close_wild(void *state)
{
  free(state);
}

static int clone_wild(void **copy, const void *state, void *data,
                      const pai_policy_host *host)
{
  wild *w = calloc(1, sizeof(*w));

  (void)data;
  (void)host;
  if (w == NULL)
    return PAI_ENOMEM;
  *w = *(const wild *)state;
  *copy = w;
  return PAI_OK;
}

static int save_wild(const void *state, void *data, pai_write_cb write,
                     void *user_data)
{
  const wild *w = state;
  char text[64];
  int n = snprintf(text, sizeof(text), "{ \"at\": \"%" PRIx64 "\" }\n",
                   w->prng.state);

  (void)data;
  return write(user_data, text, (size_t)n);
}

static int load_wild(void **state, void *data, const pai_policy_host *host,
                     const pai_cluster *cluster, const char *options,
                     const char *saved, size_t len)
{
  int rc = open_wild(state, data, host, cluster, options);
  wild *w = *state;

  if (rc == PAI_OK && (len < 8 || sscanf(saved, "{\"at\":\"%" SCNx64 "\"}",
                                         &w->prng.state) != 1)) {
    close_wild(w);
    *state = NULL;
    return host->give_up(host, PAI_EINVAL,
                         "the policy's state is not its own");
  }
  return rc;
}

/* --- deciding ------------------------------------------------------------- */

enum { MOST = 64 };

/* Any GPUs of any nodes, in use or not: claimed, or to be started on. */
static int claim(wild *w, const pai_policy_host *host, uint64_t id)
{
  pai_task_place places[MOST];
  pai_request_view r = { .struct_size = sizeof(r) };
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  size_t n = 0;

  (void)host->view_sums(host, &sums);
  (void)host->view_request(host, id, &r);
  for (uint32_t i = 0; i < r.wants; i++) {
    pai_want want = { .struct_size = sizeof(want) };

    (void)host->view_want(host, id, i, &want);
    for (uint32_t k = 0; k < want.tasks && n < MOST; k++) {
      pai_task_place *p = &places[n++];
      uint64_t gpus = 0;

      *p = (pai_task_place){ .struct_size = sizeof(*p) };
      p->node = (uint32_t)pai__prng_below(&w->prng, sums.nodes);
      for (uint32_t g = 0, at = (uint32_t)pai__prng_below(&w->prng, 4);
           g < want.gpus && g < 4; g++)
        gpus |= UINT64_C(1) << ((at + g) % 4);
      p->gpus = gpus;
    }
  }
  return pai__prng_below(&w->prng, 4) == 0
           ? host->start_at(host, id, places, n)
           : host->claim_at(host, id, places, n);
}

static int start(wild *w, const pai_policy_host *host, uint64_t id)
{
  pai_place how = { .struct_size = sizeof(how),
                    .strategy = (int)pai__prng_below(&w->prng, 6) };
  pai_reason reason = { .struct_size = sizeof(reason),
                        .lack = PAI_LACK_POLICY,
                        .text = "it did not like it",
                        .node = "node0001",
                        .until = 99,
                        .wanted = UINT64_MAX };

  switch (pai__prng_below(&w->prng, 8)) {
  case 0: return host->refuse(host, id, &reason);
  case 1: return claim(w, host, id);
  case 2:
  case 3: return host->start_over(host, id, &how);
  default: return host->start(host, id, &how);
  }
}

static void disturb(wild *w, const pai_policy_host *host, uint64_t id,
                    uint32_t instance)
{
  pai_request_view r = { .struct_size = sizeof(r) };
  pai_want want = { .struct_size = sizeof(want) };
  uint32_t i;

  (void)host->view_request(host, id, &r);
  i = (uint32_t)pai__prng_below(&w->prng, r.wants);
  (void)host->view_want(host, id, i, &want);
  if (pai__prng_below(&w->prng, 8) == 0)
    (void)host->preempt(host, id, instance, 0);
  else if (want.min_tasks < want.tasks)
    (void)host->resize(
      host, id, instance, i,
      want.min_tasks +
        (uint32_t)pai__prng_below(&w->prng, want.tasks - want.min_tasks + 1));
}

/* What is refused is no failure: it asks for much that cannot be. */
static int decide(void *state, void *data, const pai_policy_host *host)
{
  wild *w = state;
  uint64_t id = 0, list[MOST];
  uint32_t instance = 0, instances[MOST];
  size_t n = 0;

  (void)data;
  while (n < MOST && host->next_placed(host, &id, &instance)) {
    list[n] = id;
    instances[n++] = instance;
  }
  for (size_t i = 0; i < n; i++)
    if (pai__prng_below(&w->prng, 2) == 0)
      disturb(w, host, list[i], instances[i]);
  n = 0;
  for (id = 0; n < MOST && (id = host->next_waiting(host, id)) != 0;)
    list[n++] = id;
  for (size_t i = 0; i < n; i++)
    (void)start(w, host, list[i]);
  return PAI_OK;
}

const pai_policy wild_policy = { .struct_size = sizeof(pai_policy),
                                 .version = PAI_POLICY_VERSION,
                                 .name = "wild",
                                 .open = open_wild,
                                 .close = close_wild,
                                 .decide = decide,
                                 .clone = clone_wild,
                                 .save = save_wild,
                                 .load = load_wild };
