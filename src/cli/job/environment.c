/*
 * environment.c - environment variables that a verb adds to a job
 *
 * The variables are in extras.openpai.environment of the job's file.  A value
 * that looks like a secret becomes a secret of the job, which servers keep
 * encrypted and show to nobody; the variable then only refers to it.
 */
#include "draft.h"
#include "environment.h"
#include "file.h"
#include "json.h"
#include "secrets.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 256, MOST_PATH = 1024 };

typedef struct variable {
  const char *name; /* `len` bytes, followed by = and the value */
  size_t len;
  const char *value;
} variable;

typedef struct variables {
  variable *at;
  size_t len, cap;
  bool failed;
} variables;

/* --- which variables are special ----------------------------------------- */

/* Variables of this session, meaningless or wrong elsewhere.  An entry that
 * ends with * is a prefix.  docs/guide/single-box.md has this table. */
static const char session[] =
  "_ PWD OLDPWD SHLVL HOME USER LOGNAME SHELL MAIL HOSTNAME HOST TERM "
  "TERM_* TERMCAP COLORTERM LINES COLUMNS LS_COLORS DISPLAY WAYLAND_* "
  "XAUTHORITY WINDOWID XDG_* DBUS_* DESKTOP_* GNOME_* KDE_* GDM* "
  "SESSION_* VTE_* STY TMUX* SSH_* GPG_* SUDO_* TMPDIR TMP TEMP PS1 PS2 "
  "PS4 PROMPT_COMMAND HIST* UID EUID PPID SHELLOPTS BASHOPTS BASH_* "
  "EDITOR VISUAL PAGER LESS* INVOCATION_ID SYSTEMD_* JOURNAL_STREAM "
  "NOTIFY_SOCKET LISTEN_* MANAGERPID* OPENPAI_* PAI_* FC_* "
  "CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES "
  "ROCR_VISIBLE_DEVICES";

/* Paths of this machine: not set in a container, whose image has its own. */
static const char machine[] =
  "PATH VIRTUAL_ENV* CONDA_* _CE_* PYTHON* PYENV_* LD_* LIBRARY_PATH "
  "CPATH MANPATH INFOPATH CUDA_HOME CUDA_PATH ROCM_PATH JAVA_HOME NVM_* "
  "NODE_PATH GOPATH GOROOT CARGO_HOME RUSTUP_* PERL5LIB R_HOME R_LIBS* "
  "PKG_CONFIG_* SSL_CERT_* CURL_CA_BUNDLE REQUESTS_CA_BUNDLE";

static bool is_in(const char *list, const variable *v)
{
  for (size_t len; *list != '\0'; list += len + (list[len] == ' ')) {
    len = strcspn(list, " ");
    if (list[len - 1] == '*'
          ? v->len >= len - 1 && strncmp(v->name, list, len - 1) == 0
          : v->len == len && strncmp(v->name, list, len) == 0)
      return true;
  }
  return false;
}

static bool ends_with(const char *word, size_t len, const char *end)
{
  size_t n = strlen(end);

  return len >= n && strncmp(word + len - n, end, n) == 0;
}

/* Whether a part of a name between underscores, in capitals, suggests a
 * secret. */
static bool is_secret_word(const char *word, size_t len)
{
  static const char *const whole[] = { "KEY",    "KEYS",   "AUTH",   "PAT",
                                       "PWD",    "JWT",    "TOKENS", "PASS",
                                       "COOKIE", "COOKIES" };

  for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
    if (len == strlen(whole[i]) && strncmp(word, whole[i], len) == 0)
      return true;
  return ends_with(word, len, "TOKEN") || ends_with(word, len, "KEY");
}

static bool has_secret_name(const variable *v)
{
  static const char *const inside[] = { "PASSWORD", "PASSWD", "PASSPHRASE",
                                        "SECRET", "CREDENTIAL" };
  char name[MOST_NAME];
  size_t len = v->len < sizeof(name) ? v->len : sizeof(name) - 1;

  for (size_t i = 0; i < len; i++)
    name[i] = (char)toupper((unsigned char)v->name[i]);
  name[len] = '\0';
  for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
    if (strstr(name, inside[i]) != NULL)
      return true;
  for (const char *word = name;; word++) {
    size_t n = strcspn(word, "_");

    if (is_secret_word(word, n))
      return true;
    word += n;
    if (*word == '\0')
      return false;
  }
}

