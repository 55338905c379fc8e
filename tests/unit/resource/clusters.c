/* clusters.c - clusters in tests of the room `resource` */
#include "resource/clusters.h"

#include "base/buf.h"
#include "resource/cluster.h"
#include "resource/cluster/read.h"

#include <stdio.h>
#include <stdlib.h>

/* A copy, which is freed; as clusters.h says, with " for '. */
static char *quoted(const char *text)
{
  pai__buf b = test_buf();
  char *out;

  pai__buf_str(&b, text);
  out = pai__buf_take(&b);
  if (strncmp(out, "{'", 2) == 0)
    for (char *c = out; (c = strchr(c, '\'')) != NULL; c++)
      *c = '"';
  return out;
}

static pai_cluster *must(pai_cluster *c, int rc, pai_error *err)
{
  if (rc < 0)
    print_error("%u:%u: %s\n", pai_error_line(err), pai_error_column(err),
                pai_error_message(err));
  assert_ok(rc);
  assert_non_null(c);
  assert_null(err);
  return c;
}

pai_cluster *test_cluster(const char *text, const char *form)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  char *copy = quoted(text);
  pai_cluster *c;
  pai_error *err;
  int rc;

  opts.form = form;
  rc = pai_cluster_parse(&c, copy, strlen(copy), &opts, &err);
  free(copy);
  return must(c, rc, err);
}

pai_cluster *test_synthetic(const char *description)
{
  pai_cluster *c;
  pai_error *err;
  int rc = pai_cluster_synthetic(&c, description, NULL, &err);

  return must(c, rc, err);
}

/* --- views ---------------------------------------------------------------- */

pai_cluster_view test_sums(const pai_cluster *c)
{
  pai_cluster_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_cluster_view_sums(c, &v));
  return v;
}

pai_node_view test_node(const pai_cluster *c, size_t i)
{
  pai_node_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_cluster_view_node(c, i, &v));
  return v;
}

pai_node_gpu_view test_node_gpu(const pai_cluster *c, size_t node, size_t i)
{
  pai_node_gpu_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_cluster_view_gpu(c, node, i, &v));
  return v;
}

pai_sku_view test_sku(const pai_cluster *c, size_t i)
{
  pai_sku_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_cluster_view_sku(c, i, &v));
  return v;
}

/* --- texts ---------------------------------------------------------------- */

char *test_cluster_text(const pai_cluster *c, int format)
{
  pai__buf b = test_buf();

  assert_ok(pai_cluster_write(c, format, test_collect, &b, NULL));
  return pai__buf_take(&b);
}

char *test_hived_text(pai_cluster *c, int format)
{
  pai__buf b = test_buf();

  assert_ok(pai_cluster_write_hived(c, format, test_collect, &b, NULL));
  return pai__buf_take(&b);
}

static void add_named(pai__buf *b, const char *name, const char *value)
{
  if (value != NULL)
    pai__buf_printf(b, " %s=%s", name, value);
}

/* " 128-4 cpus" or " 2T-32G": what there is, less what is used. */
static void add_amount(pai__buf *b, uint64_t all, uint64_t used, bool bytes)
{
  char text[PAI__SIZE_TEXT];

  for (int i = 0; i < 2; i++) {
    uint64_t n = i == 0 ? all : used;

    if (n == 0)
      continue;
    pai__buf_char(b, i == 0 ? ' ' : '-');
    if (bytes)
      pai__buf_str(b, pai__size_text(text, n));
    else
      pai__buf_printf(b, "%llu", (unsigned long long)n);
  }
  if (all != 0 && !bytes)
    pai__buf_str(b, " cpus");
}

static void add_sku(pai__buf *b, const pai_cluster *c, size_t i)
{
  pai_sku_view s = test_sku(c, i);
  const char *name;
  uint32_t gpus, all = 0;

  pai__buf_printf(b, "sku %s:", s.name);
  for (uint32_t k = 0; k < c->skus[i].ngroups; k++) {
    const pai__gpu_group *g = &c->skus[i].groups[k];

    pai__buf_printf(b, " %u %s", g->count, c->kinds[g->kind].name);
    all += g->count;
  }
  assert_int_equal(all, s.gpus);
  assert_int_equal(s.gpu != NULL, c->skus[i].ngroups == 1);
  if (s.gpu != NULL) {
    const pai__gpu_kind *kind = &c->kinds[c->skus[i].groups[0].kind];

    assert_string_equal(s.gpu, kind->name);
    assert_int_equal(s.gpu_memory, kind->memory);
  }
  if (s.numa != 1)
    pai__buf_printf(b, " numa=%u", s.numa);
  for (size_t k = 0; k < s.near; k++) {
    assert_ok(pai_cluster_sku_near(c, i, k, &name, &gpus));
    pai__buf_printf(b, " %s=%u", name, gpus);
  }
  assert_int_equal(pai_cluster_sku_near(c, i, s.near, &name, &gpus),
                   PAI_ENOTFOUND);
  add_amount(b, s.cpus, s.used_cpus, false);
  add_amount(b, s.memory, s.used_memory, true);
  pai__buf_printf(b, ", %zu nodes\n", s.nodes);
}

