/* lifecycle.c - begins and ends a server: capabilities, settings, exit */
#include "json/node.h"
#include "language/language.h"

/* --- what the client can do --------------------------------------------------- */

/* Returns the value at keys separated by points. */
static pai__node look(const pai__tree *t, pai__node n, const char *path)
{
  while (n != PAI__NO_NODE && *path != '\0') {
    size_t len = strcspn(path, ".");

    n = pai__tree_find(t, n, path, len);
    if (n != PAI__NO_NODE)
      n = pai__tree_value(t, n);
    path += len + (path[len] == '.');
  }
  return n;
}

static bool can(const pai__tree *t, pai__node capabilities, const char *path)
{
  return pai__tree_is_true(t, look(t, capabilities, path));
}

/* The first of the client's encodings that the server has, too. */
static enum pai__language_unit choose_unit(const pai__tree *t, pai__node list)
{
  static const char *const names[] = { "utf-8", "utf-16", "utf-32" };
  pai__tree_walk walk;
  pai__node n;

  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return PAI__UNIT_UTF16;
  walk = pai__tree_iter(t, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    for (int i = 0; i < PAI__UNITS; i++)
      if (strcmp(pai__tree_text(t, n, ""), names[i]) == 0)
        return (enum pai__language_unit)i;
  return PAI__UNIT_UTF16;
}

static void read_client(pai_language *l, const pai__tree *t, pai__node params)
{
  pai__node has = pai__tree_get(t, params, "capabilities");
  pai__node pull = look(t, has, "textDocument.diagnostic");

  l->unit = choose_unit(t, look(t, has, "general.positionEncodings"));
  l->client = (pai__language_client){
    .pid = pai__tree_look_int(t, params, "processId"),
    .pulls = pai__tree_is(t, pull, PAI__MAPPING),
    .refreshes_hints = can(t, has, "workspace.inlayHint.refreshSupport"),
    .refreshes_lenses = can(t, has, "workspace.codeLens.refreshSupport"),
    .snippets =
      can(t, has, "textDocument.completion.completionItem.snippetSupport"),
    .related =
      can(t, has, "textDocument.publishDiagnostics.relatedInformation") ||
      can(t, pull, "relatedDocumentSupport"),
    .nested_outline = can(
      t, has, "textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"),
    .action_literals = pai__tree_is(
      t, look(t, has, "textDocument.codeAction.codeActionLiteralSupport"),
      PAI__MAPPING),
    .line_folding = can(t, has, "textDocument.foldingRange.lineFoldingOnly"),
  };
}

/* --- what the server can do --------------------------------------------------- */

static void put_capabilities(const pai_language *l, pai__json_writer *w)
{
  static const char *const units[] = { "utf-8", "utf-16", "utf-32" };

  pai__json_write(w,
                  "capabilities:{positionEncoding:s,"
                  "textDocumentSync:{openClose:true,change:i,save:true}",
                  units[l->unit], 2);
  for (size_t i = 0; i < pai__language_method_count; i++) {
    const pai__language_method *m = &pai__language_methods[i];

    if (m->capability == NULL)
      continue;
    pai__json_member(w, m->capability);
    pai__json_written(w, m->options, strlen(m->options));
  }
  pai__json_end_object(w);
}

/* --- settings ------------------------------------------------------------------- */

/* The page of codes. */
static int take_docs(pai_language *l, const char *url, pai_error **err)
{
  char *copy = pai__strdup(&l->alloc, url);

  if (copy == NULL)
    return pai__oom(err);
  pai__strfree(&l->alloc, l->docs_url);
  l->docs_url = copy;
  return PAI_OK;
}

/* Passes the settings to the host. */
static int pass_settings(pai_language *l, const pai__tree *t, pai__node n,
                         pai_error **err)
{
  pai__json_writer w;
  pai__buf text;
  int rc;

  if (l->o.other == NULL)
    return PAI_OK;
  pai__buf_init(&text, &l->alloc);
  pai__json_writer_init(&w, &text, false);
  pai__json_node(&w, t, n);
  rc = pai__json_finish(&w) < 0 ? pai__oom(err) : PAI_OK;
  if (rc == PAI_OK)
    (void)l->o.other(l->o.user_data, 0, "openpai/settings", text.data,
                     text.len);
  pai__buf_dispose(&text);
  return rc;
}

/* Reads the settings that are the server's; the host reads all of them. */
static int take_settings(pai_language *l, const pai__tree *t, pai__node n,
                         pai_error **err)
{
  pai__node hived = pai__tree_get(t, n, "hived");
  const char *docs = pai__tree_look_text(t, n, "docs", NULL);

  if (!pai__tree_is(t, n, PAI__MAPPING))
    return PAI_OK;
  if (pai__tree_is(t, hived, PAI__BOOL))
    l->hived = pai__tree_bool(t, hived);
  if (docs != NULL && take_docs(l, docs, err) < 0)
    return PAI_ENOMEM;
  return pass_settings(l, t, n, err);
}

/* Checks all documents again: the settings count for them. */
static void recheck(pai_language *l)
{
  const pai__map_entry *e;

  l->checked.stamp = 0;
  for (size_t i = 0; (e = pai__map_next(&l->docs.by_uri, &i)) != NULL;) {
    pai__language_doc *doc = e->value;

    doc->stamp = ++l->docs.stamps;
    pai__doc_changed(&l->docs, doc);
  }
}

PAI__LANGUAGE_HANDLER(configuration)
{
  int rc = take_settings(
    l, r->tree,
    pai__tree_get(r->tree, pai__tree_get(r->tree, r->params, "settings"),
                  "openpai"),
    r->err);

  if (rc == PAI_OK)
    recheck(l);
  return rc;
}

/* --- begin and end ------------------------------------------------------------- */

PAI__LANGUAGE_HANDLER(initialize)
{
  if (l->state != PAI__LANGUAGE_NEW)
    return pai__language_refuse(r, PAI__RPC_INVALID_REQUEST,
                                "the server is initialized already");
  read_client(l, r->tree, r->params);
  if (take_settings(l, r->tree,
                    pai__tree_get(r->tree, r->params, "initializationOptions"),
                    r->err) < 0)
    return PAI_ENOMEM;
  pai__json_begin_object(&r->w);
  put_capabilities(l, &r->w);
  pai__json_write(&r->w, "serverInfo:{name:s,version:s}}", "openpai",
                  pai_version());
  l->state = PAI__LANGUAGE_RUNNING;
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(initialized)
{
  (void)r;
  pai__language_ask_names(l);
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(shutdown)
{
  l->state = PAI__LANGUAGE_SHUT_DOWN;
  pai__json_null(&r->w);
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(exit)
{
  (void)r;
  l->exit_code = l->state == PAI__LANGUAGE_SHUT_DOWN ? 0 : 1;
  l->state = PAI__LANGUAGE_ENDED;
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(cancel)
{
  return pai__language_cancel(l, r->tree,
                              pai__tree_get(r->tree, r->params, "id"), r->err);
}

PAI__LANGUAGE_HANDLER(ignore)
{
  (void)l;
  (void)r;
  return PAI_OK;
}
