/* browser.h - login with a browser at an OpenID Connect provider */
#ifndef PAI_SRC_CLI_BROWSER_H
#define PAI_SRC_CLI_BROWSER_H

#include "contexts.h"

/* Gets a token by a login in a browser on this machine.  With `far`, or
 * without a desktop, the browser may be on any machine, and the user types the
 * code that its page shows.  The token is for free(); NULL after printing an
 * error. */
char *cli_browser_login(const cli_context *context, bool far);

/* --- PKCE: proof that a code belongs to this program (browser.c); pure --- */

enum {
  CLI_SECRET = 32,    /* bytes of a secret */
  CLI_PKCE_TEXT = 44, /* a secret or its hash as base64url, with a NUL */
  CLI_WORDS = 10      /* "ABCD-EFGH" and a NUL */
};

void cli_secret_text(char out[CLI_PKCE_TEXT],
                     const unsigned char bytes[CLI_SECRET]);

typedef struct cli_pkce {
  char verifier[CLI_PKCE_TEXT];  /* the secret */
  char challenge[CLI_PKCE_TEXT]; /* its hash */
  char words[CLI_WORDS];         /* what the server's page shows of it */
} cli_pkce;

/* Draws a secret; returns false after printing an error. */
bool cli_pkce_draw(cli_pkce *p);
/* Formats the URL of the server's page for a login, for free(); NULL without
 * memory.  The browser returns to `redirect`; NULL: the page shows a code to
 * type. */
char *cli_login_page(const char *url, const cli_pkce *p, const char *redirect);
/* Normalises a typed code: removes dashes and spaces, and uses capitals. */
void cli_code_clean(char *code);

/* --- posix_browser.c --- */

/* Draws a random secret; returns false after printing an error. */
bool cli_secret_draw(char out[CLI_PKCE_TEXT]);
/* Opens a page in the desktop's browser; returns false if there is none. */
bool cli_browser_open(const char *url);
/* Returns whether there is a desktop, or $BROWSER is set. */
bool cli_browser_is_here(void);

/* The address to which the browser returns: a port of this machine, with
 * unguessable paths. */
typedef struct cli_landing {
  int fd, port;
  const char *begin; /* this path redirects to `leads_to`, once */
  const char *back;  /* a request for this path ends the login */
  const char *leads_to;
  bool begun;
} cli_landing;

/* Listens on a port.  Returns false after printing an error. */
bool cli_landing_open(cli_landing *l);
void cli_landing_close(cli_landing *l);
/* Waits for the request that ends the login and returns its query, the part
 * after '?', for free().  NULL after printing an error, also after
 * `seconds`. */
char *cli_landing_wait(cli_landing *l, int seconds);

#endif
