/* cmd_user.c - users of the platform, as its administrator sees to them */
#include "accounts.h"

#include <stdlib.h>
#include <string.h>

#define USERS "/api/v2/users"
#define OPTIONS(of) (sizeof(of) / sizeof((of)[0]))

/* --- list, show --------------------------------------------------------------- */

static void add_user(cli_table *t, const cli_json *j, size_t i)
{
  const char *mail = cli_json_text(j, i, "email");

  cli_table_add(t, cli_json_text(j, i, "username"));
  cli_table_add(t, cli_json_true(j, i, "admin") ? "yes" : "no");
  cli_table_add_list(t, j, i, "virtualCluster");
  cli_table_add_list(t, j, i, "grouplist");
  cli_table_add(t, mail[0] != '\0' ? mail : "-");
}

static void begin_table(cli_table *t)
{
  static const char *const heads[] = { "NAME", "ADMIN", "CLUSTERS", "GROUPS",
                                       "EMAIL" };

  cli_table_begin(t, OPTIONS(heads), heads);
}

/* All of them, or with a name one. */
static int list(cli_remote *r, const char *name, bool json)
{
  char *path = cli_path(USERS, name, "");
  int code = CLI_NO;
  cli_table t;
  cli_json j;

  if (json) {
    code = cli_print_answer(r, path);
  } else if (cli_remote_get(r, &j, path)) {
    begin_table(&t);
    if (name[0] != '\0')
      add_user(&t, &j, 0);
    else
      for (size_t i = cli_json_first(&j, 0); i != 0;
           i = cli_json_next(&j, 0, i))
        add_user(&t, &j, i);
    cli_table_end(&t, stdout);
    cli_json_free(&j);
    code = CLI_OK;
  }
  free(path);
  return code;
}

static int run_list_of(const cli_verb *verb, int argc, char **argv, int names)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(verb, options, OPTIONS(options), argc, argv), code;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(verb, words, argv, names, names,
                      names == 0 ? "list takes no name"
                                 : "this takes one user's name"))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = list(&r, names > 0 ? argv[0] : "", json);
  cli_remote_close(&r);
  return code;
}

static int run_list(int argc, char **argv)
{
  return run_list_of(&cli_user_list, argc, argv, 0);
}

static int run_show(int argc, char **argv)
{
  return run_list_of(&cli_user_show, argc, argv, 1);
}

const cli_verb cli_user_list = {
  .name = "user list",
  .brief = "List the platform's users",
  .usage = "[--json] [--root DIR]",
  .help = "  --json         the answer of GET /api/v2/users\n" CLI_ROOT_HELP
    CLI_DONE_HELP,
  .run = run_list,
};

const cli_verb cli_user_show = {
  .name = "user show",
  .brief = "Show a user",
  .usage = "[--json] [--root DIR] NAME",
  .help =
    "  --json         the answer of GET /api/v2/users/NAME\n" CLI_ROOT_HELP
      CLI_DONE_HELP,
  .run = run_show,
};

/* --- add, set ------------------------------------------------------------------ */

typedef struct user_options {
  const char *email, *clusters, *groups, *password;
  bool admin, no_admin;
} user_options;

static char *write_new(const char *name, const user_options *o,
                       const char *password)
{
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  cli_put_text(&t, "username", name);
  cli_put_text(&t, "password", password);
  cli_put_text(&t, "email", o->email);
  cli_put_list(&t, "virtualCluster", o->clusters);
  cli_put_flag(&t, "admin", o->admin);
  cli_put_end(&t);
  return cli_text_end(&t);
}

/* What is open since there are several accounts. */
static void tell_warning(cli_remote *r)
{
  const char *warning;
  cli_answer a;
  cli_json status;

  cli_remote_ask(r, &a, "GET", "/api/v2/status", NULL, NULL, 0);
  if (a.status == PAI_OK && cli_json_read(&status, a.body, a.len)) {
    warning = cli_json_text(&status, 0, "warning");
    if (warning[0] != '\0')
      cli_say(PAI_LOG_WARNING, warning);
    cli_json_free(&status);
  }
  cli_answer_free(&a);
}

