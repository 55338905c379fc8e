/* accounts.h - internal to the room: a platform's accounts, and job limits */
#ifndef PAI_SRC_PLATFORM_ACCOUNTS_H
#define PAI_SRC_PLATFORM_ACCOUNTS_H

#include "account/account.h"
#include "market/market.h"
#include "platform/platform.h"

/* Opens the accounts of a durable platform, whose commits are ready. */
int pai__platform_open_accounts(pai_platform *p, pai_error **err);

/* Returns how many processes the owner's tasks may have in all; 0: any. */
uint64_t pai__platform_processes(const pai__pjob *j);
/* Writes a name of the owner that is unique on this machine. */
void pai__platform_owner(pai__buf *out, const pai__pjob *j);

#endif
