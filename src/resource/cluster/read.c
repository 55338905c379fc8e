/* read.c - read values of a cluster's text: fields of mappings, lists, texts,
 * numbers, amounts of memory, ranges of names */
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "resource/cluster/read.h"

enum {
  LONGEST_NODE = 253, /* as host names */
  LONGEST_TEXT = 512, /* Kubernetes' labels have up to 317 */
  MOST_FIELDS = 16
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
                        const pai__read_field *fields, size_t nfields)
{
  int severity = r->lenient ? PAI_SEVERITY_WARNING : PAI_SEVERITY_ERROR;
  char piece[PAI__EXCERPT];
  size_t len;
  const char *s = pai__tree_str(r->t, key, &len);
  pai__names names;

  pai__names_init(&names, &r->c->alloc, s, len);
  for (size_t i = 0; i < nfields; i++)
    pai__names_add(&names, fields[i].key, strlen(fields[i].key));
  if ((!r->lenient || pai__names_surely(&names)) &&
      pai__find(r->f, severity, "unknown-key", key, "%s has no field '%s'",
                what, pai__excerpt(piece, s, len)))
    pai__names_help(&names, r->f, "its fields");
  pai__buf_dispose(&names.list);
}

bool pai__read_fields(pai__reader *r, pai__node n, const char *what,
                      const pai__read_field *fields, size_t nfields,
                      pai__node *values)
{
  pai__tree_walk walk;
  pai__node key;

  for (size_t i = 0; i < nfields; i++)
    values[i] = PAI__NO_NODE;
  if (pai__tree_type(r->t, n) != PAI__MAPPING) {
    wrong_type(r, n, what, "a mapping");
    return false;
  }
  walk = pai__tree_iter(r->t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *s = pai__tree_str(r->t, key, NULL);
    size_t i = 0;

    while (i < nfields && strcmp(s, fields[i].key) != 0)
      i++;
    if (i < nfields)
      values[i] = pai__tree_value(r->t, key);
    else
      unknown_key(r, key, what, fields, nfields);
  }
  for (size_t i = 0; i < nfields; i++)
    if (fields[i].needed && values[i] == PAI__NO_NODE)
      pai__read_missing(r, n, what, fields[i].key);
  return true;
}

static void read_each(pai__reader *r, pai__node n, pai__read_fn *read,
                      void *record)
{
  pai__tree_walk walk = pai__tree_iter(r->t, n);
  pai__node next;

  while (!r->f->failed && !r->full &&
         (next = pai__tree_next(&walk)) != PAI__NO_NODE)
    read(r, next, record);
}

void pai__read_items(pai__reader *r, pai__node n, const char *what,
                     pai__read_fn *read, void *record)
{
  if (pai__read_is_list(r, n, what))
    read_each(r, n, read, record);
}

void pai__read_keys(pai__reader *r, pai__node n, const char *what,
                    pai__read_fn *read, void *record)
{
  if (pai__read_is_mapping(r, n, what))
    read_each(r, n, read, record);
}

void *pai__read_room(pai__reader *r, size_t n, size_t size)
{
  void *room = pai__arena_zalloc(&r->c->arena, n + 1, size);

  r->f->failed |= room == NULL;
  return room;
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
    pai__find_help(r->f, "cells are named after it, as CHAIN.TYPE and "
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

/* Reads a size, as 1024 or 64G; returns 0 if it is absent or wrong. */
static uint64_t read_size(pai__reader *r, pai__node n, const char *what)
{
  char text[PAI__VALUE_TEXT];
  uint64_t size;

  if (n == PAI__NO_NODE)
    return 0;
  if (take_size(r, n, &size)) {
    if (size <= PAI__MOST_MEMORY)
      return size;
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", n,
                    "more memory than the limit of 1P");
    return 0;
  }
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-size", n, "%s cannot be %s",
                what, pai__value_text(text, r->f, n)))
    pai__find_help(r->f, "give bytes, or a number with K, M, G or T, as 64G");
  return 0;
}

static bool read_flag(pai__reader *r, pai__node n, const char *what)
{
  if (n == PAI__NO_NODE)
    return false;
  if (pai__tree_type(r->t, n) == PAI__BOOL)
    return pai__tree_bool(r->t, n);
  wrong_type(r, n, what, "true or false");
  return false;
}

void pai__read_values(pai__reader *r, const pai__read_field *fields,
                      size_t nfields, const pai__node *values, void *record)
{
  for (size_t i = 0; i < nfields && !r->f->failed; i++) {
    const pai__read_field *f = &fields[i];
    void *place = (char *)record + f->place;
    pai__node n = values[i];

    switch (f->type) {
    case PAI__FIELD_TEXT:
      *(const char **)place = pai__read_copy(r, n, f->key);
      break;
    case PAI__FIELD_NUMBER:
      *(uint32_t *)place =
        pai__read_uint32(r, n, f->key, f->least, f->most, *(uint32_t *)place);
      break;
    case PAI__FIELD_SIZE: *(uint64_t *)place = read_size(r, n, f->key); break;
    case PAI__FIELD_FLAG: *(bool *)place = read_flag(r, n, f->key); break;
    case PAI__FIELD_OWN:
      if (n != PAI__NO_NODE)
        f->read(r, n, record);
      break;
    case PAI__FIELD_ITEMS:
      pai__read_items(r, n, f->key, f->read, record);
      break;
    case PAI__FIELD_KEYS: pai__read_keys(r, n, f->key, f->read, record); break;
    default: break;
    }
  }
}

