/* cmd_remote.c - `remote`: manage the server contexts, servers with aliases */
#include "cells.h"
#include "draft.h"
#include "file.h"
#include "remote.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

/* Finds the server of an alias; returns false after printing an error. */
static bool need_context(cli_context *out, const char *alias)
{
  const cli_context *found;
  cli_contexts contexts;
  bool good;

  if (!cli_contexts_load(&contexts))
    return false;
  found = cli_contexts_find(&contexts, alias);
  if (found == NULL)
    cli_contexts_unknown(&contexts, alias);
  good = found != NULL && cli_context_copy(out, found);
  cli_contexts_free(&contexts);
  return good;
}

/* --- list ---------------------------------------------------------------- */

static bool is_current(const cli_contexts *contexts, const cli_context *s)
{
  return contexts->current != NULL && strcmp(contexts->current, s->alias) == 0;
}

static void write_list(FILE *out, const cli_contexts *contexts)
{
  (void)fputc('[', out);
  for (size_t i = 0; i < contexts->count; i++) {
    const cli_context *s = &contexts->items[i];

    (void)fputs(i > 0 ? "," : "", out);
    cli_json_print(out, "{\"alias\":%s,\"url\":%s", s->alias, s->url);
    if (s->user != NULL)
      cli_json_print(out, ",\"user\":%s", s->user);
    cli_json_print(out, ",\"current\":%c}",
                   cli_truth(is_current(contexts, s)));
  }
  (void)fputs("]\n", out);
}

static void print_table(const cli_contexts *contexts)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  pai_json *j = NULL;

  if (out != NULL)
    write_list(out, contexts);
  if (out != NULL && fclose(out) == 0 && cli_json_read(&j, text, len))
    cli_print_table(stdout, cli_columns_remotes, cli_each_of(j, 0));
  pai_json_free(j);
  free(text);
}

int cli_do_remote_list(const cli_remote_list_args *a)
{
  cli_contexts contexts;

  if (!cli_contexts_load(&contexts))
    return CLI_NO;
  if (a->json)
    write_list(stdout, &contexts);
  else if (contexts.count > 0)
    print_table(&contexts);
  else
    (void)fprintf(stderr, "no servers: openpai login URL adds one\n");
  cli_contexts_free(&contexts);
  return CLI_OK;
}

/* --- show ---------------------------------------------------------------- */

static int show(const cli_context *context)
{
  char *token = cli_token_find(context);
  int code = CLI_NO;
  cli_remote r;
  pai_json *j;

  (void)printf("alias   %s\nurl     %s\nuser    %s\ntoken   %s\n",
               context->alias, context->url,
               context->user != NULL ? context->user : "-",
               token != NULL ? "there is one" : "none: openpai login");
  (void)fflush(stdout);
  if (!cli_remote_open_context(&r, context, token)) {
    free(token);
    return code;
  }
  if (cli_call_read(&r, &j, "server.info", cli_no_arguments())) {
    const char *server = cli_json_text(j, 0, "server");
    (void)printf("server  ");
    cli_print(stdout, server[0] != '\0' ? server : "OpenPAI");
    (void)printf(" ");
    cli_print(stdout, cli_json_text(j, 0, "version"));
    (void)printf("\n");
    cli_json_free(&j);
    code = CLI_OK;
  }
  cli_remote_close(&r);
  free(token);
  return code;
}

int cli_do_remote_show(const cli_remote_show_args *a)
{
  int code;
  cli_context context;

  if (!need_context(&context, a->words[0]))
    return CLI_NO;
  code = show(&context);
  cli_context_free(&context);
  return code;
}

/* --- add, remove, use ---------------------------------------------------- */

int cli_do_remote_add(const cli_remote_add_args *a)
{
  cli_context context;

  if (!cli_is_url(a->words[1]))
    return cli_misused("this is no URL", a->words[1]);
  context = (cli_context){ .alias = a->words[0],
                           .url = a->words[1],
                           .user = (char *)a->user,
                           .ca_file = (char *)a->ca_file };
  return cli_context_put(&context) ? CLI_OK : CLI_NO;
}

int cli_do_remote_remove(const cli_remote_remove_args *a)
{
  cli_contexts contexts;
  cli_context context;
  bool good;

  if (!need_context(&context, a->words[0]))
    return CLI_NO;
  cli_token_forget(&context);
  good = cli_context_drop(a->words[0]) && cli_contexts_load(&contexts);
  if (good) {
    good = contexts.current == NULL ||
           strcmp(contexts.current, a->words[0]) != 0 || cli_context_use(NULL);
    cli_contexts_free(&contexts);
  }
  cli_context_free(&context);
  return good ? CLI_OK : CLI_NO;
}

int cli_do_remote_use(const cli_remote_use_args *a)
{
  cli_context context;

  if (strcmp(a->words[0], CLI_HERE) == 0)
    return cli_context_use(NULL) ? CLI_OK : CLI_NO;
  if (!need_context(&context, a->words[0]))
    return CLI_NO;
  cli_context_free(&context);
  return cli_context_use(a->words[0]) ? CLI_OK : CLI_NO;
}

/* --- import -------------------------------------------------------------- */

/* Imports an entry of `opai`'s list: its server, and its token if it has
 * one. */
static bool import_one(const pai_json *j, size_t i)
{
  cli_context context = { .alias =
                            (char *)cli_json_text(j, i, "cluster_alias"),
                          .url = (char *)cli_json_text(j, i, "pai_uri"),
                          .user = (char *)cli_json_text(j, i, "user") };
  const char *token = cli_json_text(j, i, "token");

  if (context.user[0] == '\0')
    context.user = NULL;
  if (!cli_is_url(context.url)) {
    cli_fail("%s has no URL", context.alias);
    return false;
  }
  if (!cli_context_put(&context) ||
      (token[0] != '\0' && !cli_token_keep(&context, token)))
    return false;
  (void)printf("%s: %s%s\n", context.alias, context.url,
               token[0] != '\0' ? "" : "; log in: passwords are not imported");
  return true;
}

/* Returns the file as JSON, for free(); NULL after printing an error. */
static char *read_yaml(const char *path)
{
  char *text = NULL, *json = NULL;
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  size_t n = 0;

  if (cli_read(&text, &n, path, MOST) != CLI_OK)
    return NULL;
  if (pai_draft_new(&draft, text, n, NULL, &err) < 0)
    cli_error(path, err);
  else
    json = cli_draft_value(draft, "");
  pai_error_free(err);
  pai_draft_free(draft);
  free(text);
  return json;
}

static int import(const char *path)
{
  char *json = read_yaml(path);
  int code = CLI_NO;
  pai_json *j;

  if (json != NULL && cli_json_read(&j, json, strlen(json))) {
    code = CLI_OK;
    if (pai_json_type(j, 0) != PAI_VALUE_LIST) {
      cli_fail("%s is not a list of clusters", path);
      code = CLI_NO;
    }
    for (cli_each e = cli_each_of(j, code == CLI_OK ? 0 : PAI_JSON_NONE);
         cli_next(&e);)
      if (!import_one(j, e.at))
        code = CLI_NO;
    cli_json_free(&j);
  }
  free(json);
  return code;
}

int cli_do_remote_import(const cli_remote_import_args *a)
{
  int code;
  const char *home = getenv("HOME");
  char *path;

  if (a->count == 1)
    return import(a->words[0]);
  path = home != NULL ? cli_join(home, ".openpai/clusters.yaml") : NULL;
  code = path != NULL ? import(path) : CLI_NO;
  if (path == NULL)
    cli_fail("HOME is not set: name the file");
  free(path);
  return code;
}
