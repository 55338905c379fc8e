/* put.c - writes positions, ranges and edits */
#include "language/language.h"

static pai__language_position position_of(pai_language *l,
                                          pai__language_doc *doc, size_t at)
{
  return pai__language_lines_position(&doc->lines, pai__buf_text(&doc->text),
                                      doc->text.len, l->unit, at);
}

void pai__put_position(pai_language *l, pai__language_doc *doc,
                       pai__json_writer *w, size_t at)
{
  pai__language_position p = position_of(l, doc, at);

  pai__json_write(w, "{line:i,character:i}", (int)p.line, (int)p.character);
}

void pai__put_span(pai_language *l, pai__language_doc *doc,
                   pai__json_writer *w, pai__span span)
{
  pai__json_begin_object(w);
  pai__json_member(w, "start");
  pai__put_position(l, doc, w, span.start);
  pai__json_member(w, "end");
  pai__put_position(l, doc, w, span.end);
  pai__json_end_object(w);
}

void pai__put_range(pai_language *l, pai__language_doc *doc,
                    pai__json_writer *w, const char *key, pai__span span)
{
  pai__json_member(w, key);
  pai__put_span(l, doc, w, span);
}

void pai__put_edit(pai_language *l, pai__language_doc *doc,
                   pai__json_writer *w, pai__span span, const char *text,
                   size_t len)
{
  pai__json_begin_object(w);
  pai__put_range(l, doc, w, "range", span);
  pai__json_member(w, "newText");
  pai__json_text(w, text, len);
  pai__json_end_object(w);
}

void pai__put_workspace_edit(const pai__language_doc *doc, pai__json_writer *w)
{
  pai__json_write(w, "{changes:{*:[", doc->uri);
}

void pai__end_workspace_edit(pai__json_writer *w)
{
  pai__json_write(w, "]}}");
}
