/*
 * failure_file.c - a platform's own known failures, read from YAML
 *
 *     failures:
 *       - name: license-server
 *         pattern: "FlexNet error:(-[0-9]+)"
 *         reason: The license server refused ($1).
 *         solution: Ask licenses@example.org for a seat.
 *
 * What is wrong is told with file, line and column.
 */
#include "job/end/failure.h"

#include "base/text/utf8.h"
#include "job/end/pattern.h"
#include "yaml/yaml.h"

enum { MOST_ROWS = 500, MOST_CODE = 255 };

struct pai__failures {
  pai_alloc alloc;
  pai__tree *tree; /* holds the texts */
  pai__failure *rows;
  size_t n, cap;
};

typedef struct reading {
  pai__failures *out;
  const char *path;
  pai_error **err;
} reading;

static int fail_at(const reading *r, pai__node n, const char *fmt, ...)
  PAI__PRINTF(3, 4);

static int fail_at(const reading *r, pai__node n, const char *fmt, ...)
{
  pai__pos pos = pai__tree_where(r->out->tree, n);
  pai__buf b;
  va_list ap;
  int rc;

  pai__buf_init(&b, &r->out->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  rc = pai__buf_ok(&b) ? pai__fail_at(r->err, PAI_EINVAL, pos, "%s:%u:%u: %s",
                                      r->path, (unsigned)pos.line,
                                      (unsigned)pos.column, pai__buf_text(&b))
                       : pai__oom(r->err);
  pai__buf_dispose(&b);
  return rc;
}

/* --- a row --------------------------------------------------------------- */

static int read_text(const reading *r, const char **out, pai__node key)
{
  const pai__tree *t = r->out->tree;
  pai__node n = pai__tree_value(t, key);
  const char *name = pai__tree_str(t, key, NULL), *text;
  size_t len;
  int rc;

  if (pai__tree_type(t, n) != PAI__STRING) {
    rc = fail_at(r, n, "%s is not text", name);
    pai__error_help(r->err, "put it in quotes: %s: '...'", name);
    return rc;
  }
  text = pai__tree_str(t, n, &len);
  if (len == 0 || strlen(text) != len)
    return fail_at(r, n, "%s is empty, or has a byte 0", name);
  *out = text;
  return PAI_OK;
}

static int read_code(const reading *r, int *out, pai__node key)
{
  const pai__tree *t = r->out->tree;
  pai__node n = pai__tree_value(t, key);
  int rc;

  if (pai__tree_type(t, n) == PAI__INT && pai__tree_int(t, n) > 0 &&
      pai__tree_int(t, n) <= MOST_CODE) {
    *out = (int)pai__tree_int(t, n);
    return PAI_OK;
  }
  rc = fail_at(r, n, "exitCode must be a number from 1 to %d", MOST_CODE);
  pai__error_help(r->err, "omit exitCode to match any code");
  return rc;
}

static int read_member(const reading *r, pai__failure *row, pai__node key)
{
  const char *name = pai__tree_str(r->out->tree, key, NULL);
  char shown[PAI__EXCERPT];
  int rc;

  if (strcmp(name, "name") == 0)
    return read_text(r, &row->name, key);
  if (strcmp(name, "pattern") == 0)
    return read_text(r, &row->pattern, key);
  if (strcmp(name, "reason") == 0)
    return read_text(r, &row->reason, key);
  if (strcmp(name, "solution") == 0)
    return read_text(r, &row->solution, key);
  if (strcmp(name, "exitCode") == 0)
    return read_code(r, &row->exit, key);
  rc = fail_at(r, key, "a failure has no %s",
               pai__excerpt(shown, name, strlen(name)));
  pai__error_help(r->err,
                  "its members are name, pattern, exitCode, reason, solution");
  return rc;
}

static int check_groups(const reading *r, pai__node n, const char *key,
                        const char *text, int ngroups)
{
  int lacks = text != NULL ? pai__failure_lacks(text, ngroups) : 0, rc;

  if (lacks == 0)
    return PAI_OK;
  rc = fail_at(r,
               pai__tree_value(r->out->tree, pai__tree_find(r->out->tree, n,
                                                            key, strlen(key))),
               "%s names $%d, but the pattern has %d group%s", key, lacks,
               ngroups, ngroups == 1 ? "" : "s");
  pai__error_help(r->err,
                  "use a group in parentheses for each reference; $1 to $%d "
                  "are the matches of the first groups of the pattern",
                  PAI__PATTERN_GROUPS);
  return rc;
}

/* Checks the pattern, and that it has the groups to which the texts refer. */
static int check_pattern(const reading *r, pai__node n,
                         const pai__failure *row)
{
  char rest[PAI__EXCERPT];
  pai__pattern p = { .ngroups = 0 };
  const char *at;
  int rc;

  if (row->pattern != NULL && !pai__pattern_make(&p, row->pattern)) {
    at = row->pattern + p.stop;
    rc = fail_at(
      r, pai__tree_find(r->out->tree, n, "pattern", 7),
      "the pattern cannot be read from character %zu on: %s", p.stop + 1,
      *at != '\0' ? pai__excerpt(rest, at, strlen(at)) : "unexpected end");
    pai__error_help(r->err,
                    "patterns support (?im) at the start, ASCII text, . [a-z] "
                    "[^a-z] \\d \\s "
                    "\\w \\D \\S \\W ^ $ * + ? |, and groups (a|b) and "
                    "(?:a|b); \\ before a character matches it literally");
    return rc;
  }
  rc = check_groups(r, n, "reason", row->reason, p.ngroups);
  return rc < 0 ? rc
                : check_groups(r, n, "solution", row->solution, p.ngroups);
}

static int check(const reading *r, pai__node n, const pai__failure *row)
{
  int rc;

  if (row->name != NULL && row->reason != NULL &&
      (row->pattern != NULL || row->exit != 0))
    return check_pattern(r, n, row);
  rc = fail_at(r, n, "a failure has no %s",
               row->name == NULL     ? "name"
               : row->reason == NULL ? "reason"
                                     : "pattern");
  pai__error_help(r->err,
                  row->name == NULL ? "add 'name: ...', a word"
                  : row->reason == NULL
                    ? "add 'reason: ...', a sentence about the cause"
                    : "add 'pattern: ...' for its output, or exitCode");
  return rc;
}

static int read_row(const reading *r, pai__node n)
{
  pai__failures *f = r->out;
  pai__failure row = { .name = NULL };
  pai__tree_walk walk;
  pai__node key;
  int rc = PAI_OK;

  if (pai__tree_type(f->tree, n) != PAI__MAPPING)
    return fail_at(r, n, "a failure must be a mapping: 'name: ...'");
  walk = pai__tree_iter(f->tree, n);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read_member(r, &row, key);
  if (rc == PAI_OK)
    rc = check(r, n, &row);
  if (rc < 0)
    return rc;
  if (f->n == MOST_ROWS)
    return fail_at(r, n, "more than %d failures", MOST_ROWS);
  if (PAI__VEC_ROOM(&f->alloc, f->rows, f->n, f->cap) < 0)
    return pai__oom(r->err);
  f->rows[f->n++] = row;
  return PAI_OK;
}

/* --- the file ------------------------------------------------------------ */

static int read_rows(const reading *r)
{
  const pai__tree *t = r->out->tree;
  pai__node list, item;
  pai__tree_walk walk;
  int rc = PAI_OK;

  if (pai__tree_type(t, 0) == PAI__NULL)
    return PAI_OK; /* only comments */
  list = pai__tree_type(t, 0) == PAI__MAPPING
           ? pai__tree_find(t, 0, "failures", 8)
           : PAI__NO_NODE;
  if (list == PAI__NO_NODE || pai__tree_at(t, 0)->u.c.count != 1 ||
      pai__tree_type(t, pai__tree_value(t, list)) != PAI__SEQUENCE) {
    rc = fail_at(r, 0, "the file is not a list of failures");
    pai__error_help(
      r->err,
      "start the file with 'failures:', and each failure with '- name: ...'");
    return rc;
  }
  walk = pai__tree_iter(t, pai__tree_value(t, list));
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read_row(r, item);
  return rc;
}

static int parse(const reading *r, const char *text, size_t len)
{
  const pai__yaml_options o = { .mode = PAI__YAML_CORE,
                                .max_depth = 8,
                                .max_bytes = PAI__FAILURES_MOST_BYTES,
                                .alloc = &r->out->alloc };
  pai_error *why = NULL;
  pai__pos pos;
  int rc = pai__yaml_parse(&r->out->tree, text, len, &o, &why);

  if (rc == PAI_ENOMEM)
    rc = pai__oom(r->err);
  else if (rc < 0) {
    pos = (pai__pos){ pai_error_line(why), pai_error_column(why) };
    rc = pai__fail_at(r->err, rc, pos, "%s:%u:%u: %s", r->path,
                      (unsigned)pos.line, (unsigned)pos.column,
                      pai_error_message(why));
  }
  pai_error_free(why);
  return rc;
}

int pai__failures_read(pai__failures **out, const char *text, size_t len,
                       const char *path, const pai_alloc *alloc,
                       pai_error **err)
{
  pai__failures *f = pai__realloc(alloc, NULL, 0, 1, sizeof(*f));
  reading r = { f, path, err };
  int rc;

  *out = NULL;
  if (f == NULL)
    return pai__oom(err);
  *f = (pai__failures){ .alloc = *alloc };
  rc = parse(&r, text, len);
  if (rc == PAI_OK)
    rc = read_rows(&r);
  if (rc == PAI_OK)
    *out = f;
  else
    pai__failures_free(f);
  return rc;
}

void pai__failures_free(pai__failures *f)
{
  pai_alloc alloc;

  if (f == NULL)
    return;
  alloc = f->alloc;
  pai__tree_free(f->tree);
  pai__free(&alloc, f->rows, f->cap * sizeof(*f->rows));
  pai__free(&alloc, f, sizeof(*f));
}

size_t pai__failures_rows(const pai__failures *f, const pai__failure **rows)
{
  *rows = f != NULL ? f->rows : NULL;
  return f != NULL ? f->n : 0;
}
