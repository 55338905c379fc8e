/*
 * test_cluster_cases.c - texts of clusters, and all that is told of them
 *
 * A file of tests/unit/resource/clusters has cases: a line "=== NAME", a text,
 * a line "---", and what is told of the text: findings; and of a valid one, the
 * cluster, line by line.  With +yaml in the name our own form follows, with
 * +cells the cells, with +hived HiveD's configuration; with +made the text is a
 * description.
 * OPENPAI_GOLDEN=write writes anew what is told.
 */
#define _GNU_SOURCE /* strndup() */

#include "resource/clusters.h"

#include "base/buf.h"
#include "resource/cluster/derive.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 4096 /* bytes of a text that is read without memory, too */ };

static pai__buf whole_file(const char *path)
{
  FILE *f = fopen(path, "rb");
  char chunk[4096];
  pai__buf b = test_buf();

  if (f == NULL)
    fail_msg("cannot open %s", path);
  for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
    pai__buf_add(&b, chunk, n);
  (void)fclose(f);
  return b;
}

/* --- what is told --------------------------------------------------------- */

static void tell_findings(pai__buf *out, const pai_report *r)
{
  for (size_t i = 0; i < pai_report_count(r); i++) {
    const pai_diagnostic *d = pai_report_get(r, i);

    pai__buf_printf(out, "%u:%u %s %s at '%s': %s\n", d->line, d->column,
                    d->severity == PAI_SEVERITY_WARNING ? "warning" : "error",
                    d->code, d->pointer, d->message);
    if (d->help != NULL)
      pai__buf_printf(out, "  help: %s\n", d->help);
  }
}

/* A cell type as "name=2xchild", ! if it is a node; then each cell. */
static void tell_cells(pai__buf *out, const pai_cluster *c)
{
  for (size_t i = 0; i < c->ntypes; i++) {
    const pai__cell_type *t = &c->types[i];

    if (t->child != PAI__NOTHING)
      pai__buf_printf(out, "type %s=%ux%s%s\n", t->name, t->children,
                      c->types[t->child].name, t->is_node ? "!" : "");
  }
  for (size_t i = 0; i < c->ncells; i++) {
    const pai__cell *cell = &c->cells[i];

    pai__buf_printf(out, "cell %s %s", cell->address,
                    c->types[cell->type].name);
    if (cell->node != PAI__NOTHING)
      pai__buf_printf(out, " of %s", c->nodes[cell->node].name);
    if (cell->gpu != PAI__NOTHING)
      pai__buf_printf(out, " gpu %u", cell->gpu);
    if (cell->pin != NULL)
      pai__buf_printf(out, " pin %s", cell->pin);
    pai__buf_char(out, '\n');
  }
}

/* The text says the same, behind the form, as the cluster does. */
static void expect_same(const char *text, const char *lines, const char *yaml)
{
  pai_cluster *again = test_cluster(text, NULL);
  char *same = test_cluster_lines(again), *twice = test_cluster_text(again, 0);

  assert_string_equal(test_sums(again).form, "openpai");
  assert_string_equal(strchr(same, ':'), strchr(lines, ':'));
  assert_string_equal(twice, yaml);
  free(same);
  free(twice);
  pai_cluster_free(again);
}

static void tell_cluster(pai__buf *out, const char *name, pai_cluster *c)
{
  char *lines = test_cluster_lines(c), *yaml = test_cluster_text(c, 0);
  char *json = test_cluster_text(c, PAI_FORMAT_JSON);
  char *hived = NULL;

  pai__buf_str(out, lines);
  if (strcmp(test_sums(c).form, "hived") != 0) {
    expect_same(yaml, lines, yaml);
    expect_same(json, lines, yaml);
  }
  if (strstr(name, "+yaml") != NULL)
    pai__buf_str(out, yaml);
  if (strstr(name, "+cells") != NULL) {
    assert_ok(pai__cells_derive(c));
    assert_ok(pai__cells_derive(c)); /* once is enough */
    tell_cells(out, c);
  }
  if (strstr(name, "+hived") != NULL) {
    char *after;

    hived = test_hived_text(c, 0);
    after = test_cluster_text(c, 0);
    pai__buf_str(out, hived);
    pai_cluster_free(test_cluster(hived, "hived"));
    assert_string_equal(after, yaml); /* what HiveD needs is not in c */
    free(after);
  }
  free(hived);
  free(json);
  free(yaml);
  free(lines);
}

