/*
 * posix_serve.c - a platform in this process: begun, served, ended
 */
#include "serve.h"

#include "json.h"
#include "remote.h"

#include <openpai/account.h>

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LOG = 10 << 20 }; /* then it is ROOT/log.1 */

typedef struct up {
  char *root, *socket, *log;
  const char *runtime, *policy;
  pai_loop *loop;
  pai_platform *platform;
  pai_server *server;
  const cli_serving *wish;
  bool in_background;
  int ready; /* where it is told that it serves; -1: nowhere, or no more */
  char *password; /* of the first user; NULL: any */
  bool ending, failed;
  int kill;
} up;

/* --- what it says ----------------------------------------------------------------- */

/* A log that has grown goes aside, and one begins anew. */
static void turn_log(const up *u)
{
  struct stat st;
  char *old;
  int fd;

  if (fstat(STDERR_FILENO, &st) != 0 || st.st_size < MOST_LOG)
    return;
  old = malloc(strlen(u->log) + 3);
  if (old == NULL)
    return;
  (void)snprintf(old, strlen(u->log) + 3, "%s.1", u->log);
  if (rename(u->log, old) == 0) {
    fd = open(u->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
      (void)dup2(fd, STDOUT_FILENO);
      (void)dup2(fd, STDERR_FILENO);
      (void)close(fd);
    }
  }
  free(old);
}

static void on_log(void *user_data, int level, const char *line)
{
  static const char *const words[] = { "", "debug", "info", "warning",
                                       "error" };
  const up *u = user_data;
  char when[32] = "";
  time_t now = time(NULL);
  struct tm utc;

  if (!u->in_background) {
    if (level >= PAI_LOG_WARNING ||
        (level == PAI_LOG_INFO && u->wish->verbose))
      cli_say(level, line);
    return;
  }
  if (level < PAI_LOG_INFO)
    return;
  turn_log(u);
  if (gmtime_r(&now, &utc) != NULL)
    (void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
  (void)fprintf(stderr, "%s %s %s\n", when, level <= 4 ? words[level] : "",
                line);
}

/* --- its end ------------------------------------------------------------------------- */

static volatile sig_atomic_t asked_to_end;
static pai_loop *volatile loop_to_wake; /* for the signal handler alone */

static void on_signal(int number)
{
  (void)number;
  asked_to_end = 1;
  if (loop_to_wake != NULL)
    pai_loop_wake(loop_to_wake);
}

static void catch_signals(up *u)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction action = { .sa_handler = on_signal }, before;

  loop_to_wake = u->loop;
  action.sa_flags = SA_RESTART;
  (void)sigaction(SIGHUP, NULL, &before);
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    (void)sigaction(numbers[i], &action, NULL);
  if (u->in_background || before.sa_handler == SIG_IGN)
    (void)signal(SIGHUP, SIG_IGN); /* whoever logs out does not end it */
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGXFSZ, SIG_IGN);
}

static void on_server_closed(void *user_data)
{
  up *u = user_data;

  if (u->kill)
    pai_platform_close(u->platform, NULL, NULL);
  else
    pai_platform_leave(u->platform, NULL, NULL);
}

/* First everybody is answered, then tasks are ended, or left. */
static void end(up *u, int kill)
{
  if (u->ending)
    return;
  u->ending = true;
  u->kill = kill;
  pai_server_close(u->server, on_server_closed, u);
}

static void on_shutdown(void *user_data, int kill)
{
  up *u = user_data;

  on_log(u, PAI_LOG_INFO,
         kill ? "asked to end, and to end all tasks" : "asked to end");
  end(u, kill);
}

/* Nobody would ever find them again. */
static void on_gone(void *user_data)
{
  up *u = user_data;

  on_log(u, PAI_LOG_ERROR, "the platform ends, and all tasks with it");
  end(u, 1);
}

/* --- its life ------------------------------------------------------------------------- */

/* To who began this: nothing of it is in a log. */
static void tell(const up *u, const char *text)
{
  size_t len = strlen(text);

  if (!u->in_background)
    (void)fputs(text, stdout);
  while (u->ready >= 0 && len > 0) {
    ssize_t n = write(u->ready, text, len);
    if (n <= 0)
      break;
    text += n;
    len -= (size_t)n;
  }
}

