/* serve.h - a platform in this process */
#ifndef PAI_SRC_CLI_SERVE_H
#define PAI_SRC_CLI_SERVE_H

#include "keep.h"

#include <openpai/account.h>
#include <openpai/server.h>

typedef struct cli_serving {
  const char *runtime, *policy; /* NULL: as the environment says */
  const char *pass_env;         /* NULL: likewise */
  cli_keep keep;                /* how long finished jobs are kept */
  bool system;                  /* of all users */
  bool refuse_impossible;       /* jobs that ask for more than there is */
  bool jobs_as_root;            /* as root, who serves several accounts */
  bool verbose;
  pai_accounts_options accounts; /* struct_size 0: as usual */
  pai_server_options server;     /* but for its socket, and what is ours; with
                                `listen` it is said where it serves */
} cli_serving;

/* All values of --listen with commas between them, for free(); `usual` if there
 * are none. */
char *cli_join_addresses(const char *usual);
/* Where others reach this machine whose server listens there (HOST:PORT, ...).
 * False: nowhere. */
bool cli_find_address(char *out, size_t size, const char *listen);
/* The original's limits; 0 lifts them all. */
void cli_set_rates(pai_server_options *o, unsigned rate);
/* Serves until a signal, or somebody who asks, ends it.  An exit code. */
int cli_serve(const cli_serving *wish);
/* Where, if that was not said; false, and told: it cannot be of all users. */
bool cli_choose_root(bool system);

#endif
