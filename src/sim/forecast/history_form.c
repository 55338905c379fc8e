/*
 * history_form.c - writes a history as a line of JSON, and reads it
 *
 *   {"history":1,"alike":[{"of":["6","ann","train-#","0"],"took":[60000000],
 *    "ended":[90000000]}],
 *    "came":[{"time":0,"request":{...}}],"hours":[12,3600,...],
 *    "scores":[912,1000],"levels":[0,-20,35]}
 *
 * "hours" has two numbers for each hour of the week: arrivals, and observed
 * seconds.  "ended" is left out if the time of the oldest end is not known.
 * All other lists are in order of time, so a history that was read continues
 * as the one that was written.
 */
#include "sim/forecast/history.h"
#include "sim/report/format.h"

#include "json/json.h"
#include "sched/log/event_form.h"

enum {
  VERSION = 1,
  FARTHEST = 1000000,
  MOST = 100000,
  MOST_IN_HOUR = 100000000
};

/* --- writing ------------------------------------------------------------- */

static void put_ring(pai__json_writer *w, const pai__map_entry *e)
{
  const pai__ring *r = e->value;

  if (r->count == 0)
    return;
  pai__json_begin_object(w);
  pai__json_put_array(w, "of");
  for (size_t i = 0; i < e->len; i += strlen(e->key + i) + 1)
    pai__json_string(w, e->key + i);
  pai__json_end_array(w);
  pai__json_put_array(w, "took");
  for (uint32_t i = 0; i < r->count; i++)
    pai__json_int(w, pai__ring_at(r, i));
  pai__json_end_array(w);
  if (pai__ring_ended(r, 0) != PAI__UNKNOWN) {
    pai__json_put_array(w, "ended");
    for (uint32_t i = 0; i < r->count; i++)
      pai__json_int(w, pai__ring_ended(r, i) != PAI__UNKNOWN
                         ? pai__ring_ended(r, i)
                         : pai__ring_ended(r, 0));
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static void put_arrival(pai__json_writer *w,
                        const pai__recorded_arrival *arrivals)
{
  pai__json_begin_object(w);
  pai__json_put_int(w, "time", arrivals->time);
  pai__json_put_object(w, "request");
  pai__request_put(w, &arrivals->request);
  pai__json_put_array(w, "wants");
  for (size_t i = 0; i < arrivals->request.nwants; i++)
    pai__want_put(w, &arrivals->request.wants[i]);
  pai__json_end_array(w);
  pai__json_end_object(w);
  pai__json_end_object(w);
}

static void put_history(pai__json_writer *w, const pai_history *h)
{
  const pai__map_entry *e;
  size_t i = 0;

  pai__json_begin_object(w);
  pai__json_put_int(w, "history", VERSION);
  pai__json_put_array(w, "alike");
  while ((e = pai__map_next(&h->rings, &i)) != NULL)
    put_ring(w, e);
  pai__json_end_array(w);
  pai__json_put_array(w, "came");
  for (uint32_t k = 0; k < h->narrivals; k++)
    put_arrival(w, pai__recorded_arrival_at(h, k));
  pai__json_end_array(w);
  pai__json_put_array(w, "hours");
  for (uint32_t k = 0; k < PAI__HOURS; k++) {
    pai__json_int(w, (int64_t)h->hours.arrivals[k]);
    pai__json_int(w, (int64_t)h->hours.seconds[k]);
  }
  pai__json_end_array(w);
  pai__json_put_array(w, "scores");
  for (uint32_t k = 0; k < h->nscores; k++)
    pai__json_int(w, h->scores[(h->next_score + k) % h->nscores]);
  pai__json_end_array(w);
  pai__json_put_array(w, "levels");
  for (uint32_t k = 0; k < PAI__LEVELS; k++)
    pai__json_int(w, h->levels[k]);
  pai__json_end_array(w);
  pai__json_end_object(w);
}

int pai_history_write(const pai_history *history, pai_write_cb write,
                      void *user_data, pai_error **err)
{
  pai__json_writer w;
  pai__buf text;
  int rc;

  PAI__CHECK_ARG_ERR(history != NULL && write != NULL, err);
  pai__buf_init(&text, &history->alloc);
  pai__json_writer_init(&w, &text, false);
  put_history(&w, history);
  rc = pai__json_finish(&w);
  pai__buf_char(&text, '\n');
  return pai__text_write(&text, rc, write, user_data, err);
}

/* --- reading ------------------------------------------------------------- */

typedef struct history_form {
  int version;
  pai__node alike, arrivals, hours, scores, levels;
  /* of an item */
  pai__node of, took, ended, request;
  pai_time time;
} history_form;

static const pai__field members[] = {
  PAI__NUMBER(history_form, version, VERSION, VERSION, "history",
              .needed = true),
  PAI__NODE(history_form, alike, "alike"),
  PAI__NODE(history_form, arrivals, "came"),
  PAI__NODE(history_form, hours, "hours"),
  PAI__NODE(history_form, scores, "scores"),
  PAI__NODE(history_form, levels, "levels"),
};

static const pai__field ring_members[] = {
  PAI__NODE(history_form, of, "of", .needed = true),
  PAI__NODE(history_form, took, "took", .needed = true),
  PAI__NODE(history_form, ended, "ended"),
};

static const pai__field arrival_members[] = {
  PAI__NUMBER(history_form, time, INT64_MIN, INT64_MAX, "time",
              .needed = true),
  PAI__NODE(history_form, request, "request", .needed = true),
};

typedef struct reading {
  pai__form f;
  pai_history *h;
} reading;

/* Reads the parts of a key, each with its NUL. */
static int read_key(const reading *r, pai__node list, char *key, size_t *len)
{
  pai__items x = pai__form_items(&r->f, list, "of");
  const char *part;
  pai__node item;

  *len = 0;
  if (x.rc < 0)
    return x.rc;
  if (x.count == 0 || x.count > PAI__KEY_PARTS)
    return pai__form_fail(&r->f, list, "\"of\" has one to %d strings",
                          PAI__KEY_PARTS);
  while ((item = pai__items_next(&x)) != PAI__NO_NODE) {
    int rc = pai__form_text(&r->f, item, "of", &part);

    if (rc < 0)
      return rc;
    if (strlen(part) >= PAI__KEY_BYTES - *len)
      return pai__form_fail(&r->f, item, "\"of\" is too long");
    memcpy(key + *len, part, strlen(part) + 1);
    *len += strlen(part) + 1;
  }
  return PAI_OK;
}

static int read_ring(const reading *r, pai__node n)
{
  history_form form = { 0 };
  char key[PAI__KEY_BYTES];
  pai__ring *ring;
  pai__items all = { .rc = PAI_OK }, ends = { .rc = PAI_OK };
  pai__node item;
  int64_t took, ended = PAI__UNKNOWN;
  size_t len = 0;
  int rc = pai__form_read(&r->f, n, "an item of \"alike\"", ring_members,
                          PAI__LEN(ring_members), &form);

  if (rc == PAI_OK)
    rc = read_key(r, form.of, key, &len);
  if (rc == PAI_OK) {
    all = pai__form_items(&r->f, form.took, "took");
    rc = all.rc;
  }
  if (rc == PAI_OK) {
    ends = pai__form_items(&r->f, form.ended, "ended");
    rc = ends.rc;
  }
  if (rc < 0)
    return rc;
  if (ends.count != 0 && ends.count != all.count)
    return pai__form_fail(&r->f, form.ended,
                          "\"ended\" has as many times as \"took\"");
  ring = pai__history_ring(r->h, key, len);
  if (ring == NULL)
    return pai__oom(r->f.err);
  while (rc == PAI_OK && (item = pai__items_next(&all)) != PAI__NO_NODE) {
    rc = pai__form_number(&r->f, item, "took", 0, PAI__LONGEST, &took);
    if (rc == PAI_OK && ends.count != 0)
      rc = pai__form_number(&r->f, pai__items_next(&ends), "ended",
                            -PAI__LAST_TIME, PAI__LAST_TIME, &ended);
    if (rc == PAI_OK && pai__ring_room(ring, &r->h->alloc) < 0)
      rc = pai__oom(r->f.err);
    if (rc == PAI_OK)
      pai__ring_push(ring, took, ended);
  }
  return rc;
}

static int read_arrival(const reading *r, pai__node n)
{
  history_form form = { 0 };
  pai_error *cause = NULL;
  pai__arena arena;
  pai_request q;
  int rc = pai__form_read(&r->f, n, "an item of \"came\"", arrival_members,
                          PAI__LEN(arrival_members), &form);

  if (rc < 0)
    return rc;
  pai__arena_init(&arena, &r->h->alloc);
  rc = pai__request_read(&r->f, &arena, form.request, &q, NULL);
  if (rc == PAI_OK) {
    rc = pai_history_came(r->h, &q, form.time, &cause);
    if (rc < 0)
      rc = pai__form_blame(&r->f, form.request, rc, cause);
  }
  pai__arena_dispose(&arena);
  return rc;
}

static int read_list(const reading *r, pai__node list, const char *key,
                     int (*read)(const reading *r, pai__node n))
{
  pai__items x = pai__form_items(&r->f, list, key);
  pai__node item;

  while ((item = pai__items_next(&x)) != PAI__NO_NODE)
    x.rc = read(r, item);
  return x.rc;
}

/* Reads `count` numbers, or any number of them if `count` is 0, and calls
 * `put` for each. */
static int read_numbers(const reading *r, pai__node list, const char *key,
                        uint32_t count, int64_t low, int64_t high,
                        void (*put)(pai_history *h, uint32_t i, int64_t n))
{
  pai__items x = pai__form_items(&r->f, list, key);
  pai__node item;
  uint32_t i = 0;
  int64_t n;

  if (x.rc < 0 || list == PAI__NO_NODE)
    return x.rc;
  if (count != 0 && x.count != count)
    return pai__form_fail(&r->f, list, "\"%s\" has %u numbers", key, count);
  while ((item = pai__items_next(&x)) != PAI__NO_NODE) {
    x.rc = pai__form_number(&r->f, item, key, low, high, &n);
    if (x.rc == PAI_OK)
      put(r->h, i++, n);
  }
  return x.rc;
}

/* Replaces the counts that the arrivals made. */
static void set_hour(pai_history *h, uint32_t i, int64_t n)
{
  *(i % 2 == 0 ? &h->hours.arrivals[i / 2] : &h->hours.seconds[i / 2]) =
    (uint64_t)n;
  h->hours.rest = 0;
}

static void add_score(pai_history *h, uint32_t i, int64_t n)
{
  (void)i;
  pai__history_score(h, (int32_t)n);
}

static void set_level(pai_history *h, uint32_t i, int64_t n)
{
  h->levels[i] = (int32_t)n;
}

static int read_history(const reading *r)
{
  history_form form = { 0 };
  int rc;

  if (pai__tree_type(r->f.tree, 0) != PAI__MAPPING)
    return pai__form_fail(&r->f, 0, "a history is an object");
  rc =
    pai__form_read(&r->f, 0, "a history", members, PAI__LEN(members), &form);
  if (rc == PAI_OK)
    rc = read_list(r, form.alike, "alike", read_ring);
  if (rc == PAI_OK)
    rc = read_list(r, form.arrivals, "came", read_arrival);
  if (rc == PAI_OK)
    rc = read_numbers(r, form.hours, "hours", 2 * PAI__HOURS, 0, MOST_IN_HOUR,
                      set_hour);
  if (rc == PAI_OK)
    rc = read_numbers(r, form.scores, "scores", 0, -1000, FARTHEST, add_score);
  if (rc == PAI_OK)
    rc = read_numbers(r, form.levels, "levels", PAI__LEVELS, -MOST, MOST,
                      set_level);
  return rc;
}

int pai_history_read(pai_history **out, const char *text, size_t len,
                     const pai_alloc *alloc, pai_error **err)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT, .alloc = alloc };
  reading r = { .f = { .err = err } };
  pai__tree *tree;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = pai__json_parse(&tree, text, len, &o, err);
  if (rc < 0)
    return rc;
  r.f.tree = tree;
  rc = pai_history_new(&r.h, alloc, err);
  if (rc == PAI_OK)
    rc = read_history(&r);
  pai__tree_free(tree);
  if (rc < 0)
    pai_history_free(r.h);
  else
    *out = r.h;
  return rc;
}
