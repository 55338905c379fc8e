/*
 * browser.c - logging in with a browser, at a server of OpenID Connect
 *
 * The server tells the browser a code, which is of use only to who has the
 * secret that was made here.  A server of the original knows no codes: it
 * tells the browser the token, and only a path that nobody else knows sees to
 * it that no other page can bring one.
 */
#include "browser.h"
#include "accounts.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 600, MOST_URL = 1600 };

typedef struct course {
  const cli_site *site;
  cli_remote remote;
  bool original;
  char verifier[CLI_PROOF], challenge[CLI_PROOF], words[CLI_WORDS];
  char url[MOST_URL]; /* of the server, to begin with */
} course;

/* --- its beginning -------------------------------------------------------------------- */

static bool write_url(course *c, const char *page)
{
  char *escaped = cli_escape(page != NULL ? page : "");
  int n = -1;

  if (escaped != NULL && c->original)
    n =
      snprintf(c->url, MOST_URL, "%s/api/v1/authn/oidc/login?redirect_uri=%s",
               c->site->url, escaped);
  else if (escaped != NULL)
    n = snprintf(c->url, MOST_URL,
                 "%s/api/v1/authn/oidc/login?code_challenge=%s"
                 "&code_challenge_method=S256%s%s",
                 c->site->url, c->challenge,
                 page != NULL ? "&redirect_uri=" : "", escaped);
  free(escaped);
  if (n < 0 || n >= MOST_URL)
    cli_fail("the URL of the server is too long");
  return n >= 0 && n < MOST_URL;
}

static bool begin(course *c, const cli_site *site)
{
  *c = (course){ .site = site };
  if (!cli_secret_draw(c->verifier) ||
      !cli_remote_open_site(&c->remote, site, NULL))
    return false;
  cli_challenge(c->challenge, c->verifier);
  cli_challenge_words(c->words, c->challenge);
  c->original = cli_remote_is_original(&c->remote);
  return true;
}

/* --- a code becomes a token --------------------------------------------------------------- */

static char *redeem(course *c, const char *code)
{
  char *body, *token = NULL;
  cli_text text;
  cli_answer a;
  cli_json j;

  if (!cli_text_begin(&text))
    return NULL;
  cli_put_object(&text);
  cli_put_text(&text, "code", code);
  cli_put_text(&text, "code_verifier", c->verifier);
  cli_put_end(&text);
  body = cli_text_end(&text);
  if (body == NULL)
    return NULL;
  cli_remote_ask(&c->remote, &a, "POST", "/api/v2/authn/oidc/token", NULL,
                 body, strlen(body));
  free(body);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    token = strdup(cli_json_text(&j, 0, "token"));
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  return token;
}

/* --- a browser on this machine --------------------------------------------------------------- */

static int digit(char c)
{
  const char *at = c != '\0' ? strchr("0123456789abcdef", c | 0x20) : NULL;

  return at != NULL ? (int)(at - "0123456789abcdef") : -1;
}

/* The value of a name in a query, for free(); NULL: it is not there. */
static char *value_of(const char *query, const char *name)
{
  size_t len = strlen(name);
  char *value, *to;

  while (strncmp(query, name, len) != 0 || query[len] != '=') {
    query += strcspn(query, "&");
    if (*query++ == '\0')
      return NULL;
  }
  query += len + 1;
  value = to = calloc(strcspn(query, "&") + 1, 1);
  for (; value != NULL && *query != '\0' && *query != '&'; query++)
    if (*query == '%' && digit(query[1]) >= 0 && digit(query[2]) >= 0) {
      *to++ = (char)(16 * digit(query[1]) + digit(query[2]));
      query += 2;
    } else {
      *to++ = *query == '+' ? ' ' : *query;
    }
  return value;
}

static char *take_told(course *c, const char *query)
{
  char *said = value_of(query, c->original ? "token" : "code"), *token;
  char *why = value_of(query, "errorMessage");

  token = said == NULL || c->original ? said : redeem(c, said);
  if (token != said)
    free(said);
  if (said == NULL && why != NULL)
    cli_fail("the server says: %s", why);
  else if (said == NULL)
    cli_fail("the server sent no answer to the browser");
  free(why);
  return token;
}

static void show(const course *c, const char *first)
{
  bool open = cli_browser_is_here() && cli_browser_open(first);

  (void)fprintf(stderr,
                open ? "a browser should open this page; if it does not, open "
                       "it on this machine:\n  %s\n"
                     : "open this page in a browser on this machine:\n  %s\n",
                first);
  if (!c->original)
    (void)fprintf(stderr, "check that it shows the code %s\n", c->words);
  (void)fflush(stderr);
}

static char *log_in_here(course *c)
{
  char begin[CLI_PROOF + 1] = "/", back[CLI_PROOF + 1] = "/", page[128];
  cli_landing l = { .fd = -1, .begin = begin, .back = back };
  char *told = NULL, *token = NULL;

  if (!cli_secret_draw(begin + 1) || !cli_secret_draw(back + 1) ||
      !cli_landing_open(&l))
    return NULL;
  /* Not localhost: at ::1 somebody else may listen. */
  (void)snprintf(page, sizeof(page), "http://127.0.0.1:%d%s", l.port, back);
  if (write_url(c, page)) {
    l.leads_to = c->url;
    (void)snprintf(page, sizeof(page), "http://127.0.0.1:%d%s", l.port, begin);
    show(c, page);
    told = cli_landing_wait(&l, PATIENCE);
  }
  cli_landing_close(&l);
  if (told != NULL)
    token = take_told(c, told);
  free(told);
  return token;
}

/* --- a browser anywhere ---------------------------------------------------------------------- */

/* As it is meant: dashes, spaces and small letters are for people. */
static void clean(char *code)
{
  char *to = code;

  for (; *code != '\0'; code++)
    if (*code >= 'a' && *code <= 'z')
      *to++ = (char)(*code - 'a' + 'A');
    else if (*code != '-' && *code != ' ' && *code != '\t')
      *to++ = *code;
  *to = '\0';
}

static char *log_in_far(course *c)
{
  char *code, *token = NULL;

  if (c->original) {
    cli_fail("%s is an original OpenPAI, which needs a browser on this "
             "machine",
             c->site->url);
    cli_help(stderr, "or make an application token in its portal, and give "
                     "it to openpai login --token-stdin");
    return NULL;
  }
  if (!write_url(c, NULL))
    return NULL;
  (void)fprintf(stderr,
                "open this page in any browser:\n"
                "  %s\n"
                "check that it shows the code %s, then type the other code "
                "that it shows\n",
                c->url, c->words);
  (void)fflush(stderr);
  code = cli_prompt_shown("that other code");
  if (code == NULL) {
    cli_fail("no code was typed");
    return NULL;
  }
  clean(code);
  if (code[0] != '\0')
    token = redeem(c, code);
  else
    cli_fail("no code was typed");
  free(code);
  return token;
}

char *cli_browser_login(const cli_site *site, bool far)
{
  char *token = NULL;
  course c;

  if (begin(&c, site)) {
    far = far || (!cli_browser_is_here() && !c.original);
    token = far ? log_in_far(&c) : log_in_here(&c);
  }
  cli_remote_close(&c.remote);
  memset(c.verifier, 0, sizeof(c.verifier));
  return token;
}
