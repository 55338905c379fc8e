/*
 * quick.c - everyday texts read without libyaml
 *
 * libyaml's scanner needs four allocations for each plain scalar, and most of
 * the time that it takes to check a job file.  This one knows block
 * collections, brackets, scalars and comments as people write them, each
 * exactly as libyaml reads it, and gives up at the first thing that it does
 * not know: tabs between tokens, anchors, tags, "?", quotes over several
 * lines, all that is wrong.
 */
#include "yaml/quick.h"

/* --- events ------------------------------------------------------------- */

static inline pai__quick_level *top(pai__quick *q)
{
  return &q->levels[q->depth];
}

static int put(pai__quick *q, yaml_event_type_t type, const char *from,
               const char *to)
{
  q->event.type = type;
  q->event.start_mark.index = (size_t)(from - q->text);
  q->event.end_mark.index = (size_t)(to - q->text);
  return pai__yaml_take(q->l, &q->event);
}

static int put_scalar(pai__quick *q)
{
  q->value[q->len] = '\0';
  q->event.data.scalar.value = (yaml_char_t *)q->value;
  q->event.data.scalar.length = q->len;
  q->event.data.scalar.style = q->style;
  return put(q, YAML_SCALAR_EVENT, q->from, q->to);
}

/* Puts the value that is not there, if there should be one. */
static int put_missing(pai__quick *q)
{
  const char *empty = top(q)->empty;

  if (empty == NULL)
    return PAI_OK;
  top(q)->empty = NULL;
  q->from = q->to = empty;
  q->len = 0;
  q->style = YAML_PLAIN_SCALAR_STYLE;
  return put_scalar(q);
}

static int open_level(pai__quick *q, pai__quick_kind kind, const char *from)
{
  bool flow = kind >= PAI__QUICK_BRACKETS;

  if (q->depth + 1 == PAI__QUICK_LEVELS)
    return PAI__QUICK_GIVE_UP;
  q->levels[++q->depth] = (pai__quick_level){ kind, from - q->line, NULL };
  if (kind == PAI__QUICK_MAPPING || kind == PAI__QUICK_BRACES) {
    q->event.data.mapping_start.style =
      flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE;
    return put(q, YAML_MAPPING_START_EVENT, from, from + flow);
  }
  q->event.data.sequence_start.style =
    flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE;
  return put(q, YAML_SEQUENCE_START_EVENT, from, from + flow);
}

static int close_level(pai__quick *q)
{
  pai__quick_kind kind = top(q)->kind;
  bool flow = kind >= PAI__QUICK_BRACKETS;
  bool mapping = kind == PAI__QUICK_MAPPING || kind == PAI__QUICK_BRACES;
  const char *from = q->at;

  q->depth--;
  q->at += flow;
  return put(q, mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT,
             from, q->at);
}

/* --- in brackets -------------------------------------------------------- */

static bool at_bracket(pai__quick *q)
{
  return *q->at == (top(q)->kind == PAI__QUICK_BRACES ? '}' : ']');
}

static int open_bracket(pai__quick *q)
{
  int rc = open_level(
    q, *q->at == '{' ? PAI__QUICK_BRACES : PAI__QUICK_BRACKETS, q->at);

  q->at++;
  return rc;
}

/* What stands behind an item: a comma, or the end of all of them. */
static int pass_comma(pai__quick *q)
{
  (void)pai__quick_next(q);
  if (*q->at == ',')
    q->at++;
  else if (!at_bracket(q))
    return PAI__QUICK_GIVE_UP;
  return PAI_OK;
}

static int read_flow_key(pai__quick *q)
{
  int rc = pai__quick_scalar(q, true);

  if (rc == PAI_OK && !pai__quick_colon(q, true))
    rc = PAI__QUICK_GIVE_UP;
  if (rc == PAI_OK)
    rc = put_scalar(q);
  (void)pai__quick_next(q);
  return rc;
}

/* An item of the innermost brackets, or their end. */
static int read_item(pai__quick *q, size_t outer)
{
  int rc = PAI_OK;

  (void)pai__quick_next(q);
  if (at_bracket(q)) {
    rc = close_level(q);
    return rc == PAI_OK && q->depth > outer ? pass_comma(q) : rc;
  }
  if (top(q)->kind == PAI__QUICK_BRACES)
    rc = read_flow_key(q);
  if (rc == PAI_OK && (*q->at == '[' || *q->at == '{'))
    return open_bracket(q);
  if (rc == PAI_OK)
    rc = pai__quick_scalar(q, true);
  if (rc == PAI_OK)
    rc = put_scalar(q);
  return rc == PAI_OK ? pass_comma(q) : rc;
}

static int read_flow(pai__quick *q)
{
  size_t outer = q->depth;
  int rc = open_bracket(q);

  while (rc == PAI_OK && q->depth > outer)
    rc = read_item(q, outer);
  return rc;
}

/* --- block collections -------------------------------------------------- */

static bool at_dash(const pai__quick *q)
{
  return *q->at == '-' && pai__quick_gap(q->at[1]);
}

/* Passes over the '-' or the ':' before `behind`. */
static int expect_value(pai__quick *q, const char *behind, bool compact)
{
  q->at = top(q)->empty = behind;
  q->compact = compact;
  return PAI_OK;
}

