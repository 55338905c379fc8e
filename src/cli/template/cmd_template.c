/* cmd_template.c - `template list`, `search`, `show` and `use` */
#include "template.h"

#include "job_source.h"
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- lists --------------------------------------------------------------- */

static void print_json(const pai_json *j)
{
  (void)!pai_json_write(j, 0, cli_write, stdout, NULL);
  (void)putchar('\n');
}

static int print_list(const cli_template_query *query, bool json)
{
  pai_json *list;
  int code = CLI_OK;

  if (!cli_templates_list(&list, query))
    return CLI_NO;
  if (query->text != NULL && pai_json_count(list, 0) == 0 && !json) {
    cli_fail("no template has the text %s", query->text);
    code = CLI_NO;
  } else if (json) {
    print_json(list);
  } else {
    cli_print_table(stdout, cli_columns_templates, cli_each_of(list, 0));
  }
  pai_json_free(list);
  return code;
}

int cli_do_template_list(const cli_template_list_args *a)
{
  const cli_template_query query = { .tags = a->tag,
                                     .categories = a->category,
                                     .mine = a->mine };

  return print_list(&query, a->json);
}

int cli_do_template_search(const cli_template_search_args *a)
{
  const cli_template_query query = { .text = a->words[0] };

  return print_list(&query, a->json);
}

/* --- one ----------------------------------------------------------------- */

int cli_do_template_show(const cli_template_show_args *a)
{
  pai_json *item;
  cli_each one;

  if (!cli_template_find(&item, a->words[0]))
    return CLI_NO;
  if (a->json) {
    print_json(item);
  } else {
    one = (cli_each){ .json = item, .at = 0, .key = "" };
    cli_print_fields(stdout, cli_columns_template, &one);
    (void)printf("\n%s\n", cli_json_text(item, 0, "description"));
    (void)printf("\n%s", cli_json_text(item, 0, "protocol"));
  }
  pai_json_free(item);
  return CLI_OK;
}

/* Writes the job file with its parameters to standard output, or to a new
 * file. */
static int write_out(const cli_job_source *source, const char *file,
                     bool quiet)
{
  cli_job_file job;
  FILE *out = stdout;
  int code;

  cli_job_file_take(&job, source->file, source->text, source->len, NULL, true);
  code = cli_job_file_judge(&job, source->file);
  if (code == CLI_OK && file != NULL && strcmp(file, "-") != 0) {
    out = fopen(file, "wx");
    if (out == NULL)
      code = cli_write_fail(file, errno);
  }
  if (code == CLI_OK) {
    (void)fwrite(job.text, 1, job.len, out);
    if (out != stdout && fclose(out) != 0)
      code = cli_write_fail(file, errno);
    else if (out != stdout && !quiet)
      (void)fprintf(stderr, "note: written: %s\n", file);
  }
  cli_job_file_close(&job);
  return code;
}

int cli_do_template_use(const cli_template_use_args *a)
{
  static const cli_environment_options none;
  cli_submission s = { .name = a->name,
                       .quiet = a->quiet || !cli_is_terminal(stderr),
                       .no_notes = a->quiet };
  cli_job_source source = { .file = a->words[0],
                            .secrets = a->secrets,
                            .env = &none };
  pai_json *item;
  int code;

  if (!cli_own_job_name(a->name))
    return CLI_USAGE;
  if (!cli_template_find(&item, a->words[0]))
    return CLI_NO;
  source.text = cli_json_text(item, 0, "protocol");
  source.len = strlen(source.text);
  if (cli_json_has(item, 0, "id"))
    s.item = cli_json_text(item, 0, "id");
  code = a->submit ? cli_submit_source(&source, &s, a->json)
                   : write_out(&source, a->output, a->quiet);
  pai_json_free(item);
  return code;
}
