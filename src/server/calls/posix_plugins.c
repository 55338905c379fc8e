/*
 * posix_plugins.c - plugins of the web portal, which the administrator lists in
 * ROOT/plugins.yaml
 *
 * A plugin is a script of another origin.  Its frame has an origin of its own,
 * so that it sees neither the portal nor the session, and may talk to this
 * server and to its own origin only.
 */
#include "server/server.h"

#include "base/os/posix_fs.h"
#include "yaml/yaml.h"

#include <stdlib.h>

enum { MOST_BYTES = 64 << 10 };

typedef struct plugin {
  const char *title, *uri;
  size_t origin; /* length of the origin in `uri`; 0: this server's */
} plugin;

/* --- the file ------------------------------------------------------------ */

/* The address goes into headers and into HTML. */
static bool has_only_plain(const char *uri)
{
  return uri[strspn(uri, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                         "0123456789-._~:/?=%&+@")] == '\0';
}

static bool read_uri(plugin *p, const char *uri)
{
  size_t scheme = strncmp(uri, "https://", 8) == 0  ? 8
                  : strncmp(uri, "http://", 7) == 0 ? 7
                                                    : 0;
  size_t host = strcspn(uri + scheme, "/?");

  p->uri = uri;
  p->origin = scheme > 0 ? scheme + host : 0;
  return has_only_plain(uri) &&
         (scheme > 0 ? host > 0 && memchr(uri + scheme, '@', host) == NULL
                     : uri[0] == '/' && uri[1] != '/');
}

static int refuse(unsigned number, pai_error **err)
{
  (void)pai__fail(err, PAI_EINVAL,
                  "plugin %u of plugins.yaml is not a title and the address "
                  "of a script",
                  number);
  pai__error_help(err, "as - {title: Charts, uri: https://host/charts.js}; an "
                       "address has no quotes, spaces or fragment");
  return PAI_EINVAL;
}

static bool read_one(plugin *p, const pai__tree *t, pai__node n)
{
  p->title = pai__tree_look_text(t, n, "title", "");
  return *p->title != '\0' &&
         read_uri(p, pai__tree_look_text(t, n, "uri", ""));
}

/* Reads the file; without one there are no plugins.  The caller frees the
 * tree. */
static int load(pai__tree **out, const pai__request *r, pai_error **err)
{
  const pai_server *s = r->server;
  size_t root = (size_t)(strrchr(s->uploads, '/') - s->uploads);
  pai__yaml_options o = { .alloc = &s->alloc, .max_bytes = MOST_BYTES };
  pai__buf path, text;
  int rc;

  *out = NULL;
  pai__buf_init(&path, &s->alloc);
  pai__buf_init(&text, &s->alloc);
  pai__buf_printf(&path, "%.*s/plugins.yaml", (int)root, s->uploads);
  rc = pai__buf_ok(&path)
         ? pai__fs_read_regular(&text, pai__buf_text(&path), MOST_BYTES, err)
         : pai__oom(err);
  if (rc == PAI_OK)
    rc = pai__yaml_parse(out, pai__buf_text(&text), text.len, &o, err);
  if (rc == PAI_ENOTFOUND) {
    pai_error_free(*err);
    *err = NULL;
    rc = PAI_OK;
  }
  pai__buf_dispose(&text);
  pai__buf_dispose(&path);
  return rc;
}

/* Calls back with each plugin until that returns false. */
static int each(pai__request *r, bool (*tell)(void *, const plugin *),
                void *user_data)
{
  unsigned number = 0;
  pai__tree_walk w;
  pai__tree *t;
  pai__node n;
  int rc = load(&t, r, &r->err);

  if (rc < 0 || t == NULL || pai__tree_is(t, 0, PAI__NULL)) {
    pai__tree_free(t);
    return rc;
  }
  if (!pai__tree_is(t, 0, PAI__SEQUENCE))
    rc = refuse(1, &r->err);
  for (w = pai__tree_iter(t, 0);
       rc == PAI_OK && (n = pai__tree_next(&w)) != PAI__NO_NODE;) {
    plugin p = { NULL, NULL, 0 };
    number++;
    if (!read_one(&p, t, n))
      rc = refuse(number, &r->err);
    else if (!tell(user_data, &p))
      break;
  }
  pai__tree_free(t);
  return rc;
}

