/* explain.c - why a request waits, in words and for programs */
#include "sched/event_form.h"
#include "sched/explained.h"
#include "sched/remedy.h"
#include "sched/sched.h"

#include "base/buf.h"
#include "json/writer.h"

#include <inttypes.h>

typedef struct telling {
  const pai_sched *s;
  const pai__req *r;
  uint32_t req;
  pai_reason reason;
  bool waits; /* also for those who have to leave its place */
  pai__remedy own, others;
  pai__buf *out;
} telling;

static void say(const telling *t, const char *fmt, ...) PAI__PRINTF(2, 3);

static void say(const telling *t, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  pai__buf_vprintf(t->out, fmt, ap);
  va_end(ap);
}

/* "3 GPUs", "1 GPU", "512 MiB of memory". */
static void say_amount(const telling *t, int lack, uint64_t amount)
{
  const char *things = pai__lack_things((uint32_t)lack);
  size_t len = strlen(things);

  amount = pai__lack_amount((uint32_t)lack, amount);
  if (amount == 1 && len != 0 && things[len - 1] == 's')
    len--;
  say(t, "%" PRIu64 " %.*s", amount, (int)len, things);
}

static void say_request(const telling *t, uint64_t id)
{
  uint32_t req = pai__req_find(t->s, id);
  const pai__req *r = req != PAI__NONE ? pai__req_at(t->s, req) : NULL;

  if (r != NULL && r->name != PAI__NONE)
    say(t, "%s (request %" PRIu64 ")", pai__name_of(t->s, r), id);
  else
    say(t, "request %" PRIu64, id);
}

/* --- what it lacks -------------------------------------------------------- */

static void say_nearest(const telling *t)
{
  const pai_reason *r = &t->reason;

  if (r->node == NULL || pai__lack_things((uint32_t)r->of)[0] == '\0')
    return;
  say(t, "; %s comes nearest, with ", r->node);
  say_amount(t, r->of, r->found);
}

static void say_one_task(const telling *t)
{
  say(t, "no node has ");
  say_amount(t, t->reason.of, t->reason.wanted);
  say(t, " free for it");
  say_nearest(t);
}

static void say_gang(const telling *t)
{
  say(t,
      "its %u tasks start together, and only %u of them %s a place: for the "
      "next one no node has ",
      t->reason.tasks, t->reason.placed,
      t->reason.placed == 1 ? "has" : "have");
  say_amount(t, t->reason.of, t->reason.wanted);
  say_nearest(t);
}

static void say_topology(const telling *t)
{
  if (t->reason.text != NULL) {
    say(t, "all of it is to be within one %s, and none has room for it",
        t->reason.text);
  } else if (t->reason.node == NULL) {
    say(t, "enough GPUs are free, but not together as it needs them");
  } else {
    say(t, "enough GPUs are free, but no node has ");
    say_amount(t, t->reason.of, t->reason.wanted);
    say_nearest(t);
  }
}

static void say_after(const telling *t)
{
  const pai__after *a = pai__after_of(t->s, t->r);
  uint32_t i = 0;

  while (a[i].kind == 0)
    i++;
  if (a[i].bad) {
    say(t,
        "it can never start: request %" PRIu64
        " has not ended as it was to come after it",
        a[i].id);
    return;
  }
  say(t, "it comes after ");
  say_request(t, a[i].id);
  say(t, " has finished%s",
      a[i].kind == PAI_AFTER_OK       ? " well"
      : a[i].kind == PAI_AFTER_FAILED ? " badly"
                                      : "");
}

static void say_share(const telling *t)
{
  uint32_t of = (uint32_t)t->reason.of;

  /* A policy may have shares of its own, as of users. */
  if (t->reason.text != NULL) {
    say(t, "%s: it asks for %" PRIu64 " and %" PRIu64 " may be had",
        t->reason.text, t->reason.wanted, t->reason.found);
    return;
  }
  say(t,
      "it takes %" PRIu64 " %s, and of its own virtual cluster '%s' has "
      "%" PRIu64 " left",
      pai__lack_amount(of, t->reason.wanted),
      of != PAI_LACK_QUOTA ? pai__lack_things(of) : "GPUs",
      t->s->park->tenants[t->r->tenant].name,
      pai__lack_amount(of, t->reason.found));
}

