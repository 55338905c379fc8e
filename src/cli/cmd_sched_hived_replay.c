/* cmd_sched_hived_replay.c - does again what was recorded of HiveD */
#include "cells.h"
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const verdicts[] = { "",       "done",
                                        "agrees", "alternative",
                                        "fixed",  "differs" };

/* One file, and where its configurations are. */
typedef struct replay {
  const char *file, *dir; /* dir: as asked for, or NULL */
  bool json;
  unsigned long line;
  bool first;     /* nothing was read before */
  char why[1024]; /* no configuration could be read; "" before */
  unsigned long counts[PAI_HIVED_DIFFERS + 1];
} replay;

/* What is there and cannot be read is told rather than where nothing is. */
static int hand_over(replay *r, const char *path, pai_write_cb write, void *to)
{
  char *text = NULL;
  size_t len = 0;
  int error = cli_read_file(&text, &len, path, 64 << 20);
  int rc = error == 0        ? write(to, text, len)
           : error == ENOENT ? PAI_ENOTFOUND
                             : PAI_EIO;

  free(text);
  if (error == 0)
    r->why[0] = '\0';
  else if (error != ENOENT)
    cli_read_why(r->why, sizeof(r->why), path, error);
  return rc;
}

/* In the directory that was asked for; else in config/, beside the file or
 * beside its folder. */
static int find_config(void *user_data, const char *name, pai_write_cb write,
                       void *to)
{
  static const char *const places[] = { "config", "../config" };
  replay *r = user_data;
  const char *slash = strrchr(r->file, '/');
  int folder = slash != NULL ? (int)(slash - r->file) + 1 : 0;
  char path[4096];
  int rc = PAI_ENOTFOUND;

  if (strchr(name, '/') != NULL) {
    (void)snprintf(r->why, sizeof(r->why),
                   "a configuration is named without its folder");
    return PAI_ENOTFOUND;
  }
  if (r->dir != NULL) {
    (void)snprintf(r->why, sizeof(r->why), "it is not in %s", r->dir);
    (void)snprintf(path, sizeof(path), "%s/%s", r->dir, name);
    return hand_over(r, path, write, to);
  }
  (void)snprintf(r->why, sizeof(r->why),
                 "it is neither in %.*sconfig nor in %.*s../config; "
                 "--config-dir names another folder",
                 folder, r->file, folder, r->file);
  for (size_t i = 0; i < 2 && rc == PAI_ENOTFOUND; i++) {
    (void)snprintf(path, sizeof(path), "%.*s%s/%s", folder, r->file, places[i],
                   name);
    rc = hand_over(r, path, write, to);
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
  (void)printf(",\"line\":%lu", r->line);
  if (v->step >= 0)
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

/* By its number, or its line where it has none. */
static void print_line(const replay *r, const pai_hived_verdict *v)
{
  const char *color = v->kind == PAI_HIVED_DIFFERS ? "\033[1;31m"
                      : v->kind == PAI_HIVED_FIXED ? "\033[33m"
                                                   : "";

  (void)printf("%s%-11s%s %6lld  %s", cli_style(stdout, color),
               verdicts[v->kind], cli_style(stdout, "\033[0m"),
               v->step >= 0 ? (long long)v->step : (long long)r->line, v->op);
  if (v->subject[0] != '\0')
    (void)printf(" %s", v->subject);
  if (strcmp(v->op, "init") == 0 && v->name[0] != '\0')
    (void)printf(" of %s", v->name);
  if (v->fix != NULL)
    (void)printf(" (%s)", v->fix);
  if (v->place != NULL)
    (void)printf(": %s: want %s, got %s", v->place, v->want, v->got);
  (void)putchar('\n');
}

/* --- files ---------------------------------------------------------------- */

static bool has_word(const char *text, size_t len, const char *word)
{
  size_t n = strlen(word);

  for (size_t i = 0; i + n <= len; i++)
    if (memcmp(text + i, word, n) == 0)
      return true;
  return false;
}

/* What a text is that is no record, as its beginning looks. */
static const char *other_kind(const char *text, size_t len)
{
  if (memchr(text, '\0', len) != NULL)
    return "it is no text";
  if (has_word(text, len, "physicalCluster:"))
    return "HiveD's configuration is read by `openpai cluster check`; a "
           "record "
           "names it";
  if (text[0] == '[' || text[0] == '{')
    return "a record has one JSON object a line";
  return "a record of HiveD has one step a line, in JSON";
}

/* Steps have a line each, so columns would say little. */
static int fail_at(const replay *r, const char *text, size_t len,
                   pai_error *err)
{
  const char *help = pai_error_help(err);

  if (help == NULL && r->why[0] != '\0')
    help = r->why;
  else if (help == NULL && r->first && pai_error_line(err) > 0)
    help = other_kind(text, len < 65536 ? len : 65536);
  cli_print(stderr, cli_shown_name(r->file));
  (void)fprintf(stderr, ":%lu: ", r->line);
  cli_level(stderr, PAI_LOG_ERROR, pai_error_message(err));
  (void)fputc('\n', stderr);
  if (help != NULL)
    cli_help(stderr, help);
  pai_error_free(err);
  return CLI_NO;
}

static bool is_blank(const char *line, const char *end)
{
  while (line < end && strchr(" \t\r\n", *line) != NULL)
    line++;
  return line == end;
}

static int replay_text(replay *r, pai_hived_replay *replayed, const char *text,
                       size_t len)
{
  const char *at = text, *end = text + len, *next;
  pai_hived_verdict v = { .struct_size = sizeof(v) };
  pai_error *err;

  r->first = true;
  for (; at < end; at = next) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    next = newline != NULL ? newline + 1 : end;
    r->line++;
    if (is_blank(at, next))
      continue;
    if (pai_hived_replay_step(replayed, at, (size_t)(next - at), &v, &err) < 0)
      return fail_at(r, text, len, err);
    r->first = false;
    r->counts[v.kind]++;
    if (r->json)
      print_json(r, &v);
    else
      print_line(r, &v);
  }
  if (r->first) {
    cli_fail("%s has no steps", cli_shown_name(r->file));
    return CLI_NO;
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
    cli_misused(&cli_sched_hived_replay, "this verb requires", "FILE");
    return CLI_USAGE;
  }
  for (int i = 0; i < words && cli_written(); i++)
    if (replay_file(argv[i], dir, json) != CLI_OK)
      code = CLI_NO;
  return code;
}

const cli_verb cli_sched_hived_replay = {
  .name = "sched hived-replay",
  .brief = "Repeat and compare recorded decisions of HiveD",
  .usage = "[--config-dir DIR] [--json] FILE...",
  .help =
    "Each FILE holds one step a line: an initial configuration, events of "
    "nodes\n"
    "and pods, and HiveD's decisions.  Print a result for each step:\n"
    "\n"
    "  done         a step without a decision\n"
    "  agrees       the same decision\n"
    "  alternative  a decision that HiveD itself makes in another run\n"
    "  fixed        another decision, because of the named defect of HiveD\n"
    "  differs      another decision\n"
    "\n"
    "  --config-dir DIR   folder of the configurations (default: config, "
    "beside\n"
    "                     FILE or beside its folder)\n"
    "  --json             print one JSON object a step\n"
    "\n"
    "Exit status: 0 no difference, 1 a difference or an invalid record, 2\n"
    "usage error\n",
  .run = run,
};
