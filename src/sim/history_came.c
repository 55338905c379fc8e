/* history_came.c - what came last, and what a log teaches */
#include "sim/history.h"

#include "json/json.h"
#include "sched/queue.h"
#include "sched/event_form.h"

/* --- copies --------------------------------------------------------------- */

typedef struct block {
  char *next; /* where the next string goes; NULL: they are only counted */
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

/* Wants of any age, as ours.  PAI_OK or PAI_EINVAL. */
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

/* With all that it points at, in one block. */
static pai__came *copy_request(const pai_alloc *alloc, const pai_request *q,
                               pai_time time)
{
  block strings = { .next = NULL };
  pai_request copy = *q;
  size_t head = sizeof(pai__came) + q->nwants * sizeof(pai_want), bytes;
  pai__came *came;
  pai_want *wants;

  /* The caller's own strings are counted, and stay as they are. */
  (void)put(&strings, q->name);
  (void)put(&strings, q->vc);
  (void)put(&strings, q->user);
  (void)put(&strings, q->pin);
  (void)put(&strings, q->within);
  for (size_t i = 0; i < q->nwants; i++) {
    (void)put(&strings, q->wants[i].name);
    (void)put(&strings, q->wants[i].type);
  }
  bytes = head + strings.bytes;
  came = pai__zalloc(alloc, bytes);
  if (came == NULL)
    return NULL;
  wants = (pai_want *)(came + 1);
  memcpy(wants, q->wants, q->nwants * sizeof(*wants));
  strings.next = (char *)came + head;
  copy.struct_size = sizeof(copy);
  copy.after = NULL;
  copy.nafter = 0;
  put_strings(&strings, &copy, wants);
  copy.wants = wants;
  came->bytes = bytes;
  came->time = time;
  came->request = copy;
  return came;
}

void pai__came_free(const pai_alloc *alloc, pai__came *came)
{
  if (came != NULL)
    pai__free(alloc, came, came->bytes);
}

const pai__came *pai__came_at(const pai_history *h, uint32_t i)
{
  return h->came[h->ncame == PAI__CAME ? (h->next_came + i) % PAI__CAME : i];
}

static int keep(pai_history *h, const pai_request *q, pai_time time,
                pai_error **err)
{
  pai__came *came = copy_request(&h->alloc, q, time);

  if (came == NULL)
    return pai__oom(err);
  if (h->ncame != 0)
    pai__hours_note(&h->hours, pai__came_at(h, h->ncame - 1)->time, time);
  if (h->ncame < PAI__CAME) {
    h->came[h->ncame++] = came;
    return PAI_OK;
  }
  pai__came_free(&h->alloc, h->came[h->next_came]);
  h->came[h->next_came] = came;
  h->next_came = (h->next_came + 1) % PAI__CAME;
  return PAI_OK;
}

int pai_history_came(pai_history *history, const pai_request *request,
                     pai_time time, pai_error **err)
{
  pai_request q = { 0 };
  pai_want *wants;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(history != NULL, err);
  if (PAI__COPY_IN(&q, request, pai_request, nafter) < 0)
    return pai__fail_struct(err, PAI_EINVAL, request, "pai_request");
  if (q.wants == NULL || q.nwants == 0 || q.nwants > PAI_SCHED_TASKS)
    return pai__fail(err, PAI_EINVAL, "a request without wants has come");
  wants = pai__realloc(&history->alloc, NULL, 0, q.nwants, sizeof(*wants));
  if (wants == NULL)
    return pai__oom(err);
  rc = copy_wants(wants, &q);
  q.wants = wants;
  if (rc == PAI_OK)
    rc = keep(history, &q, time, err);
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

/* --- logs ----------------------------------------------------------------- */

/* A request that came on the scheduler as it is, one of whose runs ends. */
static int ended(pai_history *h, const pai_sched *s, const pai_sched_event *e,
                 pai_error **err)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  pai_past p;
  uint32_t req = pai__req_find(s, e->id), run;

  run = req != PAI__NONE ? pai__run_find(s, req, e->instance) : PAI__NONE;
  if (run == PAI__NONE || pai__run_at(s, run)->state < PAI__RUN_PLACED ||
      pai__run_at(s, run)->since > e->time)
    return PAI_OK;
  (void)pai_sched_view_request(s, e->id, &v);
  pai__past_of(s, &v, &p);
  p.duration = e->time - pai__run_at(s, run)->since;
  p.ended = e->time;
  return pai_history_add(h, &p, err);
}

/* Most lines are neither, and are not read. */
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

  if (err != NULL)
    *err = NULL;
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
