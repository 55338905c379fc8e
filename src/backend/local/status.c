/* status.c - parses a task's file `status` */
#include "backend/local/status.h"

/* Returns the next word of a line that ends at `end`, or NULL. */
static const char *next_word(const char **at, const char *end, size_t *len)
{
  const char *word;

  while (*at < end && **at == ' ')
    (*at)++;
  word = *at;
  while (*at < end && **at != ' ')
    (*at)++;
  *len = (size_t)(*at - word);
  return *len > 0 ? word : NULL;
}

/* Returns 0 if there is no number. */
static int64_t next_number(const char **at, const char *end)
{
  size_t len;
  const char *word = next_word(at, end, &len);
  int64_t number = 0;

  if (word == NULL || len > 18)
    return 0;
  for (size_t i = 0; i < len; i++) {
    if (word[i] < '0' || word[i] > '9')
      return 0;
    number = number * 10 + (word[i] - '0');
  }
  return number;
}

static bool is_word(const char *word, size_t len, const char *text)
{
  return strlen(text) == len && memcmp(word, text, len) == 0;
}

static void take_supervisor(pai__status *s, const char *at, const char *end)
{
  size_t len;
  const char *boot;

  s->kind = PAI__STATUS_RUNS;
  s->pid = next_number(&at, end);
  s->ticks = next_number(&at, end);
  boot = next_word(&at, end, &len);
  if (boot != NULL && len < sizeof(s->boot))
    memcpy(s->boot, boot, len);
}

static void take_end(pai__status *s, enum pai__status_kind kind,
                     const char *at, const char *end)
{
  s->kind = kind;
  s->number = (int)(next_number(&at, end) & 0xff);
  s->ended = next_number(&at, end);
  s->max_rss = next_number(&at, end);
  s->user_time = next_number(&at, end);
  s->system_time = next_number(&at, end);
  s->oom = (int)next_number(&at, end);
  s->error = (int)(next_number(&at, end) & 0xff);
}

static void take_line(pai__status *s, const char *at, const char *end)
{
  size_t len;
  const char *word = next_word(&at, end, &len);

  if (word == NULL)
    return;
  if (s->kind == PAI__STATUS_EMPTY) { /* the first line identifies the
                                         supervisor */
    if (is_word(word, len, "never"))
      s->kind = PAI__STATUS_NEVER;
    else if (is_word(word, len, "supervisor"))
      take_supervisor(s, at, end);
  } else if (s->kind == PAI__STATUS_RUNS) {
    if (is_word(word, len, "started")) {
      s->first = next_number(&at, end);
      s->started = next_number(&at, end);
      s->keeper = next_number(&at, end);
    } else if (is_word(word, len, "cut")) {
      s->cut = true;
    } else if (is_word(word, len, "exit")) {
      take_end(s, PAI__STATUS_EXIT, at, end);
    } else if (is_word(word, len, "signal")) {
      take_end(s, PAI__STATUS_SIGNAL, at, end);
    } else if (is_word(word, len, "failed")) {
      take_end(s, PAI__STATUS_FAILED, at, end);
    }
  }
}

void pai__status_parse(pai__status *out, const char *text, size_t len)
{
  const char *end = text + len, *line = text, *next;

  memset(out, 0, sizeof(*out));
  while ((next = memchr(line, '\n', (size_t)(end - line))) != NULL) {
    take_line(out, line, next);
    line = next + 1;
  }
}
