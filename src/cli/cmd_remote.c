/* cmd_remote.c - servers that are known by aliases */
#include "accounts.h"
#include "cells.h"
#include "file.h"

#include <stdlib.h>
#include <string.h>

#define END_HELP \
  "  -h, --help\n\nExit status: 0 success, 1 failure, 2 usage error\n"

enum { MOST = 1 << 20 };

/* The site of an alias; false, and told. */
static bool need_site(cli_site *out, const char *alias)
{
  const cli_site *found;
  cli_sites sites;
  bool good;

  if (!cli_sites_load(&sites))
    return false;
  found = cli_sites_find(&sites, alias);
  if (found == NULL)
    cli_sites_unknown(&sites, alias);
  good = found != NULL && cli_site_copy(out, found);
  cli_sites_free(&sites);
  return good;
}

/* --- list ----------------------------------------------------------------------- */

static void print_json(const cli_sites *sites)
{
  cli_text t;
  char *text;

  if (!cli_text_begin(&t))
    return;
  (void)fputc('[', t.out);
  for (size_t i = 0; i < sites->count; i++) {
    const cli_site *s = &sites->items[i];
    if (i > 0)
      (void)fputc(',', t.out);
    cli_put_object(&t);
    cli_put_text(&t, "alias", s->alias);
    cli_put_text(&t, "url", s->url);
    cli_put_text(&t, "user", s->user);
    cli_put_flag(&t, "current",
                 sites->current != NULL &&
                   strcmp(sites->current, s->alias) == 0);
    cli_put_end(&t);
  }
  (void)fputc(']', t.out);
  text = cli_text_end(&t);
  (void)printf("%s\n", text != NULL ? text : "");
  free(text);
}

static void print_table(const cli_sites *sites)
{
  static const char *const heads[] = { "ALIAS", "USER", "URL", "" };
  cli_table t;

  cli_table_begin(&t, sizeof(heads) / sizeof(heads[0]), heads);
  for (size_t i = 0; i < sites->count; i++) {
    const cli_site *s = &sites->items[i];
    cli_table_add(&t, s->alias);
    cli_table_add(&t, s->user != NULL ? s->user : "-");
    cli_table_add(&t, s->url);
    cli_table_add(&t, sites->current != NULL &&
                          strcmp(sites->current, s->alias) == 0
                        ? "used"
                        : "");
  }
  cli_table_end(&t, stdout);
}

static int run_list(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL } };
  int words = cli_options(&cli_remote_list, options, 1, argc, argv);
  cli_sites sites;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_remote_list, words, argv, 0, 0,
                      "list takes no argument"))
    return CLI_USAGE;
  if (!cli_sites_load(&sites))
    return CLI_NO;
  if (json)
    print_json(&sites);
  else if (sites.count > 0)
    print_table(&sites);
  else
    (void)fprintf(stderr, "no servers: openpai login URL adds one\n");
  cli_sites_free(&sites);
  return CLI_OK;
}

const cli_verb cli_remote_list = {
  .name = "remote list",
  .brief = "List remote servers and their aliases",
  .usage = "[--json]",
  .help = "  --json         print a JSON array\n" END_HELP,
  .run = run_list,
};

/* --- show ------------------------------------------------------------------------ */

static int show(const cli_site *site)
{
  char *token = cli_token_find(site);
  int code = CLI_NO;
  cli_remote r;
  cli_json j;

  (void)printf("alias   %s\nurl     %s\nuser    %s\ntoken   %s\n", site->alias,
               site->url, site->user != NULL ? site->user : "-",
               token != NULL ? "there is one" : "none: openpai login");
  (void)fflush(stdout);
  if (!cli_remote_open_site(&r, site, token)) {
    free(token);
    return code;
  }
  if (cli_remote_get(&r, &j, "/api/v2/info")) {
    const char *server = cli_json_text(&j, 0, "server");
    (void)printf("server  ");
    cli_print(stdout, server[0] != '\0' ? server : "OpenPAI");
    (void)printf(" ");
    cli_print(stdout, cli_json_text(&j, 0, "version"));
    (void)printf("\n");
    cli_json_free(&j);
    code = CLI_OK;
  }
  cli_remote_close(&r);
  free(token);
  return code;
}

