/* load.c - builds the tree from libyaml's events */
#include "yaml/load.h"
#include "yaml/scalar.h"
#include "base/utf8.h"

/* --- where nodes begin and end ------------------------------------------ */

static pai__pos place(const pai__yaml_loader *l, uint32_t at)
{
  return pai__tree_pos(l->t, at);
}

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of the anchor or tag at p. */
static const char *prop_end(const char *p)
{
  if (p[0] == '!' && p[1] == '<')
    return p + strcspn(p, ">") + (strchr(p, '>') != NULL);
  return p + strcspn(p, " \t\r\n,[]{}");
}

/* Moves over space and comments. */
static const char *skip_space(const char *p)
{
  while (is_space(*p) || *p == '#') {
    if (*p == '#')
      p += strcspn(p, "\r\n");
    else
      p++;
  }
  return p;
}

/* Moves over an anchor, a tag, and what stands between them and the node. */
static uint32_t skip_props(const pai__tree *t, uint32_t at)
{
  const char *p = t->text + at;

  while (*p == '&' || *p == '!')
    p = skip_space(prop_end(p));
  return (uint32_t)(p - t->text);
}

/* Whether "!" stands before a scalar: libyaml forgets it. */
static bool has_bare_tag(const pai__tree *t, uint32_t at)
{
  const char *p = t->text + at;

  if (*p == '&')
    p = skip_space(prop_end(p));
  return *p == '!';
}

/* The place of a node, kept behind the one before it. */
static void find_place(pai__yaml_loader *l, const yaml_event_t *event,
                       bool props, uint32_t *start, uint32_t *end)
{
  *start = pai__yaml_offset(&l->src, event->start_mark.index);
  *end = pai__yaml_offset(&l->src, event->end_mark.index);
  if (props)
    *start = skip_props(l->t, *start);
  if (*start > *end && event->type == YAML_SCALAR_EVENT)
    *start = *end; /* nothing but an anchor or a tag */
  if (*start < l->at)
    *start = l->at;
  if (*end < *start)
    *end = *start;
}

/* --- nodes, keys and limits --------------------------------------------- */

static inline pai__yaml_frame *top(const pai__yaml_loader *l)
{
  return l->depth != 0 ? &l->frames[l->depth - 1] : NULL;
}

/* Whether the next node will be a key. */
static inline bool wants_key(const pai__yaml_loader *l)
{
  const pai__yaml_frame *f = top(l);

  return f != NULL && l->t->nodes[f->node].type == PAI__MAPPING &&
         l->t->nodes[f->node].u.c.count % 2 == 0;
}

static void count_child(pai__yaml_loader *l)
{
  if (l->depth != 0)
    l->t->nodes[top(l)->node].u.c.count++;
}

/* Adds a node; its index goes to *n. */
static int push(pai__yaml_loader *l, uint8_t type, uint8_t flags,
                uint32_t start, uint32_t end, pai__node *n)
{
  pai__tree_node *p = pai__tree_push(l->t, type, start, end);

  if (p == NULL)
    return pai__oom(l->err);
  p->flags = flags;
  *n = (pai__node)l->t->count - 1;
  return PAI_OK;
}

static int set_anchor(pai__yaml_loader *l, const yaml_char_t *name,
                      pai__node n, bool open, int32_t *index)
{
  pai__anchor *a;

  *index = -1;
  if (name == NULL)
    return PAI_OK;
  *index = pai__anchors_add(&l->anchors, (const char *)name,
                            strlen((const char *)name));
  if (*index < 0)
    return pai__oom(l->err);
  a = &l->anchors.all[*index];
  a->node = n;
  a->height = 0;
  a->expanded = 1;
  a->open = open;
  return PAI_OK;
}

/* --- scalars ------------------------------------------------------------ */

static uint8_t scalar_style(yaml_scalar_style_t style)
{
  switch (style) {
  case YAML_SINGLE_QUOTED_SCALAR_STYLE: return PAI__SINGLE;
  case YAML_DOUBLE_QUOTED_SCALAR_STYLE: return PAI__DOUBLE;
  case YAML_LITERAL_SCALAR_STYLE: return PAI__LITERAL;
  case YAML_FOLDED_SCALAR_STYLE: return PAI__FOLDED;
  default: return PAI__PLAIN;
  }
}

