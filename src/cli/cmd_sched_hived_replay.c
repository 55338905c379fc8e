/* cmd_sched_hived_replay.c - does again what was recorded of HiveD */
#include "cells.h"
#include "file.h"

#include <stdlib.h>
#include <string.h>

static const char *const verdicts[] = { "",       "done",
                                        "agrees", "alternative",
                                        "fixed",  "differs" };

/* One file, and where its configurations are. */
typedef struct replay {
  const char *file, *dir; /* dir: as asked for, or NULL */
  bool json;
  unsigned long counts[PAI_HIVED_DIFFERS + 1];
} replay;

static int hand_over(const char *path, pai_write_cb write, void *to)
{
  char *text = NULL;
  size_t len = 0;
  int rc =
    cli_read_file(&text, &len, path, 64 << 20) == 0 ? PAI_OK : PAI_ENOTFOUND;

  if (rc == PAI_OK)
    rc = write(to, text, len);
  free(text);
  return rc;
}

/* In the directory that was asked for; else in config/, beside the file or
 * beside its folder. */
static int find_config(void *user_data, const char *name, pai_write_cb write,
                       void *to)
{
  static const char *const places[] = { "config", "../config" };
  const replay *r = user_data;
  const char *slash = strrchr(r->file, '/');
  int folder = slash != NULL ? (int)(slash - r->file) + 1 : 0;
  char path[4096];
  int rc = PAI_ENOTFOUND;

  if (strchr(name, '/') != NULL)
    return PAI_ENOTFOUND;
  if (r->dir != NULL) {
    (void)snprintf(path, sizeof(path), "%s/%s", r->dir, name);
    return hand_over(path, write, to);
  }
  for (size_t i = 0; i < 2 && rc == PAI_ENOTFOUND; i++) {
    (void)snprintf(path, sizeof(path), "%.*s%s/%s", folder, r->file, places[i],
                   name);
    rc = hand_over(path, write, to);
  }
  return rc;
}

/* --- verdicts ------------------------------------------------------------- */

static void put_member(const char *key, const char *value)
{
  if (value == NULL)
    return;
  (void)printf(",\"%s\":", key);
  cli_json_string(stdout, value, strlen(value));
}

static void print_json(const replay *r, const pai_hived_verdict *v)
{
  (void)printf("{\"file\":");
  cli_json_string(stdout, r->file, strlen(r->file));
  (void)printf(",\"step\":%lld", (long long)v->step);
  if (v->name[0] != '\0')
    put_member("case", v->name);
  put_member("op", v->op);
  if (v->subject[0] != '\0')
    put_member("subject", v->subject);
  put_member("verdict", verdicts[v->kind]);
  put_member("fix", v->fix);
  put_member("place", v->place);
  put_member("want", v->want);
  put_member("got", v->got);
  (void)printf("}\n");
}

static void print_line(const pai_hived_verdict *v)
{
  const char *color = v->kind == PAI_HIVED_DIFFERS ? "\033[1;31m"
                      : v->kind == PAI_HIVED_FIXED ? "\033[33m"
                                                   : "";

  (void)printf("%s%-11s%s %6lld  %s", cli_style(stdout, color),
               verdicts[v->kind], cli_style(stdout, "\033[0m"),
               (long long)v->step, v->op);
  if (v->subject[0] != '\0')
    (void)printf(" %s", v->subject);
  if (v->fix != NULL)
    (void)printf(" (%s)", v->fix);
  if (v->place != NULL)
    (void)printf(": %s: want %s, got %s", v->place, v->want, v->got);
  (void)putchar('\n');
}

/* --- files ---------------------------------------------------------------- */

/* Steps have a line each, so columns would say little. */
static int fail_at(const replay *r, unsigned long line, pai_error *err)
{
  cli_print(stderr, cli_shown_name(r->file));
  (void)fprintf(stderr, ":%lu: ", line);
  cli_level(stderr, PAI_LOG_ERROR, pai_error_message(err));
  (void)fputc('\n', stderr);
  if (pai_error_help(err) != NULL)
    cli_help(stderr, pai_error_help(err));
  pai_error_free(err);
  return CLI_NO;
}

