/* load.c - builds the tree from libyaml's events */
#include "yaml/load.h"

enum { REPEAT_FLOOR = 1 << 20 }; /* bytes that aliases may always stand for */

static pai__pos place(const pai__yaml_loader *l, uint32_t at)
{
  return pai__tree_pos(l->t, at);
}

/* --- nodes, keys and limits --------------------------------------------- */

static inline pai__yaml_frame *top(const pai__yaml_loader *l)
{
  return l->depth != 0 ? &l->frames[l->depth - 1] : NULL;
}

/* Returns whether the next node is a key. */
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

/* Adds a node and sets *n to its index. */
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
  a->repeated = 0;
  a->open = open;
  return PAI_OK;
}

/* Applies js-yaml's rules for keys of block mappings: "<<" after "?" is no
 * merge key, and a first key without "?" has no anchor or tag. */
static int check_block_key(pai__yaml_loader *l, bool props, uint32_t at,
                           bool *merge)
{
  const pai__tree_node *mapping = &l->t->nodes[top(l)->node];
  bool refused = props && mapping->u.c.count == 0;

  if (!l->js || (mapping->flags & PAI__STYLE) == PAI__FLOW ||
      (!refused && !*merge))
    return PAI_OK;
  if (pai__yaml_explicit(l->t, mapping, at)) {
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

/* --- scalars ------------------------------------------------------------ */

/* Adds a key that is not a string.  Its original value is stored below it. */
static int take_odd_key(pai__yaml_loader *l, const pai__yaml_text *x,
                        pai__node key, pai__node *n)
{
  int rc = push(l, x->value.type, x->flags & (PAI__STYLE | PAI__HAS_PROPS),
                x->start, x->end, n);

  if (rc == PAI_OK)
    rc = pai__yaml_set(l, *n, x);
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
  pai__yaml_text x;
  int rc = pai__yaml_read(l, event, &x);

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
    rc = pai__yaml_set(l, n, &x);
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
  const pai__tree_node *anchored = &l->t->nodes[a->node];

  if (a->open)
    return fail_alias(l, PAI_EINVAL, at,
                      "alias *%.80s is inside what it stands for", name);
  if (a->height > l->opts.max_depth - l->depth)
    return fail_alias(l, PAI_ELIMIT, at,
                      "with alias *%.80s values are nested too deep", name);
  l->expanded += a->expanded;
  l->repeated += anchored->end - anchored->start + a->repeated;
  if ((l->expanded > l->opts.alias_floor &&
       l->expanded / l->opts.alias_factor > l->t->count) ||
      (l->repeated > REPEAT_FLOOR &&
       l->repeated / l->opts.alias_factor > l->t->len))
    return fail_alias(l, PAI_ELIMIT, at,
                      "with alias *%.80s the document grows too much", name);
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

  pai__yaml_place(l, event, false, &start, &end);
  if (index < 0) {
    /* Do not show the name: it may be a password that begins with a star. */
    rc = pai__fail_at(l->err, PAI_EINVAL, place(l, start),
                      "this alias has no anchor");
    pai__error_help(l->err, "quote a text that begins with *, or put the "
                            "anchor, with &, before the value");
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
  pai__yaml_frame f = { .key = PAI__NO_NODE,
                        .before = l->expanded,
                        .bytes = l->repeated };
  uint32_t start, end;
  int rc;

  pai__yaml_place(l, event, props, &start, &end);
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
  rc = pai__tree_close(l->t, f.node, l->at, l->opts.duplicates, l->err);
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
    a->repeated = l->repeated - f.bytes;
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
