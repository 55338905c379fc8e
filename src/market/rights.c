/* rights.c - who may see and change an item */
#include "market/inside.h"

#include <stdio.h>

int pai__viewer_in(pai_market_viewer *out, const pai_market *m,
                   const pai_market_viewer *viewer, pai_error **err)
{
  int rc;

  PAI__CHECK_OBJECT(m, err);
  rc = PAI__COPY_IN(out, viewer, pai_market_viewer, admin);
  if (rc < 0)
    return pai__fail_struct(err, rc, viewer, "pai_market_viewer");
  return out->user != NULL
           ? PAI_OK
           : pai__fail(err, PAI_EINVAL, "pai_market_viewer: no user");
}

int pai__forbidden(pai_error **err, const char *fmt, ...)
{
  char text[512];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  (void)pai__fail(err, PAI_EPERM, "%s", text);
  return pai__as(err, PAI_EPERM, 403, "ForbiddenUserError");
}

int pai__too_much(pai_error **err, const char *fmt, ...)
{
  char text[512];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  (void)pai__fail(err, PAI_ELIMIT, "%s", text);
  return pai__as(err, PAI_ELIMIT, 403, "NoEnoughQuotaError");
}

static bool is_own(const pai_market *m, const pai_market_viewer *v,
                   const pai__market_item *item)
{
  return strcmp(v->user, item->author) == 0 &&
         (item->author_since == 0 ||
          item->author_since == pai__accounts_since(m->accounts, v->user));
}

bool pai__market_item_may_see(const pai_market *m, const pai_market_viewer *v,
                              const pai__market_item *item)
{
  const pai__strings *groups = &item->list[PAI__ITEM_GROUPS];

  if (v->admin != 0 || item->is_public || is_own(m, v, item))
    return true;
  for (size_t i = 0; !item->is_private && i < groups->n; i++)
    if (pai__accounts_is_member(m->accounts, v->user, groups->at[i]))
      return true;
  return false;
}

bool pai__market_item_may_change(const pai_market *m,
                                 const pai_market_viewer *v,
                                 const pai__market_item *item)
{
  return v->admin != 0 ||
         (is_own(m, v, item) &&
          !pai__strings_has(&item->list[PAI__ITEM_CATEGORIES], PAI__OFFICIAL));
}

/* Items that the viewer may not see do not exist. */
int pai__market_item_visible(pai__market_item **out, const pai_market *m,
                             const pai_market_viewer *v, const char *uid,
                             pai_error **err)
{
  *out = pai__market_item_find(m, uid);
  if (*out != NULL && pai__market_item_may_see(m, v, *out))
    return PAI_OK;
  *out = NULL;
  (void)pai__fail(err, PAI_ENOTFOUND, "Item %.64s is not found.", uid);
  return pai__as(err, PAI_ENOTFOUND, 404, "NoItemError");
}

int pai__market_item_changeable(pai__market_item **out, const pai_market *m,
                                const pai_market_viewer *v, const char *uid,
                                pai_error **err)
{
  int rc = pai__market_item_visible(out, m, v, uid, err);

  if (*out == NULL || pai__market_item_may_change(m, v, *out))
    return rc;
  return pai__forbidden(err,
                        is_own(m, v, *out)
                          ? "Item %.64s is an official example: only "
                            "administrators may change it."
                          : "Item %.64s belongs to another user.",
                        uid);
}

int pai__check_category(const pai_market_viewer *v, const char *name,
                        pai_error **err)
{
  return v->admin != 0 || strcmp(name, PAI__OFFICIAL) != 0
           ? PAI_OK
           : pai__forbidden(err, "Only administrators may use the category "
                                 "\"" PAI__OFFICIAL "\".");
}