static void say_lack(const telling *t)
{
  const pai_reason *r = &t->reason;

  switch (r->lack) {
  case PAI_LACK_NOTHING: say(t, "nobody has considered it yet"); break;
  case PAI_LACK_RELEASE: say(t, "it is held until it is released"); break;
  case PAI_LACK_STOPPED:
    say(t, "its virtual cluster '%s' is stopped",
        t->s->park->tenants[t->r->tenant].name);
    break;
  case PAI_LACK_AFTER: say_after(t); break;
  case PAI_LACK_TURN:
    say(t, "it is not its turn: ");
    say_request(t, r->behind);
    say(t, " goes first");
    break;
  case PAI_LACK_THROTTLE:
    say(t, "%u of its instances run, and no more may at a time", t->r->active);
    break;
  case PAI_LACK_QUOTA: say_share(t); break;
  case PAI_LACK_TYPE: say(t, "no node has such GPUs"); break;
  case PAI_LACK_HEALTH:
    say(t, "the nodes that could take it are drained or sick");
    break;
  case PAI_LACK_PIN:
    say(t, "nothing that is pinned as '%s' has room for it",
        pai__texts_text(&t->s->names, t->r->pin));
    break;
  case PAI_LACK_RESERVATION:
    say(t, "the nodes that could take it are kept for ");
    if (r->behind == 0) {
      say(t, "others");
      break;
    }
    say_request(t, r->behind);
    say(t, ", which has waited for long");
    break;
  case PAI_LACK_TOPOLOGY: say_topology(t); break;
  case PAI_LACK_GANG: say_gang(t); break;
  case PAI_LACK_PREEMPTION:
    say(t, "%s",
        r->text != NULL ? r->text
                        : "what holds the room for it is as important as it "
                          "is");
    break;
  case PAI_LACK_VICTIMS:
    say(t, "those that make room for it have not stopped yet");
    break;
  case PAI_LACK_LATER:
    say(t, "it would delay what is planned before it");
    break;
  case PAI_LACK_POLICY:
    say(t, "%s", r->text != NULL ? r->text : "the policy says so");
    break;
  default: say_one_task(t); break;
  }
}

/* --- of how many nodes ---------------------------------------------------- */

static const struct {
  int lack;
  const char *one, *many;
} counts[] = {
  { PAI_LACK_GPU, "has too few free GPUs", "have too few free GPUs" },
  { PAI_LACK_CPU, "has too few free CPUs", "have too few free CPUs" },
  { PAI_LACK_MEMORY, "has too little memory", "have too little memory" },
  { PAI_LACK_PORT, "has too few ports", "have too few ports" },
  { PAI_LACK_TYPE, "has no such GPUs", "have no such GPUs" },
  { PAI_LACK_PIN, "is outside the pinned cell",
    "are outside the pinned cell" },
  { PAI_LACK_RESERVATION, "is kept for others", "are kept for others" },
  { PAI_LACK_HEALTH, "is drained or sick", "are drained or sick" },
};

static void say_counts(const telling *t)
{
  bool first = true;

  for (size_t i = 0; i < PAI__LEN(counts); i++) {
    uint32_t n = pai_sched_failed(t->s, t->r->id, counts[i].lack);

    if (n == 0)
      continue;
    if (first)
      say(t, " Of %u node%s, ", t->s->park->nspots,
          t->s->park->nspots == 1 ? "" : "s");
    say(t, "%s%u %s", first ? "" : ", ", n,
        n == 1 ? counts[i].one : counts[i].many);
    first = false;
  }
  if (!first)
    say(t, ".");
}

/* --- what would help ------------------------------------------------------ */

