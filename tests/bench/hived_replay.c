/*
 * hived_replay.c - repeats recorded decisions of HiveD, and compares
 *
 *   openpai-bench hived-replay [--config-dir DIR] [--json] FILE...
 */
#include "bench.h"

#include "json/writer.h"

#include "hived/replay.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_CONFIG = 64 << 20, MOST_FILE = 1 << 30 };

static const char usage[] =
  "usage: openpai-bench hived-replay [--config-dir DIR] [--json] FILE...\n"
  "\n"
  "Repeat and compare recorded decisions of HiveD.  Each FILE holds one step "
  "a\n"
  "line: an initial configuration, events of nodes and pods, and HiveD's\n"
  "decisions.  Print a result for each step:\n"
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
  "usage error\n";

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
  unsigned long counts[HIVED_DIFFERS + 1];
} replay;

/* --- reading -------------------------------------------------------------- */

static const char *shown_name(const char *path)
{
  return strcmp(path, "-") != 0 ? path : "<stdin>";
}

/* All of a file, up to `most` bytes; returns 0 or an errno. */
static int read_file(pai__buf *text, const char *path, size_t most)
{
  FILE *in = strcmp(path, "-") != 0 ? fopen(path, "rb") : stdin;
  char chunk[65536];
  size_t n = 1;
  int error = 0;

  if (in == NULL)
    return errno;
  while (n > 0 && text->len <= most) {
    n = fread(chunk, 1, sizeof(chunk), in);
    pai__buf_add(text, chunk, n);
  }
  if (ferror(in))
    error = errno;
  else if (!pai__buf_ok(text))
    error = ENOMEM;
  if (in != stdin)
    (void)fclose(in);
  return error;
}

/* What is there and cannot be read is told rather than where nothing is. */
static int hand_over(replay *r, const char *path, pai_write_cb write, void *to)
{
  pai__buf text;
  int error, rc = PAI_EIO;

  pai__buf_init(&text, &pai__libc_alloc);
  error = read_file(&text, path, MOST_CONFIG);
  if (error == 0)
    rc = write(to, pai__buf_text(&text), text.len);
  else if (error == ENOENT)
    rc = PAI_ENOTFOUND;
  pai__buf_dispose(&text);
  if (error == 0)
    r->why[0] = '\0';
  else if (error != ENOENT)
    (void)snprintf(r->why, sizeof(r->why), "cannot read %s: %s", path,
                   strerror(error));
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

static void put_member(pai__json_writer *w, const char *key, const char *value)
{
  if (value == NULL)
    return;
  pai__json_put_text(w, key, value);
}

static void put_number(pai__json_writer *w, const char *key, int64_t value)
{
  pai__json_put_int(w, key, value);
}

static void print_json(const replay *r, const hived_verdict *v)
{
  pai__json_writer w;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_object(&w);
  put_member(&w, "file", r->file);
  put_number(&w, "line", (int64_t)r->line);
  if (v->step >= 0)
    put_number(&w, "step", v->step);
  if (v->name[0] != '\0')
    put_member(&w, "case", v->name);
  put_member(&w, "op", v->op);
  if (v->subject[0] != '\0')
    put_member(&w, "subject", v->subject);
  put_member(&w, "verdict", verdicts[v->kind]);
  put_member(&w, "fix", v->fix);
  put_member(&w, "place", v->place);
  put_member(&w, "want", v->want);
  put_member(&w, "got", v->got);
  pai__json_end_object(&w);
  if (pai__json_finish(&w) == PAI_OK)
    (void)puts(pai__buf_text(&b));
  pai__buf_dispose(&b);
}

/* By its number, or its line where it has none. */
static void print_line(const replay *r, const hived_verdict *v)
{
  (void)printf("%-11s %6lld  %s", verdicts[v->kind],
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
  (void)fprintf(stderr, "%s:%lu: error: %s\n", shown_name(r->file), r->line,
                pai_error_message(err));
  if (help != NULL)
    (void)fprintf(stderr, "  help: %s\n", help);
  pai_error_free(err);
  return 1;
}

static bool is_blank(const char *line, const char *end)
{
  while (line < end && strchr(" \t\r\n", *line) != NULL)
    line++;
  return line == end;
}

static int replay_text(replay *r, hived_replay *replayed, const char *text,
                       size_t len)
{
  const char *at = text, *end = text + len, *next;
  hived_verdict v;
  pai_error *err;

  r->first = true;
  for (; at < end; at = next) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    next = newline != NULL ? newline + 1 : end;
    r->line++;
    if (is_blank(at, next))
      continue;
    if (hived_replay_step(replayed, at, (size_t)(next - at), &v, &err) < 0)
      return fail_at(r, text, len, err);
    r->first = false;
    r->counts[v.kind]++;
    if (r->json)
      print_json(r, &v);
    else
      print_line(r, &v);
  }
  if (r->first) {
    (void)fprintf(stderr, "openpai-bench: error: %s has no steps\n",
                  shown_name(r->file));
    return 1;
  }
  return r->counts[HIVED_DIFFERS] == 0 ? 0 : 1;
}

static void summarize(const replay *r)
{
  unsigned long all = 0;

  for (int i = HIVED_DONE; i <= HIVED_DIFFERS; i++)
    all += r->counts[i];
  (void)fprintf(stderr, "%s: %lu steps", shown_name(r->file), all);
  for (int i = HIVED_AGREES; i <= HIVED_DIFFERS; i++)
    if (r->counts[i] > 0)
      (void)fprintf(stderr, ", %s %lu", verdicts[i], r->counts[i]);
  (void)fputc('\n', stderr);
}

static int replay_file(const char *name, const char *dir, bool json)
{
  replay r = { .file = name, .dir = dir, .json = json };
  hived_replay *replayed;
  pai__buf text;
  int error, code = 1;

  pai__buf_init(&text, &pai__libc_alloc);
  error = read_file(&text, name, MOST_FILE);
  if (error != 0)
    (void)fprintf(stderr, "openpai-bench: error: cannot read %s: %s\n", name,
                  strerror(error));
  else if (hived_replay_new(&replayed, NULL, find_config, &r) == PAI_OK) {
    code = replay_text(&r, replayed, pai__buf_text(&text), text.len);
    hived_replay_free(replayed);
  }
  pai__buf_dispose(&text);
  if (isatty(STDERR_FILENO) == 1)
    summarize(&r);
  return code;
}

int bench_hived_replay(int argc, char **argv)
{
  static const struct option options[] = {
    { "config-dir", required_argument, NULL, 'c' },
    { "json", no_argument, NULL, 'j' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
  };
  const char *dir = NULL;
  bool json = false;
  int c, code = 0;

  /* getopt_long() begins behind the name of the program, as this was called. */
  while ((c = getopt_long(argc + 1, argv - 1, "h", options, NULL)) != -1) {
    if (c == 'h') {
      (void)fputs(usage, stdout);
      return 0;
    }
    if (c == '?')
      return 2;
    if (c == 'c')
      dir = optarg;
    else
      json = true;
  }
  if (optind > argc) {
    (void)fputs(usage, stderr);
    return 2;
  }
  for (int i = optind - 1; i < argc; i++)
    if (replay_file(argv[i], dir, json) != 0)
      code = 1;
  return code;
}