/* --- the list ------------------------------------------------------------ */

static bool put_plugin(void *user_data, const plugin *p)
{
  pai__json_writer *w = user_data;

  pai__json_begin_object(w);
  pai__json_put_known(w, "title", p->title);
  pai__json_put_known(w, "uri", p->uri);
  pai__json_end_object(w);
  return true;
}

void pai__do_plugins_list(pai__request *r)
{
  pai__json_writer w;
  int rc;

  pai__json_writer_init(&w, &r->answer, false);
  pai__json_begin_array(&w);
  rc = each(r, put_plugin, &w);
  pai__json_end_array(&w);
  if (rc == PAI_OK)
    rc = pai__json_finish(&w);
  pai__answer_written(r, rc);
}

/* --- the frame ----------------------------------------------------------- */

typedef struct frame {
  unsigned long left; /* plugins before the wanted one */
  bool found;
  pai__buf policy, page;
} frame;

/* The script of the portal that mounts a plugin, or NULL. */
static const char *mounter(void)
{
  for (size_t i = 0; i < pai__portal_count; i++)
    if (strncmp(pai__portal_files[i].name, "plugin_frame-", 13) == 0)
      return pai__portal_files[i].name;
  return NULL;
}

static void put_attribute(pai__buf *b, const char *text)
{
  for (; *text != '\0'; text++)
    if (*text == '&')
      pai__buf_str(b, "&amp;");
    else
      pai__buf_char(b, *text);
}

static bool put_frame(void *user_data, const plugin *p)
{
  frame *f = user_data;
  const char *own = p->origin > 0 ? p->uri : "";
  int n = (int)p->origin;

  if (f->left-- > 0)
    return true;
  f->found = true;
  pai__buf_printf(
    &f->policy,
    "sandbox allow-scripts allow-forms allow-popups allow-downloads; "
    "default-src 'none'; script-src 'self' %.*s; style-src 'unsafe-inline' "
    "%.*s; img-src 'self' data: %.*s; font-src data: %.*s; connect-src 'self' "
    "%.*s; form-action 'none'; frame-ancestors 'self'; base-uri 'none'",
    n, own, n, own, n, own, n, own, n, own);
  pai__buf_printf(&f->page,
                  "<!DOCTYPE html>\n<html lang=\"en\"><head>"
                  "<meta charset=\"utf-8\"><title>Plugin</title></head><body>"
                  "<script src=\"/portal/%s\" data-uri=\"",
                  mounter());
  put_attribute(&f->page, p->uri);
  pai__buf_str(&f->page, "\"></script></body></html>\n");
  return false;
}

static void answer_frame(pai__request *r, frame *f)
{
  r->policy = pai__buf_ok(&f->policy) && pai__buf_ok(&f->page)
                ? pai__buf_take(&f->policy)
                : NULL;
  if (r->policy == NULL)
    pai__answer_failure(r, PAI_ENOMEM);
  else
    pai__answer_text(r, 200, "text/html; charset=utf-8",
                     pai__buf_text(&f->page));
}

void pai__do_pages_plugin(pai__request *r)
{
  frame f = { .left = strtoul(r->params[0], NULL, 10) };
  int rc = PAI_OK;

  pai__buf_init(&f.policy, &r->server->alloc);
  pai__buf_init(&f.page, &r->server->alloc);
  if (mounter() != NULL)
    rc = each(r, put_frame, &f);
  if (rc < 0)
    pai__answer_failure(r, rc);
  else if (f.found)
    answer_frame(r, &f);
  else
    pai__answer_error(r, 404, "NoApiError", "There is no plugin %s.",
                      r->params[0]);
  pai__buf_dispose(&f.page);
  pai__buf_dispose(&f.policy);
}
