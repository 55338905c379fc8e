/* complete.c - completion and hover texts */
#include "language/language.h"

typedef struct pai__language_completing {
  pai_language *l;
  pai__language_request *r;
} pai__language_completing;

/* CompletionItemKind of the protocol. */
static const int kinds[] = {
  [PAI__COMPLETE_PROPERTY] = 10, [PAI__COMPLETE_ENUM] = 20,
  [PAI__COMPLETE_VALUE] = 12,    [PAI__COMPLETE_VARIABLE] = 6,
  [PAI__COMPLETE_SNIPPET] = 15,  [PAI__COMPLETE_REFERENCE] = 18,
};

/* Appends a snippet without its places: "${1:text}" is "text". */
static void put_plain(pai__buf *out, const char *s)
{
  for (; *s != '\0'; s++) {
    if (*s == '\\' && s[1] != '\0') {
      pai__buf_char(out, *++s);
    } else if (*s == '$' && s[1] == '{') {
      s += strcspn(s, ":}");
    } else if (*s == '$') {
      while (s[1] >= '0' && s[1] <= '9')
        s++;
    } else if (*s != '}') {
      pai__buf_char(out, *s);
    }
    if (*s == '\0')
      break;
  }
}

static void put_text_edit(pai__language_completing *x,
                          const pai__completion *c, bool snippet)
{
  pai__json_writer *w = &x->r->w;
  pai__buf plain;

  pai__buf_init(&plain, &x->l->alloc);
  if (c->is_snippet && !snippet)
    put_plain(&plain, c->insert);
  else
    pai__buf_str(&plain, c->insert);
  pai__json_member(w, "textEdit");
  pai__put_edit(x->l, x->r->doc, w, c->replaces, pai__buf_text(&plain),
                plain.len);
  w->out->failed |= plain.failed;
  pai__buf_dispose(&plain);
}

static int put_completion(void *user_data, const pai__completion *c)
{
  enum { SNIPPET = 2, AS_IS = 1 };
  pai__language_completing *x = user_data;
  bool snippet = c->is_snippet && x->l->client.snippets;
  pai__json_writer *w = &x->r->w;

  pai__json_write(w, "{label:s,kind:i", c->label, kinds[c->kind]);
  pai__json_put_known(w, "detail", c->detail);
  if (c->documentation != NULL)
    pai__json_write(w, "documentation:{kind:s,value:s}", "markdown",
                    c->documentation);
  pai__json_put_known(w, "sortText", c->sort);
  if (c->deprecated)
    pai__json_write(w, "tags:[i]", 1);
  if (c->required)
    pai__json_write(w, "labelDetails:{description:s}", "required");
  pai__json_write(w, "insertTextFormat:i,insertTextMode:i",
                  snippet ? SNIPPET : 1, AS_IS);
  put_text_edit(x, c, snippet);
  pai__json_end_object(w);
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(completion)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_completing x = { l, r };
  int rc;

  pai__language_ask_names(l);
  pai__json_write(&r->w, "{isIncomplete:false,items:[");
  rc = pai__complete(&text, r->at, pai__language_cluster(l), put_completion,
                     &x, r->err);
  pai__json_write(&r->w, "]}");
  return rc;
}

PAI__LANGUAGE_HANDLER(hover)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__span range;
  pai__buf markdown;
  int rc;

  pai__buf_init(&markdown, &l->alloc);
  rc = pai__hover(&text, r->at, &range, &markdown);
  if (rc == PAI_OK && !pai__buf_ok(&markdown))
    rc = PAI_ENOMEM;
  if (rc == PAI_OK) {
    pai__json_write(&r->w, "{contents:{kind:s,value:s}", "markdown",
                    pai__buf_text(&markdown));
    pai__put_range(l, r->doc, &r->w, "range", range);
    pai__json_end_object(&r->w);
  } else if (rc == PAI_ENOTFOUND) {
    pai__json_null(&r->w);
    rc = PAI_OK;
  }
  pai__buf_dispose(&markdown);
  return rc;
}
