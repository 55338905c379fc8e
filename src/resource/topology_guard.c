/*
 * topology_guard.c - hwloc's XML, checked and written anew before hwloc reads
 * it
 *
 * hwloc trusts its input, and its two parsers understand one text differently.
 * So texts are read here first, as XML of the plainest kind: elements,
 * attributes, comments, no DTD of the document's own (whose entities could
 * explode).  hwloc is given only the elements that are used here, in the form
 * that both of its parsers read alike.
 */
#include "resource/topology_guard.h"

#include "base/utf8.h"

static pai__pos place(const pai__topo_scan *s, const char *at)
{
  pai__pos pos = { 1, 1 };

  for (const char *c = s->text; c < at; c++) {
    if (*c == '\n')
      pos = (pai__pos){ pos.line + 1, 1 };
    else
      pos.column += pai__utf8_first(*c);
  }
  return pos;
}

int pai__topo_wrong(const pai__topo_scan *s, int code, const char *at,
                    const char *what)
{
  return pai__fail_at(s->err, code, place(s, at),
                      "this XML cannot be read: %s", what);
}

static bool starts(const pai__topo_scan *s, const char *with)
{
  size_t len = strlen(with);

  return (size_t)(s->end - s->at) >= len && memcmp(s->at, with, len) == 0;
}

/* Goes behind the next `what`; false when there is none. */
static bool pass(pai__topo_scan *s, const char *what)
{
  for (; s->at < s->end; s->at++)
    if (starts(s, what)) {
      s->at += strlen(what);
      return true;
    }
  return false;
}

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(pai__topo_scan *s)
{
  while (s->at < s->end && is_space(*s->at))
    s->at++;
}

static bool is_name(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
         c == ':' || (unsigned char)c >= 0x80;
}

static pai__topo_span take_name(pai__topo_scan *s)
{
  pai__topo_span name = { s->at, 0 };

  while (s->at < s->end && is_name(*s->at))
    s->at++;
  name.len = (size_t)(s->at - name.s);
  return name;
}

/* --- what hwloc is given ------------------------------------------------------ */

static bool is_given(const pai__topo_scan *s)
{
  return s->left_out == 0;
}

/* The length of an entity that both parsers of hwloc know, or 0. */
static size_t entity(const char *at, size_t left)
{
  static const char *const known[] = { "&amp;", "&lt;",  "&gt;", "&quot;",
                                       "&#10;", "&#13;", "&#9;" };

  for (size_t i = 0; i < PAI__LEN(known); i++) {
    size_t len = strlen(known[i]);
    if (left >= len && memcmp(at, known[i], len) == 0)
      return len;
  }
  return 0;
}

static void put_char(pai__buf *out, char c)
{
  switch (c) {
  case '"': pai__buf_str(out, "&quot;"); break;
  case '>': pai__buf_str(out, "&gt;"); break;
  case '\n': pai__buf_str(out, "&#10;"); break;
  case '\r': pai__buf_str(out, "&#13;"); break;
  case '\t': pai__buf_str(out, "&#9;"); break;
  default: pai__buf_char(out, c); break;
  }
}

/* Between double quotes. */
static int put_value(pai__topo_scan *s, pai__topo_span value)
{
  for (size_t i = 0; i < value.len;) {
    size_t n = entity(value.s + i, value.len - i);
    if (n > 0) {
      pai__buf_add(s->out, value.s + i, n);
    } else if (value.len - i >= 6 && memcmp(value.s + i, "&apos;", 6) == 0) {
      pai__buf_char(s->out, '\'');
      n = 6;
    } else if (value.s[i] == '&') {
      return pai__topo_wrong(s, PAI_EINVAL, value.s + i,
                             "an entity that hwloc does not write");
    } else {
      put_char(s->out, value.s[i]);
      n = 1;
    }
    i += n;
  }
  return PAI_OK;
}

/* hwloc's own parser ends at a name with other letters, and leaves out the
 * attributes behind it. */
static bool is_attribute(pai__topo_span name)
{
  for (size_t i = 0; i < name.len; i++)
    if ((name.s[i] < 'a' || name.s[i] > 'z') && name.s[i] != '_')
      return false;
  return true;
}

