/* provider.c - an OpenID Connect provider for logins */
#include "server/oidc/provider.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

static int refuse(pai_error **err, const char *why, const char *help)
{
  (void)pai__fail(err, PAI_EINVAL, "OpenID Connect: %s", why);
  pai__error_help(err, "%s", help);
  return PAI_EINVAL;
}

static int check(const pai__oidc_settings *s, pai_error **err)
{
  if (s->issuer == NULL || !pai__url_is_safe(s->issuer))
    return refuse(err, "the issuer is not a URL that begins with https://",
                  "see the provider's documentation for its issuer");
  if (strchr(s->issuer, '?') != NULL)
    return refuse(err, "the issuer has a query", "leave it out");
  if (s->client_id == NULL)
    return refuse(err, "client_id is missing",
                  "set the id that the provider shows for this platform");
  if (s->redirect_uri == NULL || !pai__url_is_safe(s->redirect_uri))
    return refuse(err, "redirect_uri is not a URL that begins with https://",
                  "set the URL of /api/v1/authn/oidc/return on this server, "
                  "as seen by browsers and the provider");
  return PAI_OK;
}

static int begin(pai__oidc *o, const pai_oidc_options *opts, pai_error **err)
{
  const pai_alloc *a = &o->server->alloc;
  int rc = pai__settings_read(&o->said, a, opts, err);

  if (rc == PAI_OK)
    rc = check(&o->said, err);
  if (rc == PAI_OK && o->said.scope == NULL &&
      (o->said.scope = pai__strdup(a, "openid profile email")) == NULL)
    rc = pai__oom(err);
  if (rc < 0)
    return rc;
  o->secure = strncmp(o->said.redirect_uri, "https:", 6) == 0;
  if (gnutls_rnd(GNUTLS_RND_KEY, o->key, sizeof(o->key)) < 0)
    rc = pai__fail(err, PAI_EIO, "no secure random numbers are available");
  return rc;
}

int pai__oidc_new(pai__oidc **out, pai_server *server,
                  const pai_oidc_options *opts, pai_error **err)
{
  pai_oidc_options o;
  pai__oidc *oidc;
  int rc = PAI__OPTIONS_IN(&o, opts, pai_oidc_options, ca_file);

  *out = NULL;
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_oidc_options");
  oidc = pai__zalloc(&server->alloc, sizeof(*oidc));
  if (oidc == NULL)
    return pai__oom(err);
  oidc->server = server;
  pai__codes_init(&oidc->codes, &server->alloc);
  rc = begin(oidc, &o, err);
  if (rc < 0) {
    pai__oidc_free(oidc);
    return rc;
  }
  *out = oidc;
  return PAI_OK;
}

/* --- administrators ------------------------------------------------------ */

/* Returns whether the administrators' group has a member or an external name.
 * If out of memory, returns true, so that no warning is logged. */
static bool has_admins(const pai__oidc *o)
{
  pai_server *s = o->server;
  pai__tree *t;
  pai__buf json;
  bool has = true;

  pai__buf_init(&json, &s->alloc);
  if (pai_accounts_write_members(s->accounts, "admingroup", pai__answer_write,
                                 &json, NULL) == PAI_OK)
    has = strcmp(pai__buf_text(&json), "[]") != 0;
  pai__buf_clear(&json);
  if (!has && o->said.groups_claim != NULL)
    (void)!pai_accounts_write_group(s->accounts, "admingroup",
                                    pai__answer_write, &json, NULL);
  t = pai__written_tree(&json);
  has = has || pai__tree_look_text(t, 0, "externalName", "")[0] != '\0';
  pai__tree_free(t);
  return has;
}

void pai__oidc_tell(const pai__oidc *o)
{
  pai_server *s = o->server;

  pai__log_line(&s->log, PAI_LOG_INFO, "users log in at %s", o->said.issuer);
  if (o->said.admins == NULL && !has_admins(o))
    pai__log_line(&s->log, PAI_LOG_WARNING,
                  "no user of %s is an administrator: set admins in oidc.yaml "
                  "or --oidc-admins, or 'openpai group set admingroup "
                  "--external-name NAME' and a groups claim",
                  o->said.issuer);
}

/* --- end ----------------------------------------------------------------- */

void pai__oidc_shut(pai__oidc *o)
{
  if (o == NULL)
    return;
  o->closing = true;
  pai__fetch_end_all(o);
}

bool pai__oidc_is_over(const pai__oidc *o)
{
  return o == NULL || (o->fetches == NULL && o->pending_logins == 0);
}

void pai__oidc_free(pai__oidc *o)
{
  pai_alloc a;

  if (o == NULL)
    return;
  a = o->server->alloc;
  pai__tree_free(o->provider);
  pai__tree_free(o->keys);
  pai__codes_dispose(&o->codes);
  pai__settings_dispose(&o->said, &a);
  gnutls_memset(o->key, 0, sizeof(o->key));
  pai__free(&a, o, sizeof(*o));
}
