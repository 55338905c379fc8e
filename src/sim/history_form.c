/*
 * history_form.c - a history as one line of JSON, and read again
 *
 *   {"history":1,"alike":[{"of":["6","ann","train-#","0"],"took":[60000000],
 *    "ended":[90000000]}],
 *    "came":[{"time":0,"request":{...}}],"hours":[12,3600,...],
 *    "scores":[912,1000],"levels":[0,-20,35]}
 *
 * Of each hour of the week is told how many came in it, and for how many
 * seconds somebody looked.  When jobs ended is left out if it is not known of
 * the oldest.  All other lists are in the order in which things
 * happened, so that what was read goes on as what was written.
 */
#include "sim/history.h"

#include "json/json.h"
#include "sched/request_form.h"

enum {
  VERSION = 1,
  FARTHEST = 1000000,
  MOST = 100000,
  MOST_IN_HOUR = 100000000
};

/* --- writing -------------------------------------------------------------- */

static void put_ring(pai__json_writer *w, const pai__map_entry *e)
{
  const pai__ring *r = e->value;

  if (r->count == 0)
    return;
  pai__json_begin_object(w);
  pai__form_put_key(w, "of");
  pai__json_begin_array(w);
  for (size_t i = 0; i < e->len; i += strlen(e->key + i) + 1)
    pai__form_put_text(w, e->key + i);
  pai__json_end_array(w);
  pai__form_put_key(w, "took");
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < r->count; i++)
    pai__json_int(w, pai__ring_at(r, i));
  pai__json_end_array(w);
  if (pai__ring_ended(r, 0) != PAI__UNKNOWN) {
    pai__form_put_key(w, "ended");
    pai__json_begin_array(w);
    for (uint32_t i = 0; i < r->count; i++)
      pai__json_int(w, pai__ring_ended(r, i) != PAI__UNKNOWN
                         ? pai__ring_ended(r, i)
                         : pai__ring_ended(r, 0));
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static void put_came(pai__json_writer *w, const pai__came *came)
{
  pai__json_begin_object(w);
  pai__form_put_key(w, "time");
  pai__json_int(w, came->time);
  pai__form_put_key(w, "request");
  pai__json_begin_object(w);
  pai__request_put(w, &came->request);
  pai__form_put_key(w, "wants");
  pai__json_begin_array(w);
  for (size_t i = 0; i < came->request.nwants; i++)
    pai__want_put(w, &came->request.wants[i]);
  pai__json_end_array(w);
  pai__json_end_object(w);
  pai__json_end_object(w);
}

static void put_history(pai__json_writer *w, const pai_history *h)
{
  const pai__map_entry *e;
  size_t i = 0;

  pai__json_begin_object(w);
  pai__form_put_key(w, "history");
  pai__json_int(w, VERSION);
  pai__form_put_key(w, "alike");
  pai__json_begin_array(w);
  while ((e = pai__map_next(&h->rings, &i)) != NULL)
    put_ring(w, e);
  pai__json_end_array(w);
  pai__form_put_key(w, "came");
  pai__json_begin_array(w);
  for (uint32_t k = 0; k < h->ncame; k++)
    put_came(w, pai__came_at(h, k));
  pai__json_end_array(w);
  pai__form_put_key(w, "hours");
  pai__json_begin_array(w);
  for (uint32_t k = 0; k < PAI__HOURS; k++) {
    pai__json_int(w, (int64_t)h->hours.came[k]);
    pai__json_int(w, (int64_t)h->hours.seconds[k]);
  }
  pai__json_end_array(w);
  pai__form_put_key(w, "scores");
  pai__json_begin_array(w);
  for (uint32_t k = 0; k < h->nscores; k++)
    pai__json_int(w, h->scores[(h->next_score + k) % h->nscores]);
  pai__json_end_array(w);
  pai__form_put_key(w, "levels");
  pai__json_begin_array(w);
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

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(history != NULL && write != NULL, err);
  pai__buf_init(&text, &history->alloc);
  pai__json_writer_init(&w, &text, false);
  put_history(&w, history);
  rc = pai__json_finish(&w);
  pai__buf_char(&text, '\n');
  if (rc < 0 || !pai__buf_ok(&text))
    rc = pai__oom(err);
  else if ((rc = write(user_data, pai__buf_text(&text), text.len)) < 0)
    (void)pai__fail(err, rc, "the history could not be written");
  pai__buf_dispose(&text);
  return rc < 0 ? rc : PAI_OK;
}

/* --- reading -------------------------------------------------------------- */

typedef struct history_form {
  int version;
  pai__node alike, came, hours, scores, levels;
  /* of an item */
  pai__node of, took, ended, request;
  pai_time time;
} history_form;

static const pai__field members[] = {
  PAI__NUMBER(history_form, version, VERSION, VERSION, "history",
              .needed = true),
  PAI__NODE(history_form, alike, "alike"),
  PAI__NODE(history_form, came, "came"),
  PAI__NODE(history_form, hours, "hours"),
  PAI__NODE(history_form, scores, "scores"),
  PAI__NODE(history_form, levels, "levels"),
};

static const pai__field ring_members[] = {
  PAI__NODE(history_form, of, "of", .needed = true),
  PAI__NODE(history_form, took, "took", .needed = true),
  PAI__NODE(history_form, ended, "ended"),
};

static const pai__field came_members[] = {
  PAI__NUMBER(history_form, time, INT64_MIN, INT64_MAX, "time",
              .needed = true),
  PAI__NODE(history_form, request, "request", .needed = true),
};

typedef struct reading {
  pai__form f;
  pai_history *h;
} reading;

/* The parts of a key, each with its NUL. */
static int read_key(const reading *r, pai__node list, char *key, size_t *len)
{
  pai__tree_walk walk;
  const char *part;
  pai__node item;
  uint32_t count;
  int rc = pai__form_list(&r->f, list, "of", &count);

  *len = 0;
  if (rc < 0)
    return rc;
  if (count == 0 || count > PAI__KEY_PARTS)
    return pai__form_fail(&r->f, list, "\"of\" has one to %d strings",
                          PAI__KEY_PARTS);
  walk = pai__tree_iter(r->f.tree, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_text(&r->f, item, "of", &part);
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
  pai__tree_walk walk, ends;
  pai__node item;
  uint32_t count, nended = 0;
  int64_t took, ended = PAI__UNKNOWN;
  size_t len = 0;
  int rc = pai__form_read(&r->f, n, "an item of \"alike\"", ring_members,
                          PAI__LEN(ring_members), &form);

  if (rc == PAI_OK)
    rc = read_key(r, form.of, key, &len);
  if (rc == PAI_OK)
    rc = pai__form_list(&r->f, form.took, "took", &count);
  if (rc == PAI_OK)
    rc = pai__form_list(&r->f, form.ended, "ended", &nended);
  if (rc < 0)
    return rc;
  if (nended != 0 && nended != count)
    return pai__form_fail(&r->f, form.ended,
                          "\"ended\" has as many times as \"took\"");
  ring = pai__history_ring(r->h, key, len);
  if (ring == NULL)
    return pai__oom(r->f.err);
  walk = pai__tree_iter(r->f.tree, form.took);
  if (nended != 0)
    ends = pai__tree_iter(r->f.tree, form.ended);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_number(&r->f, item, "took", 0, PAI__LONGEST, &took);
    if (rc == PAI_OK && nended != 0)
      rc = pai__form_number(&r->f, pai__tree_next(&ends), "ended",
                            -PAI__LAST_TIME, PAI__LAST_TIME, &ended);
    if (rc == PAI_OK && pai__ring_room(ring, &r->h->alloc) < 0)
      rc = pai__oom(r->f.err);
    if (rc == PAI_OK)
      pai__ring_push(ring, took, ended);
  }
  return rc;
}

static int read_came(const reading *r, pai__node n)
{
  history_form form = { 0 };
  pai_error *cause = NULL;
  pai__arena arena;
  pai_request q;
  int rc = pai__form_read(&r->f, n, "an item of \"came\"", came_members,
                          PAI__LEN(came_members), &form);

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

static int read_score(const reading *r, pai__node n)
{
  int64_t score;
  int rc = pai__form_number(&r->f, n, "scores", -1000, FARTHEST, &score);

  if (rc == PAI_OK)
    pai__history_score(r->h, (int32_t)score);
  return rc;
}

static int read_list(const reading *r, pai__node list, const char *key,
                     int (*read)(const reading *r, pai__node n))
{
  pai__tree_walk walk;
  pai__node item;
  uint32_t count;
  int rc = pai__form_list(&r->f, list, key, &count);

  if (rc < 0 || list == PAI__NO_NODE)
    return rc;
  walk = pai__tree_iter(r->f.tree, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read(r, item);
  return rc;
}

/* Instead of what those that came have told. */
static int read_hours(const reading *r, pai__node list)
{
  pai__hours *hours = &r->h->hours;
  pai__tree_walk walk;
  pai__node item;
  uint32_t count, i = 0;
  int64_t n;
  int rc = pai__form_list(&r->f, list, "hours", &count);

  if (rc < 0 || list == PAI__NO_NODE)
    return rc;
  if (count != 2 * PAI__HOURS)
    return pai__form_fail(&r->f, list, "\"hours\" has %d numbers",
                          2 * PAI__HOURS);
  walk = pai__tree_iter(r->f.tree, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_number(&r->f, item, "hours", 0, MOST_IN_HOUR, &n);
    if (rc == PAI_OK)
      *(i % 2 == 0 ? &hours->came[i / 2] : &hours->seconds[i / 2]) =
        (uint64_t)n;
    i++;
  }
  hours->rest = 0;
  return rc;
}

static int read_levels(const reading *r, pai__node list)
{
  pai__tree_walk walk;
  pai__node item;
  uint32_t count, i = 0;
  int64_t level;
  int rc = pai__form_list(&r->f, list, "levels", &count);

  if (rc < 0 || list == PAI__NO_NODE)
    return rc;
  if (count != PAI__LEVELS)
    return pai__form_fail(&r->f, list, "\"levels\" has %d numbers",
                          PAI__LEVELS);
  walk = pai__tree_iter(r->f.tree, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_number(&r->f, item, "levels", -MOST, MOST, &level);
    if (rc == PAI_OK)
      r->h->levels[i++] = (int32_t)level;
  }
  return rc;
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
    rc = read_list(r, form.came, "came", read_came);
  if (rc == PAI_OK)
    rc = read_hours(r, form.hours);
  if (rc == PAI_OK)
    rc = read_list(r, form.scores, "scores", read_score);
  return rc == PAI_OK ? read_levels(r, form.levels) : rc;
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
