/* url.c - parses a server's URL and builds paths of requests; pure */
#include "client/inside.h"

#include "base/text/encode.h"

#include <stdlib.h>

static int refuse(pai_error **err, const char *why)
{
  /* The URL is not shown: it may contain a password. */
  (void)pai__fail(err, PAI_EINVAL, "invalid server URL: %s", why);
  pai__error_help(
    err,
    "examples: https://pai.example.org, http://10.0.0.1:9186/rest-server");
  return PAI_EINVAL;
}

static const char *check_host(const char *host, size_t len)
{
  const char *end = memchr(host, ']', len), *port;

  if (memchr(host, '@', len) != NULL)
    return "it has a user; use the options user and password";
  if (len == 0 || host[0] == ':')
    return "it has no host";
  if ((host[0] == '[') != (end != NULL))
    return "a bracket is missing";
  end = end != NULL ? end + 1 : host;
  port = memchr(end, ':', len - (size_t)(end - host));
  if (port == NULL)
    return host[0] == '[' && end != host + len
             ? "the port after the colon is missing"
             : NULL;
  len -= (size_t)(port + 1 - host);
  if (len == 0 || len > 5)
    return "the port is not a number up to 65535";
  for (size_t i = 1; i <= len; i++)
    if (port[i] < '0' || port[i] > '9')
      return "the port is not a number up to 65535";
  return strtol(port + 1, NULL, 10) <= 65535
           ? NULL
           : "the port is not a number up to 65535";
}

/* Returns whether a text is printable ASCII without blanks. */
static bool is_plain(const char *text)
{
  for (; *text != '\0'; text++)
    if (*text <= ' ' || *text >= 0x7f || *text == '\\' || *text == '"')
      return false;
  return true;
}

int pai__url_read(char **origin, char **base, const pai_alloc *alloc,
                  const char *url, pai_error **err)
{
  size_t scheme = strncmp(url, "https://", 8) == 0  ? 8
                  : strncmp(url, "http://", 7) == 0 ? 7
                                                    : 0,
         host = strcspn(url + scheme, "/?#"), len = strlen(url);
  const char *why;

  *origin = *base = NULL;
  if (scheme == 0)
    return refuse(err, "it does not begin with http:// or https://");
  if (!is_plain(url))
    return refuse(err, "it has blanks or other invalid characters");
  if (strpbrk(url, "?#") != NULL)
    return refuse(err, "it has a query, or a #");
  why = check_host(url + scheme, host);
  if (why != NULL)
    return refuse(err, why);
  while (len > scheme + host && url[len - 1] == '/')
    len--;
  *origin = pai__strndup(alloc, url, scheme + host);
  *base = pai__strndup(alloc, url, len);
  if (*origin != NULL && *base != NULL)
    return PAI_OK;
  pai__strfree(alloc, *origin);
  pai__strfree(alloc, *base);
  *origin = *base = NULL;
  return pai__oom(err);
}

void pai__url_query(pai__buf *b, const char *name, const char *value)
{
  if (value == NULL)
    return;
  pai__buf_char(b, strchr(pai__buf_text(b), '?') != NULL ? '&' : '?');
  pai__buf_str(b, name);
  pai__buf_char(b, '=');
  pai__put_escaped(b, value, "");
}

int pai__client_check_job(const char *job, pai_error **err)
{
  const char *tilde = job != NULL ? strchr(job, '~') : NULL;

  if (job == NULL || job[0] == '\0' || strchr(job, '/') != NULL ||
      tilde == job || (tilde != NULL && tilde[1] == '\0'))
    return pai__fail(err, PAI_EINVAL,
                     "the name of a job must be user~name, not '%s'",
                     job != NULL ? job : "");
  return PAI_OK;
}

int pai__job_path(pai__buf *b, const char *job, const char *rest,
                  pai_error **err)
{
  int rc = pai__client_check_job(job, err);

  if (rc < 0)
    return rc;
  pai__buf_str(b, "/api/v2/jobs/");
  pai__put_escaped(b, job, "");
  pai__buf_str(b, rest);
  return PAI_OK;
}
