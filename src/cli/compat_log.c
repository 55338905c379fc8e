/* compat_log.c - what is waited for of a notebook's job: a state, or what its
 * task's log has */
#include "compat.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  MOST_LINE = 8192,
  MOST_PAGE = 256 << 20,
  PAUSE = 100,
  PATIENCE = 10 * 1000 /* ms until a task that runs has a log */
};

/* --- what a log has ------------------------------------------------------------- */

/* What is looked for in a log, a line at a time. */
typedef struct looking {
  bool for_page;
  bool found; /* Jupyter listens, or the page is whole */
  bool in_page;
  char line[MOST_LINE];
  size_t len;
  FILE *page;
  size_t bytes;  /* of it */
  uint32_t bits; /* of base64 that make no byte yet */
  int count;
} looking;

static void take_base64(looking *l, const char *text)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789+/";

  for (; *text != '\0'; text++) {
    const char *digit = strchr(digits, *text);
    if (digit == NULL)
      continue;
    l->bits = l->bits << 6 | (uint32_t)(digit - digits);
    l->count += 6;
    if (l->count >= 8) {
      l->count -= 8;
      (void)fputc((int)(l->bits >> l->count & 0xff), l->page);
      l->bytes++;
    }
  }
}

static void take_line(looking *l)
{
  l->line[l->len] = '\0';
  l->line[strcspn(l->line, "\r")] = '\0';
  l->len = 0;
  if (!l->for_page) {
    l->found = strstr(l->line, "upyter") != NULL &&
               strstr(l->line, "is running at:") != NULL;
  } else if (strcmp(l->line, OLD_PAGE_BEGINS) == 0) {
    l->in_page = true;
  } else if (strcmp(l->line, OLD_PAGE_ENDS) == 0) {
    l->found = l->in_page;
  } else if (l->in_page) {
    take_base64(l, l->line);
  }
}

/* There is one log at a time. */
static looking *now;

static int on_log(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  for (size_t i = 0; i < len && !now->found && now->bytes < MOST_PAGE; i++)
    if (bytes[i] == '\n' || now->len + 1 == MOST_LINE)
      take_line(now);
    else
      now->line[now->len++] = bytes[i];
  /* Then no more is needed. */
  return now->found || now->bytes >= MOST_PAGE ? PAI_EUSER : PAI_OK;
}

/* Reads the task's log; whether it had that.  One that has just begun has none
 * yet. */
static bool look_at_log(cli_remote *r, const char *job, looking *l)
{
  const struct timespec pause = { 0, PAUSE * 1000 * 1000 };
  const cli_log log = { .job = job,
                        .role = "main",
                        .name = l->for_page ? "stdout" : "all",
                        .follow = !l->for_page,
                        .on_bytes = on_log };
  cli_answer a;

  now = l;
  for (int i = 0; i < PATIENCE / PAUSE; i++) {
    cli_remote_log(r, &a, &log);
    if (a.status != PAI_ENOTFOUND)
      break;
    cli_answer_free(&a);
    (void)nanosleep(&pause, NULL);
  }
  now = NULL;
  if (!l->found && a.status < 0)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  return l->found;
}

bool cli_old_jupyter(cli_remote *r, const char *job)
{
  looking l = { 0 };

  return look_at_log(r, job, &l);
}

char *cli_old_page(cli_remote *r, const char *job, size_t *len)
{
  looking l = { .for_page = true };
  char *page = NULL;

  l.page = open_memstream(&page, len);
  if (l.page == NULL)
    return NULL;
  (void)look_at_log(r, job, &l);
  if (fclose(l.page) == 0 && l.found)
    return page;
  free(page);
  return NULL;
}

/* --- waiting ----------------------------------------------------------------------------- */

static int on_change(void *user_data, const pai_client_change *change)
{
  cli_old_waiting *w = user_data;

  (void)snprintf(w->state, sizeof(w->state), "%s", change->state);
  w->over = change->final != 0;
  return w->running_is_enough && strcmp(change->state, "RUNNING") == 0
           ? PAI_EUSER
           : PAI_OK;
}

bool cli_old_wait(cli_remote *r, const char *job, cli_old_waiting *w)
{
  const cli_watch watch = { .job = job,
                            .on_change = on_change,
                            .user_data = w };
  cli_answer a;
  bool good;

  cli_remote_watch(r, &a, &watch);
  good = w->over || (w->running_is_enough && strcmp(w->state, "RUNNING") == 0);
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  return good;
}