static void tell(pai__buf *out, const char *name, const char *text)
{
  pai_cluster *c;
  pai_report *r;

  if (strstr(name, "+made") != NULL) {
    c = test_synthetic(text);
    tell_cluster(out, name, c);
    pai_cluster_free(c);
    return;
  }
  assert_ok(pai_cluster_check(&r, &c, text, strlen(text), NULL, NULL));
  assert_int_equal(c != NULL, pai_report_valid(r));
  tell_findings(out, r);
  if (c != NULL) {
    tell_cluster(out, name, c);
    if (test_sums(c).nodes > 1)
      test_cluster_limit(text, (uint32_t)test_sums(c).nodes);
    if (strcmp(test_sums(c).form, "hived") == 0)
      test_hived_round_trip(text);
  }
  pai_cluster_free(c);
  pai_report_free(r);
  if (strlen(text) <= LONGEST)
    test_faults(test_cluster_memory, (void *)(uintptr_t)text);
}

/* --- the files ------------------------------------------------------------ */

/* Cuts a part that ends with a line `mark`, or at the end of the text; sets
 * *at to what follows. */
static char *cut(char **at, const char *mark)
{
  char *part = *at, *end = part;

  while (*end != '\0' && strncmp(end, mark, strlen(mark)) != 0) {
    char *line = strchr(end, '\n');

    end = line != NULL ? line + 1 : end + strlen(end);
  }
  *at = end;
  return strndup(part, (size_t)(end - part));
}

/* Takes a case from *at on, and adds it with what is told now. */
static void check_case(pai__buf *all, char **at, const char *file)
{
  size_t len = strcspn(*at, "\n"), before;
  char *name = strndup(*at, len), *text, *want;

  *at += len + 1;
  text = cut(at, "---\n");
  *at += *at[0] != '\0' ? strlen("---\n") : 0;
  want = cut(at, "=== ");
  pai__buf_printf(all, "%s\n%s---\n", name, text);
  before = all->len;
  tell(all, name, text);
  if (getenv("OPENPAI_GOLDEN") == NULL &&
      strcmp(pai__buf_text(all) + before, want) != 0)
    fail_msg("%s: %s: not\n%sbut\n%s", file, name, want,
             pai__buf_text(all) + before);
  free(name);
  free(text);
  free(want);
}

static void check_file(const char *file)
{
  char path[1024], *at, *head;
  pai__buf was, now = test_buf();
  FILE *f;

  (void)snprintf(path, sizeof(path), "%s/tests/unit/resource/clusters/%s.txt",
                 SOURCE_DIR, file);
  was = whole_file(path);
  at = was.data;
  head = cut(&at, "=== ");
  pai__buf_str(&now, head);
  free(head);
  while (*at != '\0')
    check_case(&now, &at, file);
  assert_true(pai__buf_ok(&now));
  if (getenv("OPENPAI_GOLDEN") != NULL) {
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(now.data, 1, now.len, f), now.len);
    assert_int_equal(fclose(f), 0);
  }
  pai__buf_dispose(&was);
  pai__buf_dispose(&now);
}

#define FILE_TEST(file) \
  TEST(file##_is)       \
  {                     \
    check_file(#file);  \
  }
FILE_TEST(alibaba)
FILE_TEST(cells)
FILE_TEST(hived)
FILE_TEST(kubernetes)
FILE_TEST(layout)
FILE_TEST(openpai)
FILE_TEST(shares)
FILE_TEST(slurm)
