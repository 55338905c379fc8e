/* explain.c - why a request waits: the call, and the form for programs */
#include "sched/event_form.h"
#include "sched/explain_text.h"
#include "sched/explained.h"
#include "sched/queue.h"
#include "sched/reuse.h"
#include "sched/sched.h"

#include "json/writer.h"

#include <inttypes.h>

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

static void put_remedy(const pai__telling *t, pai__json_writer *w,
                       const char *key, const pai__remedy *m)
{
  if (m->n == 0)
    return;
  pai__json_key(w, key, strlen(key));
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < m->n; i++)
    (void)pai__event_put(w, &t->s->alloc, &m->list[i], NULL);
  pai__json_end_array(w);
}

static void put_failed(const pai__telling *t, pai__json_writer *w)
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

static int explain_json(const pai__telling *t)
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

/* Changes are tried on forks of one in which each has his reason, so that it is
 * not given to all of them again with each change. */
static int make_tried(pai_sched **tried, const pai_sched *s,
                      const pai_alloc *alloc, pai_error **err)
{
  int rc = pai__fork_in(tried, s, alloc, err);

  if (rc == PAI_OK)
    pai__shapes_settle(*tried);
  return rc;
}

static int find_remedies(pai__telling *t, const pai_sched *tried,
                         pai_error **err)
{
  int rc = pai__remedy_find(tried, t->r->id, PAI__REMEDY_OWN, &t->own, err);

  if (rc == PAI_OK && !t->own.anyway)
    rc =
      pai__remedy_find(tried, t->r->id, PAI__REMEDY_OTHERS, &t->others, err);
  if (is_same(&t->own, &t->others))
    t->others.n = 0;
  return rc;
}

static int write_both(pai__telling *t, pai__buf *text, pai__buf *json,
                      pai_error **err)
{
  int rc;

  t->out = json;
  rc = explain_json(t);
  t->out = text;
  if (rc == PAI_OK)
    pai__tell_waiting(t);
  if (rc < 0 || !pai__buf_ok(text) || !pai__buf_ok(json))
    return pai__oom(err);
  pai__explained_keep(t->s, t->r->id, pai__buf_text(text),
                      pai__buf_text(json));
  return PAI_OK;
}

/* Both forms, of which what was found out is kept.  Without forks there is no
 * change to be tried, and none is told. */
static int explain(pai__telling *t, pai__buf *text, pai__buf *json,
                   pai_error **err)
{
  pai_sched *tried = NULL; /* names in changes are its own */
  pai__reuse memory;
  pai_alloc alloc;
  int rc = PAI_OK;

  pai__reuse_init(&memory, &t->s->alloc);
  alloc = pai__reuse_alloc(&memory);
  t->reason.struct_size = sizeof(t->reason);
  t->waits = pai_sched_reason(t->s, t->r->id, &t->reason) == PAI_OK;
  if (t->waits)
    rc = make_tried(&tried, t->s, &alloc, err);
  if (rc == PAI_OK && t->waits)
    rc = find_remedies(t, tried, err);
  if (rc == PAI_ENOTSUP && err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  if (rc == PAI_OK || rc == PAI_ENOTSUP)
    rc = write_both(t, text, json, err);
  pai_sched_free(tried);
  pai__reuse_dispose(&memory);
  return rc;
}

static int explain_anew(const pai_sched *s, uint32_t req, int format,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  pai__telling *t = pai__zalloc(&s->alloc, sizeof(*t));
  pai__buf text, json;
  int rc;

  if (t == NULL)
    return pai__oom(err);
  pai__buf_init(&text, &s->alloc);
  pai__buf_init(&json, &s->alloc);
  *t = (pai__telling){ .s = s, .r = pai__req_at(s, req), .req = req };
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
