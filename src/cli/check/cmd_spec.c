/* cmd_spec.c - `spec convert`, `show`, `schema`, `render`, `diff` and `fmt` */
#include "cells.h"
#include "cli.h"
#include "job_file.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

static int convert(const cli_job_file *file, pai_spec_write_options options)
{
  pai_report *report = NULL;
  pai_error *err = NULL;
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  int code = CLI_NO;

  options.report = &report;
  if (out == NULL ||
      pai_spec_write(file->spec, &options, cli_write, out, &err) < 0) {
    if (out != NULL)
      (void)fclose(out);
    cli_fail("cannot convert %s: %s", cli_shown_name(file->file.name),
             out != NULL ? pai_error_message(err) : "out of memory");
  } else if (fclose(out) != 0) {
    cli_fail("out of memory");
  } else {
    if (report != NULL) /* what JSON cannot express */
      cli_print_findings(stderr, file->file.name, report);
    (void)cli_write(stdout, text, len);
    code = CLI_OK;
  }
  free(text);
  pai_report_free(report);
  pai_error_free(err);
  return code;
}

int cli_do_spec_convert(const cli_spec_convert_args *a)
{
  pai_spec_write_options write_options = PAI_SPEC_WRITE_OPTIONS_INIT;
  int code;
  cli_job_file file;

  if (a->json)
    write_options.format = PAI_FORMAT_JSON;
  write_options.secrets = a->show_secrets;
  code = cli_job_file_need(&file, a->words[0]);
  if (code == CLI_OK)
    code = convert(&file, write_options);
  cli_job_file_close(&file);
  return code;
}

static int show(const pai_spec *spec, bool json)
{
  pai_error *err = NULL;
  int code = CLI_OK;

  if (pai_spec_explain(spec, json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                       cli_write, stdout, &err) < 0) {
    cli_error(NULL, err);
    code = CLI_NO;
  }
  pai_error_free(err);
  return code;
}

int cli_do_spec_show(const cli_spec_show_args *a)
{
  int code;
  cli_job_file file;

  code = cli_job_file_need(&file, a->words[0]);
  if (code == CLI_OK)
    code = show(file.spec, a->json);
  cli_job_file_close(&file);
  return code;
}

/* Returns the version; 0: no such version. */
static int read_version(const char *word)
{
  return strcmp(word, "v1") == 0 ? 1 : strcmp(word, "v2") == 0 ? 2 : 0;
}

int cli_do_spec_schema(const cli_spec_schema_args *a)
{
  pai_error *err = NULL;
  int code = CLI_OK;

  if (pai_spec_schema(read_version(a->version), cli_write, stdout, &err) < 0) {
    cli_error(NULL, err);
    code = CLI_NO;
  }
  pai_error_free(err);
  return code;
}

/* Whether the role was asked for. */
static bool is_asked(const char *role, const char *name)
{
  return role == NULL || strcmp(role, name) == 0;
}

/* Prints lines unchanged for a program, without control characters on a
 * terminal. */
static void print_lines(const char *text)
{
  size_t len = strlen(text);

  if (cli_is_terminal(stdout))
    cli_print_lines(stdout, text);
  else
    (void)cli_write(stdout, text, len);
  (void)putchar('\n');
}

static void print_text(const pai_spec *spec, const char *role)
{
  bool headings = role == NULL && pai_spec_role_count(spec) > 1;
  const char *name;

  for (size_t i = 0; (name = pai_spec_role_name(spec, i)) != NULL; i++) {
    if (!is_asked(role, name))
      continue;
    if (headings)
      (void)printf("%s# %s\n", i > 0 ? "\n" : "", name);
    print_lines(pai_spec_role_script(spec, i));
  }
}

static void print_unresolved(const pai_spec *spec)
{
  const char *name;

  for (size_t i = 0; (name = pai_spec_unresolved(spec, i)) != NULL; i++) {
    cli_level(stderr, PAI_LOG_WARNING, "nothing stands for ");
    cli_print(stderr, name);
    (void)fputc('\n', stderr);
  }
}

