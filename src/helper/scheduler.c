/* scheduler.c - a cluster's scheduler and its finished jobs, for forecasts */
#include "helper.h"

#include "future.h"

#include <openpai/sched.h>

#include <string.h>

int helper_is_late(void *until)
{
  return uv_hrtime() > *(uint64_t *)until;
}

/* A server that lists no jobs is one of which nothing is learned. */
static void on_jobs(void *user_data, int status, const pai_client_answer *a)
{
  helper_call *c = user_data;
  pai_history *history = NULL;

  c->op = NULL;
  if (!c->editor->closing && !c->cancelled &&
      pai_history_new(&history, NULL, NULL) == PAI_OK) {
    if (status == PAI_OK)
      (void)!future_learn(history, a->body, a->body_len, NULL);
    helper_cluster_keep(c->editor, c->cluster, NULL, history);
  }
  c->then(c, PAI_OK, a);
}

/* Begins a call; returns false if it cannot begin. */
static bool ask(helper_call *c, const char *name, const char *arguments,
                pai_client_cb cb)
{
  const char *why;
  pai_client *client = helper_cluster_find(c->editor, c->cluster, &why);

  return client != NULL && pai_client_call(&c->op, client, name, arguments, cb,
                                           c, NULL) == PAI_OK;
}

static void learn(helper_call *c)
{
  if (helper_cluster_history(c->editor, c->cluster) != NULL ||
      !ask(c, "jobs.list", future_jobs, on_jobs))
    c->then(c, PAI_OK, NULL);
}

static void on_snapshot(void *user_data, int status,
                        const pai_client_answer *a)
{
  helper_call *c = user_data;
  pai_sched *sched = NULL;

  c->op = NULL;
  if (status != PAI_OK || c->editor->closing || c->cancelled ||
      pai_sched_load(&sched, a->body, a->body_len, NULL, NULL) < 0) {
    c->then(c, status, a);
    return;
  }
  helper_cluster_keep(c->editor, c->cluster, sched, NULL);
  learn(c);
}

void helper_want_sched(helper_call *c)
{
  if (helper_cluster_sched(c->editor, c->cluster) != NULL)
    learn(c);
  else if (!ask(c, "scheduler.snapshot", "{}", on_snapshot))
    c->then(c, PAI_ENOTFOUND, NULL);
}
