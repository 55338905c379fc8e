/* cmd_node.c - the platform's machine: shown, taken out of use and back */
#include "part.h"

#include <stdlib.h>
#include <string.h>

#define NODES "/api/v2/nodes"

static const char *state_style(const char *state)
{
  return cli_style(stdout, strcmp(state, "up") == 0     ? "\033[32m"
                           : strcmp(state, "sick") == 0 ? "\033[31m"
                                                        : "\033[33m");
}

static int64_t number(const cli_json *j, size_t node, const char *key)
{
  return cli_json_number(j, node, key, 0);
}

static void put_row(const cli_json *j, size_t n, int width)
{
  const char *state = cli_json_text(j, n, "state");
  const char *why = cli_json_text(j, n, "why");
  char free_text[32], all[32];

  cli_memory_text(free_text, sizeof(free_text), number(j, n, "freeMemory"));
  cli_memory_text(all, sizeof(all), number(j, n, "memory"));
  (void)printf("%-*s  %s%-7s%s", width, cli_json_text(j, n, "name"),
               state_style(state), state, cli_style(stdout, "\033[0m"));
  cli_print_use(stdout,
                number(j, n, "gpus") - number(j, n, "freeGpus") -
                  number(j, n, "sickGpus"),
                number(j, n, "gpus"));
  cli_print_use(stdout, number(j, n, "cpus") - number(j, n, "freeCpus"),
                number(j, n, "cpus"));
  (void)printf("  %s of %s  %s\n", free_text, all, why);
}

static int list(cli_remote *r)
{
  int bar = cli_is_terminal(stdout) ? 12 : 0;
  size_t width = 4;
  cli_json j;

  if (!cli_remote_get(r, &j, NODES))
    return CLI_NO;
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i))
    if (strlen(cli_json_text(&j, i, "name")) > width)
      width = strlen(cli_json_text(&j, i, "name"));
  (void)printf("%-*s  %-7s  %*s%7s  %*s%7s  %s\n", (int)width, "NAME", "STATE",
               bar, "", "GPUS", bar, "", "CPUS", "FREE MEMORY");
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i))
    put_row(&j, i, (int)width);
  cli_json_free(&j);
  return CLI_OK;
}

static int run_list(int argc, char **argv)
{
  return cli_run_list(&cli_node_list, argc, argv, NODES, list);
}

const cli_verb cli_node_list = {
  .name = "node list",
  .brief = "List the platform's machines and their use",
  .usage = "[--json] [--root DIR]",
  .help =
    "  --json                the list of GET /api/v2/nodes\n" VC_ROOT_HELP
    "\nExit status: 0 success, 1 the platform cannot be asked, 2 usage "
    "error\n",
  .run = run_list,
};

/* --- one ---------------------------------------------------------------------- */

static void put_line(const cli_json *j, const char *title, const char *all,
                     const char *left)
{
  (void)printf("%-8s  %lld, of which %lld are free\n", title,
               (long long)number(j, 0, all), (long long)number(j, 0, left));
}

static int show(cli_remote *r, const char *path, bool json)
{
  char left[32], all[32];
  cli_json j;

  if (json)
    return cli_print_answer(r, path);
  if (!cli_remote_get(r, &j, path))
    return CLI_NO;
  (void)printf("%-8s  %s\n%-8s  %s", "name", cli_json_text(&j, 0, "name"),
               "state", cli_json_text(&j, 0, "state"));
  if (cli_json_text(&j, 0, "why")[0] != '\0')
    (void)printf(": %s", cli_json_text(&j, 0, "why"));
  (void)printf("\n%-8s  %s\n", "address", cli_json_text(&j, 0, "address"));
  put_line(&j, "GPUs", "gpus", "freeGpus");
  if (number(&j, 0, "sickGpus") != 0)
    (void)printf("%-8s  %lld GPUs\n", "sick",
                 (long long)number(&j, 0, "sickGpus"));
  put_line(&j, "CPUs", "cpus", "freeCpus");
  cli_memory_text(left, sizeof(left), number(&j, 0, "freeMemory"));
  cli_memory_text(all, sizeof(all), number(&j, 0, "memory"));
  (void)printf("%-8s  %s, of which %s are free\n", "memory", all, left);
  cli_json_free(&j);
  return CLI_OK;
}

