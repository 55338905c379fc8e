/* cmd_group.c - groups of users, and what their members may */
#include "accounts.h"

#include <stdlib.h>
#include <string.h>

#define GROUPS "/api/v2/groups"
#define OPTIONS(of) (sizeof(of) / sizeof((of)[0]))

/* --- list, show ------------------------------------------------------------------ */

static size_t acls_of(const cli_json *j, size_t group)
{
  size_t extension = cli_json_get(j, group, "extension");

  return extension != 0 ? cli_json_get(j, extension, "acls") : 0;
}

static void add_list(cli_table *t, const cli_json *j, size_t acls,
                     const char *key)
{
  if (acls != 0)
    cli_table_add_list(t, j, acls, key);
  else
    cli_table_add(t, "-");
}

static void add_group(cli_table *t, const cli_json *j, size_t i)
{
  const char *what = cli_json_text(j, i, "description");
  size_t acls = acls_of(j, i);

  cli_table_add(t, cli_json_text(j, i, "groupname"));
  cli_table_add(t,
                acls != 0 && cli_json_true(j, acls, "admin") ? "yes" : "no");
  add_list(t, j, acls, "virtualClusters");
  add_list(t, j, acls, "storageConfigs");
  cli_table_add(t, what[0] != '\0' ? what : "-");
}

static void begin_table(cli_table *t)
{
  static const char *const heads[] = { "NAME", "ADMIN", "CLUSTERS", "STORAGES",
                                       "DESCRIPTION" };

  cli_table_begin(t, OPTIONS(heads), heads);
}

static int list(cli_remote *r)
{
  cli_table t;
  cli_json j;

  if (!cli_remote_get(r, &j, GROUPS))
    return CLI_NO;
  begin_table(&t);
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i))
    add_group(&t, &j, i);
  cli_table_end(&t, stdout);
  cli_json_free(&j);
  return CLI_OK;
}

/* Who is in it. */
static int print_members(cli_remote *r, const char *name)
{
  char *path = cli_path(GROUPS, name, "/userlist");
  bool good, any = false;
  cli_json j;

  good = cli_remote_get(r, &j, path);
  free(path);
  if (!good)
    return CLI_NO;
  (void)printf("members:");
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i)) {
    (void)printf(" %s", cli_json_text(&j, i, "username"));
    any = true;
  }
  (void)printf("%s\n", any ? "" : " none");
  cli_json_free(&j);
  return CLI_OK;
}

static int show(cli_remote *r, const char *name)
{
  char *path = cli_path(GROUPS, name, "");
  bool good;
  cli_table t;
  cli_json j;

  good = cli_remote_get(r, &j, path);
  free(path);
  if (!good)
    return CLI_NO;
  begin_table(&t);
  add_group(&t, &j, 0);
  cli_table_end(&t, stdout);
  cli_json_free(&j);
  return print_members(r, name);
}

static int run_list(int argc, char **argv)
{
  return cli_run_list(&cli_group_list, argc, argv, GROUPS, list);
}

static int run_show(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words =
        cli_options(&cli_group_show, options, OPTIONS(options), argc, argv),
      code;
  cli_remote r;
  char *path;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_group_show, words, argv, 1, 1,
                      "this takes one group's name"))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  path = cli_path(GROUPS, argv[0], "");
  code = json ? cli_print_answer(&r, path) : show(&r, argv[0]);
  free(path);
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_group_list = {
  .name = "group list",
  .brief = "List groups of users and their rights",
  .usage = "[--json] [--root DIR]",
  .help = "  --json         the answer of GET /api/v2/groups\n" CLI_ROOT_HELP
    CLI_DONE_HELP,
  .run = run_list,
};

const cli_verb cli_group_show = {
  .name = "group show",
  .brief = "Show a group and its members",
  .usage = "[--json] [--root DIR] NAME",
  .help =
    "  --json         the answer of GET /api/v2/groups/NAME\n" CLI_ROOT_HELP
      CLI_DONE_HELP,
  .run = run_show,
};

/* --- add, set ------------------------------------------------------------------- */

typedef struct group_options {
  const char *description, *external, *clusters, *storages;
  bool admin, no_admin;
} group_options;

#define GROUP_OPTIONS(o)                                                     \
  { "description", 0, NULL, &(o).description },                              \
    { "external-name", 0, NULL, &(o).external },                             \
    { "vc", 0, NULL, &(o).clusters }, { "storage", 0, NULL, &(o).storages }, \
    { "admin", 0, &(o).admin, NULL },                                        \
  {                                                                          \
    "root", 0, NULL, &cli_root                                               \
  }

static char *write_new(const char *name, const group_options *o)
{
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  cli_put_text(&t, "groupname", name);
  cli_put_text(&t, "description", o->description);
  cli_put_text(&t, "externalName", o->external);
  cli_put_key(&t, "extension");
  cli_put_object(&t);
  cli_put_key(&t, "acls");
  cli_put_object(&t);
  cli_put_flag(&t, "admin", o->admin);
  cli_put_list(&t, "virtualClusters", o->clusters != NULL ? o->clusters : "");
  cli_put_list(&t, "storageConfigs", o->storages);
  cli_put_end(&t);
  cli_put_end(&t);
  cli_put_end(&t);
  return cli_text_end(&t);
}

