/* history_arrivals.c - recorded arrivals of requests, and learning from a
 * log */
#include "sim/forecast/history.h"

#include "json/json.h"
#include "sched/inspect.h"
#include "sched/log/event_form.h"

/* --- copies -------------------------------------------------------------- */

typedef struct block {
  char *next; /* where the next string goes; NULL: strings are only counted */
  size_t bytes;
} block;

static const char *put(block *b, const char *s)
{
  size_t len = s != NULL ? strlen(s) + 1 : 0;
  char *copy = b->next;

  b->bytes += len;
  if (s == NULL || copy == NULL)
    return s;
  memcpy(copy, s, len);
  b->next += len;
  return copy;
}

static void put_strings(block *b, pai_request *q, pai_want *wants)
{
  q->name = put(b, q->name);
  q->vc = put(b, q->vc);
  q->user = put(b, q->user);
  q->pin = put(b, q->pin);
  q->within = put(b, q->within);
  for (size_t i = 0; i < q->nwants; i++) {
    wants[i].name = put(b, wants[i].name);
    wants[i].type = put(b, wants[i].type);
  }
}

/* Copies wants in the layout of this version.  Returns PAI_OK or
 * PAI_EINVAL. */
static int copy_wants(pai_want *wants, const pai_request *q)
{
  for (size_t i = 0; i < q->nwants; i++) {
    const char *from = (const char *)q->wants + i * q->wants->struct_size;

    if (PAI__COPY_IN(&wants[i], from, pai_want, memory) < 0)
      return PAI_EINVAL;
    wants[i].struct_size = sizeof(wants[i]);
  }
  return PAI_OK;
}

/* Copies a request with its wants and all strings, into one block. */
static pai__recorded_arrival *copy_request(const pai_alloc *alloc,
                                           const pai_request *q,
                                           pai_want *q_wants, pai_time time)
{
  block strings = { .next = NULL };
  pai_request copy = *q;
  size_t head = sizeof(pai__recorded_arrival) + q->nwants * sizeof(pai_want),
         bytes;
  pai__recorded_arrival *arrivals;
  pai_want *wants;

  put_strings(&strings, &copy, q_wants); /* only counts them */
  bytes = head + strings.bytes;
  arrivals = pai__zalloc(alloc, bytes);
  if (arrivals == NULL)
    return NULL;
  wants = (pai_want *)(arrivals + 1);
  memcpy(wants, q_wants, q->nwants * sizeof(*wants));
  strings.next = (char *)arrivals + head;
  copy.struct_size = sizeof(copy);
  copy.after = NULL;
  copy.nafter = 0;
  put_strings(&strings, &copy, wants);
  copy.wants = wants;
  arrivals->bytes = bytes;
  arrivals->time = time;
  arrivals->request = copy;
  return arrivals;
}

void pai__recorded_arrival_free(const pai_alloc *alloc,
                                pai__recorded_arrival *arrivals)
{
  if (arrivals != NULL)
    pai__free(alloc, arrivals, arrivals->bytes);
}

const pai__recorded_arrival *pai__recorded_arrival_at(const pai_history *h,
                                                      uint32_t i)
{
  return h->arrivals[h->narrivals == PAI__RECORDED_ARRIVALS
                       ? (h->next_arrival + i) % PAI__RECORDED_ARRIVALS
                       : i];
}

static int keep(pai_history *h, const pai_request *q, pai_want *wants,
                pai_time time, pai_error **err)
{
  pai__recorded_arrival *arrivals = copy_request(&h->alloc, q, wants, time);

  if (arrivals == NULL)
    return pai__oom(err);
  if (h->narrivals != 0)
    pai__hours_note(&h->hours,
                    pai__recorded_arrival_at(h, h->narrivals - 1)->time, time);
  if (h->narrivals < PAI__RECORDED_ARRIVALS) {
    h->arrivals[h->narrivals++] = arrivals;
    return PAI_OK;
  }
  pai__recorded_arrival_free(&h->alloc, h->arrivals[h->next_arrival]);
  h->arrivals[h->next_arrival] = arrivals;
  h->next_arrival = (h->next_arrival + 1) % PAI__RECORDED_ARRIVALS;
  return PAI_OK;
}

