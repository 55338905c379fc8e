/* cmd_spec_fmt.c - brings job files into their canonical layout */
#include "cells.h"
#include "job_file.h"

#include <stdlib.h>
#include <string.h>

typedef struct fmt_state {
  bool write; /* to the files; else to stdout */
  bool check; /* say what would change, and change nothing */
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
    int code = cli_read(&text, &len, names[i]);

    if (code == CLI_OK)
      code = format(f, names[i], text, len);
    free(text);
    worst = code > worst ? code : worst;
  }
  return worst == CLI_OK && f->check && f->differs ? CLI_NO : worst;
}

static int run(int argc, char **argv)
{
  fmt_state f = { 0 };
  const cli_option options[] = { { "write", 'w', &f.write, NULL },
                                 { "check", 0, &f.check, NULL } };
  int words = cli_options(&cli_spec_fmt, options, 2, argc, argv);
  const char *wrong = NULL;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words == 0)
    wrong = "which job files?";
  else if (f.write && f.check)
    wrong = "--write and --check exclude each other";
  else if (words > 1 && !f.write && !f.check)
    wrong = "one job file at a time, or give --write or --check";
  for (int i = 0; f.write && i < words; i++)
    if (strcmp(argv[i], "-") == 0)
      wrong = "standard input cannot be written";
  if (wrong != NULL) {
    cli_misused(&cli_spec_fmt, "spec fmt", wrong);
    return CLI_USAGE;
  }
  return format_files(&f, argv, words);
}

const cli_verb cli_spec_fmt = {
  .name = "spec fmt",
  .brief = "Format job files",
  .usage = "[--write|--check] FILE...",
  .help =
    "Comments, the order of keys, the meaning of the file and its secrets "
    "are\n"
    "kept.  FILE may be any YAML or JSON, not only a valid job.  The result "
    "of\n"
    "one FILE is printed; - reads standard input.\n"
    "\n"
    "  -w, --write  write the results to the files\n"
    "  --check      print the names of files that would change\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 a file would change (--check), a file is\n"
    "neither YAML nor JSON, or output cannot be written, 2 a file cannot\n"
    "be read or written, or usage error\n",
  .run = run,
};
