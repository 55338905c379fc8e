/*
 * cmd_up.c - the platform of this user: started, served, ended
 *
 * In the background it is this verb again, with --foreground, whose output
 * goes to ROOT/log.
 */
#include "remote.h"
#include "serve.h"
#include "serve_oidc.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the verb --------------------------------------------------------------------------- */

static void print_up(const cli_remote *r, const cli_json *status, bool json,
                     bool was)
{
  long long pid = cli_json_number(status, 0, "pid", 0);

  if (json) {
    (void)printf("{\"pid\":%lld,\"root\":", pid);
    cli_json_string(stdout, r->root, strlen(r->root));
    (void)printf(",\"started\":%s}\n", was ? "false" : "true");
  } else {
    (void)printf("the platform %s: process %lld, in %s\n",
                 was ? "runs already" : "is up", pid, r->root);
  }
}

static bool is_up(cli_remote *r)
{
  cli_answer a;
  bool good;

  cli_remote_ask(r, &a, "GET", "/api/v2/status", NULL, NULL, 0);
  good = a.status != PAI_ENOTFOUND || a.http != 0;
  cli_answer_free(&a);
  return good;
}

static int run_background(bool json)
{
  cli_json status;
  cli_remote r;
  bool was;
  int code = CLI_NO;

  if (!cli_remote_open(&r, false))
    return CLI_NO;
  was = is_up(&r);
  r.start = true;
  if (cli_remote_get(&r, &status, "/api/v2/status")) {
    print_up(&r, &status, json, was);
    if (was && (cli_start_runtime != NULL || cli_start_policy != NULL ||
                cli_start_more[0] != NULL))
      (void)fputs("note: --runtime, --policy, --pass-env and --listen are of "
                  "a platform that "
                  "begins; this one ran already\n",
                  stderr);
    cli_json_free(&status);
    code = CLI_OK;
  }
  cli_remote_close(&r);
  return code;
}

/* One that runs makes room for the service; its tasks go on meanwhile. */
static int run_enable(cli_unit unit)
{
  bool usual = unit.system && strcmp(cli_root, "/var/lib/openpai") == 0;
  cli_remote r;
  int code = CLI_NO;
  bool ran;

  if (!cli_remote_open(&r, false))
    return CLI_NO;
  ran = is_up(&r);
  code = cli_end_platform(&r, false, true);
  if (code == CLI_OK) {
    unit.root = usual ? NULL : r.root;
    code = cli_unit_enable(&unit);
    if (code != CLI_OK && ran) /* as it was before */
      (void)cli_start_platform(r.root);
  }
  cli_remote_close(&r);
  return code;
}

/* Where it listens, as words for the one that is started, which is in another
 * folder.  False, and told: there is no memory. */
typedef struct afar {
  char *listen, *cert, *key;
} afar;

static bool make_afar(afar *a, const cli_serving *wish)
{
  const pai_server_options *o = &wish->server;
  const struct {
    const char *name, *word;
  } kept[] = { { "--keep", wish->keep.time },
               { "--keep-jobs", wish->keep.jobs },
               { "--keep-size", wish->keep.size } };
  size_t n = 0;

  a->listen = cli_join_addresses("");
  a->cert = o->tls_cert != NULL ? cli_absolute(o->tls_cert) : NULL;
  a->key = o->tls_key != NULL ? cli_absolute(o->tls_key) : NULL;
  if (a->listen == NULL || (o->tls_cert != NULL && a->cert == NULL) ||
      (o->tls_key != NULL && a->key == NULL)) {
    cli_fail("out of memory");
    return false;
  }
  if (wish->pass_env != NULL) {
    cli_start_more[n++] = "--pass-env";
    cli_start_more[n++] = wish->pass_env;
  }
  if (wish->jobs_as_root)
    cli_start_more[n++] = "--jobs-as-root";
  if (a->listen[0] != '\0') {
    cli_start_more[n++] = "--listen";
    cli_start_more[n++] = a->listen;
  }
  if (a->cert != NULL) {
    cli_start_more[n++] = "--tls-cert";
    cli_start_more[n++] = a->cert;
  }
  if (a->key != NULL) {
    cli_start_more[n++] = "--tls-key";
    cli_start_more[n++] = a->key;
  }
  if (wish->refuse_impossible)
    cli_start_more[n++] = "--refuse-impossible";
  for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
    if (kept[i].word != NULL) {
      cli_start_more[n++] = kept[i].name;
      cli_start_more[n++] = kept[i].word;
    }
  return true;
}