bool pai__read_record(pai__reader *r, pai__node n, const char *what,
                      const pai__read_field *fields, size_t nfields,
                      void *record)
{
  pai__node values[MOST_FIELDS];

  if (!pai__read_fields(r, n, what, fields, nfields, values))
    return false;
  pai__read_values(r, fields, nfields, values, record);
  return true;
}

/* --- kinds and nodes ----------------------------------------------------- */

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

/* Keeps the node's place in the text for findings at the end. */
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

/* --- amounts of memory --------------------------------------------------- */

static const char units[] = "KMGTP";

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Reads up to three decimals as thousandths. */
static const char *read_fraction(const char *s, const char *end,
                                 uint64_t *thousandths)
{
  uint64_t worth = 100;

  for (*thousandths = 0; s < end && is_digit(*s) && worth > 0; s++) {
    *thousandths += (uint64_t)(*s - '0') * worth;
    worth /= 10;
  }
  return s;
}

/* Returns the shift of the unit at s: K, Ki, KB and KiB are the same; -1: no
 * unit. */
static int read_unit(const char *s, const char *end)
{
  const char *unit;

  if (s == end || (end - s == 1 && *s == 'B'))
    return 0;
  unit = strchr(units, *s);
  if (unit == NULL || *unit == '\0')
    return -1;
  s++;
  if (s < end && *s == 'i')
    s++;
  if (s < end && *s == 'B')
    s++;
  return s == end ? 10 * (int)(unit - units + 1) : -1;
}

bool pai__size_parse(uint64_t *out, const char *s, size_t len)
{
  const char *end = s + len;
  uint64_t value = 0, thousandths = 0;
  int shift;

  if (len == 0 || !is_digit(*s))
    return false;
  for (; s < end && is_digit(*s); s++) {
    if (value > UINT64_MAX / 16)
      return false;
    value = value * 10 + (uint64_t)(*s - '0');
  }
  if (s < end && *s == '.')
    s = read_fraction(s + 1, end, &thousandths);
  if (s + 1 < end && *s == ' ')
    s++;
  shift = read_unit(s, end);
  if (shift < 0 || (shift == 0 && thousandths != 0) ||
      value > (uint64_t)INT64_MAX >> shift)
    return false;
  *out = (value << shift) + ((thousandths << shift) + 500) / 1000;
  return true;
}

const char *pai__size_text(char out[PAI__SIZE_TEXT], uint64_t size)
{
  size_t unit = 0, len;

  while (size != 0 && size % 1024 == 0 && unit < sizeof(units) - 1) {
    size /= 1024;
    unit++;
  }
  len = pai__format_int(out, (int64_t)size);
  if (unit > 0)
    out[len++] = units[unit - 1];
  out[len] = '\0';
  return out;
}

/* --- many names in one, as node[01-16,20] -------------------------------- */

enum { MOST_DIGITS = 9 };

static const char *read_number(const char *s, const char *end, uint64_t *value)
{
  const char *start = s;

  *value = 0;
  for (; s < end && is_digit(*s) && s - start < MOST_DIGITS; s++)
    *value = *value * 10 + (uint64_t)(*s - '0');
  return s > start ? s : NULL;
}

/* Takes the next "3" or "01-16"; returns false at the end, or if it is
 * malformed. */
static bool next_part(pai__range_names *n)
{
  const char *s = n->at, *start = s;

  if (s == n->end)
    return false;
  s = read_number(s, n->end, &n->next);
  if (s == NULL)
    return false;
  n->width = *start == '0' ? (int)(s - start) : 0;
  n->last = n->next;
  if (s < n->end && *s == '-') {
    s = read_number(s + 1, n->end, &n->last);
    if (s == NULL || n->last < n->next)
      return false;
  }
  if (s < n->end && (*s != ',' || s + 1 == n->end))
    return false;
  n->at = s < n->end ? s + 1 : s;
  return true;
}

bool pai__range_begin(pai__range_names *n, const char *s, size_t len)
{
  const char *open = memchr(s, '[', len), *close = memchr(s, ']', len);
  pai__range_names look;

  *n = (pai__range_names){ .before = { s, len }, .plain = true };
  if (open == NULL && close == NULL)
    return true;
  if (open == NULL || close == NULL || close < open + 2 ||
      memchr(close + 1, '[', (size_t)(s + len - close - 1)) != NULL ||
      memchr(close + 1, ']', (size_t)(s + len - close - 1)) != NULL ||
      memchr(open + 1, '[', (size_t)(close - open - 1)) != NULL)
    return false;
  *n =
    (pai__range_names){ .before = { s, (size_t)(open - s) },
                        .after = { close + 1, (size_t)(s + len - close - 1) },
                        .at = open + 1,
                        .end = close,
                        .next = 1 };
  look = *n;
  while (next_part(&look))
    ;
  return look.at == look.end;
}

bool pai__range_next(pai__range_names *n, pai__buf *out)
{
  bool plain = n->plain;

  pai__buf_clear(out);
  if (plain && n->before.s == NULL)
    return false;
  if (!plain && n->next > n->last && !next_part(n))
    return false;
  pai__buf_add(out, n->before.s, n->before.len);
  if (!plain) {
    pai__buf_printf(out, "%0*llu", n->width, (unsigned long long)n->next++);
    pai__buf_add(out, n->after.s, n->after.len);
  }
  n->before.s = plain ? NULL : n->before.s;
  return true;
}
