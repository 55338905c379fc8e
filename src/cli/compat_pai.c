/* compat_pai.c - the commands of `pai`, the program of OpenPAI's JavaScript
 * SDK */
#include "compat.h"

#include "cells.h"
#include "job_file.h"
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* It prints what a command has returned, and these return nothing. */
static int print_nothing(bool good)
{
  if (good)
    (void)printf("\"\"\n");
  return good ? CLI_OK : CLI_NO;
}

/* --- clusters ---------------------------------------------------------------------- */

int cli_pai_listc(cli_old *old)
{
  static const char *const heads[] = { "alias", "uri", "user", "https" };
  cli_table t;
  cli_sites sites;

  (void)old;
  if (!cli_sites_load(&sites))
    return CLI_NO;
  cli_table_begin(&t, sizeof(heads) / sizeof(heads[0]), heads);
  for (size_t i = 0; i < sites.count; i++) {
    const cli_site *s = &sites.items[i];
    cli_table_add(&t, s->alias);
    cli_table_add(&t, s->url);
    cli_table_add(&t, s->user != NULL ? s->user : "");
    cli_table_add(&t, strncmp(s->url, "https:", 6) == 0 ? "true" : "false");
  }
  cli_old_boxes(&t);
  cli_sites_free(&sites);
  return CLI_OK;
}

int cli_pai_addc(cli_old *old)
{
  cli_site_login login = { .url = old->words[0],
                           .user = old->words[1],
                           .token = old->words[2],
                           .alias = old->value[OLD_ALIAS] };

  if (!cli_is_url(login.url))
    return cli_old_refuse(old, "this is no URL", login.url);
  return print_nothing(cli_site_log_in(&login));
}

int cli_pai_delc(cli_old *old)
{
  const char *words[] = { "remote", "remove", old->words[0] };

  return print_nothing(cli_old_become(words, 3) == CLI_OK);
}

/* --- jobs ---------------------------------------------------------------------------- */

/* As Date.toLocaleString() has it in American English; null is the epoch. */
static void add_time(cli_table *t, const cli_json *j, size_t job,
                     const char *key)
{
  time_t seconds = (time_t)(cli_json_number(j, job, key, 0) / 1000);
  char text[64] = "Invalid Date", half[8];
  struct tm tm;

  if (cli_json_get(j, job, key) != 0 && localtime_r(&seconds, &tm) != NULL) {
    (void)strftime(half, sizeof(half), "%M:%S", &tm);
    (void)snprintf(text, sizeof(text), "%d/%d/%d, %d:%s %s", tm.tm_mon + 1,
                   tm.tm_mday, tm.tm_year + 1900,
                   tm.tm_hour % 12 == 0 ? 12 : tm.tm_hour % 12, half,
                   tm.tm_hour < 12 ? "AM" : "PM");
  }
  cli_table_add(t, text);
}

/* A text, or a number. */
static void add_cell(cli_table *t, const cli_json *j, size_t job,
                     const char *key)
{
  size_t i = cli_json_get(j, job, key);

  cli_table_add(t,
                i != 0 && j->values[i].text != NULL ? j->values[i].text : "");
}

static void print_jobs(const cli_json *j)
{
  static const char *const heads[] = { "name",        "user",         "state",
                                       "VC",          "#GPU",         "#Task",
                                       "createdTime", "completedTime" };
  static const char *const keys[] = { "name",           "username",
                                      "state",          "virtualCluster",
                                      "totalGpuNumber", "totalTaskNumber" };
  cli_table t;

  cli_table_begin(&t, sizeof(heads) / sizeof(heads[0]), heads);
  for (size_t i = cli_json_first(j, 0); i != 0; i = cli_json_next(j, 0, i)) {
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
      add_cell(&t, j, i, keys[k]);
    add_time(&t, j, i, "createdTime");
    add_time(&t, j, i, "completedTime");
  }
  cli_old_boxes(&t);
}

char *cli_old_jobs_path(const char *user)
{
  char *escaped = user != NULL ? cli_escape(user) : strdup(""), *path = NULL;
  size_t size = escaped != NULL ? strlen(escaped) + 32 : 0;

  if (size > 0 && (path = malloc(size)) != NULL)
    (void)snprintf(path, size, "/api/v2/jobs%s%s",
                   user != NULL ? "?username=" : "", escaped);
  free(escaped);
  return path;
}

int cli_pai_listj(cli_old *old)
{
  const char *user = old->value[OLD_USER_U];
  bool all = old->value[OLD_ALL] != NULL;
  int code = CLI_NO;
  cli_remote r;
  cli_json j;
  char *path;

  if (user != NULL && all)
    return cli_old_refuse(old, "this is of one user, or of all",
                          "--user with --all");
  if (!cli_old_open(old, &r))
    return CLI_NO;
  path = cli_old_jobs_path(all ? NULL : user != NULL ? user : cli_user());
  if (cli_remote_get(&r, &j, path)) {
    cli_old_numbers(&j);
    print_jobs(&j);
    cli_json_free(&j);
    code = CLI_OK;
  }
  free(path);
  cli_remote_close(&r);
  return code;
}

/* "~/job.yaml" as the old program took it, for free(). */
static char *expand_home(const char *path)
{
  const char *home = getenv("HOME");

  return path[0] == '~' && path[1] == '/' && home != NULL
           ? cli_join(home, path + 2)
           : strdup(path);
}

