/*
 * ajv.c - findings of a job file in the format of Ajv 6, the validator of
 * OpenPAI's server, which its clients expect
 *
 * Each finding becomes an object as Ajv makes it, with our own code, message
 * and place in addition.
 */
#include "server/calls/ajv.h"

#include <ctype.h>

#define ROLE_IN_PATH "%5E%5Ba-zA-Z_%5D%5Ba-zA-Z0-9_%5D*%24"

enum { MOST_PARTS = 16 };

/* The path of a finding, in parts. */
typedef struct place {
  char *text; /* the text that the parts point into */
  const char *parts[MOST_PARTS];
  size_t n;
} place;

typedef struct finding {
  const pai_diagnostic *d;
  place at;
  size_t shown; /* parts in Ajv's path: a key is reported at its mapping */
  const char *keyword;
  pai__buf message, params; /* params as JSON */
} finding;

/* --- paths --------------------------------------------------------------- */

/* "~1" is a slash, "~0" a tilde. */
static void unescape(char *part)
{
  char *to = part;

  for (; *part != '\0'; part++) {
    if (part[0] == '~' && (part[1] == '0' || part[1] == '1'))
      *to++ = *++part == '1' ? '/' : '~';
    else
      *to++ = *part;
  }
  *to = '\0';
}

static int read_place(place *p, const char *pointer, const pai_alloc *alloc)
{
  char *at;

  *p = (place){ .text = pai__strdup(alloc, pointer) };
  if (p->text == NULL)
    return PAI_ENOMEM;
  at = p->text;
  while (*at == '/' && p->n < MOST_PARTS) {
    char *part = at + 1;

    *at = '\0'; /* ends the previous part */
    at = part + strcspn(part, "/");
    p->parts[p->n++] = part;
  }
  *at = '\0';
  for (size_t i = 0; i < p->n; i++)
    unescape(p->text + (p->parts[i] - p->text));
  return PAI_OK;
}

/* Returns whether the part is in a mapping with free keys. */
static bool is_free(const place *p, size_t i)
{
  return i > 0 && (strcmp(p->parts[i - 1], "taskRoles") == 0 ||
                   strcmp(p->parts[i - 1], "ports") == 0);
}

static bool is_index(const char *part)
{
  return part[0] != '\0' && part[strspn(part, "0123456789")] == '\0';
}

static bool is_list(const char *name)
{
  static const char *const lists[] = { "prerequisites", "deployments",
                                       "commands",      "preCommands",
                                       "postCommands",  "uri",
                                       "require" };

  for (size_t i = 0; i < PAI__LEN(lists); i++)
    if (strcmp(name, lists[i]) == 0)
      return true;
  return false;
}

static bool is_item(const place *p, size_t i)
{
  if (i == 0)
    return false;
  return is_index(p->parts[i]) && is_list(p->parts[i - 1]);
}

static bool is_plain(const char *name)
{
  for (const char *c = name; *c != '\0'; c++)
    if (!isalpha((unsigned char)*c) && *c != '_' && *c != '$' &&
        (c == name || !isdigit((unsigned char)*c)))
      return false;
  return *name != '\0';
}

/* Writes a JavaScript path: ".taskRoles['worker'].commands[0]". */
static void add_data_path(pai__buf *out, const place *p, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (is_item(p, i))
      pai__buf_printf(out, "[%s]", p->parts[i]);
    else if (is_free(p, i) || !is_plain(p->parts[i]))
      pai__buf_printf(out, "['%s']", p->parts[i]);
    else
      pai__buf_printf(out, ".%s", p->parts[i]);
  }
}

static void add_schema_path(pai__buf *out, const finding *f)
{
  pai__buf_char(out, '#');
  for (size_t i = 0; i < f->shown; i++) {
    if (is_item(&f->at, i))
      pai__buf_str(out, "/items");
    else if (is_free(&f->at, i))
      pai__buf_str(out, "/patternProperties/" ROLE_IN_PATH);
    else
      pai__buf_printf(out, "/properties/%s", f->at.parts[i]);
  }
  pai__buf_printf(out, "/%s", f->keyword);
}