/* Types a scalar that has a tag. */
static int type_tagged(pai__yaml_loader *l, pai__yaml_tag tag, const char *s,
                       size_t len, bool empty, uint32_t at, pai__scalar *out)
{
  const pai_alloc *a = &l->t->alloc;
  int rc = PAI_ENOTFOUND;

  out->type = PAI__STRING;
  switch (tag) {
  case PAI__TAG_INT:
    rc = l->js ? pai__yaml_js_int(out, s, len, a)
               : pai__yaml_core_int(out, s, len, a);
    break;
  case PAI__TAG_FLOAT:
    rc = l->js ? pai__yaml_js_float(out, s, len, a)
               : pai__yaml_core_float(out, s, len, a);
    break;
  case PAI__TAG_BOOL: rc = pai__yaml_bool(out, s, len, a); break;
  case PAI__TAG_TIMESTAMP: rc = pai__yaml_js_timestamp(out, s, len, a); break;
  case PAI__TAG_NULL:
    out->type = PAI__NULL;
    rc = empty ? PAI_OK : pai__yaml_null(out, s, len, a);
    break;
  case PAI__TAG_MERGE:
    out->type = empty ? PAI__NULL : PAI__STRING;
    rc = empty || strcmp(s, "<<") == 0 ? PAI_OK : PAI_ENOTFOUND;
    break;
  case PAI__TAG_BINARY:
    out->type = PAI__BINARY;
    rc = empty ? PAI_ENOTFOUND : PAI_OK;
    break;
  case PAI__TAG_SEQ:
  case PAI__TAG_OMAP:
  case PAI__TAG_PAIRS:
    out->type = PAI__SEQUENCE; /* one that is not there */
    rc = PAI_OK;
    break;
  case PAI__TAG_MAP:
  case PAI__TAG_SET:
    out->type = PAI__MAPPING;
    rc = PAI_OK;
    break;
  default: rc = PAI_OK; break;
  }
  if (rc == PAI_ENOTFOUND)
    return pai__yaml_fail_tag(l, tag, at);
  return rc < 0 ? pai__oom(l->err) : PAI_OK;
}

/* Gives a node the value of a scalar. */
static int set_value(pai__yaml_loader *l, pai__node n, const pai__scalar *v,
                     const char *s, size_t len)
{
  pai__tree_node *p = &l->t->nodes[n];
  size_t bytes = len;

  switch (v->type) {
  case PAI__BOOL: p->u.b = v->u.b; return PAI_OK;
  case PAI__FLOAT: p->u.f = v->u.f; return PAI_OK;
  case PAI__INT:
  case PAI__TIMESTAMP: p->u.i = v->u.i; return PAI_OK;
  case PAI__STRING:
    p->u.s.len = (uint32_t)len;
    if (pai__tree_store(l->t, &p->u.s.off, s, len) < 0)
      return pai__oom(l->err);
    return PAI_OK;
  case PAI__BINARY:
    if (pai__tree_reserve(l->t, len) < 0)
      return pai__oom(l->err);
    if (!pai__base64(l->t->strings + l->t->strings_len, &bytes, s, len))
      return pai__yaml_fail_tag(l, PAI__TAG_BINARY, p->start);
    p->u.s.off = (uint32_t)l->t->strings_len;
    p->u.s.len = (uint32_t)bytes;
    l->t->strings_len += bytes;
    l->t->strings[l->t->strings_len++] = '\0';
    return PAI_OK;
  default: return PAI_OK;
  }
}

/* A character that only quotes may hold stands in other text. */
static int fail_odd(pai__yaml_loader *l, uint32_t start, uint32_t c)
{
  const pai__tree *t = l->t;
  char bytes[5] = "";
  const char *found;

  (void)pai__utf8_put(bytes, c);
  found = strstr(t->text + start, bytes);
  (void)pai__fail_at(
    l->err, PAI_EINVAL,
    place(l, found != NULL ? (uint32_t)(found - t->text) : start),
    "character U+%04X is not allowed outside quotes", (unsigned)c);
  pai__error_help(l->err, "remove it, or put the text in quotes");
  return PAI_EINVAL;
}

