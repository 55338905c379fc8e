/* duration.c - parses durations: "90s", "2h30m" */
#include "base/text/duration.h"

#define SECOND INT64_C(1000000)

const char *pai__duration_seconds(const char *at, pai_time *out)
{
  int64_t whole = 0, part = 0, unit = SECOND;
  const char *begin = at;

  for (; *at >= '0' && *at <= '9' && at - begin < 12; at++)
    whole = whole * 10 + (*at - '0');
  if (at == begin)
    return NULL;
  if (*at == '.') {
    at++;
    if (*at < '0' || *at > '9')
      return NULL;
    for (; *at >= '0' && *at <= '9'; at++) {
      unit /= 10;
      part += unit * (*at - '0');
    }
  }
  *out = whole * SECOND + part;
  return at;
}

const char *pai__duration_read(const char *at, pai_time *out)
{
  static const struct {
    char letter;
    int64_t seconds;
  } units[] = {
    { 'w', 604800 }, { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 }
  };
  pai_time part;

  *out = 0;
  do {
    size_t i = 0;

    at = pai__duration_seconds(at, &part);
    if (at == NULL || part > INT64_C(100000000000) * SECOND)
      return NULL;
    if (*at != '\0') {
      while (i < PAI__LEN(units) && units[i].letter != *at)
        i++;
      if (i == PAI__LEN(units) ||
          part > INT64_C(10000000000) * SECOND / units[i].seconds)
        return NULL;
      part *= units[i].seconds;
      at++;
    }
    if (*out > INT64_MAX / 4)
      return NULL;
    *out += part;
  } while (*at != '\0');
  return at;
}
