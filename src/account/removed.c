/*
 * removed.c - removed users and the new owners of their jobs
 *
 * Jobs keep the name of the user who submitted them.  A new user of that name
 * owns no job that is older than the removal.
 */
#include "account/inside.h"

void pai__account_removed_free(pai_accounts *a)
{
  for (size_t i = 0; i < a->nremoved; i++) {
    pai__strfree(&a->alloc, a->removed[i].name);
    pai__strfree(&a->alloc, a->removed[i].heir);
  }
  pai__free(&a->alloc, a->removed, a->removed_cap * sizeof(*a->removed));
  a->removed = NULL;
  a->nremoved = a->removed_cap = 0;
}

int pai__account_removed_make(pai__account_removed *out, pai_accounts *a,
                              const char *name, uint64_t job, const char *heir)
{
  *out = (pai__account_removed){ .job = job };
  if (pai__set_text(&a->alloc, &out->name, name) == PAI_OK &&
      pai__set_text(&a->alloc, &out->heir, heir) == PAI_OK &&
      PAI__VEC_ROOM(&a->alloc, a->removed, a->nremoved, a->removed_cap) >= 0)
    return PAI_OK;
  pai__account_removed_drop(a, out);
  return PAI_ENOMEM;
}

void pai__account_removed_drop(pai_accounts *a, pai__account_removed *removed)
{
  pai__strfree(&a->alloc, removed->name);
  pai__strfree(&a->alloc, removed->heir);
  *removed = (pai__account_removed){ .job = 0 };
}

int pai__account_removed_add(pai_accounts *a, const pai__removed_user_row *row)
{
  pai__account_removed removed;
  int rc =
    pai__account_removed_make(&removed, a, row->name, row->job, row->heir);

  if (rc == PAI_OK)
    a->removed[a->nremoved++] = removed;
  return rc;
}

const char *pai_accounts_owner(const pai_accounts *a, const char *user,
                               uint64_t job)
{
  bool handed = false; /* from then on each later removal of the heir counts */

  if (a == NULL)
    return user;
  for (size_t i = 0; user != NULL && i < a->nremoved; i++)
    if ((handed || job <= a->removed[i].job) &&
        strcmp(a->removed[i].name, user) == 0) {
      user = a->removed[i].heir;
      handed = true;
    }
  return user;
}

unsigned pai__accounts_before(const pai_accounts *a, const char *user,
                              uint64_t job)
{
  unsigned n = 0;

  for (size_t i = 0; a != NULL && i < a->nremoved; i++)
    n += a->removed[i].job < job && strcmp(a->removed[i].name, user) == 0;
  return n;
}
