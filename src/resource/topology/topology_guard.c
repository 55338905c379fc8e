/*
 * topology_guard.c - check hwloc's XML and write it again before hwloc reads
 * it
 *
 * hwloc trusts its input, and its two parsers read some texts differently.  So
 * texts are parsed here first, as plain XML: elements, attributes, comments,
 * and no internal DTD, whose entities could expand without limit. hwloc gets
 * only the elements that are used here, in a form that both of its parsers
 * read alike.
 */
#include "base/text/utf8.h"
#include "resource/topology/topology.h"

typedef struct span {
  const char *s;
  size_t len;
} span;

typedef struct scan {
  const char *text, *at, *end;
  span open[PAI__TOPO_MAX_DEPTH]; /* names of open elements */
  size_t depth;
  size_t left_out; /* depth of the element being left out, plus 1 */
  size_t objects;
  /* of the current element: */
  unsigned sets; /* one bit for each attribute in the table of sets */
  bool typed, indexed, in_set;
  bool normal; /* neither a device nor Misc: it has sets */
  bool root;   /* its type may be the root's */
  /* of the document: */
  bool pu, numa; /* the document has one */
  bool v2;       /* version 2: a NUMA node is required */
  bool done;     /* the root element has ended */
  pai__buf *out; /* the text for hwloc */
  pai_error **err;
} scan;

static inline bool is(span name, const char *text)
{
  return name.len == strlen(text) && memcmp(name.s, text, name.len) == 0;
}

static pai__pos place(const scan *s, const char *at)
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

static int wrong(const scan *s, int code, const char *at, const char *what)
{
  return pai__fail_at(s->err, code, place(s, at),
                      "this XML cannot be read: %s", what);
}

/* --- checks of attributes and objects ------------------------------------ */

/* Each check prevents a crash, an abort or a huge allocation of hwloc 2.9 that
 * fuzzing an instrumented hwloc has found. */

enum {
  MOST_OBJECTS_IN_MATRIX = 1024,
  MOST_INDEX = 1 << 20, /* firmware's numbers of PUs and NUMA nodes */
  MOST_SET = 4096       /* characters of a set of 8,192 CPUs, with room */
};

/* Whether hwloc gets elements of this name. */
static bool is_used(span element)
{
  static const char *const names[] = {
    "topology",         "object",    "info",      "distances2", "indexes",
    "distances2hetero", "u64values", "distances", "latency"
  };

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (is(element, names[i]))
      return true;
  return false;
}

/* Whether the value is digits only, up to `most`; hwloc would accept other
 * characters after them. */
static bool is_up_to(span value, uint64_t most)
{
  uint64_t n = 0;

  for (size_t i = 0; i < value.len; i++) {
    if (value.s[i] < '0' || value.s[i] > '9')
      return i > 0;
    n = n * 10 + (uint64_t)(value.s[i] - '0');
    if (n > most)
      return false;
  }
  return value.len > 0;
}

static bool is_hex(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
         (c >= 'A' && c <= 'F');
}

/* Reads 32 bits of a set at `*at`: 0x and up to eight digits. */
static bool take_bits(span set, size_t *at)
{
  size_t first;

  if (*at + 2 <= set.len && set.s[*at] == '0' && set.s[*at + 1] == 'x')
    *at += 2;
  first = *at;
  while (*at < set.len && is_hex(set.s[*at]))
    (*at)++;
  return *at > first && *at - first <= 8;
}

/* Whether the text is a set as hwloc writes it: 0xf...f (all the rest), then
 * 32 bits after each comma, with nothing between commas for 0.  The last part
 * must have digits; else hwloc reads words that it has not written. */
static bool is_set(span set)
{
  static const char infinite[] = "0xf...f";
  size_t at = 0;

  if (set.len >= 7 && memcmp(set.s, infinite, 7) == 0) {
    at = 7;
    if (at == set.len)
      return true;
    if (set.s[at++] != ',')
      return false;
  }
  for (size_t first = at;; at++) {
    bool empty = at < set.len && set.s[at] == ',' && at > first;
    if (!empty && !take_bits(set, &at))
      return false;
    if (at == set.len)
      return true;
    if (set.s[at] != ',')
      return false;
  }
}

/* --- objects ------------------------------------------------------------- */

/* Bits of `sets`. */
enum { CPUSET = 1, COMPLETE_CPUSET = 2, NODESET = 4, COMPLETE_NODESET = 8 };
static const char *const sets[] = { "cpuset", "complete_cpuset", "nodeset",
                                    "complete_nodeset" };

