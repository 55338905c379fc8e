/*
 * posix_serve.c - running a platform in this process: start, serve, end
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

enum { MOST_LOG = 10 << 20 }; /* then the log is renamed to ROOT/log.1 */

typedef struct up {
  char *root, *socket, *log;
  const char *runtime, *policy;
  pai_loop *loop;
  pai_platform *platform;
  pai_server *server;
  const cli_serving *wanted;
  bool in_background;
  int ready;      /* descriptor to report readiness; -1: none, or done */
  char *password; /* of the first user; NULL: a random one */
  bool ending, failed;
  int kill;
} up;

/* --- log ----------------------------------------------------------------- */

/* Renames a large log and begins a new one. */
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
        (level == PAI_LOG_INFO && u->wanted->verbose))
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

/* --- end ----------------------------------------------------------------- */

static volatile sig_atomic_t asked_to_end;
static pai_loop *volatile loop_to_wake; /* only for the signal handler */

static void on_signal(int number)
{
  (void)number;
  asked_to_end = 1;
  if (loop_to_wake != NULL)
    pai_loop_wake(loop_to_wake);
}

void cli_end_by_signals(pai_loop *loop, bool hangs_up_too)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction action = { .sa_handler = on_signal };

  loop_to_wake = loop;
  if (loop == NULL)
    return;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    (void)sigaction(numbers[i], &action, NULL);
  if (!hangs_up_too)
    (void)signal(SIGHUP, SIG_IGN);
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGXFSZ, SIG_IGN);
}

bool cli_asked_to_end(void)
{
  return asked_to_end != 0;
}

/* A logout of the user does not end a platform in the background. */
static void catch_signals(const up *u)
{
  struct sigaction before;

  (void)sigaction(SIGHUP, NULL, &before);
  cli_end_by_signals(u->loop,
                     !u->in_background && before.sa_handler != SIG_IGN);
}

static void on_server_closed(void *user_data)
{
  up *u = user_data;

  if (u->kill)
    pai_platform_close(u->platform, NULL, NULL);
  else
    pai_platform_leave(u->platform, NULL, NULL);
}

/* Closes the server first, which answers pending requests; then tasks are
 * ended or left running. */
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

/* The root is gone, so no later platform could find these tasks again. */
static void on_gone(void *user_data)
{
  up *u = user_data;

  on_log(u, PAI_LOG_ERROR, "the platform ends, and all tasks with it");
  end(u, 1);
}

/* --- start --------------------------------------------------------------- */

/* Writes to the process that started the platform, and not to the log. */
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

/* Reports readiness to the starting process, once. */
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

  if (err == NULL) /* it was reported */
    return;
  cli_error(NULL, err);
  if (!u->in_background)
    return;
  (void)snprintf(text, sizeof(text), "openpai: error: %s\n%s%s%s",
                 pai_error_message(err), help != NULL ? "  help: " : "",
                 help != NULL ? help : "", help != NULL ? "\n" : "");
  say_ready(u, rc == PAI_EBUSY ? "busy\n" : text);
}

/* Returns the number of accounts; a platform without users has none yet. */
static size_t count_users(const up *u)
{
  pai_json *users;
  char *text = NULL;
  size_t len = 0, n = 0;
  FILE *out = open_memstream(&text, &len);
  int rc;

  if (out == NULL)
    return 0;
  rc = pai_accounts_write_users(pai_platform_accounts(u->platform), NULL,
                                cli_write, out, NULL);
  if (fclose(out) == 0 && rc == PAI_OK && cli_json_read(&users, text, len)) {
    n = pai_json_count(users, 0);
    cli_json_free(&users);
  }
  free(text);
  return n;
}

/* As root, each user's job would run as root; that must be asked for. */
static bool may_serve(up *u)
{
  static const char why[] =
    "root does not serve several accounts over TCP: jobs of all of them would "
    "run as root";
  static const char help[] = "serve as another user, use --system to run each "
                             "job as its user, or --jobs-as-root to allow it";
  char text[512];

  if (u->wanted->server.listen == NULL || u->wanted->platform.system ||
      geteuid() != 0 || u->wanted->platform.jobs_as_root || count_users(u) < 2)
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
  pai_server_options s = u->wanted->server;
  char address[46];
  int rc = pai_loop_new(&u->loop, NULL, err);

  if (rc < 0)
    return rc;
  p.root = u->root;
  p.durable = 1;
  p.runtime = u->runtime;
  p.policy = u->policy;
  p.pass_env = u->wanted->platform.pass_env;
  p.on_log = s.on_log = on_log;
  p.user_data = s.user_data = u;
  p.system = s.system = u->wanted->platform.system;
  p.wait_impossible = !u->wanted->platform.refuse_impossible;
  if (!cli_keep_read(&p, &u->wanted->keep))
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
  if (u->wanted->accounts.struct_size != 0)
    rc = pai_accounts_configure(pai_platform_accounts(u->platform),
                                &u->wanted->accounts, err);
  s.socket = u->socket;
  s.on_shutdown = on_shutdown;
  if (rc == PAI_OK)
    rc = pai_server_new(&u->server, u->loop, u->platform, &s, err);
  if (rc < 0)
    pai_platform_leave(u->platform, NULL, NULL);
  return rc;
}

void cli_raise_limits(void)
{
  struct rlimit files;

  if (getrlimit(RLIMIT_NOFILE, &files) != 0)
    return;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
}