/* With what is said in the root of logins; at its socket alone nobody logs in. */
static int run_foreground(cli_serving *far)
{
  cli_oidc login = { .options = PAI_OIDC_OPTIONS_INIT };
  int code = CLI_NO;

  cli_set_rates(&far->server, 600);
  if (far->server.listen != NULL)
    cli_oidc_find(&login);
  if (cli_oidc_read(&login, &far->server))
    code = cli_serve(far);
  cli_oidc_free(&login);
  return code;
}

/* A service's password would be told to the journal. */
static void tell_first_user(void)
{
  cli_oidc login = { .options = PAI_OIDC_OPTIONS_INIT };
  char *root = cli_root_path();

  cli_oidc_find(&login);
  if (root != NULL && login.file == NULL)
    (void)fprintf(stderr,
                  "note: a service makes no first user, whose password would "
                  "be in its journal; if there is\n      none yet: openpai "
                  "user add --admin --root %s NAME\n",
                  root);
  cli_oidc_free(&login);
  free(root);
}

static int go(const cli_serving *wish, bool foreground, bool enable, bool json)
{
  cli_serving far = *wish;
  afar a = { NULL, NULL, NULL };
  int code = CLI_NO;

  if (!make_afar(&a, wish)) {
    code = CLI_NO;
  } else if (enable) {
    code = run_enable((cli_unit){ .runtime = wish->runtime,
                                  .policy = wish->policy,
                                  .more = cli_start_more,
                                  .system = wish->system });
    if (code == CLI_OK && a.listen[0] != '\0')
      tell_first_user();
  } else if (!foreground) {
    code = run_background(json);
  } else {
    far.server.listen = a.listen[0] != '\0' ? a.listen : NULL;
    code = run_foreground(&far);
  }
  free(a.listen);
  free(a.cert);
  free(a.key);
  return code;
}

static int run(int argc, char **argv)
{
  bool foreground = false, json = false, verbose = false, system = false,
       enable = false;
  const char *runtime = NULL, *policy = NULL;
  cli_serving wish = { .server = PAI_SERVER_OPTIONS_INIT };
  const cli_option options[] = {
    { "foreground", 0, &foreground, NULL },
    { "json", 0, &json, NULL },
    { "verbose", 'v', &verbose, NULL },
    { "runtime", 0, NULL, &runtime },
    { "system", 0, &system, NULL },
    { "enable", 0, &enable, NULL },
    { "jobs-as-root", 0, &wish.jobs_as_root, NULL },
    { "root", 0, NULL, &cli_root },
    { "policy", 0, NULL, &policy },
    { "refuse-impossible", 0, &wish.refuse_impossible, NULL },
    { "pass-env", 0, NULL, &wish.pass_env },
    KEEP_OPTIONS(wish.keep),
    { "listen", 0, NULL, cli_values.words },
    { "tls-cert", 0, NULL, &wish.server.tls_cert },
    { "tls-key", 0, NULL, &wish.server.tls_key },
  };
  int words = cli_options(&cli_up, options,
                          sizeof(options) / sizeof(options[0]), argc, argv);

  if (words == -2)
    return CLI_OK;
  if (words != 0) {
    if (words > 0)
      cli_misused(&cli_up, "up takes no argument", argv[0]);
    return CLI_USAGE;
  }
  if (!foreground && runtime != NULL) /* the one that is started sees it */
    cli_start_runtime = runtime;
  if (!foreground && policy != NULL)
    cli_start_policy = policy;
  if (!cli_keep_good(&cli_up, &wish.keep))
    return CLI_USAGE;
  if (foreground && enable) {
    cli_misused(&cli_up, "these options exclude each other",
                "--foreground --enable");
    return CLI_USAGE;
  }
  if (cli_values.count == 0 &&
      (wish.server.tls_cert != NULL || wish.server.tls_key != NULL)) {
    cli_misused(&cli_up, "without --listen",
                wish.server.tls_cert != NULL ? "--tls-cert" : "--tls-key");
    return CLI_USAGE;
  }
  if (!cli_choose_root(system))
    return CLI_NO;
  wish.runtime = runtime;
  wish.policy = policy;
  wish.system = system;
  wish.verbose = verbose;
  return go(&wish, foreground, enable, json);
}

