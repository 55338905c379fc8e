/* browser.h - logging in with a browser, at a server of OpenID Connect */
#ifndef PAI_SRC_CLI_BROWSER_H
#define PAI_SRC_CLI_BROWSER_H

#include "sites.h"

/* Gets a token for who logs in in a browser on this machine, or with `far`, or
 * where there is no desktop, on any: then what its page shows is typed here.
 * For free(); NULL, and told. */
char *cli_browser_login(const cli_site *site, bool far);

/* --- proof.c: that a code is this program's (PKCE); pure --- */

enum {
  CLI_SECRET = 32, /* bytes of a secret, */
  CLI_PROOF = 44,  /* as text of URLs, or its hash, with a NUL */
  CLI_WORDS = 10   /* "ABCD-EFGH" and a NUL */
};

void cli_secret_text(char out[CLI_PROOF],
                     const unsigned char bytes[CLI_SECRET]);
/* The SHA-256 of a text of no more than 55 bytes. */
void cli_challenge(char out[CLI_PROOF], const char *verifier);
/* What the server's page shows for a challenge, too. */
void cli_challenge_words(char out[CLI_WORDS], const char *challenge);

/* --- posix_browser.c --- */

/* A secret nobody can guess; false, and told. */
bool cli_secret_draw(char out[CLI_PROOF]);
/* Shows a page in the desktop's browser; false: there is none. */
bool cli_browser_open(const char *url);
/* Whether there is a desktop, or $BROWSER. */
bool cli_browser_is_here(void);

/* Where the browser comes back to: a port of this machine, for paths that only
 * who was told can know. */
typedef struct cli_landing {
  int fd, port;
  const char *begin; /* this path leads to `leads_to`, once */
  const char *back;  /* and this one is the end */
  const char *leads_to;
  bool begun;
} cli_landing;

/* False, and told. */
bool cli_landing_open(cli_landing *l);
void cli_landing_close(cli_landing *l);
/* Waits for the end; what stands behind its '?', for free().  NULL, and told:
 * so many seconds were over. */
char *cli_landing_wait(cli_landing *l, int seconds);

#endif