static void add_node(pai__buf *b, const pai_cluster *c, size_t i)
{
  pai_node_view n = test_node(c, i);
  const char *key, *value;

  pai__buf_printf(b, "%s: %s", n.name, test_sku(c, n.sku).name);
  assert_int_equal(n.gpus, test_sku(c, n.sku).gpus);
  add_named(b, "rack", n.rack);
  add_named(b, "address", strcmp(n.address, n.name) ? n.address : NULL);
  add_named(b, "pin", n.pin);
  for (size_t k = 0; k < n.labels; k++) {
    assert_ok(pai_cluster_node_label(c, i, k, &key, &value));
    add_named(b, key, value);
  }
  add_named(b, "sick", n.sick);
  pai__buf_char(b, '\n');
  for (size_t k = 0; k < n.gpus; k++) {
    pai_node_gpu_view g = test_node_gpu(c, i, k);
    const char *own = c->gpus[c->nodes[i].first_gpu + k].sick;

    assert_ptr_equal(g.sick, n.sick != NULL ? n.sick : own);
    if (g.number == k && g.uuid == NULL && own == NULL)
      continue;
    pai__buf_printf(b, "  gpu %zu: number=%u", k, g.number);
    add_named(b, "uuid", g.uuid);
    add_named(b, "sick", own);
    pai__buf_char(b, '\n');
  }
}

static void add_vc(pai__buf *b, const pai_cluster *c, size_t i)
{
  pai_vc_view vc = { .struct_size = sizeof(vc) };
  pai_share_view s = { .struct_size = sizeof(s) };

  assert_ok(pai_cluster_view_vc(c, i, &vc));
  pai__buf_printf(b, "vc %s:", vc.name);
  for (size_t k = 0; k < vc.shares; k++) {
    assert_ok(pai_cluster_view_share(c, i, k, &s));
    pai__buf_str(b, k > 0 ? ", " : " ");
    if (s.pin == NULL)
      pai__buf_printf(b, "%zu %s", s.count, s.cells);
    else
      pai__buf_printf(b, "pin %s", s.pin);
  }
  assert_int_equal(pai_cluster_view_share(c, i, vc.shares, &s), PAI_ENOTFOUND);
  pai__buf_char(b, '\n');
}

char *test_cluster_lines(const pai_cluster *c)
{
  pai_cluster_view v = test_sums(c);
  pai__buf b = test_buf();

  pai__buf_printf(&b, "%s%s%s: %zu nodes, %zu GPUs, %zu racks, %zu+%zu sick,",
                  v.name, v.name[0] != '\0' ? " " : "", v.form, v.nodes,
                  v.gpus, v.racks, v.sick_nodes, v.sick_gpus);
  add_amount(&b, v.cpus, 0, false);
  add_amount(&b, v.memory, 0, true);
  pai__buf_char(&b, '\n');
  for (size_t i = 0; i < c->nkinds; i++) {
    pai__buf_printf(&b, "kind %s", c->kinds[i].name);
    if (c->kinds[i].resource != NULL)
      pai__buf_printf(&b, " %s", c->kinds[i].resource);
    add_amount(&b, c->kinds[i].memory, 0, true);
    pai__buf_char(&b, '\n');
  }
  for (size_t i = 0; i < v.skus; i++)
    add_sku(&b, c, i);
  for (size_t i = 0; i < v.nodes; i++)
    add_node(&b, c, i);
  for (size_t i = 0; i < v.virtual_clusters; i++)
    add_vc(&b, c, i);
  return pai__buf_take(&b);
}

/* --- findings ------------------------------------------------------------- */

void test_cluster_found(const char *text, const char *form, const char *list,
                        const char *says, const char *help)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const pai_diagnostic *first = NULL;
  char *copy = quoted(text);
  pai_report *r;
  pai_cluster *c;
  pai__buf found = test_buf();

  opts.form = form;
  assert_ok(pai_cluster_check(&r, &c, copy, strlen(copy), &opts, NULL));
  free(copy);
  assert_int_equal(c != NULL, pai_report_valid(r));
  for (size_t i = 0; i < pai_report_count(r); i++) {
    const pai_diagnostic *d = pai_report_get(r, i);

    if (first == NULL)
      first = d;
    pai__buf_printf(&found, "%s%s %s %u:%u\n",
                    d->severity == PAI_SEVERITY_WARNING ? "?" : "", d->code,
                    d->pointer, d->line, d->column);
  }
  if (strcmp(pai__buf_text(&found), list) != 0)
    print_error("in:\n%s\n", text);
  assert_string_equal(pai__buf_text(&found), list);
  if (first != NULL) {
    if (says != NULL && strstr(first->message, says) == NULL)
      fail_msg("want \"%s\" in \"%s\"", says, first->message);
    if ((help == NULL) != (first->help == NULL) ||
        (help != NULL && strstr(first->help, help) == NULL))
      fail_msg("want help \"%s\", not \"%s\", in:\n%s",
               help != NULL ? help : "",
               first->help != NULL ? first->help : "", text);
  }
  pai__buf_dispose(&found);
  pai_cluster_free(c);
  pai_report_free(r);
}

