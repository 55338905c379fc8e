/*
 * head.c - heads that two who read them may read differently
 *
 * libmicrohttpd 0.9.75 takes the first of two lengths, and chunks where there
 * is a length, too; it takes lines that are folded, several Hosts or none, NULs,
 * and spaces in a path.  A proxy before us may read the other one of both, and
 * what is a body for one is a request for the other.  So none of it is taken.
 *
 * What libmicrohttpd has left out is seen in its memory: it cuts a head into
 * texts where that stands, with two NULs for each end of a line, so in a sound
 * head each text begins where the one before has ended.
 */
#include "server/request.h"

#include <strings.h>

typedef struct head {
  unsigned lengths, encodings, hosts;
  bool chunked, odd_name, odd_value;
  bool laid_out;  /* it is looked where texts stand, */
  const char *at; /* and there the next one does, or NULL: it is not there */
} head;

/* The characters of a token, of RFC 9110. */
static bool is_name(const char *name)
{
  const char *c = name;

  while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
         (*c >= '0' && *c <= '9') ||
         (*c != '\0' && strchr("!#$%&'*+-.^_`|~", *c) != NULL))
    c++;
  return c > name && *c == '\0';
}

/* Of a host and a port; empty is allowed. */
static bool is_host(const char *value)
{
  for (const char *c = value; *c != '\0'; c++)
    if (*c <= ' ' || *c == 0x7f || strchr("/?#@\\", *c) != NULL)
      return false;
  return true;
}

static bool is_text(const char *value)
{
  for (const char *c = value; *c != '\0'; c++)
    if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
      return false;
  return true;
}

/* Behind the end of the line that `text` is the last of; NULL: that is none. */
static const char *skip_line(const char *text)
{
  const char *end = text + strlen(text);

  return end[1] == '\0' ? end + 2 : NULL;
}

/* Goes on over a header; a value that stands elsewhere was folded. */
static void follow(head *h, const char *name, const char *value)
{
  const char *at = h->at;

  h->at = NULL;
  if (at == NULL || name != at)
    return;
  for (at += strlen(name) + 1; at != value; at++)
    if (*at != ' ' && *at != '\t')
      return;
  h->at = skip_line(value);
}

static enum MHD_Result look(void *user_data, enum MHD_ValueKind kind,
                            const char *name, const char *value)
{
  head *h = user_data;

  (void)kind;
  if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0)
    h->lengths++;
  if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
    h->encodings++;
    h->chunked = value != NULL && strcasecmp(value, "chunked") == 0;
  }
  h->odd_name |= !is_name(name);
  if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) {
    h->hosts++;
    h->odd_value |= value != NULL && !is_host(value);
  }
  h->odd_value |= value != NULL && !is_text(value);
  if (h->laid_out && value != NULL)
    follow(h, name, value);
  return MHD_YES;
}

static bool is_target(const char *uri)
{
  for (const char *c = uri; *c != '\0'; c++)
    if ((unsigned char)*c <= ' ' || *c == 0x7f)
      return false;
  return uri[0] != '\0';
}

bool pai__head_is_known(void)
{
  return strncmp(MHD_get_version(), "0.9.75", 6) == 0;
}

/* Whether the first line is whole, and then where the next one begins. */
static bool begin_layout(head *h, const pai__request *r)
{
  const char *version = r->raw_uri + r->uri_size; /* its NUL is a space */

  h->laid_out = pai__head_is_known();
  if (!h->laid_out)
    return true;
  h->at = r->version == version ? skip_line(version) : NULL;
  return h->at != NULL;
}

static const char *find_fault(pai__request *r, const head *h, bool line)
{
  bool old = strcmp(r->version, "HTTP/1.0") == 0;

  if (!is_target(r->uri) || !line)
    return "its first line is not METHOD TARGET VERSION";
  if (h->odd_name)
    return "a header has a name that is none";
  if (h->odd_value || (h->laid_out && h->at == NULL))
    return "a header is folded, or has a character that it may not have";
  if (h->hosts > 1 || (h->hosts == 0 && !old))
    return "there must be one Host";
  if (h->lengths > 1)
    return "there is more than one Content-Length";
  if (h->lengths > 0 && h->encodings > 0)
    return "there are both Content-Length and Transfer-Encoding";
  if (h->encodings > 1 || (h->encodings == 1 && (!h->chunked || old)))
    return "Transfer-Encoding can be chunked, and nothing else";
  return NULL;
}

bool pai__head_is_sound(pai__request *r)
{
  head h = { 0 };
  bool line = begin_layout(&h, r);
  const char *why;

  (void)MHD_get_connection_values(r->connection, MHD_HEADER_KIND, look, &h);
  why = find_fault(r, &h, line);
  /* Where chunks end, libmicrohttpd is generous: nothing behind them is taken
   * for a request. */
  r->last = why != NULL || h.encodings > 0;
  if (why == NULL)
    return true;
  pai__answer_error(r, 400, NULL, "This is no request of HTTP: %s.", why);
  return false;
}
