/* facade_storages.c - storages, and the audit log */
#include "facade_accounts_act.h"

/* --- storages, and what was changed --------------------------------------------------- */

static int do_write_storages(accounts_act *a, pai_error **err)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.form = a->w->form;
  q.user = a->w->user;
  q.name = a->w->name;
  q.names = a->w->names;
  q.usual = a->w->usual;
  return pai_accounts_write_storages(a->accounts, &q, facade_collect, a->out,
                                     err);
}

static int do_put_storage(accounts_act *a, pai_error **err)
{
  return pai_accounts_put_storage(a->accounts, a->w->text, a->w->len, err);
}

static int do_remove_storage(accounts_act *a, pai_error **err)
{
  return pai_accounts_remove_storage(a->accounts, a->w->name, err);
}

static int do_may_use_storage(accounts_act *a, pai_error **err)
{
  (void)err;
  return accounts_answer(
    a, pai_accounts_may_use_storage(a->accounts, a->w->user, a->w->name));
}

static int do_note(accounts_act *a, pai_error **err)
{
  (void)err;
  return pai_accounts_note(a->accounts, a->w->user, a->w->from, a->w->what,
                           a->w->status);
}

static int do_write_audit(accounts_act *a, pai_error **err)
{
  pai_audit_query q = PAI_AUDIT_QUERY_INIT;

  q.user = a->w->user;
  q.since = a->w->since;
  q.until = a->w->until;
  q.before = a->w->before;
  q.limit = a->w->limit;
  return pai_accounts_write_audit(a->accounts, &q, facade_collect, a->out,
                                  err);
}

const accounts_deed accounts_storages[] = {
  { "write_storages", do_write_storages, ACCOUNTS_TELLS },
  { "put_storage", do_put_storage, ACCOUNTS_CHANGES },
  { "remove_storage", do_remove_storage, ACCOUNTS_CHANGES },
  { "may_use_storage", do_may_use_storage, ACCOUNTS_TELLS },
  { "note", do_note, ACCOUNTS_CHANGES },
  { "write_audit", do_write_audit, ACCOUNTS_TELLS },
  { NULL, NULL, 0 },
};
