/* calls.c - verbs that only make calls of the REST API, as declared in
 * src/cli/verbs */
#include "calls.h"

#include "accounts.h"
#include "job_select.h"
#include "quantity.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

/* The current call: the arguments of the verb, and the word that the call is
 * for. */
typedef struct asking {
  const cli_api *api;
  const cli_given *given;
  cli_remote *r;
  const char *each;
  char *password;
} asking;

/* --- arguments ----------------------------------------------------------- */

static const char *option_text(const cli_argument *a)
{
  return *(const char *const *)a->value;
}

static bool is_set(const void *flag)
{
  return *(const bool *)flag;
}

static bool is_given(const cli_argument *a)
{
  switch (a->from) {
  case CLI_FROM_TEXT:
  case CLI_FROM_LIST:
  case CLI_FROM_SPAN: return option_text(a) != NULL;
  case CLI_FROM_FLAG:
  case CLI_FROM_GIVEN: return is_set(a->value);
  case CLI_FROM_EITHER: return is_set(a->value) || is_set(a->no);
  default: return false;
  }
}

/* Whether an argument becomes a member of the call's arguments. */
static bool is_told(const cli_argument *a, const cli_given *given)
{
  if (a->from == CLI_FROM_WORD)
    return a->word < given->count;
  if (a->from == CLI_FROM_LIST && a->text != NULL && is_given(a))
    return strcmp(a->text, option_text(a)) != 0;
  return a->from < CLI_FROM_TEXT || a->from == CLI_FROM_FLAG ||
         a->from == CLI_FROM_PASSWORD || a->always || is_given(a);
}

static int64_t seconds_of(const char *span)
{
  int64_t ms;

  return cli_read_since(&ms, span) && ms < 0 ? -ms / 1000 : 0;
}

static void put_list(FILE *out, const char *list)
{
  char *text = cli_json_list(list != NULL ? list : "");

  (void)fputs(text != NULL ? text : "[]", out);
  free(text);
}

static void put_job(FILE *out, const char *name)
{
  char *whole = cli_whole_name(name);

  cli_json_print(out, "%s", whole);
  free(whole);
}

static void put_value(FILE *out, const asking *q, const cli_argument *a)
{
  switch (a->from) {
  case CLI_FROM_JSON: (void)fputs(a->text, out); break;
  case CLI_FROM_WORD:
    cli_json_print(out, "%s", q->given->words[a->word]);
    break;
  case CLI_FROM_WORDS: cli_json_print(out, "%s", q->each); break;
  case CLI_FROM_JOBS: put_job(out, q->each); break;
  case CLI_FROM_PASSWORD: cli_json_print(out, "%s", q->password); break;
  case CLI_FROM_TEXT: cli_json_print(out, "%s", option_text(a)); break;
  case CLI_FROM_LIST: put_list(out, option_text(a)); break;
  case CLI_FROM_SPAN:
    cli_json_print(out, "%lld", (long long)seconds_of(option_text(a)));
    break;
  default: cli_json_print(out, "%c", cli_truth(is_set(a->value))); break;
  }
}

/* Prints the members of an object.  The first `skip` characters of their names
 * are the path of that object. */
static void put_members(FILE *out, const asking *q, const cli_argument *a,
                        size_t count, size_t skip)
{
  const char *comma = "{";

  for (size_t i = 0, n; i < count; i += n) {
    const char *name = a[i].member + skip;
    size_t len = strcspn(name, "/");

    for (n = 1; name[len] == '/' && i + n < count &&
                strncmp(a[i + n].member + skip, name, len + 1) == 0;)
      n++;
    if (name[len] != '/' && !is_told(&a[i], q->given))
      continue;
    (void)fputs(comma, out);
    comma = ",";
    cli_json_string(out, name, len);
    (void)fputc(':', out);
    if (name[len] == '/')
      put_members(out, q, a + i, n, skip + len + 1);
    else
      put_value(out, q, &a[i]);
  }
  (void)fputs(comma[0] == '{' ? "{}" : "}", out);
}

/* Returns the call's arguments, for free(), or NULL. */
static char *make_arguments(const asking *q, const cli_api_call *c)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  if (out == NULL)
    return NULL;
  put_members(out, q, c->arguments, c->count, 0);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

/* --- answers ------------------------------------------------------------- */

static void show_rows(const cli_api_call *c, cli_each record)
{
  cli_table t;

  if (c->show == CLI_SHOW_ROWS) {
    cli_print_table(
      stdout, c->columns,
      cli_each_of(record.json, cli_json_get(record.json, 0, c->rows)));
    return;
  }
  cli_table_begin(&t, c->columns);
  cli_table_add_record(&t, &record);
  cli_table_end(&t, stdout);
}

/* Prints one record, or each record of a list after an empty line. */
static void show_fields(const cli_api_call *c, cli_each record)
{
  if (c->rows[0] == '\0') {
    cli_print_fields(stdout, c->columns, &record);
    return;
  }
  record = cli_each_of(record.json, cli_json_get(record.json, 0, c->rows));
  for (bool first = true; cli_next(&record); first = false) {
    if (!first)
      (void)fputc('\n', stdout);
    cli_print_fields(stdout, c->columns, &record);
  }
}