static int put_attribute(pai__topo_scan *s, pai__topo_span name,
                         pai__topo_span value)
{
  int rc;

  if (!is_given(s) || !is_attribute(name) ||
      (s->depth == 0 && !pai__topo_is(name, "version")))
    return PAI_OK;
  pai__buf_char(s->out, ' ');
  pai__buf_add(s->out, name.s, name.len);
  pai__buf_str(s->out, "=\"");
  rc = put_value(s, value);
  pai__buf_char(s->out, '"');
  return rc;
}

/* Elements that are not used are left out with all that is in them. */
static void put_begin(pai__topo_scan *s, pai__topo_span name)
{
  if (is_given(s) && !pai__topo_is_given(name))
    s->left_out = s->depth + 1;
  if (!is_given(s))
    return;
  pai__buf_char(s->out, '<');
  pai__buf_add(s->out, name.s, name.len);
}

static void put_end(pai__topo_scan *s, pai__topo_span name, bool empty)
{
  if (!is_given(s)) {
    s->left_out = s->left_out == s->depth + 1 ? 0 : s->left_out;
    return;
  }
  pai__buf_str(s->out, empty ? "/" : "</");
  if (!empty)
    pai__buf_add(s->out, name.s, name.len);
  pai__buf_str(s->out, ">\n");
}

/* Up to the next <.  Only numbers of matrices stand in text. */
static int scan_text(pai__topo_scan *s)
{
  const char *from = s->at;
  const char *next = memchr(from, '<', (size_t)(s->end - from));
  pai__topo_span name =
    s->depth > 0 ? s->open[s->depth - 1] : (pai__topo_span){ "", 0 };

  s->at = next != NULL ? next : s->end;
  for (const char *c = from; s->depth == 0 && c < s->at; c++)
    if (!is_space(*c) && (unsigned char)*c < 0x80)
      return pai__topo_wrong(s, PAI_EINVAL, c, "text outside of all elements");
  if (!is_given(s) ||
      !(pai__topo_is(name, "indexes") || pai__topo_is(name, "u64values")))
    return PAI_OK;
  if (memchr(from, '&', (size_t)(s->at - from)) != NULL)
    return pai__topo_wrong(s, PAI_EINVAL, from,
                           "an entity that hwloc does not write");
  pai__buf_add(s->out, from, (size_t)(s->at - from));
  return PAI_OK;
}

/* --- elements ----------------------------------------------------------------- */

/* Behind the name of an element: name="value" ... */
static int scan_attributes(pai__topo_scan *s)
{
  for (;;) {
    pai__topo_span name, value;
    int rc;

    skip_space(s);
    if (s->at == s->end || *s->at == '>' || *s->at == '/')
      return PAI_OK;
    name = take_name(s);
    skip_space(s);
    if (name.len == 0 || !starts(s, "="))
      return pai__topo_wrong(s, PAI_EINVAL, s->at,
                             "an attribute is name=\"value\"");
    s->at++;
    skip_space(s);
    if (!starts(s, "\"") && !starts(s, "'"))
      return pai__topo_wrong(s, PAI_EINVAL, s->at, "a value stands in quotes");
    value.s = s->at + 1;
    if (!pass((s->at++, s), value.s[-1] == '"' ? "\"" : "'"))
      return pai__topo_wrong(s, PAI_EINVAL, value.s,
                             "a quote that does not end");
    value.len = (size_t)(s->at - 1 - value.s);
    if (memchr(value.s, '<', value.len) != NULL)
      return pai__topo_wrong(s, PAI_EINVAL, value.s,
                             "a quote that does not end");
    rc = is_given(s) ? pai__topo_check_attribute(s, name, value) : PAI_OK;
    if (rc == PAI_OK)
      rc = put_attribute(s, name, value);
    if (rc < 0)
      return rc;
  }
}

