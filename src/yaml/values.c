/* values.c - types, values and places of scalar events */
#include "yaml/load.h"
#include "base/text/utf8.h"

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

/* Finds the type and value of a scalar with a tag. */
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
    out->type = PAI__SEQUENCE; /* an absent collection */
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

int pai__yaml_set(pai__yaml_loader *l, pai__node n, const pai__yaml_text *x)
{
  pai__tree_node *p = &l->t->nodes[n];
  size_t len = x->len, bytes = len;

  switch (x->value.type) {
  case PAI__BOOL: p->u.b = x->value.u.b; return PAI_OK;
  case PAI__FLOAT: p->u.f = x->value.u.f; return PAI_OK;
  case PAI__INT:
  case PAI__TIMESTAMP: p->u.i = x->value.u.i; return PAI_OK;
  case PAI__STRING:
    p->u.s.len = (uint32_t)len;
    if (pai__tree_store(l->t, &p->u.s.off, x->s, len) < 0)
      return pai__oom(l->err);
    return PAI_OK;
  case PAI__BINARY:
    if (pai__tree_reserve(l->t, len) < 0)
      return pai__oom(l->err);
    if (!pai__base64(l->t->strings + l->t->strings_len, &bytes, x->s, len))
      return pai__yaml_fail_tag(l, PAI__TAG_BINARY, p->start);
    p->u.s.off = (uint32_t)l->t->strings_len;
    p->u.s.len = (uint32_t)bytes;
    l->t->strings_len += bytes;
    l->t->strings[l->t->strings_len++] = '\0';
    return PAI_OK;
  default: return PAI_OK;
  }
}

/* Fails: a character is outside of quotes that is allowed only in quotes. */
static int fail_odd(pai__yaml_loader *l, uint32_t start, uint32_t c)
{
  const pai__tree *t = l->t;
  char bytes[5] = "";
  const char *found;

  (void)pai__utf8_put(bytes, c);
  found = strstr(t->text + start, bytes);
  (void)pai__fail_at(
    l->err, PAI_EINVAL,
    pai__tree_pos(l->t, found != NULL ? (uint32_t)(found - t->text) : start),
    "character U+%04X is not allowed outside quotes", (unsigned)c);
  pai__error_help(l->err, "remove it, or put the text in quotes");
  return PAI_EINVAL;
}

int pai__yaml_read(pai__yaml_loader *l, yaml_event_t *event, pai__yaml_text *x)
{
  uint8_t style = scalar_style(event->data.scalar.style);
  const char *tag = (const char *)event->data.scalar.tag;
  uint32_t from = pai__yaml_offset(&l->src, event->start_mark.index);
  bool bare = tag == NULL && event->start_mark.index < event->end_mark.index &&
              pai__yaml_bare_tag(l->t, from);
  bool props = tag != NULL || bare || event->data.scalar.anchor != NULL;
  bool empty = style == PAI__PLAIN && event->data.scalar.length == 0;
  pai__yaml_tag found;
  uint32_t odd;
  int rc;

  x->from = from;
  pai__yaml_place(l, event, props, &x->start, &x->end);
  if (style >= PAI__LITERAL)
    while (x->end > x->start && pai__yaml_space(l->t->text[x->end - 1]))
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