/* The bytes between the start of a line and a byte of it. */
static size_t column(const pai__tree *t, size_t at)
{
  size_t from = at;

  while (from > 0 && t->text[from - 1] != '\n' && t->text[from - 1] != '\r')
    from--;
  return at - from;
}

/* Whether "?" announces the key at a byte, in a block mapping. */
static bool is_explicit(const pai__tree *t, const pai__tree_node *mapping,
                        size_t at)
{
  while (at > 0 && is_space(t->text[at - 1]))
    at--;
  return at > 0 && t->text[at - 1] == '?' &&
         column(t, at - 1) == column(t, mapping->start);
}

/* What js-yaml makes of a key in a block mapping: no merge key after "?", and
 * no anchor or tag before a first key without "?". */
static int check_block_key(pai__yaml_loader *l, bool props, uint32_t at,
                           bool *merge)
{
  const pai__tree_node *mapping = &l->t->nodes[top(l)->node];
  bool refused = props && mapping->u.c.count == 0;

  if (!l->js || (mapping->flags & PAI__STYLE) == PAI__FLOW ||
      (!refused && !*merge))
    return PAI_OK;
  if (is_explicit(l->t, mapping, at)) {
    *merge = false;
    return PAI_OK;
  }
  if (!refused)
    return PAI_OK;
  (void)pai__fail_at(l->err, PAI_EINVAL, place(l, at),
                     "the first key of a mapping has an anchor or a tag");
  pai__error_help(l->err, "to mark the whole mapping, let it start on the "
                          "next line");
  return PAI_EINVAL;
}

/* A scalar as an event tells of it. */
typedef struct text {
  char *s;
  size_t len;
  uint32_t start, end;
  uint32_t from; /* where its anchor or tag begins, or it does */
  uint8_t flags;
  pai__scalar value;
  bool merge;
} text;

static int read_scalar(pai__yaml_loader *l, yaml_event_t *event, text *x)
{
  uint8_t style = scalar_style(event->data.scalar.style);
  const char *tag = (const char *)event->data.scalar.tag;
  uint32_t from = pai__yaml_offset(&l->src, event->start_mark.index);
  bool bare = tag == NULL && event->start_mark.index < event->end_mark.index &&
              has_bare_tag(l->t, from);
  bool props = tag != NULL || bare || event->data.scalar.anchor != NULL;
  bool empty = style == PAI__PLAIN && event->data.scalar.length == 0;
  pai__yaml_tag found;
  uint32_t odd;
  int rc;

  x->from = from;
  find_place(l, event, props, &x->start, &x->end);
  if (style >= PAI__LITERAL)
    while (x->end > x->start && is_space(l->t->text[x->end - 1]))
      x->end--;
  x->flags = style | (props ? PAI__HAS_PROPS : 0);
  x->s = (char *)event->data.scalar.value;
  x->len = pai__yaml_restore(&l->src, x->s, event->data.scalar.length, &odd);
  if (odd != 0 && style != PAI__SINGLE && style != PAI__DOUBLE)
    return fail_odd(l, x->start, odd);
  rc =
    pai__yaml_find_tag(l, bare ? "!" : tag, PAI__STRING, empty, from, &found);
  if (rc < 0)
    return rc;
  x->merge = found == PAI__TAG_MERGE ||
             (l->js && found == PAI__TAG_NONE && style == PAI__PLAIN &&
              strcmp(x->s, "<<") == 0);
  if (found != PAI__TAG_NONE && !(found == PAI__TAG_TEXT && empty))
    return type_tagged(l, found, x->s, x->len, empty, x->start, &x->value);
  x->value.type = PAI__STRING;
  if (style == PAI__PLAIN &&
      pai__yaml_plain(&x->value, x->s, x->len, l->js, &l->t->alloc) < 0)
    return pai__oom(l->err);
  return PAI_OK;
}

