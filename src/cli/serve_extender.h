/* serve_extender.h - `openpai serve --extender` */
#ifndef PAI_SRC_CLI_SERVE_EXTENDER_H
#define PAI_SRC_CLI_SERVE_EXTENDER_H

#include "cli.h"

#include <openpai/server.h>

typedef struct cli_extender {
  const char *config;          /* HiveD's configuration; NULL: no extender */
  pai_hived_host_options host; /* where the API server is */
  pai_server_options server;   /* where it listens; NULL: as `config` says */
  bool verbose;
} cli_extender;

/* Serves until it is asked to end, or until the configuration has changed.  An
 * exit code. */
int cli_serve_extender(const cli_extender *wish);

#endif
