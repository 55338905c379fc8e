/*
 * expr_parse.c - reads an expression of an alert rule
 *
 * From weak to strong: or; and, unless; comparisons; + -; * /; -a.  Errors say
 * what was expected, at its line and column.
 */
#include "server/alerts/expr.h"

#include <stdlib.h>
#include <string.h>

typedef struct parser {
  pai__alert_expr *e;
  const char *text, *at, *end;
  pai_error **err;
  int depth, rc;
} parser;

/* --- errors and tokens --------------------------------------------------- */

static void skip_space(parser *p)
{
  while (p->at < p->end && strchr(" \t\r\n", *p->at) != NULL)
    p->at++;
}

static pai__pos where(const parser *p, const char *at)
{
  pai__pos pos = { 1, 1 };

  for (const char *c = p->text; c < at; c++) {
    pos.column = *c == '\n' ? 1 : pos.column + ((*c & 0xc0) != 0x80);
    pos.line += *c == '\n';
  }
  return pos;
}

static pai__expr_node *fail(parser *p, const char *at, const char *what,
                            const char *help)
{
  int left = (int)(p->end - at < 20 ? p->end - at : 20);

  if (p->rc < 0)
    return NULL;
  if (left == 0)
    p->rc = pai__fail_at(p->err, PAI_EINVAL, where(p, at),
                         "the expression ends where %s", what);
  else
    p->rc = pai__fail_at(p->err, PAI_EINVAL, where(p, at), "\"%.*s\": %s",
                         left, at, what);
  pai__error_help(p->err, "%s", help);
  return NULL;
}

static pai__expr_node *no_memory(parser *p)
{
  if (p->rc == PAI_OK)
    p->rc = pai__oom(p->err);
  return NULL;
}

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == ':';
}

static size_t word_len(const parser *p)
{
  size_t n = 0;

  while (p->at + n < p->end && is_word(p->at[n]))
    n++;
  return n;
}

/* Takes a symbol, or a whole word. */
static bool take(parser *p, const char *what)
{
  size_t len = strlen(what);

  skip_space(p);
  if ((size_t)(p->end - p->at) < len || memcmp(p->at, what, len) != 0 ||
      (is_word(what[0]) && word_len(p) != len))
    return false;
  p->at += len;
  return true;
}

static bool need(parser *p, const char *what, const char *help)
{
  if (take(p, what))
    return true;
  (void)fail(p, p->at, "another sign is expected", help);
  return false;
}

static pai__expr_node *new_node(parser *p, enum pai__expr_kind kind)
{
  pai__expr_node *n = pai__arena_zalloc(&p->e->arena, 1, sizeof(*n));

  if (n == NULL)
    return no_memory(p);
  n->kind = kind;
  n->next = p->e->nodes;
  p->e->nodes = n;
  pai__alert_matchers_init(&n->matchers, &p->e->alloc);
  pai__map_init(&n->series, &p->e->alloc);
  return n;
}

static const char *keep(parser *p, const char *text, size_t len)
{
  const char *kept = pai__arena_strndup(&p->e->arena, text, len);

  if (kept == NULL)
    (void)no_memory(p);
  return kept;
}

/* --- metrics and their labels -------------------------------------------- */

/* Reads a quoted text without escapes into *text and *len. */
static bool read_quoted(parser *p, const char **text, size_t *len)
{
  char quote;

  skip_space(p);
  quote = p->at < p->end ? *p->at : '\0';
  if (quote != '"' && quote != '\'') {
    (void)fail(p, p->at, "a value in quotes is expected",
               "write name=\"value\"");
    return false;
  }
  *text = ++p->at;
  while (p->at < p->end && *p->at != quote && *p->at != '\\')
    p->at++;
  if (p->at == p->end || *p->at == '\\') {
    (void)fail(p, *text - 1, "the value has a backslash, or no second quote",
               "write name=\"value\"; [.] is a dot in a regular expression");
    return false;
  }
  *len = (size_t)(p->at++ - *text);
  return true;
}