/* Tells who started it, once, and goes on without. */
static void say_ready(up *u, const char *text)
{
  if (u->ready < 0)
    return;
  tell(u, text);
  (void)close(u->ready);
  u->ready = -1;
}

static void say_failure(up *u, int rc, const pai_error *err)
{
  const char *help = pai_error_help(err);
  char text[2048];

  if (err == NULL) /* it was said */
    return;
  cli_error(NULL, err);
  if (!u->in_background)
    return;
  (void)snprintf(text, sizeof(text), "openpai: error: %s\n%s%s%s",
                 pai_error_message(err), help != NULL ? "  help: " : "",
                 help != NULL ? help : "", help != NULL ? "\n" : "");
  say_ready(u, rc == PAI_EBUSY ? "busy\n" : text);
}

/* How many accounts there are; the first of a platform is not yet one. */
static size_t count_users(const up *u)
{
  cli_json users;
  char *text = NULL;
  size_t len = 0, n = 0;
  FILE *out = open_memstream(&text, &len);
  int rc;

  if (out == NULL)
    return 0;
  rc = pai_accounts_write_users(pai_platform_accounts(u->platform), NULL,
                                cli_write, out, NULL);
  if (fclose(out) == 0 && rc == PAI_OK && cli_json_read(&users, text, len)) {
    for (size_t i = cli_json_first(&users, 0); i != 0;
         i = cli_json_next(&users, 0, i))
      n++;
    cli_json_free(&users);
  }
  free(text);
  return n;
}

/* Each job would be root's, whoever submits it: that has to be asked for. */
static bool may_serve(up *u)
{
  static const char why[] =
    "root does not serve several accounts over TCP: jobs of all of them would "
    "run as root";
  static const char help[] =
    "serve as another user, or --system, which runs each job as its user; "
    "--jobs-as-root does it all the same";
  char text[512];

  if (u->wish->server.listen == NULL || u->wish->system || geteuid() != 0 ||
      u->wish->jobs_as_root || count_users(u) < 2)
    return true;
  cli_fail("%s", why);
  cli_help(stderr, help);
  (void)snprintf(text, sizeof(text), "openpai: error: %s\n  help: %s\n", why,
                 help);
  if (u->in_background)
    say_ready(u, text);
  return false;
}

static int begin(up *u, pai_error **err)
{
  pai_platform_options p = PAI_PLATFORM_OPTIONS_INIT;
  pai_server_options s = u->wish->server;
  char address[46];
  int rc = pai_loop_new(&u->loop, NULL, err);

  if (rc < 0)
    return rc;
  p.root = u->root;
  p.durable = 1;
  p.runtime = u->runtime;
  p.policy = u->policy;
  p.pass_env = u->wish->pass_env;
  p.on_log = s.on_log = on_log;
  p.user_data = s.user_data = u;
  p.system = s.system = u->wish->system;
  p.wait_impossible = !u->wish->refuse_impossible;
  if (!cli_keep_read(&p, &cli_serve_verb, &u->wish->keep))
    return PAI_EUSER;
  if (cli_find_address(address, sizeof(address), s.listen))
    p.address = address;
  p.on_gone = on_gone;
  s.root = u->root;
  rc = pai_platform_new(&u->platform, u->loop, &p, err);
  if (rc < 0)
    return rc;
  if (!may_serve(u)) {
    pai_platform_leave(u->platform, NULL, NULL);
    return PAI_EPERM;
  }
  if (u->wish->accounts.struct_size != 0)
    rc = pai_accounts_configure(pai_platform_accounts(u->platform),
                                &u->wish->accounts, err);
  s.socket = u->socket;
  s.on_shutdown = on_shutdown;
  if (rc == PAI_OK)
    rc = pai_server_new(&u->server, u->loop, u->platform, &s, err);
  if (rc < 0)
    pai_platform_leave(u->platform, NULL, NULL);
  return rc;
}