/* --- keywords ------------------------------------------------------------ */

static const char *last_part(const finding *f)
{
  return f->at.n > 0 ? f->at.parts[f->at.n - 1] : "";
}

static void add_param(finding *f, const char *name, const char *value)
{
  pai__json_writer w;

  pai__json_writer_init(&w, &f->params, false);
  pai__json_write(&w, "{*:s}", name, value);
  (void)pai__json_finish(&w);
}

static void as_required(finding *f)
{
  const char *name = f->d->missing != NULL ? f->d->missing : "";

  f->keyword = "required";
  pai__buf_printf(&f->message, "should have required property '%s'", name);
  add_param(f, "missingProperty", name);
}

static void as_additional(finding *f)
{
  f->keyword = "additionalProperties";
  f->shown = f->at.n > 0 ? f->at.n - 1 : 0;
  pai__buf_str(&f->message, "should NOT have additional properties");
  add_param(f, "additionalProperty", last_part(f));
}

/* A key that must match a pattern is an additional property to Ajv; a value
 * has a keyword "pattern". */
static void as_pattern(finding *f)
{
  if (f->d->pattern == NULL) {
    as_additional(f);
    return;
  }
  f->keyword = "pattern";
  pai__buf_printf(&f->message, "should match pattern \"%s\"", f->d->pattern);
  add_param(f, "pattern", f->d->pattern);
}

/* Writes an allowed value: as a number where the type allows one, and as a
 * text. */
static void add_allowed(pai__json_writer *w, const char *value, unsigned types)
{
  bool number = (types & (PAI_VALUE_WHOLE | PAI_VALUE_NUMBER)) != 0;

  if (number && is_index(value))
    pai__json_ready(w, value, strlen(value));
  if (!number || (types & PAI_VALUE_TEXT) != 0)
    pai__json_string(w, value);
}

static void as_enum(finding *f)
{
  const char *const *values = f->d->allowed;
  pai__json_writer w;

  f->keyword = "enum";
  pai__buf_str(&f->message, "should be equal to one of the allowed values");
  pai__json_writer_init(&w, &f->params, false);
  pai__json_write(&w, "{allowedValues:[");
  for (; values != NULL && *values != NULL; values++)
    add_allowed(&w, *values, f->d->types);
  pai__json_write(&w, "]}");
  (void)pai__json_finish(&w);
}

static void as_type(finding *f)
{
  static const struct {
    unsigned ours;
    const char *theirs;
  } rows[] = { { PAI_VALUE_MAPPING, "object" }, { PAI_VALUE_LIST, "array" },
               { PAI_VALUE_TEXT, "string" },    { PAI_VALUE_NUMBER, "number" },
               { PAI_VALUE_WHOLE, "integer" },  { PAI_VALUE_BOOL, "boolean" },
               { PAI_VALUE_NULL, "null" } };
  pai__buf types;

  pai__buf_init(&types, f->message.alloc);
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if ((f->d->types & rows[i].ours) != 0)
      pai__buf_printf(&types, "%s%s", types.len > 0 ? "," : "",
                      rows[i].theirs);
  f->keyword = "type";
  pai__buf_printf(&f->message, "should be %s", pai__buf_text(&types));
  add_param(f, "type", pai__buf_text(&types));
  pai__buf_dispose(&types);
}

static void as_minimum(finding *f)
{
  long long least = f->d->limit;

  f->keyword = "minimum";
  pai__buf_printf(&f->message, "should be >= %lld", least);
  pai__buf_printf(&f->params,
                  "{\"comparison\":\">=\",\"limit\":%lld,\"exclusive\":false}",
                  least);
}

