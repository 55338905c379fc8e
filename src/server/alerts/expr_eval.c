/* expr_eval.c - evaluates an expression of an alert rule over samples */
#include "server/alerts/expr.h"

#include <math.h>
#include <string.h>

typedef struct eval {
  const pai__alert_samples *samples;
  pai_time now;
  pai__arena *arena;
} eval;

int pai__alert_result_add(pai__alert_result *out, pai__arena *arena,
                          pai__alert_labels labels, double value)
{
  if (out->n == PAI__EXPR_RESULTS)
    return PAI_ELIMIT;
  if (out->n == out->cap) {
    size_t cap = out->cap > 0 ? 2 * out->cap : 8;
    pai__alert_sample *at = pai__arena_zalloc(arena, cap, sizeof(*at));

    if (at == NULL)
      return PAI_ENOMEM;
    if (out->n > 0)
      memcpy(at, out->at, out->n * sizeof(*at));
    out->at = at;
    out->cap = cap;
  }
  out->at[out->n++] = (pai__alert_sample){ .labels = labels, .value = value };
  return PAI_OK;
}

static int eval_node(pai__alert_result *out, const eval *e,
                     const pai__expr_node *n);

static int eval_select(pai__alert_result *out, const eval *e,
                       const pai__expr_node *n)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < e->samples->n; i++) {
    const pai__alert_sample *s = &e->samples->at[i];

    if (strcmp(s->name, n->metric) == 0 &&
        pai__alert_matchers_match(&n->matchers, s->labels))
      rc = pai__alert_result_add(out, e->arena, s->labels, s->value);
  }
  return rc;
}

/* --- groups -------------------------------------------------------------- */

/* Keeps only those labels, which stay sorted. */
static int pick_labels(pai__alert_labels *out, const eval *e,
                       pai__alert_labels of, pai__alert_labels only)
{
  pai__alert_label *to = pai__arena_zalloc(e->arena, only.n + 1, sizeof(*to));
  size_t n = 0;

  if (to == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < of.n; i++)
    for (size_t k = 0; k < only.n; k++)
      if (strcmp(of.at[i].name, only.at[k].name) == 0) {
        to[n++] = of.at[i];
        break;
      }
  *out = (pai__alert_labels){ to, n };
  return PAI_OK;
}

static void add_to(pai__alert_sample *sum, enum pai__expr_how how, double v)
{
  if (how == PAI__HOW_SUM || how == PAI__HOW_AVG)
    sum->value += v;
  else if (how == PAI__HOW_MIN ? v < sum->value
                               : how == PAI__HOW_MAX && v > sum->value)
    sum->value = v;
}

/* Adds a value to its group; `counts` has the size of each. */
static int group_one(pai__alert_result *out, size_t *counts, pai__map *groups,
                     const eval *e, const pai__expr_node *n,
                     const pai__alert_sample *s, pai__buf *key)
{
  pai__alert_labels labels;
  size_t at;
  int rc;

  pai__buf_cut(key, 0);
  pai__alert_labels_key(key, s->labels, &n->labels);
  if (!pai__buf_ok(key))
    return PAI_ENOMEM;
  at = (uintptr_t)pai__map_get(groups, pai__buf_text(key), key->len);
  if (at > 0) {
    add_to(&out->at[at - 1], n->how, s->value);
    counts[at - 1]++;
    return PAI_OK;
  }
  rc = pick_labels(&labels, e, s->labels, n->labels);
  if (rc == PAI_OK)
    rc = pai__alert_result_add(out, e->arena, labels, s->value);
  if (rc == PAI_OK)
    counts[out->n - 1] = 1;
  return rc < 0 ? rc
                : pai__map_set(groups, pai__buf_text(key), key->len,
                               (void *)(uintptr_t)out->n);
}

static int eval_group(pai__alert_result *out, const eval *e,
                      const pai__expr_node *n)
{
  pai__alert_result a = { .n = 0 };
  pai__map groups;
  pai__buf key;
  size_t *counts;
  int rc = eval_node(&a, e, n->a);

  if (rc < 0)
    return rc;
  counts = pai__arena_zalloc(e->arena, a.n + 1, sizeof(*counts));
  if (counts == NULL)
    return PAI_ENOMEM;
  pai__map_init(&groups, e->arena->alloc);
  pai__buf_init(&key, e->arena->alloc);
  for (size_t i = 0; rc == PAI_OK && i < a.n; i++)
    rc = group_one(out, counts, &groups, e, n, &a.at[i], &key);
  for (size_t i = 0; i < out->n; i++)
    if (n->how == PAI__HOW_AVG)
      out->at[i].value /= (double)counts[i];
    else if (n->how == PAI__HOW_COUNT)
      out->at[i].value = (double)counts[i];
  pai__buf_dispose(&key);
  pai__map_dispose(&groups);
  return rc;
}

/* --- two sides ----------------------------------------------------------- */

static double calculate(enum pai__expr_op op, double a, double b)
{
  switch (op) {
  case PAI__OP_ADD: return a + b;
  case PAI__OP_SUB: return a - b;
  case PAI__OP_MUL: return a * b;
  default: return b == 0 ? (double)NAN : a / b; /* 1/0 is no large number */
  }
}

static bool holds(enum pai__expr_op op, double a, double b)
{
  switch (op) {
  case PAI__OP_EQ: return a == b;
  case PAI__OP_NE: return a < b || a > b;
  case PAI__OP_LE: return a <= b;
  case PAI__OP_GE: return a >= b;
  case PAI__OP_LT: return a < b;
  default: return a > b;
  }
}

/* Adds the result for a pair.  `of`: the side whose labels and, in a
 * comparison, whose value it keeps. */