static bool read_matcher(parser *p, pai__expr_node *n)
{
  const char *name, *start, *value = NULL;
  size_t len, value_len = 0;
  bool negative, regex;
  pai_error *why = NULL;
  int rc;

  skip_space(p);
  start = name = p->at;
  len = word_len(p);
  p->at += len;
  regex = take(p, "=~");
  negative = !regex && (take(p, "!=") || (regex = take(p, "!~")));
  if (!regex && !negative && !take(p, "=")) {
    (void)fail(p, p->at, "= != =~ or !~ is expected",
               "write {name=\"value\"}");
    return false;
  }
  if (!read_quoted(p, &value, &value_len))
    return false;
  rc = pai__alert_matchers_add(&n->matchers, name, len, value, value_len,
                               negative, regex, &why);
  if (rc == PAI_ENOMEM)
    (void)no_memory(p);
  else if (rc < 0)
    (void)fail(p, start, pai_error_message(why),
               pai_error_help(why) != NULL ? pai_error_help(why)
                                           : "use fewer matchers");
  pai_error_free(why);
  return rc == PAI_OK;
}

static bool read_matchers(parser *p, pai__expr_node *n)
{
  if (!take(p, "{"))
    return true;
  while (!take(p, "}")) {
    if (!read_matcher(p, n))
      return false;
    if (take(p, ","))
      continue;
    return need(p, "}", "separate matchers by commas and end them with }");
  }
  return true;
}

static pai__expr_node *read_select(parser *p, enum pai__expr_kind kind)
{
  pai__expr_node *n;
  size_t len;

  skip_space(p);
  len = word_len(p);
  if (len == 0 || (p->at[0] >= '0' && p->at[0] <= '9'))
    return fail(p, p->at, "the name of a metric is expected",
                "'openpai alert rules' and /metrics have names");
  n = new_node(p, kind);
  if (n == NULL || (n->metric = keep(p, p->at, len)) == NULL)
    return NULL;
  p->at += len;
  return read_matchers(p, n) ? n : NULL;
}

/* --- functions ----------------------------------------------------------- */

static const struct word {
  const char *name;
  enum pai__expr_how how;
} windows[] = { { "rate", PAI__HOW_RATE },
                { "avg_over_time", PAI__HOW_AVG },
                { "min_over_time", PAI__HOW_MIN },
                { "max_over_time", PAI__HOW_MAX },
                { "sum_over_time", PAI__HOW_SUM },
                { "count_over_time", PAI__HOW_COUNT } },
  groups[] = { { "sum", PAI__HOW_SUM },
               { "avg", PAI__HOW_AVG },
               { "min", PAI__HOW_MIN },
               { "max", PAI__HOW_MAX },
               { "count", PAI__HOW_COUNT } };

static const struct word *find(parser *p, const struct word *all, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (take(p, all[i].name))
      return &all[i];
  return NULL;
}

static pai__expr_node *read_window(parser *p, enum pai__expr_how how)
{
  pai__expr_node *n;
  size_t len;

  if (!need(p, "(", "write rate(metric[5m])"))
    return NULL;
  n = read_select(p, PAI__EXPR_WINDOW);
  if (n == NULL || !need(p, "[", "write a window such as metric[5m]"))
    return NULL;
  n->how = how;
  skip_space(p);
  len = word_len(p);
  n->window = pai__alert_duration(p->at, len);
  if (n->window == 0 || n->window > INT64_C(86400000000))
    return fail(p, p->at, "a time of up to a day is expected",
                "write 30s, 5m, 1h30m or 1d");
  p->at += len;
  return need(p, "]", "write a window such as metric[5m]") &&
             need(p, ")", "close the bracket of the function")
           ? n
           : NULL;
}

/* Reads "(a, b)" of "by" and "on". */
static bool read_names(parser *p, pai__expr_node *n)
{
  pai__alert_label all[PAI__MATCHERS] = { { NULL, NULL } }, *kept;
  size_t count = 0, len;

  if (!need(p, "(", "write by (name, name)"))
    return false;
  while (!take(p, ")")) {
    skip_space(p);
    len = word_len(p);
    if (!pai__alert_label_is_name(p->at, len) || count == PAI__MATCHERS) {
      (void)fail(p, p->at, "the name of a label is expected",
                 "write up to 16 names, separated by commas");
      return false;
    }
    all[count++].name = keep(p, p->at, len);
    p->at += len;
    if (p->rc < 0 ||
        (!take(p, ",") && (skip_space(p), p->at == p->end || *p->at != ')') &&
         fail(p, p->at, "a comma or ) is expected", "write by (name, name)") ==
           NULL))
      return false;
  }
  kept = pai__arena_zalloc(&p->e->arena, count + 1, sizeof(*kept));
  if (kept == NULL)
    return no_memory(p) != NULL;
  memcpy(kept, all, count * sizeof(*kept));
  n->labels = (pai__alert_labels){ kept, count };
  n->some = true;
  return true;
}

