/* request_form.c - reading and writing requests as JSON */
#include "sched/log/event_form.h"

typedef struct request_form {
  pai_request q;
  pai__node wants, after;
} request_form;

static const pai__field members[] = {
  PAI__ID(request_form, q.id, "id", .needed = true),
  PAI__TEXT(request_form, q.name, "name"),
  PAI__TEXT(request_form, q.vc, "vc"),
  PAI__TEXT(request_form, q.user, "user"),
  PAI__TEXT(request_form, q.pin, "pin"),
  PAI__TEXT(request_form, q.within, "within"),
  PAI__NUMBER(request_form, q.priority, INT32_MIN, INT32_MAX, "priority"),
  PAI__NUMBER(request_form, q.duration, 0, PAI__LAST_TIME, "duration"),
  PAI__NUMBER(request_form, q.limit, 0, PAI__LAST_TIME, "limit"),
  PAI__NUMBER(request_form, q.instances, 0, UINT32_MAX, "instances",
              .usual = 1),
  PAI__NUMBER(request_form, q.at_once, 0, UINT32_MAX, "at_once"),
  PAI__FLAG(request_form, q.held, "held"),
  PAI__FLAG(request_form, q.lazy, "lazy"),
  PAI__NODE(request_form, wants, "wants", .needed = true),
  PAI__NODE(request_form, after, "after"),
};

static const pai__field want_members[] = {
  PAI__TEXT(pai_want, name, "name"),
  PAI__TEXT(pai_want, type, "type"),
  PAI__NUMBER(pai_want, tasks, 0, UINT32_MAX, "tasks", .usual = 1),
  PAI__NUMBER(pai_want, min_tasks, 0, UINT32_MAX, "min_tasks"),
  PAI__NUMBER(pai_want, gpus, 0, UINT32_MAX, "gpus"),
  PAI__CPUS(pai_want, cpus, cpu_millis, UINT32_MAX, "cpus"),
  PAI__NUMBER(pai_want, ports, 0, UINT32_MAX, "ports"),
  PAI__NUMBER(pai_want, memory, 0, INT64_MAX, "memory"),
};

static const char *const after_kinds[] = { [0] = "",
                                           [PAI_AFTER_OK] = "ok",
                                           [PAI_AFTER_ANY] = "any",
                                           [PAI_AFTER_FAILED] = "failed",
                                           NULL };

/* Events have only the first two fields. */
static const pai__field after_members[] = {
  PAI__ID(pai__after_form, id, "id", .needed = true),
  PAI__WORD(pai__after_form, kind, after_kinds, "when", .usual = PAI_AFTER_OK),
  PAI__FLAG(pai__after_form, done, "done"),
  PAI__FLAG(pai__after_form, never, "never"),
};

static const pai__table want_table = { want_members, PAI__LEN(want_members),
                                       "a want" };
static const pai__table after_table = { after_members, 2,
                                        "what a request is to come after" };
/* With the outcome. */
static const pai__table saved_after_table = {
  after_members, PAI__LEN(after_members), "what a request is to come after"
};

/* --- writing -------------------------------------------------------------- */

void pai__request_put(pai__json_writer *w, const pai_request *q)
{
  request_form form = { .q = *q };

  /* 0 means 1. */
  if (form.q.instances == 0)
    form.q.instances = 1;
  pai__form_write(w, members, PAI__LEN(members), &form);
}

void pai__want_put(pai__json_writer *w, const pai_want *want)
{
  pai__table_put(w, &want_table, want);
}

void pai__after_put(pai__json_writer *w, const pai__after_form *after)
{
  pai__table_put(w, &saved_after_table, after);
}

/* --- reading -------------------------------------------------------------- */

static int read_wants(const pai__form *f, pai__arena *arena, pai__node n,
                      pai_request *q)
{
  void *list;
  pai_want *w;
  int rc = pai__table_read_list(f, arena, n, "wants", &want_table, sizeof(*w),
                                &list, &q->nwants);

  if (rc < 0)
    return rc;
  q->wants = w = list;
  for (size_t i = 0; i < q->nwants; i++)
    w[i].struct_size = sizeof(*w);
  return PAI_OK;
}

static int read_after(const pai__form *f, pai__arena *arena, pai__node n,
                      pai_request *q, pai__after_form **out)
{
  void *list;
  pai__after_form *forms;
  pai_after *after;
  int rc = pai__table_read_list(
    f, arena, n, "after", out != NULL ? &saved_after_table : &after_table,
    sizeof(*forms), &list, &q->nafter);

  if (rc < 0 || q->nafter == 0)
    return rc;
  forms = list;
  q->after = after = pai__arena_zalloc(arena, q->nafter, sizeof(*after));
  if (after == NULL)
    return pai__oom(f->err);
  if (out != NULL)
    *out = forms;
  for (size_t i = 0; i < q->nafter; i++)
    after[i] = (pai_after){ forms[i].id, forms[i].kind };
  return PAI_OK;
}

int pai__request_read(const pai__form *f, pai__arena *arena, pai__node n,
                      pai_request *q, pai__after_form **after)
{
  request_form form = { 0 };
  int rc =
    pai__form_read(f, n, "a request", members, PAI__LEN(members), &form);

  form.q.struct_size = sizeof(form.q);
  if (rc == PAI_OK)
    rc = read_wants(f, arena, form.wants, &form.q);
  if (rc == PAI_OK)
    rc = read_after(f, arena, form.after, &form.q, after);
  *q = form.q;
  return rc;
}
