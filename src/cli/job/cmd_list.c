/* cmd_list.c - `list`: a table of jobs */
#include "job_select.h"
#include "job_table.h"
#include "jobs.h"
#include "quantity.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST "50000" /* most jobs that a server returns in one answer */

typedef struct list_options {
  const cli_list_args *a;
  cli_column columns[CLI_COLUMNS], sort[CLI_COLUMNS];
  char *states, order[64]; /* in the API's spelling; "": not sorted there */
  bool sorts, down;        /* jobs are sorted here; in descending order */
  int64_t from;            /* of --since, in ms since the epoch */
} list_options;

/* A job of the list. */
typedef struct row {
  cli_each item;
  cli_job_detail *detail; /* NULL: none is needed */
  char *key;              /* to sort by */
} row;

static bool is_filtered(const list_options *o)
{
  return o->a->live || o->a->state != NULL || o->a->user != NULL ||
         o->a->keyword != NULL || o->a->tag != NULL || o->a->since != NULL ||
         o->a->count > 0;
}

/* Warns if this machine's platform lacks something, such as disk space, and
 * starts no jobs.  On another server this concerns only the operator. */
static void warn_of_trouble(cli_remote *r)
{
  pai_json *s;

  if (r->root == NULL ||
      !cli_call_quietly(r, &s, "server.status", cli_no_arguments()))
    return;
  if (cli_json_has(s, 0, "trouble"))
    cli_say(PAI_LOG_WARNING, cli_json_text(s, 0, "trouble"));
  pai_json_free(s);
}

/* The API cannot filter by glob or --since, nor sort by each column, so the
 * verb reads all jobs and does so itself. */
static bool reads_all(const list_options *o)
{
  return o->a->count > 0 || o->a->since != NULL || o->sorts;
}

static bool is_wanted(const pai_json *j, size_t i, const list_options *o)
{
  const char *name = cli_json_text(j, i, "name");
  const char *user = cli_json_text(j, i, "username");
  bool found = o->a->count == 0;
  char whole[600];

  if (o->a->since != NULL &&
      cli_json_number(j, i, "submissionTime", 0) < o->from)
    return false;
  (void)snprintf(whole, sizeof(whole), "%s~%s", user, name);
  for (int k = 0; k < o->a->count && !found; k++)
    found =
      fnmatch(o->a->words[k],
              strchr(o->a->words[k], '~') != NULL ? whole : name, 0) == 0;
  return found;
}

/* --- sorting ------------------------------------------------------------- */

enum key_kind { NUMBER, DURATION, WORD, UNKNOWN };

static enum key_kind kind_of(const char *key, int64_t *value)
{
  char *end;

  *value = strtoll(key, &end, 10);
  return end != key && *end == '\0'  ? NUMBER
         : cli_read_span(key, value) ? DURATION
         : strcmp(key, "-") != 0     ? WORD
                                     : UNKNOWN;
}

/* Compares numbers and durations by value.  The kinds are apart, for qsort()
 * needs an order: "10" < "1a" < "9" < "10" is none.  Unknown keys are last. */
static int compare_keys(const char *a, const char *b, bool down)
{
  int64_t x, y;
  enum key_kind of_a = kind_of(a, &x), of_b = kind_of(b, &y);
  int way = of_a != of_b   ? (int)of_a - (int)of_b
            : of_a == WORD ? strcmp(a, b)
                           : (x > y) - (x < y);

  if (of_a == UNKNOWN || of_b == UNKNOWN)
    return (of_a == UNKNOWN) - (of_b == UNKNOWN);
  return down ? -way : way;
}

static int compare_up(const void *a, const void *b)
{
  const row *x = a, *y = b;
  int way = compare_keys(x->key, y->key, false);

  return way != 0 ? way
                  : (x->item.at > y->item.at) - (x->item.at < y->item.at);
}