void test_cluster_limit(const char *text, uint32_t nodes)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  char says[64], *copy = quoted(text);
  pai_cluster *c;
  pai_error *err;

  opts.max_nodes = nodes;
  assert_ok(pai_cluster_parse(&c, copy, strlen(copy), &opts, &err));
  pai_cluster_free(c);
  opts.max_nodes = nodes - 1;
  assert_int_equal(pai_cluster_parse(&c, copy, strlen(copy), &opts, &err),
                   PAI_ELIMIT);
  assert_null(c);
  (void)snprintf(says, sizeof(says), "more than %u nodes", nodes - 1);
  test_expect_error(err, PAI_ELIMIT, says);
  free(copy);
}

/* --- without memory, and without room ------------------------------------- */

int test_cluster_refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_EUSER;
}

static int change_and_write(pai_cluster *c)
{
  int rc = pai_cluster_set_sick(c, 0, -1, "hot");
  pai__buf b = test_buf();

  if (rc < 0)
    return rc;
  assert_string_equal(test_node(c, 0).sick, "hot");
  rc = pai_cluster_write_hived(c, 0, test_collect, &b, NULL);
  if (rc != PAI_ENOMEM)
    assert_int_equal(rc == PAI_ENOTSUP, test_sums(c).gpus == 0);
  if (rc == PAI_OK)
    assert_has(pai__buf_text(&b), "physicalCells");
  if (rc == PAI_OK || rc == PAI_ENOTSUP)
    rc = pai_cluster_write(c, PAI_FORMAT_JSON, test_collect, &b, NULL);
  pai__buf_dispose(&b);
  return rc;
}

int test_cluster_memory(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  char *text = quoted(user_data);
  pai_report *report;
  pai_cluster *c;
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_check(&report, &c, text, strlen(text), &opts, NULL);
  free(text);
  if (rc == PAI_OK) {
    assert_int_equal(c != NULL, pai_report_valid(report));
    assert_true(c != NULL || pai_report_count(report) > 0);
  }
  pai_report_free(report);
  if (rc == PAI_OK && c != NULL)
    rc = change_and_write(c);
  pai_cluster_free(c);
  return rc;
}

/* --- HiveD's form --------------------------------------------------------- */

/* Types, cells and shares, a line each. */
static char *cells_text(const pai_cluster *c)
{
  pai__buf b = test_buf();

  for (size_t i = 0; i < c->ntypes; i++) {
    const pai__cell_type *t = &c->types[i];

    pai__buf_printf(&b, "%s=%ux%d %d %d\n", t->name, t->children,
                    (int)t->child, t->is_node, t->in_node);
  }
  for (size_t i = 0; i < c->ncells; i++) {
    const pai__cell *x = &c->cells[i];

    pai__buf_printf(&b, "%s %u in %d to %u, node %d gpu %d", x->address,
                    x->type, (int)x->parent, x->skip, (int)x->node,
                    (int)x->gpu);
    if (x->gpu != PAI__NOTHING)
      pai__buf_printf(&b, " number %u", c->gpus[x->gpu].number);
    add_named(&b, "pin", x->pin);
    pai__buf_char(&b, '\n');
  }
  return pai__buf_take(&b);
}

static char *shares_text(const pai_cluster *c)
{
  pai__buf b = test_buf();

  for (size_t i = 0; i < c->nvcs; i++)
    add_vc(&b, c, i);
  return pai__buf_take(&b);
}

/* Both are freed. */
static void same_text(char *a, char *b)
{
  assert_string_equal(a, b);
  free(a);
  free(b);
}

void test_hived_round_trip(const char *text)
{
  pai_cluster *c = test_cluster(text, NULL), *again;

  for (int i = 0; i < 4; i++) {
    int format = i % 2 == 0 ? PAI_FORMAT_YAML : PAI_FORMAT_JSON;
    bool hived = i < 2;
    char *before =
      hived ? test_hived_text(c, format) : test_cluster_text(c, format);

    again = test_cluster(before, hived ? "hived" : "openpai");
    same_text(cells_text(c), cells_text(again));
    if (c->nvcs > 0 || !hived)
      same_text(shares_text(c), shares_text(again));
    same_text(before, hived ? test_hived_text(again, format)
                            : test_cluster_text(again, format));
    pai_cluster_free(again);
  }
  pai_cluster_free(c);
}
