/*
 * cmd_top.c - the platform's jobs, or the tasks of one, live
 *
 * On a terminal the picture is drawn over itself every second, and at each key;
 * else it is printed once.
 */
#include "job_screen.h"
#include "jobs.h"
#include "screen.h"
#include "standing.h"
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

enum { EVERY = 1000 };

typedef struct picture {
  cli_remote *r;
  const char *name; /* of the job whose tasks are shown, or NULL: all jobs */
  bool screen, json;
  cli_job_screen jobs;
  cli_standing at; /* of the job */
  unsigned first;  /* of its tasks that has a row */
} picture;

/* --- all jobs ------------------------------------------------------------------- */

/* What was answered, as it is. */
static bool print_answers(const picture *p)
{
  cli_answer status, jobs = { 0 };
  bool good;

  cli_remote_ask(p->r, &status, "GET", "/api/v2/status", NULL, NULL, 0);
  if (status.status == PAI_OK)
    cli_remote_ask(p->r, &jobs, "GET",
                   p->jobs.all
                     ? "/api/v2/jobs?limit=200"
                     : "/api/v2/jobs?limit=200&state=RUNNING,STOPPING,WAITING",
                   NULL, NULL, 0);
  good = status.status == PAI_OK && jobs.status == PAI_OK;
  if (good)
    (void)printf("{\"status\":%s,\"jobs\":%s}\n", status.body, jobs.body);
  else
    cli_answer_tell(status.status == PAI_OK ? &jobs : &status);
  cli_answer_free(&status);
  cli_answer_free(&jobs);
  return good;
}

/* --- either ---------------------------------------------------------------------- */

/* False, and told: it cannot be asked. */
static bool ask(picture *p)
{
  return p->name != NULL ? cli_standing_ask(&p->at)
                         : cli_job_screen_ask(&p->jobs);
}

static void print(picture *p, FILE *to, unsigned width, unsigned rows)
{
  cli_job_view v;

  if (p->name == NULL) {
    cli_job_screen_print(&p->jobs, to, rows);
    return;
  }
  v = cli_standing_view(&p->at);
  v.first = p->first;
  if (p->json)
    cli_print_tasks_json(to, &v);
  else
    cli_print_tasks(to, &v, width, rows);
}

static void draw(void *user_data)
{
  picture *p = user_data;
  unsigned width, height;
  char *text = NULL;
  size_t len;
  FILE *to = open_memstream(&text, &len);

  if (to == NULL)
    return; /* until there is memory again */
  cli_screen_size(&width, &height);
  print(p, to, width, height);
  (void)fclose(to);
  (void)fputs("\033[H", stdout);
  if (text != NULL)
    (void)cli_draw_lines(stdout, text, width, height);
  free(text);
  (void)cli_written();
}

/* --- keys ------------------------------------------------------------------------ */

static void open_job(picture *p)
{
  p->name = p->jobs.name;
  p->first = 0;
  p->at = (cli_standing){ .r = p->r, .name = p->name };
}

/* Back to all jobs, if one was opened there. */
static bool close_job(picture *p)
{
  if (p->name != p->jobs.name)
    return false;
  p->name = NULL;
  cli_standing_free(&p->at);
  return true;
}

enum { HEAD_ROWS = 3, REST_ROWS = 1 }; /* around a job's tasks */

/* By less than a screen, for the eye to find its place. */
static void scroll_tasks(picture *p, int key, unsigned height)
{
  cli_job_view v = cli_standing_view(&p->at);
  unsigned all = cli_count_tasks(&v), around = HEAD_ROWS + REST_ROWS;
  unsigned rows = height > around ? height - around : 1;
  unsigned page = rows > 4 ? rows - 2 : 2, last = all > rows ? all - rows : 0;

  switch (key) {
  case CLI_KEY_UP: p->first -= p->first > 0; break;
  case CLI_KEY_DOWN: p->first++; break;
  case CLI_KEY_PAGE_UP: p->first -= p->first < page ? p->first : page; break;
  case CLI_KEY_PAGE_DOWN: p->first += page; break;
  case CLI_KEY_HOME: p->first = 0; break;
  case CLI_KEY_END: p->first = last; break;
  default: break;
  }
  p->first = p->first < last ? p->first : last;
}

static cli_job_screen_wish heed_key(picture *p, int key)
{
  cli_job_screen_wish wish = CLI_SCREEN_DRAW;
  unsigned width, height;

  cli_screen_size(&width, &height);
  if (p->name == NULL) {
    wish = cli_job_screen_key(&p->jobs, key, height);
    if (wish == CLI_SCREEN_OPEN)
      open_job(p);
  } else if (key == CLI_KEY_ESCAPE || key == CLI_KEY_BACKSPACE) {
    wish = close_job(p) ? CLI_SCREEN_ASK : CLI_SCREEN_DRAW;
  } else if (key == 'q' || key == 'Q') {
    wish = CLI_SCREEN_QUIT;
  } else {
    scroll_tasks(p, key, height);
  }
  return wish;
}

