/* accounts.h - internal to the room: the loop, for who may do what */
#ifndef PAI_SRC_PLATFORM_ACCOUNTS_H
#define PAI_SRC_PLATFORM_ACCOUNTS_H

#include "account/account.h"
#include "platform/platform.h"

/* Those of a durable platform that can commit. */
int pai__platform_open_accounts(pai_platform *p, pai_error **err);

/* How many processes all tasks of a job's owner may have; 0: any number. */
uint64_t pai__platform_processes(const pai__pjob *j);
/* What names that owner among those of all platforms of this machine. */
void pai__platform_owner(pai__buf *out, const pai__pjob *j);

#endif
