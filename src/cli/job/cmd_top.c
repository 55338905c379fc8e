/*
 * cmd_top.c - `top`: live view of all jobs, or of the tasks of one job
 *
 * On a terminal the screen is redrawn every second and at each key; otherwise
 * the view is printed once.
 */
#include "cells.h"
#include "job_table.h"
#include "jobs.h"
#include "json.h"
#include "remote.h"
#include "screen.h"
#include "job_progress.h"
#include "table.h"
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

typedef struct cli_job_screen {
  cli_remote *r;
  bool all;  /* show finished jobs too */
  bool live; /* with keys and a line that explains them */
  pai_json *status;
  pai_json *jobs; /* [running jobs, other jobs], from the list route */
  size_t *items;  /* items of `jobs`, in the order of the screen */
  size_t count;
  size_t total;         /* all jobs, including those not asked for */
  size_t first, chosen; /* rows: at the top of the screen; highlighted */
  char name[600];       /* USER~NAME of the chosen job, whose row may change */
  char filter[64];      /* text to find in the name or user of jobs */
  bool filters;         /* the filter is being typed */
  bool asks;            /* asking whether to stop the chosen job */
  char note[1100];      /* shown instead of the keys until a key is pressed */
} cli_job_screen;

typedef enum cli_job_screen_action {
  CLI_SCREEN_DRAW, /* only redraw */
  CLI_SCREEN_ASK,  /* call the platform again */
  CLI_SCREEN_OPEN, /* show the tasks of the chosen job, `name` */
  CLI_SCREEN_QUIT
} cli_job_screen_action;

enum {
  AHEAD = 200, /* jobs asked for beyond the chosen one */
  MOST = 50000 /* most jobs that a server returns in one answer */
};

static const char keys[] =
  "Up/Down choose  Enter tasks  k stop  / filter  a all jobs  q quit";

/* --- calls --------------------------------------------------------------- */

/* Asks for the jobs in these states. */
static void ask_jobs(const cli_job_screen *s, cli_answer *a,
                     const char *states)
{
  size_t limit = s->chosen + AHEAD < MOST ? s->chosen + AHEAD : MOST;

  cli_call(s->r, a, "jobs.list",
           cli_json_make("{\"withTotalCount\":true,\"limit\":%zu,\"state\":%s,"
                         "\"keyword\":%s}",
                         limit, states,
                         s->filter[0] != '\0' ? s->filter : NULL));
}

/* Joins both answers into one array. */
static bool join(pai_json **out, const cli_answer *busy,
                 const cli_answer *rest)
{
  size_t size = busy->len + rest->len + 4;
  char *text = malloc(size);
  bool good = false;

  *out = NULL;
  if (text != NULL)
    good = cli_json_read(
      out, text,
      (size_t)snprintf(text, size, "[%s,%s]", busy->body, rest->body));
  free(text);
  return good;
}

static void keep_items(cli_job_screen *s)
{
  const pai_json *j = s->jobs;
  size_t n = 0;

  s->total = 0;
  for (cli_each part = cli_each_of(j, 0); cli_next(&part);) {
    s->total += (size_t)cli_json_number(j, part.at, "totalCount", 0);
    for (cli_each i = cli_each_of(j, cli_json_get(j, part.at, "data"));
         cli_next(&i);)
      s->items[n++] = i.at;
  }
  s->count = n;
  if (s->total < n)
    s->total = n;
}

static void name_of(char *out, size_t size, const cli_job_screen *s,
                    size_t row)
{
  (void)snprintf(out, size, "%s~%s",
                 cli_json_text(s->jobs, s->items[row], "username"),
                 cli_json_text(s->jobs, s->items[row], "name"));
}

static void choose(cli_job_screen *s, size_t row)
{
  s->chosen = s->count == 0 ? 0 : row < s->count ? row : s->count - 1;
  s->name[0] = '\0';
  if (s->count > 0)
    name_of(s->name, sizeof(s->name), s, s->chosen);
}

/* Keeps the same job chosen when its row changes, unless it is gone. */
static void find_chosen(cli_job_screen *s)
{
  char name[sizeof(s->name)];

  for (size_t i = 0; i < s->count && s->name[0] != '\0'; i++) {
    name_of(name, sizeof(name), s, i);
    if (strcmp(name, s->name) == 0) {
      s->chosen = i;
      return;
    }
  }
  if (s->asks) {
    s->asks = false;
    (void)snprintf(s->note, sizeof(s->note), "%s has ended", s->name);
  }
  choose(s, s->chosen);
}

