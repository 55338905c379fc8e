/* report_read.c - reads a report from JSON */
#include "sim/report/report_form.h"

#include "json/json.h"
#include "json/form.h"

#include <openpai/platform.h>

enum { MOST_GPUS = 4096 }; /* of a node in `bar_nodes` */

/* State of the reader; after a failure nothing more is read. */
typedef struct reading {
  pai__form form;
  const pai__tree *t;
  pai_sim_report *r;
  int rc;
} reading;

/* --- numbers ------------------------------------------------------------- */

/* Parses a decimal with at most `digits` decimal digits.  Returns false if it
 * is not a number, or too large. */
static bool parse_decimal(const char *s, size_t len, unsigned digits,
                          bool *minus, uint64_t *value)
{
  const char *end = s + len;
  bool point = false;
  unsigned behind = 0;

  *value = 0;
  *minus = s < end && *s == '-';
  for (s += *minus; s < end; s++) {
    if (*s == '.' && !point) {
      point = true;
      continue;
    }
    if (*s < '0' || *s > '9' || (point && ++behind > digits) ||
        *value > UINT64_MAX / 10 ||
        *value * 10 > UINT64_MAX - (uint64_t)(*s - '0'))
      return false;
    *value = *value * 10 + (uint64_t)(*s - '0');
  }
  for (; behind < digits; behind++) {
    if (*value > UINT64_MAX / 10)
      return false;
    *value *= 10;
  }
  return true;
}

static bool is(const reading *d, pai__node n, int type)
{
  return n != PAI__NO_NODE && pai__tree_type(d->t, n) == type;
}

/* Reads the text of the number, as the parsed value may not be exact. */
static uint64_t read_wide(reading *d, pai__node at, const char *key,
                          unsigned digits, bool *minus)
{
  const pai__tree *t = d->t;
  uint64_t value = 0;

  *minus = false;
  if (d->rc < 0)
    return 0;
  if (at == PAI__NO_NODE)
    d->rc = pai__form_fail(&d->form, 0, "the report has no '%s'", key);
  else if ((!is(d, at, PAI__INT) && !is(d, at, PAI__FLOAT)) ||
           !parse_decimal(t->text + t->nodes[at].start,
                          t->nodes[at].end - t->nodes[at].start, digits, minus,
                          &value))
    d->rc = pai__form_fail(
      &d->form, at, "'%s' must be a number with at most %u decimal places",
      key, digits);
  return d->rc == PAI_OK ? value : 0;
}

static int64_t read_number(reading *d, pai__node at, const char *key,
                           unsigned digits)
{
  bool minus;
  uint64_t value = read_wide(d, at, key, digits, &minus);

  if (value > (uint64_t)INT64_MAX) {
    d->rc = pai__form_fail(&d->form, at, "'%s' is too large", key);
    return 0;
  }
  return minus ? -(int64_t)value : (int64_t)value;
}

/* Reads an integer from 0 to `most`. */
static uint64_t read_count(reading *d, pai__node at, const char *key,
                           uint64_t most)
{
  bool minus;
  uint64_t value = read_wide(d, at, key, 0, &minus);

  if (value > most || (minus && value != 0))
    d->rc = pai__form_fail(&d->form, at, "'%s' is out of range", key);
  return value;
}

/* --- members ------------------------------------------------------------- */

static const char *read_text(reading *d, pai__node n, const char *key)
{
  pai__node at = pai__tree_get(d->t, n, key);
  const char *text;
  size_t len;

  if (d->rc < 0)
    return "";
  if (!is(d, at, PAI__STRING)) {
    d->rc = pai__form_fail(&d->form, at == PAI__NO_NODE ? n : at,
                           "'%s' must be a string", key);
    return "";
  }
  text = pai__tree_str(d->t, at, &len);
  text = pai__arena_strndup(&d->r->arena, text, len);
  if (text == NULL)
    d->rc = pai__oom(d->form.err);
  return text;
}

static void read_member(reading *d, pai__node at, const pai__sim_member *m,
                        void *out)
{
  int64_t value = read_number(d, at, m->key, pai__member_digits(m));

  if (d->rc == PAI_OK && !pai__member_set(m, out, value))
    d->rc = pai__form_fail(&d->form, at, "'%s' is out of range", m->key);
}