static int compare_down(const void *a, const void *b)
{
  const row *x = a, *y = b;
  int way = compare_keys(x->key, y->key, true);

  return way != 0 ? way
                  : (x->item.at > y->item.at) - (x->item.at < y->item.at);
}

static bool sort_rows(row *rows, size_t count, const list_options *o)
{
  bool good = true;

  for (size_t i = 0; i < count && good; i++) {
    rows[i].key = cli_job_cell(o->sort, &rows[i].item, rows[i].detail);
    good = rows[i].key != NULL;
  }
  if (good)
    qsort(rows, count, sizeof(*rows), o->down ? compare_down : compare_up);
  for (size_t i = 0; i < count; i++)
    free(rows[i].key);
  return good;
}

/* --- output -------------------------------------------------------------- */

/* Returns the matching jobs in list order, for free(). */
static row *find_wanted(const pai_json *j, const list_options *o,
                        size_t *count)
{
  row *rows = malloc((pai_json_count(j, 0) + 1) * sizeof(*rows));

  *count = 0;
  for (cli_each i = cli_each_of(j, 0); rows != NULL && cli_next(&i);)
    if (is_wanted(j, i.at, o))
      rows[(*count)++] = (row){ .item = i };
  return rows;
}

/* Returns false if memory is short. */
static bool ask_details(cli_remote *r, row *rows, size_t count, unsigned needs)
{
  bool good = true;

  for (size_t i = 0; i < count && needs != 0 && good; i++) {
    free(rows[i].detail);
    rows[i].detail = cli_job_detail_ask(r, &rows[i].item, needs);
    good = rows[i].detail != NULL;
  }
  return good;
}

static void print_json(const row *rows, size_t count)
{
  (void)putchar('[');
  for (size_t i = 0; i < count; i++) {
    (void)fputs(i > 0 ? "," : "", stdout);
    (void)!pai_json_write(rows[i].item.json, rows[i].item.at, cli_write,
                          stdout, NULL);
  }
  (void)printf("]\n");
}

static void print_table(const row *rows, size_t count, const list_options *o)
{
  cli_table t;

  cli_table_begin(&t, o->columns);
  for (size_t i = 0; i < count; i++)
    cli_job_table_add(&t, &rows[i].item, rows[i].detail);
  cli_table_end(&t, stdout);
}

/* Returns false if memory is short. */
static bool print_rows(cli_remote *r, row *rows, size_t count,
                       const list_options *o)
{
  size_t most = o->a->limit != NULL ? strtoul(o->a->limit, NULL, 10) : count;
  unsigned needs = o->sorts ? cli_job_columns_need(o->sort) : 0;
  unsigned shows = o->a->json ? 0 : cli_job_columns_need(o->columns);
  bool good = ask_details(r, rows, count, needs) &&
              (!o->sorts || sort_rows(rows, count, o));

  count = count < most ? count : most;
  if (good && (shows & ~needs) != 0)
    good = ask_details(r, rows, count, shows);
  if (good && o->a->json)
    print_json(rows, count);
  else if (good && count > 0)
    print_table(rows, count, o);
  else if (good)
    (void)fprintf(stderr, is_filtered(o) ? "no such jobs\n" : "no jobs\n");
  return good;
}

static void print_list(cli_remote *r, const pai_json *j, const char *body,
                       const list_options *o)
{
  size_t count;
  row *rows;

  if (o->a->json && !reads_all(o)) {
    (void)printf("%s\n", body);
    return;
  }
  rows = find_wanted(j, o, &count);
  if (rows == NULL || !print_rows(r, rows, count, o))
    cli_fail("out of memory");
  for (size_t i = 0; rows != NULL && i < count; i++)
    free(rows[i].detail);
  free(rows);
}

