/* cmd_spec_check.c - finds all that is wrong with job files */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* --- for people ----------------------------------------------------------- */

static void text_begin(void)
{
}

static void text_file(const cli_job_file *file, const cli_tally *tally)
{
  (void)tally;
  if (file->report != NULL)
    cli_print_findings(stdout, file->name, file->report);
}

/* "2 errors" and what parts it from what came before; nothing for 0. */
static void print_count(size_t count, const char *what, const char **comma)
{
  if (count == 0)
    return;
  (void)printf("%s%zu %s%s", *comma, count, what, count == 1 ? "" : "s");
  *comma = ", ";
}

static void text_end(const cli_tally *t)
{
  const char *comma = "";

  if (t->files == 1 && (t->unread > 0 || !cli_is_terminal(stdout)))
    return;
  print_count(t->errors, "error", &comma);
  print_count(t->warnings, "warning", &comma);
  if (t->with_findings == 0)
    (void)printf("nothing wrong");
  if (t->files > 1 && t->with_findings == 0)
    (void)printf(" in %zu files", t->files - t->unread);
  else if (t->files > 1)
    (void)printf(" in %zu of %zu files", t->with_findings,
                 t->files - t->unread);
  if (t->unread > 0)
    (void)printf("; %zu could not be read", t->unread);
  (void)printf("\n");
}

static const cli_form form_text = { text_begin, text_file, text_end };

/* --- for a script that only asks ------------------------------------------ */

static void quiet_file(const cli_job_file *file, const cli_tally *tally)
{
  (void)file;
  (void)tally;
}

static void quiet_end(const cli_tally *tally)
{
  (void)tally;
}

static const cli_form form_quiet = { text_begin, quiet_file, quiet_end };

/* --- the verb ------------------------------------------------------------- */

static bool count_code(cli_tally *t, const char *code)
{
  size_t at = 0;
  char **more, *copy;

  while (at < t->ncodes && strcmp(t->codes[at], code) < 0)
    at++;
  if (at < t->ncodes && strcmp(t->codes[at], code) == 0)
    return true;
  copy = strdup(code);
  more = realloc(t->codes, (t->ncodes + 1) * sizeof(*more));
  if (more != NULL)
    t->codes = more;
  if (copy == NULL || more == NULL) {
    free(copy);
    return false;
  }
  memmove(more + at + 1, more + at, (t->ncodes - at) * sizeof(*more));
  more[at] = copy;
  t->ncodes++;
  return true;
}

/* False when memory is short. */
static bool count_file(cli_tally *t, const cli_job_file *file)
{
  const pai_diagnostic *d;

  t->files++;
  if (file->report == NULL) {
    t->unread++;
    return count_code(t, "unreadable");
  }
  t->with_findings += pai_report_count(file->report) > 0;
  for (size_t i = 0; (d = pai_report_get(file->report, i)) != NULL; i++) {
    if (d->severity == PAI_SEVERITY_ERROR)
      t->errors++;
    else
      t->warnings++;
    if (!count_code(t, d->code))
      return false;
  }
  return true;
}

static bool check_file(cli_tally *t, const cli_form *form, const char *name,
                       const pai_spec_options *options)
{
  cli_job_file file;
  bool counted;

  cli_job_file_open(&file, name, options, false);
  counted = count_file(t, &file);
  if (counted)
    form->file(&file, t);
  if (file.report == NULL && cli_written()) /* after what it belongs to */
    cli_say(PAI_LOG_ERROR, file.why);
  cli_job_file_close(&file);
  return counted;
}

static int check_files(const cli_form *form, char **names, int count,
                       const pai_spec_options *options, bool strict)
{
  cli_tally t = { 0 };
  bool counted = true;

  form->begin();
  for (int i = 0; counted && i < count; i++)
    counted = check_file(&t, form, names[i], options);
  if (counted)
    form->end(&t);
  else
    cli_fail("out of memory");
  for (size_t i = 0; i < t.ncodes; i++)
    free(t.codes[i]);
  free(t.codes);
  if (!counted || t.unread > 0)
    return CLI_USAGE;
  return t.errors > 0 || (strict && t.warnings > 0) ? CLI_NO : CLI_OK;
}

static int run(int argc, char **argv)
{
  bool json = false, sarif = false, strict = false, hived = false;
  bool quiet = false;
  const cli_option options[] = {
    { "json", 0, &json, NULL },     { "sarif", 0, &sarif, NULL },
    { "strict", 0, &strict, NULL }, { "hived", 0, &hived, NULL },
    { "quiet", 'q', &quiet, NULL },
  };
  pai_spec_options spec_options = PAI_SPEC_OPTIONS_INIT;
  int words = cli_options(&cli_spec_check, options, 5, argc, argv);

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words == 0 || json + sarif + quiet > 1) {
    cli_misused(&cli_spec_check, "spec check",
                words == 0 ? "which job files?"
                           : "--json, --sarif and --quiet exclude each other");
    return CLI_USAGE;
  }
  spec_options.hived = hived;
  return check_files(json    ? &cli_form_json
                     : sarif ? &cli_form_sarif
                     : quiet ? &form_quiet
                             : &form_text,
                     argv, words, &spec_options, strict);
}

const cli_verb cli_spec_check = {
  .name = "spec check",
  .brief = "Find all that is wrong with job files",
  .usage = "[--json|--sarif|--quiet] [--strict] [--hived] FILE...",
  .help =
    "Each FILE is a job of protocol v2, YAML or JSON, or a job config v1;\n"
    "- reads standard input.  Errors make a file invalid; warnings tell of\n"
    "what is legal and surely not meant.  Values of secrets are not shown.\n\n"
    "  --json       print one JSON array with an object for each file\n"
    "  --sarif      print SARIF 2.1.0\n"
    "  -q, --quiet  print nothing: the exit code tells\n"
    "  --strict     warnings count as errors for the exit code\n"
    "  --hived      check extras.hivedScheduler too, as a cluster that has\n"
    "               HiveD does\n"
    "  -h, --help\n\n"
    "Exit code: 0 all are valid; 1 some are not, or output cannot be\n"
    "written; 2 a file cannot be read, or usage.\n",
  .run = run,
};
