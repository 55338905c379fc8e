/* load_requests.c - loading the requests of a snapshot */

#include "sched/log/snapshot_form.h"
#include "sched/log/event_form.h"
#include "sched/queue.h"

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

static int load_failed(pai__loading *l, pai__node at,
                       pai__sched_reason *reason)
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
      reason->failed[lack] = (uint32_t)n;
  }
  return rc;
}

static int load_reason(pai__loading *l, pai__node at,
                       pai__sched_reason *reason)
{
  pai_sched *s = l->s;
  pai__sched_reason_form form;
  int rc;

  *reason = pai__no_reason;
  rc = pai__table_read(&l->f, at, &pai__sched_reason_table, &form);
  if (rc < 0)
    return rc;
  if (pai__reason_take(s, &form.r, reason) < 0)
    return pai__oom(l->f.err);
  if (form.r.node != NULL && reason->node == PAI__NONE)
    return pai__load_node(l, at, form.r.node, &reason->node);
  return load_failed(l, form.failed, reason);
}

/* --- tables that rows refer to -------------------------------------------- */

typedef struct alike_form {
  pai__node requests, reasons;
} alike_form;

static const pai__field members[] = {
  PAI__NODE(alike_form, requests, "requests", .needed = true),
  PAI__NODE(alike_form, reasons, "whys", .needed = true),
};

static int load_one_alike(pai__loading *l, pai__node item, pai_request *q)
{
  pai__after_form *after = NULL;
  int rc = pai__request_read(&l->f, &l->arena, item, q, &after);

  if (rc == PAI_OK && q->nafter != 0)
    rc = pai__form_fail(&l->f, item,
                        "a request that stands for others comes after none");
  return rc;
}

int pai__load_alike(pai__loading *l, pai__node at)
{
  alike_form form;
  pai__items requests, reasons;
  pai_request *q;
  pai__sched_reason *reason;
  pai__node item;
  int rc;

  if (at == PAI__NO_NODE)
    return PAI_OK;
  rc = pai__form_read(&l->f, at, "what is alike", members, PAI__LEN(members),
                      &form);
  if (rc < 0)
    return rc;
  requests = pai__form_items(&l->f, form.requests, "requests");
  if (requests.rc < 0)
    return requests.rc;
  reasons = pai__form_items(&l->f, form.reasons, "whys");
  l->nalike = requests.count;
  l->nreasons = reasons.count;
  l->alike = q = pai__arena_zalloc(&l->arena, l->nalike + 1, sizeof(*q));
  l->reasons = reason =
    pai__arena_zalloc(&l->arena, l->nreasons + 1, sizeof(*reason));
  if (q == NULL || reason == NULL)
    return pai__oom(l->f.err);
  while (reasons.rc == PAI_OK &&
         (item = pai__items_next(&requests)) != PAI__NO_NODE)
    requests.rc = load_one_alike(l, item, q++);
  reasons.rc = reasons.rc < 0 ? reasons.rc : requests.rc;
  while ((item = pai__items_next(&reasons)) != PAI__NO_NODE)
    reasons.rc = load_reason(l, item, reason++);
  return reasons.rc;
}

/* --- rows ----------------------------------------------------------------- */

typedef pai__items row;

static row begin(const pai__form *f, pai__node item, const char *what)
{
  row x = { .f = f, .at = item, .rc = PAI_OK };

  if (pai__tree_type(f->tree, item) != PAI__SEQUENCE)
    x.rc = pai__form_fail(f, item, "%s is a list here", what);
  else
    x = pai__form_items(f, item, what);
  return x;
}

/* Reads the next number.  Returns 0 if there is none, or if it is invalid. */
static int64_t number(row *x, const char *what, int64_t low, int64_t high)
{
  pai__node item = pai__items_next(x);
  int64_t n = 0;

  if (item != PAI__NO_NODE)
    x->rc = pai__form_number(x->f, item, what, low, high, &n);
  return x->rc == PAI_OK ? n : 0;
}

/* Steps may have any value: the result is checked. */
static uint64_t step(row *x, const char *what, uint64_t from)
{
  return from + (uint64_t)number(x, what, INT64_MIN, INT64_MAX);
}

static int64_t time_of(uint64_t bits)
{
  int64_t time;

  memcpy(&time, &bits, sizeof(time));
  return time;
}

static int end(row *x, const char *what)
{
  if (x->rc == PAI_OK && x->walk.left != 0)
    x->rc = pai__form_fail(x->f, x->at, "%s has not so much in it", what);
  return x->rc;
}

static pai_time read_time(row *x, const char *what, pai_time from)
{
  pai_time time = time_of(step(x, what, (uint64_t)from));

  if (x->rc == PAI_OK && !pai__is_time(time))
    x->rc = pai__form_fail(x->f, x->at, "\"%s\" of a row is no time", what);
  return x->rc == PAI_OK ? time : 0;
}

