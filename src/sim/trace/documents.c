/* documents.c - reads the elements of a long JSON text one by one */
#include "sim/trace/documents.h"

#include "json/json.h"

/* Position in the text. */
typedef struct pai__documents {
  bool in_list;
  bool in_object; /* before or after its list, or inside of it */
} pai__documents;

/* --- looking ahead ------------------------------------------------------- */

/* Looks ahead in a source. rc is 1, or the last result of
 * pai__source_more(). */
typedef struct ahead {
  pai__source *s;
  pai_error **err;
  int rc;
} ahead;

/* Returns the byte at offset `pos` from the next one.  At the end returns 0,
 * and rc is not 1. */
static char byte_at(ahead *a, size_t pos)
{
  while (a->s->at + pos >= a->s->end) {
    a->rc = pai__source_more(a->s, a->err);
    if (a->rc <= 0)
      return '\0';
  }
  a->rc = 1;
  return a->s->buf[a->s->at + pos];
}

/* Returns the offset behind the string at `pos`; 0: the text ends first. */
static size_t skip_string(ahead *a, size_t pos)
{
  char c;

  for (pos++; (c = byte_at(a, pos)) != '"' && a->rc > 0; pos++)
    if (c == '\\')
      pos++;
  return a->rc > 0 ? pos + 1 : 0;
}

static bool ends_scalar(char c)
{
  return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' ||
         c == '\r' || c == '\t' || c == '[' || c == '{' || c == '"';
}

/* Returns the offset behind the value at `pos`; 0: the text ends first. */
static size_t skip_value(ahead *a, size_t pos)
{
  size_t depth = 0;
  char c;

  while ((c = byte_at(a, pos)) != '\0' || a->rc > 0) {
    if (c == '"') {
      pos = skip_string(a, pos);
      if (pos == 0)
        return 0;
    } else {
      depth += c == '{' || c == '[';
      if (c == '}' || c == ']')
        depth--;
      pos++;
      if (depth == 0 && c != '}' && c != ']') { /* a number or a literal */
        while (!ends_scalar(byte_at(a, pos)) && a->rc > 0)
          pos++;
        return a->rc < 0 ? 0 : pos;
      }
    }
    if (depth == 0)
      return pos;
  }
  return 0;
}

static size_t skip_space(ahead *a, size_t pos)
{
  char c;

  while ((c = byte_at(a, pos)) == ' ' || c == '\n' || c == '\r' || c == '\t')
    pos++;
  return pos;
}

/* Returns the offset of the first element of the list `key` of the next
 * object; 0: it has no such list. */
static size_t find_list(ahead *a, const char *key)
{
  size_t pos = 1, len = strlen(key);

  for (;;) {
    size_t from;
    bool is_key;
    char c;

    pos = skip_space(a, pos);
    c = byte_at(a, pos);
    if (c == ',') {
      pos++;
      continue;
    }
    if (c != '"')
      return 0;
    from = pos + 1;
    pos = skip_string(a, pos);
    if (pos == 0)
      return 0;
    is_key = pos - 1 - from == len &&
             memcmp(a->s->buf + a->s->at + from, key, len) == 0;
    pos = skip_space(a, pos);
    if (byte_at(a, pos) != ':')
      return 0;
    pos = skip_space(a, pos + 1);
    if (is_key && byte_at(a, pos) == '[')
      return pos + 1;
    pos = skip_value(a, pos);
    if (pos == 0)
      return 0;
  }
}

static void take(pai__source *s, size_t n)
{
  const char *p = s->buf + s->at, *end = p + n;

  while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
    s->line++;
    p++;
  }
  s->at += n;
}

/* --- elements ------------------------------------------------------------ */

static int put_element(pai_trace *t, size_t len, pai_error **err)
{
  const pai__json_options opts = { .flags = PAI__JSON_DUPLICATES,
                                   .max_bytes = 1 << 30,
                                   .alloc = &t->alloc };
  uint64_t line = t->source.line + 1;
  pai_error *why = NULL, *placed = NULL;
  pai__tree *tree;
  int rc =
    pai__json_parse(&tree, t->source.buf + t->source.at, len, &opts, &why);

  take(&t->source, len);
  if (rc == PAI_OK) {
    if (pai__tree_type(tree, 0) == PAI__MAPPING)
      rc = t->how->put(t, tree, line, err);
    else
      rc = pai__trace_skip(t, line, err, "the element is not an object");
    pai__tree_free(tree);
    return rc < 0 ? rc : 1;
  }
  if (rc != PAI_ENOMEM) {
    line += pai_error_line(why) - 1;
    (void)pai__fail_at(&placed, PAI_EINVAL,
                       (pai__pos){ (uint32_t)line, pai_error_column(why) },
                       "%s", pai_error_message(why));
    pai_error_free(why);
    why = placed;
  }
  rc = pai__trace_refuse(t, line, why, err);
  return rc < 0 ? rc : 1;
}