static void say_change(const telling *t, const pai_sched_event *e, bool more)
{
  if (e->id != t->r->id) {
    say_request(t, e->id);
    say(t, more ? " were held" : " was held");
  } else if (strcmp(e->key, "held") == 0)
    say(t, "it was released");
  else if (strcmp(e->key, "after") == 0)
    say(t, "it did not wait for request %" PRId64, e->number);
  else if (strcmp(e->key, "priority") == 0)
    say(t,
        e->number < 0 ? "it was opportunistic (priority %" PRId64 ")"
                      : "it had priority %" PRId64,
        e->number);
  else if (strcmp(e->key, "at_once") == 0)
    say(t, "%" PRId64 " of its instances might run at a time", e->number);
  else if (strcmp(e->key, "limit") == 0)
    say(t, "it was limited to %" PRId64 " seconds", e->number / 1000000);
  else if (strcmp(e->key, "tasks") == 0)
    say(t, "it had %" PRId64 " task%s%s", e->number, e->number == 1 ? "" : "s",
        t->r->nwants > 1 ? " of that kind" : "");
  else if (strcmp(e->key, "gpus") == 0 || strcmp(e->key, "cpus") == 0 ||
           strcmp(e->key, "ports") == 0 || strcmp(e->key, "memory") == 0) {
    say(t, "a task asked for ");
    say_amount(t,
               e->key[0] == 'g'   ? PAI_LACK_GPU
               : e->key[0] == 'c' ? PAI_LACK_CPU
               : e->key[0] == 'p' ? PAI_LACK_PORT
                                  : PAI_LACK_MEMORY,
               (uint64_t)e->number);
  } else
    say(t, "it did not ask for \"%s\"", e->key);
}

/* Of a request with several instances, which one. */
static void say_run(const telling *t, const pai_sched_event *e)
{
  uint32_t req = pai__req_find(t->s, e->id);

  if (req != PAI__NONE && pai__req_at(t->s, req)->instances > 1)
    say(t, "instance %u of ", e->instance);
  say_request(t, e->id);
}

/* `more`: others stand before it, of which the same is said. */
static void say_event(const telling *t, const pai_sched_event *e, bool more)
{
  switch (e->kind) {
  case PAI_SCHED_CHANGE: say_change(t, e, more); break;
  case PAI_SCHED_FINISHED:
    say_run(t, e);
    say(t, " had finished");
    break;
  case PAI_SCHED_NODE:
    if (e->gpu >= 0)
      say(t, "GPU %d of ", (int)e->gpu);
    say(t, "%s was back in use", e->node);
    break;
  case PAI_SCHED_UNRESERVE:
    say(t, "there was no reservation '%s'", e->text);
    break;
  default: break;
  }
}

enum { MOST_SAID = 4 };

/* Others that finish, or are held: of several it is said once. */
static bool is_like(const telling *t, const pai_sched_event *a,
                    const pai_sched_event *b)
{
  return a->kind == b->kind && (a->kind == PAI_SCHED_FINISHED ||
                                (a->kind == PAI_SCHED_CHANGE &&
                                 a->id != t->r->id && b->id != t->r->id));
}

static int rank(const telling *t, const pai_sched_event *e)
{
  return e->kind == PAI_SCHED_FINISHED ? 1
         : e->kind != PAI_SCHED_CHANGE ? 3
         : e->id != t->r->id           ? 2
                                       : 0;
}

/* Those of one kind stand together; else as they were found. */
static void group(const telling *t, pai__remedy *m)
{
  for (uint32_t i = 1; i < m->n; i++) {
    pai_sched_event e = m->list[i];
    uint32_t k = i;

    for (; k > 0 && rank(t, &m->list[k - 1]) > rank(t, &e); k--)
      m->list[k] = m->list[k - 1];
    m->list[k] = e;
  }
}

