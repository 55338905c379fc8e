/* convert_common.c - looking into a job file, names and ports in v1 and v2 */
#include "spec/convert_common.h"
#include "base/number.h"
#include "spec/spec.h"

enum { MAX_JOB_NAME = 255 };

const char *const pai__conv_meanings[] = { "gangAllocation",
                                           "hivedScheduler",
                                           "storages",
                                           "com.microsoft.pai.runtimeplugin",
                                           "jobStatusChangeNotification",
                                           NULL };

void pai__conv_init(convert *c, const pai__tree *t, const pai_alloc *alloc,
                    pai__convert_note_cb note, void *user_data)
{
  *c = (convert){
    .tree = t, .alloc = alloc, .note = note, .user_data = user_data
  };
  pai__arena_init(&c->arena, alloc);
}

void pai__conv_dispose(convert *c)
{
  pai__arena_dispose(&c->arena);
}

void pai__conv_note(convert *c, pai__node at, int severity, const char *code,
                    const char *help, const char *fmt, ...)
{
  pai__convert_note note = { at, severity, code, NULL, help };
  pai__buf b;
  va_list ap;

  if (c->rc < 0 || c->note == NULL)
    return;
  if (at == PAI__NO_NODE)
    note.node = 0; /* the job lacks what it is about */
  pai__buf_init(&b, c->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  note.message = pai__buf_text(&b);
  c->rc = pai__buf_ok(&b) ? c->note(c->user_data, &note) : PAI_ENOMEM;
  if (c->rc > 0)
    c->rc = PAI_OK;
  pai__buf_dispose(&b);
}

/* --- looking ------------------------------------------------------------ */

pai__node pai__conv_get(const convert *c, pai__node mapping, const char *key)
{
  return mapping != PAI__NO_NODE ? pai__tree_get(c->tree, mapping, key)
                                 : PAI__NO_NODE;
}

pai__node pai__conv_only(const convert *c, pai__node n, int type)
{
  return pai__conv_is(c, n, type) ? n : PAI__NO_NODE;
}

size_t pai__conv_count(const convert *c, pai__node n)
{
  return n != PAI__NO_NODE && pai__tree_type(c->tree, n) >= PAI__SEQUENCE
           ? pai__tree_count(c->tree, n)
           : 0;
}

pai__tree_walk pai__conv_walk(const convert *c, pai__node n)
{
  pai__tree_walk none = { c->tree, NULL, 0, 0, false };

  return pai__conv_count(c, n) != 0 ? pai__tree_iter(c->tree, n) : none;
}

text pai__conv_text(const convert *c, pai__node n)
{
  text t = { "", 0 };

  if (pai__conv_is(c, n, PAI__STRING))
    t.s = pai__tree_str(c->tree, n, &t.len);
  return t;
}

static size_t count_digits(const char *s)
{
  size_t n = 0;

  while (s[n] >= '0' && s[n] <= '9')
    n++;
  return n;
}

/* As much of a text as is a number, as JavaScript's parseFloat(). */
static int64_t parse_int(convert *c, const char *s, int64_t missing)
{
  bool minus;
  size_t len, digits, exponent;
  double v = 0;

  s += strspn(s, " \t\n\r\v\f");
  minus = *s == '-';
  s += *s == '-' || *s == '+';
  digits = len = count_digits(s);
  if (s[len] == '.') {
    digits += count_digits(s + len + 1);
    len = digits + 1;
  }
  if (digits == 0)
    return missing;
  if ((s[len] | 0x20) == 'e') {
    exponent = len + 1 + (s[len + 1] == '+' || s[len + 1] == '-');
    if (count_digits(s + exponent) != 0)
      len = exponent + count_digits(s + exponent);
  }
  if (c->rc == PAI_OK)
    c->rc = pai__parse_double(&v, s, len);
  /* Beyond 2^53 no number of v1 is whole. */
  if (c->rc < 0 || v > 9007199254740992.0 || v != (double)(int64_t)v)
    return missing;
  return minus ? -(int64_t)v : (int64_t)v;
}

int64_t pai__conv_int(convert *c, pai__node n, int64_t missing)
{
  int64_t v;

  if (n == PAI__NO_NODE)
    return missing;
  switch (pai__tree_type(c->tree, n)) {
  case PAI__INT:
  case PAI__FLOAT: return pai__tree_whole(c->tree, n, &v) ? v : missing;
  case PAI__STRING:
    return parse_int(c, pai__tree_str(c->tree, n, NULL), missing);
  default: return missing;
  }
}

bool pai__conv_same(text a, text b)
{
  return a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

bool pai__conv_equals(text a, const char *b)
{
  return pai__conv_same(a, (text){ b, strlen(b) });
}

/* --- making ------------------------------------------------------------- */

void *pai__conv_alloc(convert *c, size_t n, size_t size)
{
  void *p = c->rc < 0 ? NULL : pai__arena_zalloc(&c->arena, n, size);

  if (p == NULL && c->rc == PAI_OK)
    c->rc = PAI_ENOMEM;
  return p;
}

text pai__conv_take(convert *c, pai__buf *b)
{
  text t = { NULL, b->len };

  if (c->rc == PAI_OK && pai__buf_ok(b))
    t.s = pai__arena_strndup(&c->arena, pai__buf_text(b), b->len);
  pai__buf_dispose(b);
  if (t.s != NULL)
    return t;
  if (c->rc == PAI_OK)
    c->rc = PAI_ENOMEM;
  return (text){ "", 0 };
}

static void add_string(pai__buf *out, const pai__tree *t, pai__node n)
{
  char number[PAI__DOUBLE_TEXT];
  pai__tree_walk w;
  const char *s, *comma = "";
  pai__node item;
  size_t len;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__buf_str(out, "null"); break;
  case PAI__BOOL:
    pai__buf_str(out, pai__tree_bool(t, n) ? "true" : "false");
    break;
  case PAI__INT: /* a double, to JavaScript */
  case PAI__FLOAT:
    (void)pai__format_double(number, pai__tree_float(t, n));
    pai__buf_str(out, number);
    break;
  case PAI__STRING:
    s = pai__tree_str(t, n, &len);
    pai__buf_add(out, s, len);
    break;
  case PAI__SEQUENCE:
    w = pai__tree_iter(t, n);
    for (; (item = pai__tree_next(&w)) != PAI__NO_NODE; comma = ",") {
      pai__buf_str(out, comma);
      if (pai__tree_type(t, item) != PAI__NULL)
        add_string(out, t, item);
    }
    break;
  default: pai__buf_str(out, "[object Object]"); break;
  }
}

text pai__conv_string(convert *c, pai__node n)
{
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  add_string(&b, c->tree, n);
  return pai__conv_take(c, &b);
}

/* --- names -------------------------------------------------------------- */

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

bool pai__conv_is_name(text s)
{
  size_t n = 0;

  while (n < s.len && is_word(s.s[n]))
    n++;
  return n == s.len && n != 0 && !(s.s[0] >= '0' && s.s[0] <= '9');
}

text pai__conv_job_name(convert *c, text name)
{
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  for (size_t i = 0; i < name.len && i < MAX_JOB_NAME; i++)
    pai__buf_char(&b,
                  is_word(name.s[i]) || name.s[i] == '-' ? name.s[i] : '_');
  return pai__conv_take(c, &b);
}

/* A name that is like this one and not in use.  The map holds how often each
 * name was given, so that many equal ones take no long search. */
static text replace_name(convert *c, pai__map *given, text name)
{
  size_t room = PAI__MAX_ROLE_NAME - 12; /* for "_" twice and a number */
  size_t *n;
  text found;
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  if (name.len == 0 || (name.s[0] >= '0' && name.s[0] <= '9'))
    pai__buf_char(&b, '_');
  for (size_t i = 0; i < name.len && i < room; i++)
    pai__buf_char(&b, is_word(name.s[i]) ? name.s[i] : '_');
  found = name = pai__conv_take(c, &b);
  n = pai__map_get(given, name.s, name.len);
  while (c->rc == PAI_OK && pai__map_get(given, found.s, found.len) != NULL) {
    pai__buf_init(&b, c->alloc);
    pai__buf_printf(&b, "%s_%zu", name.s, ++*n);
    found = pai__conv_take(c, &b);
  }
  return found;
}

static void give_name(convert *c, pai__map *given, text name)
{
  size_t *n = pai__conv_alloc(c, 1, sizeof(*n));

  if (n == NULL)
    return;
  *n = 1;
  if (pai__map_set(given, name.s, name.len, n) < 0)
    c->rc = PAI_ENOMEM;
}

/* Of equal names the last keeps it, since that was the one that counted. */
void pai__conv_unique(convert *c, text *names, size_t n)
{
  bool *keeps = pai__conv_alloc(c, n, sizeof(*keeps));
  pai__map given;

  pai__map_init(&given, c->alloc);
  for (size_t i = n; i-- > 0 && c->rc == PAI_OK;) {
    if (!pai__conv_is_name(names[i]) || names[i].len > PAI__MAX_ROLE_NAME ||
        pai__map_get(&given, names[i].s, names[i].len) != NULL)
      continue;
    keeps[i] = true;
    give_name(c, &given, names[i]);
  }
  for (size_t i = 0; i < n && c->rc == PAI_OK; i++) {
    if (keeps[i])
      continue;
    names[i] = replace_name(c, &given, names[i]);
    give_name(c, &given, names[i]);
  }
  pai__map_dispose(&given);
}

/* --- numbers ------------------------------------------------------------ */

conv_ports pai__conv_ports(convert *c, pai__node list)
{
  conv_ports p = { .all_said = true };
  pai__tree_walk w;

  list = pai__conv_only(c, list, PAI__SEQUENCE);
  p.n = pai__conv_count(c, list);
  w = pai__conv_walk(c, list);
  p.labels = pai__conv_alloc(c, p.n, sizeof(*p.labels));
  p.counts = pai__conv_alloc(c, p.n, sizeof(*p.counts));
  if (c->rc < 0) {
    p.n = 0;
    return p;
  }
  for (size_t i = 0; i < p.n; i++) {
    pai__node port = pai__tree_next(&w);

    p.labels[i] = pai__conv_text(c, pai__conv_get(c, port, "label"));
    p.counts[i] = pai__conv_int(c, pai__conv_get(c, port, "portNumber"), 1);
    if (p.counts[i] < 1 ||
        pai__conv_int(c, pai__conv_get(c, port, "beginAt"), 0) != 0)
      p.all_said = false;
  }
  pai__conv_unique(c, p.labels, p.n);
  w = pai__conv_walk(c, list);
  for (size_t i = 0; i < p.n && p.all_said; i++) {
    pai__node label = pai__conv_get(c, pai__tree_next(&w), "label");

    p.all_said = pai__conv_same(p.labels[i], pai__conv_text(c, label));
  }
  return p;
}

int64_t pai__conv_retries(int64_t retry_count)
{
  return retry_count >= 0 ? retry_count : INT32_MAX;
}
