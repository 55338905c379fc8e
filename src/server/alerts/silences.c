/* silences.c - silences: added, found, matched, written */
#include "server/alerts/silences.h"

#include <string.h>

#define DAY (INT64_C(86400) * 1000000)
enum { MOST_COMMENT = 1000 };

void pai__alert_silences_init(pai__alert_silences *s, const pai_alloc *alloc)
{
  *s = (pai__alert_silences){ .alloc = *alloc };
}

static void free_one(const pai_alloc *alloc, pai__alert_silence *one)
{
  pai__alert_matchers_dispose(&one->matchers);
  pai__strfree(alloc, one->by);
  pai__strfree(alloc, one->comment);
  pai__free(alloc, one, sizeof(*one));
}

void pai__alert_silences_dispose(pai__alert_silences *s)
{
  for (size_t i = 0; i < s->n; i++)
    free_one(&s->alloc, s->at[i]);
  pai__free(&s->alloc, s->at, s->cap * sizeof(*s->at));
  s->at = NULL;
  s->n = s->cap = 0;
}

/* --- reading ------------------------------------------------------------- */

static int read_matchers(pai__alert_silence *out, const pai__tree *t,
                         pai__node of, pai_error **err)
{
  pai__node list = pai__tree_get(t, of, "matchers"), item;
  pai__tree_walk w;
  int rc = PAI_OK;

  if (!pai__tree_is(t, list, PAI__SEQUENCE) || pai__tree_size(t, list) == 0) {
    (void)pai__fail(err, PAI_EINVAL, "a silence has no matchers");
    pai__error_help(err, "name at least one label, such as alertname=NAME");
    return PAI_EINVAL;
  }
  w = pai__tree_iter(t, list);
  while (rc == PAI_OK && (item = pai__tree_next(&w)) != PAI__NO_NODE) {
    const char *name = pai__tree_look_text(t, item, "name", NULL),
               *value = pai__tree_look_text(t, item, "value", NULL);
    pai__node equal = pai__tree_get(t, item, "isEqual");

    if (name == NULL || value == NULL)
      return pai__fail(err, PAI_EINVAL,
                       "a matcher needs \"name\" and \"value\"");
    rc = pai__alert_matchers_add(
      &out->matchers, name, strlen(name), value, strlen(value),
      equal != PAI__NO_NODE && !pai__tree_is_true(t, equal),
      pai__tree_is_true(t, pai__tree_get(t, item, "isRegex")), err);
  }
  return rc;
}

static int read_times(pai__alert_silence *out, const pai__tree *t,
                      pai__node of, pai_time now, pai_error **err)
{
  const char *starts = pai__tree_look_text(t, of, "startsAt", NULL),
             *ends = pai__tree_look_text(t, of, "endsAt", NULL),
             *updated = pai__tree_look_text(t, of, "updatedAt", NULL);

  out->starts = out->updated = now;
  if ((starts != NULL && !pai__alert_time_read(&out->starts, starts)) ||
      ends == NULL || !pai__alert_time_read(&out->ends, ends)) {
    (void)pai__fail(err, PAI_EINVAL, "\"endsAt\" or \"startsAt\" is no time");
    pai__error_help(err, "write 2026-11-29T10:00:00Z");
    return PAI_EINVAL;
  }
  if (updated != NULL)
    (void)pai__alert_time_read(&out->updated, updated);
  return out->ends > out->starts
           ? PAI_OK
           : pai__fail(err, PAI_EINVAL, "a silence ends before it begins");
}

static int read_one(pai__alert_silence *out, const pai_alloc *alloc,
                    const pai__tree *t, pai__node of, const char *by,
                    pai_time now, pai_error **err)
{
  const char *comment = pai__tree_look_text(t, of, "comment", "");
  int rc = read_matchers(out, t, of, err);

  if (rc == PAI_OK)
    rc = read_times(out, t, of, now, err);
  if (rc < 0)
    return rc;
  if (strlen(comment) > MOST_COMMENT)
    return pai__fail(err, PAI_ELIMIT, "a comment has more than %d bytes",
                     MOST_COMMENT);
  if (by == NULL)
    by = pai__tree_look_text(t, of, "createdBy", "");
  out->by = pai__strdup(alloc, by);
  out->comment = pai__strdup(alloc, comment);
  return out->by != NULL && out->comment != NULL ? PAI_OK : pai__oom(err);
}

