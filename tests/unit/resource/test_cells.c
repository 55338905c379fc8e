/* test_cells.c - limits of cells that are made of machines */
#include "resource/clusters.h"

#include "base/buf.h"
#include "resource/cluster/derive.h"

#include <stdlib.h>

/* --- limits --------------------------------------------------------------- */

static const struct {
  const char *what;
  int code;
  size_t cells;
} sizes[] = {
  { "nodes:2 cpus:8", PAI_ENOTFOUND, 0 }, /* without GPUs */
  { "nodes:65536 gpu:15", PAI_OK, 1 << 20 },
  { "nodes:65537 gpu:15", PAI_ELIMIT, 0 },
  { "racks:1 nodes:52428 gpu:16 switch:8", PAI_OK, 52428 * (16 + 2 + 1) + 1 },
  /* By racks alone: without levels between, they are as many cells as nodes. */
  { "racks:27594 nodes:55188 gpu:16 switch:8", PAI_ELIMIT, 0 },
};

TEST(cells_have_a_limit)
{
  pai_cluster *c;
  pai_error *err;
  pai__buf out = test_buf();

  for (size_t i = 0; i < PAI__LEN(sizes); i++) {
    c = test_synthetic(sizes[i].what);
    assert_int_equal(pai__cells_derive(c), sizes[i].code);
    assert_int_equal(c->ncells, sizes[i].cells);
    assert_int_equal(c->ntypes != 0, sizes[i].code == PAI_OK);
    pai_cluster_free(c);
  }
  c = test_synthetic("nodes:65537 gpu:15");
  assert_int_equal(pai_cluster_write_hived(c, 0, test_collect, &out, &err),
                   PAI_ELIMIT);
  assert_has(pai_error_help(err), "several clusters");
  test_expect_error(err, PAI_ELIMIT, "more than 1048576 cells");
  assert_int_equal(out.len, 0);
  pai__buf_dispose(&out);
  pai_cluster_free(c);
  test_cluster_found("skus: {s: {gpu: x, gpus: 15}}\n"
                     "nodes: [{name: 'n[1-65537]', sku: s}]\n"
                     "virtualClusters: {v: {cells: {s: 1}}}\n",
                     NULL, "?flat-node /skus/s 1:8\nlimit /nodes/0 2:9\n",
                     NULL, "near");
}

TEST(addresses_have_a_limit)
{
  pai__buf text = test_buf();
  pai_cluster *c;

  pai__buf_str(&text, "skus: {s: {gpu: x, gpus: 4000}}\nnodes: [{name: '");
  for (int i = 0; i < 240; i++)
    pai__buf_char(&text, 'n');
  pai__buf_str(&text, "[1-150]', sku: s}]\n");
  c = test_cluster(pai__buf_text(&text), NULL);
  assert_int_equal(pai__cells_derive(c), PAI_ELIMIT);
  assert_int_equal(c->ncells + c->ntypes, 0);
  pai_cluster_free(c);
  pai__buf_dispose(&text);
}

/* One type for each SKU, and one for their GPUs, which are not counted. */
TEST(types_have_a_limit)
{
  for (unsigned n = PAI__CELLS_MAX_TYPES; n <= PAI__CELLS_MAX_TYPES + 1; n++) {
    pai__buf text = test_buf(), out = test_buf();
    pai_cluster *c;
    pai_error *err;
    int rc;

    pai__buf_str(&text, "skus:\n");
    for (unsigned i = 0; i < n; i++)
      pai__buf_printf(&text, "  s%u: {gpu: x, gpus: 1}\n", i);
    pai__buf_str(&text, "nodes:\n");
    for (unsigned i = 0; i < n; i++)
      pai__buf_printf(&text, "  - {name: n%u, sku: s%u}\n", i, i);
    c = test_cluster(pai__buf_text(&text), NULL);
    rc = pai_cluster_write_hived(c, 0, test_collect, &out, &err);
    pai_cluster_free(c);
    if (n == PAI__CELLS_MAX_TYPES) {
      assert_ok(rc);
      pai_cluster_free(test_cluster(pai__buf_text(&out), "hived"));
    } else {
      assert_int_equal(rc, PAI_ELIMIT);
      assert_has(pai_error_message(err), "4097 types of cells");
      assert_has(pai_error_help(err), "one SKU");
    }
    pai_error_free(err);
    pai__buf_dispose(&text);
    pai__buf_dispose(&out);
  }
}

/* Names are offered for the first ones only, and not of very many. */
TEST(names_are_not_offered_forever)
{
  pai_report *r;
  pai__buf b = test_buf();

  pai__buf_str(&b, "skus: {s: {gpu: x, gpus: 2}}\n"
                   "nodes: [{name: 'a[1-4]', sku: s}]\n"
                   "virtualClusters: {v: {cells: {");
  for (int i = 0; i < 30; i++)
    pai__buf_printf(&b, "t%d: 1, ", i);
  pai__buf_str(&b, "}}}\n");
  assert_ok(pai_cluster_check(&r, NULL, pai__buf_text(&b), b.len, NULL, NULL));
  assert_int_equal(pai_report_count(r), 30);
  for (size_t i = 0; i < 30; i++)
    assert_int_equal(pai_report_get(r, i)->help != NULL, i < 20);
  pai_report_free(r);
  pai__buf_dispose(&b);
}

/* --- short memory --------------------------------------------------------- */

static int derive(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  int rc;

  (void)user_data;
  opts.alloc = alloc;
  rc = pai_cluster_synthetic(&c, "nodes:4 gpu:4 numa:2 racks:2", &opts, NULL);
  if (rc < 0)
    return rc;
  rc = pai__cells_derive(c);
  if (rc == PAI_OK)
    assert_int_equal(c->ncells, 4 * 7 + 2);
  else
    assert_int_equal(c->ncells, 0);
  pai_cluster_free(c);
  return rc;
}

TEST(no_memory_is_survived)
{
  test_faults(derive, NULL);
}