static bool take_jobs(cli_job_screen *s, const cli_answer *busy,
                      const cli_answer *rest)
{
  pai_json *fresh;
  size_t *items, most = 1;

  if (busy->status != PAI_OK || rest->status != PAI_OK) {
    cli_answer_tell(busy->status != PAI_OK ? busy : rest);
    return false;
  }
  if (!join(&fresh, busy, rest)) {
    cli_fail("the platform's answer cannot be read");
    return false;
  }
  for (cli_each part = cli_each_of(fresh, 0); cli_next(&part);)
    most += pai_json_count(fresh, cli_json_get(fresh, part.at, "data"));
  items = realloc(s->items, most * sizeof(*items));
  if (items == NULL) {
    cli_json_free(&fresh);
    cli_fail("out of memory");
    return false;
  }
  cli_json_free(&s->jobs);
  s->jobs = fresh;
  s->items = items;
  keep_items(s);
  find_chosen(s);
  return true;
}

/* Calls the platform.  Returns false after printing an error. */
static bool cli_job_screen_ask(cli_job_screen *s)
{
  cli_answer busy = { 0 }, rest = { 0 };
  bool good;

  cli_json_free(&s->status);
  if (!cli_call_read(s->r, &s->status, "server.status", cli_no_arguments()))
    return false;
  ask_jobs(s, &busy, "RUNNING,STOPPING");
  if (busy.status == PAI_OK)
    ask_jobs(s, &rest,
             s->all ? "WAITING,SUCCEEDED,FAILED,STOPPED" : "WAITING");
  good = take_jobs(s, &busy, &rest);
  cli_answer_free(&busy);
  cli_answer_free(&rest);
  return good;
}

static void cli_job_screen_free(cli_job_screen *s)
{
  cli_json_free(&s->status);
  cli_json_free(&s->jobs);
  free(s->items);
}

/* --- drawing ------------------------------------------------------------- */

static void print_head(FILE *to, const cli_job_screen *s)
{
  const cli_each status = { .json = s->status };

  cli_print_form(
    to,
    "{jobs/running:count} running, {jobs/waiting:count} waiting; "
    "free: {machine/freeGpus:count} of {machine/gpus:count} "
    "GPUs, {machine/freeCpus:cpus} of {machine/cpus:count} CPUs\n",
    &status);
}

/* Returns the rows for jobs: what is left by three lines of heading, the line
 * of keys, and a line that counts the jobs not shown. */
static size_t rows_of(const cli_job_screen *s, unsigned rows)
{
  size_t left = rows > 4 ? rows - 3 - (s->live ? 1 : 0) : 1;

  return s->total > left && left > 1 ? left - 1 : left;
}

static void scroll(cli_job_screen *s, size_t room)
{
  if (s->chosen < s->first)
    s->first = s->chosen;
  if (s->chosen >= s->first + room)
    s->first = s->chosen - room + 1;
  if (s->first + room > s->count)
    s->first = s->count > room ? s->count - room : 0;
}

static void print_footer(FILE *to, const cli_job_screen *s)
{
  if (s->filters)
    (void)fprintf(to, "/%s_", s->filter);
  else if (s->note[0] != '\0')
    cli_print(to, s->note);
  else
    (void)fprintf(to, "%s%s%s", cli_style(stdout, "\033[2m"), keys,
                  cli_style(stdout, "\033[0m"));
}

/* Prints the platform's lines and as many jobs as fit into `rows`. */
static void cli_job_screen_print(cli_job_screen *s, FILE *to, unsigned rows)
{
  size_t room = rows_of(s, rows), shown, below;
  cli_column columns[CLI_COLUMNS];
  cli_table t;

  scroll(s, room);
  shown = s->count - s->first < room ? s->count - s->first : room;
  below = s->total - s->first - shown;
  print_head(to, s);
  if (s->filter[0] != '\0')
    (void)fprintf(to, "filter: %s (Esc: none)", s->filter);
  (void)fputc('\n', to);
  (void)cli_table_choose(columns, cli_columns_jobs, cli_job_columns_usual);
  cli_table_begin(&t, columns);
  t.marked = s->live ? s->chosen - s->first + 1 : 0;
  for (size_t i = 0; i < shown; i++) {
    cli_each job = { .json = s->jobs };
    job.at = s->items[s->first + i];
    cli_job_table_add(&t, &job, NULL);
  }
  cli_table_end(&t, to);
  if (s->total > shown && s->first > 0)
    (void)fprintf(to, "... %zu above, %zu more below\n", s->first, below);
  else if (s->total > shown)
    (void)fprintf(to, "... and %zu more\n", below);
  if (s->live && rows > 4)
    print_footer(to, s);
}

/* --- keys ---------------------------------------------------------------- */

static void stop_chosen(cli_job_screen *s, bool now)
{
  cli_answer a;

  cli_ask_to_stop(s->r, &a, s->name, now);
  (void)snprintf(s->note, sizeof(s->note), "%s%s",
                 a.status == PAI_OK ? "stopping " : "error: ",
                 a.status == PAI_OK ? s->name : a.message);
  cli_answer_free(&a);
}