static void print_json(const pai_spec *spec, const char *role)
{
  const char *name, *comma = "";

  (void)printf("{\"taskRoles\":{");
  for (size_t i = 0; (name = pai_spec_role_name(spec, i)) != NULL; i++) {
    if (!is_asked(role, name))
      continue;
    (void)printf("%s", comma);
    cli_json_print(stdout, "%s:{\"entrypoint\":%s}", name,
                   pai_spec_role_script(spec, i));
    comma = ",";
  }
  (void)printf("},\"unresolved\":[");
  for (size_t i = 0; (name = pai_spec_unresolved(spec, i)) != NULL; i++) {
    (void)printf("%s", i > 0 ? "," : "");
    cli_json_print(stdout, "%s", name);
  }
  (void)printf("]}\n");
}

static bool has_role(const pai_spec *spec, const char *role)
{
  const char *name;

  for (size_t i = 0; (name = pai_spec_role_name(spec, i)) != NULL; i++)
    if (is_asked(role, name))
      return true;
  cli_fail("%s has no task role '%s'", pai_spec_name(spec), role);
  (void)fprintf(stderr, "  help: there is");
  for (size_t i = 0; (name = pai_spec_role_name(spec, i)) != NULL; i++)
    (void)fprintf(stderr, "%s %s", i > 0 ? "," : "", name);
  (void)fprintf(stderr, "\n");
  return false;
}

static int render(const char *name, const char *role, bool json)
{
  cli_job_file file;
  int code = cli_job_file_need(&file, name);

  if (code == CLI_OK && !has_role(file.spec, role)) {
    code = CLI_USAGE;
  } else if (code == CLI_OK && json) {
    print_json(file.spec, role);
  } else if (code == CLI_OK) {
    print_unresolved(file.spec);
    print_text(file.spec, role);
  }
  cli_job_file_close(&file);
  return code;
}

int cli_do_spec_render(const cli_spec_render_args *a)
{
  return render(a->words[0], a->role, a->json);
}

typedef struct diff_state {
  bool json;
  size_t told;
} diff_state;

static const struct {
  const char *name, *sign, *color;
} kinds[] = {
  [PAI_CHANGE_ADDED] = { "added", "+", "\033[32m" },
  [PAI_CHANGE_REMOVED] = { "removed", "-", "\033[31m" },
  [PAI_CHANGE_CHANGED] = { "changed", "~", "\033[33m" },
  [PAI_CHANGE_MOVED] = { "moved", ">", "\033[36m" },
};

/* Two masked secrets look equal although they differ; this case gets its own
 * text. */
static bool are_masks(const pai_spec_change *c)
{
  return c->old_value != NULL && c->new_value != NULL &&
         strcmp(c->old_value, "\"******\"") == 0 &&
         strcmp(c->new_value, c->old_value) == 0;
}

/* Prints "+ /parameters/lr: 0.1", or "~ /taskRoles/a/instances: 1 -> 2". */
static void print_change(const pai_spec_change *c)
{
  (void)printf("%s%s ", cli_style(stdout, kinds[c->kind].color),
               kinds[c->kind].sign);
  cli_print(stdout, c->pointer);
  (void)printf(":%s ", cli_style(stdout, "\033[0m"));
  if (c->old_value != NULL)
    cli_print(stdout, c->old_value);
  if (c->old_value != NULL && c->new_value != NULL)
    (void)printf(" -> ");
  if (c->new_value != NULL)
    cli_print(stdout, c->new_value);
  if (are_masks(c))
    (void)printf(" (secret values that differ)");
  (void)printf("\n");
}

/* The values are already JSON. */
static void print_json_change(const pai_spec_change *c, bool first)
{
  (void)printf("%s\n", first ? "" : ",");
  cli_json_print(stdout, "{\"kind\":%s,\"pointer\":%s", kinds[c->kind].name,
                 c->pointer);
  if (c->old_value != NULL)
    (void)printf(",\"old\":%s", c->old_value);
  if (c->new_value != NULL)
    (void)printf(",\"new\":%s", c->new_value);
  (void)printf("}");
}