static pai__expr_node *read_or(parser *p);

static pai__expr_node *read_group(parser *p, enum pai__expr_how how)
{
  pai__expr_node *n = new_node(p, PAI__EXPR_GROUP);

  if (n == NULL)
    return NULL;
  n->how = how;
  if ((take(p, "by") && !read_names(p, n)) ||
      !need(p, "(", "write sum(metric) or sum by (label) (metric)"))
    return NULL;
  n->a = read_or(p);
  if (n->a == NULL || !need(p, ")", "close the bracket") ||
      (!n->some && take(p, "by") && !read_names(p, n)))
    return NULL;
  return n->a->is_number ? fail(p, p->at, "a number has nothing to sum up",
                                "give the function a metric")
                         : n;
}

/* --- operators ----------------------------------------------------------- */

static pai__expr_node *read_number(parser *p)
{
  char text[40], *end;
  pai__expr_node *n;
  size_t len = 0;

  while (p->at + len < p->end && len < sizeof(text) - 1 &&
         (strchr("0123456789.", p->at[len]) != NULL ||
          ((p->at[len] == 'e' || p->at[len] == 'E') && len > 0) ||
          (strchr("+-", p->at[len]) != NULL && len > 0 &&
           (p->at[len - 1] == 'e' || p->at[len - 1] == 'E'))))
    len++;
  memcpy(text, p->at, len);
  text[len] = '\0';
  n = new_node(p, PAI__EXPR_NUMBER);
  if (n == NULL)
    return NULL;
  n->number = strtod(text, &end);
  n->is_number = true;
  if (*end != '\0' || (p->at + len < p->end && is_word(p->at[len])))
    return fail(p, p->at, "this is no number", "write 95, 0.3 or 1e9");
  p->at += len;
  return n;
}

static pai__expr_node *read_atom(parser *p)
{
  const struct word *w;
  pai__expr_node *n;

  skip_space(p);
  if (p->at < p->end && strchr("0123456789.", *p->at) != NULL)
    return read_number(p);
  if (take(p, "(")) {
    n = read_or(p);
    return n != NULL && need(p, ")", "close the bracket") ? n : NULL;
  }
  w = find(p, windows, PAI__LEN(windows));
  if (w != NULL)
    return read_window(p, w->how);
  w = find(p, groups, PAI__LEN(groups));
  return w != NULL ? read_group(p, w->how) : read_select(p, PAI__EXPR_SELECT);
}

static pai__expr_node *read_unary(parser *p)
{
  pai__expr_node *n;

  if (++p->depth > PAI__EXPR_DEPTH)
    return fail(p, p->at, "too many brackets are inside each other",
                "make two rules of this one");
  if (take(p, "-")) {
    n = new_node(p, PAI__EXPR_NEGATIVE);
    if (n != NULL && (n->a = read_unary(p)) == NULL)
      n = NULL;
    if (n != NULL)
      n->is_number = n->a->is_number;
  } else {
    n = read_atom(p);
  }
  p->depth--;
  return n;
}

/* Operators, in the order in which they are tried at each level. */
static const struct sign {
  const char *text;
  enum pai__expr_op op;
  int level;
} signs[] = {
  { "or", PAI__OP_OR, 0 },         { "and", PAI__OP_AND, 1 },
  { "unless", PAI__OP_UNLESS, 1 }, { "==", PAI__OP_EQ, 2 },
  { "!=", PAI__OP_NE, 2 },         { "<=", PAI__OP_LE, 2 },
  { ">=", PAI__OP_GE, 2 },         { "<", PAI__OP_LT, 2 },
  { ">", PAI__OP_GT, 2 },          { "+", PAI__OP_ADD, 3 },
  { "-", PAI__OP_SUB, 3 },         { "*", PAI__OP_MUL, 4 },
  { "/", PAI__OP_DIV, 4 },
};

static const struct sign *take_sign(parser *p, int level)
{
  for (size_t i = 0; i < PAI__LEN(signs); i++)
    if (signs[i].level == level && take(p, signs[i].text))
      return &signs[i];
  return NULL;
}

static bool check_binary(parser *p, const char *at, const pai__expr_node *n)
{
  bool sets = n->op <= PAI__OP_UNLESS, compares = !sets && n->op <= PAI__OP_GT;

  if (sets && (n->a->is_number || n->b->is_number))
    (void)fail(p, at, "a number alone is neither true nor false",
               "compare a metric on both sides, as in a > 1 and b > 2");
  else if (compares && n->a->is_number && n->b->is_number)
    (void)fail(p, at, "two numbers are compared", "name a metric on one side");
  return p->rc == PAI_OK;
}