static int run_add(int argc, char **argv)
{
  group_options o = { 0 };
  const cli_option options[] = { GROUP_OPTIONS(o) };
  int words =
        cli_options(&cli_group_add, options, OPTIONS(options), argc, argv),
      code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_group_add, words, argv, 1, 1,
                      "this takes one group's name"))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  if (cli_change(&r, "POST", GROUPS, "", "", write_new(argv[0], &o), true))
    code = CLI_OK;
  cli_remote_close(&r);
  return code;
}

static char *write_change(const char *name, const group_options *o)
{
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  cli_put_flag(&t, "patch", true);
  cli_put_key(&t, "data");
  cli_put_object(&t);
  cli_put_text(&t, "groupname", name);
  cli_put_text(&t, "description", o->description);
  cli_put_text(&t, "externalName", o->external);
  cli_put_end(&t);
  cli_put_end(&t);
  return cli_text_end(&t);
}

/* {"data": ...}: a list, or with NULL a truth. */
static char *write_data(const char *items, bool flag)
{
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  if (items != NULL)
    cli_put_list(&t, "data", items);
  else
    cli_put_flag(&t, "data", flag);
  cli_put_end(&t);
  return cli_text_end(&t);
}

static bool set_acl(cli_remote *r, const char *name, const char *rest,
                    const char *items, bool flag)
{
  return cli_change(r, "PUT", GROUPS, name, rest, write_data(items, flag),
                    true);
}

static bool set(cli_remote *r, const char *name, const group_options *o)
{
  bool good = true;

  if (o->description != NULL || o->external != NULL)
    good = cli_change(r, "PUT", GROUPS, "", "", write_change(name, o), true);
  if (good && o->clusters != NULL)
    good =
      set_acl(r, name, "/extension/acls/virtualClusters", o->clusters, false);
  if (good && o->storages != NULL)
    good =
      set_acl(r, name, "/extension/acls/storageConfigs", o->storages, false);
  if (good && (o->admin || o->no_admin))
    good = set_acl(r, name, "/extension/acls/admin", NULL, o->admin);
  return good;
}

static bool is_nothing(const group_options *o)
{
  return o->description == NULL && o->external == NULL &&
         o->clusters == NULL && o->storages == NULL && !o->admin &&
         !o->no_admin;
}

static int run_set(int argc, char **argv)
{
  group_options o = { 0 };
  const cli_option options[] = { GROUP_OPTIONS(o),
                                 { "no-admin", 0, &o.no_admin, NULL } };
  int words =
        cli_options(&cli_group_set, options, OPTIONS(options), argc, argv),
      code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_group_set, words, argv, 1, 1,
                      "this takes one group's name"))
    return CLI_USAGE;
  if (is_nothing(&o) || (o.admin && o.no_admin)) {
    cli_misused(&cli_group_set,
                o.admin ? "these options exclude each other"
                        : "no setting is given",
                o.admin ? "--admin --no-admin" : argv[0]);
    return CLI_USAGE;
  }
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  if (set(&r, argv[0], &o))
    code = CLI_OK;
  cli_remote_close(&r);
  return code;
}

static int run_remove(int argc, char **argv)
{
  static const cli_change_of gone = {
    .what = "this takes groups' names",
    .method = "DELETE",
    .start = GROUPS,
    .rest = "",
  };

  return cli_run_change(&cli_group_remove, argc, argv, &gone);
}

#define GROUP_HELP                                                         \
  "  --description TEXT\n"                                                 \
  "                 purpose of the group\n"                                \
  "  --external-name NAME\n"                                               \
  "                 name of the group at the login provider\n"             \
  "  --vc NAMES     virtual clusters that members may use, separated by\n" \
  "                 commas\n"                                              \
  "  --storage NAMES\n"                                                    \
  "                 storages that members may use, separated by commas; "  \
  "the\n"                                                                  \
  "                 first is their default storage\n"

const cli_verb cli_group_add = {
  .name = "group add",
  .brief = "Add a group of users",
  .usage = "[--description TEXT] [--external-name NAME] [--vc NAMES]\n"
           "             [--storage NAMES] [--admin] [--root DIR] NAME",
  .help = GROUP_HELP
  "  --admin        members are administrators\n" CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_add,
};

const cli_verb cli_group_set = {
  .name = "group set",
  .brief = "Change a group of users",
  .usage = "[--description TEXT] [--external-name NAME] [--vc NAMES]\n"
           "             [--storage NAMES] [--admin | --no-admin]\n"
           "             [--root DIR] NAME",
  .help = GROUP_HELP
  "  --admin        members are administrators\n"
  "  --no-admin     members are no longer administrators\n" CLI_ROOT_HELP
    CLI_DONE_HELP,
  .run = run_set,
};

const cli_verb cli_group_remove = {
  .name = "group remove",
  .brief = "Remove groups, and take them from their members",
  .usage = "[--root DIR] NAME...",
  .help = CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_remove,
};