/* --- users over TCP ------------------------------------------------------ */

/* Whether systemd's journal keeps standard output; then no password is
 * made. */
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

/* Prints the first user's password once, to the starting process and not to
 * the log. */
static void tell_password(const up *u, const char *json, size_t len)
{
  char text[1024];
  pai_json *j;

  if (!cli_json_read(&j, json, len))
    return;
  if (cli_json_has(j, 0, "password")) {
    (void)snprintf(text, sizeof(text),
                   "the first account is %s, with the password %s\n"
                   "  it is shown only once: keep it, or change it with "
                   "'openpai user passwd'\n",
                   cli_json_text(j, 0, "username"),
                   cli_json_text(j, 0, "password"));
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

/* Warns that nobody can log in: there is no user, and none was created. */
static void tell_of_nobody(up *u)
{
  if (u->wanted->server.oidc == NULL && count_users(u) == 0)
    on_log(u, PAI_LOG_WARNING,
           "there is no user yet, and the journal is no place for a password: "
           "'openpai user add --admin NAME' makes one");
}

/* The TCP listener failed, so the platform does not serve at all. */
static void fail_far(up *u, const pai_error *err)
{
  if (!u->ending) {
    say_failure(u, PAI_EINVAL, err);
    u->failed = true;
    end(u, 0);
  }
  say_ready(u, "");
}

/* The first user exists now, so the addresses are printed. */
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
  if (!u->ending && u->wanted->server.listen != NULL)
    tell_addresses(u);
  (void)fflush(stdout);
  say_ready(u, "");
}

static void serve_far(up *u)
{
  /* random, and printed if there is no user yet */
  bool made = u->password == NULL;
  pai_error *err = NULL;

  /* With an OpenID Connect provider a password would be useless. */
  const char *first =
    u->wanted->server.oidc != NULL || (made && is_in_journal()) ? "" : NULL;

  if (pai_accounts_setup(pai_platform_accounts(u->platform), first,
                         u->password, on_first_user, u, &err) < 0) {
    fail_far(u, err);
    cli_help(stderr,
             "set the first user's password in $OPENPAI_ADMIN_PASSWORD, or "
             "leave it unset for a random one");
  }
  pai_error_free(err);
}

/* A platform on TCP needs a user, so the first one is created.  A platform
 * with its own socket only gets one if a password is given. */
static void begin_users(up *u)
{
  if (u->wanted->server.listen != NULL || u->password != NULL)
    serve_far(u);
  else
    say_ready(u, "ok\n");
}

static int serve(up *u)
{
  pai_error *err = NULL;
  char text[4400];
  int rc;

  cli_raise_limits();
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
    if (cli_asked_to_end() && rc == PAI_OK)
      end(u, 0);
  cli_end_by_signals(NULL, false);
  pai_loop_free(u->loop);
  if (rc == PAI_OK)
    on_log(u, PAI_LOG_INFO, "the platform has ended");
  return rc == PAI_OK && !u->failed ? CLI_OK : CLI_NO;
}

/* Returns the given value, or that of the environment variable, or NULL. */
static const char *either(const char *said, const char *variable)
{
  const char *told = said != NULL ? said : getenv(variable);

  return told != NULL && told[0] != '\0' ? told : NULL;
}

/* Creates the folder of the socket, if it is outside the root, accessible to
 * all users. */
static bool make_socket_folder(const up *u)
{
  char *folder = strdup(u->socket), *slash;
  struct stat st;
  bool good = folder != NULL && (slash = strrchr(folder, '/')) != NULL;

  if (good)
    *slash = '\0';
  if (good && u->wanted->platform.system && strcmp(folder, u->root) != 0) {
    (void)mkdir(folder, 0755);
    good = lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid() && chmod(folder, 0755) == 0;
    if (!good)
      cli_fail("%s cannot be created, or belongs to another user", folder);
  }
  free(folder);
  return good;
}

/* Removes secrets from the environment, which tasks inherit.  The secret for
 * OpenID Connect has already been read. */
static char *take_password(void)
{
  const char *said = getenv("OPENPAI_ADMIN_PASSWORD");
  char *password = said != NULL && said[0] != '\0' ? strdup(said) : NULL;

  (void)unsetenv("OPENPAI_ADMIN_PASSWORD");
  (void)unsetenv("OPENPAI_OIDC_CLIENT_SECRET");
  return password;
}

int cli_serve(const cli_serving *wanted)
{
  int ready = cli_ready_fd(), code = CLI_NO;
  up u = { .root = cli_root_path(),
           .runtime = either(wanted->platform.runtime, "OPENPAI_RUNTIME"),
           .policy = either(wanted->platform.policy, "OPENPAI_POLICY"),
           .wanted = wanted,
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

/* Chooses a system platform only if asked to, even if one runs. */
bool cli_choose_root(bool system)
{
  const char *named = getenv("OPENPAI_ROOT");

  cli_start_system = system;
  if (system && geteuid() != 0) {
    cli_fail("only root can run a platform for all users");
    cli_help(stderr, "use sudo openpai up --system, or omit --system for a "
                     "platform of your own");
    return false;
  }
  if (cli_root != NULL || (!system && named != NULL && named[0] != '\0'))
    return true;
  cli_root = system ? cli_system_root() : cli_root_path();
  return cli_root != NULL;
}
