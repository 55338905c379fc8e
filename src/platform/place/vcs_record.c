/* vcs_record.c - virtual clusters in the database: one JSON text, which is
 * written as a whole */
#include "platform/place/vcs.h"

#include "json/json.h"
#include "json/writer.h"
#include "resource/part.h"

#include <openpai/vc.h>

static const char key[] = "virtual clusters";

/* --- writing -------------------------------------------------------------- */

static void put_entry(pai__json_writer *w, const pai__vc_entry *e)
{
  pai__json_begin_object(w);
  pai__json_put_text(w, "name", e->name);
  pai__json_put_int(w, "part", e->part);
  pai__json_put_int(w, "most", e->most);
  pai__json_put_int(w, "stopped", e->stopped);
  pai__json_put_text(w, "description", e->description);
  pai__json_put_text(w, "external", e->external);
  pai__json_put_int(w, "idleWarn", e->idle_warn);
  pai__json_put_int(w, "idleStop", e->idle_stop);
  pai__json_end_object(w);
}

int pai__vcs_record(pai_platform *p)
{
  pai__json_writer w;
  pai__buf text;
  int rc;

  if (p->vcs == NULL || !p->vcs->changed)
    return PAI_OK;
  pai__buf_init(&text, &p->alloc);
  pai__json_writer_init(&w, &text, false);
  pai__json_begin_array(&w);
  for (size_t i = 0; i < p->vcs->n; i++)
    put_entry(&w, &p->vcs->list[i]);
  pai__json_end_array(&w);
  rc = pai__json_finish(&w);
  if (rc == PAI_OK)
    rc = pai__batch_put_meta(p->batch, key, pai__buf_text(&text));
  pai__buf_dispose(&text);
  p->vcs->changed = rc < 0;
  return rc;
}

/* --- reading -------------------------------------------------------------- */

static char *get_text(const pai__tree *t, pai__node of, const char *name)
{
  pai__node n = pai__tree_get(t, of, name);

  return n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__STRING
           ? (char *)pai__tree_str(t, n, NULL)
           : NULL;
}

/* Reads a number up to `most`; false: there is none. */
static bool get_number(const pai__tree *t, pai__node of, const char *name,
                       int64_t most, uint32_t *out)
{
  pai__node n = pai__tree_get(t, of, name);
  int64_t number = -1;

  if (n == PAI__NO_NODE || !pai__tree_whole(t, n, &number) || number < 0 ||
      number > most)
    return false;
  *out = (uint32_t)number;
  return true;
}

static int read_entry(pai__vcs *vcs, const pai_alloc *alloc,
                      const pai__tree *t, pai__node n)
{
  pai__vc_entry e = { .idle_warn = PAI__VC_IDLE_WARN };
  uint32_t stopped;

  if (pai__tree_type(t, n) != PAI__MAPPING)
    return PAI_EINVAL;
  e.name = get_text(t, n, "name");
  e.description = get_text(t, n, "description");
  e.external = get_text(t, n, "external");
  if (e.name == NULL || e.description == NULL || e.external == NULL ||
      !get_number(t, n, "part", PAI__WHOLE, &e.part) ||
      !get_number(t, n, "most", PAI__WHOLE, &e.most) ||
      !get_number(t, n, "stopped", 1, &stopped) || e.most < e.part)
    return PAI_EINVAL;
  e.stopped = stopped != 0;
  /* earlier versions had none of these */
  (void)get_number(t, n, "idleWarn", PAI__VC_MOST_IDLE, &e.idle_warn);
  (void)get_number(t, n, "idleStop", PAI__VC_MOST_IDLE, &e.idle_stop);
  return pai__vcs_add(vcs, alloc, &e) != NULL ? PAI_OK : PAI_ENOMEM;
}

/* All shares together must not exceed the machine. */
static int check_sum(const pai__vcs *vcs)
{
  uint64_t sum = 0;

  for (size_t i = 0; i < vcs->n; i++)
    sum += vcs->list[i].part;
  return sum <= PAI__WHOLE && vcs->n < PAI_VC_MOST ? PAI_OK : PAI_EINVAL;
}

static int read_all(pai__vcs *vcs, const pai_alloc *alloc, const char *text,
                    pai_error **err)
{
  pai__json_options options = { .alloc = alloc };
  pai__tree *t = NULL;
  pai__tree_walk walk;
  pai__node item;
  int rc = pai__json_parse(&t, text, strlen(text), &options, err);

  if (rc < 0)
    return rc;
  rc = pai__tree_type(t, 0) == PAI__SEQUENCE ? PAI_OK : PAI_EINVAL;
  walk = pai__tree_iter(t, 0);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read_entry(vcs, alloc, t, item);
  pai__tree_free(t);
  if (rc == PAI_OK)
    rc = check_sum(vcs);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  return rc < 0 ? pai__fail(err, rc, "not a list of virtual clusters")
                : PAI_OK;
}

/* Logs the text of unreadable virtual clusters, so that they can be made again,
 * and goes on without them. */
static int begin_anew(pai_platform *p, const char *text, pai_error **err)
{
  pai__log_line(
    &p->log, PAI_LOG_ERROR,
    "the virtual clusters in %s cannot be read (%s): there is only "
    "default now; make the others again, which were: %s",
    p->root, err != NULL ? pai_error_message(*err) : "", text);
  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  pai__vcs_dispose(p->vcs, &p->alloc);
  return PAI_OK;
}

int pai__vcs_load(pai_platform *p, pai_error **err)
{
  char *text = NULL;
  int rc;

  p->vcs = pai__zalloc(&p->alloc, sizeof(*p->vcs));
  if (p->vcs == NULL)
    return pai__oom(err);
  rc = pai__store_meta(p->store, &text, key, err);
  if (rc == PAI_OK && text != NULL) {
    rc = read_all(p->vcs, &p->alloc, text, err);
    if (rc < 0 && rc != PAI_ENOMEM)
      rc = begin_anew(p, text, err);
  }
  pai__strfree(&p->alloc, text);
  return rc;
}
