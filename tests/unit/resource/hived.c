/* hived.c - clusters as HiveD's configuration, in tests */
#include "resource/hived.h"

#include "base/buf.h"
#include "resource/cluster.h"

#include <stdlib.h>

static void same_text(const char *a, const char *b)
{
  assert_int_equal(a == NULL, b == NULL);
  if (a != NULL)
    assert_string_equal(a, b);
}

static void same_cells(const pai_cluster *a, const pai_cluster *b)
{
  assert_int_equal(a->ntypes, b->ntypes);
  for (size_t i = 0; i < a->ntypes; i++) {
    assert_string_equal(a->types[i].name, b->types[i].name);
    assert_int_equal(a->types[i].child, b->types[i].child);
    assert_int_equal(a->types[i].children, b->types[i].children);
    assert_int_equal(a->types[i].is_node, b->types[i].is_node);
    assert_int_equal(a->types[i].in_node, b->types[i].in_node);
  }
  assert_int_equal(a->ncells, b->ncells);
  for (size_t i = 0; i < a->ncells; i++) {
    const pai__cell *x = &a->cells[i], *y = &b->cells[i];

    assert_string_equal(x->address, y->address);
    same_text(x->pin, y->pin);
    assert_int_equal(x->type, y->type);
    assert_int_equal(x->parent, y->parent);
    assert_int_equal(x->skip, y->skip);
    assert_int_equal(x->node, y->node);
    assert_int_equal(x->gpu, y->gpu);
    if (x->gpu != PAI__NOTHING)
      assert_int_equal(a->gpus[x->gpu].number, b->gpus[y->gpu].number);
  }
}

static void same_shares(const pai_cluster *a, const pai_cluster *b)
{
  assert_int_equal(a->nvcs, b->nvcs);
  for (size_t i = 0; i < a->nvcs; i++) {
    assert_string_equal(a->vcs[i].name, b->vcs[i].name);
    assert_int_equal(a->vcs[i].nshares, b->vcs[i].nshares);
    for (uint32_t k = 0; k < a->vcs[i].nshares; k++) {
      same_text(a->vcs[i].shares[k].path, b->vcs[i].shares[k].path);
      same_text(a->vcs[i].shares[k].pin, b->vcs[i].shares[k].pin);
      assert_int_equal(a->vcs[i].shares[k].count, b->vcs[i].shares[k].count);
    }
  }
}

void test_hived_round_trip(const char *text)
{
  pai_cluster *c = test_cluster(text, NULL), *again;
  char *before, *after;

  for (int i = 0; i < 4; i++) {
    int format = i % 2 == 0 ? PAI_FORMAT_YAML : PAI_FORMAT_JSON;

    before = i < 2 ? test_hived_text(c, format) : test_cluster_text(c, format);
    again = test_cluster(before, i < 2 ? "hived" : "openpai");
    same_cells(c, again);
    if (c->nvcs > 0 || i >= 2)
      same_shares(c, again);
    after = i < 2 ? test_hived_text(again, format)
                  : test_cluster_text(again, format);
    assert_string_equal(before, after);
    free(before);
    free(after);
    pai_cluster_free(again);
  }
  pai_cluster_free(c);
}
int test_hived_memory(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const char *text = user_data;
  pai_report *report;
  pai_cluster *c;
  pai__buf b;
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_check(&report, &c, text, strlen(text), &opts, NULL);
  if (rc < 0)
    return rc;
  pai_report_free(report);
  if (c == NULL)
    return PAI_OK;
  pai__buf_init(&b, &pai__libc_alloc);
  rc = pai_cluster_write_hived(c, 0, test_collect, &b, NULL);
  if (rc == PAI_OK) {
    assert_non_null(strstr(pai__buf_text(&b), "physicalCells"));
    rc = pai_cluster_write(c, PAI_FORMAT_JSON, test_collect, &b, NULL);
  }
  pai__buf_dispose(&b);
  pai_cluster_free(c);
  return rc;
}