/* Puts a scalar that is a key; the colon is behind us. */
static int put_key(pai__quick *q)
{
  int rc = put_scalar(q);

  return rc == PAI_OK ? expect_value(q, q->at, false) : rc;
}

/* A value that is a scalar, or a mapping that begins with one. */
static int read_text(pai__quick *q)
{
  int rc = pai__quick_scalar(q, false);

  if (rc < 0)
    return rc;
  if (pai__quick_colon(q, false)) {
    if (!q->compact)
      return PAI__QUICK_GIVE_UP;
    rc = open_level(q, PAI__QUICK_MAPPING, q->from);
    return rc == PAI_OK ? put_key(q) : rc;
  }
  if (q->style == YAML_PLAIN_SCALAR_STYLE)
    rc = pai__quick_more_lines(q);
  return rc == PAI_OK ? put_scalar(q) : rc;
}

static int read_value(pai__quick *q)
{
  int rc;

  if (top(q)->empty == NULL)
    return PAI__QUICK_GIVE_UP;
  top(q)->empty = NULL;
  switch (*q->at) {
  case '[':
  case '{': return read_flow(q);
  case '|':
  case '>': rc = pai__quick_block(q); return rc == PAI_OK ? put_scalar(q) : rc;
  default: break;
  }
  if (!at_dash(q))
    return read_text(q);
  if (!q->compact)
    return PAI__QUICK_GIVE_UP;
  rc = open_level(q, PAI__QUICK_SEQUENCE, q->at);
  return rc == PAI_OK ? expect_value(q, q->at + 1, true) : rc;
}

/* The next entry or key of the innermost collection, at its column. */
static int read_entry(pai__quick *q)
{
  bool mapping = top(q)->kind == PAI__QUICK_MAPPING;
  int rc;

  if (mapping && at_dash(q) && top(q)->empty != NULL) {
    top(q)->empty = NULL;
    rc = open_level(q, PAI__QUICK_INDENTLESS, q->at);
    return rc == PAI_OK ? expect_value(q, q->at + 1, true) : rc;
  }
  rc = put_missing(q);
  if (rc < 0 || mapping == at_dash(q))
    return rc < 0 ? rc : PAI__QUICK_GIVE_UP;
  if (!mapping)
    return expect_value(q, q->at + 1, true);
  rc = pai__quick_scalar(q, false);
  if (rc == PAI_OK && !pai__quick_colon(q, false))
    rc = PAI__QUICK_GIVE_UP;
  return rc == PAI_OK ? put_key(q) : rc;
}

/* Closes the collections that what stands at a column is not in. */
static int close_levels(pai__quick *q, ptrdiff_t column)
{
  int rc = PAI_OK;

  while (rc == PAI_OK &&
         (top(q)->column > column ||
          (top(q)->column == column && top(q)->kind == PAI__QUICK_INDENTLESS &&
           !at_dash(q)))) {
    rc = put_missing(q);
    if (rc == PAI_OK)
      rc = close_level(q);
  }
  return rc;
}

/* What comes first on a line. */
static int read_first(pai__quick *q)
{
  ptrdiff_t column = q->at - q->line;
  int rc;

  if (column == 0 &&
      (strncmp(q->at, "---", 3) == 0 || strncmp(q->at, "...", 3) == 0))
    return PAI__QUICK_GIVE_UP;
  q->compact = true;
  rc = close_levels(q, column);
  if (rc < 0)
    return rc;
  return column == top(q)->column ? read_entry(q) : read_value(q);
}

/* Passes over a "---" on a line of its own before the document. */
static void skip_marker(pai__quick *q)
{
  const char *at = q->at, *line = q->line;

  (void)pai__quick_next(q);
  if (q->at == q->line && strncmp(q->at, "---", 3) == 0) {
    q->at += 3;
    if (pai__quick_next(q))
      return;
  }
  q->at = at;
  q->line = line;
}

static int read_all(pai__quick *q)
{
  int rc = PAI_OK;

  skip_marker(q);
  while (rc == PAI_OK) {
    bool first = pai__quick_next(q);

    if (*q->at == '\0')
      break;
    rc = first ? read_first(q) : read_value(q);
  }
  if (rc == PAI_OK)
    rc = close_levels(q, -1);
  return rc == PAI_OK && top(q)->empty != NULL ? PAI__QUICK_GIVE_UP : rc;
}

int pai__yaml_quick(pai__yaml_loader *l)
{
  const pai_alloc *alloc = &l->t->alloc;
  size_t size = l->src.len + 2;
  pai_error **err = l->err;
  bool bytes = l->src.bytes;
  pai__quick q;
  int rc;

  q.value = pai__realloc(alloc, NULL, 0, size, 1);
  if (q.value == NULL)
    return PAI_ENOMEM;
  q.l = l;
  q.text = q.at = q.line = l->src.fed;
  q.end = q.text + l->src.len;
  q.compact = true;
  q.depth = 0;
  q.levels[0] = (pai__quick_level){ PAI__QUICK_ROOT, -1, q.text };
  q.event = (yaml_event_t){ 0 };
  l->err = NULL; /* libyaml's events will tell it better */
  l->src.bytes = true;
  rc = read_all(&q);
  l->src.bytes = bytes;
  l->err = err;
  pai__free(alloc, q.value, size);
  return rc;
}