static cli_job_screen_action answer_question(cli_job_screen *s, int key)
{
  s->asks = false;
  s->note[0] = '\0';
  if (key != 'y' && key != 'Y' && key != 'K')
    return CLI_SCREEN_DRAW;
  stop_chosen(s, key == 'K');
  return CLI_SCREEN_ASK;
}

static void ask_question(cli_job_screen *s)
{
  const char *state =
    s->count > 0 ? cli_json_text(s->jobs, s->items[s->chosen], "state") : "";

  if (s->count == 0)
    return;
  s->asks = !cli_is_over(state);
  (void)snprintf(s->note, sizeof(s->note),
                 s->asks ? "stop %s? y: yes, K: kill at once, other keys: no"
                         : "%s has ended already",
                 s->name);
}

/* Edits the filter; each change asks the platform again. */
static cli_job_screen_action type_filter(cli_job_screen *s, int key)
{
  size_t len = strlen(s->filter);

  if (key == '\r' || key == '\n' || key == CLI_KEY_ESCAPE)
    s->filters = false;
  if (key == CLI_KEY_ESCAPE) {
    s->filter[0] = '\0';
  } else if (key == CLI_KEY_BACKSPACE && len > 0) {
    s->filter[len - 1] = '\0';
  } else if (key > ' ' && key < CLI_KEY_BACKSPACE &&
             len + 1 < sizeof(s->filter)) { /* characters of names */
    s->filter[len] = (char)key;
    s->filter[len + 1] = '\0';
  } else {
    return CLI_SCREEN_DRAW;
  }
  return CLI_SCREEN_ASK;
}

/* Returns the row that a key moves to; SIZE_MAX: not such a key. */
static size_t row_of(const cli_job_screen *s, int key, size_t page)
{
  size_t at = s->chosen;

  switch (key) {
  case CLI_KEY_UP: return at > 0 ? at - 1 : 0;
  case CLI_KEY_DOWN: return at + 1;
  case CLI_KEY_PAGE_UP: return at > page ? at - page : 0;
  case CLI_KEY_PAGE_DOWN: return at + page;
  case CLI_KEY_HOME: return 0;
  case CLI_KEY_END: return s->total;
  default: return SIZE_MAX;
  }
}

/* Moving beyond the jobs read so far asks the platform again. */
static cli_job_screen_action move(cli_job_screen *s, size_t row)
{
  bool more = row >= s->count && s->count < s->total;

  if (row >= s->total)
    row = s->total > 0 ? s->total - 1 : 0;
  if (!more) {
    choose(s, row);
    return CLI_SCREEN_DRAW;
  }
  s->chosen = row;
  s->name[0] = '\0';
  return CLI_SCREEN_ASK;
}

/* Handles a key (screen.h). */
static cli_job_screen_action cli_job_screen_key(cli_job_screen *s, int key,
                                                unsigned rows)
{
  size_t row = row_of(s, key, rows_of(s, rows));

  if (s->asks)
    return answer_question(s, key);
  s->note[0] = '\0';
  if (s->filters)
    return type_filter(s, key);
  if (row != SIZE_MAX)
    return move(s, row);
  switch (key) {
  case 'q':
  case 'Q': return CLI_SCREEN_QUIT;
  case '/': s->filters = true; return CLI_SCREEN_DRAW;
  case CLI_KEY_ESCAPE: s->filter[0] = '\0'; return CLI_SCREEN_ASK;
  case 'a': s->all = !s->all; return CLI_SCREEN_ASK;
  case 'k': ask_question(s); return CLI_SCREEN_DRAW;
  case '\r':
  case '\n': return s->count > 0 ? CLI_SCREEN_OPEN : CLI_SCREEN_DRAW;
  default: return CLI_SCREEN_DRAW;
  }
}

enum { EVERY = 1000 };

typedef struct picture {
  cli_remote *r;
  const char *name; /* of the job whose tasks are shown; NULL: all jobs */
  bool screen, json;
  cli_job_screen jobs;
  cli_job_progress at; /* of that job */
  unsigned first;      /* first task with a row */
} picture;

/* --- all jobs ------------------------------------------------------------ */

/* Prints the answers as they came. */
static bool print_answers(const picture *p)
{
  cli_answer status, jobs = { 0 };
  bool good;

  cli_call(p->r, &status, "server.status", cli_no_arguments());
  if (status.status == PAI_OK)
    cli_call(p->r, &jobs, "jobs.list",
             cli_json_make("{\"limit\":200,\"state\":%s}",
                           p->jobs.all ? NULL : "RUNNING,STOPPING,WAITING"));
  good = status.status == PAI_OK && jobs.status == PAI_OK;
  if (good)
    (void)printf("{\"status\":%s,\"jobs\":%s}\n", status.body, jobs.body);
  else
    cli_answer_tell(status.status == PAI_OK ? &jobs : &status);
  cli_answer_free(&status);
  cli_answer_free(&jobs);
  return good;
}

