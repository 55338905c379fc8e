/* cmd_cluster_parts.c - `vc` and `storage`: create and change virtual clusters
 * and storages */
#include "file.h"
#include "quantity.h"
#include "remote.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DATA = 64 << 10 };

/* --- virtual clusters ---------------------------------------------------- */

typedef struct part_options {
  const cli_part_options *said;
  uint32_t capacity, max; /* in hundredths of a percent */
} part_options;

/* Parses "25%" or "25" into hundredths of a percent.  Returns false after
 * printing an error. */
static bool read_percent(const char *option, const char *text, uint32_t *out)
{
  int64_t n;
  const char *rest = cli_read_decimal(text, 2, &n);

  if (rest != NULL && (*rest == '\0' || strcmp(rest, "%") == 0) &&
      n <= PAI_VC_WHOLE) {
    *out = (uint32_t)n;
    return true;
  }
  cli_fail("--%s: not a share of the machine: %s", option, text);
  (void)fprintf(stderr,
                "  help: as 25%% or 33.33%%, up to 100%%; openpai %s "
                "--help\n",
                cli_verb_now->name);
  return false;
}

static bool read_options(part_options *w)
{
  const cli_part_options *o = w->said;

  return (o->capacity == NULL ||
          read_percent("capacity", o->capacity, &w->capacity)) &&
         (o->max == NULL || read_percent("max", o->max, &w->max));
}

static char *name_vc(const char *name)
{
  return cli_json_make("{\"vc\":%s}", name);
}

static bool put(cli_remote *r, const char *name, const part_options *w)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  if (out == NULL)
    return false;
  cli_json_print(out, "{\"vc\":%s", name);
  (void)fprintf(out, ",\"vcCapacity\":%u.%02u,\"vcMaxCapacity\":%u.%02u",
                w->capacity / 100, w->capacity % 100, w->max / 100,
                w->max % 100);
  if (w->said->description != NULL)
    cli_json_print(out, ",\"description\":%s", w->said->description);
  if (w->said->external_name != NULL)
    cli_json_print(out, ",\"externalName\":%s", w->said->external_name);
  if (w->said->idle_warn != NULL)
    (void)fprintf(out, ",\"idleWarnMinutes\":%s", w->said->idle_warn);
  if (w->said->idle_stop != NULL)
    (void)fprintf(out, ",\"idleStopMinutes\":%s", w->said->idle_stop);
  (void)fputc('}', out);
  if (fclose(out) == 0)
    return cli_call_do(r, "vcs.put", text);
  free(text);
  return false;
}

int cli_do_vc_add(const cli_vc_add_args *a)
{
  part_options w = { .said = &a->part };
  const char *name = a->words[0];
  int code = CLI_NO;
  cli_remote r;
  pai_json *j;

  if (!read_options(&w))
    return CLI_USAGE;
  if (a->part.max == NULL)
    w.max = w.capacity;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  if (cli_call_quietly(&r, &j, "vcs.show", name_vc(name))) {
    cli_fail("there is a virtual cluster %s already", name);
    cli_help(stderr, "openpai vc set changes it");
  } else if (put(&r, name, &w)) {
    code = CLI_OK;
  }
  pai_json_free(j);
  cli_remote_close(&r);
  return code;
}

static uint32_t hundredths(const pai_json *j, const char *key)
{
  return (uint32_t)(pai_json_number(j, cli_json_get(j, 0, key), 0) * 100 +
                    0.5);
}

/* Values that are not given stay.  A virtual cluster that could not exceed its
 * capacity still cannot. */
static bool set(cli_remote *r, const char *name, part_options *w)
{
  uint32_t had, most;
  pai_json *j;

  if (!cli_call_read(r, &j, "vcs.show", name_vc(name)))
    return false;
  had = hundredths(j, "capacity");
  most = hundredths(j, "maxCapacity");
  pai_json_free(j);
  if (w->said->capacity == NULL)
    w->capacity = had;
  if (w->said->max == NULL)
    w->max = most != had && most > w->capacity ? most : w->capacity;
  return put(r, name, w);
}

int cli_do_vc_set(const cli_vc_set_args *a)
{
  const cli_part_options *o = &a->part;
  part_options w = { .said = o };
  int code = CLI_NO;
  cli_remote r;

  if (o->capacity == NULL && o->max == NULL && o->description == NULL &&
      o->external_name == NULL && o->idle_warn == NULL && o->idle_stop == NULL)
    return cli_misused("no change is given", a->words[0]);
  if (!read_options(&w))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  if (set(&r, a->words[0], &w))
    code = CLI_OK;
  cli_remote_close(&r);
  return code;
}

/* --- storages ------------------------------------------------------------ */

/* Reads the JSON of a storage from a file, for free(); NULL after printing an
 * error. */
static char *read_data(const char *file)
{
  char *text = NULL;
  size_t len = 0;
  pai_json *j;

  if (cli_read(&text, &len, file, MOST_DATA) != CLI_OK)
    return NULL;
  if (cli_json_read(&j, text, len)) {
    pai_json_free(j);
    return text; /* JSON contains no NUL */
  }
  free(text);
  cli_fail("%s is not valid JSON", cli_shown_name(file));
  return NULL;
}

/* Returns the arguments of the call, for free(). */
static char *make_storage(const cli_storage_add_args *o, const char *data)
{
  const char *type = o->type != NULL ? o->type : "local", *comma = "";
  const char *mounted = o->mounted_at == NULL && strcmp(type, "local") == 0
                          ? o->path
                          : o->mounted_at;
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  if (out == NULL)
    return NULL;
  cli_json_print(out, "{\"name\":%s,\"type\":%s,\"share\":%c,\"readOnly\":%c",
                 o->words[0], type, cli_truth(!o->own),
                 cli_truth(o->read_only));
  if (mounted != NULL)
    cli_json_print(out, ",\"mountedAt\":%s", mounted);
  (void)fprintf(out, ",\"data\":%s", data != NULL ? data : "{");
  if (data == NULL && o->server != NULL) {
    cli_json_print(out, "\"server\":%s", o->server);
    comma = ",";
  }
  if (data == NULL && o->path != NULL) {
    (void)fputs(comma, out);
    cli_json_print(out, "\"path\":%s", o->path);
  }
  (void)fputs(data != NULL ? "}" : "}}", out);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

int cli_do_storage_add(const cli_storage_add_args *a)
{
  char *data = a->data_file != NULL ? read_data(a->data_file) : NULL;
  int code = CLI_NO;
  cli_remote r;

  if ((a->data_file == NULL || data != NULL) && cli_remote_open(&r, true)) {
    if (cli_call_do(&r, "storages.put", make_storage(a, data)))
      code = CLI_OK;
    cli_remote_close(&r);
  }
  free(data);
  return code;
}
