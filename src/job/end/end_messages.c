/* end_messages.c - writes diagnostics of a task's end as the API shows them */
#include "job/end/end.h"
#include "json/json.h"
#include "spec/format/write.h"
#include "yaml/yaml.h"

static const char sign[] = "matched:"; /* also the end of "unmatched:" */

/* Returns the JSON in a line of diagnostics, and the number of bytes before
 * it; PAI_OK and NULL if there is none. */
static int read_json(pai__tree **out, size_t *before, const char *diagnostics,
                     const pai_alloc *alloc)
{
  pai__json_options options = { .alloc = alloc };
  const char *at = strstr(diagnostics, sign);
  int rc;

  *out = NULL;
  if (at == NULL || at[sizeof(sign) - 1] != ' ')
    return PAI_OK;
  at += sizeof(sign) - 1;
  *before = (size_t)(at - diagnostics);
  rc = pai__json_parse(out, at + 1, strcspn(at + 1, "\n"), &options, NULL);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

int pai__end_summary(pai__buf *out, const char *diagnostics)
{
  size_t before = 0;
  pai__tree *json;
  int rc = read_json(&json, &before, diagnostics, out->alloc);

  if (rc == PAI_OK && json == NULL) {
    pai__buf_str(out, diagnostics);
  } else if (rc == PAI_OK) {
    pai__buf_add(out, diagnostics, before);
    pai__buf_char(out, '\n');
    rc = pai__write_yaml(out, json, 0);
  }
  pai__tree_free(json);
  return rc == PAI_OK && pai__buf_ok(out) ? PAI_OK : PAI_ENOMEM;
}

/* --- the runtime's report ------------------------------------------------ */

typedef struct report {
  const char *name; /* of the container; NULL without one */
  const char *text;
  size_t len, name_len;
} report;

static bool is_report(report *out, const pai__tree *t, pai__node container)
{
  pai__node code = pai__tree_get(t, container, "code");
  pai__node message = pai__tree_get(t, container, "message");
  pai__node name = pai__tree_get(t, container, "name");
  const char *start, *end;

  if (code == PAI__NO_NODE || pai__tree_type(t, code) != PAI__INT ||
      pai__tree_int(t, code) <= 0 || message == PAI__NO_NODE ||
      pai__tree_type(t, message) != PAI__STRING || name == PAI__NO_NODE ||
      pai__tree_type(t, name) != PAI__STRING)
    return false;
  start = strstr(pai__tree_str(t, message, NULL), PAI__ERROR_START);
  end = start != NULL ? strstr(start, PAI__ERROR_END) : NULL;
  if (end == NULL)
    return false;
  start += sizeof(PAI__ERROR_START) - 1;
  out->text = start;
  out->len = (size_t)(end - start);
  out->name = pai__tree_str(t, name, &out->name_len);
  return true;
}

static bool find_report(report *out, const pai__tree *t)
{
  pai__node list =
              t != NULL ? pai__tree_get(t, 0, "containers") : PAI__NO_NODE,
            container;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE || pai__tree_type(t, list) != PAI__SEQUENCE)
    return false;
  walk = pai__tree_iter(t, list);
  while ((container = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (is_report(out, t, container))
      return true;
  return false;
}

/* Writes the report as an object, with the container's name. */
static void put_report(pai__json_writer *w, const pai__tree *t,
                       const report *r)
{
  pai__tree_walk walk = pai__tree_iter(t, 0);
  pai__node key;
  size_t len;

  pai__json_begin_object(w);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(t, key, &len);

    if (strcmp(name, "name") == 0)
      continue;
    pai__json_key(w, name, len);
    pai__write_json(w, t, pai__tree_value(t, key));
  }
  pai__json_member(w, "name");
  pai__json_text(w, r->name, r->name_len);
  pai__json_end_object(w);
}

/* *yaml is the runtime's report, or NULL. */
static int read_report(pai__tree **yaml, report *r, const pai__tree *json,
                       const pai_alloc *alloc)
{
  pai__yaml_options options = { .mode = PAI__YAML_CORE, .alloc = alloc };
  int rc;

  *yaml = NULL;
  if (!find_report(r, json))
    return PAI_OK;
  rc = pai__yaml_parse(yaml, r->text, r->len, &options, NULL);
  if (rc == PAI_OK && pai__tree_type(*yaml, 0) != PAI__MAPPING) {
    pai__tree_free(*yaml);
    *yaml = NULL;
  }
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

static void put_messages(pai__json_writer *w, const char *summary, size_t len,
                         const pai__tree *yaml, const report *r)
{
  pai__json_begin_object(w);
  pai__json_member(w, "container");
  pai__json_null(w);
  pai__json_member(w, "runtime");
  if (yaml != NULL)
    put_report(w, yaml, r);
  else
    pai__json_null(w);
  pai__json_member(w, "launcher");
  if (yaml != NULL)
    pai__json_null(w);
  else
    pai__json_text(w, summary, len);
  pai__json_end_object(w);
}

int pai__end_messages(pai__json_writer *w, const char *diagnostics)
{
  const pai_alloc *alloc = w->out->alloc;
  pai__tree *json = NULL, *yaml = NULL;
  report r = { .name = NULL };
  pai__buf summary;
  size_t before = 0;
  int rc;

  if (diagnostics == NULL || *diagnostics == '\0') {
    pai__json_null(w);
    return PAI_OK;
  }
  pai__buf_init(&summary, alloc);
  rc = pai__end_summary(&summary, diagnostics);
  if (rc == PAI_OK)
    rc = read_json(&json, &before, diagnostics, alloc);
  if (rc == PAI_OK)
    rc = read_report(&yaml, &r, json, alloc);
  if (rc == PAI_OK)
    put_messages(w, pai__buf_text(&summary), summary.len, yaml, &r);
  pai__tree_free(yaml);
  pai__tree_free(json);
  pai__buf_dispose(&summary);
  return rc;
}
