/* diagnostics.c - checks documents and reports their problems, pushed or
 * pulled */
#include "language/language.h"

#include <openpai/cluster.h>
#include <openpai/spec.h>

#include <stdio.h>

/* --- checking -------------------------------------------------------------------- */

static int check_job(pai_language *l, const pai__language_doc *doc,
                     pai_report **out, pai_error **err)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;

  o.alloc = &l->alloc;
  o.hived = l->hived;
  return pai_spec_check(out, NULL, pai__buf_text(&doc->text), doc->text.len,
                        &o, err);
}

static int check_cluster(pai_language *l, const pai__language_doc *doc,
                         pai_report **out, pai_error **err)
{
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;

  o.alloc = &l->alloc;
  if (doc->kind == PAI__LANGUAGE_HIVED)
    o.form = "hived";
  return pai_cluster_check(out, NULL, pai__buf_text(&doc->text), doc->text.len,
                           &o, err);
}

int pai__language_check(pai_language *l, pai__language_doc *doc,
                        const pai_report **out, pai_error **err)
{
  int rc = PAI_OK;

  *out = NULL;
  if (doc->lost || doc->kind == PAI__LANGUAGE_OTHER)
    return PAI_OK;
  if (l->checked.stamp != doc->stamp || l->checked.report == NULL) {
    pai_report_free(l->checked.report);
    l->checked = (pai__language_checked){ NULL, doc->stamp };
    rc = doc->kind == PAI__LANGUAGE_JOB
           ? check_job(l, doc, &l->checked.report, err)
           : check_cluster(l, doc, &l->checked.report, err);
  }
  *out = l->checked.report;
  return rc;
}

/* --- one diagnostic ---------------------------------------------------------------- */

/* Reports do not count a byte-order mark as a column. */
static size_t byte_of(pai__language_doc *doc, uint32_t line, uint32_t column)
{
  const char *text = pai__buf_text(&doc->text);
  bool has_mark = doc->text.len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
  pai__language_position at = { line > 0 ? line - 1 : 0,
                                column > 0 ? column - 1 : 0 };

  if (has_mark && at.line == 0)
    at.character++;
  return pai__language_lines_offset(&doc->lines, text, doc->text.len,
                                    PAI__UNIT_UTF32, at);
}

pai__span pai__language_span(pai__language_doc *doc, uint32_t line,
                             uint32_t column, uint32_t end_line,
                             uint32_t end_column)
{
  pai__span span = { byte_of(doc, line, column),
                     byte_of(doc, end_line, end_column) };

  if (span.end < span.start)
    span.end = span.start;
  return span;
}

/* Whether a value has no effect: editors show it faded. */
static bool is_unused(const pai_diagnostic *d)
{
  return strncmp(d->code, "unused-", 7) == 0 ||
         (d->severity == PAI_SEVERITY_WARNING &&
          (strcmp(d->code, "no-effect") == 0 ||
           strcmp(d->code, "unknown-key") == 0));
}

static bool is_deprecated(const pai_diagnostic *d)
{
  return strncmp(d->code, "old-", 4) == 0;
}

static void put_tags(pai__json_writer *w, const pai_diagnostic *d)
{
  enum { UNNECESSARY = 1, DEPRECATED = 2 };

  if (is_unused(d))
    pai__json_write(w, "tags:[i]", UNNECESSARY);
  else if (is_deprecated(d))
    pai__json_write(w, "tags:[i]", DEPRECATED);
}

static void put_message(pai_language *l, pai__json_writer *w,
                        const pai_diagnostic *d)
{
  pai__buf text;

  pai__buf_init(&text, &l->alloc);
  pai__buf_str(&text, d->message);
  if (d->help != NULL)
    pai__buf_printf(&text, "\nhelp: %s", d->help);
  pai__json_put_text(w, "message", pai__buf_text(&text));
  w->out->failed |= text.failed;
  pai__buf_dispose(&text);
}

/* --- related places ------------------------------------------------------------------ */

/* Where the name of a diagnostic is declared. */
typedef struct pai__language_declared {
  pai__span of, at;
  bool found;
} pai__language_declared;

static int take_declaration(void *user_data, const pai__reference *ref)
{
  pai__language_declared *x = user_data;

  if (ref->is_declaration && ref->span.start != x->of.start) {
    x->at = ref->span;
    x->found = true;
  }
  return PAI_OK;
}