static pai__expr_node *read_level(parser *p, int level)
{
  pai__expr_node *a = level == 5 ? read_unary(p) : read_level(p, level + 1),
                 *n;
  const struct sign *s;

  while (level < 5 && a != NULL && (s = take_sign(p, level)) != NULL) {
    const char *at = p->at - strlen(s->text);

    n = new_node(p, PAI__EXPR_BINARY);
    if (n == NULL || (take(p, "on") && !read_names(p, n)))
      return NULL;
    n->op = s->op;
    n->a = a;
    n->b = read_level(p, level + 1);
    if (n->b == NULL || !check_binary(p, at, n))
      return NULL;
    n->is_number = a->is_number && n->b->is_number;
    a = n;
  }
  return a;
}

static pai__expr_node *read_or(parser *p)
{
  return read_level(p, 0);
}

/* --- the whole ----------------------------------------------------------- */

pai_time pai__alert_duration(const char *text, size_t len)
{
  static const struct {
    char unit;
    int64_t seconds;
  } units[] = {
    { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 }
  };
  int64_t sum = 0, n = -1;

  for (size_t i = 0; i < len; i++) {
    int64_t unit = 0;

    if (text[i] >= '0' && text[i] <= '9') {
      n = (n < 0 ? 0 : n) * 10 + (text[i] - '0');
      if (n > 100000000)
        return 0;
      continue;
    }
    for (size_t k = 0; k < PAI__LEN(units); k++)
      if (units[k].unit == text[i])
        unit = units[k].seconds;
    if (n < 0 || unit == 0)
      return 0;
    sum += n * unit;
    n = -1;
    if (sum > INT64_C(400000000))
      return 0;
  }
  return n < 0 ? sum * 1000000 : 0;
}

static void read_all(parser *p)
{
  p->e->root = read_or(p);
  if (p->rc == PAI_OK && take(p, "for")) {
    size_t len;

    skip_space(p);
    len = word_len(p);
    p->e->wait = pai__alert_duration(p->at, len);
    if (p->e->wait == 0)
      (void)fail(p, p->at, "a time is expected", "write for 5m or for 1h30m");
    p->at += len;
  }
  skip_space(p);
  if (p->rc == PAI_OK && p->at < p->end)
    (void)fail(p, p->at, "an operator is expected",
               "operators are + - * / == != < <= > >= and or unless, and "
               "for 5m at the end");
  if (p->rc == PAI_OK && p->e->root->is_number)
    (void)fail(p, p->text, "a number alone is neither true nor false",
               "compare a metric with it, as in metric > 95");
}

int pai__alert_expr_parse(pai__alert_expr **out, const pai_alloc *alloc,
                          const char *text, size_t len, pai_error **err)
{
  parser p = { NULL, text, text, text + len, err, 0, PAI_OK };

  *out = NULL;
  if (len > PAI__EXPR_LENGTH)
    return pai__fail(err, PAI_ELIMIT, "an expression has more than %d bytes",
                     PAI__EXPR_LENGTH);
  p.e = pai__zalloc(alloc, sizeof(*p.e));
  if (p.e == NULL)
    return pai__oom(err);
  p.e->alloc = *alloc;
  pai__arena_init(&p.e->arena, &p.e->alloc);
  if (memchr(text, '\0', len) != NULL)
    (void)fail(&p, text, "the expression has a zero byte", "remove it");
  else
    read_all(&p);
  if (p.rc == PAI_OK)
    *out = p.e;
  else
    pai__alert_expr_free(p.e);
  return p.rc;
}

void pai__alert_expr_free(pai__alert_expr *e)
{
  pai_alloc alloc;

  if (e == NULL)
    return;
  for (pai__expr_node *n = e->nodes; n != NULL; n = n->next) {
    pai__alert_matchers_dispose(&n->matchers);
    pai__expr_window_free(n, &e->alloc);
  }
  pai__arena_dispose(&e->arena);
  alloc = e->alloc;
  pai__free(&alloc, e, sizeof(*e));
}

pai_time pai__alert_expr_wait(const pai__alert_expr *e)
{
  return e->wait;
}

const char *pai__alert_expr_metric(const pai__alert_expr *e, size_t i)
{
  for (const pai__expr_node *n = e->nodes; n != NULL; n = n->next)
    if (n->metric != NULL && i-- == 0)
      return n->metric;
  return NULL;
}
