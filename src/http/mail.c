/* mail.c - a request that is a mail, sent by SMTP */
#include "http/inside.h"

#include <strings.h>

bool pai__http_is_mail(const char *url)
{
  return strncasecmp(url, "smtp://", 7) == 0 ||
         strncasecmp(url, "smtps://", 8) == 0;
}

static size_t on_read(char *bytes, size_t size, size_t n, void *user_data)
{
  pai__http_request *r = user_data;
  size_t left = r->want.body_len - r->mail_sent;

  n *= size;
  if (n > left)
    n = left;
  if (n > 0)
    memcpy(bytes, (const char *)r->want.body + r->mail_sent, n);
  r->mail_sent += n;
  return n;
}

static bool add_recipients(pai__http_request *r)
{
  for (const char *const *to = r->want.mail->to; *to != NULL; to++) {
    struct curl_slist *more = curl_slist_append(r->mail_to, *to);

    if (more == NULL)
      return false;
    r->mail_to = more;
  }
  return true;
}

static bool set(CURL *easy, CURLoption option, const void *value)
{
  return value == NULL || curl_easy_setopt(easy, option, value) == CURLE_OK;
}

/* With TLS required, curl gives up before it logs in if the server has none. */
bool pai__http_set_mail(pai__http_request *r)
{
  const pai__http_mail *m = r->want.mail;
  long tls = r->http->plain_mail ? (long)CURLUSESSL_TRY : (long)CURLUSESSL_ALL;
  CURL *easy = r->easy;

  return add_recipients(r) && set(easy, CURLOPT_MAIL_FROM, m->from) &&
         set(easy, CURLOPT_MAIL_RCPT, r->mail_to) &&
         set(easy, CURLOPT_USERNAME, m->user) &&
         set(easy, CURLOPT_PASSWORD, m->password) &&
         curl_easy_setopt(easy, CURLOPT_USE_SSL, tls) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read) == CURLE_OK &&
         set(easy, CURLOPT_READDATA, r) &&
         curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                          (curl_off_t)r->want.body_len) == CURLE_OK;
}