int pai__alert_silences_add(pai__alert_silences *s, pai__alert_silence **out,
                            const pai__tree *t, pai__node of, const char *id,
                            const char *by, pai_time now, pai_error **err)
{
  pai__alert_silence *new;
  int rc;

  *out = NULL;
  if (s->n >= PAI__SILENCES) {
    (void)pai__fail(err, PAI_ELIMIT, "there are %d silences already",
                    PAI__SILENCES);
    pai__error_help(err, "end some: 'openpai alert silences' lists them");
    return PAI_ELIMIT;
  }
  if (PAI__VEC_ROOM(&s->alloc, s->at, s->n, s->cap) < 0)
    return pai__oom(err);
  new = pai__zalloc(&s->alloc, sizeof(*new));
  if (new == NULL)
    return pai__oom(err);
  pai__alert_matchers_init(&new->matchers, &s->alloc);
  if (id == NULL)
    id = pai__tree_look_text(t, of, "id", "");
  memcpy(new->id, id, strlen(id) < 32 ? strlen(id) : 32);
  rc = read_one(new, &s->alloc, t, of, by, now, err);
  if (rc < 0) {
    free_one(&s->alloc, new);
    return rc;
  }
  s->at[s->n++] = *out = new;
  return PAI_OK;
}

/* --- changes ------------------------------------------------------------- */

void pai__alert_silences_remove(pai__alert_silences *s,
                                pai__alert_silence *one)
{
  size_t n = 0;

  for (size_t i = 0; i < s->n; i++)
    if (s->at[i] != one)
      s->at[n++] = s->at[i];
  s->n = n;
  free_one(&s->alloc, one);
}

pai__alert_silence *pai__alert_silences_find(const pai__alert_silences *s,
                                             const char *id)
{
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->at[i]->id, id) == 0)
      return s->at[i];
  return NULL;
}

bool pai__alert_silences_tidy(pai__alert_silences *s, pai_time now)
{
  size_t n = s->n;

  for (size_t i = s->n; i-- > 0;)
    if (now - s->at[i]->ends > DAY)
      pai__alert_silences_remove(s, s->at[i]);
  return s->n < n;
}

/* --- use ----------------------------------------------------------------- */

const pai__alert_silence *pai__alert_silences_match(
  const pai__alert_silences *s, const pai__alert_silence *from,
  pai__alert_labels labels, pai_time now)
{
  for (size_t i = 0; i < s->n; i++) {
    const pai__alert_silence *one = s->at[i];

    if (from != NULL)
      from = from == one ? NULL : from;
    else if (one->starts <= now && now < one->ends &&
             pai__alert_matchers_match(&one->matchers, labels))
      return one;
  }
  return NULL;
}

void pai__alert_silence_write(pai__json_writer *w, const pai__alert_silence *s,
                              pai_time now)
{
  pai__json_begin_object(w);
  pai__json_put_text(w, "id", s->id);
  pai__json_put_array(w, "matchers");
  for (size_t i = 0; i < s->matchers.n; i++) {
    const pai__alert_matcher *m = &s->matchers.at[i];

    pai__json_write(w, "{name:s,value:s,isRegex:b,isEqual:b}", m->name,
                    m->value, m->regex != NULL, !m->negative);
  }
  pai__json_end_array(w);
  pai__alert_time_put(w, "startsAt", s->starts);
  pai__alert_time_put(w, "endsAt", s->ends);
  pai__alert_time_put(w, "updatedAt", s->updated);
  pai__json_write(w, "createdBy:s,comment:s,status:{state:s}", s->by,
                  s->comment,
                  now >= s->ends    ? "expired"
                  : now < s->starts ? "pending"
                                    : "active");
  pai__json_end_object(w);
}
