/*
 * browser.c - login with a browser at an OpenID Connect provider
 *
 * The server gives the browser a code, which is useful only together with the
 * secret that was made here (PKCE).  An original OpenPAI has no codes and
 * gives the browser the token itself.  There only the unguessable path of the
 * callback prevents another page from delivering a foreign token.
 */
#include "browser.h"
#include "remote.h"
#include "secrets.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* --- SHA-256 (FIPS 180-4) of a short text -------------------------------- */

enum { BLOCK = 64, MOST = 55, MOST_QUERY = 128, PATIENCE = 600 };

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t roots[BLOCK] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
  0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
  0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
  0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
  0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
  0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t turn(uint32_t x, unsigned n)
{
  return x >> n | x << (32 - n);
}

/* Fills the message schedule. */
static void spread(uint32_t w[BLOCK], const char *text)
{
  unsigned char block[BLOCK] = { 0 };
  size_t len = strlen(text);

  len = len > MOST ? MOST : len;
  memcpy(block, text, len);
  block[len] = 0x80;
  block[BLOCK - 2] = (unsigned char)(len >> 5); /* length in bits */
  block[BLOCK - 1] = (unsigned char)(len << 3);
  for (size_t i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (size_t i = 16; i < BLOCK; i++)
    w[i] = w[i - 16] + w[i - 7] +
           (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
}

static void hash(unsigned char out[CLI_SECRET], const char *text)
{
  /* Fractional parts of the square roots of the first 8 primes. */
  static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                     0xa54ff53a, 0x510e527f, 0x9b05688c,
                                     0x1f83d9ab, 0x5be0cd19 };
  uint32_t w[BLOCK], s[8];

  spread(w, text);
  memcpy(s, first, sizeof(s));
  for (size_t i = 0; i < BLOCK; i++) {
    uint32_t a = s[0], e = s[4];
    uint32_t more = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                    ((e & s[5]) ^ (~e & s[6])) + roots[i] + w[i];
    uint32_t most = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                    ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof(*s));
    s[4] += more;
    s[0] = more + most;
  }
  for (size_t i = 0; i < CLI_SECRET; i++)
    out[i] = (unsigned char)((s[i / 4] + first[i / 4]) >> (24 - 8 * (i % 4)));
}

/* --- texts --------------------------------------------------------------- */

void cli_secret_text(char out[CLI_PKCE_TEXT],
                     const unsigned char bytes[CLI_SECRET])
{
  size_t n = 0;

  for (size_t bit = 0; bit < CLI_SECRET * 8; bit += 6) {
    unsigned next = bit / 8 + 1 < CLI_SECRET ? bytes[bit / 8 + 1] : 0;
    unsigned two = (unsigned)bytes[bit / 8] << 8 | next;
    out[n++] = digits[two >> (10 - bit % 8) & 63];
  }
  out[n] = '\0';
}

/* Hashes a text of at most 55 bytes with SHA-256. */
static void cli_challenge(char out[CLI_PKCE_TEXT], const char *verifier)
{
  unsigned char bytes[CLI_SECRET];

  hash(bytes, verifier);
  cli_secret_text(out, bytes);
}

/* Formats the challenge as words, like the server (src/server/oidc/code.c). */
static void cli_challenge_words(char out[CLI_WORDS], const char *challenge)
{
  static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

  for (size_t i = 0; i + 1 < CLI_WORDS; i++) {
    const unsigned char *c =
      (const unsigned char *)challenge + 4 * (i > 4 ? i - 1 : i);
    out[i] = '-';
    if (i != 4)
      out[i] = letters[(c[0] + 3U * c[1] + 5U * c[2]) & 31];
  }
  out[CLI_WORDS - 1] = '\0';
}

bool cli_pkce_draw(cli_pkce *p)
{
  if (!cli_secret_draw(p->verifier))
    return false;
  cli_challenge(p->challenge, p->verifier);
  cli_challenge_words(p->words, p->challenge);
  return true;
}

void cli_code_clean(char *code)
{
  char *to = code;

  for (; *code != '\0'; code++)
    if (*code >= 'a' && *code <= 'z')
      *to++ = (char)(*code - 'a' + 'A');
    else if (*code != '-' && *code != ' ' && *code != '\t')
      *to++ = *code;
  *to = '\0';
}

/* --- login URL ----------------------------------------------------------- */

/* Formats the URL, for free(); NULL without memory.  Both parts of the query
 * may be "". */
