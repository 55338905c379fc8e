/* report_read.c - what was written of a report as JSON is read again */
#include "sim/report_form.h"

#include "json/json.h"
#include "sched/form.h"

#include <openpai/platform.h>

typedef struct reading {
  pai__form form;
  pai_sim_report *r;
} reading;

/* --- numbers -------------------------------------------------------------- */

/* A decimal with no more than so many digits behind its point.  False: it is
 * none, or too large. */
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

static bool is_number(const pai__tree *t, pai__node n)
{
  return n != PAI__NO_NODE && (pai__tree_type(t, n) == PAI__INT ||
                               pai__tree_type(t, n) == PAI__FLOAT);
}

/* Its text, for it need not be exact as it was parsed. */
static int read_wide(const reading *d, pai__node at, const char *key,
                     unsigned digits, bool *minus, uint64_t *out)
{
  const pai__tree *t = d->form.tree;

  if (at == PAI__NO_NODE)
    return pai__form_fail(&d->form, 0, "the report has no '%s'", key);
  if (is_number(t, at) &&
      parse_decimal(t->text + t->nodes[at].start,
                    t->nodes[at].end - t->nodes[at].start, digits, minus, out))
    return PAI_OK;
  return pai__form_fail(&d->form, at,
                        "'%s' is to be a number with at most %u digits behind "
                        "its point",
                        key, digits);
}

static int read_number(const reading *d, pai__node at, const char *key,
                       unsigned digits, int64_t *out)
{
  uint64_t value = 0;
  bool minus = false;
  int rc = read_wide(d, at, key, digits, &minus, &value);

  if (rc < 0)
    return rc;
  if (value > (uint64_t)INT64_MAX)
    return pai__form_fail(&d->form, at, "'%s' is too large", key);
  *out = minus ? -(int64_t)value : (int64_t)value;
  return PAI_OK;
}

/* One that is not negative, up to `most`. */
static int read_count(const reading *d, pai__node at, const char *key,
                      uint64_t most, uint64_t *out)
{
  bool minus = false;
  int rc = read_wide(d, at, key, 0, &minus, out);

  if (rc == PAI_OK && (*out > most || (minus && *out != 0)))
    return pai__form_fail(&d->form, at, "'%s' is out of bounds", key);
  return rc;
}

static int read_member(const reading *d, pai__node at, const char *key,
                       size_t offset, size_t size, unsigned digits, void *out)
{
  int64_t value = 0;
  int rc = read_number(d, at, key, digits, &value);

  if (rc == PAI_OK && !pai__number_set(out, offset, size, value))
    rc = pai__form_fail(&d->form, at, "'%s' is out of bounds", key);
  return rc;
}

static int read_numbers(const reading *d, pai__node n,
                        const pai__number_form *f, void *out)
{
  int rc = PAI_OK;

  for (; f->key != NULL && rc == PAI_OK; f++)
    rc = read_member(d, pai__tree_get(d->form.tree, n, f->key), f->key, f->at,
                     f->size, f->digits, out);
  return rc;
}

/* --- texts and lists ------------------------------------------------------ */

static int read_string(const reading *d, pai__node n, const char *key,
                       const char **out)
{
  pai__node at = pai__tree_get(d->form.tree, n, key);
  const char *text;
  size_t len;

  if (at == PAI__NO_NODE || pai__tree_type(d->form.tree, at) != PAI__STRING)
    return pai__form_fail(&d->form, at == PAI__NO_NODE ? n : at,
                          "'%s' is to be a text", key);
  text = pai__tree_str(d->form.tree, at, &len);
  *out = pai__arena_strndup(&d->r->arena, text, len);
  return *out != NULL ? PAI_OK : pai__oom(d->form.err);
}

/* Where a list stands, how long it is, and zeroed room for it. */
static int read_list(const reading *d, pai__node n, const char *key,
                     size_t size, pai__node *at, size_t *count, void **list)
{
  *at = pai__tree_get(d->form.tree, n, key);
  if (*at == PAI__NO_NODE ||
      pai__tree_type(d->form.tree, *at) != PAI__SEQUENCE)
    return pai__form_fail(&d->form, *at == PAI__NO_NODE ? n : *at,
                          "'%s' is to be a list", key);
  *count = pai__tree_count(d->form.tree, *at);
  if (list == NULL || *count == 0)
    return PAI_OK;
  *list = pai__arena_zalloc(&d->r->arena, *count, size);
  return *list != NULL ? PAI_OK : pai__oom(d->form.err);
}

/* --- parts ---------------------------------------------------------------- */

static int read_groups(const reading *d, const char *key, pai__groups *groups)
{
  pai__tree_walk walk;
  pai__node at, n;
  void *list = NULL;
  int rc =
    read_list(d, 0, key, sizeof(*groups->list), &at, &groups->count, &list);

  if (rc < 0)
    return rc;
  groups->list = list;
  walk = pai__tree_iter(d->form.tree, at);
  for (size_t i = 0; list != NULL && rc == PAI_OK &&
                     (n = pai__tree_next(&walk)) != PAI__NO_NODE;
       i++) {
    rc = read_string(d, n, "name", &groups->list[i].name);
    if (rc == PAI_OK)
      rc = read_numbers(d, n, pai__group_form, &groups->list[i]);
  }
  return rc;
}

