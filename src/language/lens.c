/* lens.c - links, lenses and hints */
#include "language/language.h"

#include <stdio.h>

typedef struct pai__language_hinting {
  pai_language *l;
  pai__language_request *r;
  const char *estimate; /* to be shown; NULL: none, or shown already */
  bool has_lens;
  pai__span lens; /* where the last one is */
} pai__language_hinting;

/* --- links ---------------------------------------------------------------------- */

static int put_link(void *user_data, pai__span span, const char *target)
{
  pai__language_hinting *x = user_data;
  pai__json_writer *w = &x->r->w;

  pai__json_begin_object(w);
  pai__put_range(x->l, x->r->doc, w, "range", span);
  pai__json_put_text(w, "target", target);
  pai__json_end_object(w);
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(links)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_hinting x = { .l = l, .r = r };
  int rc;

  pai__json_begin_array(&r->w);
  rc = pai__links(&text, put_link, &x);
  pai__json_end_array(&r->w);
  return rc;
}

/* --- lenses ----------------------------------------------------------------------- */

/* Commands of the editor, whose argument is the document. */
static const char *const commands[] = {
  [PAI__LENS_SUBMIT] = "openpai.submit",
  [PAI__LENS_RUN_HERE] = "openpai.runHere",
  [PAI__LENS_EXPLAIN] = "openpai.explain",
};

static void put_one_lens(pai__language_hinting *x, pai__span span,
                         const char *title, const char *command)
{
  pai__json_writer *w = &x->r->w;

  pai__json_begin_object(w);
  pai__put_range(x->l, x->r->doc, w, "range", span);
  pai__json_write(w, "command:{title:s,command:s,arguments:[s]}}", title,
                  command, x->r->doc->uri);
}

static int put_lens(void *user_data, pai__span span, const char *title,
                    enum pai__lens_command command)
{
  pai__language_hinting *x = user_data;

  x->has_lens = true;
  x->lens = span;
  put_one_lens(x, span, title, commands[command]);
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(lenses)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_hinting x = { .l = l,
                              .r = r,
                              .estimate = pai__language_estimate(l, r->doc) };
  int rc;

  pai__json_begin_array(&r->w);
  rc = pai__lenses(&text, put_lens, &x);
  if (rc == PAI_OK && x.estimate != NULL && x.has_lens)
    put_one_lens(&x, x.lens, x.estimate, "openpai.explain");
  pai__json_end_array(&r->w);
  return rc;
}

/* --- hints ------------------------------------------------------------------------ */

static void put_one_hint(pai__language_hinting *x, size_t at,
                         const char *label)
{
  pai__json_writer *w = &x->r->w;

  if (at < x->r->range.start || at > x->r->range.end)
    return;
  pai__json_begin_object(w);
  pai__json_member(w, "position");
  pai__put_position(x->l, x->r->doc, w, at);
  pai__json_write(w, "label:s,paddingLeft:true}", label);
}

static int put_hint(void *user_data, size_t at, const char *text)
{
  put_one_hint(user_data, at, text);
  return PAI_OK;
}

/* Shows the estimate at the end of the line that has the job's name. */
static int put_estimate(void *user_data, pai__span span, const char *title,
                        enum pai__lens_command command)
{
  pai__language_hinting *x = user_data;
  pai__language_doc *doc = x->r->doc;

  (void)title;
  (void)command;
  if (x->estimate != NULL)
    put_one_hint(x,
                 pai__language_lines_end(
                   &doc->lines, pai__buf_text(&doc->text), doc->text.len,
                   pai__language_lines_find(&doc->lines, span.start)),
                 x->estimate);
  x->estimate = NULL;
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(hints)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_hinting x = { .l = l,
                              .r = r,
                              .estimate = pai__language_estimate(l, r->doc) };
  int rc = PAI_OK;

  pai__json_begin_array(&r->w);
  if (x.estimate != NULL)
    rc = pai__lenses(&text, put_estimate, &x);
  if (rc == PAI_OK)
    rc = pai__hints(&text, put_hint, &x);
  pai__json_end_array(&r->w);
  return rc;
}
