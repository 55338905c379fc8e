/* path.c - parses paths to places in a document */
#include "spec/edit/path.h"
#include "base/text/utf8.h"

enum { MOST_DIGITS = 9 };

static int fail_at(const pai__path *path, const char *p, const char *what,
                   pai_error **err)
{
  char whole[PAI__EXCERPT], rest[PAI__EXCERPT];

  (void)pai__excerpt(whole, path->text, strlen(path->text));
  if (*p == '\0')
    return pai__fail(err, PAI_EINVAL, "path '%s': %s at its end", whole, what);
  return pai__fail(err, PAI_EINVAL, "path '%s': %s at '%s'", whole, what,
                   pai__excerpt(rest, p, strlen(p)));
}

/* Adds a step.  Its key is what was appended to path.keys since step.key. */
static int add_step(pai__path *path, pai__spec_step step, const char *p,
                    pai_error **err)
{
  if (path->len == PAI__PATH_MAX)
    return pai__fail(err, PAI_ELIMIT, "the path has more than %d steps",
                     PAI__PATH_MAX);
  if (!pai__buf_ok(&path->keys) ||
      PAI__VEC_ROOM(path->alloc, path->steps, path->len, path->cap) < 0)
    return pai__oom(err);
  step.len = path->keys.len - step.key;
  step.end = (size_t)(p - path->text);
  path->steps[path->len++] = step;
  return PAI_OK;
}

/* --- a.b[0] ------------------------------------------------------------- */

static int read_quoted(pai__path *path, const char **p, pai_error **err)
{
  const char *start = (*p)++;

  for (; **p != '"'; ++*p) {
    if (**p == '\\' && ((*p)[1] == '"' || (*p)[1] == '\\'))
      ++*p;
    else if (**p == '\\')
      return fail_at(path, *p, "only \\\" and \\\\ may follow a backslash",
                     err);
    if (**p == '\0')
      return fail_at(path, start, "a quote is not closed", err);
    pai__buf_char(&path->keys, **p);
  }
  ++*p;
  return PAI_OK;
}

static int read_key(pai__path *path, const char **p, pai_error **err)
{
  pai__spec_step step = { .kind = PAI__STEP_KEY, .key = path->keys.len };
  size_t n = strcspn(*p, ".[]\"");
  int rc = PAI_OK;

  if (**p == '"') {
    rc = read_quoted(path, p, err);
  } else if (n == 0) {
    rc = fail_at(path, *p, "a key is missing", err);
  } else {
    pai__buf_add(&path->keys, *p, n);
    *p += n;
  }
  return rc == PAI_OK ? add_step(path, step, *p, err) : rc;
}

static int read_index(pai__path *path, const char **p, pai_error **err)
{
  pai__spec_step step = { .kind = PAI__STEP_ITEM, .key = path->keys.len };
  const char *start = *p, *digits = ++*p;

  if (**p == '+') {
    step.kind = PAI__STEP_APPEND;
    digits = ++*p;
  } else if (**p == '-') {
    digits = ++*p;
  }
  for (; **p >= '0' && **p <= '9' && *p - digits < MOST_DIGITS; ++*p)
    step.index = step.index * 10 + (**p - '0');
  if (**p != ']' || (*p == digits) != (step.kind == PAI__STEP_APPEND))
    return fail_at(path, start, "expected [NUMBER] or [+]", err);
  if (start[1] == '-') {
    if (step.index == 0)
      return fail_at(path, start, "the last item is [-1]", err);
    step.index = -step.index;
  }
  ++*p;
  return add_step(path, step, *p, err);
}

static int read_dotted(pai__path *path, pai_error **err)
{
  const char *p = path->text;
  int rc = PAI_OK;

  while (*p != '\0' && rc == PAI_OK) {
    if (*p == '[') {
      rc = read_index(path, &p, err);
    } else if (path->len != 0 && *p != '.') {
      rc = fail_at(path, p, "expected '.' or '['", err);
    } else {
      p += path->len != 0;
      rc = read_key(path, &p, err);
    }
  }
  return rc;
}

/* --- /a/b/0 ------------------------------------------------------------- */

static int read_pointer(pai__path *path, pai_error **err)
{
  const char *p = path->text;
  int rc = PAI_OK;

  while (*p == '/' && rc == PAI_OK) {
    pai__spec_step step = { .kind = PAI__STEP_TOKEN, .key = path->keys.len };

    for (p++; *p != '/' && *p != '\0'; p++) {
      if (*p == '~' && p[1] != '0' && p[1] != '1')
        return fail_at(path, p, "only 0 and 1 may follow ~", err);
      pai__buf_char(&path->keys, *p != '~' ? *p : *++p == '0' ? '~' : '/');
    }
    rc = add_step(path, step, p, err);
  }
  return rc;
}

static bool is_utf8(const char *s)
{
  size_t n = 1;

  for (size_t left = strlen(s); left > 0 && n != 0; s += n, left -= n)
    n = pai__utf8_len(s, left);
  return n != 0;
}

int pai__path_parse(pai__path *path, const char *text, const pai_alloc *alloc,
                    pai_error **err)
{
  *path = (pai__path){ .alloc = alloc, .text = text };
  pai__buf_init(&path->keys, alloc);
  if (!is_utf8(text))
    return pai__fail(err, PAI_EINVAL, "the path is not UTF-8");
  return *text == '/' ? read_pointer(path, err) : read_dotted(path, err);
}

void pai__path_dispose(pai__path *path)
{
  pai__buf_dispose(&path->keys);
  pai__free(path->alloc, path->steps, path->cap * sizeof(*path->steps));
}

pai__step_kind pai__path_item(const pai__path *path, size_t step,
                              int64_t *index)
{
  const pai__spec_step *s = &path->steps[step];
  const char *key = pai__path_key(path, step);

  *index = s->index;
  if (s->kind != PAI__STEP_TOKEN)
    return s->kind;
  if (s->len == 1 && key[0] == '-')
    return PAI__STEP_APPEND;
  if (s->len == 0 || s->len > MOST_DIGITS || (key[0] == '0' && s->len > 1))
    return PAI__STEP_KEY;
  for (size_t i = 0; i < s->len; i++) {
    if (key[i] < '0' || key[i] > '9')
      return PAI__STEP_KEY;
    *index = *index * 10 + (key[i] - '0');
  }
  return PAI__STEP_ITEM;
}
