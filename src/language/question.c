/* question.c - what only the cluster knows: its names, and how long a job
 * would wait there */
#include "base/arena.h"
#include "json/json.h"
#include "language/language.h"

/* --- names -------------------------------------------------------------------- */

void pai__language_ask_names(pai_language *l)
{
  if (l->o.ask == NULL || l->names.known || l->names.question != 0)
    return;
  l->names.question = ++l->numbers;
  l->o.ask(l->o.user_data, l->names.question, PAI_LANGUAGE_NAMES, "", 0);
}

const pai__cluster_names *pai__language_cluster(const pai_language *l)
{
  return l->names.known ? &l->names.lists : NULL;
}

static void drop_names(pai_language *l)
{
  pai__arena_dispose(&l->names.arena);
  pai__arena_init(&l->names.arena, &l->alloc);
  l->names.known = false;
  l->names.lists = (pai__cluster_names){ 0 };
}

static int read_list(pai_language *l, const char *const **out,
                     const pai__tree *t, const char *key)
{
  pai__node list = pai__tree_get(t, 0, key), n;
  const char **names;
  pai__tree_walk walk;
  size_t count = 0;

  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return PAI_OK;
  names = pai__arena_zalloc(&l->names.arena, pai__tree_count(t, list) + 1,
                            sizeof(*names));
  if (names == NULL)
    return PAI_ENOMEM;
  walk = pai__tree_iter(t, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__bytes s = pai__language_bytes(t, n);

    if (s.len == 0)
      continue;
    names[count] = pai__arena_strndup(&l->names.arena, s.data, s.len);
    if (names[count++] == NULL)
      return PAI_ENOMEM;
  }
  *out = names;
  return PAI_OK;
}

static int take_names(pai_language *l, const pai__tree *t, pai_error **err)
{
  pai__cluster_names *to = &l->names.lists;

  drop_names(l);
  l->names.known = true;
  if (read_list(l, &to->virtual_clusters, t, "virtualClusters") < 0 ||
      read_list(l, &to->skus, t, "skus") < 0 ||
      read_list(l, &to->storages, t, "storages") < 0 ||
      read_list(l, &to->images, t, "images") < 0) {
    drop_names(l);
    return pai__oom(err);
  }
  return PAI_OK;
}

/* --- estimates ------------------------------------------------------------------ */

void pai__language_drop_question(pai_language *l, pai__language_doc *doc)
{
  uint64_t question = doc->estimate.question;

  doc->estimate.question = 0;
  doc->estimate.stamp = 0;
  if (question != 0 && l->o.cancel != NULL)
    l->o.cancel(l->o.user_data, question);
}

const char *pai__language_estimate(pai_language *l, pai__language_doc *doc)
{
  pai__language_wait *e = &doc->estimate;

  if (l->o.ask == NULL || doc->kind != PAI__LANGUAGE_JOB || doc->lost)
    return NULL;
  if (e->stamp != doc->stamp) {
    pai__language_drop_question(l, doc);
    e->stamp = doc->stamp;
    e->question = ++l->numbers;
    l->o.ask(l->o.user_data, e->question, PAI_LANGUAGE_ESTIMATE,
             pai__buf_text(&doc->text), doc->text.len);
  }
  return e->stamp == doc->stamp && e->question == 0 ? e->text : NULL;
}

static void put_duration(pai__buf *out, int64_t seconds)
{
  if (seconds < 90)
    pai__buf_printf(out, "%lld s", (long long)seconds);
  else if (seconds < 90 * 60)
    pai__buf_printf(out, "%lld min", (long long)((seconds + 30) / 60));
  else if (seconds < (int64_t)48 * 3600)
    pai__buf_printf(out, "%lld h", (long long)((seconds + 1800) / 3600));
  else
    pai__buf_printf(out, "%lld days", (long long)((seconds + 43200) / 86400));
}

static bool wait_of(const pai__tree *t, pai__node n, int64_t *seconds)
{
  pai__node wait = pai__tree_get(t, n, "wait");

  return wait != PAI__NO_NODE && pai__tree_whole(t, wait, seconds) &&
         *seconds >= 0;
}

