/* message.c - texts of messages about alerts: JSON as Alertmanager's, and
 * mails */
#include "server/alerts/message.h"

#include "base/date.h"
#include "base/text/encode.h"

#include <string.h>

/* --- JSON ---------------------------------------------------------------- */

static void write_alert(pai__json_writer *w, const pai__watched *watched,
                        const pai__alert_state *x, pai_time now, bool whole)
{
  char print[PAI__ALERT_PRINT];

  pai__json_begin_object(w);
  if (whole)
    pai__json_put_text(w, "status", x->ended != 0 ? "resolved" : "firing");
  pai__alert_write_labels(w, watched, &x->alert);
  pai__alert_time_put(w, "startsAt", x->alert.since);
  pai__alert_time_put(w, "endsAt",
                      x->ended != 0 ? x->ended : now + PAI__ALERT_ENDS);
  pai__json_put_text(w, "generatorURL", "");
  if (whole) {
    pai__alert_print(print, x);
    pai__json_put_text(w, "fingerprint", print);
  }
  pai__json_end_object(w);
}

void pai__message_webhook(pai__buf *out, const pai__watched *w,
                          const char *receiver,
                          pai__alert_state *const *alerts, size_t n,
                          pai_time now)
{
  pai__json_writer json;
  bool firing = false;

  for (size_t i = 0; i < n; i++)
    firing = firing || alerts[i]->ended == 0;
  pai__json_writer_init(&json, out, false);
  pai__json_write(&json,
                  "{version:s,groupKey:s,truncatedAlerts:i,status:s,"
                  "receiver:s,groupLabels:{},commonLabels:{},"
                  "commonAnnotations:{},externalURL:s,alerts:[",
                  "4", receiver, 0, firing ? "firing" : "resolved", receiver,
                  "");
  for (size_t i = 0; i < n; i++)
    write_alert(&json, w, alerts[i], now, true);
  pai__json_write(&json, "]}");
}

void pai__message_manager(pai__buf *out, const pai__watched *w,
                          pai__alert_state *const *alerts, size_t n,
                          pai_time now)
{
  pai__json_writer json;

  pai__json_writer_init(&json, out, false);
  pai__json_begin_array(&json);
  for (size_t i = 0; i < n; i++)
    write_alert(&json, w, alerts[i], now, false);
  pai__json_end_array(&json);
}

/* --- mails --------------------------------------------------------------- */

/* Writes the value of a header: as words of RFC 2047 if it has other than
 * plain characters, so that no text adds a header. */
static void put_header(pai__buf *out, const char *name, const char *text)
{
  enum { MOST = 200, WORD = 42 };
  size_t len = strlen(text);
  bool plain = true;

  if (len > MOST)
    len = MOST;
  while (len > 0 && len < strlen(text) && (text[len] & 0xc0) == 0x80)
    len--;
  for (size_t i = 0; i < len; i++)
    plain = plain && text[i] >= ' ' && text[i] < 127;
  pai__buf_printf(out, "%s: ", name);
  if (plain)
    pai__buf_add(out, text, len);
  for (size_t at = 0, n; !plain && at < len; at += n) {
    n = len - at < WORD ? len - at : WORD;
    while (n > 1 && at + n < len && (text[at + n] & 0xc0) == 0x80)
      n--;
    pai__buf_str(out, at > 0 ? "\r\n =?utf-8?B?" : "=?utf-8?B?");
    pai__put_base64(out, text + at, n);
    pai__buf_str(out, "?=");
  }
  pai__buf_str(out, "\r\n");
}

/* Writes "01 Dec 2026 09:00:00 +0000". */
static void put_date(pai__buf *out, pai_time time)
{
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int64_t seconds = time / 1000000, year, month, day;

  pai__date_of(pai__floor_div(seconds, 86400), &year, &month, &day);
  seconds -= pai__floor_div(seconds, 86400) * 86400;
  pai__buf_printf(out, "Date: %02d %.3s %d %02d:%02d:%02d +0000\r\n", (int)day,
                  months + 3 * (month - 1), (int)year, (int)(seconds / 3600),
                  (int)(seconds / 60 % 60), (int)(seconds % 60));
}

/* Writes a line of the text, without control characters. */
static void put_line(pai__buf *out, const char *title, const char *text)
{
  pai__buf_printf(out, "%s", title);
  for (; *text != '\0'; text++)
    pai__buf_char(out,
                  (unsigned char)*text < ' ' || *text == 127 ? ' ' : *text);
  pai__buf_str(out, "\r\n");
}

static void put_alert(pai__buf *out, const pai__alert_line *a)
{
  char since[PAI__TIME_TEXT];

  pai__buf_str(out, "\r\n");
  put_line(out, a->resolved ? "Ended: " : "Alert: ", a->name);
  put_line(out, "Severity: ", a->severity);
  put_line(out, "Since: ", pai__time_text(since, a->since / 1000000, "Z"));
  put_line(out, "", a->summary);
}

void pai__message_mail(pai__buf *out, const pai__watched *w, const char *to,
                       const pai__alert_line *alerts, size_t n, pai_time now)
{
  const pai__alert_mail *mail = &w->settings->mail;
  pai__buf subject;

  pai__buf_init(&subject, out->alloc);
  pai__buf_printf(&subject, "[OpenPAI] %s%s",
                  n > 0 && alerts[0].resolved ? "ended: " : "",
                  n > 0 ? alerts[0].name : "alert");
  if (n > 1)
    pai__buf_printf(&subject, " and %d more", (int)(n - 1));
  /* addresses were checked by pai__alert_is_address() */
  pai__buf_printf(out, "From: %s\r\nTo: %s", mail->from,
                  to != NULL ? to : mail->to.at[0]);
  for (size_t i = 1; to == NULL && i < mail->to.n; i++)
    pai__buf_printf(out, ",\r\n %s", mail->to.at[i]);
  pai__buf_str(out, "\r\n");
  put_header(out, "Subject", pai__buf_text(&subject));
  put_date(out, now);
  pai__buf_printf(
    out, "Message-ID: <openpai-%llx-%llx@%s>\r\n", (unsigned long long)now,
    (unsigned long long)pai__loop_time(), strchr(mail->from, '@') + 1);
  pai__buf_str(out, "MIME-Version: 1.0\r\n"
                    "Content-Type: text/plain; charset=utf-8\r\n"
                    "Content-Transfer-Encoding: 8bit\r\n"
                    "Auto-Submitted: auto-generated\r\n");
  for (size_t i = 0; i < n; i++)
    put_alert(out, &alerts[i]);
  out->failed |= !pai__buf_ok(&subject);
  pai__buf_dispose(&subject);
}
