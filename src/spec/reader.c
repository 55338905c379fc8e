/* reader.c - fields out of a tree */
#include "spec/reader.h"

#include "base/buf.h"

void pai__read_fail(reader *r, int code, pai__node at, const char *fmt, ...)
{
  pai__buf what, pointer;
  va_list ap;

  if (r->rc < 0)
    return;
  pai__buf_init(&what, &r->spec->alloc);
  pai__buf_init(&pointer, &r->spec->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&what, fmt, ap);
  va_end(ap);
  pai__tree_pointer(r->tree, at, &pointer);
  if (!pai__buf_ok(&what) || !pai__buf_ok(&pointer)) {
    r->rc = pai__oom(r->err);
  } else {
    r->rc = pai__fail_at(r->err, code, pai__tree_where(r->tree, at), "%s",
                         pai__buf_text(&what));
    pai__error_pointer(r->err, pai__buf_text(&pointer));
  }
  pai__buf_dispose(&what);
  pai__buf_dispose(&pointer);
}

void pai__read_help(reader *r, const char *fmt, ...)
{
  pai__buf help;
  va_list ap;

  pai__buf_init(&help, &r->spec->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&help, fmt, ap);
  va_end(ap);
  if (pai__buf_ok(&help))
    pai__error_help(r->err, "%s", pai__buf_text(&help));
  pai__buf_dispose(&help);
}

void *pai__read_alloc(reader *r, size_t n, size_t size)
{
  void *p = r->rc < 0 ? NULL : pai__arena_zalloc(&r->spec->arena, n, size);

  if (p == NULL && r->rc == PAI_OK)
    r->rc = pai__oom(r->err);
  return p;
}

void pai__read_note(reader *r, const char *fmt, ...)
{
  pai_spec *spec = r->spec;
  const char **notes;
  pai__buf b;
  va_list ap;

  pai__buf_init(&b, &spec->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  notes = pai__read_alloc(r, spec->nnotes + 1, sizeof(*notes)); /* few */
  if (notes != NULL) {
    for (size_t i = 0; i < spec->nnotes; i++)
      notes[i] = spec->notes[i];
    notes[spec->nnotes] =
      pai__buf_ok(&b)
        ? pai__arena_strndup(&spec->arena, pai__buf_text(&b), b.len)
        : NULL;
    if (notes[spec->nnotes] == NULL)
      r->rc = pai__oom(r->err);
    else
      spec->notes = notes, spec->nnotes++;
  }
  pai__buf_dispose(&b);
}

/* "a, b, c" */
static void list_names(pai__buf *out, const char *const *names)
{
  for (size_t i = 0; names[i] != NULL; i++)
    pai__buf_printf(out, "%s%s", i == 0 ? "" : ", ", names[i]);
}

static void fail_unknown(reader *r, pai__node key, const char *what,
                         const char *const *known)
{
  pai__buf names;

  pai__read_fail(r, PAI_EINVAL, key, "%s has no field '%s'", what,
                 pai__tree_str(r->tree, key, NULL));
  pai__buf_init(&names, &r->spec->alloc);
  list_names(&names, known);
  pai__read_help(r, "its fields are %s", pai__buf_text(&names));
  pai__buf_dispose(&names);
}

bool pai__read_mapping(reader *r, pai__node n, const char *what,
                       const char *const *known)
{
  pai__tree_walk walk;
  pai__node key;

  if (r->rc < 0)
    return false;
  if (pai__tree_type(r->tree, n) != PAI__MAPPING) {
    pai__read_fail(r, PAI_EINVAL, n, "%s must be a mapping", what);
    return false;
  }
  if (known == NULL)
    return true;
  walk = pai__tree_iter(r->tree, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(r->tree, key, NULL);
    size_t i = 0;

    while (known[i] != NULL && strcmp(known[i], name) != 0)
      i++;
    if (known[i] == NULL) {
      fail_unknown(r, key, what, known);
      return false;
    }
  }
  return true;
}

pai__node pai__read_field(reader *r, pai__node mapping, const char *name,
                          bool needed)
{
  pai__node n;

  if (r->rc < 0)
    return PAI__NO_NODE;
  n = pai__tree_get(r->tree, mapping, name);
  if (n == PAI__NO_NODE && needed)
    pai__read_fail(r, PAI_EINVAL, mapping, "field '%s' is missing", name);
  return n;
}

int64_t pai__read_int(reader *r, pai__node n, const char *what, int64_t least,
                      int64_t most, int64_t missing)
{
  int64_t value = 0;

  if (r->rc < 0 || n == PAI__NO_NODE)
    return missing;
  if ((pai__tree_type(r->tree, n) != PAI__INT &&
       pai__tree_type(r->tree, n) != PAI__FLOAT) ||
      !pai__tree_whole(r->tree, n, &value)) {
    pai__read_fail(r, PAI_EINVAL, n, "%s must be a whole number", what);
    return missing;
  }
  if (value < least || value > most) {
    pai__read_fail(r, PAI_EINVAL, n, "%s is %lld", what, (long long)value);
    pai__read_help(r, "give a number from %lld to %lld", (long long)least,
                   (long long)most);
    return missing;
  }
  return value;
}

const char *pai__read_string(reader *r, pai__node n, const char *what)
{
  const char *text, *copy;
  size_t len;

  if (r->rc < 0 || n == PAI__NO_NODE)
    return "";
  if (pai__tree_type(r->tree, n) != PAI__STRING) {
    pai__read_fail(r, PAI_EINVAL, n, "%s must be a string", what);
    pai__read_help(r, "put it in quotes");
    return "";
  }
  text = pai__tree_str(r->tree, n, &len);
  if (memchr(text, '\0', len) != NULL) {
    pai__read_fail(r, PAI_EINVAL, n, "%s contains a NUL character", what);
    return "";
  }
  copy = pai__arena_strndup(&r->spec->arena, text, len);
  if (copy == NULL)
    r->rc = pai__oom(r->err);
  return copy != NULL ? copy : "";
}
