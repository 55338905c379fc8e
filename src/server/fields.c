/*
 * fields.c - checks a JSON value against a table of fields
 *
 * The first error is reported in the format of Joi 13, with its place from the
 * outside in.
 */
#include "server/http/body.h"

#include "base/text/mail.h"
#include "json/json.h"
#include "json/node.h"
#include "json/writer.h"

enum { MOST_DEPTH = 8, MOST_NESTED = 64 };

typedef struct checker {
  const pai_alloc *alloc;
  pai__json_writer json; /* the checked value */
  pai__buf *wrong;
  const char *path[MOST_DEPTH]; /* names of the enclosing members */
  size_t depth;
  bool patch; /* the body is a partial update: less is required */
} checker;

/* --- errors -------------------------------------------------------------- */

static int refuse(checker *c, const char *name, const char *fmt, ...)
  PAI__PRINTF(3, 4);

/* Reports an error of the member `name` of the innermost object; "value" is
 * the top. */
static int refuse(checker *c, const char *name, const char *fmt, ...)
{
  va_list ap;

  for (size_t i = 0; i < c->depth; i++)
    pai__buf_printf(c->wrong, "child \"%s\" fails because [", c->path[i]);
  pai__buf_printf(c->wrong, "\"%s\" ", name);
  va_start(ap, fmt);
  pai__buf_vprintf(c->wrong, fmt, ap);
  va_end(ap);
  for (size_t i = 0; i < c->depth; i++)
    pai__buf_char(c->wrong, ']');
  return pai__buf_ok(c->wrong) ? PAI_EINVAL : PAI_ENOMEM;
}

static int refuse_field(checker *c, const pai__api_field *f, const char *what)
{
  return refuse(c, f->name, "%s", what);
}

/* --- texts --------------------------------------------------------------- */

static int check_choice(checker *c, const pai__api_field *f, const char *text)
{
  size_t i = 0;

  while (f->choices[i] != NULL && strcmp(f->choices[i], text) != 0)
    i++;
  if (f->choices[i] != NULL)
    return PAI_OK;
  for (size_t k = 0; k < c->depth; k++)
    pai__buf_printf(c->wrong, "child \"%s\" fails because [", c->path[k]);
  pai__buf_printf(c->wrong, "\"%s\" must be one of [", f->name);
  for (i = 0; f->choices[i] != NULL; i++)
    pai__buf_printf(c->wrong, "%s%s", i > 0 ? ", " : "", f->choices[i]);
  pai__buf_char(c->wrong, ']');
  for (size_t k = 0; k < c->depth; k++)
    pai__buf_char(c->wrong, ']');
  return pai__buf_ok(c->wrong) ? PAI_EINVAL : PAI_ENOMEM;
}

static int check_pattern(checker *c, const pai__api_field *f, const char *text,
                         size_t len)
{
  if (pai__pattern_fits(f->pattern, text, len))
    return PAI_OK;
  if (f->pattern->wrong != NULL)
    return refuse_field(c, f, f->pattern->wrong);
  return refuse(c, f->name,
                "with value \"%s\" fails to match the required pattern: /%s/",
                text, f->pattern->regex);
}

/* An update may clear the mail address. */
static bool may_be_empty(const checker *c, const pai__api_field *f)
{
  return (f->flags & PAI__MAY_BE_EMPTY) != 0 ||
         ((f->flags & PAI__IS_MAIL) != 0 && c->patch);
}

static int check_text(checker *c, const pai__api_field *f, const pai__tree *t,
                      pai__node n)
{
  size_t len;
  const char *text;
  int64_t count;
  int rc = PAI_OK;

  if (pai__tree_type(t, n) != PAI__STRING)
    return refuse_field(c, f, "must be a string");
  text = pai__tree_str(t, n, &len);
  count = pai__count_utf16(text, len);
  if (strlen(text) != len)
    return refuse_field(c, f, "must not contain the character NUL");
  if (len == 0 && !may_be_empty(c, f))
    return refuse_field(c, f, "is not allowed to be empty");
  if (f->least > 0 && count < f->least)
    return refuse(c, f->name, "length must be at least %d characters long",
                  (int)f->least);
  if (f->most > 0 && count > f->most)
    return refuse(c, f->name,
                  "length must be less than or equal to %d characters long",
                  (int)f->most);
  if (f->choices != NULL)
    rc = check_choice(c, f, text);
  else if (f->pattern != NULL)
    rc = check_pattern(c, f, text, len);
  else if (len > 0 && (f->flags & PAI__IS_MAIL) != 0 &&
           !pai__is_mail(text, len))
    rc = refuse_field(c, f, "must be a valid email");
  if (rc == PAI_OK)
    pai__json_text(&c->json, text, len);
  return rc;
}