/* Whether hwloc takes the type for one of these: it compares two letters,
 * ignoring case. */
static bool is_like(span type, const char *const *with, size_t count)
{
  for (size_t i = 0; type.len >= 2 && i < count; i++)
    if ((type.s[0] | 0x20) == with[i][0] && (type.s[1] | 0x20) == with[i][1])
      return true;
  return false;
}

/* The os_index of a PU or NUMA node becomes the length of a bit set.  Others
 * are plain numbers: that of a PCI device contains its domain.  Version 1 may
 * omit the Machine above its only NUMA node. */
static void check_type(scan *s, span type)
{
  static const char *const in_set[] = { "pu", "nu", "no" };
  bool numa = is(type, "NUMANode");

  s->typed = true;
  s->root = is(type, "Machine") || is(type, "System") || (numa && !s->v2);
  s->in_set = is_like(type, in_set, PAI__LEN(in_set));
  s->normal = !is(type, "PCIDev") && !is(type, "Bridge") &&
              !is(type, "OSDev") && !is(type, "Misc");
  s->pu = s->pu || is(type, "PU");
  s->numa = s->numa || numa;
}

static int check_set(scan *s, span name, span value)
{
  if (value.len > MOST_SET)
    return wrong(s, PAI_ELIMIT, value.s, "a set of too many CPUs");
  if (!is_set(value))
    return wrong(s, PAI_EINVAL, value.s,
                 "a set is 0x and hexadecimal digits, 32 bits "
                 "between commas");
  for (size_t i = 0; i < PAI__LEN(sets); i++) {
    if (!is(name, sets[i]))
      continue;
    if ((s->sets >> i & 1) != 0)
      return wrong(s, PAI_EINVAL, value.s, "an attribute twice");
    s->sets |= 1U << i;
  }
  return PAI_OK;
}

static bool ends(span name, const char *text)
{
  size_t len = strlen(text);

  return name.len >= len && memcmp(name.s + name.len - len, text, len) == 0;
}

static void check_begin(scan *s)
{
  s->sets = 0;
  s->typed = s->indexed = s->in_set = s->normal = s->root = false;
}

static int check_attribute(scan *s, span name, span value)
{
  s->v2 = s->v2 || is(name, "version");
  if (is(name, "type")) {
    if (s->typed)
      return wrong(s, PAI_EINVAL, value.s, "an attribute twice");
    check_type(s, value);
  }
  s->indexed = s->indexed || is(name, "os_index");
  if (is(name, "os_index") && s->in_set && !is_up_to(value, MOST_INDEX))
    return wrong(s, PAI_ELIMIT, value.s,
                 "the os_index of a PU or NUMA node is not a number "
                 "up to 1048576");
  if (is(name, "local_memory") && !is_up_to(value, PAI__TOPO_MAX_BYTES))
    return wrong(s, PAI_ELIMIT, value.s, "more memory than any machine has");
  if (is(name, "nbobjs") && !is_up_to(value, MOST_OBJECTS_IN_MATRIX))
    return wrong(s, PAI_ELIMIT, value.s, "a matrix of too many objects");
  if (ends(name, "cpuset") || ends(name, "nodeset"))
    return check_set(s, name, value);
  return PAI_OK;
}

/* For each set that is present, hwloc dereferences the complete one
 * unchecked. */
static bool sets_are_whole(const scan *s)
{
  return (s->sets & (CPUSET | NODESET)) == (s->sets >> 1 & (CPUSET | NODESET));
}

/* Checks an object whose attributes were all read, for what would crash hwloc
 * or cost it much memory. */
static int check_object(scan *s, const char *start)
{
  if (!sets_are_whole(s))
    return wrong(s, PAI_EINVAL, start,
                 "an object has a set of CPUs or nodes without the "
                 "complete one");
  if (s->depth == 1 && !s->root)
    return wrong(s, PAI_EINVAL, start,
                 "the outermost object is not a Machine");
  if (s->in_set && !s->indexed)
    return wrong(s, PAI_EINVAL, start, "a PU or NUMA node has no os_index");
  return PAI_OK;
}

static bool starts(const scan *s, const char *with)
{
  size_t len = strlen(with);

  return (size_t)(s->end - s->at) >= len && memcmp(s->at, with, len) == 0;
}

/* Moves past the next `what`; returns false if there is none. */
static bool pass(scan *s, const char *what)
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

static void skip_space(scan *s)
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

