/*
 * what_if_changes.c - changes of a cluster for what-ifs, and changes read from
 * lines of a log
 *
 * A cluster is changed in its JSON text, so all else stays as it was written.
 */
#include "sim/forecast/forecast.h"

#include "json/json.h"
#include "json/form.h"
#include "sched/log/event_form.h"
#include "sched/inspect.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct changing {
  const pai_alloc *alloc;
  pai__tree *tree; /* the cluster before this change */
  pai__json_writer w;
  pai__buf out; /* the cluster after it */
  pai_error **err;
  /* nodes to add */
  unsigned long count;
  const char *sku; /* of the nodes; NULL: none are added */
  char name[64];   /* their names begin with it; a number follows */
  pai__tree *more; /* cluster whose first SKU is new; NULL: the SKU exists */
  /* virtual cluster that gets another share */
  const char *vc, *type;
  unsigned long share;
  bool found; /* its cells of that type */
} changing;

static void put(changing *c, const pai__tree *t, pai__node n)
{
  pai__json_ready(&c->w, t->text + t->nodes[n].start,
                  t->nodes[n].end - t->nodes[n].start);
}

/* Writes a changed member or leaves it out.  Returns false if the member is
 * unchanged. */
typedef bool (*put_other)(changing *c, const char *key, pai__node value);

static void put_members(changing *c, pai__node n, put_other other)
{
  pai__tree_walk walk;
  pai__node key;

  if (n == PAI__NO_NODE)
    return;
  walk = pai__tree_iter(c->tree, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(c->tree, key, NULL);

    if (other != NULL && other(c, name, pai__tree_value(c->tree, key)))
      continue;
    pai__json_member(&c->w, name);
    put(c, c->tree, pai__tree_value(c->tree, key));
  }
}

/* --- parts --------------------------------------------------------------- */

static void put_skus(changing *c, pai__node skus)
{
  pai__tree_walk walk;

  pai__json_begin_object(&c->w);
  put_members(c, skus, NULL);
  if (c->more != NULL) {
    walk = pai__tree_iter(c->more, pai__tree_get(c->more, 0, "skus"));
    pai__json_member(&c->w, c->sku);
    put(c, c->more, pai__tree_value(c->more, pai__tree_next(&walk)));
  }
  pai__json_end_object(&c->w);
}

static void put_nodes(changing *c, pai__node nodes)
{
  pai__tree_walk walk = pai__tree_iter(c->tree, nodes);
  pai__node item;

  pai__json_begin_array(&c->w);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    put(c, c->tree, item);
  for (unsigned long i = 1; c->sku != NULL && i <= c->count; i++) {
    char name[96];

    (void)snprintf(name, sizeof(name), "%s%lu", c->name, i);
    pai__json_begin_object(&c->w);
    pai__json_member(&c->w, "name");
    pai__json_string(&c->w, name);
    pai__json_member(&c->w, "sku");
    pai__json_string(&c->w, c->sku);
    pai__json_end_object(&c->w);
  }
  pai__json_end_array(&c->w);
}

static bool put_share(changing *c, const char *key, pai__node value)
{
  (void)value;
  if (strcmp(key, c->type) != 0)
    return false;
  c->found = true;
  if (c->share != 0)
    pai__json_put_int(&c->w, key, (int64_t)c->share);
  return true;
}

static bool is_cells(changing *c, const char *key, pai__node value)
{
  (void)c;
  (void)value;
  return strcmp(key, "cells") == 0;
}

static bool put_vc(changing *c, const char *key, pai__node value)
{
  if (c->vc == NULL || strcmp(key, c->vc) != 0)
    return false;
  pai__json_put_object(&c->w, key);
  pai__json_put_object(&c->w, "cells");
  c->found = false;
  put_members(c, pai__tree_get(c->tree, value, "cells"), put_share);
  if (!c->found && c->share != 0)
    pai__json_put_int(&c->w, c->type, (int64_t)c->share);
  pai__json_end_object(&c->w);
  put_members(c, value, is_cells);
  pai__json_end_object(&c->w);
  return true;
}

