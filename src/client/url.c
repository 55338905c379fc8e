/* url.c - where a server is, and what is asked of it, as texts; pure */
#include "client/inside.h"

#include <stdlib.h>

static int refuse(pai_error **err, const char *why)
{
  /* What it is, is not told: it may have a password in it. */
  (void)pai__fail(err, PAI_EINVAL, "this URL cannot be a server's: %s", why);
  pai__error_help(err, "as https://pai.example.org or "
                       "http://10.0.0.1:9186/rest-server");
  return PAI_EINVAL;
}

static const char *check_host(const char *host, size_t len)
{
  const char *end = memchr(host, ']', len), *port;

  if (memchr(host, '@', len) != NULL)
    return "it has a user in it; the options user and password are for that";
  if (len == 0 || host[0] == ':')
    return "it has no host";
  if ((host[0] == '[') != (end != NULL))
    return "a bracket is missing";
  end = end != NULL ? end + 1 : host;
  port = memchr(end, ':', len - (size_t)(end - host));
  if (port == NULL)
    return host[0] == '[' && end != host + len ? "a port follows a colon"
                                               : NULL;
  len -= (size_t)(port + 1 - host);
  if (len == 0 || len > 5)
    return "the port is no number up to 65535";
  for (size_t i = 1; i <= len; i++)
    if (port[i] < '0' || port[i] > '9')
      return "the port is no number up to 65535";
  return strtol(port + 1, NULL, 10) <= 65535
           ? NULL
           : "the port is no number up to 65535";
}

/* Printable ASCII without blanks. */
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
    return refuse(err, "it has blanks, or other characters that none has");
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

/* What stands for itself does; the rest is escaped. */
void pai__url_add(pai__buf *b, const char *text)
{
  for (; *text != '\0'; text++)
    if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
        (*text >= '0' && *text <= '9') || strchr("-_.~", *text) != NULL)
      pai__buf_char(b, *text);
    else
      pai__buf_printf(b, "%%%02X", (unsigned)(unsigned char)*text);
}

void pai__url_query(pai__buf *b, const char *name, const char *value)
{
  if (value == NULL)
    return;
  pai__buf_char(b, strchr(pai__buf_text(b), '?') != NULL ? '&' : '?');
  pai__buf_str(b, name);
  pai__buf_char(b, '=');
  pai__url_add(b, value);
}
