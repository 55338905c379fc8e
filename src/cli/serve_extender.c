/*
 * serve_extender.c - HiveD's web server in Kubernetes, in the foreground
 *
 * A configuration that has changed is applied if no group of pods that runs
 * loses anything by it; else the old one stays.
 */
#include "serve_extender.h"

#include "file.h"
#include "source.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

typedef struct extender {
  const cli_extender *o;
  pai_loop *loop;
  pai_cluster *cluster;
  pai_cluster *tried; /* another configuration, until it counts or does not */
  pai_hived_host *host;
  pai_server *server;
  struct stat config; /* as it was when it was read, or looked at */
  bool ending;
} extender;

/* --- what it says ------------------------------------------------------------- */

static void on_log(void *user_data, int level, const char *line)
{
  const extender *e = user_data;

  if (level < PAI_LOG_INFO && !e->o->verbose)
    return;
  cli_say(level, line);
}

static void say(const extender *e, const char *fmt, const char *what)
{
  char line[512];

  (void)snprintf(line, sizeof(line), fmt, what);
  on_log((void *)(uintptr_t)e, PAI_LOG_INFO, line);
}

/* --- its configuration ----------------------------------------------------------- */

/* False: told why. */
static bool read_config(pai_cluster **out, const char *path)
{
  cli_file file;

  *out = NULL;
  cli_cluster_file_open(&file, out, path, NULL);
  if (file.report == NULL)
    cli_fail("%s", file.why);
  else
    cli_print_findings(stderr, path, file.report);
  pai_report_free(file.report);
  return *out != NULL;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
         a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* --- another configuration ------------------------------------------------------- */

static void on_reloaded(void *user_data, int status, const pai_error *err)
{
  extender *e = user_data;
  pai_cluster *old = status == PAI_OK ? e->cluster : e->tried;

  if (status == PAI_OK) {
    e->cluster = e->tried;
    say(e, "the new configuration %s is applied", e->o->config);
  } else if (status != PAI_ECANCELED) {
    char line[1024];

    (void)snprintf(line, sizeof(line),
                   "the old configuration stays: %s; change %s again to try "
                   "again",
                   pai_error_message(err), e->o->config);
    cli_say(PAI_LOG_WARNING, line);
  }
  e->tried = NULL;
  pai_cluster_free(old);
}

/* Whether the file is another one than was read last. */
static bool has_changed(extender *e)
{
  struct stat st;

  if (stat(e->o->config, &st) != 0 || is_same(&st, &e->config))
    return false;
  e->config = st;
  return true;
}

/* Looked for whenever something else happens, which it does each minute at
 * least. */
static void reload_if_changed(extender *e)
{
  pai_error *err = NULL;

  if (e->tried != NULL || !pai_hived_host_ready(e->host) || !has_changed(e))
    return;
  if (!read_config(&e->tried, e->o->config)) {
    cli_say(PAI_LOG_WARNING,
            "the new configuration is invalid: the old one stays in use");
    return;
  }
  if (pai_hived_host_reload(e->host, e->tried, on_reloaded, e, &err) < 0)
    on_reloaded(e, pai_error_code(err), err);
  pai_error_free(err);
}

/* --- its life -------------------------------------------------------------------- */

static volatile sig_atomic_t asked_to_end;
static pai_loop *volatile loop_to_wake; /* for the signal handler alone */

static void on_signal(int number)
{
  (void)number;
  asked_to_end = 1;
  if (loop_to_wake != NULL)
    pai_loop_wake(loop_to_wake);
}

static void catch_signals(const extender *e)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction action = { .sa_handler = on_signal };

  loop_to_wake = e->loop;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    (void)sigaction(numbers[i], &action, NULL);
  (void)signal(SIGPIPE, SIG_IGN);
}

static void on_server_closed(void *user_data)
{
  extender *e = user_data;

  pai_hived_host_close(e->host, NULL, NULL);
}

/* First everybody is answered. */
static void end(extender *e)
{
  if (!e->ending)
    pai_server_close(e->server, on_server_closed, e);
  e->ending = true;
}

static int begin(extender *e, pai_error **err)
{
  pai_hived_host_options h = e->o->host;
  pai_server_options s = e->o->server;
  int rc = pai_loop_new(&e->loop, NULL, err);

  if (rc < 0)
    return rc;
  h.on_log = s.on_log = on_log;
  h.user_data = s.user_data = e;
  rc = pai_hived_host_new(&e->host, e->loop, e->cluster, &h, err);
  if (rc < 0)
    return rc;
  s.hived = e->host;
  if (s.listen == NULL)
    s.listen = pai_hived_host_address(e->host);
  s.cors_origin = "";
  rc = pai_server_new(&e->server, e->loop, NULL, &s, err);
  if (rc < 0)
    pai_hived_host_close(e->host, NULL, NULL);
  return rc;
}

static void raise_limits(void)
{
  struct rlimit files;

  if (getrlimit(RLIMIT_NOFILE, &files) != 0)
    return;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
}

static int serve(extender *e)
{
  pai_error *err = NULL;
  const char *address;
  int rc;

  raise_limits();
  rc = begin(e, &err);
  if (rc == PAI_OK) {
    catch_signals(e);
    for (size_t i = 0; (address = pai_server_address(e->server, i)) != NULL;
         i++)
      say(e, "the extender serves at %s", address);
  } else {
    cli_error(NULL, err);
  }
  pai_error_free(err);
  while (e->loop != NULL && pai_loop_run_once(e->loop) > 0) {
    if (rc < 0 || e->ending)
      continue;
    if (asked_to_end != 0)
      end(e);
    else
      reload_if_changed(e);
  }
  loop_to_wake = NULL;
  pai_loop_free(e->loop);
  if (rc == PAI_OK)
    say(e, "the extender has %s", "ended");
  return rc == PAI_OK ? CLI_OK : CLI_NO;
}

int cli_serve_extender(const cli_extender *wish)
{
  extender e = { .o = wish };
  int code = CLI_NO;

  (void)stat(wish->config, &e.config);
  if (read_config(&e.cluster, wish->config))
    code = serve(&e);
  pai_cluster_free(e.cluster);
  return code;
}