/* Whether a value is a private key or a URL with a password. */
static bool has_secret_value(const char *value)
{
  if (strncmp(value, "-----BEGIN ", 11) == 0)
    return true;
  for (const char *at = value; (at = strstr(at, "://")) != NULL;) {
    size_t host = strcspn(at += 3, "/ \t\n");
    const char *sign = memchr(at, '@', host);

    if (sign != NULL && memchr(at, ':', (size_t)(sign - at)) != NULL)
      return true;
  }
  return false;
}

static bool is_secret(const variable *v)
{
  return has_secret_name(v) || has_secret_value(v->value);
}

/* --- the list ------------------------------------------------------------ */

static bool is_name(const char *word, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (!(isalpha((unsigned char)word[i]) || word[i] == '_' ||
          (i > 0 && isdigit((unsigned char)word[i]))))
      return false;
  return len > 0 && len < MOST_NAME;
}

/* The last value of a name wins. */
static void put(variables *all, const char *word, size_t len,
                const char *value)
{
  const variable v = { word, len, value };

  for (size_t i = 0; i < all->len; i++)
    if (all->at[i].len == len && strncmp(all->at[i].name, word, len) == 0) {
      all->at[i] = v;
      return;
    }
  if (all->len == all->cap) {
    size_t cap = all->cap > 0 ? all->cap * 2 : 64;
    variable *grown = realloc(all->at, cap * sizeof(*grown));

    all->failed |= grown == NULL;
    if (grown == NULL)
      return;
    all->at = grown;
    all->cap = cap;
  }
  all->at[all->len++] = v;
}

static void inherit_all(variables *all)
{
  extern char **environ;

  for (char **var = environ; *var != NULL; var++) {
    size_t len = strcspn(*var, "=");
    const variable v = { *var, len, *var + len + 1 };

    if ((*var)[len] == '=' && is_name(*var, len) && !is_in(session, &v))
      put(all, *var, len, v.value);
  }
}

/* Takes NAME=VALUE, or NAME with its value in this process.  Errors never
 * print the value. */
static bool take_word(variables *all, const char *word, const char *from)
{
  size_t len = strcspn(word, "=");
  const char *value;
  char name[MOST_NAME];

  if (!is_name(word, len)) {
    cli_fail("%s: not a valid name of a variable: %.*s", from,
             (int)(len < 80 ? len : 80), word);
    cli_help(
      stderr,
      "write NAME=VALUE, or NAME to take its value from this environment");
    return false;
  }
  if (word[len] == '=') {
    put(all, word, len, word + len + 1);
    return true;
  }
  (void)snprintf(name, sizeof(name), "%.*s", (int)len, word);
  value = getenv(name);
  if (value != NULL) {
    put(all, word, len, value);
    return true;
  }
  cli_fail("%s: %s is not set in this environment", from, name);
  return false;
}

/* Takes the lines of a file, in place: one variable per line, its value
 * without any quoting. */
static bool take_lines(variables *all, char *text, const char *file)
{
  for (char *line = text, *next; line != NULL; line = next) {
    size_t len = strcspn(line, "\n");

    next = line[len] == '\n' ? line + len + 1 : NULL;
    line[len] = '\0';
    if (len > 0 && line[len - 1] == '\r')
      line[len - 1] = '\0';
    line += strspn(line, " \t");
    if (*line != '\0' && *line != '#' && !take_word(all, line, file))
      return false;
  }
  return true;
}

/* Reads the file and appends a NUL. */
static bool read_text(char **text, const char *file)
{
  size_t len = 0;

  return cli_read(text, &len, file, CLI_JOB_FILE) == CLI_OK;
}

/* Collects all variables.  They point into *text, which the caller frees after
 * use. */
static int take_all(variables *all, char **text,
                    const cli_environment_options *e, bool inherit)
{
  if (inherit && !e->clean_env)
    inherit_all(all);
  if (e->env_file != NULL &&
      (!read_text(text, e->env_file) ||
       !take_lines(all, *text, cli_shown_name(e->env_file))))
    return CLI_USAGE;
  for (size_t i = 0; i < e->env.count; i++)
    if (!take_word(all, e->env.words[i], "--env"))
      return CLI_USAGE;
  if (!all->failed)
    return CLI_OK;
  cli_fail("out of memory");
  return CLI_NO;
}

