/* oidc_page.c - the two pages that a login with a code shows; pure */
#include "server/oidc.h"

#include "server/oidc_code.h"

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

static void put(pai__buf *b, const char *text)
{
  for (; *text != '\0'; text++)
    switch (*text) {
    case '&': pai__buf_str(b, "&amp;"); break;
    case '<': pai__buf_str(b, "&lt;"); break;
    case '>': pai__buf_str(b, "&gt;"); break;
    case '"': pai__buf_str(b, "&quot;"); break;
    case '\'': pai__buf_str(b, "&#39;"); break;
    default: pai__buf_char(b, *text);
    }
}

/* As far as its host and port: the rest may be a secret. */
static void put_host(pai__buf *b, const char *url)
{
  const char *host = strstr(url, "://");
  size_t len = host != NULL ? strcspn(host + 3, "/?#") : 0;
  char part[256];

  if (len >= sizeof(part))
    len = sizeof(part) - 1;
  memcpy(part, len > 0 ? host + 3 : "", len);
  part[len] = '\0';
  put(b, part);
}

void pai__page_consent(pai__buf *out, const char *user, const char *challenge,
                       const char *page, const char *state)
{
  char words[PAI__WORDS];

  pai__challenge_words(words, challenge);
  pai__buf_str(out, head);
  pai__buf_str(out, "<p>A program asks to use this platform as <b>");
  put(out, user);
  pai__buf_str(out, "</b>. It has to show this code:</p>\n<p><code>");
  put(out, words);
  pai__buf_str(out, "</code></p>\n<p>Say yes only if you have just begun this "
                    "yourself, with <i>openpai login</i>, and see the same "
                    "code there. ");
  if (page != NULL) {
    pai__buf_str(out, "Then it is told at <b>");
    put_host(out, page);
    pai__buf_str(out, "</b>.");
  } else {
    pai__buf_str(out, "Then you are shown what to type there.");
  }
  pai__buf_str(out, "</p>\n<form method=\"post\" action=\"confirm\">"
                    "<input type=\"hidden\" name=\"state\" value=\"");
  put(out, state);
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
