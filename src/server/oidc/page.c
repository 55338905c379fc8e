/* page.c - HTML pages of a login with a code; pure */
#include "server/oidc/provider.h"

#include "base/text/encode.h"
#include "server/oidc/code.h"

#include <string.h>

static const char head[] =
  "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
  "<meta name=\"viewport\" content=\"width=device-width\">"
  "<title>OpenPAI</title><style>"
  "body{font:1.1em/1.5 sans-serif;max-width:34em;margin:3em auto;padding:0 "
  "1em}"
  "code{font-size:1.6em;letter-spacing:.1em}"
  "button{font:inherit;padding:.4em 1.2em;margin-right:1em}"
  "</style></head><body><h1>OpenPAI</h1>\n";

/* Writes scheme, host and port only, as the rest may be a secret. */
static void put_host(pai__buf *b, const char *url)
{
  const char *host = strstr(url, "://");
  size_t len = host != NULL ? strcspn(host + 3, "/?#") : 0;
  char part[256];

  if (len >= sizeof(part))
    len = sizeof(part) - 1;
  memcpy(part, len > 0 ? host + 3 : "", len);
  part[len] = '\0';
  pai__put_html(b, part);
}

void pai__page_consent(pai__buf *out, const char *user, const char *challenge,
                       const char *page, const char *state)
{
  char words[PAI__WORDS];

  pai__challenge_words(words, challenge);
  pai__buf_str(out, head);
  pai__buf_str(out, "<p>A program asks to use this platform as <b>");
  pai__put_html(out, user);
  pai__buf_str(out, "</b>. It must show this code:</p>\n<p><code>");
  pai__put_html(out, words);
  pai__buf_str(out,
               "</code></p>\n<p>Confirm only if you have just started "
               "<i>openpai login</i> yourself and see the same code there. ");
  if (page != NULL) {
    pai__buf_str(out, "The result is then sent to <b>");
    put_host(out, page);
    pai__buf_str(out, "</b>.");
  } else {
    pai__buf_str(out, "The next page shows a code to type there.");
  }
  pai__buf_str(out, "</p>\n<form method=\"post\" action=\"confirm\">"
                    "<input type=\"hidden\" name=\"state\" value=\"");
  pai__put_html(out, state);
  pai__buf_str(out, "\"><button name=\"answer\" value=\"yes\">Yes, log in"
                    "</button><button name=\"answer\" value=\"no\">No</button>"
                    "</form></body></html>\n");
}

void pai__page_code(pai__buf *out, const char *code)
{
  pai__buf_str(out, head);
  if (code == NULL) {
    pai__buf_str(out, "<p>Nobody was logged in. This page can be closed.</p>");
  } else {
    pai__buf_str(out, "<p>Type this code where it is asked for, within five "
                      "minutes, and keep it secret:</p>\n"
                      "<p><code>");
    pai__buf_printf(out, "%.4s-%.4s-%.4s", code, code + 4, code + 8);
    pai__buf_str(out, "</code></p>");
  }
  pai__buf_str(out, "</body></html>\n");
}
