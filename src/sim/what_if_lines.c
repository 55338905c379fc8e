/* what_if_lines.c - changes that are told as lines of a log */
#include "sim/what_if.h"

#include "json/json.h"
#include "sched/event_form.h"
#include "sched/sched.h"

#include <string.h>

/* A line, as long as its event is needed. */
typedef struct told {
  pai__tree *tree;
  pai__line line;
} told;

typedef struct reader {
  const pai_alloc *alloc;
  pai__arena arena;
  told *list;
  pai_sched_event *events;
  size_t n, most;
  pai_error **err;
} reader;

/* Which line it was. */
static int blame(const reader *r, int rc)
{
  pai_error *cause;

  if (r->err == NULL || *r->err == NULL || r->most == 1 || rc == PAI_ENOMEM)
    return rc;
  cause = *r->err;
  *r->err = NULL;
  (void)pai__fail(r->err, rc, "change %zu: %s", r->n,
                  pai_error_message(cause));
  if (pai_error_help(cause) != NULL)
    pai__error_help(r->err, "%s", pai_error_help(cause));
  pai_error_free(cause);
  return rc;
}

static int read_line(reader *r, const char *text, size_t len)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT, .alloc = r->alloc };
  told *t = &r->list[r->n++];
  pai__form form = { .err = r->err };
  int rc = pai__json_parse(&t->tree, text, len, &o, r->err);

  if (rc < 0)
    return blame(r, rc);
  form.tree = t->tree;
  rc = pai__line_read(&form, &r->arena, &t->line);
  if (rc < 0)
    return blame(r, rc);
  r->events[r->n - 1] = t->line.e;
  r->events[r->n - 1].struct_size = sizeof(pai_sched_event);
  return PAI_OK;
}

static size_t count_lines(const char *text, size_t len)
{
  size_t n = len > 0;

  for (size_t i = 0; i + 1 < len; i++)
    n += text[i] == '\n';
  return n;
}

static bool is_blank(const char *text, size_t len)
{
  while (len > 0 && (*text == ' ' || *text == '\t' || *text == '\r')) {
    text++;
    len--;
  }
  return len == 0;
}

static int read_all(reader *r, const char *text, size_t len)
{
  int rc = PAI_OK;

  while (len > 0 && rc == PAI_OK) {
    const char *end = memchr(text, '\n', len);
    size_t n = end != NULL ? (size_t)(end - text) : len;

    if (!is_blank(text, n))
      rc = read_line(r, text, n);
    n += end != NULL;
    text += n;
    len -= n;
  }
  return rc;
}

static void forget(reader *r)
{
  for (size_t i = 0; r->list != NULL && i < r->n; i++) {
    pai_cluster_free(r->list[i].line.cluster);
    pai__tree_free(r->list[i].tree);
  }
  pai__free(r->alloc, r->list, r->most * sizeof(*r->list));
  pai__free(r->alloc, r->events, r->most * sizeof(*r->events));
  pai__arena_dispose(&r->arena);
}

int pai_what_if_json(pai_what_if **out, const pai_sched *sched,
                     const pai_history *history, const char *text, size_t len,
                     const pai_forecast_options *opts, pai_error **err)
{
  reader r = { .err = err };
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(sched != NULL && (text != NULL || len == 0), err);
  r.alloc = &sched->alloc;
  r.most = count_lines(text, len);
  r.most += r.most == 0;
  pai__arena_init(&r.arena, r.alloc);
  r.list = pai__zalloc(r.alloc, r.most * sizeof(*r.list));
  r.events = pai__zalloc(r.alloc, r.most * sizeof(*r.events));
  if (r.list != NULL && r.events != NULL)
    rc = read_all(&r, text, len);
  else
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = pai_what_if_new(out, sched, history, r.events, r.n, opts, err);
  forget(&r);
  return rc;
}