int pai_history_came(pai_history *history, const pai_request *request,
                     pai_time time, pai_error **err)
{
  pai_request q = { 0 };
  pai_want *wants;
  int rc;

  PAI__CHECK_ARG_ERR(history != NULL, err);
  if (PAI__COPY_IN(&q, request, pai_request, nafter) < 0)
    return pai__fail_struct(err, PAI_EINVAL, request, "pai_request");
  if (q.wants == NULL || q.nwants == 0 || q.nwants > PAI_SCHED_TASKS)
    return pai__fail(err, PAI_EINVAL, "\"wants\" of a request is empty");
  wants = pai__realloc(&history->alloc, NULL, 0, q.nwants, sizeof(*wants));
  if (wants == NULL)
    return pai__oom(err);
  rc = copy_wants(wants, &q);
  if (rc == PAI_OK)
    rc = keep(history, &q, wants, time, err);
  else
    (void)pai__fail(err, rc, "pai_want has a bad struct_size");
  pai__free(&history->alloc, wants, q.nwants * sizeof(*wants));
  return rc;
}

void pai__past_of(const pai_sched *s, const pai_request_view *v, pai_past *out)
{
  pai_want want = { .struct_size = sizeof(want) };

  *out = (pai_past){ .struct_size = sizeof(*out),
                     .user = v->user,
                     .vc = v->vc,
                     .name = v->name,
                     .estimate = v->duration,
                     .limit = v->limit };
  for (uint32_t i = 0; pai_sched_view_want(s, v->id, i, &want) == PAI_OK; i++)
    out->gpus += (uint64_t)want.tasks * want.gpus;
}

/* --- logs ---------------------------------------------------------------- */

/* Adds the duration of a run that ends.  `s` must be the scheduler before the
 * event. */
static int ended(pai_history *h, const pai_sched *s, const pai_sched_event *e,
                 pai_error **err)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  pai__run_info run;
  pai_past p;

  if (!pai__inspect_run(s, e->id, e->instance, &run) || run.since > e->time)
    return PAI_OK;
  (void)pai_sched_view_request(s, e->id, &v);
  pai__past_of(s, &v, &p);
  p.duration = e->time - run.since;
  p.ended = e->time;
  return pai_history_add(h, &p, err);
}

/* Returns whether the line is a submission or an end; other lines need not be
 * parsed. */
static bool teaches(const char *line, size_t len)
{
  static const char snapshot[] = "{\"snapshot\":";
  static const char *const words[] = { "\"submit\"", "\"finished\"" };

  if (len >= sizeof(snapshot) &&
      memcmp(line, snapshot, sizeof(snapshot) - 1) == 0)
    return false;
  for (size_t i = 0; i < len; i++)
    for (size_t k = 0; line[i] == '"' && k < PAI__LEN(words); k++)
      if (len - i >= strlen(words[k]) &&
          memcmp(line + i, words[k], strlen(words[k])) == 0)
        return true;
  return false;
}

static int learn(pai_history *h, const pai_sched *s, const pai__form *f,
                 pai_error **err)
{
  pai__line line;
  pai__arena arena;
  int rc;

  pai__arena_init(&arena, &h->alloc);
  rc = pai__line_read(f, &arena, &line);
  if (rc == PAI_OK && line.e.kind == PAI_SCHED_FINISHED)
    rc = ended(h, s, &line.e, err);
  else if (rc == PAI_OK && line.e.kind == PAI_SCHED_SUBMIT)
    rc = pai_history_came(h, line.e.request, line.e.time, err);
  pai_cluster_free(line.cluster);
  pai__arena_dispose(&arena);
  return rc;
}

int pai_history_line(pai_history *history, const pai_sched *sched,
                     const char *line, size_t len, pai_error **err)
{
  pai__json_options o = { .alloc = history != NULL ? &history->alloc : NULL };
  pai_error *cause = NULL;
  pai__form f = { .err = &cause };
  pai__tree *tree;
  int rc;

  PAI__CHECK_ARG_ERR(history != NULL && sched != NULL && line != NULL, err);
  if (!teaches(line, len))
    return PAI_OK;
  rc = pai__json_parse(&tree, line, len, &o, &cause);
  if (rc == PAI_OK) {
    f.tree = tree;
    rc = learn(history, sched, &f, &cause);
    pai__tree_free(tree);
  }
  pai_error_free(cause);
  return rc == PAI_ENOMEM ? pai__oom(err) : PAI_OK;
}
