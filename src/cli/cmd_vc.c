/* cmd_vc.c - virtual clusters of the platform: made, changed, stopped, removed */
#include "part.h"

#include <stdlib.h>
#include <string.h>

#define VCS "/api/v2/virtual-clusters"

/* VCS/NAME and what follows, for free(). */
static char *path_of(const char *name, const char *rest)
{
  return cli_path(VCS, name, rest);
}

/* One word, the name.  NULL, and told. */
static const char *want_name(const cli_verb *verb, int words, char **argv,
                             int argc)
{
  if (words == 1)
    return argv[0];
  if (words == 0)
    cli_misused(verb, "which virtual cluster?", argc > 0 ? argv[0] : "");
  else
    cli_misused(verb, "one virtual cluster at a time", argv[1]);
  return NULL;
}

/* --- adding and changing ------------------------------------------------------ */

typedef struct wishes {
  const char *part, *most, *description, *external;
  uint32_t capacity, max;
} wishes;

/* "25%", or 25, in hundredths.  False, and told. */
static bool read_percent(const cli_verb *verb, const char *option,
                         const char *text, uint32_t *out)
{
  uint32_t n = 0;
  int behind = -1; /* digits behind the point; -1: there is none */
  size_t i = 0;

  for (; (text[i] >= '0' && text[i] <= '9') ||
         (text[i] == '.' && behind < 0 && i > 0);
       i++) {
    if (text[i] == '.') {
      behind = 0;
      continue;
    }
    if (behind == 2 || n > PAI_VC_WHOLE)
      break;
    n = n * 10 + (uint32_t)(text[i] - '0');
    behind += behind >= 0;
  }
  if (i > 0 && behind != 0 &&
      (text[i] == '\0' || strcmp(text + i, "%") == 0)) {
    for (int k = behind < 0 ? 0 : behind; k < 2; k++)
      n *= 10;
    *out = n;
    if (n <= PAI_VC_WHOLE)
      return true;
  }
  cli_fail("--%s: not a share of the machine: %s", option, text);
  (void)fprintf(stderr,
                "  help: as 25%% or 33.33%%, up to 100%%; openpai %s "
                "--help\n",
                verb->name);
  return false;
}

static bool read_wishes(const cli_verb *verb, wishes *w)
{
  return (w->part == NULL ||
          read_percent(verb, "capacity", w->part, &w->capacity)) &&
         (w->most == NULL || read_percent(verb, "max", w->most, &w->max));
}

static void put_percent(FILE *out, const char *name, uint32_t n)
{
  (void)fprintf(out, "\"%s\":%u.%02u", name, n / 100, n % 100);
}

static bool put(cli_remote *r, const char *name, const wishes *w)
{
  char *path = path_of(name, ""), *body = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&body, &len);
  bool good = false;

  if (out != NULL) {
    (void)fputc('{', out);
    put_percent(out, "vcCapacity", w->capacity);
    (void)fputc(',', out);
    put_percent(out, "vcMaxCapacity", w->max);
    for (int i = 0; i < 2; i++) {
      const char *text = i == 0 ? w->description : w->external;
      if (text == NULL)
        continue;
      (void)fprintf(out, ",\"%s\":", i == 0 ? "description" : "externalName");
      cli_json_string(out, text, strlen(text));
    }
    (void)fputc('}', out);
    if (fclose(out) == 0 && path != NULL)
      good = cli_remote_do(r, "PUT", path, body);
  }
  free(body);
  free(path);
  return good;
}

static int run_add(int argc, char **argv)
{
  wishes w = { 0 };
  const cli_option options[] = { { "capacity", 'c', NULL, &w.part },
                                 { "max", 'm', NULL, &w.most },
                                 { "description", 0, NULL, &w.description },
                                 { "external-name", 0, NULL, &w.external },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_vc_add, options, 5, argc, argv), code = CLI_NO;
  const char *name;
  cli_remote r;
  char *path;
  bool there;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || (name = want_name(&cli_vc_add, words, argv, argc)) == NULL)
    return CLI_USAGE;
  if (w.part == NULL) {
    cli_misused(&cli_vc_add, "a share of the machine is required",
                "--capacity 25%");
    return CLI_USAGE;
  }
  if (!read_wishes(&cli_vc_add, &w))
    return CLI_USAGE;
  if (w.most == NULL)
    w.max = w.capacity;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  path = path_of(name, "");
  there = path != NULL && cli_remote_has(&r, path);
  free(path);
  if (there) {
    cli_fail("there is a virtual cluster %s already", name);
    cli_help(stderr, "openpai vc set changes it");
  } else if (put(&r, name, &w)) {
    code = CLI_OK;
  }
  cli_remote_close(&r);
  return code;
}

/* What is not said stays; a part that has no room to borrow gets none. */
static bool set(cli_remote *r, const char *name, wishes *w)
{
  char *path = path_of(name, "");
  uint32_t had, most;
  cli_json j;
  bool good = path != NULL && cli_remote_get(r, &j, path);

  free(path);
  if (!good)
    return false;
  had = cli_hundredths(&j, 0, "capacity");
  most = cli_hundredths(&j, 0, "maxCapacity");
  cli_json_free(&j);
  if (w->part == NULL)
    w->capacity = had;
  if (w->most == NULL)
    w->max = most != had && most > w->capacity ? most : w->capacity;
  return put(r, name, w);
}

