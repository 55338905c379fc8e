/*
 * head.c - heads that two who read them may read differently
 *
 * libmicrohttpd takes the first of two lengths, and chunks where there is a
 * length, too; a proxy before us may take the other one, and what is a body for
 * one of both is a request for the other.  So neither is taken.
 */
#include "server/request.h"

#include <strings.h>

typedef struct head {
  unsigned lengths, encodings;
  bool chunked, odd_name;
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
  return MHD_YES;
}

bool pai__head_is_sound(pai__request *r)
{
  head h = { 0 };
  const char *why = NULL;

  (void)MHD_get_connection_values(r->connection, MHD_HEADER_KIND, look, &h);
  if (h.odd_name)
    why = "a header has a name that is none";
  else if (h.lengths > 1)
    why = "there is more than one Content-Length";
  else if (h.lengths > 0 && h.encodings > 0)
    why = "there are both Content-Length and Transfer-Encoding";
  else if (h.encodings > 1 || (h.encodings == 1 && !h.chunked))
    why = "Transfer-Encoding can be chunked, and nothing else";
  if (why == NULL)
    return true;
  r->last = true;
  pai__answer_error(r, 400, NULL, "This is no request of HTTP: %s.", why);
  return false;
}