static int add_pair(pai__alert_result *out, const eval *e,
                    const pai__expr_node *n, const pai__alert_sample *of,
                    double a, double b)
{
  if (n->op >= PAI__OP_ADD)
    return pai__alert_result_add(out, e->arena, of->labels,
                                 calculate(n->op, a, b));
  return holds(n->op, a, b)
           ? pai__alert_result_add(out, e->arena, of->labels, of->value)
           : PAI_OK;
}

static int make_key(pai__buf *key, const pai__expr_node *n,
                    const pai__alert_sample *s)
{
  pai__buf_cut(key, 0);
  pai__alert_labels_key(key, s->labels, n->some ? &n->labels : NULL);
  return pai__buf_ok(key) ? PAI_OK : PAI_ENOMEM;
}

static int pair_one(pai__alert_result *out, const eval *e,
                    const pai__expr_node *n, const pai__alert_sample *a,
                    const pai__alert_sample *b)
{
  if (n->op == PAI__OP_OR || (n->op == PAI__OP_AND && b != NULL) ||
      (n->op == PAI__OP_UNLESS && b == NULL))
    return pai__alert_result_add(out, e->arena, a->labels, a->value);
  return n->op > PAI__OP_UNLESS && b != NULL
           ? add_pair(out, e, n, a, a->value, b->value)
           : PAI_OK;
}

/* Adds the values of the right side that the left side lacks. */
static int add_rest(pai__alert_result *out, const eval *e,
                    const pai__expr_node *n, const pai__alert_result *a,
                    const pai__alert_result *b, pai__buf *key)
{
  pai__map left;
  int rc = PAI_OK;

  pai__map_init(&left, e->arena->alloc);
  for (size_t i = 0; rc == PAI_OK && i < a->n; i++) {
    rc = make_key(key, n, &a->at[i]);
    if (rc == PAI_OK)
      rc = pai__map_set(&left, pai__buf_text(key), key->len, &a->at[i]);
  }
  for (size_t i = 0; rc == PAI_OK && i < b->n; i++) {
    rc = make_key(key, n, &b->at[i]);
    if (rc == PAI_OK &&
        pai__map_get(&left, pai__buf_text(key), key->len) == NULL)
      rc =
        pai__alert_result_add(out, e->arena, b->at[i].labels, b->at[i].value);
  }
  pai__map_dispose(&left);
  return rc;
}

/* Pairs values with equal labels.  Of several on the right the first
 * counts. */
static int eval_pairs(pai__alert_result *out, const eval *e,
                      const pai__expr_node *n, const pai__alert_result *a,
                      const pai__alert_result *b)
{
  pai__map right;
  pai__buf key;
  int rc = PAI_OK;

  pai__map_init(&right, e->arena->alloc);
  pai__buf_init(&key, e->arena->alloc);
  for (size_t i = b->n; rc == PAI_OK && i-- > 0;) {
    rc = make_key(&key, n, &b->at[i]);
    if (rc == PAI_OK)
      rc = pai__map_set(&right, pai__buf_text(&key), key.len, &b->at[i]);
  }
  for (size_t i = 0; rc == PAI_OK && i < a->n; i++) {
    rc = make_key(&key, n, &a->at[i]);
    if (rc == PAI_OK)
      rc = pair_one(out, e, n, &a->at[i],
                    pai__map_get(&right, pai__buf_text(&key), key.len));
  }
  if (rc == PAI_OK && n->op == PAI__OP_OR)
    rc = add_rest(out, e, n, a, b, &key);
  pai__buf_dispose(&key);
  pai__map_dispose(&right);
  return rc;
}

static int eval_binary(pai__alert_result *out, const eval *e,
                       const pai__expr_node *n)
{
  pai__alert_result a = { .n = 0 }, b = { .n = 0 };
  const pai__alert_result *many;
  int rc = eval_node(&a, e, n->a);

  if (rc == PAI_OK)
    rc = eval_node(&b, e, n->b);
  if (rc < 0 || (!n->a->is_number && !n->b->is_number))
    return rc < 0 ? rc : eval_pairs(out, e, n, &a, &b);
  many = n->a->is_number ? &b : &a;
  for (size_t i = 0; rc == PAI_OK && i < many->n; i++)
    rc = add_pair(out, e, n, &many->at[i],
                  n->a->is_number ? a.at[0].value : a.at[i].value,
                  n->b->is_number ? b.at[0].value : b.at[i].value);
  return rc;
}

static int eval_node(pai__alert_result *out, const eval *e,
                     const pai__expr_node *n)
{
  int rc;

  switch (n->kind) {
  case PAI__EXPR_NUMBER:
    return pai__alert_result_add(out, e->arena, (pai__alert_labels){ NULL, 0 },
                                 n->number);
  case PAI__EXPR_SELECT: return eval_select(out, e, n);
  case PAI__EXPR_WINDOW:
    return pai__expr_window_read(out, n, e->now, e->arena);
  case PAI__EXPR_GROUP: return eval_group(out, e, n);
  case PAI__EXPR_BINARY: return eval_binary(out, e, n);
  case PAI__EXPR_NEGATIVE: break;
  }
  rc = eval_node(out, e, n->a);
  for (size_t i = 0; i < out->n; i++)
    out->at[i].value = -out->at[i].value;
  return rc;
}

int pai__alert_expr_eval(pai__alert_result *out, const pai__alert_expr *e,
                         const pai__alert_samples *samples, pai_time now,
                         pai__arena *arena)
{
  const eval how = { samples, now, arena };

  *out = (pai__alert_result){ .n = 0 };
  return eval_node(out, &how, e->root);
}
