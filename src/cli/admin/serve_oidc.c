/* serve_oidc.c - options of `serve` for an OpenID Connect provider */
#include "serve_oidc.h"

#include "remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a value has a second "=": in "groups=CN=a,OU=b" the list was split
 * within a value. */
static bool is_cut(const char *rule)
{
  const char *equals = strchr(rule, '=');

  return equals != NULL && strchr(equals + 1, '=') != NULL;
}

/* Whether a rule is complete after the list was split at commas; if not,
 * prints an error. */
static bool is_whole(const char *rule)
{
  if (strchr(rule, '=') == NULL) {
    cli_fail("--oidc-admins has a part that is no CLAIM=VALUE: %.128s", rule);
    cli_help(stderr, "write a value with commas in oidc.yaml, as "
                     "admins: [\"groups=a,b\"]; of several values each is a "
                     "rule: groups=a,groups=b");
    return false;
  }
  if (is_cut(rule)) {
    cli_fail("--oidc-admins has a value with =, which may have commas, too: "
             "%.128s",
             rule);
    cli_help(stderr, "write such a value in oidc.yaml, as "
                     "admins: [\"groups=CN=a,OU=b\"]");
    return false;
  }
  return true;
}

/* Splits "a=b,c=d" into rules.  Returns false after printing an error. */
static bool split_rules(cli_oidc *o)
{
  char *more = NULL, *rule;
  size_t n = 0;

  if (o->admins == NULL)
    return true;
  o->rules = strdup(o->admins);
  rule = o->rules != NULL ? strtok_r(o->rules, ",", &more) : NULL;
  for (; rule != NULL && n < CLI_RULES; rule = strtok_r(NULL, ",", &more)) {
    if (!is_whole(rule))
      return false;
    o->list[n++] = rule;
  }
  o->options.admins = o->list;
  if (n > 0 && rule == NULL)
    return true;
  cli_fail("--oidc-admins has no rule, or more than %d", CLI_RULES);
  return false;
}

/* Reads the secret and removes it from the environment, which tasks
 * inherit. */
static char *take_secret(void)
{
  const char *said = getenv("OPENPAI_OIDC_CLIENT_SECRET");
  char *secret = said != NULL && said[0] != '\0' ? strdup(said) : NULL;

  (void)unsetenv("OPENPAI_OIDC_CLIENT_SECRET");
  return secret;
}

/* Returns the oidc.yaml of the root, if it exists. */
static char *find_file(void)
{
  char *root = cli_root_path();
  char *path = root != NULL ? cli_join(root, "oidc.yaml") : NULL;

  if (path != NULL && access(path, F_OK) != 0 && errno == ENOENT) {
    free(path);
    path = NULL;
  }
  free(root);
  return path;
}

void cli_oidc_find(cli_oidc *o)
{
  if (o->options.file == NULL && o->options.issuer == NULL)
    o->options.file = o->file = find_file();
}

bool cli_oidc_read(cli_oidc *o, pai_server_options *server)
{
  pai_oidc_options *p = &o->options;

  o->secret = take_secret();
  if (p->file == NULL && p->issuer == NULL)
    return true;
  server->authn = "OIDC";
  server->oidc = p;
  if (p->client_secret_file == NULL)
    p->client_secret = o->secret;
  return split_rules(o);
}

void cli_oidc_free(cli_oidc *o)
{
  free(o->secret);
  free(o->rules);
  free(o->file);
}

const char *cli_oidc_stray(const cli_oidc *o)
{
  const pai_oidc_options *p = &o->options;

  return p->issuer != NULL || p->file != NULL ? NULL
         : p->client_id != NULL               ? "--oidc-client-id"
         : p->client_secret_file != NULL      ? "--oidc-client-secret-file"
         : p->redirect_uri != NULL            ? "--oidc-redirect"
         : p->scope != NULL                   ? "--oidc-scope"
         : p->pages != NULL                   ? "--oidc-pages"
         : p->groups_claim != NULL            ? "--oidc-groups-claim"
         : p->ca_file != NULL                 ? "--oidc-ca-file"
         : p->domains != NULL                 ? "--oidc-domains"
         : p->groups != NULL                  ? "--oidc-groups"
         : o->admins != NULL                  ? "--oidc-admins"
                                              : NULL;
}
