/* claims.c - the provider's document and a user's claims; URLs */
#include "server/oidc/provider.h"

#include "base/text/encode.h"
#include "base/text/mail.h"

#include <string.h>
#include <strings.h>

/* --- URLs ---------------------------------------------------------------- */

static const char *const loopback[] = { "http://localhost", "http://127.0.0.1",
                                        "http://[::1]" };

/* http://localhost:PORT/...: a program on the browser's machine. */
static bool is_loopback(const char *url)
{
  for (size_t i = 0; i < PAI__LEN(loopback); i++) {
    size_t len = strlen(loopback[i]), digits;
    if (strncmp(url, loopback[i], len) != 0)
      continue;
    url += len;
    if (*url == ':') {
      digits = strspn(url + 1, "0123456789");
      if (digits == 0 || digits > 5)
        return false;
      url += 1 + digits;
    }
    return *url == '\0' || *url == '/' || *url == '?';
  }
  return false;
}

/* Printable ASCII without characters that browsers treat specially. */
static bool is_plain(const char *url)
{
  for (; *url != '\0'; url++)
    if (*url <= ' ' || *url >= 0x7f || strchr("\\\"<>^`{|}#", *url) != NULL)
      return false;
  return true;
}

bool pai__url_is_safe(const char *url)
{
  size_t host;

  if (!is_plain(url))
    return false;
  if (is_loopback(url))
    return true;
  if (strncmp(url, "https://", 8) != 0)
    return false;
  host = strcspn(url + 8, "/?");
  return host > 0 && memchr(url + 8, '@', host) == NULL;
}

/* Returns whether a path has "..", plain or escaped. */
static bool has_dots(const char *url)
{
  return strstr(url, "/..") != NULL || strstr(url, "/%2e") != NULL ||
         strstr(url, "/%2E") != NULL || strstr(url, "/.%2") != NULL;
}

/* An entry "http://localhost/" stands for all ports.  Returns the length
 * without its slash, or 0. */
static size_t is_any_port(const char *entry, size_t len)
{
  len -= len > 0 && entry[len - 1] == '/' ? 1 : 0;
  for (size_t i = 0; i < PAI__LEN(loopback); i++)
    if (strlen(loopback[i]) == len && strncmp(entry, loopback[i], len) == 0)
      return len;
  return 0;
}

static bool allows(const char *entry, size_t len, const char *url)
{
  size_t size = strlen(url), host = is_any_port(entry, len);

  if (host > 0)
    return is_loopback(url) && strncmp(url, entry, host) == 0;
  return size >= len && strncmp(entry, url, len) == 0 &&
         (size == len || (entry[len - 1] == '/' && !has_dots(url + len - 1)));
}

bool pai__page_is_local(const char *url)
{
  return is_plain(url) && is_loopback(url);
}

bool pai__page_is_allowed(const char *pages, const char *url)
{
  if (!is_plain(url))
    return false;
  for (; pages != NULL && *pages != '\0'; pages += strspn(pages, ", ")) {
    size_t len = strcspn(pages, ", ");
    if (len > 0 && allows(pages, len, url))
      return true;
    pages += len;
  }
  return false;
}

int pai__page_first(char **out, const pai_alloc *alloc, const char *pages)
{
  size_t len = 0;

  *out = NULL;
  if (pages == NULL)
    return PAI_OK;
  do { /* "all ports" is not a page */
    pages += len;
    pages += strspn(pages, ", ");
    len = strcspn(pages, ", ");
  } while (len > 0 && is_any_port(pages, len) > 0);
  if (len == 0)
    return PAI_OK;
  *out = pai__strndup(alloc, pages, len);
  return *out != NULL ? PAI_OK : PAI_ENOMEM;
}

/* --- the provider's document --------------------------------------------- */

int pai__provider_read(pai__tree **out, const pai_alloc *alloc,
                       const char *issuer, const char *text, size_t len,
                       pai_error **err)
{
  static const char *const needed[] = { "authorization_endpoint",
                                        "token_endpoint", "jwks_uri" };
  const pai__json_options o = { .flags = PAI__JSON_DUPLICATES,
                                .max_depth = 16,
                                .alloc = alloc };
  pai__tree *t = NULL;
  const char *value;
  int rc = pai__json_parse(&t, text, len, &o, err);

  *out = NULL;
  if (rc < 0 || t == NULL)
    return rc;
  value = pai__claim_text(t, 0, "issuer");
  if (value == NULL || strcmp(value, issuer) != 0)
    rc =
      pai__fail(err, PAI_EINVAL,
                "the provider's metadata has another issuer than %s", issuer);
  for (size_t i = 0; rc == PAI_OK && i < PAI__LEN(needed); i++) {
    value = pai__claim_text(t, 0, needed[i]);
    if (value == NULL || !pai__url_is_safe(value))
      rc = pai__fail(
        err, PAI_EINVAL,
        "the provider's %s is missing or does not begin with https://",
        needed[i]);
  }
  if (rc < 0)
    pai__tree_free(t);
  else
    *out = t;
  return rc;
}

/* --- name and address ---------------------------------------------------- */

