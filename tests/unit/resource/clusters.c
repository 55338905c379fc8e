/* clusters.c - clusters in tests of the room `resource` */
#include "resource/clusters.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

static pai_cluster *must(pai_cluster *c, int rc, pai_error *err)
{
  if (rc < 0)
    print_error("%u:%u: %s\n", pai_error_line(err), pai_error_column(err),
                pai_error_message(err));
  assert_int_equal(rc, PAI_OK);
  assert_non_null(c);
  assert_null(err);
  return c;
}

pai_cluster *test_cluster(const char *text, const char *form)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;
  int rc;

  opts.form = form;
  rc = pai_cluster_parse(&c, text, strlen(text), &opts, &err);
  return must(c, rc, err);
}

pai_cluster *test_synthetic(const char *description)
{
  pai_cluster *c;
  pai_error *err;
  int rc = pai_cluster_synthetic(&c, description, NULL, &err);

  return must(c, rc, err);
}

char *test_cluster_text(const pai_cluster *c, int format)
{
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai_cluster_write(c, format, test_collect, &b, NULL),
                   PAI_OK);
  return pai__buf_take(&b);
}

char *test_hived_text(pai_cluster *c, int format)
{
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai_cluster_write_hived(c, format, test_collect, &b, NULL),
                   PAI_OK);
  return pai__buf_take(&b);
}

static const char *ignored;

void test_cluster_ignore(const char *code)
{
  ignored = code;
}

void test_cluster_found(const char *text, const char *form, const char *list,
                        const char *says, const char *help)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const pai_diagnostic *first = NULL;
  pai_report *r;
  pai_cluster *c;
  pai__buf found;

  opts.form = form;
  assert_int_equal(pai_cluster_check(&r, &c, text, strlen(text), &opts, NULL),
                   PAI_OK);
  assert_int_equal(c != NULL, pai_report_valid(r));
  pai__buf_init(&found, &pai__libc_alloc);
  for (size_t i = 0; i < pai_report_count(r); i++) {
    const pai_diagnostic *d = pai_report_get(r, i);

    if (ignored != NULL && strcmp(d->code, ignored) == 0)
      continue;
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
    const pai_diagnostic *d = first;

    if (says != NULL && strstr(d->message, says) == NULL)
      fail_msg("want \"%s\" in \"%s\"", says, d->message);
    if ((help == NULL) != (d->help == NULL) ||
        (help != NULL && strstr(d->help, help) == NULL))
      fail_msg("want help \"%s\", not \"%s\", in:\n%s",
               help != NULL ? help : "", d->help != NULL ? d->help : "", text);
  }
  pai__buf_dispose(&found);
  pai_cluster_free(c);
  pai_report_free(r);
}
