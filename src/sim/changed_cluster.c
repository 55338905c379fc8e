/*
 * changed_cluster.c - the cluster of a scheduler with some changes
 *
 * In its text: what is not changed stays as it was written.
 */
#include "json/json.h"
#include "json/writer.h"
#include "sched/core.h"
#include "sched/form.h"

#include <openpai/forecast.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct changing {
  const pai_alloc *alloc;
  pai__tree *tree; /* of the cluster before this change */
  pai__json_writer w;
  pai__buf out; /* and after it */
  pai_error **err;
  /* nodes that are added */
  unsigned long count;
  const char *sku; /* of them; NULL: nothing is added */
  char name[64];   /* they are called so, with a number behind it */
  pai__tree *more; /* NULL: the SKU is there; else it is the first there */
  /* a virtual cluster that gets another share */
  const char *vc, *type;
  unsigned long share;
} changing;

static void put(changing *c, const pai__tree *t, pai__node n)
{
  pai__json_ready(&c->w, t->text + t->nodes[n].start,
                  t->nodes[n].end - t->nodes[n].start);
}

static const char *put_key(changing *c, pai__node key)
{
  size_t len;
  const char *s = pai__tree_str(c->tree, key, &len);

  pai__json_key(&c->w, s, len);
  return s;
}

/* --- parts ---------------------------------------------------------------- */

static void put_skus(changing *c, pai__node skus)
{
  pai__tree_walk walk = pai__tree_iter(c->tree, skus);
  pai__node key;

  pai__json_begin_object(&c->w);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    (void)put_key(c, key);
    put(c, c->tree, pai__tree_value(c->tree, key));
  }
  if (c->more != NULL) {
    walk = pai__tree_iter(c->more, pai__tree_get(c->more, 0, "skus"));
    key = pai__tree_next(&walk);
    pai__form_put_key(&c->w, c->sku);
    put(c, c->more, pai__tree_value(c->more, key));
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
    pai__form_put_key(&c->w, "name");
    pai__form_put_text(&c->w, name);
    pai__form_put_key(&c->w, "sku");
    pai__form_put_text(&c->w, c->sku);
    pai__json_end_object(&c->w);
  }
  pai__json_end_array(&c->w);
}

static void put_cells(changing *c, pai__node cells)
{
  pai__tree_walk walk;
  pai__node key;
  bool found = false;

  pai__json_begin_object(&c->w);
  if (cells != PAI__NO_NODE) {
    walk = pai__tree_iter(c->tree, cells);
    while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
      if (strcmp(pai__tree_str(c->tree, key, NULL), c->type) == 0) {
        found = true;
        if (c->share == 0)
          continue;
        (void)put_key(c, key);
        pai__json_int(&c->w, (int64_t)c->share);
      } else {
        (void)put_key(c, key);
        put(c, c->tree, pai__tree_value(c->tree, key));
      }
    }
  }
  if (!found && c->share != 0) {
    pai__form_put_key(&c->w, c->type);
    pai__json_int(&c->w, (int64_t)c->share);
  }
  pai__json_end_object(&c->w);
}

static void put_vc(changing *c, pai__node vc)
{
  pai__tree_walk walk = pai__tree_iter(c->tree, vc);
  pai__node key;

  pai__json_begin_object(&c->w);
  pai__form_put_key(&c->w, "cells");
  put_cells(c, pai__tree_get(c->tree, vc, "cells"));
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__tree_str(c->tree, key, NULL), "cells") != 0) {
      (void)put_key(c, key);
      put(c, c->tree, pai__tree_value(c->tree, key));
    }
  pai__json_end_object(&c->w);
}

static void put_vcs(changing *c, pai__node vcs)
{
  pai__tree_walk walk = pai__tree_iter(c->tree, vcs);
  pai__node key;

  pai__json_begin_object(&c->w);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = put_key(c, key);

    if (c->vc != NULL && strcmp(name, c->vc) == 0)
      put_vc(c, pai__tree_value(c->tree, key));
    else
      put(c, c->tree, pai__tree_value(c->tree, key));
  }
  pai__json_end_object(&c->w);
}

