/*
 * gone.c - users who were removed: whose their jobs are since
 *
 * Jobs keep the name of the user who submitted them.  Another user of the same
 * name is not that user: of jobs that are older than the removal nothing is
 * the new one's.
 */
#include "account/inside.h"

void pai__gone_free(pai_accounts *a)
{
  for (size_t i = 0; i < a->ngone; i++) {
    pai__strfree(&a->alloc, a->gone[i].name);
    pai__strfree(&a->alloc, a->gone[i].heir);
  }
  pai__free(&a->alloc, a->gone, a->gone_cap * sizeof(*a->gone));
  a->gone = NULL;
  a->ngone = a->gone_cap = 0;
}

int pai__gone_make(pai__gone *out, pai_accounts *a, const char *name,
                   uint64_t job, const char *heir)
{
  *out = (pai__gone){ .job = job };
  if (pai__set_text(&a->alloc, &out->name, name) == PAI_OK &&
      pai__set_text(&a->alloc, &out->heir, heir) == PAI_OK &&
      PAI__VEC_ROOM(&a->alloc, a->gone, a->ngone, a->gone_cap) >= 0)
    return PAI_OK;
  pai__gone_drop(a, out);
  return PAI_ENOMEM;
}

void pai__gone_drop(pai_accounts *a, pai__gone *gone)
{
  pai__strfree(&a->alloc, gone->name);
  pai__strfree(&a->alloc, gone->heir);
  *gone = (pai__gone){ .job = 0 };
}

int pai__gone_add(pai_accounts *a, const pai__gone_row *row)
{
  pai__gone gone;
  int rc = pai__gone_make(&gone, a, row->name, row->job, row->heir);

  if (rc == PAI_OK)
    a->gone[a->ngone++] = gone;
  return rc;
}

const char *pai_accounts_owner(const pai_accounts *a, const char *user,
                               uint64_t job)
{
  bool handed = false; /* then each later removal of the heir counts */

  if (a == NULL)
    return user;
  for (size_t i = 0; user != NULL && i < a->ngone; i++)
    if ((handed || job <= a->gone[i].job) &&
        strcmp(a->gone[i].name, user) == 0) {
      user = a->gone[i].heir;
      handed = true;
    }
  return user;
}

unsigned pai__accounts_before(const pai_accounts *a, const char *user,
                              uint64_t job)
{
  unsigned n = 0;

  for (size_t i = 0; a != NULL && i < a->ngone; i++)
    n += a->gone[i].job < job && strcmp(a->gone[i].name, user) == 0;
  return n;
}