/* Each task takes some descriptors: as many as we may have. */
static void raise_limits(void)
{
  struct rlimit files;

  if (getrlimit(RLIMIT_NOFILE, &files) != 0)
    return;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
}

/* --- who comes from elsewhere ---------------------------------------------------------- */

/* Whether standard output is kept by systemd: no password is made, then. */
static bool is_in_journal(void)
{
  const char *said = getenv("JOURNAL_STREAM"); /* DEV:INO */
  struct stat st;
  char own[64];

  if (said == NULL || fstat(STDOUT_FILENO, &st) != 0)
    return false;
  (void)snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)st.st_dev,
                 (uintmax_t)st.st_ino);
  return strcmp(said, own) == 0;
}

/* The first user's password is told once, to who began this; it is in no log. */
static void tell_password(const up *u, const char *json, size_t len)
{
  char text[1024];
  cli_json j;

  if (!cli_json_read(&j, json, len))
    return;
  if (cli_json_get(&j, 0, "password") != 0) {
    (void)snprintf(text, sizeof(text),
                   "the first account is %s, with the password %s\n"
                   "  it is shown only once: keep it, or change it with "
                   "'openpai user passwd'\n",
                   cli_json_text(&j, 0, "username"),
                   cli_json_text(&j, 0, "password"));
    tell(u, text);
  }
  cli_json_free(&j);
}

static bool is_local(const char *address)
{
  return strncmp(address, "http://127.", 11) == 0 ||
         strncmp(address, "http://localhost", 16) == 0 ||
         strncmp(address, "http://[::1]", 12) == 0 ||
         strncmp(address, "https:", 6) == 0;
}

static void tell_address(const up *u, const char *address)
{
  char text[4400];

  (void)snprintf(text, sizeof(text), "openpai serves at %s\n", address);
  tell(u, text);
}

static void tell_addresses(const up *u)
{
  const char *address;
  char text[256];

  for (size_t i = 0; (address = pai_server_address(u->server, i)) != NULL;
       i++) {
    tell_address(u, address);
    if (is_local(address))
      continue;
    (void)snprintf(text, sizeof(text),
                   "note: the network can read passwords and tokens sent to "
                   "%.128s: see --tls-cert\n",
                   address);
    if (u->in_background)
      tell(u, text);
    else
      (void)fputs(text, stderr);
  }
  tell_address(u, u->socket);
}

static int add_length(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  *(size_t *)user_data += len;
  return PAI_OK;
}

/* Where nobody can come from elsewhere, and none was made. */
static void tell_of_nobody(up *u)
{
  size_t len = 0;

  if (u->wish->server.oidc == NULL &&
      pai_accounts_write_users(pai_platform_accounts(u->platform), NULL,
                               add_length, &len, NULL) == PAI_OK &&
      len <= strlen("[]"))
    on_log(u, PAI_LOG_WARNING,
           "there is no user yet, and the journal is no place for a password: "
           "'openpai user add --admin NAME' makes one");
}

/* Nobody can come from elsewhere: it is not served at all. */
static void fail_far(up *u, const pai_error *err)
{
  if (!u->ending) {
    say_failure(u, PAI_EINVAL, err);
    u->failed = true;
    end(u, 0);
  }
  say_ready(u, "");
}

/* There is somebody who may come from elsewhere: now it is said where to. */
static void on_first_user(void *user_data, int status, const char *json,
                          size_t len, const pai_error *err)
{
  up *u = user_data;

  if (status < 0) {
    fail_far(u, err);
    return;
  }
  if (u->in_background)
    tell(u, "ok\n");
  tell_password(u, json, len);
  tell_of_nobody(u);
  if (!u->ending && u->wish->server.listen != NULL)
    tell_addresses(u);
  (void)fflush(stdout);
  say_ready(u, "");
}

static void serve_far(up *u)
{
  bool made = u->password == NULL; /* and told, where there is no user */
  pai_error *err = NULL;

  /* Where users log in elsewhere a password would be of no use. */
  const char *first =
    u->wish->server.oidc != NULL || (made && is_in_journal()) ? "" : NULL;

  if (pai_accounts_setup(pai_platform_accounts(u->platform), first,
                         u->password, on_first_user, u, &err) < 0) {
    fail_far(u, err);
    cli_help(stderr, "the first user's is in $OPENPAI_ADMIN_PASSWORD; without "
                     "it one is made up");
  }
  pai_error_free(err);
}

