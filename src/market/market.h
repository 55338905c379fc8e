/*
 * market.h - internal: the marketplace, used by the platform
 *
 * All items are in memory.  Each change is also added to the host's batch, so
 * what the host commits equals what is in memory.
 */
#ifndef PAI_SRC_MARKET_MARKET_H
#define PAI_SRC_MARKET_MARKET_H

#include "account/account.h"

#include <openpai/market.h>

/* Reads all items from the store.  The accounts must stay until the
 * marketplace is closed. */
int pai__market_open(pai_market **out, const pai_alloc *alloc,
                     const pai__accounts_host *host,
                     const pai_accounts *accounts, pai_error **err);
void pai__market_close(pai_market *m); /* NULL is allowed */

#endif
