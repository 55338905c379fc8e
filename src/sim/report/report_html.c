/* report_html.c - writes reports as an HTML page: the viewer's page with their
 * JSON, and with the text for browsers without scripts */
#include "sim/report/pages.h"
#include "viewer/viewer.h"

/* Returns the replacement of the *n bytes at p; NULL: they stay.  In JSON
 * these bytes occur in strings only, so no name can end the script or a
 * line. */
static const char *escape(const char *p, size_t left, bool json, size_t *n)
{
  *n = 1;
  if (*p == '<')
    return json ? "\\u003c" : "&lt;";
  if (*p == '&' && !json)
    return "&amp;";
  if (!json || left < 3 || memcmp(p, "\xe2\x80", 2) != 0)
    return NULL;
  *n = 3;
  return p[2] == '\xa8' ? "\\u2028" : p[2] == '\xa9' ? "\\u2029" : NULL;
}

static void put_escaped(pai__buf *out, const pai__buf *in, bool json)
{
  size_t from = 0, n = 1;

  for (size_t i = 0; i < in->len; i += n) {
    const char *put = escape(in->data + i, in->len - i, json, &n);

    if (put == NULL)
      continue;
    pai__buf_add(out, in->data + from, i - from);
    pai__buf_str(out, put);
    from = i + n;
  }
  if (in->len > from)
    pai__buf_add(out, in->data + from, in->len - from);
}

static void put_part(pai__buf *out, int part)
{
  pai__buf_add(out, pai__viewer_page[part].bytes, pai__viewer_page[part].len);
}

int pai__report_html(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err)
{
  const pai_alloc *alloc = &reports[0]->alloc;
  pai__buf page, text, json;
  int rc;

  pai__buf_init(&page, alloc);
  pai__buf_init(&text, alloc);
  pai__buf_init(&json, alloc);
  rc = pai__report_text(reports, n, pai__buf_write, &text, NULL);
  if (rc == PAI_OK)
    rc = pai__report_json(reports, n, pai__buf_write, &json, NULL);
  page.failed = !pai__buf_ok(&text) || !pai__buf_ok(&json);
  put_part(&page, 0);
  put_escaped(&page, &text, false);
  put_part(&page, 1);
  put_escaped(&page, &json, true);
  put_part(&page, 2);
  pai__buf_dispose(&text);
  pai__buf_dispose(&json);
  return pai__text_write(&page, rc, write, user_data, err);
}
