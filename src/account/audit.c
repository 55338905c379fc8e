/* audit.c - the audit log: who changed what */
#include "account/inside.h"

enum { USUAL_PAGE = 100, LARGEST_PAGE = 1000, LONGEST = 512 };

/* Copies a text of a client, cut to the largest length. */
static char *cut(pai_accounts *a, const char *text)
{
  size_t len = 0;

  if (text == NULL)
    return NULL;
  while (len < LONGEST && text[len] != '\0')
    len++;
  return pai__strndup(&a->alloc, text, len);
}

int pai_accounts_note(pai_accounts *a, const char *user, const char *from,
                      const char *what, int status)
{
  pai__audit_row row = { 0 };
  char *who, *peer, *path;
  int rc = PAI_ENOMEM;

  PAI__CHECK_ARG(a != NULL && what != NULL);
  PAI__CHECK_PROCESS(a, NULL);
  row.user = who = cut(a, user);
  row.peer = peer = cut(a, from);
  row.what = path = cut(a, what);
  row.status = status > 0 ? (uint32_t)status : 0;
  row.time = a->host.now(a->host.ctx);
  if ((who != NULL || user == NULL) && (peer != NULL || from == NULL) &&
      path != NULL)
    rc = pai__batch_put_note(a->host.batch(a->host.ctx), &row);
  pai__strfree(&a->alloc, who);
  pai__strfree(&a->alloc, peer);
  pai__strfree(&a->alloc, path);
  if (rc == PAI_OK)
    a->host.changed(a->host.ctx, false, false);
  return rc;
}

static int write_note(void *user_data, const pai__audit_row *row)
{
  return pai__api_object(user_data, &pai__api_AuditNote, row, NULL, NULL);
}

int pai_accounts_write_audit(pai_accounts *a, const pai_audit_query *query,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  pai__audit_query q;
  pai_audit_query o;
  pai__wire out;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  rc = PAI__COPY_IN(&o, query, pai_audit_query, limit);
  if (rc < 0)
    return pai__fail_struct(err, rc, query, "pai_audit_query");
  if (o.limit > LARGEST_PAGE)
    return pai__invalid(err, "a page has at most %d notes", LARGEST_PAGE);
  if (o.since < 0 || o.until < 0)
    return pai__invalid(err, "times are not negative");
  q = (pai__audit_query){ .user = o.user,
                          .since = o.since,
                          .until = o.until,
                          .before = o.before,
                          .limit = o.limit != 0 ? o.limit : USUAL_PAGE };
  pai__wire_begin(&out, &a->alloc, write, user_data);
  pai__json_begin_array(&out.w);
  rc = pai__store_notes(a->host.store, &q, write_note, &out.w, err);
  pai__json_end_array(&out.w);
  return pai__wire_end(&out, rc, err);
}
