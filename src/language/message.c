/* message.c - reads messages of the client */
#include "json/json.h"
#include "json/node.h"
#include "language/language.h"

#include "base/text/utf8.h"

enum { MOST_BYTES = 64 << 20, DEPTH = 200 };

static int invalid(pai_language *l, int code, const char *message,
                   pai_error **err)
{
  return pai__language_send_error(l, "null", code, message, NULL, err);
}

/* --- text that no JSON reader accepts -------------------------------------- */

static int hex(char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the UTF-16 unit of an escape at s, or 0. */
static unsigned unit_at(const char *s, size_t left)
{
  unsigned unit = 0;

  if (left < 6 || s[0] != '\\' || s[1] != 'u')
    return 0;
  for (int i = 2; i < 6; i++) {
    int digit = hex(s[i]);

    if (digit < 0)
      return 0;
    unit = unit << 4 | (unsigned)digit;
  }
  return unit;
}

/* Replaces halves of surrogate pairs, which editors send while a character is
 * typed, by U+FFFD, which is one UTF-16 unit, too: later positions remain
 * right.  Returns whether there were any. */
static bool repair(char *text, size_t len)
{
  bool found = false;

  for (size_t i = 0; i + 1 < len; i++) {
    unsigned unit = unit_at(text + i, len - i), next;

    if (text[i] != '\\')
      continue;
    if (unit < 0xd800 || unit > 0xdfff) {
      i++; /* the escaped character */
      continue;
    }
    next = unit < 0xdc00 ? unit_at(text + i + 6, len - i - 6) : 0;
    if (next >= 0xdc00 && next <= 0xdfff) {
      i += 11;
      continue;
    }
    memcpy(text + i + 2, "fffd", 4);
    found = true;
  }
  return found;
}

static int parse(pai_language *l, pai__tree **out, const char *message,
                 size_t len, pai_error **err)
{
  const pai__json_options options = { .flags = PAI__JSON_DUPLICATES,
                                      .max_depth = DEPTH,
                                      .max_bytes = MOST_BYTES,
                                      .alloc = &l->alloc };

  return pai__json_parse(out, message, len, &options, err);
}

static int parse_repaired(pai_language *l, pai__tree **out,
                          const char *message, size_t len, pai_error **err)
{
  char *copy;
  int rc = parse(l, out, message, len, err);

  if (rc != PAI_EINVAL || memchr(message, '\\', len) == NULL)
    return rc;
  copy = pai__strndup(&l->alloc, message, len);
  if (copy == NULL) {
    if (err != NULL)
      pai_error_free(*err);
    return pai__oom(err);
  }
  if (repair(copy, len)) {
    pai_error_free(*err);
    rc = parse(l, out, copy, len, err);
  }
  pai__free(&l->alloc, copy, len + 1);
  return rc;
}

/* --- requests and notifications --------------------------------------------- */

static const pai__language_method *find_method(pai__bytes name)
{
  for (size_t i = 0; i < pai__language_method_count; i++) {
    const pai__language_method *m = &pai__language_methods[i];

    if (strlen(m->name) == name.len &&
        memcmp(m->name, name.data, name.len) == 0)
      return m;
  }
  return NULL;
}

static bool is_notification(const pai__language_method *m)
{
  return m != NULL && (m->flags & PAI__METHOD_NOTIFICATION) != 0;
}

/* Whether a notification counts in this state. */
static bool may_notify(const pai_language *l, const pai__language_method *m)
{
  return l->state == PAI__LANGUAGE_RUNNING ||
         (m != NULL && (m->flags & PAI__METHOD_EARLY) != 0);
}

/* Passes a notification to the host. */
static int notify_host(pai_language *l, const pai__language_request *r,
                       pai__bytes name, pai_error **err)
{
  pai__json_writer w;
  pai__buf params;
  int rc;

  if (l->o.other == NULL || (name.len > 1 && memcmp(name.data, "$/", 2) == 0))
    return PAI_OK;
  pai__buf_init(&params, &l->alloc);
  pai__json_writer_init(&w, &params, false);
  if (r->params == PAI__NO_NODE)
    pai__json_null(&w);
  else
    pai__json_node(&w, r->tree, r->params);
  rc = pai__json_finish(&w) < 0 ? pai__oom(err) : PAI_OK;
  if (rc == PAI_OK)
    (void)l->o.other(l->o.user_data, 0, name.data, params.data, params.len);
  pai__buf_dispose(&params);
  return rc;
}

static int carry_out(pai_language *l, pai__language_request r, pai__bytes name,
                     pai_error **err)
{
  pai_error *why = NULL;
  int rc = PAI_OK;

  if (!may_notify(l, r.method))
    return PAI_OK;
  if (r.method == NULL || (r.method->flags & PAI__METHOD_NOW) == 0)
    rc = pai__language_drain(l, err);
  if (rc < 0)
    return rc;
  if (r.method == NULL)
    return notify_host(l, &r, name, err);
  r.err = &why;
  rc = pai__language_read_params(l, &r);
  if (rc == PAI_OK)
    rc = r.method->handle(l, &r);
  if (rc == PAI_EINVAL) {
    rc = pai__language_log(l, r.method->name, pai_error_message(why), err);
    pai_error_free(why);
  } else if (err != NULL) {
    *err = why;
  } else {
    pai_error_free(why);
  }
  return rc;
}

static int enqueue(pai_language *l, const pai__language_request *from,
                   pai_error **err)
{
  pai__language_request *r = pai__zalloc(&l->alloc, sizeof(*r));

  if (r == NULL)
    return pai__oom(err);
  *r = *from;
  if (l->queue == NULL)
    l->queue_end = &l->queue;
  *l->queue_end = r;
  l->queue_end = &r->next;
  return PAI_OK;
}

/* Sorts a message.  Sets *kept if the request has taken over its tree. */
static int sort(pai_language *l, pai__tree *t, bool *kept, pai_error **err)
{
  pai__language_request r = { .tree = t, .id = PAI__NO_NODE };
  pai__node method;
  pai__bytes name;
  int rc;

  if (t->nodes[0].type != PAI__MAPPING)
    return invalid(l, PAI__RPC_INVALID_REQUEST,
                   t->nodes[0].type == PAI__SEQUENCE
                     ? "batches are not part of the protocol"
                     : "a message must be an object",
                   err);
  method = pai__tree_get(t, 0, "method");
  r.id = pai__tree_get(t, 0, "id");
  r.params = pai__tree_get(t, 0, "params");
  if (method == PAI__NO_NODE &&
      (pai__tree_get(t, 0, "result") != PAI__NO_NODE ||
       pai__tree_get(t, 0, "error") != PAI__NO_NODE))
    return PAI_OK; /* an answer to a request of ours */
  name = pai__language_bytes(t, method);
  if (r.id != PAI__NO_NODE && !pai__tree_is(t, r.id, PAI__INT) &&
      !pai__tree_is(t, r.id, PAI__STRING))
    return invalid(l, PAI__RPC_INVALID_REQUEST,
                   "id must be a string or a whole number", err);
  if (name.len == 0 || memchr(name.data, '\0', name.len) != NULL)
    return r.id == PAI__NO_NODE
             ? invalid(l, PAI__RPC_INVALID_REQUEST, "method must be a string",
                       err)
             : pai__language_send_refusal(l, &r, PAI__RPC_INVALID_REQUEST,
                                          "method must be a string", err);
  r.method = find_method(name);
  if (r.id == PAI__NO_NODE)
    return r.method != NULL && !is_notification(r.method)
             ? PAI_OK /* a request that nobody could be answered */
             : carry_out(l, r, name, err);
  if (is_notification(r.method))
    return pai__language_send_refusal(l, &r, PAI__RPC_INVALID_REQUEST,
                                      "this method is a notification", err);
  rc = enqueue(l, &r, err);
  *kept = rc == PAI_OK;
  return rc;
}

int pai__language_take(pai_language *l, const char *message, size_t len,
                       pai_error **err)
{
  size_t most = l->o.max_bytes > 0 ? l->o.max_bytes : MOST_BYTES;
  pai_error *why = NULL;
  pai__tree *t = NULL;
  bool kept = false;
  int rc;

  if (len > most)
    return invalid(l, PAI__RPC_INVALID_REQUEST, "the message is too long",
                   err);
  rc = parse_repaired(l, &t, message, len, &why);
  if (rc == PAI_EINVAL || rc == PAI_ELIMIT) {
    rc = invalid(l, PAI__RPC_PARSE, pai_error_message(why), err);
    pai_error_free(why);
    return rc;
  }
  if (rc < 0) {
    pai_error_free(why);
    return pai__oom(err);
  }
  rc = sort(l, t, &kept, err);
  if (!kept)
    pai__tree_free(t);
  return rc;
}