static bool put_part(changing *c, const char *key, pai__node value)
{
  bool skus = strcmp(key, "skus") == 0, nodes = strcmp(key, "nodes") == 0;

  if (!skus && !nodes && strcmp(key, "virtualClusters") != 0)
    return false;
  pai__json_member(&c->w, key);
  if (skus) {
    put_skus(c, value);
  } else if (nodes) {
    put_nodes(c, value);
  } else {
    pai__json_begin_object(&c->w);
    put_members(c, value, put_vc);
    pai__json_end_object(&c->w);
  }
  return true;
}

static int put_all(changing *c)
{
  pai__buf_init(&c->out, c->alloc);
  pai__json_writer_init(&c->w, &c->out, false);
  pai__json_begin_object(&c->w);
  put_members(c, 0, put_part);
  pai__json_end_object(&c->w);
  return pai__json_finish(&c->w) < 0 ? pai__oom(c->err) : PAI_OK;
}

/* --- added nodes --------------------------------------------------------- */

/* Makes a cluster of one node with the description, and its tree. */
static int describe(changing *c, const char *description)
{
  pai__json_options json = { .alloc = c->alloc };
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *cluster = NULL;
  pai__buf text;
  int rc;

  pai__buf_init(&text, c->alloc);
  pai__buf_printf(&text, "nodes:1 %s", description);
  o.alloc = c->alloc;
  rc = pai__buf_ok(&text)
         ? pai_cluster_synthetic(&cluster, pai__buf_text(&text), &o, c->err)
         : pai__oom(c->err);
  pai__buf_clear(&text);
  if (rc == PAI_OK)
    rc = pai_cluster_write(cluster, PAI_FORMAT_JSON, pai__buf_write, &text,
                           c->err);
  if (rc == PAI_OK)
    rc =
      pai__json_parse(&c->more, pai__buf_text(&text), text.len, &json, c->err);
  pai_cluster_free(cluster);
  pai__buf_dispose(&text);
  return rc;
}

/* Chooses a prefix that no node and no SKU has: "added1-" and so on. */
static void choose_name(changing *c, const pai__sched_cluster *cluster)
{
  for (unsigned i = 1;; i++) {
    size_t len = (size_t)snprintf(c->name, sizeof(c->name), "added%u-", i);
    bool taken = false;

    for (uint32_t k = 0; k < cluster->nnodes && !taken; k++)
      taken = strncmp(cluster->nodes[k].name, c->name, len) == 0;
    for (uint32_t k = 0; k < cluster->nskus && !taken; k++)
      taken = strncmp(cluster->skus[k].name, c->name, len) == 0;
    if (!taken && strstr(c->tree->text, c->name) == NULL)
      return;
  }
}

/* Reads a number and a kind of nodes: "2x gpu:8:h100", "dgx". */
static int read_nodes(changing *c, const pai__sched_cluster *cluster,
                      const char *text)
{
  char *rest;
  pai__node skus = pai__tree_get(c->tree, 0, "skus");

  c->count = 1;
  if (text[0] >= '0' && text[0] <= '9') {
    c->count = strtoul(text, &rest, 10);
    if (*rest != 'x' || c->count == 0 || c->count > 100000)
      return pai__fail(c->err, PAI_EINVAL,
                       "nodes are added as \"2x gpu:8:h100\", not \"%s\"",
                       text);
    text = rest + 1;
  }
  text += strspn(text, " ");
  choose_name(c, cluster);
  if (skus == PAI__NO_NODE)
    return pai__fail(c->err, PAI_ENOTSUP,
                     "nodes cannot be added to this cluster: it has no SKUs");
  if (pai__tree_find(c->tree, skus, text, strlen(text)) != PAI__NO_NODE) {
    c->sku = text;
    return PAI_OK;
  }
  c->sku = c->name;
  return describe(c, text);
}

/* --- shares -------------------------------------------------------------- */

/* Returns the only type of cells that it has; NULL: none or several. */
static const char *only_type(const changing *c, pai__node vc)
{
  pai__node cells = pai__tree_get(c->tree, vc, "cells");
  pai__tree_walk walk;

  if (cells == PAI__NO_NODE || pai__tree_count(c->tree, cells) != 1)
    return NULL;
  walk = pai__tree_iter(c->tree, cells);
  return pai__tree_str(c->tree, pai__tree_next(&walk), NULL);
}