/* A name that is there twice is declared elsewhere. */
static bool is_about_names(const pai_diagnostic *d)
{
  return strncmp(d->code, "duplicate", 9) == 0 ||
         strncmp(d->code, "shared-", 7) == 0 ||
         strncmp(d->code, "same-", 5) == 0;
}

static int put_related(pai_language *l, pai__language_doc *doc,
                       pai__json_writer *w, pai__span span)
{
  pai__language_text text = pai__doc_text(&l->docs, doc);
  pai__language_declared x = { .of = span };
  int rc = pai__references(&text, span.start, take_declaration, &x);

  if (rc < 0 || !x.found)
    return rc;
  pai__json_write(w, "relatedInformation:[{location:{uri:s", doc->uri);
  pai__put_range(l, doc, w, "range", x.at);
  pai__json_write(w, "}message:s}]", "it is declared here");
  return PAI_OK;
}

/* A key that is missing is shown on the first line of its mapping. */
static pai__span span_of(pai__language_doc *doc, const pai_diagnostic *d)
{
  pai__span span =
    pai__language_span(doc, d->line, d->column, d->end_line, d->end_column);
  const char *text = pai__buf_text(&doc->text);

  if (d->missing != NULL)
    for (size_t i = span.start; i < span.end; i++)
      if (text[i] == '\n' || text[i] == '\r')
        span.end = i;
  return span;
}

void pai__put_diagnostic(pai_language *l, pai__language_doc *doc,
                         pai__json_writer *w, const pai_diagnostic *d)
{
  enum { ERROR = 1, WARNING = 2 };
  pai__span span = span_of(doc, d);

  pai__json_begin_object(w);
  pai__put_range(l, doc, w, "range", span);
  pai__json_write(w, "severity:i,code:s,source:s",
                  d->severity == PAI_SEVERITY_ERROR ? ERROR : WARNING, d->code,
                  "openpai");
  if (l->docs_url != NULL) {
    char href[512];

    (void)snprintf(href, sizeof(href), "%s#%s", l->docs_url, d->code);
    pai__json_write(w, "codeDescription:{href:s}", href);
  }
  put_message(l, w, d);
  put_tags(w, d);
  if (l->client.related && is_about_names(d) &&
      put_related(l, doc, w, span) < 0)
    w->out->failed = true;
  pai__json_end_object(w);
}

static int put_list(pai_language *l, pai__language_doc *doc,
                    pai__json_writer *w, const char *key, pai_error **err)
{
  const pai_report *report;
  int rc = pai__language_check(l, doc, &report, err);

  pai__json_put_array(w, key);
  for (size_t i = 0; rc == PAI_OK && i < pai_report_count(report); i++)
    pai__put_diagnostic(l, doc, w, pai_report_get(report, i));
  pai__json_end_array(w);
  return rc;
}

/* --- pushed -------------------------------------------------------------------------- */

int pai__language_publish(pai_language *l, pai__language_doc *doc,
                          pai_error **err)
{
  pai__json_writer w;
  int rc;

  pai__language_begin(l, &w, "textDocument/publishDiagnostics");
  pai__json_write(&w, "{uri:s", doc->uri);
  if (doc->has_version)
    pai__json_put_int(&w, "version", doc->version);
  rc = put_list(l, doc, &w, "diagnostics", err);
  pai__json_end_object(&w);
  return rc < 0 ? rc : pai__language_end(l, &w, err);
}

int pai__language_publish_none(pai_language *l, const char *uri,
                               pai_error **err)
{
  pai__json_writer w;

  pai__language_begin(l, &w, "textDocument/publishDiagnostics");
  pai__json_write(&w, "{uri:s,diagnostics:[]}", uri);
  return pai__language_end(l, &w, err);
}

/* --- pulled -------------------------------------------------------------------------- */

enum { STAMP_TEXT = 24 };

static const char *stamp_text(char out[STAMP_TEXT],
                              const pai__language_doc *doc)
{
  (void)snprintf(out, STAMP_TEXT, "%llu", (unsigned long long)doc->stamp);
  return out;
}

/* Writes the members of a report: the list, or that it is as before. */
static int put_report(pai_language *l, pai__language_doc *doc,
                      pai__json_writer *w, const char *before, pai_error **err)
{
  char stamp[STAMP_TEXT];
  bool same = strcmp(before, stamp_text(stamp, doc)) == 0;

  pai__json_write(w, "kind:s,resultId:s", same ? "unchanged" : "full", stamp);
  return same ? PAI_OK : put_list(l, doc, w, "items", err);
}

