/* count.c - stars and uses of items */
#include "market/inside.h"

/* Finds the item, and copies its counts. */
static int begin(pai__market_item **item, pai__market_item_count *count,
                 const pai_market *m, const pai_market_viewer *viewer,
                 pai_market_viewer *v, const char *id, pai_error **err)
{
  int rc;

  PAI__CHECK_ARG_ERR(id != NULL, err);
  rc = pai__viewer_in(v, m, viewer, err);
  if (rc == PAI_OK)
    rc = pai__market_item_visible(item, m, v, id, err);
  if (rc != PAI_OK)
    return rc;
  *count = (pai__market_item_count){ .uses = (*item)->count.uses };
  if (pai__strings_copy(&m->alloc, &count->stars, &(*item)->count.stars) ==
      PAI_OK)
    return PAI_OK;
  pai__strings_free(&m->alloc, &count->stars);
  return pai__oom(err);
}

int pai_market_star(pai_market *m, const pai_market_viewer *viewer,
                    const char *id, int on, pai_error **err)
{
  pai__market_item_count count;
  pai_market_viewer v;
  pai__market_item *item = NULL;
  int rc = begin(&item, &count, m, viewer, &v, id, err);

  if (rc != PAI_OK)
    return rc;
  if (pai__strings_has(&count.stars, v.user) == (on != 0)) {
    pai__strings_free(&m->alloc, &count.stars);
    return PAI_OK;
  }
  if (on == 0) {
    pai__strings_drop(&m->alloc, &count.stars, v.user);
  } else if (pai__strings_push(&m->alloc, &count.stars, v.user) < 0) {
    pai__strings_free(&m->alloc, &count.stars);
    return pai__oom(err);
  }
  return pai__market_item_recount(m, item, count, err);
}

int pai_market_use(pai_market *m, const pai_market_viewer *viewer,
                   const char *id, pai_error **err)
{
  pai__market_item_count count;
  pai_market_viewer v;
  pai__market_item *item = NULL;
  int rc = begin(&item, &count, m, viewer, &v, id, err);

  if (rc != PAI_OK)
    return rc;
  count.uses++;
  return pai__market_item_recount(m, item, count, err);
}
