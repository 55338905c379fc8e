/* replay_compare.c - two JSON values, and where they first differ */
#include "hived/replaying.h"

#include "json/json.h"

#include <stdlib.h>

/* A value as lines "/path\0value", to be sorted. */
typedef struct lines {
  pai__buf text, path;
  size_t *at;
  size_t n, cap;
} lines;

static void add_line(lines *l, const char *value, size_t len)
{
  if (PAI__VEC_ROOM(l->text.alloc, l->at, l->n, l->cap) < 0) {
    l->text.failed = true;
    return;
  }
  l->at[l->n++] = l->text.len;
  pai__buf_add(&l->text, pai__buf_text(&l->path), l->path.len);
  pai__buf_char(&l->text, '\0');
  pai__buf_add(&l->text, value, len);
  pai__buf_char(&l->text, '\0');
}

/* Of cells, where nothing and 0 are the same. */
static bool is_count(const lines *l)
{
  static const char *const keys[] = { "/vcFreeCellNum/", "/allVCFreeCellNum/",
                                      "/totalLeftCellNum/" };

  for (size_t i = 0; i < PAI__LEN(keys); i++)
    if (strncmp(pai__buf_text(&l->path), keys[i], strlen(keys[i])) == 0)
      return true;
  return false;
}

static void flatten(lines *l, const pai__tree *t, pai__node n)
{
  const pai__tree_node *p = pai__tree_at(t, n);
  pai__tree_walk walk;
  size_t before = l->path.len, len;
  unsigned i = 0;
  pai__node child;

  if (p->type == PAI__NULL ||
      (p->type == PAI__INT && p->u.i == 0 && is_count(l)) ||
      (p->type == PAI__STRING && p->u.s.len == 0))
    return;
  if (p->type < PAI__SEQUENCE) {
    const char *s = t->text + p->start;

    len = p->end - p->start;
    if (p->type == PAI__STRING)
      s = pai__tree_str(t, n, &len);
    add_line(l, s, len);
    return;
  }
  walk = pai__tree_iter(t, n);
  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (p->type == PAI__MAPPING) {
      const char *key = pai__tree_str(t, child, &len);

      pai__pointer_add(&l->path, key, len);
      flatten(l, t, pai__tree_value(t, child));
    } else {
      pai__buf_printf(&l->path, "/%u", i++);
      flatten(l, t, child);
    }
    l->text.failed = l->text.failed || !pai__buf_ok(&l->path);
    pai__buf_cut(&l->path, before); /* which forgets that */
  }
}

static int by_text(const void *a, const void *b)
{
  const char *const *x = a, *const *y = b;
  int order = strcmp(*x, *y);

  return order != 0 ? order : strcmp(*x + strlen(*x) + 1, *y + strlen(*y) + 1);
}

/* The lines of a JSON text, sorted and NULL behind them. */
static int read_lines(lines *l, const pai_alloc *alloc, const char *text,
                      size_t len, const char ***sorted)
{
  pai__json_options opts = { .alloc = alloc };
  pai__tree *t;
  int rc;

  pai__buf_init(&l->text, alloc);
  pai__buf_init(&l->path, alloc);
  *sorted = NULL;
  rc = pai__json_parse(&t, text, len, &opts, NULL);
  if (rc < 0)
    return rc;
  flatten(l, t, 0);
  pai__tree_free(t);
  *sorted = pai__realloc(alloc, NULL, 0, l->n + 1, sizeof(**sorted));
  if (*sorted == NULL || !pai__buf_ok(&l->text) || !pai__buf_ok(&l->path))
    return PAI_ENOMEM;
  for (size_t i = 0; i < l->n; i++)
    (*sorted)[i] = l->text.data + l->at[i];
  (*sorted)[l->n] = NULL;
  if (l->n > 1)
    qsort(*sorted, l->n, sizeof(**sorted), by_text);
  return PAI_OK;
}

static void dispose(lines *l, const pai_alloc *alloc, const char **sorted)
{
  if (sorted != NULL)
    pai__free(alloc, sorted, (l->n + 1) * sizeof(*sorted));
  pai__free(alloc, l->at, l->cap * sizeof(*l->at));
  pai__buf_dispose(&l->text);
  pai__buf_dispose(&l->path);
}

/* A group whose victims were spared is allocated again. */
static bool is_q2(const char *want, const char *got)
{
  static const char groups[] = "/groups/", state[] = "/state";
  size_t len = strlen(want), tail = sizeof(state) - 1;

  return strcmp(want, got) == 0 && len > tail &&
         strncmp(want, groups, sizeof(groups) - 1) == 0 &&
         strcmp(want + len - tail, state) == 0 &&
         strcmp(want + len + 1, "BeingPreempted") == 0 &&
         strcmp(got + len + 1, "Allocated") == 0;
}

/* The first line that only one has, or has otherwise. */
static bool find_difference(hived_replay *r, const char **want,
                            const char **got)
{
  const char *a, *b;

  for (; *want != NULL && *got != NULL; want++, got++) {
    if (by_text(want, got) == 0)
      continue;
    if (!is_q2(*want, *got))
      break;
    r->q2 = true;
  }
  if (*want == NULL && *got == NULL)
    return false;
  a = *want;
  b = *got;
  if (a != NULL && b != NULL && strcmp(a, b) != 0) {
    if (strcmp(a, b) < 0)
      b = NULL;
    else
      a = NULL;
  }
  pai__buf_clear(&r->place);
  pai__buf_clear(&r->want);
  pai__buf_clear(&r->got);
  pai__buf_str(&r->place, a != NULL ? a : b);
  pai__buf_str(&r->want, a != NULL ? a + strlen(a) + 1 : "nothing");
  pai__buf_str(&r->got, b != NULL ? b + strlen(b) + 1 : "nothing");
  return true;
}

int hived_replay_same(hived_replay *r, const char *want, size_t want_len,
                      const char *got, size_t got_len)
{
  const char **a = NULL, **b = NULL;
  lines x = { .n = 0 }, y = { .n = 0 };
  int rc = read_lines(&x, &r->alloc, want, want_len, &a);

  if (rc == PAI_OK)
    rc = read_lines(&y, &r->alloc, got, got_len, &b);
  if (rc == PAI_OK)
    rc = !find_difference(r, a, b);
  dispose(&x, &r->alloc, a);
  if (y.text.alloc != NULL)
    dispose(&y, &r->alloc, b);
  return rc;
}

/* --- the step ------------------------------------------------------------- */

const char *hived_replay_text(const hived_replay *r, const char *key)
{
  pai__node n = pai__tree_get(r->row, 0, key);

  return n != PAI__NO_NODE && pai__tree_type(r->row, n) == PAI__STRING
           ? pai__tree_str(r->row, n, NULL)
           : "";
}

const char *hived_replay_slice(const pai__tree *t, pai__node n, size_t *len)
{
  const pai__tree_node *p = pai__tree_at(t, n);

  *len = p->end - p->start;
  return t->text + p->start;
}