static int ends_early(pai_trace *t, pai_error **err)
{
  uint64_t line = t->source.line + 1;

  take(&t->source, t->source.end - t->source.at);
  return pai__trace_skip(t, line, err,
                         "the text ends in the middle of this element");
}

/* Takes the next token or element. */
static int step(pai_trace *t, pai__documents *docs, char c, pai_error **err)
{
  pai__source *s = &t->source;
  ahead a = { s, err, 1 };
  size_t len;

  if (c == ',' || c == ']' || c == '}') {
    docs->in_list &= c != ']';
    docs->in_object &= c != '}';
    take(s, 1);
    return 1;
  }
  if (!docs->in_list && !docs->in_object && c == '[') {
    docs->in_list = true;
    take(s, 1);
    return 1;
  }
  if (!docs->in_list && !docs->in_object && c == '{') {
    len = find_list(&a, t->how->list);
    if (a.rc < 0)
      return a.rc;
    if (len != 0) {
      docs->in_list = docs->in_object = true;
      take(s, len);
      return 1;
    }
  }
  if (docs->in_object && !docs->in_list && c == ':') {
    take(s, 1);
    return 1;
  }
  len = skip_value(&a, 0);
  if (a.rc < 0)
    return a.rc;
  if (len == 0)
    return ends_early(t, err);
  if (docs->in_object && !docs->in_list) {
    take(s, len);
    return 1;
  }
  return put_element(t, len, err);
}

int pai__documents_read(pai_trace *t, pai_error **err)
{
  pai__documents *docs = t->state;
  ahead a = { &t->source, err, 1 };
  size_t space = skip_space(&a, 0);
  int rc;

  if (a.rc < 0)
    return a.rc;
  take(&t->source, space);
  if (t->source.at < t->source.end)
    return step(t, docs, t->source.buf[t->source.at], err);
  if (!docs->in_list && !docs->in_object)
    return 0;
  docs->in_list = docs->in_object = false;
  rc = pai__trace_skip(t, t->source.line + 1, err,
                       "the text ends before the end of its list");
  return rc < 0 ? rc : 0;
}

int pai__documents_begin(pai_trace *t, pai_error **err)
{
  t->state = pai__zalloc(&t->alloc, sizeof(pai__documents));
  return t->state != NULL ? PAI_OK : pai__oom(err);
}

void pai__documents_end(pai_trace *t)
{
  pai__free(&t->alloc, t->state, sizeof(pai__documents));
  t->state = NULL;
}

/* --- values of an element ------------------------------------------------ */

pai__node pai__at(const pai__tree *tree, pai__node n, const char *path)
{
  while (n != PAI__NO_NODE && *path != '\0') {
    size_t len = strcspn(path, ".");

    n = pai__tree_type(tree, n) == PAI__MAPPING
          ? pai__tree_find(tree, n, path, len)
          : PAI__NO_NODE;
    if (n != PAI__NO_NODE)
      n = pai__tree_value(tree, n);
    path += len + (path[len] == '.');
  }
  return n;
}

pai__slice pai__string_at(const pai__tree *tree, pai__node n, const char *path)
{
  pai__slice text = { NULL, 0 };

  n = pai__at(tree, n, path);
  if (n != PAI__NO_NODE && pai__tree_type(tree, n) == PAI__STRING)
    text.s = pai__tree_str(tree, n, &text.len);
  /* a string is cut at a NUL */
  if (text.s != NULL)
    text.len = strlen(text.s);
  return text;
}

bool pai__text_is(pai__slice text, const char *s)
{
  return text.s != NULL && strlen(s) == text.len &&
         memcmp(text.s, s, text.len) == 0;
}

bool pai__list_at(const pai__tree *tree, pai__node n, const char *path,
                  pai__tree_walk *walk)
{
  n = pai__at(tree, n, path);
  if (n == PAI__NO_NODE || pai__tree_type(tree, n) != PAI__SEQUENCE)
    return false;
  *walk = pai__tree_iter(tree, n);
  return true;
}

bool pai__number_at(const pai__tree *tree, pai__node n, const char *path,
                    int64_t *out)
{
  pai__slice text;
  pai_time us;

  n = pai__at(tree, n, path);
  if (n == PAI__NO_NODE)
    return false;
  if (pai__tree_type(tree, n) == PAI__INT) {
    *out = pai__tree_int(tree, n);
    return true;
  }
  text = pai__string_at(tree, n, "");
  if (text.s == NULL || !pai__seconds_read(text.s, text.len, &us))
    return false;
  *out = us / 1000000;
  return true;
}

bool pai__date_at(const pai__tree *tree, pai__node n, const char *path,
                  pai_time *out)
{
  pai__slice text = pai__string_at(tree, n, path);

  return text.s != NULL && pai__date_read(text.s, text.len, out);
}
