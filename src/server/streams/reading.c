/*
 * reading.c - parsing of long job files on another thread (see reading.h)
 *
 * The database also uses libuv's threads, so only a few files are parsed at
 * once.  All users share one queue.  A user without a file being parsed comes
 * first.
 */
#include "server/streams/reading.h"

#include "server/calls/ajv.h"

#include <ctype.h>

enum {
  SHORT = 16 << 10, /* bytes that are parsed on the loop: a few milliseconds */
  AT_ONCE = 2,      /* of libuv's four threads */
  MOST_WAITING = 64,
  MOST_OF_ONE = 8 /* waiting files of one user */
};

typedef struct pai__reading {
  struct pai__reading *next;
  pai_server *server;
  struct pai__waiting *waiting;
  pai__work *work;
  pai__read_cb cb;
  char *user;
  pai__buf body; /* lent by the request, which may be gone first */
  pai__read read;
} reading;

/* --- parsing ------------------------------------------------------------- */

/* Writes a role's name as the API spells it: letters and digits, in lower
 * case.  `to` must be large enough.  Returns the length. */
static size_t spell(char *to, const char *name)
{
  size_t len = 0;

  for (; *name != '\0'; name++)
    if (isalnum((unsigned char)*name))
      to[len++] = (char)tolower((unsigned char)*name);
  return len;
}

/* Finds the first role spelled like an earlier one.  Returns PAI_OK or
 * PAI_ENOMEM. */
static int find_twin(pai__read *read, const pai_alloc *alloc)
{
  const pai_spec *spec = read->spec;
  size_t n = pai_spec_role_count(spec), longest = 0;
  pai__map seen;
  char *name;
  int rc = PAI_OK;

  for (size_t i = 0; i < n; i++)
    if (longest < strlen(pai_spec_role_name(spec, i)))
      longest = strlen(pai_spec_role_name(spec, i));
  name = pai__zalloc(alloc, longest + 1);
  if (name == NULL)
    return PAI_ENOMEM;
  pai__map_init(&seen, alloc);
  for (read->twin = 0; rc == PAI_OK && read->twin < n; read->twin++) {
    size_t len = spell(name, pai_spec_role_name(spec, read->twin));
    uintptr_t before = (uintptr_t)pai__map_get(&seen, name, len);

    if (before != 0) {
      read->other = before - 1;
      break;
    }
    rc = pai__map_set(&seen, name, len, (void *)(read->twin + 1));
  }
  pai__map_dispose(&seen);
  pai__free(alloc, name, longest + 1);
  return rc;
}

static void read_body(pai__read *read, const pai__buf *body,
                      const pai_alloc *alloc)
{
  pai_spec_options options = PAI_SPEC_OPTIONS_INIT;
  const char *text = body->len > 0 ? body->data : "";
  pai_report *report = NULL;

  options.alloc = alloc;
  /* Collecting hints is too slow for a short valid file.  A long file is only
   * parsed once, with hints. */
  read->rc = body->len <= SHORT
               ? pai_spec_parse(&read->spec, text, body->len, &options, NULL)
               : PAI_EINVAL;
  if (read->rc < 0)
    read->rc = pai_spec_check(&report, &read->spec, text, body->len, &options,
                              &read->err);
  if (read->rc == PAI_OK && read->spec == NULL)
    read->rc = pai__ajv_write(&read->wrong, report);
  else if (read->rc == PAI_OK)
    read->rc = find_twin(read, alloc);
  pai_report_free(report);
}

static void end_read(pai__read *read)
{
  pai_spec_unref(read->spec);
  pai_error_free(read->err);
  pai__buf_dispose(&read->wrong);
}

static void free_reading(reading *x)
{
  const pai_alloc *alloc = &x->server->alloc;

  pai__work_close(x->work);
  pai__strfree(alloc, x->user);
  pai__buf_dispose(&x->body);
  end_read(&x->read);
  pai__free(alloc, x, sizeof(*x));
}

/* --- the queue ----------------------------------------------------------- */