/* Reads the data to show.  Returns false after printing an error. */
static bool ask(picture *p)
{
  return p->name != NULL ? cli_job_progress_ask(&p->at)
                         : cli_job_screen_ask(&p->jobs);
}

static void print(picture *p, FILE *to, unsigned width, unsigned rows)
{
  cli_job_view v;

  if (p->name == NULL) {
    cli_job_screen_print(&p->jobs, to, rows);
    return;
  }
  v = cli_job_progress_view(&p->at);
  v.first = p->first;
  if (p->json)
    cli_print_tasks_json(to, &v);
  else
    cli_print_tasks(to, &v, width, rows);
}

static void print_screen(void *data, FILE *to)
{
  unsigned width, height;

  cli_screen_size(&width, &height);
  print(data, to, width, height);
}

static void draw(void *user_data)
{
  cli_screen_draw(print_screen, user_data);
}

/* --- keys ---------------------------------------------------------------- */

static void open_job(picture *p)
{
  p->name = p->jobs.name;
  p->first = 0;
  p->at = (cli_job_progress){ .r = p->r, .name = p->name };
}

/* Returns to the list of jobs, if the job was opened from there. */
static bool close_job(picture *p)
{
  if (p->name != p->jobs.name)
    return false;
  p->name = NULL;
  cli_job_progress_free(&p->at);
  return true;
}

enum { HEAD_ROWS = 3, REST_ROWS = 1 }; /* lines around a job's tasks */

/* Scrolls by less than a screen, so that some rows stay visible. */
static void scroll_tasks(picture *p, int key, unsigned height)
{
  cli_job_view v = cli_job_progress_view(&p->at);
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

static cli_job_screen_action heed_key(picture *p, int key)
{
  cli_job_screen_action action = CLI_SCREEN_DRAW;
  unsigned width, height;

  cli_screen_size(&width, &height);
  if (p->name == NULL) {
    action = cli_job_screen_key(&p->jobs, key, height);
    if (action == CLI_SCREEN_OPEN)
      open_job(p);
  } else if (key == CLI_KEY_ESCAPE || key == CLI_KEY_BACKSPACE) {
    action = close_job(p) ? CLI_SCREEN_ASK : CLI_SCREEN_DRAW;
  } else if (key == 'q' || key == 'Q') {
    action = CLI_SCREEN_QUIT;
  } else {
    scroll_tasks(p, key, height);
  }
  return action;
}

/* Runs until the user or a signal ends it; false: the platform is gone. */
static bool follow_keys(picture *p)
{
  int64_t asked = cli_now();

  for (;;) {
    cli_job_screen_action action;
    int64_t left = asked + EVERY - cli_now();
    int key;

    draw(p);
    key = cli_screen_key(left < 0       ? 0
                         : left > EVERY ? EVERY
                                        : (int)left,
                         draw, p);
    if (key == CLI_KEY_SIGNAL)
      return true;
    action = key == CLI_KEY_NONE ? CLI_SCREEN_ASK : heed_key(p, key);
    if (action == CLI_SCREEN_QUIT)
      return true;
    if (action == CLI_SCREEN_DRAW && left > 0)
      continue;
    if (!ask(p) && (!close_job(p) || !ask(p)))
      return false;
    asked = cli_now();
  }
}

static int show_live(picture *p)
{
  bool good = ask(p); /* before signals are blocked: it may start a platform */

  if (!good)
    return CLI_NO;
  cli_screen_catch();
  cli_screen_enter();
  good = follow_keys(p);
  cli_screen_leave();
  if (!good) /* the error that ask() printed was erased with the screen */
    cli_fail("%s%s in %s does not answer any more",
             p->name != NULL ? "job " : "the platform",
             p->name != NULL ? p->name : "",
             p->r->root != NULL ? p->r->root : p->r->context.url);
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
  cli_job_progress_free(&p->at);
  return code;
}

int cli_do_top(const cli_top_args *a)
{
  const char *job = a->count > 0 ? a->words[0] : NULL;
  bool screen = !a->once && !a->json && cli_is_terminal(stdout);
  int code = CLI_NO;
  cli_remote r;
  picture p = { .r = &r,
                .name = job,
                .screen = screen,
                .json = a->json,
                .jobs = { .r = &r, .all = a->all, .live = screen },
                .at = { .r = &r, .name = job } };

  if (job != NULL && !cli_job_name(job))
    return CLI_USAGE;
  if (job != NULL && a->all)
    return cli_misused("all tasks of a job are always shown", "--all");
  if (cli_remote_open(&r, true)) {
    code = show(&p);
    cli_remote_close(&r);
    cli_screen_over();
  }
  return code;
}