static int add(const char *name, const user_options *o)
{
  char *password = cli_new_password(name, o->password);
  int code = CLI_NO;
  cli_remote r;

  if (password != NULL && cli_remote_open(&r, true)) {
    if (cli_change(&r, "POST", USERS, "", "", write_new(name, o, password),
                   true)) {
      tell_warning(&r);
      code = CLI_OK;
    }
    cli_remote_close(&r);
  }
  free(password);
  return code;
}

static int run_add(int argc, char **argv)
{
  user_options o = { 0 };
  const cli_option options[] = { { "email", 0, NULL, &o.email },
                                 { "vc", 0, NULL, &o.clusters },
                                 { "admin", 0, &o.admin, NULL },
                                 { "password-file", 0, NULL, &o.password },
                                 { "root", 0, NULL, &cli_root } };
  int words =
    cli_options(&cli_user_add, options, OPTIONS(options), argc, argv);

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_user_add, words, argv, 1, 1,
                      "this takes one user's name"))
    return CLI_USAGE;
  return add(argv[0], &o);
}

/* What PUT /users takes. */
static char *write_change(const char *name, const user_options *o)
{
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  cli_put_flag(&t, "patch", true);
  cli_put_key(&t, "data");
  cli_put_object(&t);
  cli_put_text(&t, "username", name);
  cli_put_text(&t, "email", o->email);
  cli_put_list(&t, "virtualCluster", o->clusters);
  if (o->admin || o->no_admin)
    cli_put_flag(&t, "admin", o->admin);
  cli_put_end(&t);
  cli_put_end(&t);
  return cli_text_end(&t);
}

static char *write_groups(const char *groups)
{
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  cli_put_list(&t, "grouplist", groups);
  cli_put_end(&t);
  return cli_text_end(&t);
}

static int set(const char *name, const user_options *o)
{
  bool good = true;
  cli_remote r;

  if (!cli_remote_open(&r, true))
    return CLI_NO;
  if (o->email != NULL || o->clusters != NULL || o->admin || o->no_admin)
    good = cli_change(&r, "PUT", USERS, "", "", write_change(name, o), true);
  if (good && o->groups != NULL)
    good = cli_change(&r, "PUT", USERS, name, "/grouplist",
                      write_groups(o->groups), true);
  cli_remote_close(&r);
  return good ? CLI_OK : CLI_NO;
}

static int run_set(int argc, char **argv)
{
  user_options o = { 0 };
  const cli_option options[] = {
    { "email", 0, NULL, &o.email },       { "vc", 0, NULL, &o.clusters },
    { "groups", 0, NULL, &o.groups },     { "admin", 0, &o.admin, NULL },
    { "no-admin", 0, &o.no_admin, NULL }, { "root", 0, NULL, &cli_root }
  };
  int words =
    cli_options(&cli_user_set, options, OPTIONS(options), argc, argv);

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_user_set, words, argv, 1, 1,
                      "this takes one user's name"))
    return CLI_USAGE;
  if (o.admin && o.no_admin) {
    cli_misused(&cli_user_set, "these options exclude each other",
                "--admin --no-admin");
    return CLI_USAGE;
  }
  if (o.email == NULL && o.clusters == NULL && o.groups == NULL && !o.admin &&
      !o.no_admin) {
    cli_misused(&cli_user_set, "no setting is given for", argv[0]);
    return CLI_USAGE;
  }
  return set(argv[0], &o);
}

const cli_verb cli_user_add = {
  .name = "user add",
  .brief = "Add a user",
  .usage = "[--admin] [--email ADDRESS] [--vc NAMES] [--password-file FILE]\n"
           "             [--root DIR] NAME",
  .help =
    "The user can then log in over TCP.  The password is asked for, unless\n"
    "--password-file is given.\n"
    "\n"
    "  --admin        make the user an administrator\n"
    "  --email ADDRESS\n"
    "                 mail address\n"
    "  --vc NAMES     virtual clusters, separated by commas, in addition to\n"
    "                 default, which all users have\n"
    "  --password-file FILE\n"
    "                 file with the password in its first line; - is "
    "standard\n"
    "                 input\n" CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_add,
};