/* Reads a share: "12" or "dgx:12". */
static int read_share(changing *c, const char *vc, const char *share,
                      pai__buf *type)
{
  const char *colon = strrchr(share, ':'), *digits = share;
  pai__node vcs = pai__tree_get(c->tree, 0, "virtualClusters"), at;
  char *rest;

  at = vcs != PAI__NO_NODE ? pai__tree_get(c->tree, vcs, vc) : PAI__NO_NODE;
  if (at == PAI__NO_NODE)
    return pai__fail(c->err, PAI_ENOTFOUND,
                     "there is no virtual cluster '%s' with a share", vc);
  c->vc = vc;
  if (colon != NULL) {
    pai__buf_add(type, share, (size_t)(colon - share));
    c->type = pai__buf_text(type);
    digits = colon + 1;
  } else {
    c->type = only_type(c, at);
  }
  if (c->type == NULL)
    return pai__fail(c->err, PAI_EINVAL,
                     "virtual cluster '%s' has several types of cells: name "
                     "one, as \"dgx:12\"",
                     vc);
  c->share = strtoul(digits, &rest, 10);
  if (digits[0] < '0' || digits[0] > '9' || *rest != '\0' ||
      c->share > 1000000)
    return pai__fail(c->err, PAI_EINVAL,
                     "a share is a number of cells, as \"12\" or \"dgx:12\", "
                     "not \"%s\"",
                     share);
  return pai__buf_ok(type) ? PAI_OK : pai__oom(c->err);
}

/* --- entry points -------------------------------------------------------- */

/* Replaces the text of a cluster by that of the changed one. */
static int change(const pai__sched_cluster *cluster,
                  const pai_cluster_change *by, pai__buf *text,
                  const pai_alloc *alloc, pai_error **err)
{
  pai__json_options json = { .max_bytes = PAI__TREE_MAX_TEXT, .alloc = alloc };
  changing c = { .alloc = alloc, .err = err };
  pai__buf type;
  int rc;

  pai__buf_init(&type, alloc);
  pai__buf_init(&c.out, alloc);
  rc = pai__json_parse(&c.tree, pai__buf_text(text), text->len, &json, err);
  if (rc == PAI_OK && by->nodes != NULL)
    rc = read_nodes(&c, cluster, by->nodes);
  if (rc == PAI_OK && by->vc != NULL)
    rc = read_share(&c, by->vc, by->share, &type);
  if (rc == PAI_OK)
    rc = put_all(&c);
  pai__buf_dispose(&type);
  pai__tree_free(c.tree);
  pai__tree_free(c.more);
  pai__buf_dispose(text);
  *text = c.out;
  return rc;
}

/* Applies changes in the layout of this version. */
static int change_all(pai__buf *text, const pai_sched *sched,
                      const pai_cluster_change *changes, size_t n,
                      pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; i < n && rc == PAI_OK; i++) {
    const char *at = (const char *)changes + i * changes->struct_size;
    pai_cluster_change by = { 0 };

    if (PAI__COPY_IN(&by, at, pai_cluster_change, share) < 0)
      return pai__fail_struct(err, PAI_EINVAL, at, "pai_cluster_change");
    PAI__CHECK_ARG_ERR(by.vc == NULL || by.share != NULL, err);
    rc = change(pai__sched_cluster_of(sched), &by, text,
                pai__sched_alloc(sched), err);
  }
  return rc;
}

int pai_what_if_cluster_changes(pai_cluster **out, const pai_sched *sched,
                                const pai_cluster *from,
                                const pai_cluster_change *changes, size_t n,
                                pai_error **err)
{
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;
  pai__buf text;
  int rc = PAI_OK;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(sched != NULL && (changes != NULL || n == 0), err);
  o.alloc = pai__sched_alloc(sched);
  o.form = "openpai";
  o.max_bytes = PAI__TREE_MAX_TEXT;
  o.max_nodes = UINT32_MAX;
  pai__buf_init(&text, o.alloc);
  if (from != NULL)
    rc = pai_cluster_write(from, PAI_FORMAT_JSON, pai__buf_write, &text, err);
  else
    pai__buf_str(&text, pai__sched_cluster_of(sched)->text);
  if (rc == PAI_OK && !pai__buf_ok(&text))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = change_all(&text, sched, changes, n, err);
  if (rc == PAI_OK) /* at the end, as shares may move */
    rc = pai_cluster_parse(out, pai__buf_text(&text), text.len, &o, err);
  pai__buf_dispose(&text);
  return rc;
}

