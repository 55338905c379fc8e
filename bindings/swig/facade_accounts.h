/*
 * facade_accounts.h - users, groups, tokens, storages and virtual clusters of
 * a durable platform; for facade.h, which includes this
 */
#ifndef OPENPAI_BINDINGS_FACADE_ACCOUNTS_H
#define OPENPAI_BINDINGS_FACADE_ACCOUNTS_H

#include "facade.h"

/*
 * Does, or tells, what `kind` is: a function of <openpai/account.h> or
 * <openpai/vc.h> without its prefix, as "write_users".  The fields are its
 * arguments, `text` is the JSON that it takes.  Told is JSON: an object or a
 * list, a text, or true, of what has no more to say.
 *
 * What changes something waits for the database, so it is not for callbacks.
 */
listing accounts_do(Platform *p, const char *kind, words fields,
                    const char *text, size_t len, failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_ACCOUNTS_H */