static void say_remedy(const telling *t, const pai__remedy *m)
{
  uint32_t n = m->n < MOST_SAID ? m->n : MOST_SAID, like = 0;

  for (uint32_t i = 0; i < n; i++) {
    if (i != 0)
      say(t, i + 1 == m->n ? " and " : ", ");
    if (i + 1 < n && is_like(t, &m->list[i], &m->list[i + 1])) {
      if (m->list[i].kind == PAI_SCHED_FINISHED)
        say_run(t, &m->list[i]);
      else
        say_request(t, m->list[i].id);
      like++;
      continue;
    }
    say_event(t, &m->list[i], like != 0);
    like = 0;
  }
  if (m->n == MOST_SAID + 1)
    say(t, ", and one more thing was so");
  else if (m->n > MOST_SAID)
    say(t, ", and %u more things were so", m->n - MOST_SAID);
  if (m->n > 1)
    say(t, " (these changes work together; others may be smaller)");
  else if (!m->least)
    say(t, " (this change works; another may be smaller)");
}

static void say_remedies(const telling *t)
{
  if (t->own.n == 0 && t->others.n == 0)
    return;
  say(t, " It would start now if ");
  if (t->own.n != 0)
    say_remedy(t, &t->own);
  if (t->own.n != 0 && t->others.n != 0)
    say(t, ", or if ");
  if (t->others.n != 0)
    say_remedy(t, &t->others);
  say(t, ".");
}

static void say_plan(const telling *t)
{
  pai_time left = t->reason.until - t->s->m.now;

  if (left > 1000000) /* else it was to be by now, and something is late */
    say(t, " As planned, it starts in %" PRId64 " seconds.",
        (left + 999999) / 1000000);
}

static void explain_text(telling *t)
{
  const pai_reason *r = &t->reason;

  if (t->r->name != PAI__NONE)
    say(t, "%s (request %" PRIu64 ")", pai__name_of(t->s, t->r), t->r->id);
  else
    say(t, "Request %" PRIu64, t->r->id);
  if (!t->waits) {
    say(t, " does not wait.\n");
    return;
  }
  group(t, &t->own);
  group(t, &t->others);
  say(t, " waits: ");
  if (t->own.anyway && r->lack != PAI_LACK_NOTHING) {
    say(t, "something has changed since it was considered, and it starts at "
           "the next decision.\n");
    return;
  }
  say_lack(t);
  say(t, ".");
  if (r->lack != PAI_LACK_TURN)
    say_counts(t);
  if (t->own.anyway)
    say(t, " It starts at the next decision.");
  say_plan(t);
  say_remedies(t);
  say(t, "\n");
}

/* --- for programs --------------------------------------------------------- */

static void put_text(pai__json_writer *w, const char *key, const char *text)
{
  if (text == NULL)
    return;
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, text, strlen(text));
}

static void put_number(pai__json_writer *w, const char *key, uint64_t n)
{
  pai__json_key(w, key, strlen(key));
  pai__json_int(w, (int64_t)n);
}

static void put_flag(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
  pai__json_bool(w, true);
}

static void put_remedy(const telling *t, pai__json_writer *w, const char *key,
                       const pai__remedy *m)
{
  if (m->n == 0)
    return;
  pai__json_key(w, key, strlen(key));
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < m->n; i++)
    (void)pai__event_put(w, &t->s->alloc, &m->list[i], NULL);
  pai__json_end_array(w);
}

static void put_failed(const telling *t, pai__json_writer *w)
{
  pai__json_key(w, "failed", 6);
  pai__json_begin_object(w);
  for (int lack = 1; lack < PAI_LACKS; lack++) {
    uint32_t n = pai_sched_failed(t->s, t->r->id, lack);

    if (n != 0)
      put_number(w, pai_lack_name(lack), n);
  }
  pai__json_end_object(w);
}

static int explain_json(const telling *t)
{
  const pai_reason *r = &t->reason;
  pai__json_writer w;

  pai__json_writer_init(&w, t->out, false);
  pai__json_begin_object(&w);
  put_number(&w, "id", t->r->id);
  if (t->waits) {
    put_text(&w, "lack", pai_lack_name(r->lack));
    put_text(&w, "of", pai_lack_name(r->of));
    put_number(&w, "want", r->want);
    put_number(&w, "placed", r->placed);
    put_number(&w, "tasks", r->tasks);
    put_number(&w, "wanted", r->wanted);
    put_number(&w, "found", r->found);
    put_text(&w, "node", r->node);
    if (r->behind != 0)
      put_number(&w, "behind", r->behind);
    if (r->until != 0)
      put_number(&w, "until", (uint64_t)r->until);
    put_text(&w, "text", r->text);
    put_failed(t, &w);
    if (t->own.anyway)
      put_flag(&w, "starts");
    put_remedy(t, &w, "own_change", &t->own);
    put_remedy(t, &w, "other_change", &t->others);
  }
  pai__json_end_object(&w);
  pai__buf_char(t->out, '\n');
  return pai__json_finish(&w);
}