/* --- in the job: extras.openpai.environment ------------------------------ */

#define PLACE "/extras/openpai/environment"

/* Returns the variable's JSON value, for free(); NULL without memory. */
static char *write_value(const variable *v)
{
  bool outside = is_in(machine, v);

  if (is_secret(v))
    return cli_json_make(outside ? "{\"secret\":%.*s,\"container\":false}"
                                 : "{\"secret\":%.*s}",
                         (int)v->len, v->name);
  return cli_json_make(outside ? "{\"value\":%s,\"container\":false}" : "%s",
                       v->value);
}

static int set_secret(pai_draft *draft, const variable *v, pai_error **err)
{
  char pointer[MOST_PATH], *there;

  (void)snprintf(pointer, sizeof(pointer), "/secrets/%.*s", (int)v->len,
                 v->name);
  there = cli_draft_value(draft, pointer);
  if (there != NULL) {
    cli_fail("--env: the job has a secret %.*s already", (int)v->len, v->name);
    cli_help(stderr, "give it with --secrets or --secret-file");
    free(there);
    return PAI_EEXISTS;
  }
  return pai_draft_set_text(draft, pointer, v->value, strlen(v->value), err);
}

static int set_variable(pai_draft *draft, const variable *v, pai_error **err)
{
  char pointer[MOST_PATH], *value = write_value(v);
  int rc = value != NULL ? PAI_OK : PAI_ENOMEM;

  (void)snprintf(pointer, sizeof(pointer), PLACE "/%.*s", (int)v->len,
                 v->name);
  if (rc == PAI_OK && is_secret(v))
    rc = set_secret(draft, v, err);
  if (rc == PAI_OK)
    rc = pai_draft_set(draft, pointer, value, err);
  free(value);
  return rc;
}

static int set_all(pai_draft *draft, void *data, pai_error **err)
{
  const variables *all = data;
  char *there = cli_draft_value(draft, PLACE);
  int rc = PAI_OK;

  if (there != NULL &&
      there[0] != '{') /* lines already in the commands stay */
    rc = pai_draft_set(draft, PLACE, "{}", err);
  free(there);
  for (size_t i = 0; rc == PAI_OK && i < all->len; i++)
    rc = set_variable(draft, &all->at[i], err);
  return rc;
}

char *cli_environment_secret(const pai_draft *draft, const char *name)
{
  const char *value = getenv(name);
  char pointer[MOST_PATH], own[MOST_NAME + 3], *there;
  bool same;

  if (value == NULL || !is_name(name, strlen(name)))
    return NULL;
  (void)snprintf(pointer, sizeof(pointer), PLACE "/%s/secret", name);
  (void)snprintf(own, sizeof(own), "\"%s\"", name);
  there = cli_draft_value(draft, pointer);
  same = there != NULL && strcmp(there, own) == 0;
  free(there);
  return same ? strdup(value) : NULL;
}

static int fill(cli_job_file *job, variables *all)
{
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  int rc =
    cli_draft_change(&draft, job->text, job->len, NULL, set_all, all, &err);

  if (rc == PAI_OK && !cli_job_file_set(job, draft))
    rc = PAI_ENOMEM;
  else if (err != NULL)
    cli_error(NULL, err);
  else if (rc < 0 && rc != PAI_EEXISTS)
    cli_fail("out of memory");
  pai_error_free(err);
  pai_draft_free(draft);
  return rc == PAI_OK ? CLI_OK : CLI_NO;
}

int cli_environment_fill(cli_job_file *job, const cli_environment_options *e,
                         bool inherit)
{
  variables all = { NULL, 0, 0, false };
  char *text = NULL;
  int code = take_all(&all, &text, e, inherit);

  if (code == CLI_OK && all.len > 0 && job->file.report != NULL &&
      pai_report_version(job->file.report) == 1) {
    cli_fail("%s is a job config v1, which cannot set variables",
             cli_shown_name(job->file.name));
    cli_help(stderr, "convert it: openpai spec convert");
    code = CLI_USAGE;
  }
  if (code == CLI_OK && all.len > 0)
    code = fill(job, &all);
  free(all.at);
  free(text);
  return code;
}
