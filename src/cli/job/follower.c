/* follower.c - parser of a job's event stream, with task output between the
 * events */
#include "follower.h"

#include <stdlib.h>
#include <string.h>

static bool keep(cli_follower *f, const char *bytes, size_t len)
{
  if (f->len + len + 1 > f->cap) {
    size_t cap = (f->len + len + 1) * 2;
    char *grown = realloc(f->kept, cap);
    if (grown == NULL)
      return false;
    f->kept = grown;
    f->cap = cap;
  }
  memcpy(f->kept + f->len, bytes, len);
  f->len += len;
  f->kept[f->len] = '\0';
  return true;
}

/* Parses a complete line. */
static int read_line(cli_follower *f)
{
  cli_followed *n = &f->now;
  const char *event;

  cli_json_free(&f->json);
  if (!cli_json_read(&f->json, f->kept, f->len))
    return PAI_EINVAL;
  event = cli_json_text(f->json, 0, "event");
  *n = (cli_followed){
    .line = f->kept,
    .is_job = strcmp(event, "job") == 0,
    .is_output = strcmp(event, "output") == 0,
    .role = cli_json_text(f->json, 0, "role"),
    .state = cli_json_text(f->json, 0, "state"),
    .text = cli_json_text(f->json, 0, "text"),
    .index = (uint32_t)cli_json_number(f->json, 0, "index", 0),
    .attempt = cli_json_number(f->json, 0, "attempt", 0),
    .time_us = cli_json_number(f->json, 0, "time_us", 0),
    .code = cli_json_number(f->json, 0, "code", 0),
    .stream = (int)cli_json_number(f->json, 0, "stream", 0),
  };
  f->bytes_left = (size_t)cli_json_number(f->json, 0, "len", 0);
  if (!n->is_output)
    f->on_line(f->user_data, n, NULL, 0);
  return PAI_OK;
}

int cli_follow_add(cli_follower *f, const char *bytes, size_t len)
{
  int rc = PAI_OK;

  while (len > 0 && rc == PAI_OK) {
    const char *end = memchr(bytes, '\n', len);
    size_t n = end != NULL ? (size_t)(end - bytes) : len;
    if (f->bytes_left > 0) {
      n = len < f->bytes_left ? len : f->bytes_left;
      f->on_line(f->user_data, &f->now, bytes, n);
      f->bytes_left -= n;
      bytes += n;
      len -= n;
      continue;
    }
    if (!keep(f, bytes, n))
      return PAI_ENOMEM;
    bytes += n;
    len -= n;
    if (end == NULL)
      break;
    bytes++;
    len--;
    rc = read_line(f);
    f->len = 0;
  }
  return rc;
}
