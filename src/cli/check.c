/* check.c - the loop over files of `spec check` and `cluster check`, and how
 * they tell people what they found */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* --- for people ----------------------------------------------------------- */

static void text_begin(void)
{
}

static void text_file(const cli_file *file, const cli_tally *tally)
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

static void quiet_file(const cli_file *file, const cli_tally *tally)
{
  (void)file;
  (void)tally;
}

static void quiet_end(const cli_tally *tally)
{
  (void)tally;
}

static const cli_form form_quiet = { text_begin, quiet_file, quiet_end };

/* --- all files ------------------------------------------------------------ */

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
static bool count_file(cli_tally *t, const cli_file *file)
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

static bool check_file(cli_tally *t, const cli_check *how, const char *name)
{
  cli_file file;
  bool counted;

  how->open(&file, name, how->options);
  counted = count_file(t, &file);
  if (counted)
    how->form->file(&file, t);
  if (file.report == NULL && cli_written()) /* after what it belongs to */
    cli_say(PAI_LOG_ERROR, file.why);
  pai_report_free(file.report);
  return counted;
}

int cli_check_files(const cli_check *how, char **names, int count)
{
  cli_tally t = { 0 };
  bool counted = true;

  how->form->begin();
  for (int i = 0; counted && i < count; i++)
    counted = check_file(&t, how, names[i]);
  if (counted)
    how->form->end(&t);
  else
    cli_fail("out of memory");
  for (size_t i = 0; i < t.ncodes; i++)
    free(t.codes[i]);
  free(t.codes);
  if (!counted || t.unread > 0)
    return CLI_USAGE;
  return t.errors > 0 || (how->strict && t.warnings > 0) ? CLI_NO : CLI_OK;
}

const cli_form *cli_check_form(const cli_verb *verb, bool json, bool sarif,
                               bool quiet)
{
  if (json + sarif + quiet > 1) {
    cli_misused(verb, verb->name,
                "--json, --sarif and --quiet exclude each other");
    return NULL;
  }
  return json    ? &cli_form_json
         : sarif ? &cli_form_sarif
         : quiet ? &form_quiet
                 : &form_text;
}