/* Until it is to end, or nobody answers: false. */
static bool follow_keys(picture *p)
{
  int64_t asked = cli_now();

  for (;;) {
    cli_job_screen_wish wish;
    int64_t left = asked + EVERY - cli_now();
    int key;

    draw(p);
    key = cli_screen_key(left < 0       ? 0
                         : left > EVERY ? EVERY
                                        : (int)left,
                         draw, p);
    if (key == CLI_KEY_SIGNAL)
      return true;
    wish = key == CLI_KEY_NONE ? CLI_SCREEN_ASK : heed_key(p, key);
    if (wish == CLI_SCREEN_QUIT)
      return true;
    if (wish == CLI_SCREEN_DRAW && left > 0)
      continue;
    if (!ask(p) && (!close_job(p) || !ask(p)))
      return false;
    asked = cli_now();
  }
}

static int show_live(picture *p)
{
  bool good = ask(p); /* before signals wait: it may start a platform */

  if (!good)
    return CLI_NO;
  cli_screen_catch();
  cli_screen_enter();
  good = follow_keys(p);
  cli_screen_leave();
  if (!good) /* what was said of it went with the screen */
    cli_fail("%s%s in %s does not answer any more",
             p->name != NULL ? "job " : "the platform",
             p->name != NULL ? p->name : "",
             p->r->root != NULL ? p->r->root : p->r->site.url);
  return good ? CLI_OK : CLI_NO;
}

static int show(picture *p)
{
  int code = CLI_NO;

  if (p->name == NULL && p->json)
    code = print_answers(p) ? CLI_OK : CLI_NO;
  else if (p->screen)
    code = show_live(p);
  else if (ask(p)) {
    print(p, stdout, UINT32_MAX, UINT32_MAX);
    code = CLI_OK;
  }
  cli_job_screen_free(&p->jobs);
  cli_standing_free(&p->at);
  return code;
}

static int run(int argc, char **argv)
{
  bool once = false;
  picture p = { 0 };
  const cli_option options[] = { { "once", 0, &once, NULL },
                                 { "all", 'a', &p.jobs.all, NULL },
                                 { "json", 0, &p.json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_top, options, 4, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || (words > 0 && !cli_want_jobs(&cli_top, words, argv, 1)))
    return CLI_USAGE;
  if (words > 0 && p.jobs.all) {
    cli_misused(&cli_top, "all tasks of a job are always shown", "--all");
    return CLI_USAGE;
  }
  p.name = words > 0 ? argv[0] : NULL;
  p.screen = !once && !p.json && cli_is_terminal(stdout);
  p.jobs.live = p.screen;
  p.r = p.jobs.r = &r;
  p.at = (cli_standing){ .r = &r, .name = p.name };
  if (cli_remote_open(&r, true)) {
    code = show(&p);
    cli_remote_close(&r);
    cli_screen_over();
  }
  return code;
}

const cli_verb cli_top = {
  .name = "top",
  .brief = "Show the platform's jobs, or the tasks of one job, live",
  .usage = "[--once] [--all] [--json] [--root DIR] [JOB]",
  .help =
    "Refresh every second until q or Ctrl-C; if standard output is not a\n"
    "terminal, print once.  Running jobs come first.  Keys on a terminal:\n"
    "\n"
    "  Up, Down, PgUp, PgDn, Home, End\n"
    "                   choose a job; scroll jobs or tasks\n"
    "  Enter            show the tasks of the chosen job; Esc: back\n"
    "  k                stop the chosen job, after a question: y, or K to\n"
    "                   kill it at once\n"
    "  /                show only jobs with a text in name or user; Esc: all\n"
    "  a                show finished jobs, too, or hide them\n"
    "  q                quit\n"
    "\n"
    "For JOB, show its state and its tasks: the state\n"
    "of each task, for how long, and its use of CPUs, memory and GPUs, as "
    "far\n"
    "as the server knows it.  For the use of this machine see 'openpai "
    "cluster\n"
    "top'.\n"
    "\n"
    "  --once           print once, as plain lines\n"
    "  -a, --all        include finished jobs\n"
    "  --json           print one JSON object, once\n" JOBS_ROOT_HELP "\n"
    "Exit status: 0 success, 1 no such job or the platform cannot be\n"
    "asked, 2 usage error\n",
  .run = run,
};
