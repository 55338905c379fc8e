/* explain.c - why a request waits: the call, its cache and the JSON form */

#include "sched/log/event_form.h"
#include "sched/explain/explain.h"
#include "sched/policy/policy.h"
#include "sched/queue.h"
#include "sched/sched.h"

#include "json/writer.h"

#include <inttypes.h>

/* --- memory for forks ----------------------------------------------------- */

enum { LEAST = 1 << 14 }; /* smallest block that is kept, in bytes */

void pai__reuse_init(pai__reuse *r, const pai_alloc *from)
{
  *r = (pai__reuse){ .from = *from };
}

void pai__reuse_dispose(pai__reuse *r)
{
  for (uint32_t i = 0; i < PAI__REUSE_BLOCKS; i++)
    pai__free(&r->from, r->kept[i].block, r->kept[i].size);
}

/* Rounds sizes up by an eighth at most, so that many blocks have the same
 * size. */
static size_t rounded(size_t size)
{
  size_t step = LEAST / 8;

  if (size < LEAST || size > SIZE_MAX / 2)
    return size;
  while (size / step >= 16)
    step *= 2;
  return (size + step - 1) / step * step;
}

static void *find(pai__reuse *r, size_t size)
{
  for (uint32_t i = 0; i < PAI__REUSE_BLOCKS; i++)
    if (r->kept[i].block != NULL && r->kept[i].size == size) {
      void *block = r->kept[i].block;

      r->kept[i].block = NULL;
      return block;
    }
  return NULL;
}

/* Keeps a block in a free place, or instead of another block. */
static void keep(pai__reuse *r, void *block, size_t size)
{
  uint32_t i = 0;

  while (i < PAI__REUSE_BLOCKS && r->kept[i].block != NULL)
    i++;
  if (i == PAI__REUSE_BLOCKS) {
    i = r->next;
    r->next = (i + 1) % PAI__REUSE_BLOCKS;
  }
  pai__free(&r->from, r->kept[i].block, r->kept[i].size);
  r->kept[i].block = block;
  r->kept[i].size = size;
}

static void *reallocate(void *ctx, void *block, size_t old_size,
                        size_t new_size);

/* Reallocates: copies to a kept block of the new size, if there is one. */
static void *move(pai__reuse *r, void *block, size_t old_size, size_t new_size)
{
  void *other = find(r, new_size);

  if (other == NULL)
    return r->from.realloc_fn(r->from.ctx, block, old_size, new_size);
  if (block == NULL)
    return other;
  memcpy(other, block, old_size < new_size ? old_size : new_size);
  (void)reallocate(r, block, old_size, 0);
  return other;
}

static void *reallocate(void *ctx, void *block, size_t old_size,
                        size_t new_size)
{
  pai__reuse *r = ctx;

  old_size = rounded(old_size);
  new_size = rounded(new_size);
  if (new_size >= LEAST)
    return move(r, block, old_size, new_size);
  if (block == NULL || new_size != 0 || old_size < LEAST)
    return r->from.realloc_fn(r->from.ctx, block, old_size, new_size);
  keep(r, block, old_size);
  return NULL;
}

pai_alloc pai__reuse_alloc(pai__reuse *r)
{
  return (pai_alloc){ r, reallocate };
}

/* --- cache of explanations ------------------------------------------------ */

enum { MOST = 64 };

static pai__explanation *told_at(const struct pai__explained *x, uint32_t i)
{
  return (pai__explanation *)x->list.data + i;
}

static void forget_all(const pai_sched *s, struct pai__explained *x)
{
  for (uint32_t i = 0; i < x->list.len; i++) {
    pai__strfree(&s->alloc, told_at(x, i)->text);
    pai__strfree(&s->alloc, told_at(x, i)->json);
  }
  x->list.len = 0;
}

int pai__explained_new(pai_sched *s)
{
  s->explained = pai__zalloc(&s->alloc, sizeof(*s->explained));
  if (s->explained == NULL)
    return PAI_ENOMEM;
  pai__flat_init(&s->explained->list, sizeof(pai__explanation));
  return PAI_OK;
}

void pai__explained_free(pai_sched *s)
{
  if (s->explained == NULL)
    return;
  forget_all(s, s->explained);
  pai__flat_dispose(&s->explained->list, &s->alloc);
  pai__free(&s->alloc, s->explained, sizeof(*s->explained));
}

/* A caller's own policy may depend on what the scheduler does not know of. */
static bool keeps(const pai_sched *s)
{
  return s->explained != NULL && pai__policy_is_builtin(s);
}

const pai__explanation *pai__explained_find(const pai_sched *s, uint64_t id)
{
  const struct pai__explained *x = s->explained;

  if (!keeps(s) || x->events != s->m.events)
    return NULL;
  for (uint32_t i = 0; i < x->list.len; i++)
    if (told_at(x, i)->id == id)
      return told_at(x, i);
  return NULL;
}