const cli_verb cli_up = {
  .name = "up",
  .brief = "Start this user's platform in the background",
  .usage =
    "[--foreground [--verbose]] [--enable] [--system]\n"
    "            [--listen HOST:PORT]... [--tls-cert FILE --tls-key FILE]\n"
    "            [--runtime NAME] [--policy NAME] [--refuse-impossible]\n"
    "            [--keep TIME] [--keep-jobs N] [--keep-size SIZE]\n"
    "            [--pass-env NAMES] [--jobs-as-root] [--json] [--root DIR]",
  .help =
    "The platform keeps jobs and their logs in its root, continues after the\n"
    "terminal is closed, and ends with 'openpai down'.  Verbs that submit or\n"
    "list jobs start it automatically.  Its messages are in ROOT/log.\n"
    "\n"
    "  --foreground   run in this process until a signal ends it; tasks\n"
    "                 continue, and the next platform finds them\n"
    "  -v, --verbose  print what happens, with --foreground\n"
    "  --enable       install a systemd service that starts the platform "
    "with\n"
    "                 the machine, or at login; undo with 'down --disable'\n"
    "  --system       run the platform of all users of this machine; needs\n"
    "                 root.  Jobs run as the users who submit them.  Its "
    "root\n"
    "                 is $OPENPAI_SYSTEM_ROOT, or /var/lib/openpai\n"
    "  --listen HOST:PORT\n"
    "                 also serve others over TCP, as 'openpai serve' does "
    "with\n"
    "                 its default limits.  The first account is admin; its\n"
    "                 password is $OPENPAI_ADMIN_PASSWORD, or is printed "
    "once.\n"
    "                 A systemd service makes no account.  oidc.yaml in the\n"
    "                 root is read\n"
    "  --jobs-as-root let root serve several accounts with --listen, and run\n"
    "                 all their jobs as root; --system runs each as its user\n"
    "  --tls-cert FILE\n"
    "                 certificate for --listen, in PEM; enables TLS\n"
    "  --tls-key FILE key of the certificate\n"
    "  --runtime NAME how tasks run: auto, process, bwrap, podman or docker\n"
    "                 (default: $OPENPAI_RUNTIME, or auto)\n"
    "  --refuse-impossible\n"
    "                 refuse a job that asks for more than the machine has\n"
    "                 (default: the job waits)\n"
    "  --policy NAME  scheduling policy: fifo, backfill, priority, capacity,\n"
    "                 fair, k8s or hived (default: $OPENPAI_POLICY, or fifo)\n"
    "  --pass-env NAMES\n"
    "                 variables of this environment that all tasks get,\n"
    "                 separated by commas; a name that ends with * includes\n"
    "                 all that start with it (default: $OPENPAI_PASS_ENV); "
    "see\n"
    "                 openpai(1) for the variables that tasks always get\n"
    "  --keep TIME    remove jobs that ended longer ago, as 30d, with their\n"
    "                 logs and files (default: never)\n"
    "  --keep-jobs N  remove finished jobs but for the N that ended last\n"
    "  --keep-size SIZE\n"
    "                 remove the oldest finished jobs while all logs, also "
    "of\n"
    "                 running jobs, are larger, as 20G\n"
    "  --json         print one JSON object: pid, root, started\n"
    "  --root DIR     the root (default: $OPENPAI_ROOT, or\n"
    "                 $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 a platform runs, 1 it could not be started, 2 usage\n"
    "error\n",
  .run = run,
};