static int read_spread(const reading *d, const char *key, pai__spread *s,
                       unsigned digits)
{
  const pai__tree *t = d->form.tree;
  pai__node n = pai__tree_get(t, 0, key), at, item;
  pai__tree_walk walk;
  size_t count = 0;
  int rc;

  if (n == PAI__NO_NODE || pai__tree_type(t, n) != PAI__MAPPING)
    return pai__form_fail(&d->form, 0, "the report has no '%s'", key);
  rc =
    read_count(d, pai__tree_get(t, n, "count"), "count", INT64_MAX, &s->count);
  if (rc == PAI_OK)
    rc = read_number(d, pai__tree_get(t, n, "sum"), "sum", digits, &s->sum);
  if (rc == PAI_OK)
    rc = read_list(d, n, "at", 0, &at, &count, NULL);
  if (rc < 0)
    return rc;
  if (count != (s->count != 0 ? 1001 : 0))
    return pai__form_fail(&d->form, at, "'at' is to have 1001 values");
  walk = pai__tree_iter(t, at);
  for (size_t i = 0;
       rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE; i++)
    rc = read_number(d, item, "at", digits, &s->at[i]);
  return rc;
}

static int read_column(const reading *d, pai__node n,
                       const pai__number_form *f)
{
  pai_sim_report *r = d->r;
  pai__tree_walk walk;
  pai__node at, item;
  size_t count = 0;
  int rc = read_list(d, n, f->key, 0, &at, &count, NULL);

  if (rc < 0)
    return rc;
  if (f == pai__bin_form)
    r->nbins = count;
  if (count > PAI__BINS || count != r->nbins)
    return pai__form_fail(&d->form, at,
                          "'%s' has %zu values, and not as many as the others "
                          "or more than %d",
                          f->key, count, (int)PAI__BINS);
  walk = pai__tree_iter(d->form.tree, at);
  for (size_t i = 0;
       rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE; i++)
    rc = read_member(d, item, f->key, f->at, f->size, f->digits, &r->bins[i]);
  return rc;
}

static int read_bins(const reading *d)
{
  pai__node n = pai__tree_get(d->form.tree, 0, "bins");
  int rc = PAI_OK;

  if (n == PAI__NO_NODE || pai__tree_type(d->form.tree, n) != PAI__MAPPING)
    return pai__form_fail(&d->form, 0, "the report has no 'bins'");
  for (const pai__number_form *f = pai__bin_form; f->key != NULL && rc == 0;
       f++)
    rc = read_column(d, n, f);
  return rc;
}

/* --- bars ----------------------------------------------------------------- */

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

static int read_bar_texts(const reading *d, pai__node mask, pai__node end,
                          pai__bar *bar)
{
  const pai__tree *t = d->form.tree;
  const char *text;
  size_t len;

  if (pai__tree_type(t, mask) == PAI__STRING) {
    text = pai__tree_str(t, mask, &len);
    if (!parse_mask(text, len, &bar->gpus))
      return pai__form_fail(&d->form, mask, "this is no mask of GPUs");
  }
  bar->end = 0;
  for (int i = PAI_STATE_WAITING;
       i <= PAI_STATE_STOPPED && pai__tree_type(t, end) == PAI__STRING; i++) {
    const char *name = pai__bar_end_name(i);

    if (name != NULL && strcmp(pai__tree_str(t, end, NULL), name) == 0)
      bar->end = i;
  }
  return bar->end != 0 ? PAI_OK
                       : pai__form_fail(&d->form, end, "no run ends so");
}

static int read_bar(const reading *d, pai__node n, pai__bar *bar)
{
  const pai__tree *t = d->form.tree;
  const pai_sim_report *r = d->r;
  pai__tree_walk walk;
  pai__node at[7];
  uint64_t node = 0, vc = 0;
  int rc;

  if (pai__tree_type(t, n) != PAI__SEQUENCE || pai__tree_count(t, n) != 7)
    return pai__form_fail(&d->form, n, "a bar is a list of 7 values");
  walk = pai__tree_iter(t, n);
  for (int i = 0; i < 7; i++)
    at[i] = pai__tree_next(&walk);
  rc = read_count(d, at[0], "job", INT64_MAX, &bar->job);
  if (rc == PAI_OK)
    rc = read_number(d, at[1], "from", 6, &bar->from);
  if (rc == PAI_OK)
    rc = read_number(d, at[2], "to", 6, &bar->to);
  if (rc == PAI_OK)
    rc = read_count(d, at[3], "node", UINT32_MAX, &node);
  if (rc == PAI_OK)
    rc = read_count(d, at[4], "vc", UINT32_MAX, &vc);
  if (rc < 0)
    return rc;
  if (node >= r->nnode_list || vc >= r->vcs.count)
    return pai__form_fail(&d->form, n, "there is no such %s",
                          vc >= r->vcs.count ? "virtual cluster" : "node");
  bar->node = (uint32_t)node;
  bar->vc = (uint32_t)vc;
  return read_bar_texts(d, at[5], at[6], bar);
}