static int list(cli_remote *r, const list_options *o)
{
  cli_answer a;
  pai_json *j;
  int code = CLI_NO;

  cli_call(r, &a, "jobs.list",
           cli_json_make("{\"state\":%s,\"username\":%s,\"keyword\":%s,"
                         "\"tagsContain\":%s,\"limit\":%s,\"order\":%s}",
                         o->a->live ? "WAITING,RUNNING,STOPPING" : o->states,
                         o->a->user, o->a->keyword, o->a->tag,
                         reads_all(o) ? MOST : o->a->limit,
                         o->order[0] != '\0' ? o->order : NULL));
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    print_list(r, j, a.body, o);
    cli_json_free(&j);
    warn_of_trouble(r);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  return code;
}

/* --- options ------------------------------------------------------------- */

/* Reads COLUMN, COLUMN,asc or COLUMN,desc.  The server sorts by most
 * columns. */
static bool read_sort(list_options *o, const char *sort)
{
  static const struct {
    const char *column, *field;
  } orders[] = { { "name", "jobName" },
                 { "user", "username" },
                 { "submitted", "submissionTime" },
                 { "age", "submissionTime" },
                 { "completed", "completionTime" },
                 { "vc", "vc" },
                 { "state", "state" },
                 { "retries", "retries" },
                 { "tasks", "totalTaskNumber" },
                 { "gpus", "totalGpuNumber" },
                 { "priority", "jobPriority" } };
  size_t len = strcspn(sort, ",");
  const char *way = sort + len, *field = NULL;
  char name[32];
  bool known;

  (void)snprintf(name, sizeof(name), "%.*s", (int)len, sort);
  for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
    if (strcasecmp(orders[i].column, name) == 0)
      field = orders[i].field;
  known = len > 0 && len < sizeof(name) &&
          cli_table_choose(o->sort, cli_columns_jobs, name) == NULL;
  if ((!known && field == NULL) ||
      (*way != '\0' && strcasecmp(way, ",asc") != 0 &&
       strcasecmp(way, ",desc") != 0)) {
    (void)cli_misused("--sort: not a column, or not COLUMN,asc or "
                      "COLUMN,desc",
                      sort);
    return false;
  }
  o->sorts = field == NULL;
  o->down = *way != '\0' ? strcasecmp(way, ",desc") == 0
                         : strncmp(name, "submitted", 10) == 0 || !known ||
                             o->sort[0].right;
  if (field != NULL)
    (void)snprintf(o->order, sizeof(o->order), "%s,%s", field,
                   o->down ? "DESC" : "ASC");
  return true;
}

static bool read_columns(list_options *o)
{
  const cli_list_args *a = o->a;
  const char *names = a->wide              ? cli_job_columns_wide
                      : a->columns != NULL ? a->columns
                                           : cli_job_columns_usual,
             *wrong = cli_table_choose(o->columns, cli_columns_jobs, names);

  if (wrong != NULL)
    return cli_wrong("--columns: there is no column", wrong);
  return names[0] != '\0' ||
         cli_wrong("a list of columns is not empty", "--columns");
}

/* Checks the options here: the API ignores unknown values silently. */
static bool check(list_options *o)
{
  const cli_list_args *a = o->a;

  if (!read_columns(o))
    return false;
  if (a->since != NULL && !cli_read_since(&o->from, a->since)) {
    (void)cli_misused("--since: this is no time", a->since);
    cli_help(stderr, "give " CLI_SINCE_FORMS);
    return false;
  }
  if (o->from <= 0)
    o->from += cli_now();
  if (a->state != NULL && (o->states = cli_job_states(a->state)) == NULL)
    return false;
  return a->sort == NULL || read_sort(o, a->sort);
}

int cli_do_list(const cli_list_args *a)
{
  list_options o = { .a = a };
  int code = CLI_NO;
  cli_remote r;

  if (!check(&o)) {
    code = CLI_USAGE;
  } else if (cli_remote_open(&r, true)) {
    code = list(&r, &o);
    cli_remote_close(&r);
  }
  free(o.states);
  return code;
}
