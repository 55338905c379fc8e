/* market.c - pai_market: loaded when the platform starts, kept until it
 * ends */
#include "market/inside.h"

#include <sodium.h>
#include <stdio.h>

pai__batch *pai__market_batch(const pai_market *m)
{
  return m->host.batch(m->host.ctx);
}

void pai__market_changed(pai_market *m)
{
  m->host.changed(m->host.ctx, true, false);
}

void pai__market_new_id(char out[PAI_MARKET_ID])
{
  unsigned char b[16];

  randombytes_buf(b, sizeof(b));
  b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* version 4 */
  b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
  (void)snprintf(out, PAI_MARKET_ID,
                 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
                 "%02x%02x%02x%02x%02x%02x",
                 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9],
                 b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* --- loading ------------------------------------------------------------- */

/* An invalid row is skipped, so that the others can be used. */
static int skip(const pai_market *m, int rc, const char *what, const char *uid)
{
  if (rc == PAI_OK || rc == PAI_ENOMEM)
    return rc;
  pai__log_line(m->host.log, PAI_LOG_WARNING,
                "%s %s in the database is invalid and ignored", what, uid);
  return PAI_OK;
}

static int on_item(void *user_data, const pai__market_item_row *row)
{
  return skip(user_data, pai__market_item_add(user_data, row),
              "marketplace item", row->uid);
}

static int on_count(void *user_data, const pai__market_count_row *row)
{
  return skip(user_data, pai__market_item_add_count(user_data, row),
              "count of marketplace item", row->uid);
}

static int on_label(void *user_data, const pai__market_label_row *row)
{
  return skip(user_data, pai__market_label_add(user_data, row),
              "marketplace label", row->uid);
}

static int read_all(pai_market *m, pai_error **err)
{
  int rc = pai__store_market_items(m->host.store, on_item, m, err);

  if (rc == PAI_OK)
    rc = pai__store_market_counts(m->host.store, on_count, m, err);
  if (rc == PAI_OK)
    rc = pai__store_market_labels(m->host.store, on_label, m, err);
  return rc == PAI_ENOMEM && (err == NULL || *err == NULL) ? pai__oom(err)
                                                           : rc;
}

/* --- life ---------------------------------------------------------------- */

int pai__market_open(pai_market **out, const pai_alloc *alloc,
                     const pai__accounts_host *host,
                     const pai_accounts *accounts, pai_error **err)
{
  pai_market *m;
  int rc;

  PAI__CLEAR_OUT(out, err);
  m = pai__zalloc(alloc, sizeof(*m));
  if (m == NULL)
    return pai__oom(err);
  m->alloc = *alloc;
  m->host = *host;
  m->accounts = accounts;
  m->forks = pai__forks();
  rc = read_all(m, err);
  if (rc < 0)
    pai__market_close(m);
  else
    *out = m;
  return rc;
}

void pai__market_close(pai_market *m)
{
  pai_alloc alloc;

  if (m == NULL)
    return;
  alloc = m->alloc;
  for (size_t i = 0; i < m->items.n; i++)
    pai__market_item_free(m, m->items.at[i]);
  for (size_t i = 0; i < m->labels.n; i++)
    pai__market_label_free(m, m->labels.at[i]);
  pai__free(&alloc, m->items.at, m->items.cap * sizeof(*m->items.at));
  pai__free(&alloc, m->labels.at, m->labels.cap * sizeof(*m->labels.at));
  pai__free(&alloc, m, sizeof(*m));
}
