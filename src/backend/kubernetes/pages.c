/* pages.c - joins the pages of a list from the API server */
#include "backend/kubernetes/pages.h"

#include "base/text/encode.h"

enum { MOST_REST = 8 << 10 };

void pai__kube_pages_init(pai__kube_pages *p, const pai_alloc *alloc)
{
  pai__buf_init(&p->all, alloc);
  pai__buf_init(&p->rest, alloc);
}

void pai__kube_pages_clear(pai__kube_pages *p)
{
  const pai_alloc *alloc = p->all.alloc;

  pai__buf_dispose(&p->all);
  pai__buf_dispose(&p->rest);
  pai__kube_pages_init(p, alloc);
}

const char *pai__kube_pages_next(const pai__kube_pages *p)
{
  return p->rest.len > 0 ? pai__buf_text(&p->rest) : NULL;
}

/* Copies an object without managedFields, which are large and not used. */
static void add_object(pai__buf *out, const pai__tree *t, pai__node n,
                       const char *json)
{
  const pai__tree_node *object = &t->nodes[n];
  pai__node notes =
    pai__tree_look(t, pai__tree_look(t, n, "metadata"), "managedFields");
  uint32_t from = object->start;

  if (notes != PAI__NO_NODE) {
    pai__buf_add(out, json + from, t->nodes[notes].start - from);
    pai__buf_str(out, "[]");
    from = t->nodes[notes].end;
  }
  pai__buf_add(out, json + from, object->end - from);
}

static void add_objects(pai__buf *out, const pai__tree *t, const char *json)
{
  pai__node items = pai__tree_look(t, 0, "items"), item;
  pai__tree_walk walk;

  if (items == PAI__NO_NODE || pai__tree_type(t, items) != PAI__SEQUENCE)
    return;
  walk = pai__tree_iter(t, items);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (out->len > 0 && out->data[out->len - 1] != '[')
      pai__buf_char(out, ',');
    add_object(out, t, item, json);
  }
}

/* Appends the continue token, escaped for a query. */
static void add_rest(pai__buf *out, const pai__tree *t)
{
  pai__put_escaped(
    out,
    pai__tree_look_text(t, pai__tree_look(t, 0, "metadata"), "continue", ""),
    "");
}

int pai__kube_pages_add(pai__kube_pages *p, const pai__tree *t,
                        const char *json, const char *kind,
                        const char *version)
{
  bool first = p->rest.len == 0, last, same;
  pai__buf rest;

  pai__buf_init(&rest, p->rest.alloc);
  add_rest(&rest, t);
  last = rest.len == 0;
  same = !last && strcmp(pai__buf_text(&rest), pai__buf_text(&p->rest)) == 0;
  pai__buf_dispose(&p->rest);
  p->rest = rest;
  if (first && last)
    return pai__buf_ok(&rest) ? PAI_OK : PAI_ENOMEM;
  if (first)
    pai__buf_printf(&p->all,
                    "{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":"
                    "{\"resourceVersion\":\"%s\"},\"items\":[",
                    kind, version);
  add_objects(&p->all, t, json);
  if (last)
    pai__buf_str(&p->all, "]}");
  if (!pai__buf_ok(&p->all) || !pai__buf_ok(&p->rest))
    return PAI_ENOMEM;
  /* A page may be empty, but must not continue at itself. */
  return p->rest.len > MOST_REST || same ? PAI_EINVAL : PAI_OK;
}
