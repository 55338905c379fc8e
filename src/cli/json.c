/* json.c - reading values of JSON answers by path, and printing JSON */
#include "json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ------------------------------------------------------------- */

bool cli_json_read(pai_json **out, const char *text, size_t len)
{
  return pai_json_read(out, text, len, NULL, NULL) == PAI_OK;
}

void cli_json_free(pai_json **json)
{
  pai_json_free(*json);
  *json = NULL;
}

size_t cli_json_get(const pai_json *json, size_t of, const char *path)
{
  char key[256];

  while (*path != '\0' && of != PAI_JSON_NONE) {
    size_t len = strcspn(path, "/");

    (void)snprintf(key, sizeof(key), "%.*s", (int)len, path);
    of = pai_json_member(json, of, key);
    path += len + (path[len] == '/');
  }
  return pai_json_type(json, of) == PAI_VALUE_NULL ? PAI_JSON_NONE : of;
}

bool cli_json_has(const pai_json *json, size_t of, const char *path)
{
  return cli_json_get(json, of, path) != PAI_JSON_NONE;
}

const char *cli_json_text(const pai_json *json, size_t of, const char *path)
{
  const char *text = pai_json_text(json, cli_json_get(json, of, path), NULL);

  return text != NULL ? text : "";
}

bool cli_json_true(const pai_json *json, size_t of, const char *path)
{
  return pai_json_bool(json, cli_json_get(json, of, path)) != 0;
}

int64_t cli_json_number(const pai_json *json, size_t of, const char *path,
                        int64_t missing)
{
  size_t at = cli_json_get(json, of, path);
  double number = pai_json_number(json, at, -1e19);

  /* Of a fraction, the whole part. */
  return pai_json_int(
    json, at, number > -9.2e18 && number < 9.2e18 ? (int64_t)number : missing);
}

int64_t cli_json_milli(const pai_json *json, size_t of, const char *path)
{
  double number = pai_json_number(json, cli_json_get(json, of, path), 0);

  /* The server may have added floats, as in 12.299999999999999. */
  number *= 1000;
  return number >= 0 && number < 9.2e18 ? (int64_t)(number + 0.5) : 0;
}

char *cli_json_name(const pai_json *json, size_t item)
{
  const char *user = cli_json_text(json, item, "username"),
             *name = cli_json_text(json, item, "name");
  size_t size = strlen(user) + strlen(name) + 2;
  char *out = malloc(size);

  if (out != NULL)
    (void)snprintf(out, size, "%s~%s", user, name);
  return out;
}

cli_each cli_each_of(const pai_json *json, size_t of)
{
  return (cli_each){ .json = json, .of = of, .at = PAI_JSON_NONE };
}

bool cli_next(cli_each *e)
{
  e->at = pai_json_item(e->json, e->of, e->next);
  e->key = pai_json_key(e->json, e->of, e->next);
  if (e->key == NULL)
    e->key = "";
  e->next++;
  return e->at != PAI_JSON_NONE;
}

cli_each_task cli_tasks_of(const pai_json *job)
{
  return (cli_each_task){ .role = cli_each_of(
                            job, cli_json_get(job, 0, "taskRoles")),
                          .task = cli_each_of(NULL, PAI_JSON_NONE) };
}

bool cli_next_task(cli_each_task *e)
{
  while (!cli_next(&e->task)) {
    if (!cli_next(&e->role))
      return false;
    e->task = cli_each_of(
      e->role.json, cli_json_get(e->role.json, e->role.at, "taskStatuses"));
  }
  return true;
}

bool cli_json_pointer(char *out, size_t size, const char *below,
                      const char *key, size_t len)
{
  size_t n = (size_t)snprintf(out, size, "%s/", below);

  for (size_t i = 0; i < len && n + 3 < size; i++) {
    if (key[i] == '~' || key[i] == '/') {
      out[n++] = '~';
      out[n++] = key[i] == '~' ? '0' : '1';
    } else {
      out[n++] = key[i];
    }
  }
  out[n] = '\0';
  return n + 3 < size;
}

/* --- printing ------------------------------------------------------------ */

static void print_text(FILE *out, const char *text, int len)
{
  if (text == NULL)
    (void)fputs("null", out);
  else
    cli_json_string(out, text, len < 0 ? strlen(text) : (size_t)len);
}

static void print_whole(FILE *out, int64_t number)
{
  if (number == CLI_NULL)
    (void)fputs("null", out);
  else
    (void)fprintf(out, "%" PRId64, number);
}

int64_t cli_known_or_null(int64_t number)
{
  return number < 0 ? CLI_NULL : number;
}

static void print_form(FILE *out, const char *form, va_list *ap)
{
  int len;

  for (const char *at; (at = strchr(form, '%')) != NULL;) {
    (void)fwrite(form, 1, (size_t)(at - form), out);
    form = at + 1 + strspn(at + 1, ".*zl");
    len = at[1] == '.' ? va_arg(*ap, int) : -1;
    if (*form == 's')
      print_text(out, va_arg(*ap, const char *), len);
    else if (*form == 'c')
      (void)fputs(va_arg(*ap, int) != 0 ? "true" : "false", out);
    else if (at[1] == 'z')
      (void)fprintf(out, "%zu", va_arg(*ap, size_t));
    else if (at[1] == 'l' && *form == 'u')
      (void)fprintf(out, "%llu", va_arg(*ap, unsigned long long));
    else if (at[1] == 'l')
      print_whole(out, va_arg(*ap, long long));
    else if (*form == 'u')
      (void)fprintf(out, "%u", va_arg(*ap, unsigned));
    else
      (void)fprintf(out, "%d", va_arg(*ap, int));
    form++;
  }
  (void)fputs(form, out);
}

void cli_json_print(FILE *out, const char *form, ...)
{
  va_list ap;

  va_start(ap, form);
  print_form(out, form, &ap);
  va_end(ap);
}

char *cli_json_list(const char *list)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  const char *comma = "";

  if (out == NULL)
    return NULL;
  (void)fputc('[', out);
  while (*list != '\0') {
    size_t n = strcspn(list, ",");

    if (n > 0) {
      (void)fputs(comma, out);
      cli_json_string(out, list, n);
      comma = ",";
    }
    list += n + (list[n] == ',');
  }
  (void)fputc(']', out);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

char *cli_json_make(const char *form, ...)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  va_list ap;

  if (out == NULL)
    return NULL;
  va_start(ap, form);
  print_form(out, form, &ap);
  va_end(ap);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}
