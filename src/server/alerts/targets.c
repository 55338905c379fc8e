/* targets.c - addresses to which messages about alerts may go */
#include "server/alerts/settings.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
  const char *scheme, *port;
} schemes[] = { { "https://", "443" },
                { "http://", "80" },
                { "smtps://", "465" },
                { "smtp://", "25" } };

bool pai__alert_target_of(char *out, size_t size, const char *url)
{
  const char *port = NULL, *host, *colon;
  size_t len;
  int n;

  for (size_t i = 0; port == NULL && i < PAI__LEN(schemes); i++)
    if (strncasecmp(url, schemes[i].scheme, strlen(schemes[i].scheme)) == 0)
      port = schemes[i].port;
  if (port == NULL)
    return false;
  host = strstr(url, "://") + 3;
  len = strcspn(host, "/?#");
  colon = memchr(host, ']', len); /* of [::1] */
  colon = memchr(colon != NULL ? colon : host, ':',
                 len - (size_t)(colon != NULL ? colon - host : 0));
  if (len == 0 || colon == host || memchr(host, '@', len) != NULL ||
      memchr(host, '\\', len) != NULL)
    return false;
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)host[i] <= ' ' || (unsigned char)host[i] >= 127)
      return false;
  n = snprintf(out, size, "%.*s%s%s", (int)len, host, colon != NULL ? "" : ":",
               colon != NULL ? "" : port);
  return n > 0 && (size_t)n < size;
}

bool pai__alert_target_is_listed(const pai__alert_settings *s,
                                 const char *target)
{
  for (size_t i = 0; i < s->targets.n; i++)
    if (strcasecmp(s->targets.at[i], target) == 0)
      return true;
  return false;
}

bool pai__alert_is_address(const char *text)
{
  size_t len = strlen(text);

  if (len < 3 || len > 254 || strchr(text, '@') == NULL)
    return false;
  for (; *text != '\0'; text++)
    if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 127 ||
        strchr("<>,;:\"\\()[]", *text) != NULL)
      return false;
  return true;
}
