/* cmd_spec_render.c - the commands of each task role as they will run */
#include "cells.h"
#include "job_file.h"

#include <string.h>

/* Whether the role is one of those asked for. */
static bool is_asked(const char *role, const char *name)
{
  return role == NULL || strcmp(role, name) == 0;
}

/* For a program as they are, for a terminal without what would act on it. */
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
  const char *name, *script, *comma = "";

  (void)printf("{\"taskRoles\":{");
  for (size_t i = 0; (name = pai_spec_role_name(spec, i)) != NULL; i++) {
    if (!is_asked(role, name))
      continue;
    script = pai_spec_role_script(spec, i);
    (void)printf("%s", comma);
    cli_json_string(stdout, name, strlen(name));
    (void)printf(":{\"entrypoint\":");
    cli_json_string(stdout, script, strlen(script));
    (void)printf("}");
    comma = ",";
  }
  (void)printf("},\"unresolved\":[");
  for (size_t i = 0; (name = pai_spec_unresolved(spec, i)) != NULL; i++) {
    (void)printf("%s", i > 0 ? "," : "");
    cli_json_string(stdout, name, strlen(name));
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

static int run(int argc, char **argv)
{
  const char *role = NULL;
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "role", 0, NULL, &role },
                                 { "param", 'p', NULL,
                                   cli_parameters.words } };
  int words = cli_options(&cli_spec_render, options, 3, argc, argv);

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words != 1) {
    cli_misused(&cli_spec_render, "spec render",
                words == 0 ? "which job file?" : "one job file at a time");
    return CLI_USAGE;
  }
  return render(argv[0], role, json);
}

const cli_verb cli_spec_render = {
  .name = "spec render",
  .brief = "Show the commands of each task role as they will run",
  .usage = "[--json] [--role ROLE] [-p NAME=VALUE]... FILE",
  .help =
    "Templates are filled in, except secrets.  A template whose name is "
    "unknown\n"
    "is printed unchanged, with a warning.  FILE - is standard input.\n"
    "\n"
    "  --json       print one JSON object\n"
    "  --role ROLE  task role to show (default: all)\n"
    "  -p, --param NAME=VALUE\n"
    "               parameter in place of the file's; repeatable.  VALUE is\n"
    "               text, as 007 and 1.10; JSON numbers, true, false, null,\n"
    "               \"texts\", lists and objects keep their type\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 the file is invalid or output cannot be\n"
    "written, 2 the file cannot be read, no such task role, or usage error\n",
  .run = run,
};
