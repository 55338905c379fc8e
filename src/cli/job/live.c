/* live.c - the redrawn block below task output */
#include "live.h"

#include "block.h"
#include "jobs.h"

#include <stdlib.h>

enum {
  FIRST = 300,     /* ms without a block, for jobs that end at once */
  OFTEN = 100,     /* least ms between two draws */
  SHARE = 10,      /* and at least this many times the duration of a draw */
  LEAST = 10,      /* least ms between two steps */
  MOST = 256 << 10 /* most bytes of buffered output */
};

bool cli_live_open(cli_live *l, pai_loop *loop, cli_job_progress *at)
{
  *l = (cli_live){ .began = cli_now(), .pause = OFTEN };
  if (!cli_block_possible())
    return false;
  l->open = true;
  l->at = at;
  l->every_ms = FIRST;
  if (at != NULL)
    at->changed = true;
  cli_block_open(loop);
  return true;
}

/* Shows the buffered output above the block; later output is buffered anew. */
static void show(cli_live *l, const char *block)
{
  /* If the buffer could not grow, show what it has. */
  if (l->held != NULL && fclose(l->held) != 0)
    cli_fail("out of memory");
  l->held = NULL;
  cli_block_draw(l->text, l->text != NULL ? l->len : 0, block);
  free(l->text);
  l->text = NULL;
  l->len = 0;
}

/* Redrawn lines get at most half of the height; the table gets the rest. */
static void print_block(const cli_live *l, FILE *to)
{
  unsigned width, height, used = 0;
  cli_job_view v;

  cli_block_size(&width, &height);
  if (l->paint != NULL)
    used = l->paint(l->data, to, width, l->at != NULL ? height / 2 : height);
  if (l->at == NULL)
    return;
  v = cli_job_progress_view(l->at);
  cli_print_tasks(to, &v, width, height - used);
}

static void draw(cli_live *l)
{
  int64_t began = cli_now();
  char *text = NULL;
  size_t len = 0;
  FILE *to = open_memstream(&text, &len);

  if (to != NULL) {
    print_block(l, to);
    (void)fclose(to);
  }
  show(l, len > 0 ? text : NULL);
  free(text);
  l->drawn = cli_now();
  l->pause = (l->drawn - began) * SHARE;
  if (l->pause < OFTEN)
    l->pause = OFTEN;
  /* Buffered output waits no longer than this. */
  if (l->pause > CLI_JOB_PROGRESS_EVERY)
    l->pause = CLI_JOB_PROGRESS_EVERY;
  l->fresh = false;
}

void cli_live_step(cli_live *l, bool asks)
{
  int64_t now, since;

  if (!l->open)
    return;
  now = cli_now();
  if (now - l->began < FIRST) {
    show(l, NULL);
    l->every_ms = (int)(FIRST - (now - l->began));
    return;
  }
  l->fresh |= asks && l->at != NULL && cli_job_progress_look(l->at, true);
  l->fresh |= cli_block_is_stale() || l->held != NULL;
  since = cli_now() - l->drawn;
  if (since < 0 || since >= (l->fresh ? l->pause : CLI_JOB_PROGRESS_EVERY)) {
    draw(l);
    since = 0;
  }
  l->every_ms = (int)((l->fresh || (l->at != NULL && l->at->changed)
                         ? l->pause
                         : CLI_JOB_PROGRESS_EVERY) -
                      since);
  if (l->every_ms < LEAST)
    l->every_ms = LEAST;
}

FILE *cli_live_output(cli_live *l)
{
  if (!l->open)
    return stdout;
  if (l->held != NULL && ftell(l->held) > MOST)
    show(l, NULL);
  if (l->held == NULL)
    l->held = open_memstream(&l->text, &l->len);
  if (l->held == NULL) /* then output is not buffered */
    cli_block_erase();
  return l->held != NULL ? l->held : stdout;
}

void cli_live_clear(cli_live *l)
{
  if (l->open)
    show(l, NULL);
}

void cli_live_close(cli_live *l)
{
  if (!l->open)
    return;
  show(l, NULL);
  cli_block_close();
  l->open = false;
}
