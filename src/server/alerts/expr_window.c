/* expr_window.c - older values of metrics, for rate(x[5m]) and its like */
#include "server/alerts/expr.h"

#include <string.h>

static void free_series(pai__expr_series *s, const pai_alloc *alloc)
{
  pai__arena_dispose(&s->arena);
  pai__free(alloc, s, sizeof(*s));
}

void pai__expr_window_free(pai__expr_node *node, const pai_alloc *alloc)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&node->series, &i)) != NULL;)
    free_series(e->value, alloc);
  pai__map_dispose(&node->series);
}

/* --- keeping ------------------------------------------------------------- */

static void add_point(pai__expr_series *s, const pai__expr_node *node,
                      double value, pai_time now)
{
  pai_time apart = node->window / (PAI__EXPR_POINTS - 2);

  if (s->n > 0 && now < s->points[s->n - 1].time)
    s->n = 0; /* the clock was set back */
  /* values of a long window are kept further apart */
  if (s->n > 0 && now - s->points[s->n - 1].time < apart)
    return;
  if (s->n == PAI__EXPR_POINTS) {
    s->n--;
    memmove(s->points, s->points + 1, s->n * sizeof(s->points[0]));
  }
  s->points[s->n++] = (pai__expr_point){ now, value };
}

static pai__expr_series *new_series(pai__expr_node *node,
                                    const pai_alloc *alloc,
                                    const pai__alert_sample *sample,
                                    const pai__buf *key)
{
  pai__expr_series *s;

  if (node->series.live >= PAI__EXPR_SERIES)
    return NULL;
  s = pai__zalloc(alloc, sizeof(*s));
  if (s == NULL)
    return NULL;
  pai__arena_init(&s->arena, alloc);
  if (pai__alert_labels_copy(&s->labels, &s->arena, sample->labels) &&
      pai__map_set(&node->series, pai__buf_text(key), key->len, s) == PAI_OK)
    return s;
  free_series(s, alloc);
  return NULL;
}

static int keep(pai__expr_node *node, const pai_alloc *alloc,
                const pai__alert_sample *sample, pai__buf *key, pai_time now)
{
  pai__expr_series *s;

  pai__buf_cut(key, 0);
  pai__alert_labels_key(key, sample->labels, NULL);
  if (!pai__buf_ok(key))
    return PAI_ENOMEM;
  s = pai__map_get(&node->series, pai__buf_text(key), key->len);
  if (s == NULL)
    s = new_series(node, alloc, sample, key);
  if (s == NULL)
    return node->series.live >= PAI__EXPR_SERIES ? PAI_OK : PAI_ENOMEM;
  add_point(s, node, sample->value, now);
  return PAI_OK;
}

/* Forgets series without a value in the window. */
static void forget_old(pai__expr_node *node, const pai_alloc *alloc,
                       pai_time now)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&node->series, &i)) != NULL;) {
    pai__expr_series *s = e->value;

    if (s->n > 0 && now - s->points[s->n - 1].time <= node->window)
      continue;
    (void)pai__map_remove(&node->series, e->key, e->len);
    free_series(s, alloc);
  }
}

int pai__alert_expr_remember(pai__alert_expr *e,
                             const pai__alert_samples *samples, pai_time now)
{
  pai__buf key;
  int rc = PAI_OK;

  pai__buf_init(&key, &e->alloc);
  for (pai__expr_node *n = e->nodes; n != NULL && rc == PAI_OK; n = n->next) {
    if (n->kind != PAI__EXPR_WINDOW)
      continue;
    forget_old(n, &e->alloc, now);
    for (size_t i = 0; i < samples->n && rc == PAI_OK; i++)
      if (strcmp(samples->at[i].name, n->metric) == 0 &&
          pai__alert_matchers_match(&n->matchers, samples->at[i].labels))
        rc = keep(n, &e->alloc, &samples->at[i], &key, now);
  }
  pai__buf_dispose(&key);
  return rc;
}

/* --- reading ------------------------------------------------------------- */

/* Returns the increase a second; a counter that fell began anew. */
static double rate(const pai__expr_point *p, size_t n)
{
  double sum = 0;

  for (size_t i = 1; i < n; i++)
    sum +=
      p[i].value < p[i - 1].value ? p[i].value : p[i].value - p[i - 1].value;
  return sum * 1e6 / (double)(p[n - 1].time - p[0].time);
}

static double fold(enum pai__expr_how how, const pai__expr_point *p, size_t n)
{
  double v = p[0].value, sum = v;

  if (how == PAI__HOW_RATE)
    return rate(p, n);
  for (size_t i = 1; i < n; i++) {
    sum += p[i].value;
    if (how == PAI__HOW_MIN ? p[i].value < v : p[i].value > v)
      v = p[i].value;
  }
  return how == PAI__HOW_SUM     ? sum
         : how == PAI__HOW_COUNT ? (double)n
         : how == PAI__HOW_AVG   ? sum / (double)n
                                 : v;
}

int pai__expr_window_read(pai__alert_result *out, const pai__expr_node *node,
                          pai_time now, pai__arena *arena)
{
  const pai__map_entry *e;
  int rc = PAI_OK;

  for (size_t i = 0;
       rc == PAI_OK && (e = pai__map_next(&node->series, &i)) != NULL;) {
    const pai__expr_series *s = e->value;
    size_t from = 0;

    while (from < s->n && now - s->points[from].time > node->window)
      from++;
    if (s->n - from >= (node->how == PAI__HOW_RATE ? 2U : 1U))
      rc = pai__alert_result_add(
        out, arena, s->labels, fold(node->how, s->points + from, s->n - from));
  }
  return rc;
}

bool pai__alert_expr_has_window(const pai__alert_expr *e)
{
  for (const pai__expr_node *n = e->nodes; n != NULL; n = n->next)
    if (n->kind == PAI__EXPR_WINDOW)
      return true;
  return false;
}