/* A key that is no string: what it was written as is kept below it. */
static int take_odd_key(pai__yaml_loader *l, const text *x, pai__node key,
                        pai__node *n)
{
  int rc = push(l, x->value.type, x->flags & (PAI__STYLE | PAI__HAS_PROPS),
                x->start, x->end, n);

  if (rc == PAI_OK)
    rc = set_value(l, *n, &x->value, x->s, x->len);
  if (rc == PAI_OK) {
    l->t->nodes[key].skip = (uint32_t)l->t->count;
    rc = pai__yaml_key_text(l, key, *n);
  }
  return rc;
}

static int take_scalar(pai__yaml_loader *l, yaml_event_t *event)
{
  bool key = wants_key(l);
  int32_t anchor;
  pai__node n;
  text x;
  int rc = read_scalar(l, event, &x);

  if (rc == PAI_OK && key && ((x.flags & PAI__HAS_PROPS) != 0 || x.merge))
    rc = check_block_key(l, (x.flags & PAI__HAS_PROPS) != 0, x.from, &x.merge);
  if (rc < 0)
    return rc;
  if (key)
    x.flags |= PAI__IS_KEY | (x.merge ? PAI__IS_MERGE : 0);
  if (key && x.merge)
    l->t->nodes[top(l)->node].flags |= PAI__HAS_LIST;
  count_child(l);
  rc = push(l, key ? PAI__STRING : x.value.type, x.flags, x.start, x.end, &n);
  if (rc < 0)
    return rc;
  l->at = x.end;
  l->expanded++;
  if (key && x.value.type != PAI__STRING)
    rc = take_odd_key(l, &x, n, &n);
  else
    rc = set_value(l, n, &x.value, x.s, x.len);
  if (rc == PAI_OK && event->data.scalar.anchor != NULL)
    rc = set_anchor(l, event->data.scalar.anchor, n, false, &anchor);
  return rc;
}

/* --- aliases ------------------------------------------------------------ */

static int fail_alias(pai__yaml_loader *l, int code, uint32_t at,
                      const char *what, const yaml_char_t *name)
{
  return pai__fail_at(l->err, code, place(l, at), what, (const char *)name);
}

static int check_alias(pai__yaml_loader *l, const pai__anchor *a, uint32_t at,
                       const yaml_char_t *name)
{
  if (a->open)
    return fail_alias(l, PAI_EINVAL, at,
                      "alias *%.80s is inside what it is "
                      "an alias of",
                      name);
  if (a->height > l->opts.max_depth - l->depth)
    return fail_alias(l, PAI_ELIMIT, at,
                      "with alias *%.80s values are nested "
                      "too deep",
                      name);
  l->expanded += a->expanded;
  if (l->expanded > l->opts.alias_floor &&
      l->expanded / l->opts.alias_factor > l->t->count)
    return fail_alias(l, PAI_ELIMIT, at,
                      "with alias *%.80s the document "
                      "grows too much",
                      name);
  return PAI_OK;
}

static int take_alias(pai__yaml_loader *l, const yaml_event_t *event)
{
  const char *name = (const char *)event->data.alias.anchor;
  int32_t index = pai__anchors_find(&l->anchors, name, strlen(name));
  const pai__anchor *a;
  bool key = wants_key(l);
  uint32_t start, end;
  pai__node n;
  int rc;

  find_place(l, event, false, &start, &end);
  if (index < 0) {
    rc = fail_alias(l, PAI_EINVAL, start, "alias *%.80s has no anchor",
                    event->data.alias.anchor);
    pai__error_help(l->err, "put &%.80s before the value, or quote the text",
                    name);
    return rc;
  }
  a = &l->anchors.all[index];
  rc = check_alias(l, a, start, event->data.alias.anchor);
  if (rc < 0)
    return rc;
  count_child(l);
  rc = push(l, key ? PAI__STRING : PAI__ALIAS, key ? PAI__IS_KEY : 0, start,
            end, &n);
  if (rc < 0)
    return rc;
  l->at = end;
  if (key)
    return pai__yaml_key_text(l, n, a->node);
  l->t->nodes[n].u.target = a->node;
  if (l->depth != 0 && top(l)->height < a->height)
    top(l)->height = a->height;
  return PAI_OK;
}

