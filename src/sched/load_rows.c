/* load_rows.c - requests of a lean snapshot: save_rows.c wrote them */
#include "sched/loading.h"
#include "sched/request_form.h"

#include <inttypes.h>

/* --- what they refer to --------------------------------------------------- */

typedef struct alike_form {
  pai__node requests, whys;
} alike_form;

static const pai__field members[] = {
  PAI__NODE(alike_form, requests, "requests", .needed = true),
  PAI__NODE(alike_form, whys, "whys", .needed = true),
};

static int load_alike(pai__loading *l, pai__node item, pai_request *q)
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
  pai_request *requests;
  pai__why *whys;
  pai__tree_walk walk;
  pai__node item;
  int rc;

  if (at == PAI__NO_NODE)
    return PAI_OK;
  rc = pai__form_read(&l->f, at, "what is alike", members, PAI__LEN(members),
                      &form);
  if (rc == PAI_OK)
    rc = pai__form_list(&l->f, form.requests, "requests", &l->nalike);
  if (rc == PAI_OK)
    rc = pai__form_list(&l->f, form.whys, "whys", &l->nwhys);
  if (rc < 0)
    return rc;
  requests = pai__arena_zalloc(&l->arena, l->nalike + 1, sizeof(*requests));
  whys = pai__arena_zalloc(&l->arena, l->nwhys + 1, sizeof(*whys));
  if (requests == NULL || whys == NULL)
    return pai__oom(l->f.err);
  l->alike = requests;
  l->whys = whys;
  walk = pai__tree_iter(l->f.tree, form.requests);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = load_alike(l, item, requests++);
  walk = pai__tree_iter(l->f.tree, form.whys);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = pai__load_why(l, item, whys++);
  return rc;
}

/* --- one row -------------------------------------------------------------- */

/* A list that is read from its front; after a failure nothing more is. */
typedef struct row {
  const pai__form *f;
  pai__tree_walk walk;
  pai__node at;
  int rc;
} row;

static row begin(const pai__form *f, pai__node item, const char *what)
{
  row x = { .f = f, .at = item, .rc = PAI_OK };

  if (pai__tree_type(f->tree, item) != PAI__SEQUENCE)
    x.rc = pai__form_fail(f, item, "%s is a list here", what);
  else
    x.walk = pai__tree_iter(f->tree, item);
  return x;
}

static pai__node next(row *x)
{
  return x->rc == PAI_OK ? pai__tree_next(&x->walk) : PAI__NO_NODE;
}

/* The next number; 0 where there is none, or none that may be. */
static int64_t number(row *x, const char *what, int64_t low, int64_t high)
{
  pai__node item = next(x);
  int64_t n = 0;

  if (item != PAI__NO_NODE)
    x->rc = pai__form_number(x->f, item, what, low, high, &n);
  return x->rc == PAI_OK ? n : 0;
}

/* Of steps nothing is too large: what comes out is looked at. */
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

/* All was read, and nothing is left. */
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
  pai__node item = next(x);
  int type =
    item != PAI__NO_NODE ? pai__tree_type(x->f->tree, item) : PAI__NULL;
  const char *name = NULL;

  if (type == PAI__INT && pai__tree_int(x->f->tree, item) == 0)
    return before;
  if (type != PAI__NULL)
    x->rc = pai__form_text(x->f, item, "name", &name);
  return name;
}

int pai__load_row(pai__loading *l, pai__node item, pai__req_form *form,
                  pai_request *q, const pai__why **why)
{
  row x = begin(&l->f, item, "a request");
  int64_t alike, reason;

  *form = (pai__req_form){ .request = item,
                           .runs = PAI__NO_NODE,
                           .why = PAI__NO_NODE };
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
  reason = number(&x, "why", 0, l->nwhys);
  *why = reason != 0 ? &l->whys[reason - 1] : NULL;
  form->runs = next(&x);
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

  *form = (pai__run_form){ .state = PAI__RUN_STARTED };
  form->instance = (uint32_t)number(&x, "instance", 0, UINT32_MAX);
  l->last_order = step(&x, "order", l->last_order);
  form->order = time_of(l->last_order);
  form->since = read_time(&x, "since", l->last.submitted);
  form->tasks = next(&x);
  return end(&x, "a run");
}

int pai__load_row_task(const pai__loading *l, pai__node item,
                       pai__slot_form *form)
{
  row x = begin(&l->f, item, "a task");
  pai__node cpus;

  *form = (pai__slot_form){ .node = NULL };
  form->want = (uint32_t)number(&x, "want", 0, UINT32_MAX);
  form->at = (uint32_t)number(&x, "node", 0, (int64_t)l->s->rooms.len - 1);
  form->gpus = next(&x);
  cpus = next(&x);
  if (cpus != PAI__NO_NODE)
    x.rc = pai__form_text(x.f, cpus, "cpus", &form->cpus);
  if (form->cpus != NULL && form->cpus[0] == '\0')
    form->cpus = NULL;
  form->ports = next(&x);
  return end(&x, "a task");
}
