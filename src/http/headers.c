/* headers.c - the headers of a request, as curl's list */
#include "http/inside.h"

#include "base/buf.h"

/* The headers that may differ, in order; NULL: omitted. */
enum { LINES = 6 };

typedef struct header {
  const char *name, *value;
} header;

static void list_headers(header of[LINES], const pai__http_want *want)
{
  bool body = want->body != NULL;

  of[0] = (header){ "Accept: ", want->accept };
  of[1] = (header){ "Authorization: ", want->authorization };
  of[2] = (header){ "Range: ", want->range };
  of[3] = (header){ "Last-Event-ID: ", want->last_event };
  of[4] = (header){ "Content-Type: ", body ? want->type : NULL };
  of[5] = (header){ "Expect:", body ? "" : NULL }; /* not sent */
}

/* Skips `text` at *at; false: something else is there. */
static bool passes(const char **at, const char *text)
{
  size_t len = strlen(text);

  if (strncmp(*at, text, len) != 0)
    return false;
  *at += len;
  return true;
}

/* Consecutive requests mostly have the same headers. */
static bool are_as_before(const char *text, const header of[LINES])
{
  if (text == NULL)
    return false;
  for (int i = 0; i < LINES; i++)
    if (of[i].value != NULL &&
        (!passes(&text, of[i].name) || !passes(&text, of[i].value) ||
         !passes(&text, "\n")))
      return false;
  return *text == '\0';
}

/* Makes curl's list, one entry for each line of the text. */
static struct curl_slist *make_list(char *text)
{
  struct curl_slist *list = NULL, *more;

  for (char *line = text, *end; (end = strchr(line, '\n')) != NULL;
       line = end + 1) {
    *end = '\0';
    more = curl_slist_append(list, line);
    *end = '\n';
    if (more == NULL) {
      curl_slist_free_all(list);
      return NULL;
    }
    list = more;
  }
  return list;
}

bool pai__http_set_headers(pai__http_request *r)
{
  header of[LINES];
  struct curl_slist *list;
  pai__buf b;

  list_headers(of, &r->want);
  if (are_as_before(r->headers_text, of))
    return true;
  pai__buf_init(&b, &r->http->alloc);
  for (int i = 0; i < LINES; i++)
    if (of[i].value != NULL) {
      pai__buf_str(&b, of[i].name);
      pai__buf_str(&b, of[i].value);
      pai__buf_char(&b, '\n');
    }
  list = pai__buf_ok(&b) ? make_list(b.data) : NULL;
  if (list == NULL ||
      curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, list) != CURLE_OK) {
    curl_slist_free_all(list);
    pai__buf_dispose(&b);
    return false;
  }
  curl_slist_free_all(r->headers);
  r->headers = list;
  pai__strfree(&r->http->alloc, r->headers_text);
  r->headers_text = pai__buf_take(&b);
  return r->headers_text != NULL;
}