static void read_members(reading *d, pai__node n, const pai__sim_member *m,
                         void *out)
{
  for (; m->key != NULL && d->rc == PAI_OK; m++) {
    pai__node at = pai__tree_get(d->t, n, m->key);

    if (m->optional && at == PAI__NO_NODE)
      continue;
    if (m->kind == PAI__REPORT_TEXT) {
      const char *text = read_text(d, n, m->key);

      memcpy((char *)out + m->at, &text, sizeof(text));
    } else if (m->kind == PAI__SEED) {
      uint64_t seed = read_count(d, at, m->key, UINT64_MAX);

      memcpy((char *)out + m->at, &seed, sizeof(seed));
    } else {
      read_member(d, at, m, out);
    }
  }
}

/* Begins to walk a list of *count items.  Returns zeroed memory for them if
 * `size` is not 0. */
static void *read_list(reading *d, pai__node n, const char *key, size_t size,
                       size_t *count, pai__tree_walk *walk)
{
  pai__node at = pai__tree_get(d->t, n, key);
  void *list = NULL;

  *walk = (pai__tree_walk){ .left = 0 };
  *count = 0;
  if (d->rc < 0)
    return NULL;
  if (!is(d, at, PAI__SEQUENCE)) {
    d->rc = pai__form_fail(&d->form, at == PAI__NO_NODE ? n : at,
                           "'%s' must be a list", key);
    return NULL;
  }
  *count = pai__tree_count(d->t, at);
  *walk = pai__tree_iter(d->t, at);
  if (size != 0 && *count != 0) {
    list = pai__arena_zalloc(&d->r->arena, *count, size);
    if (list == NULL)
      d->rc = pai__oom(d->form.err);
  }
  return list;
}

static bool has_next(const reading *d, pai__tree_walk *walk, pai__node *n)
{
  return d->rc == PAI_OK && (*n = pai__tree_next(walk)) != PAI__NO_NODE;
}

static void *read_objects(reading *d, const char *key,
                          const pai__sim_member *m, size_t size, size_t *count)
{
  pai__tree_walk walk;
  pai__node n;
  char *list = read_list(d, 0, key, size, count, &walk);

  for (size_t i = 0; has_next(d, &walk, &n); i++)
    read_members(d, n, m, list + i * size);
  return list;
}

/* --- parts --------------------------------------------------------------- */

/* Returns an object of the report by its key. */
static pai__node part(reading *d, const char *key)
{
  pai__node n = pai__tree_get(d->t, 0, key);

  if (d->rc == PAI_OK && !is(d, n, PAI__MAPPING))
    d->rc = pai__form_fail(&d->form, 0, "the report has no '%s'", key);
  return d->rc == PAI_OK ? n : 0;
}

static void read_spread(reading *d, const pai__sim_member *m)
{
  pai__spread *s = (void *)((char *)d->r + m->at);
  pai__node n = part(d, m->key), item;
  pai__tree_walk walk;
  size_t count;

  s->count =
    read_count(d, pai__tree_get(d->t, n, "count"), "count", INT64_MAX);
  s->sum = read_number(d, pai__tree_get(d->t, n, "sum"), "sum",
                       pai__member_digits(m));
  (void)read_list(d, n, "at", 0, &count, &walk);
  if (d->rc == PAI_OK && count != (s->count != 0 ? 1001 : 0))
    d->rc = pai__form_fail(&d->form, pai__tree_get(d->t, n, "at"),
                           "'at' must have 1001 values");
  for (size_t i = 0; has_next(d, &walk, &item); i++)
    s->at[i] = read_number(d, item, "at", pai__member_digits(m));
}

static void read_column(reading *d, pai__node n, const pai__sim_member *m)
{
  pai_sim_report *r = d->r;
  pai__tree_walk walk;
  pai__node item;
  size_t count;

  (void)read_list(d, n, m->key, 0, &count, &walk);
  if (m == pai__bin_members)
    r->nbins = count;
  if (d->rc == PAI_OK && (count > PAI__BINS || count != r->nbins))
    d->rc = pai__form_fail(&d->form, pai__tree_get(d->t, n, m->key),
                           "'%s' has %zu values: all lists must have the same "
                           "number of values, at most %d",
                           m->key, count, (int)PAI__BINS);
  for (size_t i = 0; has_next(d, &walk, &item); i++)
    read_member(d, item, m, &r->bins[i]);
}

/* --- bars ---------------------------------------------------------------- */

static bool parse_mask(const char *s, size_t len, uint64_t *out)
{
  *out = 0;
  if (len == 0 || len > 16)
    return false;
  for (size_t i = 0; i < len; i++) {
    const char *digits = "0123456789abcdef";
    const char *at = s[i] != '\0' ? strchr(digits, s[i]) : NULL;

    if (at == NULL)
      return false;
    *out = *out << 4 | (uint64_t)(at - digits);
  }
  return true;
}

