/* request_form.c - requests as JSON, in events and in snapshots */
#include "sched/request_form.h"

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
  PAI__NUMBER(pai_want, cpus, 0, UINT32_MAX, "cpus"),
  PAI__NUMBER(pai_want, ports, 0, UINT32_MAX, "ports"),
  PAI__NUMBER(pai_want, memory, 0, INT64_MAX, "memory"),
};

static const char *const after_kinds[] = { [0] = "",
                                           [PAI_AFTER_OK] = "ok",
                                           [PAI_AFTER_ANY] = "any",
                                           [PAI_AFTER_FAILED] = "failed",
                                           NULL };

/* The first two are an event's. */
static const pai__field after_members[] = {
  PAI__ID(pai__after_form, id, "id", .needed = true),
  PAI__WORD(pai__after_form, kind, after_kinds, "when", .usual = PAI_AFTER_OK),
  PAI__FLAG(pai__after_form, done, "done"),
  PAI__FLAG(pai__after_form, never, "never"),
};

/* --- writing -------------------------------------------------------------- */

void pai__request_put(pai__json_writer *w, const pai_request *q)
{
  request_form form = { .q = *q };

  /* None are one. */
  if (form.q.instances == 0)
    form.q.instances = 1;
  pai__form_write(w, members, PAI__LEN(members), &form);
}

void pai__want_put(pai__json_writer *w, const pai_want *want)
{
  pai__json_begin_object(w);
  pai__form_write(w, want_members, PAI__LEN(want_members), want);
  pai__json_end_object(w);
}

void pai__after_put(pai__json_writer *w, const pai__after_form *after)
{
  pai__json_begin_object(w);
  pai__form_write(w, after_members, PAI__LEN(after_members), after);
  pai__json_end_object(w);
}

/* --- reading -------------------------------------------------------------- */

static int read_wants(const pai__form *f, pai__arena *arena, pai__node n,
                      pai_request *q)
{
  pai__tree_walk walk;
  pai_want *wants;
  uint32_t count, i = 0;
  pai__node item;
  int rc = pai__form_list(f, n, "wants", &count);

  if (rc < 0)
    return rc;
  wants = pai__arena_zalloc(arena, count != 0 ? count : 1, sizeof(*wants));
  if (wants == NULL)
    return pai__oom(f->err);
  walk = pai__tree_iter(f->tree, n);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_read(f, item, "a want", want_members,
                        PAI__LEN(want_members), &wants[i]);
    wants[i++].struct_size = sizeof(*wants);
  }
  q->wants = wants;
  q->nwants = count;
  return rc;
}

static int read_after(const pai__form *f, pai__arena *arena, pai__node n,
                      pai_request *q, pai__after_form **out)
{
  size_t members_of = out != NULL ? PAI__LEN(after_members) : 2;
  pai__tree_walk walk;
  pai__after_form *forms;
  pai_after *after;
  uint32_t count, i = 0;
  pai__node item;
  int rc = pai__form_list(f, n, "after", &count);

  if (rc < 0 || count == 0)
    return rc;
  forms = pai__arena_zalloc(arena, count, sizeof(*forms));
  after = pai__arena_zalloc(arena, count, sizeof(*after));
  if (forms == NULL || after == NULL)
    return pai__oom(f->err);
  walk = pai__tree_iter(f->tree, n);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_read(f, item, "what a request is to come after",
                        after_members, members_of, &forms[i]);
    after[i] = (pai_after){ forms[i].id, forms[i].kind };
    i++;
  }
  q->after = after;
  q->nafter = count;
  if (out != NULL)
    *out = forms;
  return rc;
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