static int run_set(int argc, char **argv)
{
  wishes w = { 0 };
  const cli_option options[] = { { "capacity", 'c', NULL, &w.part },
                                 { "max", 'm', NULL, &w.most },
                                 { "description", 0, NULL, &w.description },
                                 { "external-name", 0, NULL, &w.external },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_vc_set, options, 5, argc, argv), code = CLI_NO;
  const char *name;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || (name = want_name(&cli_vc_set, words, argv, argc)) == NULL)
    return CLI_USAGE;
  if (w.part == NULL && w.most == NULL && w.description == NULL &&
      w.external == NULL) {
    cli_misused(&cli_vc_set, "no change is given", name);
    return CLI_USAGE;
  }
  if (!read_wishes(&cli_vc_set, &w))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  if (set(&r, name, &w))
    code = CLI_OK;
  cli_remote_close(&r);
  return code;
}

#define PART_HELP                                                           \
  "  -c, --capacity PART   share of the GPUs, CPUs and memory, as 25% or\n" \
  "                        33.33%\n"                                        \
  "  -m, --max PART        most it may use, with idle capacity of other\n"  \
  "                        virtual clusters (default: its own capacity)\n"  \
  "  --description TEXT    purpose of the virtual cluster\n"                \
  "  --external-name TEXT  its name in another system\n"

const cli_verb cli_vc_add = {
  .name = "vc add",
  .brief = "Create a virtual cluster, a part of the machine",
  .usage = "--capacity PART [--max PART] [--description TEXT]\n"
           "             [--external-name TEXT] [--root DIR] NAME",
  .help =
    "A job uses a virtual cluster by its name in defaults.virtualCluster, "
    "and\n"
    "is held to its capacity, or to --max.  The virtual cluster `default` "
    "has\n"
    "the capacity that no other has.  NAME consists of letters, digits and "
    "_.\n"
    "\n" PART_HELP VC_ROOT_HELP "\n"
    "Exit status: 0 success, 1 the virtual cluster was refused, 2 usage\n"
    "error\n",
  .run = run_add,
};

const cli_verb cli_vc_set = {
  .name = "vc set",
  .brief = "Change a virtual cluster",
  .usage = "[--capacity PART] [--max PART] [--description TEXT]\n"
           "             [--external-name TEXT] [--root DIR] NAME",
  .help =
    "Settings without an option stay as they are.  Running jobs continue, "
    "even\n"
    "if they use more than the new capacity; it limits waiting jobs only.\n"
    "\n" PART_HELP VC_ROOT_HELP "\n"
    "Exit status: 0 success, 1 no such virtual cluster or refused, 2 usage\n"
    "error\n",
  .run = run_set,
};

/* --- stopping and removing ---------------------------------------------------- */

static int run_stop(int argc, char **argv)
{
  static const cli_change_of stopped = {
    .what = "which virtual cluster?",
    .method = "PUT",
    .start = VCS,
    .rest = "/status",
    .body = "{\"vcStatus\":\"stopped\"}",
  };

  return cli_run_change(&cli_vc_stop, argc, argv, &stopped);
}

const cli_verb cli_vc_stop = {
  .name = "vc stop",
  .brief = "Keep the jobs of virtual clusters from starting",
  .usage = "[--root DIR] NAME...",
  .help = "Running jobs continue.  New jobs are accepted and wait.\n"
          "\n" VC_ROOT_HELP "\n"
          "Exit status: 0 success, 1 no such virtual cluster, 2 usage error\n",
  .run = run_stop,
};

static int run_start(int argc, char **argv)
{
  static const cli_change_of started = {
    .what = "which virtual cluster?",
    .method = "PUT",
    .start = VCS,
    .rest = "/status",
    .body = "{\"vcStatus\":\"running\"}",
  };

  return cli_run_change(&cli_vc_start, argc, argv, &started);
}

const cli_verb cli_vc_start = {
  .name = "vc start",
  .brief = "Let the jobs of virtual clusters start again",
  .usage = "[--root DIR] NAME...",
  .help = "Undo 'openpai vc stop'.\n"
          "\n" VC_ROOT_HELP "\n"
          "Exit status: 0 success, 1 no such virtual cluster, 2 usage error\n",
  .run = run_start,
};

static int run_remove(int argc, char **argv)
{
  static const cli_change_of gone = {
    .what = "which virtual cluster?",
    .method = "DELETE",
    .start = VCS,
    .rest = "",
  };

  return cli_run_change(&cli_vc_remove, argc, argv, &gone);
}

const cli_verb cli_vc_remove = {
  .name = "vc remove",
  .brief = "Remove virtual clusters",
  .usage = "[--root DIR] NAME...",
  .help =
    "A virtual cluster with unfinished jobs is refused: stop the jobs first.\n"
    "Its capacity goes to `default`.\n"
    "\n" VC_ROOT_HELP "\n"
    "Exit status: 0 success, 1 no such virtual cluster or it has jobs, 2\n"
    "usage error\n",
  .run = run_remove,
};