static int scan_begin(pai__topo_scan *s, const char *start)
{
  pai__topo_span name = take_name(s);
  int rc;

  if (name.len == 0)
    return pai__topo_wrong(s, PAI_EINVAL, start, "a < that begins no element");
  if (s->depth == 0 && (s->done || !pai__topo_is(name, "topology")))
    return pai__topo_wrong(
      s, PAI_EINVAL, start,
      "it is not one element named topology, as hwloc writes it");
  if (s->depth == PAI__TOPO_MAX_DEPTH)
    return pai__topo_wrong(s, PAI_ELIMIT, start, "it is nested too deep");
  if (pai__topo_is(name, "object") && ++s->objects > PAI__TOPO_MAX_OBJECTS)
    return pai__topo_wrong(s, PAI_ELIMIT, start, "it has too many objects");
  pai__topo_check_begin(s);
  put_begin(s, name);
  rc = scan_attributes(s);
  if (rc == PAI_OK && is_given(s) && pai__topo_is(name, "object"))
    rc = pai__topo_check_object(s, start);
  if (rc < 0)
    return rc;
  if (starts(s, "/>")) {
    put_end(s, name, true);
    s->done = s->depth == 0;
  } else if (starts(s, ">")) {
    s->open[s->depth++] = name;
    if (is_given(s))
      pai__buf_char(s->out, '>');
  } else {
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "an element that does not end");
  }
  (void)pass(s, ">");
  return PAI_OK;
}

static int scan_end(pai__topo_scan *s, const char *start)
{
  pai__topo_span name;

  s->at++;
  name = take_name(s);
  skip_space(s);
  if (s->depth == 0 || name.len != s->open[s->depth - 1].len ||
      memcmp(name.s, s->open[s->depth - 1].s, name.len) != 0)
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "an end of what did not begin");
  if (!starts(s, ">"))
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "an element that does not end");
  s->at++;
  s->done = --s->depth == 0;
  put_end(s, name, false);
  return PAI_OK;
}

/* <?xml ...?>, comments, and a document type without a DTD in it. */
static int scan_other(pai__topo_scan *s, const char *start)
{
  const char *from;

  if (starts(s, "?"))
    return pass(s, "?>")
             ? PAI_OK
             : pai__topo_wrong(s, PAI_EINVAL, start, "a <? without ?>");
  if (starts(s, "!--"))
    return pass(s, "-->")
             ? PAI_OK
             : pai__topo_wrong(s, PAI_EINVAL, start, "a <!-- without -->");
  if (!starts(s, "!DOCTYPE"))
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "a <! that hwloc does not write");
  from = s->at;
  if (!pass(s, ">"))
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "a <!DOCTYPE that does not end");
  if (memchr(from, '[', (size_t)(s->at - from)) != NULL)
    return pai__topo_wrong(s, PAI_EINVAL, start, "it has a DTD of its own");
  s->at = from;
  if (!pass(s, "topology SYSTEM \"hwloc") || !pass(s, "dtd\">"))
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "its document type is not hwloc's");
  return PAI_OK;
}

/* At the end of the text. */
static int scan_whole(const pai__topo_scan *s)
{
  if (!s->done) {
    (void)pai__topo_wrong(s, PAI_EINVAL, s->end,
                          s->depth > 0 ? "it ends before its elements do"
                                       : "it is empty");
    pai__error_help(s->err, "write it with `lstopo FILE.xml`");
    return PAI_EINVAL;
  }
  if (!s->pu)
    return pai__topo_wrong(s, PAI_EINVAL, s->end,
                           "it has no object of type PU");
  if (s->v2 && !s->numa)
    return pai__topo_wrong(s, PAI_EINVAL, s->end,
                           "it has no object of type NUMANode");
  return PAI_OK;
}

static int scan_element(pai__topo_scan *s)
{
  const char *start = s->at++;

  return starts(s, "/")                     ? scan_end(s, start)
         : starts(s, "?") || starts(s, "!") ? scan_other(s, start)
                                            : scan_begin(s, start);
}

int pai__topo_guard_xml(pai__buf *out, const char *text, size_t len,
                        pai_error **err)
{
  pai__topo_scan s = {
    .text = text, .at = text, .end = text + len, .out = out, .err = err
  };
  const char *nul = len > 0 ? memchr(text, '\0', len) : NULL;
  int rc = PAI_OK;

  if (nul != NULL)
    return pai__topo_wrong(&s, PAI_EINVAL, nul, "it has a NUL in it");
  while (rc == PAI_OK && s.at < s.end)
    rc = *s.at == '<' ? scan_element(&s) : scan_text(&s);
  if (rc == PAI_OK)
    rc = scan_whole(&s);
  if (rc == PAI_OK && !pai__buf_ok(out))
    return pai__oom(err);
  return rc;
}