static span take_name(scan *s)
{
  span name = { s->at, 0 };

  while (s->at < s->end && is_name(*s->at))
    s->at++;
  name.len = (size_t)(s->at - name.s);
  return name;
}

/* --- output for hwloc ---------------------------------------------------- */

static bool is_given(const scan *s)
{
  return s->left_out == 0;
}

/* Returns the length of an entity that both parsers of hwloc know, or 0. */
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

/* Writes a value in double quotes. */
static int put_value(scan *s, span value)
{
  for (size_t i = 0; i < value.len;) {
    size_t n = entity(value.s + i, value.len - i);
    if (n > 0) {
      pai__buf_add(s->out, value.s + i, n);
    } else if (value.len - i >= 6 && memcmp(value.s + i, "&apos;", 6) == 0) {
      pai__buf_char(s->out, '\'');
      n = 6;
    } else if (value.s[i] == '&') {
      return wrong(s, PAI_EINVAL, value.s + i,
                   "an entity that hwloc does not write");
    } else {
      put_char(s->out, value.s[i]);
      n = 1;
    }
    i += n;
  }
  return PAI_OK;
}

/* hwloc's own parser stops at a name with other letters, and skips the
 * attributes after it. */
static bool is_attribute(span name)
{
  for (size_t i = 0; i < name.len; i++)
    if ((name.s[i] < 'a' || name.s[i] > 'z') && name.s[i] != '_')
      return false;
  return true;
}

static int put_attribute(scan *s, span name, span value)
{
  int rc;

  if (!is_given(s) || !is_attribute(name) ||
      (s->depth == 0 && !is(name, "version")))
    return PAI_OK;
  pai__buf_char(s->out, ' ');
  pai__buf_add(s->out, name.s, name.len);
  pai__buf_str(s->out, "=\"");
  rc = put_value(s, value);
  pai__buf_char(s->out, '"');
  return rc;
}

/* Elements that are not used are left out with their content. */
static void put_begin(scan *s, span name)
{
  if (is_given(s) && !is_used(name))
    s->left_out = s->depth + 1;
  if (!is_given(s))
    return;
  pai__buf_char(s->out, '<');
  pai__buf_add(s->out, name.s, name.len);
}

static void put_end(scan *s, span name, bool empty)
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

/* Reads text up to the next <.  Only the numbers of matrices are text. */
static int scan_text(scan *s)
{
  const char *from = s->at;
  const char *next = memchr(from, '<', (size_t)(s->end - from));
  span name = s->depth > 0 ? s->open[s->depth - 1] : (span){ "", 0 };

  s->at = next != NULL ? next : s->end;
  for (const char *c = from; s->depth == 0 && c < s->at; c++)
    if (!is_space(*c) && (unsigned char)*c < 0x80)
      return wrong(s, PAI_EINVAL, c, "text outside of all elements");
  if (!is_given(s) || !(is(name, "indexes") || is(name, "u64values")))
    return PAI_OK;
  if (memchr(from, '&', (size_t)(s->at - from)) != NULL)
    return wrong(s, PAI_EINVAL, from, "an entity that hwloc does not write");
  pai__buf_add(s->out, from, (size_t)(s->at - from));
  return PAI_OK;
}

/* --- elements ------------------------------------------------------------ */

/* Reads the attributes of an element: name="value" ... */
static int scan_attributes(scan *s)
{
  for (;;) {
    span name, value;
    int rc;

    skip_space(s);
    if (s->at == s->end || *s->at == '>' || *s->at == '/')
      return PAI_OK;
    name = take_name(s);
    skip_space(s);
    if (name.len == 0 || !starts(s, "="))
      return wrong(s, PAI_EINVAL, s->at, "an attribute is name=\"value\"");
    s->at++;
    skip_space(s);
    if (!starts(s, "\"") && !starts(s, "'"))
      return wrong(s, PAI_EINVAL, s->at, "a value stands in quotes");
    value.s = s->at + 1;
    if (!pass((s->at++, s), value.s[-1] == '"' ? "\"" : "'"))
      return wrong(s, PAI_EINVAL, value.s, "a quote that does not end");
    value.len = (size_t)(s->at - 1 - value.s);
    if (memchr(value.s, '<', value.len) != NULL)
      return wrong(s, PAI_EINVAL, value.s, "a quote that does not end");
    rc = is_given(s) ? check_attribute(s, name, value) : PAI_OK;
    if (rc == PAI_OK)
      rc = put_attribute(s, name, value);
    if (rc < 0)
      return rc;
  }
}

