/*
 * topology_guard.c - what hwloc is not given to read
 *
 * hwloc trusts its input: it recurses as deep as XML does, and allocates what
 * a number asks for.  So texts are read here first, as XML of the plainest
 * kind: elements, attributes, comments, no DTD of the document's own (whose
 * entities could explode), and no number that costs memory.
 */
#include "resource/topology.h"

#include "base/utf8.h"

enum {
  MOST_OBJECTS_IN_MATRIX = 1024,
  MOST_INDEX = 1 << 20, /* of NUMA nodes and packages: firmware's numbers */
  MOST_SET = 4096       /* characters of a set of 8,192 CPUs, with room */
};

typedef struct span {
  const char *s;
  size_t len;
} span;

typedef struct scan {
  const char *text, *at, *end;
  span open[PAI__TOPO_MAX_DEPTH]; /* names of elements */
  size_t depth;
  size_t objects;
  unsigned sets; /* of this element: see check_attribute() */
  bool machine;  /* it is one */
  bool pu, numa; /* there is one */
  bool v2;       /* and there must be a NUMA node */
  bool done;     /* the outermost element has ended */
  pai_error **err;
} scan;

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

static bool starts(const scan *s, const char *with)
{
  size_t len = strlen(with);

  return (size_t)(s->end - s->at) >= len && memcmp(s->at, with, len) == 0;
}

/* Goes behind the next `what`; false when there is none. */
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

static bool is(span name, const char *text)
{
  return name.len == strlen(text) && memcmp(name.s, text, name.len) == 0;
}

static bool ends(span name, const char *text)
{
  size_t len = strlen(text);

  return name.len >= len && memcmp(name.s + name.len - len, text, len) == 0;
}

/* Digits up to `most`; hwloc reads what else begins with them. */
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
  return true;
}

/* Where a set is, hwloc follows the complete one without looking. */
static const char *const sets[] = { "cpuset", "complete_cpuset", "nodeset",
                                    "complete_nodeset" };

static int check_attribute(scan *s, span name, span value)
{
  for (size_t i = 0; i < PAI__LEN(sets); i++)
    s->sets |= (unsigned)is(name, sets[i]) << i;
  s->v2 = s->v2 || is(name, "version");
  s->machine = s->machine || (is(name, "type") &&
                              (is(value, "Machine") || is(value, "System")));
  s->pu = s->pu || (is(name, "type") && is(value, "PU"));
  s->numa = s->numa || (is(name, "type") && is(value, "NUMANode"));
  if (is(name, "os_index") && !is_up_to(value, MOST_INDEX) &&
      !is(value, "4294967295") && !is(value, "-1"))
    return wrong(s, PAI_ELIMIT, value.s, "an index beyond all machines");
  if (is(name, "local_memory") && !is_up_to(value, PAI__TOPO_MAX_BYTES))
    return wrong(s, PAI_ELIMIT, value.s, "more memory than any machine has");
  if (is(name, "nbobjs") && !is_up_to(value, MOST_OBJECTS_IN_MATRIX))
    return wrong(s, PAI_ELIMIT, value.s, "a matrix of too many objects");
  if ((ends(name, "cpuset") || ends(name, "nodeset")) && value.len > MOST_SET)
    return wrong(s, PAI_ELIMIT, value.s, "a set of too many CPUs");
  return PAI_OK;
}

/* Behind the name of an element: name="value" ... */
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
    rc = check_attribute(s, name, value);
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
  s->sets = 0;
  s->machine = false;
  rc = scan_attributes(s);
  if (rc < 0)
    return rc;
  if (is(name, "object") && (s->sets & 5) != (s->sets >> 1 & 5))
    return wrong(s, PAI_EINVAL, start,
                 "an object has a set of CPUs or nodes without the complete "
                 "one");
  if (is(name, "object") && s->depth == 1 && !s->machine)
    return wrong(s, PAI_EINVAL, start, "the outermost object is no Machine");
  s->open[s->depth++] = name;
  if (starts(s, "/>"))
    s->depth--;
  else if (!starts(s, ">"))
    return wrong(s, PAI_EINVAL, start, "an element that does not end");
  (void)pass(s, ">");
  s->done = s->depth == 0;
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
  return PAI_OK;
}

/* <?xml ...?>, comments, and a document type without a DTD in it. */
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

/* At the end of the text. */
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

int pai__topo_guard_xml(const char *text, size_t len, pai_error **err)
{
  scan s = { .text = text, .at = text, .end = text + len, .err = err };
  const char *nul = len > 0 ? memchr(text, '\0', len) : NULL;

  if (nul != NULL)
    return wrong(&s, PAI_EINVAL, nul, "it has a NUL in it");
  while (s.at < s.end) {
    const char *start = s.at;
    int rc = PAI_OK;
    if (*s.at != '<') {
      if (s.depth == 0 && !is_space(*s.at) && (unsigned char)*s.at < 0x80)
        return wrong(&s, PAI_EINVAL, start, "text outside of all elements");
      s.at++;
      continue;
    }
    s.at++;
    rc = starts(&s, "/")                      ? scan_end(&s, start)
         : starts(&s, "?") || starts(&s, "!") ? scan_other(&s, start)
                                              : scan_begin(&s, start);
    if (rc < 0)
      return rc;
  }
  return scan_whole(&s);
}
