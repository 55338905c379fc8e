/* read.c - HiveD extender: reads Kubernetes' nodes and pods */
#include "sched/hived/extender/extender.h"

#define ANNOTATION "hivedscheduler.microsoft.com/"

/* Kubernetes allows no longer texts.  They are read on the host's loop, and
 * errors repeat them. */
enum { MOST_TEXT = 1024, MOST_NOTES = 256 << 10 };

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_letters(const char *a, const char *b)
{
  while (*a != '\0' && lower(*a) == lower(*b)) {
    a++;
    b++;
  }
  return *a == '\0' && *b == '\0';
}

pai__node pai__ext_field(const pai__ext_read *r, pai__node n, const char *key)
{
  pai__node found = PAI__NO_NODE, k;
  pai__tree_walk walk;

  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) != PAI__MAPPING)
    return PAI__NO_NODE;
  walk = pai__tree_iter(r->t, n);
  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (same_letters(pai__tree_str(r->t, k, NULL), key))
      found = pai__tree_value(r->t, k);
  if (found != PAI__NO_NODE && pai__tree_type(r->t, found) == PAI__NULL)
    return PAI__NO_NODE;
  return found;
}

pai__node pai__ext_get(pai__ext_read *r, pai__node n, const char *key,
                       int type)
{
  pai__node v = pai__ext_field(r, n, key);

  if (v == PAI__NO_NODE || pai__tree_type(r->t, v) == type)
    return v;
  if (r->wrong == NULL)
    r->wrong = key;
  return PAI__NO_NODE;
}

/* Returns the string of a field, or ""; records an error if it is too long. */
static const char *text_of(pai__ext_read *r, const char *key, pai__node v,
                           size_t most)
{
  const char *text = v != PAI__NO_NODE ? pai__tree_str(r->t, v, NULL) : "";

  if (strnlen(text, most + 1) <= most)
    return text;
  if (r->wrong == NULL) {
    r->wrong = key;
    r->too_long = true;
  }
  return "";
}

const char *pai__ext_text(pai__ext_read *r, pai__node n, const char *key)
{
  return text_of(r, key, pai__ext_get(r, n, key, PAI__STRING), MOST_TEXT);
}

/* Returns an entry of a map; its keys, unlike those of fields, are
 * case-sensitive. */
static const char *entry(pai__ext_read *r, pai__node n, const char *key)
{
  pai__node v = n != PAI__NO_NODE ? pai__tree_get(r->t, n, key) : n;

  return v != PAI__NO_NODE && pai__tree_type(r->t, v) == PAI__STRING
           ? text_of(r, "annotations", v, MOST_NOTES)
           : "";
}

/* --- pods ----------------------------------------------------------------- */

/* True if a quantity such as "1", "500m" or 1 is positive. */
static bool is_positive(const pai__ext_read *r, pai__node v)
{
  const pai__tree_node *n = pai__tree_at(r->t, v);
  const char *s = r->t->text + n->start;
  size_t len = n->end - n->start;

  if (n->type == PAI__STRING)
    s = pai__tree_str(r->t, v, &len);
  else if (n->type != PAI__INT && n->type != PAI__FLOAT)
    return false;
  for (size_t i = 0; i < len && s[i] != 'e' && s[i] != 'E'; i++) {
    if (s[i] == '-')
      return false;
    if (s[i] >= '1' && s[i] <= '9')
      return true;
  }
  return false;
}

/* True if a container of the list asks for this scheduler. */
static bool asks(pai__ext_read *r, pai__node spec, const char *key)
{
  pai__tree_walk walk =
    pai__hived_items(r->t, pai__ext_get(r, spec, key, PAI__SEQUENCE));
  pai__node item, v;

  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    v = pai__ext_get(r, item, "resources", PAI__MAPPING);
    v = pai__ext_get(r, v, "limits", PAI__MAPPING);
    if (v != PAI__NO_NODE)
      v = pai__tree_get(r->t, v, ANNOTATION "pod-scheduling-enable");
    if (v != PAI__NO_NODE && is_positive(r, v))
      return true;
  }
  return false;
}

void pai__ext_read_pod(pai__ext_read *r, pai__node n, pai__ext_view *v)
{
  pai__node meta = pai__ext_get(r, n, "metadata", PAI__MAPPING);
  pai__node spec = pai__ext_get(r, n, "spec", PAI__MAPPING);
  pai__node status = pai__ext_get(r, n, "status", PAI__MAPPING);
  pai__node notes = pai__ext_get(r, meta, "annotations", PAI__MAPPING);
  const char *phase = pai__ext_text(r, status, "phase");

  v->uid = pai__ext_text(r, meta, "uid");
  v->ns = pai__ext_text(r, meta, "namespace");
  v->name = pai__ext_text(r, meta, "name");
  v->node = pai__ext_text(r, spec, "nodeName");
  v->spec = entry(r, notes, ANNOTATION "pod-scheduling-spec");
  v->bound = entry(r, notes, ANNOTATION "pod-bind-info");
  v->live = strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0 &&
            (asks(r, spec, "containers") || asks(r, spec, "initContainers"));
}

/* --- nodes ---------------------------------------------------------------- */

static bool is_ready(pai__ext_read *r, pai__node status)
{
  pai__tree_walk walk = pai__hived_items(
    r->t, pai__ext_get(r, status, "conditions", PAI__SEQUENCE));
  pai__node item;
  bool ready = false;

  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__ext_text(r, item, "type"), "Ready") == 0)
      ready = strcmp(pai__ext_text(r, item, "status"), "True") == 0;
  return ready;
}

const char *pai__ext_read_node(pai__ext_read *r, pai__node n, bool *good)
{
  pai__node meta = pai__ext_get(r, n, "metadata", PAI__MAPPING);
  pai__node spec = pai__ext_get(r, n, "spec", PAI__MAPPING);
  pai__node status = pai__ext_get(r, n, "status", PAI__MAPPING);
  pai__node off = pai__ext_get(r, spec, "unschedulable", PAI__BOOL);

  *good =
    is_ready(r, status) && (off == PAI__NO_NODE || !pai__tree_bool(r->t, off));
  return pai__ext_text(r, meta, "name");
}