void pai__explained_keep(const pai_sched *s, uint64_t id, const char *text,
                         const char *json)
{
  struct pai__explained *x = s->explained;
  pai__explanation e = { .id = id };

  if (!keeps(s))
    return;
  if (x->events != s->m.events || x->list.len == MOST)
    forget_all(s, x);
  x->events = s->m.events;
  e.text = pai__strdup(&s->alloc, text);
  e.json = pai__strdup(&s->alloc, json);
  if (e.text != NULL && e.json != NULL &&
      pai__flat_reserve(&x->list, &s->alloc, 1) == PAI_OK) {
    *told_at(x, pai__flat_push(&x->list, 1)) = e;
    return;
  }
  pai__strfree(&s->alloc, e.text);
  pai__strfree(&s->alloc, e.json);
}

/* --- JSON ----------------------------------------------------------------- */

/* Amounts of CPUs may be decimal numbers. */
static void put_amount(pai__json_writer *w, const char *key, int of,
                       uint64_t n)
{
  if (of == PAI_LACK_CPU)
    pai__json_put_milli(w, key, n);
  else
    pai__json_put_int(w, key, (int64_t)n);
}

static void put_suggestion(const pai__telling *t, pai__json_writer *w,
                           const char *key, const pai__suggested_change *m)
{
  if (m->n == 0)
    return;
  pai__json_put_array(w, key);
  for (uint32_t i = 0; i < m->n; i++)
    (void)pai__event_put(w, &t->s->alloc, &m->list[i], NULL);
  pai__json_end_array(w);
}

static void put_failed(const pai__telling *t, pai__json_writer *w)
{
  pai__json_put_object(w, "failed");
  for (int lack = 1; lack < PAI_LACKS; lack++) {
    uint32_t n = pai_sched_failed(t->s, t->r->id, lack);

    if (n != 0)
      pai__json_put_int(w, pai_lack_name(lack), (int64_t)n);
  }
  pai__json_end_object(w);
}

static int explain_json(const pai__telling *t)
{
  const pai_reason *r = &t->reason;
  pai__json_writer w;

  pai__json_writer_init(&w, t->out, false);
  pai__json_begin_object(&w);
  pai__json_put_int(&w, "id", (int64_t)t->r->id);
  if (t->waits) {
    pai__json_put_known(&w, "lack", pai_lack_name(r->lack));
    pai__json_put_known(&w, "of", pai_lack_name(r->of));
    pai__json_put_int(&w, "want", (int64_t)r->want);
    pai__json_put_int(&w, "placed", (int64_t)r->placed);
    pai__json_put_int(&w, "tasks", (int64_t)r->tasks);
    put_amount(&w, "wanted", r->of, pai__reason_wanted(r));
    put_amount(&w, "found", r->of, pai__reason_found(r));
    pai__json_put_known(&w, "node", r->node);
    if (r->behind != 0)
      pai__json_put_int(&w, "behind", (int64_t)r->behind);
    if (r->until != 0)
      pai__json_put_int(&w, "until", r->until);
    pai__json_put_known(&w, "text", r->text);
    put_failed(t, &w);
    if (t->own.anyway)
      pai__json_put_bool(&w, "starts", true);
    put_suggestion(t, &w, "own_change", &t->own);
    put_suggestion(t, &w, "other_change", &t->others);
  }
  pai__json_end_object(&w);
  pai__buf_char(t->out, '\n');
  return pai__json_finish(&w);
}

/* --- the call ------------------------------------------------------------- */

/* Keys are literals of two files, which may have different addresses. */
static bool is_same_key(const char *a, const char *b)
{
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_same(const pai__suggested_change *a,
                    const pai__suggested_change *b)
{
  uint32_t i = 0;

  while (i < a->n && i < b->n && a->list[i].kind == b->list[i].kind &&
         a->list[i].id == b->list[i].id &&
         is_same_key(a->list[i].key, b->list[i].key) &&
         a->list[i].number == b->list[i].number &&
         a->list[i].cpu_millis == b->list[i].cpu_millis)
    i++;
  return i == a->n && i == b->n;
}

/* Makes the fork that changes are tried on.  It records the reason of each
 * request, which otherwise each trial would do. */
static int make_tried(pai_sched **tried, const pai_sched *s,
                      const pai_alloc *alloc, pai_error **err)
{
  int rc = pai__fork_in(tried, s, alloc, err);

  if (rc == PAI_OK)
    pai__alike_settle(*tried);
  return rc;
}

static int find_suggestions(pai__telling *t, const pai_sched *tried,
                            pai_error **err)
{
  int rc = pai__suggest_find(tried, t->r->id, PAI__SUGGEST_OWN, &t->own, err);

  if (rc == PAI_OK && !t->own.anyway)
    rc =
      pai__suggest_find(tried, t->r->id, PAI__SUGGEST_OTHERS, &t->others, err);
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

/* Writes both forms, and keeps them.  Without forks there are no suggested
 * changes. */
static int explain(pai__telling *t, pai__buf *text, pai__buf *json,
                   pai_error **err)
{
  pai_sched *tried = NULL; /* names in the changes point into it */
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
    rc = find_suggestions(t, tried, err);
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