static void as_count(finding *f)
{
  bool list = (f->d->types & PAI_VALUE_LIST) != 0;

  f->keyword = list ? "minItems" : "minProperties";
  pai__buf_printf(&f->message, "should NOT have fewer than %lld %s",
                  (long long)f->d->limit, list ? "items" : "properties");
  pai__buf_printf(&f->params, "{\"limit\":%lld}", (long long)f->d->limit);
}

static void as_length(finding *f)
{
  f->keyword = "maxLength";
  pai__buf_printf(&f->message, "should NOT be longer than %lld characters",
                  (long long)f->d->limit);
  pai__buf_printf(&f->params, "{\"limit\":%lld}", (long long)f->d->limit);
}

static void as_one_of(finding *f)
{
  f->keyword = "oneOf";
  pai__buf_str(&f->message, "should match exactly one schema in oneOf");
  pai__buf_str(&f->params, "{\"passingSchemas\":null}");
}

/* What no schema can express keeps our code and message. */
static void as_it_is(finding *f)
{
  f->keyword = f->d->code;
  pai__buf_str(&f->message, f->d->message);
  pai__buf_str(&f->params, "{}");
}

static void translate(finding *f)
{
  static const struct {
    const char *code;
    void (*as)(finding *f);
  } rows[] = {
    { "missing-key", as_required }, { "unknown-key", as_additional },
    { "bad-name", as_pattern },     { "not-allowed", as_enum },
    { "wrong-type", as_type },      { "too-small", as_minimum },
    { "too-few", as_count },        { "too-long", as_length },
    { "bad-item", as_one_of }
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if (strcmp(f->d->code, rows[i].code) == 0) {
      rows[i].as(f);
      return;
    }
  as_it_is(f);
}

/* --- the list ------------------------------------------------------------ */

static void write_finding(pai__json_writer *w, finding *f)
{
  const pai_diagnostic *d = f->d;
  pai__buf path;

  pai__buf_init(&path, f->message.alloc);
  pai__json_begin_object(w);
  pai__json_put_text(w, "keyword", f->keyword);
  add_data_path(&path, &f->at, f->shown);
  pai__json_put_text(w, "dataPath", pai__buf_text(&path));
  pai__buf_cut(&path, 0);
  add_schema_path(&path, f);
  pai__json_put_text(w, "schemaPath", pai__buf_text(&path));
  pai__json_member(w, "params");
  pai__json_ready(w, pai__buf_text(&f->params), f->params.len);
  pai__json_put_text(w, "message", pai__buf_text(&f->message));
  pai__json_put_text(w, "code", d->code);
  pai__json_put_text(w, "pointer", d->pointer);
  pai__json_put_int(w, "line", d->line);
  pai__json_put_int(w, "column", d->column);
  pai__json_put_text(w, "text", d->message);
  pai__json_put_known(w, "help", d->help);
  pai__json_end_object(w);
  pai__buf_dispose(&path);
}

int pai__ajv_write(pai__buf *out, const pai_report *report)
{
  const pai_alloc *alloc = out->alloc;
  pai__json_writer w;
  int rc = PAI_OK;

  pai__json_writer_init(&w, out, false);
  pai__json_begin_array(&w);
  for (size_t i = 0; rc == PAI_OK && i < pai_report_count(report); i++) {
    finding f = { .d = pai_report_get(report, i) };

    if (f.d->severity < PAI_SEVERITY_ERROR)
      continue;
    pai__buf_init(&f.message, alloc);
    pai__buf_init(&f.params, alloc);
    rc = read_place(&f.at, f.d->pointer, alloc);
    f.shown = f.at.n;
    if (rc == PAI_OK) {
      translate(&f);
      if (!pai__buf_ok(&f.message) || !pai__buf_ok(&f.params))
        rc = PAI_ENOMEM;
      else
        write_finding(&w, &f);
    }
    pai__free(alloc, f.at.text, strlen(f.d->pointer) + 1);
    pai__buf_dispose(&f.message);
    pai__buf_dispose(&f.params);
  }
  pai__json_end_array(&w);
  return rc == PAI_OK ? pai__json_finish(&w) : rc;
}