static int submit(const cli_old *old, const cli_job_file *file)
{
  char *name = NULL, *answer = NULL;
  cli_submission s = { .text = file->text,
                       .len = file->len,
                       .wanted = pai_spec_name(file->spec),
                       .name = pai_spec_name(file->spec),
                       .answer = &answer,
                       .quiet = true };
  int code = CLI_NO;
  cli_remote r;

  if (!cli_old_open(old, &r))
    return CLI_NO;
  code = cli_submit(&r, &s, &name);
  if (code == CLI_OK && answer != NULL)
    cli_old_json(stdout, answer, strlen(answer));
  free(answer);
  free(name);
  cli_remote_close(&r);
  return code;
}

int cli_pai_subj(cli_old *old)
{
  char *path = expand_home(old->words[1]);
  cli_job_file file = { 0 };
  int code = path != NULL ? cli_job_file_need(&file, path) : CLI_NO;

  if (code == CLI_OK)
    code = submit(old, &file);
  cli_job_file_close(&file);
  free(path);
  return code == CLI_OK ? CLI_OK : CLI_NO;
}

/* "/api/v2/jobs/USER~JOB" of its second word, for free(); NULL, and told. */
static char *job_path(const cli_old *old)
{
  char *job = cli_old_job(old, old->words[1]);
  char *path = job != NULL ? cli_job_path(job, "") : NULL;

  free(job);
  return path;
}

int cli_pai_getj(cli_old *old)
{
  int code = CLI_NO;
  cli_remote r;
  char *path;

  if (!cli_old_open(old, &r))
    return CLI_NO;
  path = job_path(old);
  if (path != NULL)
    code = cli_old_answer(&r, path);
  free(path);
  cli_remote_close(&r);
  return code;
}

/* --- ssh ------------------------------------------------------------------------------- */

/* For a shell, in quotes where it needs them. */
static void put_word(const char *word)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789@%+=:,./_-";

  if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
    cli_print(stdout, word);
    return;
  }
  (void)fputc('\'', stdout);
  for (; *word != '\0'; word++)
    if (*word == '\'')
      (void)fputs("'\\''", stdout);
    else
      (void)fputc(*word, stdout);
  (void)fputc('\'', stdout);
}

/* The task that words name: its first role's first one without them. */
static size_t find_task(const cli_json *j, const char *role, const char *index)
{
  size_t roles = cli_json_get(j, 0, "taskRoles"), of, list, i;
  int64_t n = index != NULL ? strtoll(index, NULL, 10) : 0;

  if (roles == 0)
    return 0;
  of = role != NULL ? cli_json_get(j, roles, role) : cli_json_first(j, roles);
  list = of != 0 ? cli_json_get(j, of, "taskStatuses") : 0;
  if (list == 0)
    return 0;
  for (i = cli_json_first(j, list); i != 0; i = cli_json_next(j, list, i))
    if (cli_json_number(j, i, "taskIndex", -1) == n)
      break;
  return i;
}

static int print_ssh(const cli_old *old, const cli_json *j)
{
  const char *role = old->count > 2 ? old->words[2] : NULL;
  const char *index = old->count > 3 ? old->words[3] : NULL;
  const char *login = old->value[OLD_LOGIN_NAME];
  size_t task = find_task(j, role, index), ports;
  const char *ip, *port;

  if (task == 0) {
    cli_fail("job %s has no such task: %s %s", old->words[1],
             role != NULL ? role : "", index != NULL ? index : "");
    return CLI_NO;
  }
  ports = cli_json_get(j, task, "containerPorts");
  port = ports != 0 ? cli_json_text(j, ports, "ssh") : "";
  ip = cli_json_text(j, task, "containerIp");
  /* The line is made to be run: what a server says goes into it only if it is
   * an address. */
  if (!cli_is_address(ip, port)) {
    cli_fail("the task has no port named ssh%s",
             port[0] == '\0' ? "" : " that can be one");
    cli_help(stderr, "it runs, and its job has the plugin ssh or declares the "
                     "port; openpai exec needs none");
    return CLI_NO;
  }
  (void)printf("ssh -oStrictHostKeyChecking=no ");
  if (old->value[OLD_IDENTITY] != NULL) {
    (void)printf("-i ");
    put_word(old->value[OLD_IDENTITY]);
    (void)printf(" ");
  }
  (void)printf("-l ");
  put_word(login != NULL ? login : "root");
  (void)printf(" -p %s %s\n", port, ip);
  return CLI_OK;
}

int cli_pai_ssh(cli_old *old)
{
  const char *index = old->count > 3 ? old->words[3] : "0";
  int code = CLI_NO;
  cli_remote r;
  cli_json j;
  char *path;

  if (index[0] == '\0' || index[strspn(index, "0123456789")] != '\0')
    return cli_old_refuse(old, "this is no number of a task", index);
  if (!cli_old_open(old, &r))
    return CLI_NO;
  path = job_path(old);
  if (path != NULL && cli_remote_get(&r, &j, path)) {
    code = print_ssh(old, &j);
    cli_json_free(&j);
  }
  free(path);
  cli_remote_close(&r);
  return code;
}

/* --- storages ------------------------------------------------------------------------ */

static int print_storage(const cli_old *old, const char *name)
{
  int code = CLI_NO;
  cli_remote r;
  char *path;

  if (!cli_old_open(old, &r))
    return CLI_NO;
  path = cli_path("/api/v2/storages", name, "");
  if (path != NULL)
    code = cli_old_answer(&r, path);
  free(path);
  cli_remote_close(&r);
  return code;
}

int cli_pai_lists(cli_old *old)
{
  return print_storage(old, "");
}

int cli_pai_getinfo(cli_old *old)
{
  return print_storage(old, old->words[1]);
}