static int run_show(int argc, char **argv)
{
  int words = cli_options(&cli_remote_show, NULL, 0, argc, argv), code;
  cli_site site;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_remote_show, words, argv, 1, 1,
                      "show takes one alias"))
    return CLI_USAGE;
  if (!need_site(&site, argv[0]))
    return CLI_NO;
  code = show(&site);
  cli_site_free(&site);
  return code;
}

const cli_verb cli_remote_show = {
  .name = "remote show",
  .brief = "Show a remote server and whether it answers",
  .usage = "ALIAS",
  .help = END_HELP,
  .run = run_show,
};

/* --- add, remove, use -------------------------------------------------------------- */

static int run_add(int argc, char **argv)
{
  const char *user = NULL, *ca_file = NULL;
  const cli_option options[] = { { "user", 0, NULL, &user },
                                 { "ca-file", 0, NULL, &ca_file } };
  int words = cli_options(&cli_remote_add, options, 2, argc, argv);
  cli_site site;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_remote_add, words, argv, 2, 2,
                      "add takes an alias and a URL"))
    return CLI_USAGE;
  if (!cli_is_url(argv[1])) {
    cli_misused(&cli_remote_add, "this is no URL", argv[1]);
    return CLI_USAGE;
  }
  site = (cli_site){ .alias = argv[0],
                     .url = argv[1],
                     .user = (char *)user,
                     .ca_file = (char *)ca_file };
  return cli_site_put(&site) ? CLI_OK : CLI_NO;
}

const cli_verb cli_remote_add = {
  .name = "remote add",
  .brief = "Add an alias for a server, without logging in",
  .usage = "[--user NAME] [--ca-file FILE] ALIAS URL",
  .help =
    "To log in, use 'openpai login' or set $OPENPAI_TOKEN.\n"
    "\n"
    "  --user NAME    user name on the server\n"
    "  --ca-file FILE certificate authorities to trust, in PEM\n" END_HELP,
  .run = run_add,
};

static int run_remove(int argc, char **argv)
{
  int words = cli_options(&cli_remote_remove, NULL, 0, argc, argv);
  cli_sites sites;
  cli_site site;
  bool good;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_remote_remove, words, argv, 1, 1,
                      "remove takes one alias"))
    return CLI_USAGE;
  if (!need_site(&site, argv[0]))
    return CLI_NO;
  cli_token_forget(&site);
  good = cli_site_drop(argv[0]) && cli_sites_load(&sites);
  if (good) {
    good = sites.current == NULL || strcmp(sites.current, argv[0]) != 0 ||
           cli_site_use(NULL);
    cli_sites_free(&sites);
  }
  cli_site_free(&site);
  return good ? CLI_OK : CLI_NO;
}

const cli_verb cli_remote_remove = {
  .name = "remote remove",
  .brief = "Delete the alias and the token of a server",
  .usage = "ALIAS",
  .help = END_HELP,
  .run = run_remove,
};

static int run_use(int argc, char **argv)
{
  int words = cli_options(&cli_remote_use, NULL, 0, argc, argv);
  cli_site site;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_remote_use, words, argv, 1, 1,
                      "use takes one alias, or " CLI_HERE))
    return CLI_USAGE;
  if (strcmp(argv[0], CLI_HERE) == 0)
    return cli_site_use(NULL) ? CLI_OK : CLI_NO;
  if (!need_site(&site, argv[0]))
    return CLI_NO;
  cli_site_free(&site);
  return cli_site_use(argv[0]) ? CLI_OK : CLI_NO;
}

