/* times.c - times in Alertmanager's JSON: RFC 3339 */
#include "server/alerts/silences.h"

#include "base/date.h"

#include <string.h>

/* Takes a number of so many digits, up to `most`, and the text after it. */
static bool take(const char **at, int digits, const char *after, int most,
                 int *out)
{
  *out = 0;
  for (; digits > 0; digits--, (*at)++) {
    if (**at < '0' || **at > '9')
      return false;
    *out = *out * 10 + (**at - '0');
  }
  if (strncmp(*at, after, strlen(after)) != 0)
    return false;
  *at += strlen(after);
  return *out <= most;
}

/* Reads "+02:00" or "Z", in seconds. */
static bool read_zone(const char *text, int64_t *seconds)
{
  bool west = *text == '-';
  int hours, minutes;

  *seconds = 0;
  if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
    return true;
  if (*text != '+' && !west)
    return false;
  text++;
  if (!take(&text, 2, ":", 23, &hours) || !take(&text, 2, "", 59, &minutes) ||
      *text != '\0')
    return false;
  *seconds = (hours * 60 + minutes) * INT64_C(60) * (west ? -1 : 1);
  return true;
}

bool pai__alert_time_read(pai_time *out, const char *text)
{
  int year, month, day, hour, minute, second;
  int64_t days, zone;

  if (!take(&text, 4, "-", 9999, &year) || !take(&text, 2, "-", 12, &month) ||
      !take(&text, 2, "T", 31, &day) || !take(&text, 2, ":", 23, &hour) ||
      !take(&text, 2, ":", 59, &minute) || !take(&text, 2, "", 60, &second) ||
      !pai__date_days(year, month, day, &days))
    return false;
  if (*text == '.')
    text += 1 + strspn(text + 1, "0123456789");
  if (!read_zone(text, &zone))
    return false;
  *out = (days * 86400 + hour * 3600 + minute * 60 + second - zone) * 1000000;
  return true;
}

void pai__alert_time_put(pai__json_writer *w, const char *key, pai_time time)
{
  char out[PAI__TIME_TEXT];

  pai__json_put_text(w, key, pai__time_text(out, time / 1000000, ".000Z"));
}
