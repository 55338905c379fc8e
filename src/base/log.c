/* log.c - passes a log line to the object's callback; the library itself never
 * prints */
#include "base/base.h"

#include <stdio.h>

void pai__log_line(const pai__log *log, int level, const char *fmt, ...)
{
  char line[1024]; /* a longer line is cut: logging must not allocate */
  va_list ap;

  if (log == NULL || log->cb == NULL || level < log->level)
    return;
  va_start(ap, fmt);
  (void)vsnprintf(line, sizeof(line), fmt, ap);
  va_end(ap);
  for (char *p = line; *p != '\0'; p++) /* the text may contain control
                                           characters from outside */
    if ((unsigned char)*p < ' ' || *p == 0x7f)
      *p = ' ';
  log->cb(log->user_data, level, line);
}