static int replay_text(replay *r, pai_hived_replay *replayed, const char *text,
                       size_t len)
{
  const char *end = text + len, *next;
  unsigned long line = 0;
  pai_hived_verdict v = { .struct_size = sizeof(v) };
  pai_error *err;

  for (; text < end; text = next) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));

    next = newline != NULL ? newline + 1 : end;
    line++;
    if (next - text == 1 && *text == '\n')
      continue;
    if (pai_hived_replay_step(replayed, text, (size_t)(next - text), &v,
                              &err) < 0)
      return fail_at(r, line, err);
    r->counts[v.kind]++;
    if (r->json)
      print_json(r, &v);
    else
      print_line(&v);
  }
  return r->counts[PAI_HIVED_DIFFERS] == 0 ? CLI_OK : CLI_NO;
}

static void summarize(const replay *r)
{
  unsigned long all = 0;

  for (int i = PAI_HIVED_DONE; i <= PAI_HIVED_DIFFERS; i++)
    all += r->counts[i];
  (void)fprintf(stderr, "%s: %lu steps", cli_shown_name(r->file), all);
  for (int i = PAI_HIVED_AGREES; i <= PAI_HIVED_DIFFERS; i++)
    if (r->counts[i] > 0)
      (void)fprintf(stderr, ", %s %lu", verdicts[i], r->counts[i]);
  (void)fputc('\n', stderr);
}

static int replay_file(const char *name, const char *dir, bool json)
{
  replay r = { .file = name, .dir = dir, .json = json };
  pai_hived_replay_options opts = PAI_HIVED_REPLAY_OPTIONS_INIT;
  pai_hived_replay *replayed;
  char *text = NULL, why[1024];
  pai_error *err;
  size_t len = 0;
  int error = cli_read_file(&text, &len, name, (size_t)1 << 30), code;

  if (error != 0) {
    cli_read_why(why, sizeof(why), name, error);
    cli_fail("%s", why);
    return CLI_NO;
  }
  opts.config = find_config;
  opts.user_data = &r;
  if (pai_hived_replay_new(&replayed, &opts, &err) < 0) {
    cli_error(NULL, err);
    pai_error_free(err);
    code = CLI_NO;
  } else {
    code = replay_text(&r, replayed, text, len);
    pai_hived_replay_free(replayed);
  }
  free(text);
  if (cli_is_terminal(stderr))
    summarize(&r);
  return code;
}

static int run(int argc, char **argv)
{
  bool json = false;
  const char *dir = NULL;
  const cli_option options[] = { { "config-dir", 0, NULL, &dir },
                                 { "json", 0, &json, NULL } };
  int words = cli_options(&cli_sched_hived_replay, options, 2, argc, argv);
  int code = CLI_OK;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words == 0) {
    cli_misused(&cli_sched_hived_replay, "this verb needs", "FILE");
    return CLI_USAGE;
  }
  for (int i = 0; i < words && cli_written(); i++)
    if (replay_file(argv[i], dir, json) != CLI_OK)
      code = CLI_NO;
  return code;
}

const cli_verb cli_sched_hived_replay = {
  .name = "sched hived-replay",
  .brief = "Repeat recorded decisions of HiveD, and compare",
  .usage = "[--config-dir DIR] [--json] FILE...",
  .help =
    "Each FILE has one step a line: a configuration to begin with, events of\n"
    "nodes and pods, and what HiveD decided.  Prints what came of each step:\n"
    "done, agrees, alternative (as HiveD itself does in another run), fixed\n"
    "(otherwise, by the defect of HiveD that is named), or differs.\n\n"
    "Configurations are looked up in DIR; without it in config/, beside FILE\n"
    "or beside its folder.\n\n"
    "  --config-dir DIR   where configurations are\n"
    "  --json             one JSON object a step\n\n"
    "Exits with 0 when nothing differs, 1 when something does or cannot be\n"
    "read, and 2 when called wrongly.\n",
  .run = run,
};