static char *make_page(const char *url, const char *proof,
                       const char *redirect)
{
  char *escaped = cli_escape(redirect), *page = NULL;
  size_t size = escaped != NULL
                  ? strlen(url) + strlen(proof) + strlen(escaped) + MOST_QUERY
                  : 0;

  if (size > 0 && (page = malloc(size)) != NULL)
    (void)snprintf(page, size, "%s/api/v1/authn/oidc/login?%s%s%s%s", url,
                   proof, proof[0] != '\0' && redirect[0] != '\0' ? "&" : "",
                   redirect[0] != '\0' ? "redirect_uri=" : "", escaped);
  free(escaped);
  return page;
}

char *cli_login_page(const char *url, const cli_pkce *p, const char *redirect)
{
  char proof[MOST_QUERY];

  (void)snprintf(proof, sizeof(proof),
                 "code_challenge=%s&code_challenge_method=S256", p->challenge);
  return make_page(url, proof, redirect != NULL ? redirect : "");
}

typedef struct login {
  const cli_context *context;
  cli_remote remote;
  bool original;
  cli_pkce pkce;
  char *url; /* the server's URL of the login page */
} login;

static bool write_url(login *c, const char *page)
{
  /* An original OpenPAI sends the browser to the page with the token. */
  c->url = c->original ? make_page(c->context->url, "", page)
                       : cli_login_page(c->context->url, &c->pkce, page);
  if (c->url == NULL)
    cli_fail("out of memory");
  return c->url != NULL;
}

static bool begin(login *c, const cli_context *context)
{
  *c = (login){ .context = context };
  if (!cli_pkce_draw(&c->pkce) ||
      !cli_remote_open_context(&c->remote, context, NULL))
    return false;
  c->original = cli_remote_is_original(&c->remote);
  return true;
}

/* --- token for a code ---------------------------------------------------- */

static char *redeem(login *c, const char *code)
{
  char *token = NULL;
  pai_json *j;

  if (cli_call_read(&c->remote, &j, "oidc.token",
                    cli_json_make("{\"code\":%s,\"code_verifier\":%s}", code,
                                  c->pkce.verifier)))
    token = strdup(cli_json_text(j, 0, "token"));
  pai_json_free(j);
  return token;
}

/* --- browser on this machine --------------------------------------------- */

static int digit(char c)
{
  const char *at = c != '\0' ? strchr("0123456789abcdef", c | 0x20) : NULL;

  return at != NULL ? (int)(at - "0123456789abcdef") : -1;
}

/* Returns the value of a name in a query, for free(); NULL if missing. */
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

static char *take_told(login *c, const char *query)
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

static void show(const login *c, const char *first)
{
  bool open = cli_browser_is_here() && cli_browser_open(first);

  (void)fprintf(stderr,
                open ? "a browser should open this page; if it does not, open "
                       "it on this machine:\n  %s\n"
                     : "open this page in a browser on this machine:\n  %s\n",
                first);
  if (!c->original)
    (void)fprintf(stderr, "check that it shows the code %s\n", c->pkce.words);
  (void)fflush(stderr);
}

static char *log_in_here(login *c)
{
  char begin[CLI_PKCE_TEXT + 1] = "/", back[CLI_PKCE_TEXT + 1] = "/",
                             page[128];
  cli_landing l = { .fd = -1, .begin = begin, .back = back };
  char *told = NULL, *token = NULL;

  if (!cli_secret_draw(begin + 1) || !cli_secret_draw(back + 1) ||
      !cli_landing_open(&l))
    return NULL;
  /* Not localhost: another process may listen at ::1. */
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

/* --- browser on any machine ---------------------------------------------- */

static char *log_in_far(login *c)
{
  char *code, *token = NULL, words[CLI_WORDS];

  if (c->original) {
    cli_fail("%s is an original OpenPAI, which needs a browser on this "
             "machine",
             c->context->url);
    cli_help(stderr, "or create an application token in its portal, and give "
                     "it to openpai login --token-stdin");
    return NULL;
  }
  if (!write_url(c, NULL))
    return NULL;
  memcpy(words, c->pkce.words, sizeof(words));
  (void)fprintf(stderr,
                "open this page in any browser:\n"
                "  %s\n"
                "check that it shows the code %s, then type the other code "
                "that it shows\n",
                c->url, words);
  (void)fflush(stderr);
  code = cli_prompt_shown("that other code");
  if (code == NULL) {
    cli_fail("no code was typed");
    return NULL;
  }
  cli_code_clean(code);
  if (code[0] != '\0')
    token = redeem(c, code);
  else
    cli_fail("no code was typed");
  free(code);
  return token;
}

char *cli_browser_login(const cli_context *context, bool far)
{
  char *token = NULL;
  login c;

  if (begin(&c, context)) {
    far = far || (!cli_browser_is_here() && !c.original);
    token = far ? log_in_far(&c) : log_in_here(&c);
  }
  cli_remote_close(&c.remote);
  memset(c.pkce.verifier, 0, sizeof(c.pkce.verifier));
  free(c.url);
  return token;
}