static int on_change(void *user_data, const pai_spec_change *change)
{
  diff_state *d = user_data;

  if (d->json)
    print_json_change(change, d->told == 0);
  else
    print_change(change);
  d->told++;
  return PAI_OK;
}

static int compare(const pai_spec *a, const pai_spec *b, bool json)
{
  diff_state d = { .json = json };
  pai_error *err = NULL;
  int rc;

  if (json)
    (void)printf("[");
  rc = pai_spec_diff(a, b, on_change, &d, &err);
  if (json)
    (void)printf("\n]\n");
  if (rc < 0)
    (void)cli_fail_with(NULL, err);
  return rc < 0 ? CLI_USAGE : rc > 0 ? CLI_NO : CLI_OK;
}

int cli_do_spec_diff(const cli_spec_diff_args *a)
{
  int code = CLI_USAGE;
  cli_job_file first, second;

  (void)cli_job_file_need(&first, a->words[0]);
  /* Report the errors of both files. */
  (void)cli_job_file_need(&second, a->words[1]);
  if (first.spec != NULL && second.spec != NULL)
    code = compare(first.spec, second.spec, a->json);
  cli_job_file_close(&first);
  cli_job_file_close(&second);
  return code;
}

typedef struct fmt_state {
  bool write; /* write to the files instead of stdout */
  bool check; /* only report what would change */
  bool differs;
} fmt_state;

static int put(fmt_state *f, const char *name, const char *text, size_t len,
               const char *was, size_t was_len)
{
  bool differs = len != was_len || memcmp(text, was, len) != 0;
  const char *why;

  f->differs = f->differs || differs;
  if (f->check && differs && cli_is_terminal(stdout))
    cli_print(stdout, cli_shown_name(name));
  else if (f->check && differs)
    (void)printf("%s", cli_shown_name(name));
  if (f->check && differs)
    (void)putchar('\n');
  if (!f->check && !f->write)
    (void)cli_write(stdout, text, len);
  why =
    f->write && differs ? cli_replace(name, was, was_len, text, len) : NULL;
  if (why == NULL)
    return CLI_OK;
  cli_fail("cannot write %s: %s", name, why);
  return CLI_USAGE;
}

static int format(fmt_state *f, const char *name, const char *text, size_t len)
{
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  const char *now;
  size_t now_len;
  int code = CLI_NO, rc = pai_draft_new(&draft, text, len, NULL, &err);

  if (rc == PAI_OK)
    rc = pai_draft_format(draft, &err);
  if (rc < 0) {
    cli_error(cli_shown_name(name), err);
  } else {
    now = pai_draft_text(draft, &now_len);
    code = put(f, name, now, now_len, text, len);
  }
  pai_error_free(err);
  pai_draft_free(draft);
  return code;
}

static int format_files(fmt_state *f, char **names, int count)
{
  int worst = CLI_OK;

  for (int i = 0; i < count; i++) {
    char *text = NULL;
    size_t len = 0;
    int code = cli_read(&text, &len, names[i], CLI_JOB_FILE);

    if (code == CLI_OK)
      code = format(f, names[i], text, len);
    free(text);
    worst = code > worst ? code : worst;
  }
  return worst == CLI_OK && f->check && f->differs ? CLI_NO : worst;
}

int cli_do_spec_fmt(const cli_spec_fmt_args *a)
{
  fmt_state f = { .write = a->write, .check = a->check };

  if (a->count > 1 && !f.write && !f.check)
    return cli_misused(cli_verb_now->name, "one job file at a time, or give "
                                           "--write or --check");
  for (int i = 0; f.write && i < a->count; i++)
    if (strcmp(a->words[i], "-") == 0)
      return cli_misused(cli_verb_now->name,
                         "standard input cannot be written");
  return format_files(&f, a->words, a->count);
}
