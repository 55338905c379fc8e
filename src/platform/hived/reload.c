/*
 * reload.c - HiveD in Kubernetes: trying a new configuration at run time
 *
 * No request is answered meanwhile.  First all bindings that are under way end,
 * then both configurations get all nodes and pods, as at a start.  If a group
 * of pods would lose cells or its guarantee, the old configuration stays.
 */
#include "platform/hived/host.h"

#include "base/tree.h"
#include "json/json.h"

enum { MOST_NAMED = 5, MOST_WAIT = 30 * 1000000 };

/* --- comparing ------------------------------------------------------------ */

/* Returns all affinity groups with pods on nodes, as JSON; NULL: no memory. */
static pai__tree *list_groups(const pai_hived_host *h, pai_hived_extender *e)
{
  pai_hived_request q = { .struct_size = sizeof(q),
                          .method = "GET",
                          .target = "/v1/inspect/affinitygroups/",
                          .body = "",
                          .now = pai__loop_wall_time() };
  pai_hived_answer answer = { .struct_size = sizeof(answer) };
  pai__json_options o = { .alloc = &h->alloc };
  pai__tree *tree;

  if (pai_hived_extender_request(e, &q, &answer, NULL) < 0 ||
      pai__json_parse(&tree, answer.body, answer.body_len, &o, NULL) < 0)
    return NULL;
  return tree;
}

static pai__node find_group(const pai__tree *t, const char *name)
{
  pai__tree_walk walk = pai__tree_iter(t, pai__tree_look(t, 0, "items"));
  pai__node n;

  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node metadata = pai__tree_look(t, n, "metadata");
    if (strcmp(pai__tree_look_text(t, metadata, "name", ""), name) == 0)
      return pai__tree_look(t, n, "status");
  }
  return PAI__NO_NODE;
}

static bool has(const pai__tree *t, pai__node status, const char *key)
{
  pai__node n = pai__tree_look(t, status, key);

  return n != PAI__NO_NODE && pai__tree_type(t, n) != PAI__NULL;
}

/* Tells whether both have the same cells, or none. */
static bool same_cells(const pai__tree *old, pai__node before,
                       const pai__tree *now, pai__node after)
{
  static const char key[] = "physicalPlacement";

  if (!has(old, before, key) || !has(now, after, key))
    return has(old, before, key) == has(now, after, key);
  return pai__tree_same(old, pai__tree_look(old, before, key), now,
                        pai__tree_look(now, after, key));
}

/* Returns what a group loses, or NULL. */
static const char *loss(const pai__tree *old, pai__node before,
                        const pai__tree *now, pai__node after)
{
  static const char guarantee[] = "virtualPlacement";

  if (after == PAI__NO_NODE || !same_cells(old, before, now, after))
    return "its cells";
  return has(old, before, guarantee) && !has(now, after, guarantee)
           ? "its guarantee"
           : NULL;
}

static void note(pai__buf *out, unsigned n, const char *group,
                 const char *what)
{
  if (n <= MOST_NAMED)
    pai__buf_printf(out, "%s%s loses %s", n == 1 ? "" : ", ", group, what);
}

/* PAI_EBUSY: the new configuration takes something from pods that are bound. */
static int compare(pai_hived_host *h, const pai__tree *old,
                   const pai__tree *now, pai_error **err)
{
  pai__tree_walk walk = pai__tree_iter(old, pai__tree_look(old, 0, "items"));
  unsigned lost = 0;
  pai__buf list;
  pai__node n;
  int rc = PAI_OK;

  pai__buf_init(&list, &h->alloc);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name =
      pai__tree_look_text(old, pai__tree_look(old, n, "metadata"), "name", "");
    pai__node status = pai__tree_look(old, n, "status");
    const char *what;
    what = loss(old, status, now, find_group(now, name));
    if (what != NULL)
      note(&list, ++lost, name, what);
  }
  if (lost > MOST_NAMED)
    pai__buf_printf(&list, ", and %u more", lost - MOST_NAMED);
  if (!pai__buf_ok(&list))
    rc = pai__oom(err);
  else if (lost > 0) {
    (void)pai__fail(
      err, PAI_EBUSY,
      "the new configuration would take from groups that run: %s",
      pai__buf_text(&list));
    pai__error_help(err, "leave their cells in the configuration until they "
                         "have ended");
    rc = PAI_EBUSY;
  }
  pai__buf_dispose(&list);
  return rc;
}