static int run_show(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_node_show, options, 2, argc, argv);
  int code = CLI_NO;
  cli_remote r;
  char *path;

  if (words == -2)
    return CLI_OK;
  if (words != 1) {
    if (words >= 0)
      cli_misused(&cli_node_show, "which node?",
                  words > 0 ? argv[1] : "node show");
    return CLI_USAGE;
  }
  path = cli_path(NODES, argv[0], "");
  if (path != NULL && cli_remote_open(&r, true)) {
    code = show(&r, path, json);
    cli_remote_close(&r);
  }
  free(path);
  return code;
}

const cli_verb cli_node_show = {
  .name = "node show",
  .brief = "Show a machine of the platform",
  .usage = "[--json] [--root DIR] NODE",
  .help = "  --json                the object of GET "
          "/api/v2/nodes/NODE\n" VC_ROOT_HELP
          "\nExit status: 0 success, 1 no such node, 2 usage error\n",
  .run = run_show,
};

/* --- out of use, and back ----------------------------------------------------- */

static bool set_state(const char *node, const char *state, const char *reason)
{
  char *path = cli_path(NODES, node, "/status"), *body = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&body, &len);
  bool good = false;
  cli_remote r;

  if (out != NULL) {
    (void)fprintf(out, "{\"state\":\"%s\"", state);
    if (reason != NULL) {
      (void)fputs(",\"reason\":", out);
      cli_json_string(out, reason, strlen(reason));
    }
    (void)fputc('}', out);
    good = fclose(out) == 0 && path != NULL;
  }
  if (good && (good = cli_remote_open(&r, true))) {
    good = cli_remote_do(&r, "PUT", path, body);
    cli_remote_close(&r);
  }
  free(body);
  free(path);
  return good;
}

static int run_drain(int argc, char **argv)
{
  const char *reason = NULL;
  const cli_option options[] = { { "reason", 0, NULL, &reason },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_node_drain, options, 2, argc, argv);

  if (words == -2)
    return CLI_OK;
  if (words != 1) {
    if (words >= 0)
      cli_misused(&cli_node_drain, "which node?",
                  words > 0 ? argv[1] : "node drain");
    return CLI_USAGE;
  }
  return set_state(argv[0], "drained", reason) ? CLI_OK : CLI_NO;
}

const cli_verb cli_node_drain = {
  .name = "node drain",
  .brief = "Keep tasks from starting on a machine",
  .usage = "[--reason TEXT] [--root DIR] NODE",
  .help =
    "Running tasks continue.  New jobs are accepted and wait.  The setting\n"
    "survives a restart of the platform.\n"
    "\n"
    "  --reason TEXT         reason that 'openpai why' shows for waiting "
    "jobs\n" VC_ROOT_HELP "\n"
    "Exit status: 0 success, 1 no such node, 2 usage error\n",
  .run = run_drain,
};

static int run_resume(int argc, char **argv)
{
  const cli_option options[] = { { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_node_resume, options, 1, argc, argv);

  if (words == -2)
    return CLI_OK;
  if (words != 1) {
    if (words >= 0)
      cli_misused(&cli_node_resume, "which node?",
                  words > 0 ? argv[1] : "node resume");
    return CLI_USAGE;
  }
  return set_state(argv[0], "up", NULL) ? CLI_OK : CLI_NO;
}

const cli_verb cli_node_resume = {
  .name = "node resume",
  .brief = "Let tasks start on a machine again",
  .usage = "[--root DIR] NODE",
  .help = "Undo 'openpai node drain'.\n"
          "\n" VC_ROOT_HELP "\n"
          "Exit status: 0 success, 1 no such node, 2 usage error\n",
  .run = run_resume,
};