/* Who comes from elsewhere needs an account, and so is there one from then on; a
 * platform at its socket alone has its first user when a password says so. */
static void begin_users(up *u)
{
  if (u->wish->server.listen != NULL || u->password != NULL)
    serve_far(u);
  else
    say_ready(u, "ok\n");
}

static int serve(up *u)
{
  pai_error *err = NULL;
  char text[4400];
  int rc;

  raise_limits();
  (void)umask(077);
  rc = begin(u, &err);
  if (rc == PAI_OK) {
    catch_signals(u);
    (void)snprintf(text, sizeof(text), "the platform serves at %s", u->socket);
    on_log(u, PAI_LOG_INFO, text);
    begin_users(u);
  } else {
    say_failure(u, rc, err);
  }
  pai_error_free(err);
  while (u->loop != NULL && pai_loop_run_once(u->loop) > 0)
    if (asked_to_end != 0 && rc == PAI_OK)
      end(u, 0);
  loop_to_wake = NULL;
  pai_loop_free(u->loop);
  if (rc == PAI_OK)
    on_log(u, PAI_LOG_INFO, "the platform has ended");
  return rc == PAI_OK && !u->failed ? CLI_OK : CLI_NO;
}

/* What is said, or the environment tells; NULL: neither. */
static const char *either(const char *said, const char *variable)
{
  const char *told = said != NULL ? said : getenv(variable);

  return told != NULL && told[0] != '\0' ? told : NULL;
}

/* The folder of the socket, where that is not the root: for all to pass. */
static bool make_socket_folder(const up *u)
{
  char *folder = strdup(u->socket), *slash;
  struct stat st;
  bool good = folder != NULL && (slash = strrchr(folder, '/')) != NULL;

  if (good)
    *slash = '\0';
  if (good && u->wish->system && strcmp(folder, u->root) != 0) {
    (void)mkdir(folder, 0755);
    good = lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid() && chmod(folder, 0755) == 0;
    if (!good)
      cli_fail("%s cannot be created, or belongs to another user", folder);
  }
  free(folder);
  return good;
}

/* Secrets are no business of tasks, which have our environment; that of OpenID
 * Connect has been read, if it is of use. */
static char *take_password(void)
{
  const char *said = getenv("OPENPAI_ADMIN_PASSWORD");
  char *password = said != NULL && said[0] != '\0' ? strdup(said) : NULL;

  (void)unsetenv("OPENPAI_ADMIN_PASSWORD");
  (void)unsetenv("OPENPAI_OIDC_CLIENT_SECRET");
  return password;
}

int cli_serve(const cli_serving *wish)
{
  int ready = cli_ready_fd(), code = CLI_NO;
  up u = { .root = cli_root_path(),
           .runtime = either(wish->runtime, "OPENPAI_RUNTIME"),
           .policy = either(wish->policy, "OPENPAI_POLICY"),
           .wish = wish,
           .password = take_password(),
           .ready = ready,
           .in_background = ready >= 0 };

  if (u.root != NULL) {
    u.socket = cli_socket_path(u.root);
    u.log = cli_join(u.root, "log");
  }
  if (u.socket != NULL && u.log != NULL && make_socket_folder(&u))
    code = serve(&u);
  free(u.password);
  free(u.log);
  free(u.socket);
  free(u.root);
  return code;
}

/* Never one of all users by chance, because that runs. */
bool cli_choose_root(bool system)
{
  const char *named = getenv("OPENPAI_ROOT");

  cli_start_system = system;
  if (system && geteuid() != 0) {
    cli_fail("only root can run a platform of all users, whose jobs run as "
             "them");
    cli_help(stderr, "sudo openpai up --system; without --system it is yours "
                     "alone");
    return false;
  }
  if (cli_root != NULL || (!system && named != NULL && named[0] != '\0'))
    return true;
  cli_root = system ? cli_system_root() : cli_root_path();
  return cli_root != NULL;
}
