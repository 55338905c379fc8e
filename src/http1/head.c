/* head.c - parser of a request's first line and header fields */
#include "http1/http1.h"

#include <string.h>

static void fail(pai__http1_head *h, int status, const char *why)
{
  if (h->fault.status == 0)
    h->fault = (pai__http1_fault){ status, why };
}

/* --- characters --------------------------------------------------------- */

bool pai__http1_is_token(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') ||
         (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static size_t token_length(const char *text)
{
  size_t n = 0;

  while (pai__http1_is_token(text[n]))
    n++;
  return n;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static char lower(char c)
{
  return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Compares without case. */
static bool is_same(const char *text, size_t len, const char *word)
{
  for (size_t i = 0; i < len; i++)
    if (lower(text[i]) != lower(word[i])) /* `word` may end here */
      return false;
  return word[len] == '\0';
}

static bool is_word(const char *text, const char *word)
{
  return is_same(text, strlen(text), word);
}

static const char digits[] = "0123456789";

/* Returns whether a value is a host and a port, each of which may be empty. */
static bool is_host(const char *value)
{
  if (*value == '[') {
    value += 1 + strspn(value + 1, "0123456789abcdefABCDEF:.");
    if (*value++ != ']')
      return false;
  } else {
    while (*value != '\0' && *value != ':' &&
           (pai__http1_is_token(*value) || strchr("();=", *value) != NULL))
      value++;
  }
  if (*value == ':')
    value += 1 + strspn(value + 1, digits);
  return *value == '\0';
}

/* --- the first line ----------------------------------------------------- */

static const char no_line[] = "its first line is not METHOD TARGET VERSION";

/* Returns the target after "http://HOST", or the target itself. */
static const char *skip_host(const char *target)
{
  static const char *const schemes[] = { "http://", "https://" };

  for (size_t i = 0; i < PAI__LEN(schemes); i++) {
    size_t len = strlen(schemes[i]);
    size_t host =
      is_same(target, len, schemes[i]) ? strcspn(target + len, "/?") : 0;

    if (host > 0)
      return target + len + host;
  }
  return target;
}

const char *pai__http1_path(const char *target)
{
  const char *path = skip_host(target);

  return *path != '\0' ? path : "/";
}

/* Returns whether a target is a path, a URI of HTTP or "*". */
static bool is_target(const char *target)
{
  const char *path = skip_host(target);

  for (const char *c = target; *c != '\0'; c++)
    if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '#')
      return false;
  return path > target || target[0] == '/' || strcmp(target, "*") == 0;
}

static bool is_version(const char *text)
{
  return strncmp(text, "HTTP/", 5) == 0 && text[5] >= '0' && text[5] <= '9' &&
         text[6] == '.' && text[7] >= '0' && text[7] <= '9' && text[8] == '\0';
}

static void read_first(pai__http1_head *h, char *bytes)
{
  char *line = bytes + h->line, *target, *version;

  h->begun = true;
  target = line + token_length(line);
  version = *target == ' ' ? strchr(target + 1, ' ') : NULL;
  if (target == line || version == NULL) {
    fail(h, 400, no_line);
    return;
  }
  *target++ = '\0';
  *version++ = '\0';
  if (strcmp(line, "CONNECT") == 0) {
    fail(h, 501, "CONNECT is for a proxy");
    return;
  }
  if (!is_target(target) || !is_version(version)) {
    fail(h, 400, no_line);
    return;
  }
  h->method = (uint16_t)(line - bytes);
  h->target = (uint16_t)(target - bytes);
  h->version = (uint16_t)(version - bytes);
  h->old = strcmp(version, "HTTP/1.0") == 0;
  if (version - target > PAI__HTTP1_TARGET)
    fail(h, 414, "its target is too long");
  else if (!h->old && strcmp(version, "HTTP/1.1") != 0)
    fail(h, 505, "its version is neither HTTP/1.0 nor HTTP/1.1");
}

/* --- fields ------------------------------------------------------------- */

static void read_field(pai__http1_head *h, char *bytes, size_t end)
{
  char *line = bytes + h->line, *value = line + token_length(line);

  if (is_blank(*line))
    fail(h, 400, "a header is folded");
  else if (value == line || *value != ':')
    fail(h, 400, "a header is not NAME: VALUE");
  else if (h->nfields == PAI__HTTP1_FIELDS)
    fail(h, 431, "it has too many headers");
  if (h->fault.status != 0)
    return;
  *value++ = '\0';
  while (is_blank(*value))
    value++;
  while (bytes + end > value && is_blank(bytes[end - 1]))
    bytes[--end] = '\0';
  h->fields[h->nfields++] =
    (pai__http1_field){ (uint16_t)(line - bytes), (uint16_t)(value - bytes) };
}

/* --- the whole head ----------------------------------------------------- */

static void read_length(pai__http1_head *h, const char *text)
{
  size_t n = strspn(text, digits);

  h->measured = true;
  if (n == 0 || text[n] != '\0') {
    fail(h, 400, "its Content-Length is not a number");
    return;
  }
  for (; *text != '\0'; text++) {
    if (h->length > (UINT64_MAX >> 1) / 10 - 1) {
      fail(h, 413, "its Content-Length is too large");
      return;
    }
    h->length = h->length * 10 + (uint64_t)(*text - '0');
  }
}

static void check(pai__http1_head *h, const char *bytes)
{
  unsigned hosts = 0, lengths = 0, encodings = 0;

  for (size_t i = 0; i < h->nfields; i++) {
    const char *name = bytes + h->fields[i].name;
    const char *value = bytes + h->fields[i].value;

    if (is_word(name, "Host")) {
      hosts++;
      if (!is_host(value))
        fail(h, 400, "its Host is none");
    } else if (is_word(name, "Content-Length")) {
      if (lengths++ > 0)
        fail(h, 400, "there is more than one Content-Length");
      else
        read_length(h, value);
    } else if (is_word(name, "Transfer-Encoding")) {
      encodings++;
      h->chunked = is_word(value, "chunked");
      if (encodings > 1 || !h->chunked || h->old)
        fail(h, h->chunked || h->old ? 400 : 501,
             "Transfer-Encoding can be chunked, and nothing else");
    }
  }
  if (hosts > 1 || (hosts == 0 && !h->old))
    fail(h, 400, "there must be one Host");
  if (lengths > 0 && encodings > 0)
    fail(h, 400, "there are both Content-Length and Transfer-Encoding");
}

/* Parses the line from h->line to `end`, where there is a NUL now. */
static void read_line(pai__http1_head *h, char *bytes, size_t end)
{
  if (end > h->line && !h->begun)
    read_first(h, bytes);
  else if (end > h->line)
    read_field(h, bytes, end);
  else if (h->begun) { /* empty lines before the first one are ignored */
    h->whole = true;
    check(h, bytes);
  }
}

/* Returns whether the byte at h->seen is allowed there. */
static bool is_allowed(const pai__http1_head *h, const char *bytes)
{
  char c = bytes[h->seen];
  bool after_cr = h->seen > h->line && bytes[h->seen - 1] == '\r';

  if (c == '\n' || after_cr)
    return c == '\n' && after_cr;
  return c == '\r' || c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

static bool is_over(const pai__http1_head *h)
{
  return h->whole || h->fault.status != 0;
}

bool pai__http1_read_head(pai__http1_head *h, char *bytes, size_t len)
{
  for (; h->seen < len && !is_over(h); h->seen++) {
    if (h->seen == PAI__HTTP1_HEAD)
      fail(h, h->begun ? 431 : 414,
           h->begun ? "its head is too long" : "its target is too long");
    else if (!is_allowed(h, bytes))
      fail(h, 400,
           "a line does not end with CRLF, or has a character that it may not "
           "have");
    if (is_over(h) || bytes[h->seen] != '\n')
      continue;
    bytes[h->seen - 1] = '\0';
    read_line(h, bytes, h->seen - 1);
    h->line = h->seen + 1;
  }
  return is_over(h);
}

/* --- looking up --------------------------------------------------------- */

const char *pai__http1_find(const pai__http1_head *h, const char *bytes,
                            const char *name, size_t *at)
{
  while (*at < h->nfields) {
    const pai__http1_field *f = &h->fields[(*at)++];

    if (is_word(bytes + f->name, name))
      return bytes + f->value;
  }
  return NULL;
}

static bool list_has(const char *list, const char *word)
{
  while (*list != '\0') {
    size_t n;

    list += strspn(list, " \t,");
    n = strcspn(list, " \t,");
    if (is_same(list, n, word))
      return true;
    list += n;
  }
  return false;
}

bool pai__http1_has(const pai__http1_head *h, const char *bytes,
                    const char *name, const char *word)
{
  const char *list;
  size_t at = 0;

  while ((list = pai__http1_find(h, bytes, name, &at)) != NULL)
    if (list_has(list, word))
      return true;
  return false;
}