int pai_what_if_cluster(pai_cluster **out, const pai_sched *sched,
                        const pai_cluster *from, const char *nodes,
                        const char *vc, const char *share, pai_error **err)
{
  const pai_cluster_change change = {
    .struct_size = sizeof(change), .nodes = nodes, .vc = vc, .share = share
  };

  return pai_what_if_cluster_changes(out, sched, from, &change, 1, err);
}

/* --- lines of a log ------------------------------------------------------ */

/* A line, kept while its event is needed. */
typedef struct told {
  pai__tree *tree;
  pai__line line;
} told;

typedef struct reader {
  const pai_alloc *alloc;
  pai__arena arena;
  told *list;
  pai_sched_event *events;
  size_t n, most;
  pai_error **err;
} reader;

/* Adds the number of the line to an error, unless there is only one. */
static int blame(const reader *r, int rc)
{
  return r->most == 1 ? rc : pai__change_blame(r->err, r->n, r->most, rc);
}

static int read_line(reader *r, const char *text, size_t len)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT, .alloc = r->alloc };
  told *t = &r->list[r->n++];
  pai__form form = { .err = r->err };
  int rc = pai__json_parse(&t->tree, text, len, &o, r->err);

  if (rc < 0)
    return blame(r, rc);
  form.tree = t->tree;
  rc = pai__line_read(&form, &r->arena, &t->line);
  if (rc < 0)
    return blame(r, rc);
  r->events[r->n - 1] = t->line.e;
  r->events[r->n - 1].struct_size = sizeof(pai_sched_event);
  return PAI_OK;
}

static size_t count_lines(const char *text, size_t len)
{
  size_t n = len > 0;

  for (size_t i = 0; i + 1 < len; i++)
    n += text[i] == '\n';
  return n;
}

static bool is_blank(const char *text, size_t len)
{
  while (len > 0 && (*text == ' ' || *text == '\t' || *text == '\r')) {
    text++;
    len--;
  }
  return len == 0;
}

static int read_all(reader *r, const char *text, size_t len)
{
  int rc = PAI_OK;

  while (len > 0 && rc == PAI_OK) {
    const char *end = memchr(text, '\n', len);
    size_t n = end != NULL ? (size_t)(end - text) : len;

    if (!is_blank(text, n))
      rc = read_line(r, text, n);
    n += end != NULL;
    text += n;
    len -= n;
  }
  return rc;
}

static void forget(reader *r)
{
  for (size_t i = 0; r->list != NULL && i < r->n; i++) {
    pai_cluster_free(r->list[i].line.cluster);
    pai__tree_free(r->list[i].tree);
  }
  pai__free(r->alloc, r->list, r->most * sizeof(*r->list));
  pai__free(r->alloc, r->events, r->most * sizeof(*r->events));
  pai__arena_dispose(&r->arena);
}

int pai_what_if_json(pai_what_if **out, const pai_sched *sched,
                     const pai_history *history, const char *text, size_t len,
                     const pai_forecast_options *opts, pai_error **err)
{
  reader r = { .err = err };
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(sched != NULL && (text != NULL || len == 0), err);
  r.alloc = pai__sched_alloc(sched);
  r.most = count_lines(text, len);
  r.most += r.most == 0;
  pai__arena_init(&r.arena, r.alloc);
  r.list = pai__zalloc(r.alloc, r.most * sizeof(*r.list));
  r.events = pai__zalloc(r.alloc, r.most * sizeof(*r.events));
  if (r.list != NULL && r.events != NULL)
    rc = read_all(&r, text, len);
  else
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = pai_what_if_new(out, sched, history, r.events, r.n, opts, err);
  forget(&r);
  return rc;
}