static const char *read_name(row *x, const char *before)
{
  pai__node item = pai__items_next(x);
  int type =
    item != PAI__NO_NODE ? pai__tree_type(x->f->tree, item) : PAI__NULL;
  const char *name = NULL;

  if (type == PAI__INT && pai__tree_int(x->f->tree, item) == 0)
    return before;
  if (type != PAI__NULL)
    x->rc = pai__form_text(x->f, item, "name", &name);
  return name;
}

static int load_row(pai__loading *l, pai__node item, pai__req_form *form,
                    pai_request *q, const pai__sched_reason **reason)
{
  row x = begin(&l->f, item, "a request");
  int64_t alike, index;

  *form = (pai__req_form){ .request = item,
                           .runs = PAI__NO_NODE,
                           .reason = PAI__NO_NODE };
  form->turn = time_of(step(&x, "turn", (uint64_t)l->last.turn));
  form->submitted = read_time(&x, "submitted", l->last.submitted);
  l->last_id = step(&x, "id", l->last_id);
  l->last_name = read_name(&x, l->last_name);
  alike = number(&x, "alike", 0, (int64_t)l->nalike - 1);
  *q = l->nalike != 0 ? l->alike[alike] : (pai_request){ 0 };
  q->id = l->last_id;
  q->name = l->last_name;
  q->duration = number(&x, "duration", 0, PAI__LAST_TIME);
  q->limit = number(&x, "limit", 0, PAI__LAST_TIME);
  index = number(&x, "why", 0, l->nreasons);
  *reason = index != 0 ? &l->reasons[index - 1] : NULL;
  form->runs = pai__items_next(&x);
  l->last = *form;
  if (x.rc == PAI_OK &&
      (l->nalike == 0 || form->turn < 1 || form->turn > INT64_MAX / 2))
    x.rc = pai__form_fail(&l->f, item,
                          "a row is like one of those that are alike, and has "
                          "a turn above 0");
  return end(&x, "a request");
}

int pai__load_row_run(pai__loading *l, pai__node item, pai__run_form *form)
{
  row x = begin(&l->f, item, "a run");

  *form = (pai__run_form){ .run = { .state = PAI__RUN_STARTED } };
  form->run.instance = (uint32_t)number(&x, "instance", 0, UINT32_MAX);
  form->run.order = l->last_order = step(&x, "order", l->last_order);
  form->run.since = read_time(&x, "since", l->last.submitted);
  form->tasks = pai__items_next(&x);
  return end(&x, "a run");
}

int pai__load_row_task(const pai__loading *l, pai__node item,
                       pai__slot_form *form)
{
  row x = begin(&l->f, item, "a task");
  pai__node cpus;

  *form = (pai__slot_form){ .node = NULL };
  form->want = (uint32_t)number(&x, "want", 0, UINT32_MAX);
  form->at =
    (uint32_t)number(&x, "node", 0, (int64_t)l->s->free_capacity.len - 1);
  form->gpus = pai__items_next(&x);
  cpus = pai__items_next(&x);
  if (cpus != PAI__NO_NODE)
    x.rc = pai__form_text(x.f, cpus, "cpus", &form->cpus);
  if (form->cpus != NULL && form->cpus[0] == '\0')
    form->cpus = NULL;
  form->ports = pai__items_next(&x);
  return end(&x, "a task");
}

/* --- requests ------------------------------------------------------------- */

/* Each dependency was counted as pending.  Uncounts those that are satisfied
 * or can never be.  The others must be on earlier requests. */
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

/* A request as it was read. */
typedef struct saved {
  pai__req_form form;
  pai_request q;
  pai__after_form *after;
  pai__sched_reason reason;
  bool has_reason;
} saved;

static int read_saved(pai__loading *l, pai__node item, saved *x)
{
  const pai__sched_reason *reason = NULL;
  int rc;

  *x = (saved){ .after = NULL };
  if (pai__load_is_row(l, item)) {
    rc = load_row(l, item, &x->form, &x->q, &reason);
    x->has_reason = reason != NULL;
    if (x->has_reason)
      x->reason = *reason;
    return rc;
  }
  rc = pai__table_read(&l->f, item, &pai__req_table, &x->form);
  if (rc == PAI_OK)
    rc =
      pai__request_read(&l->f, &l->arena, x->form.request, &x->q, &x->after);
  x->has_reason = rc == PAI_OK && x->form.reason != PAI__NO_NODE;
  return x->has_reason ? load_reason(l, x->form.reason, &x->reason) : rc;
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

int pai__load_request(pai__loading *l, pai__node item)
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
  if (x.has_reason)
    *pai__sched_reason_make(s, req) = x.reason;
  if (r->active == 0 && pai__req_waiting(r) == 0)
    return pai__form_fail(
      &l->f, item, "request %" PRIu64 " is done: none of it waits or runs",
      r->id);
  pai__req_update(s, req);
  return PAI_OK;
}