static bool is_being_read(const pai_server *s, const char *user)
{
  for (const reading *x = s->being_read; x != NULL; x = x->next)
    if (strcmp(x->user, user) == 0)
      return true;
  return false;
}

static reading *take(reading **at)
{
  reading *x = *at;

  *at = x->next;
  x->next = NULL;
  return x;
}

/* Drops files whose request is gone. */
static reading *take_next(pai_server *s)
{
  reading **at = &s->to_read;

  while (*at != NULL) {
    if (pai__waiting_request((*at)->waiting) == NULL) {
      reading *x = take(at);

      (void)pai__answer_now(x->waiting);
      free_reading(x);
    } else if (is_being_read(s, (*at)->user)) {
      at = &(*at)->next;
    } else {
      return take(at);
    }
  }
  return s->to_read != NULL ? take(&s->to_read) : NULL;
}

static void begin_next(pai_server *s)
{
  while (s->nreading < AT_ONCE) {
    reading *x = take_next(s);

    if (x == NULL)
      return;
    x->next = s->being_read;
    s->being_read = x;
    s->nreading++;
    pai__work_start(x->work);
  }
}

/* --- single files -------------------------------------------------------- */

static void run(void *user_data)
{
  reading *x = user_data;

  read_body(&x->read, &x->body, &x->server->alloc);
}

static void on_read(void *user_data)
{
  reading *x = user_data, **at;
  pai_server *s = x->server;
  pai__request *r = pai__answer_now(x->waiting);

  for (at = &s->being_read; *at != x;)
    at = &(*at)->next;
  (void)take(at);
  s->nreading--;
  if (r != NULL) {
    pai__buf_dispose(&r->body);
    r->body = x->body;
    pai__buf_init(&x->body, &s->alloc);
    x->cb(r, &x->read);
  }
  free_reading(x);
  begin_next(s);
  if (s->closing > 0)
    pai__server_check_end(s);
}

static reading *new_reading(pai__request *r, pai__read_cb cb)
{
  pai_server *s = r->server;
  reading *x = pai__zalloc(&s->alloc, sizeof(*x));

  if (x == NULL)
    return NULL;
  *x = (reading){ .server = s, .cb = cb };
  pai__buf_init(&x->body, &s->alloc);
  pai__buf_init(&x->read.wrong, &s->alloc);
  x->user =
    pai__strdup(&s->alloc, r->caller.name != NULL ? r->caller.name : "");
  if (x->user != NULL &&
      pai__work_new(&x->work, &s->alloc, s->loop, run, on_read, x) == PAI_OK)
    return x;
  free_reading(x);
  return NULL;
}

/* Finds the end of the queue; returns false if too many files wait. */
static bool find_end(reading ***end, pai_server *s, const char *user)
{
  unsigned waiting = 0, of_one = 0;

  for (*end = &s->to_read; **end != NULL; *end = &(**end)->next) {
    waiting++;
    of_one += strcmp((**end)->user, user) == 0;
  }
  return waiting < MOST_WAITING && of_one < MOST_OF_ONE;
}

static void read_beside(pai__request *r, pai__read_cb cb)
{
  pai_server *s = r->server;
  reading *x = new_reading(r, cb), **end;

  if (x == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  if (!find_end(&end, s, x->user)) {
    r->later = true;
    pai__answer_error(
      r, 503, "UnknownError",
      "Too many requests wait for job files. Try again later.");
    free_reading(x);
    return;
  }
  x->waiting = pai__answer_later(r);
  if (x->waiting == NULL) {
    free_reading(x);
    return;
  }
  x->body = r->body;
  pai__buf_init(&r->body, &s->alloc);
  *end = x;
  begin_next(s);
}

void pai__read_job(pai__request *r, pai__read_cb cb)
{
  pai__read read = { 0 };

  if (r->body.len > SHORT) {
    read_beside(r, cb);
    return;
  }
  pai__buf_init(&read.wrong, &r->server->alloc);
  read_body(&read, &r->body, &r->server->alloc);
  cb(r, &read);
  end_read(&read);
}

bool pai__reading_is_over(const pai_server *server)
{
  return server->being_read == NULL;
}