/* Writes "≈ 40 min wait; 12 min with gpu: 4"; nothing if the answer has
 * neither a wait nor a text. */
static void put_estimate(pai__buf *out, const pai__tree *t)
{
  pai__node list = pai__tree_get(t, 0, "better"), n;
  pai__tree_walk walk;
  int64_t seconds;

  if (wait_of(t, 0, &seconds) && seconds == 0) {
    pai__buf_str(out, "starts at once");
    return;
  }
  if (!wait_of(t, 0, &seconds)) {
    pai__buf_str(out, pai__tree_look_text(t, 0, "text", ""));
    return;
  }
  pai__buf_str(out, "\xe2\x89\x88 ");
  put_duration(out, seconds);
  pai__buf_str(out, " wait");
  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (wait_of(t, n, &seconds)) {
      pai__buf_str(out, "; ");
      put_duration(out, seconds);
      pai__buf_printf(out, " with %s",
                      pai__tree_look_text(t, n, "change", "a change"));
    }
}

static int take_estimate(pai_language *l, pai__language_doc *doc,
                         const pai__tree *t, pai_error **err)
{
  pai__buf text;

  pai__strfree(&l->alloc, doc->estimate.text);
  doc->estimate.text = NULL;
  if (t == NULL)
    return PAI_OK;
  pai__buf_init(&text, &l->alloc);
  put_estimate(&text, t);
  if (!pai__buf_ok(&text)) {
    pai__buf_dispose(&text);
    return pai__oom(err);
  }
  if (text.len > 0)
    doc->estimate.text = pai__buf_take(&text);
  pai__buf_dispose(&text);
  return PAI_OK;
}

/* Tells the editor to ask again for what shows estimates. */
static int refresh(pai_language *l, pai_error **err)
{
  int rc = PAI_OK;

  if (l->state != PAI__LANGUAGE_RUNNING)
    return PAI_OK;
  if (l->client.refreshes_hints)
    rc = pai__language_request_refresh(l, "workspace/inlayHint/refresh", err);
  if (rc == PAI_OK && l->client.refreshes_lenses)
    rc = pai__language_request_refresh(l, "workspace/codeLens/refresh", err);
  return rc;
}

/* --- answers --------------------------------------------------------------------- */

static pai__language_doc *find_asked(const pai_language *l, uint64_t question)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&l->docs.by_uri, &i)) != NULL;) {
    pai__language_doc *doc = e->value;

    if (doc->estimate.question == question)
      return doc;
  }
  return NULL;
}

static int read_answer(pai_language *l, pai__tree **out, const char *json,
                       size_t len, pai_error **err)
{
  const pai__json_options options = { .alloc = &l->alloc };
  int rc;

  *out = NULL;
  if (json == NULL)
    return PAI_OK;
  rc = pai__json_parse(out, json, len, &options, err);
  if (rc == PAI_OK && (*out)->nodes[0].type != PAI__MAPPING) {
    pai__tree_free(*out);
    *out = NULL;
    rc = pai__fail(err, PAI_EINVAL, "an answer must be an object");
  }
  return rc;
}

int pai__language_answered(pai_language *l, uint64_t question,
                           const char *json, size_t len, pai_error **err)
{
  bool names = question == l->names.question;
  pai__language_doc *doc = names ? NULL : find_asked(l, question);
  pai__tree *t;
  int rc, done = PAI_OK;

  if (question == 0 || (!names && doc == NULL))
    return PAI_OK; /* of a document that was closed */
  rc = read_answer(l, &t, json, len, err);
  if (names)
    l->names.question = 0;
  else
    doc->estimate.question = 0;
  if (names && t != NULL)
    done = take_names(l, t, err);
  else if (!names)
    done = take_estimate(l, doc, t, err);
  pai__tree_free(t);
  if (rc == PAI_OK)
    rc = done;
  return rc == PAI_OK && !names ? refresh(l, err) : rc;
}

int pai__language_forgotten(pai_language *l, pai_error **err)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&l->docs.by_uri, &i)) != NULL;)
    pai__language_drop_question(l, e->value);
  drop_names(l);
  l->names.question = 0;
  if (l->state == PAI__LANGUAGE_RUNNING)
    pai__language_ask_names(l);
  return refresh(l, err);
}