static void show(const asking *q, const cli_api_call *c, const pai_json *j)
{
  const cli_each record = { .json = j,
                            .key =
                              q->given->count > 0 ? q->given->words[0] : "" };

  if (c->show == CLI_SHOW_FIELDS) {
    show_fields(c, record);
  } else if (c->show == CLI_SHOW_FORM) {
    cli_print_form(stdout, c->form, &record);
    (void)fputc('\n', stdout);
  } else {
    show_rows(c, record);
  }
}

/* Prints the warnings in an answer. */
static void warn(const asking *q, const cli_api_call *c)
{
  cli_answer a;
  pai_json *j = NULL;

  cli_call(q->r, &a, c->name, make_arguments(q, c));
  if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len) &&
      cli_json_has(j, 0, c->form))
    cli_say(PAI_LOG_WARNING, cli_json_text(j, 0, c->form));
  pai_json_free(j);
  cli_answer_free(&a);
}

/* Returns false after printing an error. */
static bool make_call(const asking *q, const cli_api_call *c)
{
  bool as_it_is =
    c->show == CLI_SHOW_JSON || (q->api->json != NULL && *q->api->json);
  pai_json *j = NULL;
  cli_answer a;
  bool good;

  if (c->show == CLI_SHOW_WARNING) {
    warn(q, c);
    return true;
  }
  cli_call(q->r, &a, c->name, make_arguments(q, c));
  good = a.status == PAI_OK;
  if (!good)
    cli_answer_tell(&a);
  else if (as_it_is)
    (void)printf("%s\n", a.body);
  else if (c->show != CLI_SHOW_NOTHING && (good = cli_answer_read(&a, &j)))
    show(q, c, j);
  pai_json_free(j);
  cli_answer_free(&a);
  return good;
}

/* --- the verb ------------------------------------------------------------ */

static bool asks_for_any(const cli_api_call *c)
{
  bool any = false, has = false;

  for (size_t i = 0; i < c->count; i++) {
    any |= is_given(&c->arguments[i]);
    has |= c->arguments[i].from >= CLI_FROM_TEXT;
  }
  return any || !has;
}

/* Makes all calls in order.  Calls that change something are skipped if no
 * option for them was given.  With --json only the first call is made. */
static bool make_all(const asking *q)
{
  for (const cli_api_call *c = q->api->calls; c->name != NULL; c++) {
    if (q->api->some != NULL && !asks_for_any(c))
      continue;
    if (!make_call(q, c))
      return false;
    if (q->api->json != NULL && *q->api->json)
      break;
  }
  return true;
}

static int make_for_each(asking *q, char *const *words, size_t count)
{
  int code = CLI_OK;

  for (size_t i = 0; i < count; i++) {
    q->each = words[i];
    if (!make_all(q))
      code = CLI_NO;
  }
  return code;
}

static int make_for_jobs(asking *q, int from)
{
  cli_job_names jobs;
  int code =
    cli_jobs_select(&jobs, q->r, q->api->selection, q->api->fit, q->api->does,
                    q->given->count - from, q->given->words + from);

  if (code == CLI_OK)
    code = make_for_each(q, jobs.list, jobs.count);
  cli_job_names_free(&jobs);
  return code;
}

static const cli_argument *find(const cli_api *api, int from)
{
  for (size_t i = 0; i < api->calls->count; i++)
    if (api->calls->arguments[i].from == from)
      return &api->calls->arguments[i];
  return NULL;
}

/* Checks the options.  Returns false after printing an error. */
static bool check(const cli_api *api, const cli_given *given)
{
  bool some = api->some == NULL;

  for (const cli_api_call *c = api->calls; c->name != NULL; c++)
    for (size_t i = 0; i < c->count; i++) {
      const cli_argument *a = &c->arguments[i];

      some |= is_given(a);
      if (a->from == CLI_FROM_SPAN && is_given(a) &&
          seconds_of(option_text(a)) == 0)
        return cli_wrong("--expires needs a time, as 30d, not",
                         option_text(a));
    }
  return some || cli_wrong(api->some, given->words[0]);
}

int cli_make_calls(const cli_api *api, const cli_given *given)
{
  const cli_argument *words = find(api, CLI_FROM_WORDS),
                     *jobs = find(api, CLI_FROM_JOBS),
                     *password = find(api, CLI_FROM_PASSWORD);
  asking q = { .api = api, .given = given };
  cli_remote r;
  int code = CLI_NO;

  if (!check(api, given))
    return cli_verb_now->misuse;
  if (password != NULL)
    q.password = cli_new_password(given->words[0], option_text(password));
  if ((password != NULL && q.password == NULL) || !cli_remote_open(&r, true))
    return CLI_NO;
  q.r = &r;
  if (jobs != NULL)
    code = make_for_jobs(&q, jobs->word);
  else if (words != NULL)
    code = make_for_each(&q, given->words + words->word,
                         (size_t)(given->count - words->word));
  else if (make_all(&q))
    code = CLI_OK;
  cli_remote_close(&r);
  free(q.password);
  return code;
}
