/* hived.c - HiveD as a scheduler extender: events and requests */
#include "shared.h"

#include <stdlib.h>

struct HiveD {
  pai_cluster *cluster; /* the extender borrows it */
  pai_hived_extender *extender;
  pthread_mutex_t owner; /* one thread at a time */
};

static bool take(HiveD *h, failure *f)
{
  return facade_lock(&h->owner, "HiveD is in use by another thread", f);
}

/* --- life ------------------------------------------------------------------ */

void facade_hived_free(HiveD *h)
{
  pai_hived_extender_free(h->extender);
  pai_cluster_free(h->cluster);
  (void)pthread_mutex_destroy(&h->owner);
  free(h);
}

HiveD *facade_hived_parse(const char *text, size_t len, failure *f)
{
  Cluster *cluster = facade_cluster_parse(text, len, "hived", f);
  HiveD *h;

  if (cluster == NULL)
    return NULL;
  h = calloc(1, sizeof(*h));
  if (h == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    pai_cluster_free(cluster);
    return NULL;
  }
  (void)pthread_mutex_init(&h->owner, NULL);
  h->cluster = cluster;
  f->code = pai_hived_extender_new(&h->extender, cluster, NULL, &f->err);
  if (f->code == PAI_OK)
    return h;
  facade_hived_free(h);
  return NULL;
}

/* --- events and requests --------------------------------------------------- */

void facade_hived_tell(HiveD *h, const char *text, size_t len, int64_t now,
                       failure *f)
{
  if (!take(h, f))
    return;
  f->code = pai_hived_extender_event(h->extender, text, len, now, &f->err);
  facade_unlock(&h->owner);
}

static listing put_answer(const pai_hived_answer *a, failure *f)
{
  json j;

  json_start(&j);
  json_begin(&j, NULL, '{');
  json_number(&j, "status", a->status);
  json_text(&j, "content_type", a->content_type);
  json_text(&j, "body", a->body);
  json_text(&j, "location", a->location);
  json_number(&j, "hold_ms", a->hold_ms);
  if (a->bind != PAI_HIVED_BIND_NOTHING) {
    json_begin(&j, "binding", '{');
    json_text(&j, "uid", a->bind_uid);
    json_text(&j, "path", a->bind_path);
    json_text(&j, "body", a->bind_body);
    json_bool(&j, "first", a->bind == PAI_HIVED_BIND_FIRST);
    json_end(&j, '}');
  }
  json_end(&j, '}');
  return json_finish(&j, f);
}

listing facade_hived_request(HiveD *h, const char *method, const char *target,
                             const char *text, size_t len, int64_t now,
                             failure *f)
{
  pai_hived_request request = {
    sizeof(request), method, target, text, len, now, NULL, NULL
  };
  pai_hived_answer answer = { .struct_size = sizeof(answer) };
  listing l = { { NULL, 0 } };

  if (!take(h, f))
    return l;
  f->code =
    pai_hived_extender_request(h->extender, &request, &answer, &f->err);
  if (f->code == PAI_OK)
    l = put_answer(&answer, f);
  facade_unlock(&h->owner);
  return l;
}

listing facade_hived_unbound(HiveD *h, const char *uid, const char *why,
                             failure *f)
{
  pai_hived_answer answer = { .struct_size = sizeof(answer) };
  listing l = { { NULL, 0 } };

  if (!take(h, f))
    return l;
  f->code =
    pai_hived_extender_unbound(h->extender, uid, why, &answer, &f->err);
  if (f->code == PAI_OK)
    l = put_answer(&answer, f);
  facade_unlock(&h->owner);
  return l;
}
