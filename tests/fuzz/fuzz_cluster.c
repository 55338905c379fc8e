/*
 * fuzz_cluster.c - clusters in each of their forms: what is valid is written
 * in our own and in HiveD's, read again, and written as the same bytes
 */
#include "check.h"
#include "resource/cells.h"
#include "resource/virtual_cells.h"

#include <openpai/cluster.h>

static pai_cluster *parse(const char *text, size_t len, const char *form)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_report *report = NULL;
  pai_cluster *c = NULL;

  opts.form = form;
  CHECK(pai_cluster_check(&report, &c, text, len, &opts, NULL) == PAI_OK);
  CHECK(pai_report_valid(report) == (c != NULL));
  for (size_t i = 0; i < pai_report_count(report); i++) {
    const pai_diagnostic *d = pai_report_get(report, i);

    CHECK(d->code != NULL && *d->message != '\0');
    CHECK(strchr(d->message, '\n') == NULL);
    CHECK(d->line >= 1 && d->column >= 1);
  }
  pai_report_free(report);
  return c;
}

static int write_as(pai_cluster *c, bool hived, int format, pai__buf *out)
{
  return hived ? pai_cluster_write_hived(c, format, test_collect, out, NULL)
               : pai_cluster_write(c, format, test_collect, out, NULL);
}

static void same_cells(const pai_cluster *a, const pai_cluster *b)
{
  CHECK(a->ncells == b->ncells && a->ntypes == b->ntypes);
  for (size_t i = 0; i < a->ncells; i++) {
    CHECK(strcmp(a->cells[i].address, b->cells[i].address) == 0);
    CHECK(a->cells[i].type == b->cells[i].type);
    CHECK(a->cells[i].parent == b->cells[i].parent);
    CHECK(a->cells[i].skip == b->cells[i].skip);
  }
}

/* Cells that were derived are of types in another order when they are read. */
static void round_trip(pai_cluster *c, bool hived, int format)
{
  pai_cluster *back;
  pai__buf once, twice;

  pai__buf_init(&once, &pai__libc_alloc);
  pai__buf_init(&twice, &pai__libc_alloc);
  CHECK(write_as(c, hived, format, &once) == PAI_OK);
  back = parse(pai__buf_text(&once), once.len, hived ? "hived" : "openpai");
  CHECK(back != NULL);
  if (!hived || !c->derived)
    same_cells(c, back);
  CHECK(write_as(back, hived, format, &twice) == PAI_OK);
  CHECK(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
  pai_cluster_free(back);
  pai__buf_dispose(&twice);
  pai__buf_dispose(&once);
}

/* Depth first; each in its parent, and of its child type. */
static void check_cells(const pai_cluster *c)
{
  for (size_t i = 0; i < c->ncells; i++) {
    const pai__cell *cell = &c->cells[i], *up;

    CHECK(cell->type < c->ntypes);
    CHECK(cell->skip > i && cell->skip <= c->ncells);
    CHECK((c->types[cell->type].child == PAI__NOTHING) ==
          (cell->gpu != PAI__NOTHING));
    CHECK(cell->gpu == PAI__NOTHING || cell->gpu < c->ngpus);
    CHECK(cell->node == PAI__NOTHING || cell->node < c->nnodes);
    if (cell->parent == PAI__NOTHING)
      continue;
    up = &c->cells[cell->parent];
    CHECK(cell->parent < i && cell->skip <= up->skip);
    CHECK(c->types[up->type].child == cell->type);
    CHECK(up->node == PAI__NOTHING || up->node == cell->node);
  }
}

static void check_virtual(const pai_cluster *c)
{
  pai__virtual_cells v;
  pai__cells cells;

  CHECK(pai__cells_init(&cells, c, &pai__libc_alloc) == PAI_OK);
  for (size_t i = 0; i < c->nvcs; i++) {
    int rc =
      pai__virtual_cells_init(&v, c, &cells, &c->vcs[i], &pai__libc_alloc);

    CHECK(rc == PAI_OK || rc == PAI_ELIMIT);
    pai__virtual_cells_dispose(&v);
  }
  pai__cells_dispose(&cells);
}

static void check(const char *text, size_t len, const char *form)
{
  pai_cluster *c = parse(text, len, form);

  if (c == NULL)
    return;
  check_cells(c);
  for (int json = 0; json <= 1; json++) {
    int format = json != 0 ? PAI_FORMAT_JSON : PAI_FORMAT_YAML;

    round_trip(c, false, format);
    if (c->ncells > 0)
      round_trip(c, true, format);
  }
  if (c->ncells > 0)
    check_virtual(c);
  pai_cluster_free(c);
}

/* A description in one line: what can be made can be written and read. */
static void describe(const char *text)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;
  int rc;

  opts.max_nodes = 1000; /* for speed */
  rc = pai_cluster_synthetic(&c, text, &opts, &err);
  if (rc < 0) {
    check_error(err, rc);
    pai_error_free(err);
    return;
  }
  if (c->ngpus < 10000)
    round_trip(c, false, PAI_FORMAT_YAML);
  pai_cluster_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const forms[] = { NULL, "openpai", "hived" };
  char *text = malloc(size + 1);

  if (text == NULL)
    return 0;
  if (size != 0)
    memcpy(text, data, size);
  text[size] = '\0';
  for (size_t i = 0; i < PAI__LEN(forms); i++)
    check(text, size, forms[i]);
  describe(text);
  free(text);
  return 0;
}