static int scan_begin(scan *s, const char *start)
{
  span name = take_name(s);
  int rc;

  if (name.len == 0)
    return wrong(s, PAI_EINVAL, start, "a < that begins no element");
  if (s->depth == 0 && (s->done || !is(name, "topology")))
    return wrong(s, PAI_EINVAL, start,
                 "it is not one element named topology, as hwloc writes it");
  if (s->depth == PAI__TOPO_MAX_DEPTH)
    return wrong(s, PAI_ELIMIT, start, "it is nested too deep");
  if (is(name, "object") && ++s->objects > PAI__TOPO_MAX_OBJECTS)
    return wrong(s, PAI_ELIMIT, start, "it has too many objects");
  check_begin(s);
  put_begin(s, name);
  rc = scan_attributes(s);
  if (rc == PAI_OK && is_given(s) && is(name, "object"))
    rc = check_object(s, start);
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
    return wrong(s, PAI_EINVAL, start, "an element that does not end");
  }
  (void)pass(s, ">");
  return PAI_OK;
}

static int scan_end(scan *s, const char *start)
{
  span name;

  s->at++;
  name = take_name(s);
  skip_space(s);
  if (s->depth == 0 || name.len != s->open[s->depth - 1].len ||
      memcmp(name.s, s->open[s->depth - 1].s, name.len) != 0)
    return wrong(s, PAI_EINVAL, start, "an end of what did not begin");
  if (!starts(s, ">"))
    return wrong(s, PAI_EINVAL, start, "an element that does not end");
  s->at++;
  s->done = --s->depth == 0;
  put_end(s, name, false);
  return PAI_OK;
}

/* Reads <?xml ...?>, comments, and a document type without an internal DTD. */
static int scan_other(scan *s, const char *start)
{
  const char *from;

  if (starts(s, "?"))
    return pass(s, "?>") ? PAI_OK
                         : wrong(s, PAI_EINVAL, start, "a <? without ?>");
  if (starts(s, "!--"))
    return pass(s, "-->") ? PAI_OK
                          : wrong(s, PAI_EINVAL, start, "a <!-- without -->");
  if (!starts(s, "!DOCTYPE"))
    return wrong(s, PAI_EINVAL, start, "a <! that hwloc does not write");
  from = s->at;
  if (!pass(s, ">"))
    return wrong(s, PAI_EINVAL, start, "a <!DOCTYPE that does not end");
  if (memchr(from, '[', (size_t)(s->at - from)) != NULL)
    return wrong(s, PAI_EINVAL, start, "it has a DTD of its own");
  s->at = from;
  if (!pass(s, "topology SYSTEM \"hwloc") || !pass(s, "dtd\">"))
    return wrong(s, PAI_EINVAL, start, "its document type is not hwloc's");
  return PAI_OK;
}

/* Checks the document at the end of the text. */
static int scan_whole(const scan *s)
{
  if (!s->done) {
    (void)wrong(s, PAI_EINVAL, s->end,
                s->depth > 0 ? "it ends before its elements do"
                             : "it is empty");
    pai__error_help(s->err, "write it with `lstopo FILE.xml`");
    return PAI_EINVAL;
  }
  if (!s->pu)
    return wrong(s, PAI_EINVAL, s->end, "it has no object of type PU");
  if (s->v2 && !s->numa)
    return wrong(s, PAI_EINVAL, s->end, "it has no object of type NUMANode");
  return PAI_OK;
}

static int scan_element(scan *s)
{
  const char *start = s->at++;

  return starts(s, "/")                     ? scan_end(s, start)
         : starts(s, "?") || starts(s, "!") ? scan_other(s, start)
                                            : scan_begin(s, start);
}

int pai__topo_guard_xml(pai__buf *out, const char *text, size_t len,
                        pai_error **err)
{
  scan s = {
    .text = text, .at = text, .end = text + len, .out = out, .err = err
  };
  const char *nul = len > 0 ? memchr(text, '\0', len) : NULL;
  int rc = PAI_OK;

  if (nul != NULL)
    return wrong(&s, PAI_EINVAL, nul, "it has a NUL in it");
  while (rc == PAI_OK && s.at < s.end)
    rc = *s.at == '<' ? scan_element(&s) : scan_text(&s);
  if (rc == PAI_OK)
    rc = scan_whole(&s);
  if (rc == PAI_OK && !pai__buf_ok(out))
    return pai__oom(err);
  return rc;
}