static int read_bar_nodes(const reading *d)
{
  pai_sim_report *r = d->r;
  pai__tree_walk walk;
  pai__node at, n;
  void *list = NULL;
  int rc = read_list(d, 0, "bar_nodes", sizeof(*r->node_list), &at,
                     &r->nnode_list, &list);

  if (rc < 0)
    return rc;
  r->node_list = list;
  walk = pai__tree_iter(d->form.tree, at);
  for (size_t i = 0; list != NULL && rc == PAI_OK &&
                     (n = pai__tree_next(&walk)) != PAI__NO_NODE;
       i++) {
    uint64_t gpus = 0;

    rc = read_string(d, n, "name", &r->node_list[i].name);
    if (rc == PAI_OK)
      rc = read_count(d, pai__tree_get(d->form.tree, n, "gpus"), "gpus", 4096,
                      &gpus);
    r->node_list[i].gpus = (uint32_t)gpus;
  }
  return rc;
}

static int read_bars(const reading *d)
{
  const pai__tree *t = d->form.tree;
  pai_sim_report *r = d->r;
  pai__node at, n = pai__tree_get(t, 0, "bars_cut");
  pai__tree_walk walk;
  void *list = NULL;
  int rc = read_bar_nodes(d);

  if (rc == PAI_OK)
    rc = read_list(d, 0, "bars", sizeof(*r->bars), &at, &r->nbars, &list);
  if (rc < 0)
    return rc;
  r->bars = list;
  r->bars_cut = n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__BOOL &&
                pai__tree_bool(t, n);
  walk = pai__tree_iter(t, at);
  for (size_t i = 0;
       rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE; i++)
    rc = read_bar(d, n, &r->bars[i]);
  return rc;
}

/* --- the whole ------------------------------------------------------------ */

static int read_head(const reading *d)
{
  pai_sim_report *r = d->r;
  int rc = read_string(d, 0, "policy", &r->view.policy);

  if (rc == PAI_OK &&
      pai__tree_get(d->form.tree, 0, "options") != PAI__NO_NODE)
    rc = read_string(d, 0, "options", &r->options);
  if (rc == PAI_OK)
    rc = read_count(d, pai__tree_get(d->form.tree, 0, "seed"), "seed",
                    UINT64_MAX, &r->view.seed);
  if (rc == PAI_OK)
    rc = read_string(d, 0, "cluster", &r->cluster);
  if (rc == PAI_OK)
    rc = read_string(d, 0, "trace", &r->trace);
  if (rc == PAI_OK)
    rc = read_numbers(d, 0, pai__head_form, r);
  for (size_t i = 0; rc == PAI_OK && pai__figure_at(i) != NULL; i++) {
    const pai__figure *f = pai__figure_at(i);

    rc = read_member(d, pai__tree_get(d->form.tree, 0, f->key), f->key, f->at,
                     f->size, pai__figure_digits(f), &r->view);
  }
  return rc;
}

static int read_report(const reading *d)
{
  const char *key;
  size_t at;
  unsigned digits;
  int rc;

  if (pai__tree_type(d->form.tree, 0) != PAI__MAPPING)
    return pai__form_fail(&d->form, 0, "a report is an object");
  rc = read_head(d);
  for (size_t i = 0; rc == PAI_OK && (key = pai__groups_form(i, &at)) != NULL;
       i++)
    rc = read_groups(d, key, (pai__groups *)((char *)d->r + at));
  for (size_t i = 0;
       rc == PAI_OK && (key = pai__spread_form(i, &at, &digits)) != NULL; i++)
    rc = read_spread(d, key, (pai__spread *)((char *)d->r + at), digits);
  if (rc == PAI_OK)
    rc = read_bins(d);
  return rc == PAI_OK ? read_bars(d) : rc;
}

int pai_sim_read(pai_sim_report **out, const char *text, size_t len,
                 const pai_alloc *alloc, pai_error **err)
{
  pai__json_options o = { 0 };
  reading d = { { NULL, err }, NULL };
  pai__tree *tree;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  o.alloc = alloc = pai__alloc_or_libc(alloc);
  rc = pai__json_parse(&tree, text, len, &o, err);
  if (rc < 0)
    return rc;
  d.form.tree = tree;
  rc = pai__sim_report_make(&d.r, alloc) < 0 ? pai__oom(err) : read_report(&d);
  pai__tree_free(tree);
  if (rc == PAI_OK)
    *out = d.r;
  else
    pai_sim_report_free(d.r);
  return rc;
}
