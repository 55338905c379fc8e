/* load_requests.c - requests of a snapshot */
#include "sched/loading.h"
#include "sched/queue.h"
#include "sched/request_form.h"

#include <inttypes.h>

/* --- reasons -------------------------------------------------------------- */

static uint32_t find_lack(const char *word)
{
  uint32_t i = 1;

  if (strcmp(word, "nothing") == 0)
    return 0;
  while (i < PAI_LACKS && strcmp(pai__lack_words[i], word) != 0)
    i++;
  return i;
}

static int load_failed(pai__loading *l, pai__node at, pai__why *why)
{
  const pai__tree *t = l->f.tree;
  pai__tree_walk walk;
  pai__node key;
  int64_t n;
  int rc = PAI_OK;

  if (at == PAI__NO_NODE)
    return PAI_OK;
  if (pai__tree_type(t, at) != PAI__MAPPING)
    return pai__form_fail(&l->f, at, "\"failed\" is an object");
  walk = pai__tree_iter(t, at);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    uint32_t lack = find_lack(pai__tree_str(t, key, NULL));

    if (lack == PAI_LACKS)
      return pai__form_fail(&l->f, key, "nothing can lack that");
    rc = pai__form_number(&l->f, pai__tree_value(t, key), "failed", 0,
                          UINT32_MAX, &n);
    if (rc == PAI_OK)
      why->failed[lack] = (uint32_t)n;
  }
  return rc;
}

int pai__load_why(pai__loading *l, pai__node at, pai__why *why)
{
  pai_sched *s = l->s;
  pai__why_form form;
  int rc;

  *why = pai__no_why;
  rc = pai__load_form(l, at, "a reason", &pai__why_table, &form);
  if (rc < 0)
    return rc;
  why->lack = form.lack;
  why->of = form.of;
  why->want = form.want;
  why->placed = form.placed;
  why->tasks = form.tasks;
  why->wanted = form.wanted;
  why->found = form.found;
  why->behind = form.behind;
  why->until = form.until;
  if (form.node != NULL) {
    why->node = pai__park_node(s->park, form.node);
    if (why->node == PAI__NONE)
      return pai__form_fail(&l->f, at, "there is no node '%s'", form.node);
  }
  if (pai__texts_add(&s->names, &s->alloc, form.text, &why->text) < 0)
    return pai__oom(l->f.err);
  return load_failed(l, form.failed, why);
}

/* --- requests ------------------------------------------------------------- */

/* It was counted for each as if it waited: what has come true, or never can,
 * is not waited for; and all else is there. */
static int settle_after(pai__loading *l, pai__node at, pai__req *r,
                        const pai__after_form *forms)
{
  pai__after *after = r->nafter != 0 ? pai__after_of(l->s, r) : NULL;

  for (uint32_t i = 0; i < r->nafter; i++) {
    uint32_t before = pai__req_find(l->s, after[i].id);

    if (forms[i].done || forms[i].never) {
      pai__req_unfollow(l->s, &after[i]);
      after[i].kind = forms[i].done ? 0 : after[i].kind;
      after[i].bad = !forms[i].done;
    } else if (before == PAI__NONE ||
               pai__req_at(l->s, before)->turn >= r->turn) {
      return pai__form_fail(&l->f, at,
                            "request %" PRIu64 " waits for %" PRIu64
                            ", which is not before it",
                            r->id, after[i].id);
    }
  }
  return PAI_OK;
}

/* A request as it stands there. */
typedef struct saved {
  pai__req_form form;
  pai_request q;
  pai__after_form *after;
  pai__why why;
  bool has_why;
} saved;

static int read_saved(pai__loading *l, pai__node item, saved *x)
{
  const pai__why *why = NULL;
  int rc;

  *x = (saved){ .after = NULL };
  if (pai__load_is_row(l, item)) {
    rc = pai__load_row(l, item, &x->form, &x->q, &why);
    x->has_why = why != NULL;
    if (x->has_why)
      x->why = *why;
    return rc;
  }
  rc = pai__load_form(l, item, "a request of a snapshot", &pai__req_table,
                      &x->form);
  if (rc == PAI_OK)
    rc =
      pai__request_read(&l->f, &l->arena, x->form.request, &x->q, &x->after);
  x->has_why = rc == PAI_OK && x->form.why != PAI__NO_NODE;
  return x->has_why ? pai__load_why(l, x->form.why, &x->why) : rc;
}

static int add(pai__loading *l, pai__node item, const saved *x, uint32_t *req)
{
  pai_sched *s = l->s;
  const pai__req_form *form = &x->form;
  pai_error *cause = NULL;
  int rc;

  if (form->turn <= (int64_t)s->m.turns || form->turn > (int64_t)PAI__TURNS)
    return pai__form_fail(&l->f, item,
                          "\"turn\" is above that of the request before, and "
                          "below 2^44");
  s->m.turns = (uint64_t)form->turn - 1;
  rc = pai__req_add(s, &x->q, form->submitted, &cause);
  if (rc < 0)
    return pai__form_blame(&l->f, form->request, PAI_EINVAL, cause);
  *req = pai__req_find(s, x->q.id);
  return settle_after(l, item, pai__req_at(s, *req), x->after);
}

static int load_request(pai__loading *l, pai__node item)
{
  pai_sched *s = l->s;
  const pai__req_form *form;
  saved x;
  pai__req *r;
  uint32_t req = 0;
  int rc = read_saved(l, item, &x);

  if (rc == PAI_OK)
    rc = add(l, item, &x, &req);
  if (rc < 0)
    return rc;
  form = &x.form;
  r = pai__req_at(s, req);
  if (form->finished > r->instances || form->failed > form->finished)
    return pai__form_fail(&l->f, item,
                          "more instances have finished than there are, or "
                          "failed than have finished");
  r->finished = form->finished & PAI__INSTANCES;
  r->failed = form->failed & PAI__INSTANCES;
  r->cancelled = form->cancelled != 0;
  rc = pai__load_runs(l, req, form->runs);
  if (rc < 0)
    return rc;
  if (x.has_why)
    *pai__why_make(s, req) = x.why;
  if (r->active == 0 && pai__req_waiting(r) == 0)
    return pai__form_fail(
      &l->f, item, "request %" PRIu64 " is done: none of it waits or runs",
      r->id);
  pai__req_update(s, req);
  return PAI_OK;
}

int pai__load_requests(pai__loading *l, pai__node list)
{
  pai__tree_walk walk;
  pai__node item;
  uint32_t count;
  int rc = pai__form_list(&l->f, list, "requests", &count);

  if (rc < 0 || list == PAI__NO_NODE)
    return rc;
  walk = pai__tree_iter(l->f.tree, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = load_request(l, item);
  return rc;
}