const cli_verb cli_user_set = {
  .name = "user set",
  .brief = "Change a user",
  .usage = "[--email ADDRESS] [--vc NAMES | --groups NAMES]\n"
           "             [--admin | --no-admin] [--root DIR] NAME",
  .help =
    "  --email ADDRESS\n"
    "                 new mail address\n"
    "  --vc NAMES     list of virtual clusters, separated by commas; "
    "replaces\n"
    "                 the old list\n"
    "  --groups NAMES list of groups, separated by commas; replaces the old\n"
    "                 list\n"
    "  --admin        make the user an administrator\n"
    "  --no-admin     take that right away\n" CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_set,
};

/* --- passwd, remove -------------------------------------------------------------- */

static char *write_password(const char *password)
{
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  cli_put_text(&t, "newPassword", password);
  cli_put_end(&t);
  return cli_text_end(&t);
}

static int run_passwd(int argc, char **argv)
{
  const char *file = NULL;
  const cli_option options[] = { { "password-file", 0, NULL, &file },
                                 { "root", 0, NULL, &cli_root } };
  int words =
        cli_options(&cli_user_passwd, options, OPTIONS(options), argc, argv),
      code = CLI_NO;
  char *password;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_user_passwd, words, argv, 1, 1,
                      "this takes one user's name"))
    return CLI_USAGE;
  password = cli_new_password(argv[0], file);
  if (password != NULL && cli_remote_open(&r, true)) {
    if (cli_change(&r, "PUT", USERS, argv[0], "/password",
                   write_password(password), true))
      code = CLI_OK;
    cli_remote_close(&r);
  }
  free(password);
  return code;
}

/* "/NAME?heir=HEIR" of the last word, for free(). */
static char *heir_path(const char *heir)
{
  char *escaped = cli_escape(heir), *path = NULL;
  size_t size = escaped != NULL ? strlen(escaped) + 8 : 0;

  if (size > 0)
    path = malloc(size);
  if (path != NULL)
    (void)snprintf(path, size, "?heir=%s", escaped);
  free(escaped);
  return path;
}

static int run_remove(int argc, char **argv)
{
  const char *heir = NULL;
  const cli_option options[] = { { "give-jobs-to", 0, NULL, &heir },
                                 { "root", 0, NULL, &cli_root } };
  int words =
        cli_options(&cli_user_remove, options, OPTIONS(options), argc, argv),
      code = CLI_OK;
  char *rest;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_user_remove, words, argv, 1, argc,
                      "this takes users' names"))
    return CLI_USAGE;
  rest = heir != NULL ? heir_path(heir) : strdup("");
  if (rest == NULL || !cli_remote_open(&r, true)) {
    free(rest);
    return CLI_NO;
  }
  for (int i = 0; i < words; i++)
    if (!cli_change(&r, "DELETE", USERS, argv[i], rest, NULL, false))
      code = CLI_NO;
  cli_remote_close(&r);
  free(rest);
  return code;
}

const cli_verb cli_user_passwd = {
  .name = "user passwd",
  .brief = "Change a user's password",
  .usage = "[--password-file FILE] [--root DIR] NAME",
  .help = "Tokens of the user's logins are revoked; tokens for programs stay\n"
          "valid.\n"
          "\n"
          "  --password-file FILE\n"
          "                 file with the password in its first line; - is "
          "standard\n"
          "                 input\n" CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_passwd,
};

const cli_verb cli_user_remove = {
  .name = "user remove",
  .brief = "Remove users with their tokens",
  .usage = "[--give-jobs-to NAME] [--root DIR] NAME...",
  .help =
    "The user's jobs are stopped.  They keep their names and belong to the\n"
    "administrators: a later user of the same name does not get them.  To\n"
    "remove an administrator, run 'openpai user set --no-admin' first.\n\n"
    "  --give-jobs-to NAME\n"
    "                 new owner of the jobs, which then "
    "continue\n" CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_remove,
};
