/*
 * cmd_up.c - `up`: start this user's platform
 *
 * In the background, the platform is this verb again with --foreground, with
 * its output in ROOT/log.
 */
#include "remote.h"
#include "serve.h"
#include "serve_oidc.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the verb ------------------------------------------------------------ */

static void print_up(const cli_remote *r, const pai_json *status, bool json,
                     bool was)
{
  long long pid = cli_json_number(status, 0, "pid", 0);

  if (json)
    cli_json_print(stdout, "{\"pid\":%lld,\"root\":%s,\"started\":%c}\n", pid,
                   r->root, cli_truth(!was));
  else
    (void)printf("the platform %s: process %lld, in %s\n",
                 was ? "runs already" : "is up", pid, r->root);
}

static bool is_up(cli_remote *r)
{
  cli_answer a;
  bool good;

  cli_call(r, &a, "server.status", cli_no_arguments());
  good = a.status != PAI_ENOTFOUND || a.http != 0;
  cli_answer_free(&a);
  return good;
}

static int run_background(bool json)
{
  pai_json *status;
  cli_remote r;
  bool was;
  int code = CLI_NO;

  if (!cli_remote_open(&r, false))
    return CLI_NO;
  was = is_up(&r);
  r.start = true;
  if (cli_call_read(&r, &status, "server.status", cli_no_arguments())) {
    print_up(&r, status, json, was);
    if (was && (cli_start_runtime != NULL || cli_start_policy != NULL ||
                cli_start_more[0] != NULL))
      (void)fputs("note: --runtime, --policy, --pass-env and --listen have no "
                  "effect: the platform was running already\n",
                  stderr);
    cli_json_free(&status);
    code = CLI_OK;
  }
  cli_remote_close(&r);
  return code;
}

/* Ends a running platform, so that the service can take its root; its tasks go
 * on. */
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
    if (code != CLI_OK && ran) /* restore the previous state */
      (void)cli_start_platform(r.root);
  }
  cli_remote_close(&r);
  return code;
}

/* TCP addresses and certificates for the platform that is started.  Paths are
 * absolute, because it has another current folder. */
typedef struct afar {
  char *listen, *cert, *key;
} afar;

/* Adds an option to the words of the platform that is started, if it is
 * set. */
static void add_option(size_t *n, const char *name, const char *value)
{
  if (value == NULL)
    return;
  cli_start_more[(*n)++] = name;
  cli_start_more[(*n)++] = value;
}

/* Returns false, after printing an error, if memory is short. */
static bool make_afar(afar *a, const cli_serving *wanted)
{
  const pai_server_options *o = &wanted->server;
  const cli_platform_options *p = &wanted->platform;
  size_t n = 0;

  a->listen = cli_join_addresses(wanted->listen, "");
  a->cert = o->tls_cert != NULL ? cli_absolute(o->tls_cert) : NULL;
  a->key = o->tls_key != NULL ? cli_absolute(o->tls_key) : NULL;
  if (a->listen == NULL || (o->tls_cert != NULL && a->cert == NULL) ||
      (o->tls_key != NULL && a->key == NULL)) {
    cli_fail("out of memory");
    return false;
  }
  add_option(&n, "--pass-env", p->pass_env);
  if (p->jobs_as_root)
    cli_start_more[n++] = "--jobs-as-root";
  add_option(&n, "--listen", a->listen[0] != '\0' ? a->listen : NULL);
  add_option(&n, "--tls-cert", a->cert);
  add_option(&n, "--tls-key", a->key);
  if (p->refuse_impossible)
    cli_start_more[n++] = "--refuse-impossible";
  add_option(&n, "--keep", wanted->keep.keep);
  add_option(&n, "--keep-jobs", wanted->keep.keep_jobs);
  add_option(&n, "--keep-size", wanted->keep.keep_size);
  return true;
}

/* Reads the root's oidc.yaml only if the platform listens on TCP: over its own
 * socket nobody logs in. */
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

/* A service creates no first user, whose password would be in the journal. */
static void tell_first_user(void)
{
  cli_oidc login = { .options = PAI_OIDC_OPTIONS_INIT };
  char *root = cli_root_path();

  cli_oidc_find(&login);
  if (root != NULL && login.file == NULL)
    (void)fprintf(stderr,
                  "note: a service creates no first user, as its journal "
                  "would keep the password; create\n      one with: openpai "
                  "user add --admin --root %s NAME\n",
                  root);
  cli_oidc_free(&login);
  free(root);
}

static int go(const cli_serving *wanted, bool foreground, bool enable,
              bool json)
{
  cli_serving far = *wanted;
  afar a = { NULL, NULL, NULL };
  int code = CLI_NO;

  if (!make_afar(&a, wanted)) {
    code = CLI_NO;
  } else if (enable) {
    code = run_enable((cli_unit){ .runtime = wanted->platform.runtime,
                                  .policy = wanted->platform.policy,
                                  .more = cli_start_more,
                                  .system = wanted->platform.system });
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

int cli_do_up(const cli_up_args *a)
{
  cli_serving wanted = { .platform = a->platform,
                         .keep = a->keep,
                         .listen = &a->listen,
                         .verbose = a->verbose,
                         .server = PAI_SERVER_OPTIONS_INIT };

  wanted.server.tls_cert = a->tls_cert;
  wanted.server.tls_key = a->tls_key;
  if (!a->foreground) { /* for the platform that is started */
    cli_start_runtime = a->platform.runtime;
    cli_start_policy = a->platform.policy;
  }
  if (!cli_keep_good(&a->keep))
    return CLI_USAGE;
  if (!cli_choose_root(a->platform.system))
    return CLI_NO;
  return go(&wanted, a->foreground, a->enable, a->json);
}
