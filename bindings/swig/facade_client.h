/*
 * facade_client.h - a client of a server, for facade.h, which includes this
 *
 * Nothing calls into the script: what is asked for is a Call, which is looked
 * at after each step until it is over.
 */
#ifndef OPENPAI_BINDINGS_FACADE_CLIENT_H
#define OPENPAI_BINDINGS_FACADE_CLIENT_H

#include "facade_records.h"

typedef struct Client Client;
typedef struct Call Call;

/* Fields: members of pai_client_options.  Without url and socket it is the
 * socket of this user's platform. */
Client *client_open(words fields, failure *f);
void client_free(Client *c);
/* Its calls are over then. */
void client_shut(Client *c, failure *f);
bool client_is_shut(const Client *c);

int client_fd(Client *c, failure *f);
int client_timeout_ms(Client *c, failure *f);
/* As those of a platform. */
bool client_dispatch(Client *c, failure *f);
bool client_step(Client *c, int most_ms, failure *f);

/* {"user", "token"}, of what is known. */
listing client_who(Client *c, failure *f);

/*
 * Begins to ask.  Kinds: ask, login, logout, info, submit, jobs, job, config,
 * stop, tag, untag, watch, wait, logs, users, files, get_file, put_file; fields
 * as the function of C has them, stream=1 of ask for a body that is taken as it
 * comes.  A file is downloaded to the path `to`, a new version of one that is
 * listed with `size`, `modified` and `executable`; that at `local` is uploaded.  `text` is the
 * body, or the job's file, `code` the archive that goes with that.
 */
Call *client_call(Client *c, const char *kind, words fields, const char *text,
                  size_t len, const char *code, size_t code_len, failure *f);
void call_free(Call *call);
void call_cancel(Call *call);
/* 1: there is something to take; 0: not yet; -1: it is over. */
int call_state(Call *call);
/* Of a stream: its bytes; of watch lines of JSON. */
log_bytes call_take(Call *call);
/* What came of it when it is over: {"status", "tries", "type", "total",
 * "state", "code"}; fails if it has. */
listing call_answer(Call *call, failure *f);
log_bytes call_body(Call *call);

#endif /* OPENPAI_BINDINGS_FACADE_CLIENT_H */
