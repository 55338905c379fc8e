/* replay_time.c - parses and formats times of a log */
#include "base/date.h"
#include "base/text/duration.h"
#include "sim/replay/replay.h"
#include "sim/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)

/* Divides and rounds down; *rest is not negative. */
static int64_t parted(pai_time t, int64_t by, int64_t *rest)
{
  int64_t n = t / by;

  *rest = t % by;
  if (*rest < 0) {
    *rest += by;
    n--;
  }
  return n;
}

const char *pai__replay_show(bool dated, pai_time t, char *out)
{
  int64_t year, month, day, rest, days;

  if (!dated) {
    (void)snprintf(out, PAI_REPLAY_TIME, "@%s%" PRIu64 ".%06" PRIu64,
                   t < 0 ? "-" : "",
                   (t < 0 ? 0 - (uint64_t)t : (uint64_t)t) / SECOND,
                   (t < 0 ? 0 - (uint64_t)t : (uint64_t)t) % SECOND);
    return out;
  }
  days = parted(t, DAY, &rest);
  pai__date_of(days, &year, &month, &day);
  rest /= SECOND;
  (void)snprintf(out, PAI_REPLAY_TIME,
                 "%04" PRId64 "-%02d-%02d %02d:%02d:%02d", year, (int)month,
                 (int)day, (int)(rest / 3600), (int)(rest / 60 % 60),
                 (int)(rest % 60));
  return out;
}

const char *pai_replay_show_time(pai_replay *r, pai_time t, char *out)
{
  pai_time begin, end;

  if (out == NULL)
    return "";
  return pai__replay_show(
    pai_replay_range(r, &begin, &end, NULL) == PAI_OK && r->dated, t, out);
}

/* --- reading ------------------------------------------------------------- */

static bool read_time(const pai_replay *r, const char *text, pai_time *out)
{
  bool minus;
  const char *end = NULL;

  if (strcmp(text, "begin") == 0 || strcmp(text, "end") == 0) {
    *out = text[0] == 'b' ? r->begin : r->end;
    return true;
  }
  minus = text[0] == '-' || (text[0] == '@' && text[1] == '-');
  if (text[0] == '@')
    end = pai__duration_seconds(text + 1 + minus, out);
  else if (text[0] == '+' || minus)
    end = pai__duration_read(text + 1, out);
  else
    return pai__date_read(text, strlen(text), out);
  if (end == NULL || *end != '\0')
    return false;
  if (text[0] == '@')
    *out = minus ? -*out : *out;
  else
    *out = minus ? r->end - *out : r->begin + *out;
  return true;
}

int pai_replay_time(pai_replay *r, const char *text, pai_time *time,
                    pai_error **err)
{
  pai_time begin, end;
  int rc;

  PAI__CHECK_ARG_ERR(text != NULL && time != NULL, err);
  *time = 0;
  rc = pai_replay_range(r, &begin, &end, err);
  if (rc < 0 || read_time(r, text, time))
    return rc;
  *time = 0;
  rc = pai__fail(err, PAI_EINVAL, "'%s' is not a time", text);
  pai__error_help(err, "use 2026-05-01 14:05, @SECONDS, +2h after the "
                       "beginning of the log, or -30m before its end");
  return rc;
}