bool pai__claims_name(pai__buf *name, const char **mail,
                      const pai__tree *claims)
{
  static const char *const from[] = { "upn", "email", "unique_name",
                                      "preferred_username" };
  pai__node verified = pai__tree_get(claims, 0, "email_verified");
  const char *text = NULL, *at;
  bool liar = verified != PAI__NO_NODE && !pai__tree_is_true(claims, verified);

  *mail = NULL;
  for (size_t i = 0; text == NULL && i < PAI__LEN(from); i++)
    if (!liar || strcmp(from[i], "email") != 0)
      text = pai__claim_text(claims, 0, from[i]);
  if (text == NULL)
    return false;
  at = strrchr(text, '@');
  pai__buf_add(name, text, at != NULL ? (size_t)(at - text) : strlen(text));
  if (!liar)
    *mail = pai__claim_text(claims, 0, "email");
  if (*mail == NULL)
    *mail = pai__claim_text(claims, 0, "upn");
  if (*mail != NULL && !pai__is_mail(*mail, strlen(*mail)))
    *mail = NULL;
  return pai__pattern_fits(&pai__user_pattern, pai__buf_text(name), name->len);
}

bool pai__claims_have(const pai__tree *claims, const char *claim,
                      const char *text)
{
  pai__node list = pai__tree_get(claims, 0, claim), n;
  const char *one = pai__claim_text(claims, 0, claim);
  pai__tree_walk w = pai__tree_iter(claims, list);

  if (one != NULL)
    return strcmp(one, text) == 0;
  while (pai__tree_is(claims, list, PAI__SEQUENCE) &&
         (n = pai__tree_next(&w)) != PAI__NO_NODE)
    if (pai__tree_is(claims, n, PAI__STRING) &&
        strcmp(pai__tree_str(claims, n, NULL), text) == 0)
      return true;
  return false;
}

/* --- rules for administrators -------------------------------------------- */

enum { MOST_CLAIM = 128 };

/* Gets the claim of a rule; returns false if the rule is invalid. */
static bool rule_claim(char claim[MOST_CLAIM], const char *rule)
{
  const char *equals = strchr(rule, '=');
  size_t len = equals != NULL ? (size_t)(equals - rule) : 0;

  if (len == 0 || len >= MOST_CLAIM || equals[1] == '\0')
    return false;
  memcpy(claim, rule, len);
  claim[len] = '\0';
  return true;
}

bool pai__claim_rule_is_one(const char *rule)
{
  char claim[MOST_CLAIM];

  return rule_claim(claim, rule);
}

static bool is_true(const pai__tree *claims, const char *name)
{
  return pai__tree_is_true(claims, pai__tree_get(claims, 0, name));
}

bool pai__claims_fit_any(const pai__tree *claims, char *const *rules)
{
  char claim[MOST_CLAIM];

  for (; rules != NULL && *rules != NULL; rules++)
    if (rule_claim(claim, *rules) &&
        (strcmp(claim, "email") != 0 || is_true(claims, "email_verified")) &&
        pai__claims_have(claims, claim, strchr(*rules, '=') + 1))
      return true;
  return false;
}

/* --- lists of allowed users ---------------------------------------------- */

bool pai__claims_have_any(const pai__tree *claims, const char *claim,
                          const char *list)
{
  char one[MOST_CLAIM];

  for (; list != NULL && *list != '\0'; list += *list == ',' ? 1 : 0) {
    size_t len = strcspn(list, ",");

    if (len > 0 && len < sizeof(one)) {
      memcpy(one, list, len);
      one[len] = '\0';
      if (pai__claims_have(claims, claim, one))
        return true;
    }
    list += len;
  }
  return false;
}

/* Only verified addresses count, as others may have any domain. */
bool pai__claims_have_domain(const pai__tree *claims, const char *list)
{
  const char *mail = pai__claim_text(claims, 0, "email");
  const char *at = mail != NULL && is_true(claims, "email_verified")
                     ? strrchr(mail, '@')
                     : NULL;

  for (; at != NULL && list != NULL && *list != '\0';
       list += *list == ',' ? 1 : 0) {
    size_t len = strcspn(list, ",");

    if (strlen(at + 1) == len && strncasecmp(at + 1, list, len) == 0)
      return true;
    list += len;
  }
  return false;
}

/* --- writing URLs -------------------------------------------------------- */

void pai__form_add(pai__buf *form, const char *name, const char *value)
{
  if (form->len > 0)
    pai__buf_char(form, '&');
  pai__buf_str(form, name);
  pai__buf_char(form, '=');
  pai__put_escaped(form, value, "");
}

void pai__query_add(pai__buf *url, const char *name, const char *value)
{
  pai__buf_char(url, strchr(pai__buf_text(url), '?') != NULL ? '&' : '?');
  pai__buf_str(url, name);
  pai__buf_char(url, '=');
  pai__put_escaped(url, value, "");
}

/* --- where a login begins ------------------------------------------------ */

void pai__login_home(pai__buf *url, const char *back, const char *host,
                     const char *query)
{
  const char *own = strstr(back, "://"), *end = strrchr(back, '/');
  size_t len;

  own = own != NULL ? own + 3 : back;
  len = strcspn(own, "/?");
  if (end == NULL || strcmp(end, "/return") != 0 ||
      (strlen(host) == len && strncasecmp(host, own, len) == 0))
    return;
  pai__buf_add(url, back, (size_t)(end - back));
  pai__buf_printf(url, "/login?%s%shome=1", query,
                  query[0] != '\0' ? "&" : "");
}

bool pai__page_is_portal(const char *page)
{
  return page != NULL && strcmp(page, "/") == 0;
}
