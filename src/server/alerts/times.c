/* times.c - times in Alertmanager's JSON: RFC 3339 */
#include "server/alerts/silences.h"

#include "base/date.h"

#include <stdio.h>
#include <string.h>

/* Reads "+02:00" or "Z", in seconds. */
static bool read_zone(const char *text, int64_t *seconds)
{
  int hours, minutes, n = 0;

  *seconds = 0;
  if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
    return true;
  if ((text[0] != '+' && text[0] != '-') ||
      sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &n) != 2 ||
      text[1 + n] != '\0' || hours > 23 || minutes > 59)
    return false;
  *seconds = (hours * 60 + minutes) * INT64_C(60) * (text[0] == '-' ? -1 : 1);
  return true;
}

bool pai__alert_time_read(pai_time *out, const char *text)
{
  int year, month, day, hour, minute, second, n = 0;
  int64_t days, zone;

  if (strlen(text) > 48 ||
      sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour,
             &minute, &second, &n) != 6 ||
      n == 0 || !pai__date_days(year, month, day, &days) || hour < 0 ||
      hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return false;
  text += n;
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
