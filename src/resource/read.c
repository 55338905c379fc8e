/* read.c - one value of a cluster's text */
#include "resource/read.h"

#include "base/utf8.h"

enum {
  LONGEST_NODE = 253, /* as a host's */
  LONGEST_TEXT = 512  /* Kubernetes' labels have up to 317 */
};

/* --- mappings and lists --------------------------------------------------- */

static void wrong_type(pai__reader *r, pai__node n, const char *what,
                       const char *wanted)
{
  char value[PAI__VALUE_TEXT];

  (void)pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", n,
                  "%s must be %s, not %s", what, wanted,
                  pai__value_text(value, r->f, n));
}

bool pai__read_is_list(pai__reader *r, pai__node n, const char *what)
{
  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) == PAI__NULL)
    return false;
  if (pai__tree_type(r->t, n) == PAI__SEQUENCE)
    return true;
  wrong_type(r, n, what, "a list");
  return false;
}

bool pai__read_is_mapping(pai__reader *r, pai__node n, const char *what)
{
  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) == PAI__NULL)
    return false;
  if (pai__tree_type(r->t, n) == PAI__MAPPING)
    return true;
  wrong_type(r, n, what, "a mapping");
  return false;
}

static void unknown_key(pai__reader *r, pai__node key, const char *what,
                        const char *const *keys, size_t nkeys)
{
  int severity = r->lenient ? PAI_SEVERITY_WARNING : PAI_SEVERITY_ERROR;
  char piece[PAI__EXCERPT];
  size_t len;
  const char *s = pai__tree_str(r->t, key, &len);
  pai__names names;

  pai__names_init(&names, &r->c->alloc, s, len);
  for (size_t i = 0; i < nkeys; i++)
    pai__names_add(&names, keys[i], strlen(keys[i]));
  if ((!r->lenient || pai__names_surely(&names)) &&
      pai__find(r->f, severity, "unknown-key", key, "%s has no field '%s'",
                what, pai__excerpt(piece, s, len)))
    pai__names_help(&names, r->f, "its fields");
  pai__buf_dispose(&names.list);
}

bool pai__read_fields(pai__reader *r, pai__node n, const char *what,
                      const char *const *keys, size_t nkeys, pai__node *values)
{
  pai__tree_walk walk;
  pai__node key;

  for (size_t i = 0; i < nkeys; i++)
    values[i] = PAI__NO_NODE;
  if (pai__tree_type(r->t, n) != PAI__MAPPING) {
    wrong_type(r, n, what, "a mapping");
    return false;
  }
  walk = pai__tree_iter(r->t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *s = pai__tree_str(r->t, key, NULL);
    size_t i = 0;

    while (i < nkeys && strcmp(s, keys[i]) != 0)
      i++;
    if (i < nkeys)
      values[i] = pai__tree_value(r->t, key);
    else
      unknown_key(r, key, what, keys, nkeys);
  }
  return true;
}

void pai__read_missing(pai__reader *r, pai__node n, const char *what,
                       const char *key)
{
  (void)pai__find(r->f, PAI_SEVERITY_ERROR, "missing-key", n, "%s needs '%s'",
                  what, key);
}

/* --- scalars -------------------------------------------------------------- */

static bool is_line(const char *s, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
      return false;
  return len > 0 && len <= LONGEST_TEXT;
}

pai__piece pai__read_text(pai__reader *r, pai__node n, const char *what)
{
  const pai__tree_node *node;
  pai__piece piece = { NULL, 0 };

  if (n == PAI__NO_NODE)
    return piece;
  node = pai__tree_at(r->t, n);
  if (node->type == PAI__STRING) {
    piece.s = pai__tree_str(r->t, n, &piece.len);
  } else if (node->type == PAI__INT || node->type == PAI__FLOAT) {
    piece.s = r->t->text + node->start;
    piece.len = node->end - node->start;
  } else {
    wrong_type(r, n, what, "a text");
    return piece;
  }
  if (!is_line(piece.s, piece.len)) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-name", n,
                    "%s must be one line of 1 to %d characters", what,
                    LONGEST_TEXT);
    piece.s = NULL;
  }
  return piece;
}

const char *pai__read_cell_name(pai__reader *r, pai__node n, const char *what)
{
  pai__piece piece = pai__read_text(r, n, what);

  if (piece.s == NULL)
    return NULL;
  if (memchr(piece.s, '.', piece.len) == NULL &&
      memchr(piece.s, '/', piece.len) == NULL)
    return pai__read_copy(r, n, what);
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-name", n,
                "%s cannot have '.' or '/' in it", what))
    pai__find_help(r->f, "cells are called after it, as CHAIN.TYPE and "
                         "ADDRESS/NUMBER; write - instead");
  return NULL;
}

