/* serve.h - running a platform in this process */
#ifndef PAI_SRC_CLI_SERVE_H
#define PAI_SRC_CLI_SERVE_H

#include "keep.h"

#include <openpai/account.h>
#include <openpai/server.h>

typedef struct cli_serving {
  cli_platform_options platform; /* NULL: from the environment */
  cli_keep_options keep;         /* how long finished jobs are kept */
  const cli_words *listen;
  bool verbose;
  pai_accounts_options accounts; /* struct_size 0: defaults */
  /* without socket, root and callbacks, which cli_serve() sets; with `listen`
   * its addresses are printed */
  pai_server_options server;
} cli_serving;

/* Returns all values of --listen, joined with commas, for free(); `usual` if
 * there are none. */
char *cli_join_addresses(const cli_words *listen, const char *usual);
/* Finds an address of this machine that others reach, for a server that
 * listens on `listen` (HOST:PORT, ...).  Returns false if there is none. */
bool cli_find_address(char *out, size_t size, const char *listen);
/* Sets the rate limits of the original OpenPAI; 0 sets no limits. */
void cli_set_rates(pai_server_options *o, unsigned rate);
/* Serves until a signal or a request to the API ends it.  Returns an exit
 * code. */
int cli_serve(const cli_serving *wanted);
/* Raises the limit of descriptors to the highest that is allowed: each task and
 * connection needs some. */
void cli_raise_limits(void);
/* Catches the signals that end a server, and wakes its loop by them; NULL: no
 * loop any more.  A hangup is ignored unless it ends the server, too. */
void cli_end_by_signals(pai_loop *loop, bool hangs_up_too);
bool cli_asked_to_end(void);
/* Chooses the root if none was given.  Returns false, after printing an error,
 * if a system platform is not possible. */
bool cli_choose_root(bool system);

#endif
