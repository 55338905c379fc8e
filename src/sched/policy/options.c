/* options.c - options of built-in policies: reading them, and the slots of the
 * policy table */
#include "sched/policy/waiters.h"

#include "base/buf.h"
#include "json/json.h"

const char *const pai__place_words[] = { [0] = "",
                                         [PAI_PLACE_PACK] = "pack",
                                         [PAI_PLACE_SPREAD] = "spread",
                                         [PAI_PLACE_TOPO] = "topo",
                                         [PAI_PLACE_FIRST] = "first",
                                         [PAI_PLACE_SCORE] = "score",
                                         NULL };

static int read_all(const pai__form *f, const pai__plain_type *type, void *out)
{
  return pai__tree_type(f->tree, 0) == PAI__MAPPING
           ? pai__form_change(f, 0, "the policy", type->options,
                              type->noptions, out)
           : pai__form_fail(f, 0, "options of a policy are a JSON object");
}

int pai__options_read(const pai_policy_host *host, const char *text,
                      const pai__plain_type *type, void *out)
{
  pai__json_options how = { .alloc = &host->sched->alloc };
  pai_error *err = NULL;
  pai__tree *tree;
  pai__buf why;
  int rc = pai__json_parse(&tree, text, strlen(text), &how, &err);

  if (rc == PAI_OK) {
    rc = read_all(&(pai__form){ tree, &err, "option " }, type, out);
    pai__tree_free(tree);
  }
  if (rc == PAI_OK)
    return PAI_OK;
  pai__buf_init(&why, &host->sched->alloc);
  pai__buf_str(&why, pai_error_message(err));
  if (pai_error_help(err) != NULL)
    pai__buf_printf(&why, "; %s", pai_error_help(err));
  rc = host->give_up(host, rc, pai__buf_text(&why));
  pai__buf_dispose(&why);
  pai_error_free(err);
  return rc;
}

/* --- slots of built-in policies ------------------------------------------- */

static pai__plain *copy_state(const pai__plain_type *type, const void *from,
                              const pai_sched *s)
{
  pai__plain *p = pai__zalloc(&s->alloc, type->size);

  if (p == NULL)
    return NULL;
  memcpy(p, from, type->size);
  p->alloc = s->alloc;
  p->type = type;
  pai__waiters_init(&p->waiters, (enum pai__alike)type->alike);
  return p;
}

void pai__plain_close(void *state)
{
  pai__plain *p = state;
  pai_alloc alloc;

  if (p == NULL)
    return;
  alloc = p->alloc;
  if (p->type->end != NULL)
    p->type->end(p);
  pai__waiters_dispose(&p->waiters, &alloc);
  pai__free(&alloc, p, p->type->size);
}

/* `saved` is what save() wrote, or NULL if no snapshot is loaded. */
static int make(void **state, const pai__plain_type *type,
                const pai_policy_host *host, const char *options,
                const char *saved, size_t len)
{
  pai_sched *s = host->sched;
  pai__plain *p = copy_state(type, type->defaults, s);
  int rc;

  if (p == NULL)
    return PAI_ENOMEM;
  rc = pai__options_read(host, options, type, p);
  if (rc < 0) {
    pai__waiters_dispose(&p->waiters, &s->alloc);
    pai__free(&s->alloc, p, type->size);
    return rc;
  }
  s->terms.lends = !p->shares;
  s->terms.reclaim = p->reclaim ? (uint8_t)p->place : 0;
  pai__policy_reserves(s, p->reserve_after, p->place, type->ranked);
  if (type->begin != NULL)
    rc = type->begin(p, host, options, saved != NULL);
  if (rc == PAI_OK && saved != NULL && type->load != NULL)
    rc = type->load(p, host, saved, len);
  if (rc < 0)
    pai__plain_close(p);
  else
    *state = p;
  return rc;
}

int pai__plain_open(void **state, void *data, const pai_policy_host *host,
                    const pai_cluster *cluster, const char *options)
{
  (void)cluster;
  return make(state, data, host, options, NULL, 0);
}

int pai__plain_load(void **state, void *data, const pai_policy_host *host,
                    const pai_cluster *cluster, const char *options,
                    const char *saved, size_t len)
{
  (void)cluster;
  return make(state, data, host, options, saved, len);
}

int pai__plain_clone(void **copy, const void *state, void *data,
                     const pai_policy_host *host)
{
  const pai__plain_type *type = data;
  pai__plain *p = copy_state(type, state, host->sched);
  int rc = p != NULL ? PAI_OK : PAI_ENOMEM;

  if (rc == PAI_OK && type->copy != NULL)
    rc = type->copy(p, state, host);
  if (rc < 0)
    pai__plain_close(p);
  else
    *copy = p;
  return rc;
}

int pai__plain_decide(void *state, void *data, const pai_policy_host *host)
{
  return ((const pai__plain_type *)data)->decide(state, host->sched);
}

int pai__plain_event(void *state, void *data, const pai_policy_host *host,
                     const pai_sched_event *event)
{
  const pai__plain_type *type = data;

  if (type->alike != PAI__ALIKE_NOT)
    pai__waiters_event(&((pai__plain *)state)->waiters, host->sched, event);
  return type->event != NULL ? type->event(state, host->sched, event) : PAI_OK;
}

int pai__plain_save(const void *state, void *data, pai_write_cb write,
                    void *user_data)
{
  const pai__plain_type *type = data;

  return type->save != NULL ? type->save(state, write, user_data)
                            : write(user_data, "null", 4);
}