/* --- numbers and booleans ------------------------------------------------ */

static bool is_like(const char *text, const char *word)
{
  while (*word != '\0' && (*text | 32) == *word)
    text++, word++;
  return *text == '\0' && *word == '\0';
}

static bool read_number(const pai__tree *t, pai__node n, double *out)
{
  int type = pai__tree_type(t, n);

  if (type == PAI__INT || type == PAI__FLOAT) {
    *out = pai__tree_float(t, n);
    return true;
  }
  return type == PAI__STRING &&
         pai__read_number(pai__tree_str(t, n, NULL), out);
}

static int check_number(checker *c, const pai__api_field *f,
                        const pai__tree *t, pai__node n)
{
  const double most_whole = 9007199254740991.0;
  double value;

  if (!read_number(t, n, &value) || value > 1e300 || value < -1e300)
    return refuse_field(c, f, "must be a number");
  if ((f->least != 0 || f->most != 0) && value < (double)f->least)
    return refuse(c, f->name, "must be larger than or equal to %lld",
                  (long long)f->least);
  if ((f->least != 0 || f->most != 0) && value > (double)f->most)
    return refuse(c, f->name, "must be less than or equal to %lld",
                  (long long)f->most);
  if (value >= -most_whole && value <= most_whole &&
      value == (double)(int64_t)value)
    pai__json_int(&c->json, (int64_t)value);
  else if (f->kind == PAI__IS_WHOLE)
    return refuse_field(c, f, "must be an integer");
  else
    pai__json_double(&c->json, value);
  return PAI_OK;
}

static int check_flag(checker *c, const pai__api_field *f, const pai__tree *t,
                      pai__node n)
{
  int type = pai__tree_type(t, n);
  const char *text = type == PAI__STRING ? pai__tree_str(t, n, NULL) : "";
  bool yes = type == PAI__BOOL ? pai__tree_bool(t, n) : is_like(text, "true");

  if (type != PAI__BOOL && !yes && !is_like(text, "false"))
    return refuse_field(c, f, "must be a boolean");
  pai__json_bool(&c->json, yes);
  return PAI_OK;
}

/* --- objects and lists --------------------------------------------------- */

static int check_members(checker *c, const pai__api_field *fields,
                         const char *name, const pai__tree *t, pai__node n);

/* Parses a text that contains an object or list.  *out is for
 * pai__tree_free(); NULL if it is neither. */