/* --- the call ------------------------------------------------------------- */

/* Keys are literals of two files, which need not be one text. */
static bool is_same_key(const char *a, const char *b)
{
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_same(const pai__remedy *a, const pai__remedy *b)
{
  uint32_t i = 0;

  while (i < a->n && i < b->n && a->list[i].kind == b->list[i].kind &&
         a->list[i].id == b->list[i].id &&
         is_same_key(a->list[i].key, b->list[i].key) &&
         a->list[i].number == b->list[i].number)
    i++;
  return i == a->n && i == b->n;
}

/* Without forks there is no change to be tried, and none is told. */
static int find_remedies(telling *t, pai_error **err)
{
  int rc = pai__remedy_find(t->s, t->r->id, PAI__REMEDY_OWN, &t->own, err);

  if (rc == PAI_OK && !t->own.anyway)
    rc = pai__remedy_find(t->s, t->r->id, PAI__REMEDY_OTHERS, &t->others, err);
  if (is_same(&t->own, &t->others))
    t->others.n = 0;
  if (rc == PAI_ENOTSUP && err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  return rc == PAI_ENOTSUP ? PAI_OK : rc;
}

/* Both forms, of which what was found out is kept. */
static int explain(telling *t, pai__buf *text, pai__buf *json, pai_error **err)
{
  int rc = PAI_OK;

  t->reason.struct_size = sizeof(t->reason);
  t->waits = pai_sched_reason(t->s, t->r->id, &t->reason) == PAI_OK;
  if (t->waits)
    rc = find_remedies(t, err);
  if (rc < 0)
    return rc;
  t->out = json;
  rc = explain_json(t);
  t->out = text;
  if (rc == PAI_OK)
    explain_text(t);
  if (rc < 0 || !pai__buf_ok(text) || !pai__buf_ok(json))
    return pai__oom(err);
  pai__explained_keep(t->s, t->r->id, pai__buf_text(text),
                      pai__buf_text(json));
  return PAI_OK;
}

static int explain_anew(const pai_sched *s, uint32_t req, int format,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  telling *t = pai__zalloc(&s->alloc, sizeof(*t));
  pai__buf text, json;
  int rc;

  if (t == NULL)
    return pai__oom(err);
  pai__buf_init(&text, &s->alloc);
  pai__buf_init(&json, &s->alloc);
  *t = (telling){ .s = s, .r = pai__req_at(s, req), .req = req };
  rc = explain(t, &text, &json, err);
  if (rc == PAI_OK && format == PAI_FORMAT_JSON)
    rc = write(user_data, json.data, json.len);
  else if (rc == PAI_OK)
    rc = write(user_data, text.data, text.len);
  pai__buf_dispose(&text);
  pai__buf_dispose(&json);
  pai__free(&s->alloc, t, sizeof(*t));
  return rc;
}

int pai_sched_explain(const pai_sched *s, uint64_t id, int format,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  const pai__explanation *kept;
  const char *text;
  uint32_t req;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(s != NULL && write != NULL, err);
  if (format != 0 && format != PAI_FORMAT_TEXT && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "reasons are told as text or JSON");
  req = pai__req_find(s, id);
  if (req == PAI__NONE)
    return pai__fail(err, PAI_ENOTFOUND, "there is no request %" PRIu64, id);
  kept = pai__explained_find(s, id);
  if (kept == NULL)
    return explain_anew(s, req, format, write, user_data, err);
  text = format == PAI_FORMAT_JSON ? kept->json : kept->text;
  return write(user_data, text, strlen(text));
}