static int put_all(changing *c)
{
  pai__tree_walk walk = pai__tree_iter(c->tree, 0);
  pai__node key;

  pai__buf_init(&c->out, c->alloc);
  pai__json_writer_init(&c->w, &c->out, false);
  pai__json_begin_object(&c->w);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = put_key(c, key);
    pai__node value = pai__tree_value(c->tree, key);

    if (strcmp(name, "skus") == 0)
      put_skus(c, value);
    else if (strcmp(name, "nodes") == 0)
      put_nodes(c, value);
    else if (strcmp(name, "virtualClusters") == 0)
      put_vcs(c, value);
    else
      put(c, c->tree, value);
  }
  pai__json_end_object(&c->w);
  return pai__json_finish(&c->w) < 0 ? pai__oom(c->err) : PAI_OK;
}

/* --- nodes that are added ------------------------------------------------- */

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

/* The tree of a cluster of one such node. */
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
    rc = pai_cluster_write(cluster, PAI_FORMAT_JSON, collect, &text, c->err);
  if (rc == PAI_OK)
    rc =
      pai__json_parse(&c->more, pai__buf_text(&text), text.len, &json, c->err);
  pai_cluster_free(cluster);
  pai__buf_dispose(&text);
  return rc;
}

/* Names that no node and no SKU has: "added1-" and so on. */
static void choose_name(changing *c, const pai__park *park)
{
  for (unsigned i = 1;; i++) {
    size_t len = (size_t)snprintf(c->name, sizeof(c->name), "added%u-", i);
    bool taken = false;

    for (uint32_t k = 0; k < park->nspots && !taken; k++)
      taken = strncmp(park->spots[k].name, c->name, len) == 0;
    for (uint32_t k = 0; k < park->nbuilds && !taken; k++)
      taken = strncmp(park->builds[k].name, c->name, len) == 0;
    if (!taken && strstr(c->tree->text, c->name) == NULL)
      return;
  }
}

/* "2x gpu:8:h100", "dgx": how many, of what. */
static int read_nodes(changing *c, const pai__park *park, const char *text)
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
  choose_name(c, park);
  if (skus == PAI__NO_NODE)
    return pai__fail(c->err, PAI_ENOTSUP,
                     "to this cluster no nodes can be added like that");
  if (pai__tree_find(c->tree, skus, text, strlen(text)) != PAI__NO_NODE) {
    c->sku = text;
    return PAI_OK;
  }
  c->sku = c->name;
  return describe(c, text);
}

/* --- shares --------------------------------------------------------------- */

/* The only type that it has cells of; NULL: none or several. */
static const char *only_type(const changing *c, pai__node vc)
{
  pai__node cells = pai__tree_get(c->tree, vc, "cells");
  pai__tree_walk walk;

  if (cells == PAI__NO_NODE || pai__tree_count(c->tree, cells) != 1)
    return NULL;
  walk = pai__tree_iter(c->tree, cells);
  return pai__tree_str(c->tree, pai__tree_next(&walk), NULL);
}

/* "12" or "dgx:12". */
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
                     "virtual cluster '%s' has not just one type of cells: "
                     "say which, as \"dgx:12\"",
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

/* --- all ------------------------------------------------------------------ */

/* The text of a cluster becomes that of the changed one. */
static int change(const pai__park *park, const pai_cluster_change *by,
                  pai__buf *text, const pai_alloc *alloc, pai_error **err)
{
  pai__json_options json = { .max_bytes = PAI__TREE_MAX_TEXT, .alloc = alloc };
  changing c = { .alloc = alloc, .err = err };
  pai__buf type;
  int rc;

  pai__buf_init(&type, alloc);
  pai__buf_init(&c.out, alloc);
  rc = pai__json_parse(&c.tree, pai__buf_text(text), text->len, &json, err);
  if (rc == PAI_OK && by->nodes != NULL)
    rc = read_nodes(&c, park, by->nodes);
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

/* Changes of any age, as ours. */
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
    rc = change(sched->park, &by, text, &sched->alloc, err);
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
  o.alloc = &sched->alloc;
  o.form = "openpai";
  o.max_bytes = PAI__TREE_MAX_TEXT;
  o.max_nodes = UINT32_MAX;
  pai__buf_init(&text, o.alloc);
  if (from != NULL)
    rc = pai_cluster_write(from, PAI_FORMAT_JSON, collect, &text, err);
  else
    pai__buf_str(&text, sched->park->text);
  if (rc == PAI_OK && !pai__buf_ok(&text))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = change_all(&text, sched, changes, n, err);
  if (rc == PAI_OK) /* only after the last: shares may move between clusters */
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