/* --- collections -------------------------------------------------------- */

static int fail_depth(pai__yaml_loader *l, uint32_t at)
{
  return pai__fail_at(l->err, PAI_ELIMIT, place(l, at),
                      "values are nested more than %u deep",
                      (unsigned)l->opts.max_depth);
}

static int take_start(pai__yaml_loader *l, yaml_event_t *event)
{
  bool seq = event->type == YAML_SEQUENCE_START_EVENT;
  const yaml_char_t *anchor =
    seq ? event->data.sequence_start.anchor : event->data.mapping_start.anchor;
  const yaml_char_t *tag =
    seq ? event->data.sequence_start.tag : event->data.mapping_start.tag;
  bool flow = seq
                ? event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
                : event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
  bool props = anchor != NULL || tag != NULL, key = wants_key(l);
  bool merge = false;
  uint8_t type = seq ? PAI__SEQUENCE : PAI__MAPPING;
  uint8_t flags =
    (uint8_t)((flow ? PAI__FLOW : 0) | (props ? PAI__HAS_PROPS : 0));
  pai__yaml_frame f = { .key = PAI__NO_NODE, .before = l->expanded };
  uint32_t start, end;
  int rc;

  find_place(l, event, props, &start, &end);
  if (l->depth == l->opts.max_depth)
    return fail_depth(l, start);
  rc = pai__yaml_find_tag(l, (const char *)tag, type, false, start, &f.tag);
  if (rc == PAI_OK && key && !l->js)
    rc = pai__fail_at(l->err, PAI_EINVAL, place(l, start),
                      "a key must be a scalar");
  if (rc == PAI_OK && key)
    rc = check_block_key(
      l, props, pai__yaml_offset(&l->src, event->start_mark.index), &merge);
  count_child(l);
  if (rc == PAI_OK && key)
    rc = push(l, PAI__STRING, PAI__IS_KEY, start, start, &f.key);
  if (rc == PAI_OK)
    rc = push(l, type, flags, start, start, &f.node);
  if (rc == PAI_OK)
    rc = set_anchor(l, anchor, f.node, true, &f.anchor);
  if (rc < 0)
    return rc;
  if (PAI__VEC_ROOM(&l->t->alloc, l->frames, l->depth, l->frame_cap) < 0)
    return pai__oom(l->err);
  l->frames[l->depth++] = f;
  l->at = start;
  l->expanded++;
  return PAI_OK;
}

static int take_end(pai__yaml_loader *l, const yaml_event_t *event)
{
  pai__yaml_frame f = l->frames[--l->depth];
  bool brackets = event->end_mark.index > event->start_mark.index;
  int rc;

  if (brackets)
    l->at = pai__yaml_offset(&l->src, event->end_mark.index);
  rc = pai__tree_close(l->t, f.node, l->at, PAI__REFUSE_DUPLICATES, l->err);
  if (rc == PAI_OK)
    rc = pai__yaml_check_tag(l, f.tag, f.node);
  if (rc < 0)
    return rc;
  f.height++;
  if (l->depth != 0 && f.key == PAI__NO_NODE && top(l)->height < f.height)
    top(l)->height = f.height;
  if (f.anchor >= 0 && l->anchors.all[f.anchor].node == f.node) {
    pai__anchor *a = &l->anchors.all[f.anchor];
    a->open = false;
    a->height = f.height;
    a->expanded = l->expanded - f.before;
  }
  if (f.key == PAI__NO_NODE)
    return PAI_OK;
  l->t->nodes[f.key].end = l->at;
  l->t->nodes[f.key].skip = (uint32_t)l->t->count;
  return pai__yaml_key_text(l, f.key, f.node);
}

int pai__yaml_take(pai__yaml_loader *l, yaml_event_t *event)
{
  switch (event->type) {
  case YAML_SCALAR_EVENT: return take_scalar(l, event);
  case YAML_ALIAS_EVENT: return take_alias(l, event);
  case YAML_SEQUENCE_START_EVENT:
  case YAML_MAPPING_START_EVENT: return take_start(l, event);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT: return take_end(l, event);
  default: return PAI_OK;
  }
}