const char *pai__read_copy(pai__reader *r, pai__node n, const char *what)
{
  pai__piece piece = pai__read_text(r, n, what);
  const char *copy = NULL;

  if (piece.s == NULL)
    return NULL;
  copy = pai__cluster_text(r->c, piece.s, piece.len);
  r->f->failed |= copy == NULL;
  return copy;
}

uint32_t pai__read_uint32(pai__reader *r, pai__node n, const char *what,
                          uint32_t least, uint32_t most, uint32_t missing)
{
  char text[PAI__VALUE_TEXT];
  int64_t value;

  if (n == PAI__NO_NODE)
    return missing;
  if (!pai__tree_whole(r->t, n, &value)) {
    wrong_type(r, n, what, "a whole number");
    return missing;
  }
  if (value < (int64_t)least || value > (int64_t)most) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR,
                    value < (int64_t)least ? "too-small" : "too-large", n,
                    "%s cannot be %s", what, pai__value_text(text, r->f, n));
    pai__find_help(r->f, "give a number from %u to %u", least, most);
    return missing;
  }
  return (uint32_t)value;
}

static bool take_size(pai__reader *r, pai__node n, uint64_t *size)
{
  int64_t value;
  size_t len;
  const char *s;

  if (pai__tree_whole(r->t, n, &value) && value >= 0) {
    *size = (uint64_t)value;
    return true;
  }
  if (pai__tree_type(r->t, n) != PAI__STRING)
    return false;
  s = pai__tree_str(r->t, n, &len);
  return pai__size_parse(size, s, len);
}

uint64_t pai__read_size(pai__reader *r, pai__node n, const char *what)
{
  char text[PAI__VALUE_TEXT];
  uint64_t size;

  if (n == PAI__NO_NODE)
    return 0;
  if (take_size(r, n, &size)) {
    if (size <= PAI__MOST_MEMORY)
      return size;
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", n,
                    "that is more memory than any machine has");
    return 0;
  }
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-size", n, "%s cannot be %s",
                what, pai__value_text(text, r->f, n)))
    pai__find_help(r->f, "give bytes, or a number with K, M, G or T, as 64G");
  return 0;
}

/* --- kinds and nodes ---------------------------------------------------------------- */

uint32_t pai__read_kind(pai__reader *r, pai__node at, const char *name,
                        size_t len)
{
  uint32_t index = pai__cluster_find_kind(r->c, name, len);
  pai__gpu_kind kind = { NULL, NULL, 0 };

  if (index != PAI__NOTHING)
    return index;
  if (r->c->nkinds == PAI__MAX_KINDS) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "limit", at,
                    "there are more than %d kinds of GPUs", PAI__MAX_KINDS);
    r->full = true;
    return PAI__NOTHING;
  }
  kind.name = pai__cluster_text(r->c, name, len);
  if (kind.name == NULL || pai__cluster_add_kind(r->c, &kind, &index) < 0)
    r->f->failed = true;
  return index;
}

/* The node's place is kept for what is found out about it at the end. */
static int keep_place(pai__reader *r, pai__node at)
{
  size_t n = r->c->nnodes;

  if (PAI__VEC_ROOM(&r->c->alloc, r->places, n, r->place_cap) < 0)
    return PAI_ENOMEM;
  r->places[n] = at;
  return PAI_OK;
}

bool pai__is_cpu_kind(const pai_cluster *c, const char *name)
{
  for (size_t i = 0; i < c->nunits; i++)
    if (c->units[i].gpus == 0 && strcmp(c->units[i].name, name) == 0)
      return true;
  return strcmp(name, "cpu") == 0 || strcmp(name, "CPU") == 0;
}

bool pai__is_node_name(const char *s, size_t len)
{
  return len <= LONGEST_NODE && is_line(s, len) && strpbrk(s, "[]/") == NULL;
}

pai__member *pai__read_add_node(pai__reader *r, pai__node at, const char *name,
                                uint32_t sku)
{
  pai_cluster *c = r->c;
  pai__member *m = NULL;

  if (!pai__is_node_name(name, strlen(name))) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-name", at,
                  "a node cannot be called '%.80s'", name))
      pai__find_help(r->f,
                     "at most %d characters, no /, and no brackets: in our "
                     "own form those stand for many nodes",
                     LONGEST_NODE);
    return NULL;
  }
  if (c->nnodes >= r->max_nodes ||
      c->ngpus + c->skus[sku].gpus > PAI__CLUSTER_MAX_GPUS) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "limit", at,
                    c->nnodes >= r->max_nodes ? "there are more than %u nodes"
                                              : "there are more than %u GPUs",
                    c->nnodes >= r->max_nodes
                      ? r->max_nodes
                      : (unsigned)PAI__CLUSTER_MAX_GPUS);
    r->full = true;
    return NULL;
  }
  if (keep_place(r, at) < 0 || pai__cluster_add_node(c, name, sku, &m) < 0)
    r->f->failed = true;
  return m;
}
