/* cmd_vc_show.c - virtual clusters: a table, and one of them */
#include "part.h"

#include <stdlib.h>
#include <string.h>

#define VCS "/api/v2/virtual-clusters"

static int64_t amount(const cli_json *j, size_t vc, const char *of,
                      const char *what)
{
  size_t object = cli_json_get(j, vc, of);

  return object != 0 ? cli_json_number(j, object, what, 0) : 0;
}

static void put_state(const cli_json *j, size_t vc)
{
  const char *state = cli_json_text(j, vc, "state");
  bool stopped = strcmp(state, "stopped") == 0;

  (void)printf("  %s%-7s%s", cli_style(stdout, stopped ? "\033[33m" : ""),
               state, cli_style(stdout, stopped ? "\033[0m" : ""));
}

static void put_part(const cli_json *j, size_t vc, const char *key)
{
  char part[CLI_PERCENT];

  cli_percent_text(part, cli_hundredths(j, vc, key));
  (void)printf("  %7s", part);
}

static void put_row(const cli_json *j, size_t vc, int width)
{
  (void)printf("%-*s", width, j->values[vc].key);
  put_state(j, vc);
  put_part(j, vc, "capacity");
  put_part(j, vc, "maxCapacity");
  cli_print_use(stdout, amount(j, vc, "resourcesUsed", "gpu"),
                amount(j, vc, "resourcesTotal", "gpu"));
  cli_print_use(stdout, amount(j, vc, "resourcesUsed", "cpu"),
                amount(j, vc, "resourcesTotal", "cpu"));
  (void)printf("  %5lld  %5lld\n",
               (long long)cli_json_number(j, vc, "waitingJobs", 0),
               (long long)cli_json_number(j, vc, "runningJobs", 0));
}

static int list(cli_remote *r)
{
  int bar = cli_is_terminal(stdout) ? 12 : 0;
  size_t width = 4;
  cli_json j;

  if (!cli_remote_get(r, &j, VCS))
    return CLI_NO;
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i))
    if (strlen(j.values[i].key) > width)
      width = strlen(j.values[i].key);
  (void)printf("%-*s  %-7s  %7s  %7s  %*s%7s  %*s%7s  %5s  %5s\n", (int)width,
               "NAME", "STATE", "PART", "MAX", bar, "", "GPUS", bar, "",
               "CPUS", "WAIT", "RUN");
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i))
    put_row(&j, i, (int)width);
  cli_json_free(&j);
  return CLI_OK;
}

static int run_list(int argc, char **argv)
{
  return cli_run_list(&cli_vc_list, argc, argv, VCS, list);
}

const cli_verb cli_vc_list = {
  .name = "vc list",
  .brief = "List the platform's virtual clusters and their use",
  .usage = "[--json] [--root DIR]",
  .help =
    "Show the capacity of each virtual cluster, the most that it may use "
    "with\n"
    "idle capacity of others, and the GPUs and CPUs in use.\n"
    "\n"
    "  --json                print the object of GET "
    "/api/v2/virtual-clusters\n" VC_ROOT_HELP "\n"
    "Exit status: 0 success, 1 the platform cannot be asked, 2 usage error\n",
  .run = run_list,
};

/* --- one ---------------------------------------------------------------------- */

static void put_amount(const cli_json *j, const char *title, const char *what)
{
  int64_t used = amount(j, 0, "resourcesUsed", what);
  int64_t all = amount(j, 0, "resourcesTotal", what);

  (void)printf("%-13s", title);
  if (strcmp(what, "memory") == 0) {
    char u[32], a[32];

    cli_memory_text(u, sizeof(u), used << 20);
    cli_memory_text(a, sizeof(a), all << 20);
    (void)printf("  %s of %s\n", u, a);
    return;
  }
  cli_print_use(stdout, used, all);
  (void)fputc('\n', stdout);
}

static void put_text(const cli_json *j, const char *title, const char *key)
{
  const char *text = cli_json_text(j, 0, key);

  if (text[0] != '\0')
    (void)printf("%-13s  %s\n", title, text);
}

static int show(cli_remote *r, const char *path, const char *name, bool json)
{
  char part[CLI_PERCENT];
  cli_json j;

  if (json)
    return cli_print_answer(r, path);
  if (!cli_remote_get(r, &j, path))
    return CLI_NO;
  (void)printf("%-13s  %s\n", "name", name);
  put_text(&j, "state", "state");
  cli_percent_text(part, cli_hundredths(&j, 0, "capacity"));
  (void)printf("%-13s  %s of the machine\n", "part", part);
  cli_percent_text(part, cli_hundredths(&j, 0, "maxCapacity"));
  (void)printf("%-13s  %s\n", "at most", part);
  put_amount(&j, "GPUs", "gpu");
  put_amount(&j, "CPUs", "cpu");
  put_amount(&j, "memory", "memory");
  (void)printf("%-13s  %lld wait, %lld run\n", "jobs",
               (long long)cli_json_number(&j, 0, "waitingJobs", 0),
               (long long)cli_json_number(&j, 0, "runningJobs", 0));
  put_text(&j, "description", "description");
  put_text(&j, "external name", "externalName");
  cli_json_free(&j);
  return CLI_OK;
}

static int run_show(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_vc_show, options, 2, argc, argv), code = CLI_NO;
  cli_remote r;
  char *path;

  if (words == -2)
    return CLI_OK;
  if (words != 1) {
    if (words >= 0)
      cli_misused(&cli_vc_show, "which virtual cluster?",
                  words > 0 ? argv[1] : "vc show");
    return CLI_USAGE;
  }
  path = cli_path(VCS, argv[0], "");
  if (path != NULL && cli_remote_open(&r, true)) {
    code = show(&r, path, argv[0], json);
    cli_remote_close(&r);
  }
  free(path);
  return code;
}

const cli_verb cli_vc_show = {
  .name = "vc show",
  .brief = "Show a virtual cluster",
  .usage = "[--json] [--root DIR] NAME",
  .help =
    "  --json                the object of GET "
    "/api/v2/virtual-clusters/NAME\n" VC_ROOT_HELP
    "\nExit status: 0 success, 1 no such virtual cluster, 2 usage error\n",
  .run = run_show,
};