PAI__LANGUAGE_HANDLER(diagnostic)
{
  int rc;

  pai__json_begin_object(&r->w);
  rc = put_report(
    l, r->doc, &r->w,
    pai__tree_look_text(r->tree, r->params, "previousResultId", ""), r->err);
  pai__json_end_object(&r->w);
  return rc;
}

/* --- all documents --------------------------------------------------------------------- */

enum { AT_ONCE = 32 }; /* documents of one step */

static const char *previous_of(const pai__language_request *r, const char *uri)
{
  pai__node list = pai__tree_get(r->tree, r->params, "previousResultIds"), n;
  pai__tree_walk walk;

  if (!pai__tree_is(r->tree, list, PAI__SEQUENCE))
    return "";
  walk = pai__tree_iter(r->tree, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__tree_look_text(r->tree, n, "uri", ""), uri) == 0)
      return pai__tree_look_text(r->tree, n, "value", "");
  return "";
}

/* Writes the reports of the next documents. */
static int put_some(pai_language *l, pai__language_request *r,
                    pai__json_writer *w, size_t most)
{
  const pai__map_entry *e = NULL;
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < most; i++) {
    pai__language_doc *doc;

    e = pai__map_next(&l->docs.by_uri, &r->cursor);
    if (e == NULL)
      break;
    doc = e->value;
    pai__json_write(w, "{uri:s,version:", doc->uri);
    if (doc->has_version)
      pai__json_int(w, doc->version);
    else
      pai__json_null(w);
    rc = put_report(l, doc, w, previous_of(r, doc->uri), r->err);
    pai__json_end_object(w);
  }
  return rc < 0 ? rc : e != NULL ? PAI__LANGUAGE_MORE : PAI_OK;
}

/* Begins a $/progress whose value follows. */
static void begin_progress(pai_language *l, pai__language_request *r,
                           pai__json_writer *w, pai__node token)
{
  pai__language_begin(l, w, "$/progress");
  pai__json_write(w, "{token:");
  if (pai__tree_is(r->tree, token, PAI__INT))
    pai__json_int(w, pai__tree_int(r->tree, token));
  else
    pai__json_string(w, pai__tree_text(r->tree, token, ""));
  pai__json_member(w, "value");
}

/* Reports how far the request is, if the client asked for that. */
static int tell_progress(pai_language *l, pai__language_request *r,
                         const char *kind)
{
  pai__node token = pai__tree_get(r->tree, r->params, "workDoneToken");
  size_t all = l->docs.by_uri.len;
  pai__json_writer w;

  if (token == PAI__NO_NODE)
    return PAI_OK;
  begin_progress(l, r, &w, token);
  pai__json_write(&w, "{kind:s", kind);
  if (strcmp(kind, "begin") == 0)
    pai__json_write(&w, "title:s,cancellable:true", "Checking files");
  if (strcmp(kind, "end") != 0)
    pai__json_put_int(&w, "percentage",
                      all > 0 ? (int64_t)(r->cursor * 100 / all) : 100);
  pai__json_write(&w, "}}");
  return pai__language_end(l, &w, r->err);
}

/* Sends the next documents as a partial result, step by step. */
static int send_some(pai_language *l, pai__language_request *r,
                     pai__node token)
{
  pai__json_writer w;
  int rc, sent;

  begin_progress(l, r, &w, token);
  pai__json_write(&w, "{items:[");
  rc = put_some(l, r, &w, AT_ONCE);
  pai__json_write(&w, "]}}");
  if (rc < 0)
    return rc;
  sent = pai__language_end(l, &w, r->err);
  return sent < 0 ? sent : rc;
}

PAI__LANGUAGE_HANDLER(workspace_diagnostic)
{
  pai__node token = pai__tree_get(r->tree, r->params, "partialResultToken");
  int rc = tell_progress(l, r, r->step == 0 ? "begin" : "report");

  if (rc == PAI_OK && token != PAI__NO_NODE)
    rc = send_some(l, r, token);
  if (rc == PAI__LANGUAGE_MORE || rc < 0)
    return rc;
  pai__json_write(&r->w, "{items:[");
  if (token == PAI__NO_NODE)
    rc = put_some(l, r, &r->w, SIZE_MAX);
  pai__json_write(&r->w, "]}");
  return rc < 0 ? rc : tell_progress(l, r, "end");
}