const cli_verb cli_remote_use = {
  .name = "remote use",
  .brief = "Set the default server",
  .usage = "ALIAS|local",
  .help = "Verbs use this server unless --root, $OPENPAI_ROOT, --cluster or\n"
          "$OPENPAI_CLUSTER is given.  The alias local stands for this "
          "machine's own\n"
          "platform (the default).\n"
          "\n" END_HELP,
  .run = run_use,
};

/* --- import --------------------------------------------------------------------------- */

/* One of the list of `opai`: its server, and its token if it has one. */
static bool import_one(const cli_json *j, size_t i)
{
  cli_site site = { .alias = (char *)cli_json_text(j, i, "cluster_alias"),
                    .url = (char *)cli_json_text(j, i, "pai_uri"),
                    .user = (char *)cli_json_text(j, i, "user") };
  const char *token = cli_json_text(j, i, "token");

  if (site.user[0] == '\0')
    site.user = NULL;
  if (!cli_is_url(site.url)) {
    cli_fail("%s has no URL", site.alias);
    return false;
  }
  if (!cli_site_put(&site) ||
      (token[0] != '\0' && !cli_token_keep(&site, token)))
    return false;
  (void)printf("%s: %s%s\n", site.alias, site.url,
               token[0] != '\0' ? "" : "; log in: its password is not taken");
  return true;
}

/* The file as JSON, for free(); NULL, and told. */
static char *read_yaml(const char *path, size_t *len)
{
  char why[512], *text = NULL, *json = NULL;
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  size_t n = 0;
  int error = cli_read_file(&text, &n, path, MOST);
  FILE *to;

  if (error != 0) {
    cli_read_why(why, sizeof(why), path, error);
    cli_fail("%s", why);
    return NULL;
  }
  if (pai_draft_new(&draft, text, n, NULL, &err) < 0) {
    cli_error(path, err);
  } else if ((to = open_memstream(&json, len)) != NULL) {
    if (pai_draft_get(draft, "", cli_write, to, &err) < 0)
      cli_error(path, err);
    (void)fclose(to);
  }
  pai_error_free(err);
  pai_draft_free(draft);
  free(text);
  return json;
}

static int import(const char *path)
{
  size_t len = 0;
  char *json = read_yaml(path, &len);
  int code = CLI_NO;
  cli_json j;

  if (json == NULL || len == 0) {
    free(json);
    return CLI_NO;
  }
  if (cli_json_read(&j, json, len)) {
    code = CLI_OK;
    if (j.values[0].type != '[') {
      cli_fail("%s is not a list of clusters", path);
      code = CLI_NO;
    }
    for (size_t i = code == CLI_OK ? cli_json_first(&j, 0) : 0; i != 0;
         i = cli_json_next(&j, 0, i))
      if (!import_one(&j, i))
        code = CLI_NO;
    cli_json_free(&j);
  }
  free(json);
  return code;
}

static int run_import(int argc, char **argv)
{
  int words = cli_options(&cli_remote_import, NULL, 0, argc, argv), code;
  const char *home = getenv("HOME");
  char *path;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_remote_import, words, argv, 0, 1,
                      "import takes one file"))
    return CLI_USAGE;
  if (words == 1)
    return import(argv[0]);
  path = home != NULL ? cli_join(home, ".openpai/clusters.yaml") : NULL;
  code = path != NULL ? import(path) : CLI_NO;
  if (path == NULL)
    cli_fail("HOME is not set: give the file");
  free(path);
  return code;
}

const cli_verb cli_remote_import = {
  .name = "remote import",
  .brief = "Import the servers of the old program opai",
  .usage = "[FILE]",
  .help =
    "Import aliases, URLs, user names and tokens, but no passwords.\n"
    "FILE is the configuration of opai (default: ~/.openpai/clusters.yaml).\n"
    "\n" END_HELP,
  .run = run_import,
};