static int judge(pai_hived_host *h, pai_error **err)
{
  pai__tree *old = list_groups(h, h->next->before);
  pai__tree *now = list_groups(h, h->next->extender);
  int rc =
    old != NULL && now != NULL ? compare(h, old, now, err) : pai__oom(err);

  pai__tree_free(old);
  pai__tree_free(now);
  return rc;
}

/* --- steps ---------------------------------------------------------------- */

/* Calls back with the result; requests are answered again. */
static void finish(pai_hived_host *h, int rc, const pai_error *err)
{
  pai_hived_reload_cb cb = h->reloaded;

  h->reloaded = NULL;
  pai__timer_stop(h->patience);
  pai__hived_view_free(h->next);
  h->next = NULL;
  if (h->waiting.first != NULL)
    pai__loop_step_ask(h->step);
  cb(h->reloaded_data, rc, err);
}

static void take_over(pai_hived_host *h)
{
  pai__platform_hived_view *old = h->view;

  h->view = h->next;
  h->next = old; /* freed in finish() */
  h->cluster = h->view->cluster;
  pai_hived_extender_free(h->view->before);
  h->view->before = NULL;
}

void pai__hived_reload_step(pai_hived_host *h)
{
  pai_error *err = NULL;
  int rc = PAI_OK;

  if (h->reloaded == NULL || h->held != NULL || h->binding.first != NULL)
    return;
  if (!h->next->begun)
    rc = pai__hived_view_begin(h->next, &err);
  else if (!h->next->known)
    return;
  else
    rc = judge(h, &err);
  if (rc == PAI_OK && !h->next->known)
    return;
  if (rc == PAI_OK)
    take_over(h);
  finish(h, rc, err);
  pai_error_free(err);
}

void pai__hived_reload_cancel(pai_hived_host *h)
{
  pai_error *err = NULL;

  if (h->reloaded == NULL)
    return;
  (void)pai__fail(&err, PAI_ECANCELED, "the host is being closed");
  finish(h, PAI_ECANCELED, err);
  pai_error_free(err);
}

static void on_patience(void *user_data)
{
  pai_hived_host *h = user_data;
  pai_error *err = NULL;

  (void)pai__fail(&err, PAI_EIO,
                  h->next->begun
                    ? "the API server did not list all nodes and pods in time"
                    : "the API server has not answered all bindings in time");
  pai__error_retriable(&err);
  finish(h, PAI_EIO, err);
  pai_error_free(err);
}

int pai_hived_host_reload(pai_hived_host *host, const pai_cluster *cluster,
                          pai_hived_reload_cb cb, void *user_data,
                          pai_error **err)
{
  int rc = PAI_OK;

  PAI__CHECK_OBJECT(host, err);
  PAI__CHECK_ARG_ERR(cluster != NULL && cb != NULL, err);
  if (host->closing || !host->view->known || host->reloaded != NULL)
    return pai__fail(err, PAI_EBUSY, "%s",
                     host->closing ? "the host is being closed"
                     : host->reloaded != NULL
                       ? "another configuration is being tried"
                       : "the nodes and pods are not known yet");
  if (host->patience == NULL &&
      pai__timer_new(&host->patience, &host->alloc, host->loop, on_patience,
                     host) < 0)
    return pai__oom(err);
  rc = pai__hived_view_new(&host->next, host, cluster, err);
  if (rc < 0)
    return rc;
  host->reloaded = cb;
  host->reloaded_data = user_data;
  pai__timer_start(host->patience, MOST_WAIT);
  pai__loop_step_ask(host->step);
  return PAI_OK;
}