static void read_bar_texts(reading *d, pai__node mask, pai__node end,
                           pai__bar *bar)
{
  const char *text;
  size_t len;

  if (is(d, mask, PAI__STRING)) {
    text = pai__tree_str(d->t, mask, &len);
    if (!parse_mask(text, len, &bar->gpus))
      d->rc = pai__form_fail(&d->form, mask,
                             "a mask of GPUs is a hexadecimal number");
  }
  for (int i = PAI_STATE_WAITING;
       i <= PAI_STATE_STOPPED && is(d, end, PAI__STRING); i++) {
    const char *name = pai__bar_end_name(i);

    if (name != NULL && strcmp(pai__tree_str(d->t, end, NULL), name) == 0)
      bar->end = i;
  }
  if (d->rc == PAI_OK && bar->end == 0)
    d->rc = pai__form_fail(&d->form, end, "unknown end of a run");
}

static void read_bar(reading *d, pai__node n, pai__bar *bar)
{
  pai__tree_walk walk;
  pai__node at[7];

  if (!is(d, n, PAI__SEQUENCE) || pai__tree_count(d->t, n) != 7) {
    d->rc = pai__form_fail(&d->form, n, "a bar is a list of 7 values");
    return;
  }
  walk = pai__tree_iter(d->t, n);
  for (int i = 0; i < 7; i++)
    at[i] = pai__tree_next(&walk);
  bar->job = read_count(d, at[0], "job", INT64_MAX);
  bar->from = read_number(d, at[1], "from", 6);
  bar->to = read_number(d, at[2], "to", 6);
  bar->node = (uint32_t)read_count(d, at[3], "node", UINT32_MAX);
  bar->vc = (uint32_t)read_count(d, at[4], "vc", UINT32_MAX);
  if (d->rc < 0)
    return;
  if (bar->vc >= d->r->groups[PAI__BY_VC].count)
    d->rc = pai__form_fail(&d->form, n, "unknown virtual cluster");
  else if (bar->node >= d->r->nnode_list)
    d->rc = pai__form_fail(&d->form, n, "unknown node");
  else
    read_bar_texts(d, at[5], at[6], bar);
}

/* --- entry point --------------------------------------------------------- */

static int read_report(reading *d)
{
  pai_sim_report *r = d->r;
  pai__node n;
  pai__tree_walk walk;

  if (!is(d, 0, PAI__MAPPING))
    return pai__form_fail(&d->form, 0, "a report is an object");
  read_members(d, 0, pai__report_members, r);
  for (size_t i = 0; i < PAI__GROUPINGS; i++)
    r->groups[i].list =
      read_objects(d, pai__groups_keys[i], pai__group_members,
                   sizeof(*r->groups[i].list), &r->groups[i].count);
  for (size_t i = 0; i < PAI__SPREADS; i++)
    read_spread(d, &pai__spread_members[i]);
  n = part(d, "bins");
  for (const pai__sim_member *m = pai__bin_members; m->key != NULL; m++)
    read_column(d, n, m);
  r->node_list = read_objects(d, "bar_nodes", pai__node_members,
                              sizeof(*r->node_list), &r->nnode_list);
  for (size_t i = 0; i < r->nnode_list && d->rc == PAI_OK; i++)
    if (r->node_list[i].gpus > MOST_GPUS)
      d->rc = pai__form_fail(&d->form, pai__tree_get(d->t, 0, "bar_nodes"),
                             "'gpus' is out of range");
  r->bars = read_list(d, 0, "bars", sizeof(*r->bars), &r->nbars, &walk);
  for (size_t i = 0; has_next(d, &walk, &n); i++)
    read_bar(d, n, &r->bars[i]);
  n = pai__tree_get(d->t, 0, "bars_cut");
  r->bars_cut = is(d, n, PAI__BOOL) && pai__tree_bool(d->t, n);
  return d->rc;
}

int pai_sim_read(pai_sim_report **out, const char *text, size_t len,
                 const pai_alloc *alloc, pai_error **err)
{
  pai__json_options o = { 0 };
  reading d = { .form = { .err = err } };
  pai__tree *tree;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  o.alloc = alloc = pai__alloc_or_libc(alloc);
  rc = pai__json_parse(&tree, text, len, &o, err);
  if (rc < 0)
    return rc;
  d.form.tree = d.t = tree;
  rc = pai__sim_report_make(&d.r, alloc) < 0 ? pai__oom(err) : read_report(&d);
  pai__tree_free(tree);
  if (rc == PAI_OK)
    *out = d.r;
  else
    pai_sim_report_free(d.r);
  return rc;
}
