/* accounts.c - see accounts.h */
#include "accounts.h"

#include "file.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PASSWORD = 4096 };

/* --- texts ------------------------------------------------------------------ */

bool cli_text_begin(cli_text *t)
{
  *t = (cli_text){ 0 };
  t->out = open_memstream(&t->text, &t->len);
  if (t->out == NULL)
    cli_fail("out of memory");
  return t->out != NULL;
}

char *cli_text_end(cli_text *t)
{
  bool good = !ferror(t->out);

  if (fclose(t->out) == 0 && good)
    return t->text;
  free(t->text);
  return NULL;
}

void cli_put_object(cli_text *t)
{
  (void)fputc('{', t->out);
  t->more = false;
}

void cli_put_end(cli_text *t)
{
  (void)fputc('}', t->out);
  t->more = true;
}

void cli_put_key(cli_text *t, const char *name)
{
  if (t->more)
    (void)fputc(',', t->out);
  cli_json_string(t->out, name, strlen(name));
  (void)fputc(':', t->out);
  t->more = true;
}

void cli_put_text(cli_text *t, const char *name, const char *value)
{
  if (value == NULL)
    return;
  cli_put_key(t, name);
  cli_json_string(t->out, value, strlen(value));
}

void cli_put_flag(cli_text *t, const char *name, bool value)
{
  cli_put_key(t, name);
  (void)fputs(value ? "true" : "false", t->out);
}

void cli_put_items(cli_text *t, const char *list)
{
  size_t n = 0;

  (void)fputc('[', t->out);
  while (*list != '\0') {
    size_t len = strcspn(list, ",");
    if (len > 0 && n++ > 0)
      (void)fputc(',', t->out);
    if (len > 0)
      cli_json_string(t->out, list, len);
    list += len + (list[len] == ',' ? 1 : 0);
  }
  (void)fputc(']', t->out);
}

void cli_put_list(cli_text *t, const char *name, const char *list)
{
  if (list == NULL)
    return;
  cli_put_key(t, name);
  cli_put_items(t, list);
}

/* --- asking ------------------------------------------------------------------- */

char *cli_path(const char *start, const char *name, const char *rest)
{
  char *escaped = cli_escape(name), *path = NULL;
  size_t size = 0;

  if (escaped != NULL)
    size = strlen(start) + strlen(escaped) + strlen(rest) + 2;
  if (size > 0)
    path = malloc(size);
  if (path != NULL)
    (void)snprintf(path, size, "%s%s%s%s", start, name[0] != '\0' ? "/" : "",
                   escaped, rest);
  free(escaped);
  return path;
}

bool cli_change(cli_remote *r, const char *method, const char *start,
                const char *name, const char *rest, char *body, bool has_body)
{
  char *path = cli_path(start, name, rest);
  cli_answer a;
  bool good;

  if (has_body && body == NULL) {
    free(path);
    path = NULL; /* no memory */
  }
  cli_remote_ask(r, &a, method, path, NULL, body,
                 body != NULL ? strlen(body) : 0);
  good = a.status == PAI_OK;
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  free(path);
  free(body);
  return good;
}

int cli_print_answer(cli_remote *r, const char *path)
{
  int code = CLI_NO;
  cli_answer a;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status == PAI_OK) {
    (void)printf("%s\n", a.body);
    code = CLI_OK;
  } else {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  return code;
}

int cli_run_list(const cli_verb *verb, int argc, char **argv, const char *path,
                 int (*list)(cli_remote *r))
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(verb, options, 2, argc, argv), code;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(verb, words, argv, 0, 0, "list takes no argument"))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = json ? cli_print_answer(&r, path) : list(&r);
  cli_remote_close(&r);
  return code;
}

int cli_run_change(const cli_verb *verb, int argc, char **argv,
                   const cli_change_of *change)
{
  const cli_option options[] = { { "root", 0, NULL, &cli_root } };
  int words = cli_options(verb, options, 1, argc, argv), code = CLI_OK;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(verb, words, argv, 1, argc, change->what))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  for (int i = 0; i < words; i++) {
    char *body = change->body != NULL ? strdup(change->body) : NULL;

    if (!cli_change(&r, change->method, change->start, argv[i], change->rest,
                    body, change->body != NULL))
      code = CLI_NO;
  }
  cli_remote_close(&r);
  return code;
}

/* --- passwords ---------------------------------------------------------------- */

static char *read_password(const char *file)
{
  char why[512], *text = NULL, *line;
  size_t len = 0;
  int error = cli_read_file(&text, &len, file, MOST_PASSWORD);

  if (error != 0) {
    cli_read_why(why, sizeof(why), file, error);
    cli_fail("%s", why);
    return NULL;
  }
  line = realloc(text, len + 1);
  if (line == NULL) {
    free(text);
    cli_fail("out of memory");
    return NULL;
  }
  line[len] = '\0';
  line[strcspn(line, "\r\n")] = '\0';
  return line;
}

static char *ask_twice(const char *user)
{
  char what[128], *first, *second;

  (void)snprintf(what, sizeof(what), "Password for %.64s", user);
  first = cli_prompt(what);
  if (first == NULL) {
    cli_fail("cannot ask for a password: standard input is not a terminal");
    cli_help(stderr, "--password-file FILE takes one; - is standard input");
    return NULL;
  }
  second = cli_prompt("Once more");
  if (second == NULL || strcmp(first, second) != 0) {
    cli_fail("the passwords differ");
    free(first);
    first = NULL;
  }
  free(second);
  return first;
}

char *cli_new_password(const char *user, const char *file)
{
  return file != NULL ? read_password(file) : ask_twice(user);
}

/* --- words --------------------------------------------------------------------- */

bool cli_want_words(const cli_verb *verb, int words, char **argv, int least,
                    int most, const char *what)
{
  if (words < 0)
    return false;
  if (words >= least && words <= most)
    return true;
  cli_misused(verb, what, words < least ? "it is missing" : argv[most]);
  return false;
}