static int read_nested(checker *c, const pai__tree *t, pai__node n,
                       pai__tree **out)
{
  const pai__json_options options = { .alloc = c->alloc,
                                      .flags = PAI__JSON_DUPLICATES,
                                      .max_depth = MOST_NESTED };
  size_t len;
  const char *text;
  int rc;

  *out = NULL;
  if (pai__tree_type(t, n) != PAI__STRING)
    return PAI_OK;
  text = pai__tree_str(t, n, &len);
  rc = pai__json_parse(out, text, len, &options, NULL);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

static int check_texts(checker *c, const pai__api_field *f, const pai__tree *t,
                       pai__node n)
{
  pai__tree_walk walk;
  pai__node k;
  int i = 0;

  if (pai__tree_type(t, n) != PAI__SEQUENCE)
    return refuse_field(c, f, "must be an array");
  walk = pai__tree_iter(t, n);
  pai__json_begin_array(&c->json);
  for (; (k = pai__tree_next(&walk)) != PAI__NO_NODE; i++) {
    size_t len = 0;
    const char *text = "", *wrong = NULL;

    if (pai__tree_type(t, k) != PAI__STRING)
      wrong = "must be a string";
    else if (*(text = pai__tree_str(t, k, &len)) == '\0')
      wrong = "is not allowed to be empty";
    if (wrong != NULL)
      return refuse(c, f->name, "at position %d fails because [\"%d\" %s]", i,
                    i, wrong);
    pai__json_text(&c->json, text, len);
  }
  pai__json_end_array(&c->json);
  return PAI_OK;
}

static int check_object(checker *c, const pai__api_field *f,
                        const pai__tree *t, pai__node n)
{
  if (f->fields != NULL)
    return check_members(c, f->fields, f->name, t, n);
  if (pai__tree_type(t, n) != PAI__MAPPING)
    return refuse_field(c, f, "must be an object");
  pai__json_node(&c->json, t, n);
  return PAI_OK;
}

static int check_nested(checker *c, const pai__api_field *f,
                        const pai__tree *t, pai__node n)
{
  pai__tree *nested;
  int rc = read_nested(c, t, n, &nested);

  if (rc < 0)
    return rc;
  if (nested != NULL) {
    t = nested;
    n = 0;
  }
  rc = f->kind == PAI__IS_TEXTS ? check_texts(c, f, t, n)
                                : check_object(c, f, t, n);
  pai__tree_free(nested);
  return rc;
}

static int check_value(checker *c, const pai__api_field *f, const pai__tree *t,
                       pai__node n)
{
  switch (f->kind) {
  case PAI__IS_TEXT: return check_text(c, f, t, n);
  case PAI__IS_FLAG: return check_flag(c, f, t, n);
  case PAI__IS_NUMBER:
  case PAI__IS_WHOLE: return check_number(c, f, t, n);
  case PAI__IS_OBJECT:
  case PAI__IS_TEXTS: return check_nested(c, f, t, n);
  default: pai__json_node(&c->json, t, n); return PAI_OK;
  }
}

static bool is_needed(const checker *c, const pai__api_field *f,
                      const pai__tree *t, pai__node of)
{
  return (f->flags & PAI__NEEDED) != 0 ||
         ((f->flags & PAI__NEEDED_WHOLE) != 0 && !c->patch) ||
         (f->with != NULL && pai__tree_get(t, of, f->with) != PAI__NO_NODE);
}

static int check_not_below(checker *c, const pai__api_field *f,
                           const pai__tree *t, pai__node of, pai__node n)
{
  pai__node other = pai__tree_get(t, of, f->not_below);
  double value, least;

  return other == PAI__NO_NODE || !read_number(t, other, &least) ||
             !read_number(t, n, &value) || value >= least
           ? PAI_OK
           : refuse(c, f->name, "must be larger than or equal to %s",
                    f->not_below);
}

static int check_member(checker *c, const pai__api_field *f,
                        const pai__tree *t, pai__node of)
{
  pai__node n = pai__tree_get(t, of, f->name);
  int rc = PAI_OK;

  if (n == PAI__NO_NODE && f->missing == NULL && !is_needed(c, f, t, of))
    return PAI_OK;
  c->path[c->depth++] = f->name;
  if (n == PAI__NO_NODE && f->missing == NULL) {
    rc = refuse_field(c, f, "is required");
  } else {
    pai__json_member(&c->json, f->name);
    if (n == PAI__NO_NODE)
      pai__json_ready(&c->json, f->missing, strlen(f->missing));
    else
      rc = check_value(c, f, t, n);
    if (rc == PAI_OK && n != PAI__NO_NODE && f->not_below != NULL)
      rc = check_not_below(c, f, t, of, n);
  }
  c->depth--;
  return rc;
}

static const pai__api_field *find_field(const pai__api_field *fields,
                                        const char *name)
{
  while (fields->kind != PAI__END && strcmp(fields->name, name) != 0)
    fields++;
  return fields->kind != PAI__END ? fields : NULL;
}

static int check_members(checker *c, const pai__api_field *fields,
                         const char *name, const pai__tree *t, pai__node n)
{
  pai__tree_walk walk;
  pai__node k;
  int rc = PAI_OK;

  if (pai__tree_type(t, n) != PAI__MAPPING)
    return refuse(c, name, "must be an object");
  pai__json_begin_object(&c->json);
  for (const pai__api_field *f = fields; rc == PAI_OK && f->kind != PAI__END;
       f++)
    rc = check_member(c, f, t, n);
  walk = pai__tree_iter(t, n);
  while (rc == PAI_OK && (k = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (find_field(fields, pai__tree_str(t, k, NULL)) == NULL)
      rc = refuse(c, pai__tree_str(t, k, NULL), "is not allowed");
  pai__json_end_object(&c->json);
  return rc;
}

/* --- the top level ------------------------------------------------------- */

static bool is_patch(const pai__tree *t)
{
  pai__node n = pai__tree_get(t, 0, "patch");
  int type = n != PAI__NO_NODE ? pai__tree_type(t, n) : PAI__NULL;

  return type == PAI__BOOL
           ? pai__tree_bool(t, n)
           : type == PAI__STRING && is_like(pai__tree_str(t, n, NULL), "true");
}

int pai__fields_check(const pai__api_field *fields, const pai__tree *tree,
                      pai__buf *out, pai__buf *wrong)
{
  checker c = { .alloc = out->alloc, .wrong = wrong };
  int rc;

  c.patch = is_patch(tree);
  pai__json_writer_init(&c.json, out, false);
  rc = check_members(&c, fields, "value", tree, 0);
  return rc < 0 ? rc : pai__json_finish(&c.json);
}
