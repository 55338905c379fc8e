/* yaml.c - parses one document with libyaml, and reports libyaml's errors */
#include "yaml/load.h"

enum {
  DEFAULT_DEPTH = 64,
  DEFAULT_BYTES = 64 << 20,
  DEFAULT_FACTOR = 10,
  DEFAULT_FLOOR = 10000,
  MOST_TAG_LINES = 1000, /* libyaml compares each with all before it */
  MOST_ROUNDS = 64,      /* of removing tabs */
  MOST_REREAD = 16 << 20 /* bytes that may be parsed again for tabs, after
                            round 2 */
};

/* --- errors ------------------------------------------------------------- */

/* Returns the usual help for one of libyaml's problems, or NULL. */
static const char *find_help(const char *problem, char there)
{
  static const struct {
    const char *problem, *help;
  } known[] = {
    { "mapping values are not allowed",
      "indent the line as its neighbours are, or put a text with \": \" in "
      "quotes" },
    { "could not find expected ':'",
      "write \"key: value\", or put the text in quotes" },
    { "did not find expected key",
      "indent the line as its neighbours are, or put the text before it in "
      "quotes" },
    { "did not find expected '-'", "indent the line as its neighbours are" },
    { "did not find expected ',' or",
      "add a comma or the closing bracket, or put the text in quotes" },
    { "found unknown escape",
      "write a backslash as \\\\, or use single quotes" },
    { "found unexpected end of stream", "add the closing quote" },
    { "found unexpected document indicator", "add the closing quote" },
  };

  if (there == '\t')
    return "indent with spaces";
  if (there == '@' || there == '`' || there == '%')
    return "put the text in quotes";
  for (size_t i = 0; i < PAI__LEN(known); i++)
    if (strncmp(problem, known[i].problem, strlen(known[i].problem)) == 0)
      return known[i].help;
  return NULL;
}

static int fail_libyaml(pai__yaml_loader *l, const yaml_parser_t *p)
{
  bool reader = p->error == YAML_READER_ERROR;
  const char *problem = p->problem != NULL ? p->problem : "cannot read this";
  const char *help;
  uint32_t at, from;

  if (p->error == YAML_MEMORY_ERROR)
    return pai__oom(l->err);
  at = reader ? (uint32_t)pai__yaml_text_byte(&l->src, p->problem_offset)
              : pai__yaml_offset(&l->src, p->problem_mark.index);
  from = pai__yaml_offset(&l->src, p->context_mark.index);
  if (p->context != NULL && !reader && from < at) {
    pai__pos start = pai__tree_pos(l->t, from);
    (void)pai__fail_at(l->err, PAI_EINVAL, pai__tree_pos(l->t, at),
                       "%s %s that starts at line %u, column %u", problem,
                       p->context, start.line, start.column);
  } else {
    (void)pai__fail_at(l->err, PAI_EINVAL, pai__tree_pos(l->t, at), "%s",
                       problem);
  }
  help = find_help(problem, l->t->text[at]);
  if (help != NULL)
    pai__error_help(l->err, "%s", help);
  return PAI_EINVAL;
}

static int fail_second(pai__yaml_loader *l, const yaml_event_t *event)
{
  uint32_t at = pai__yaml_offset(&l->src, event->start_mark.index);

  (void)pai__fail_at(l->err, PAI_EINVAL, pai__tree_pos(l->t, at),
                     "a second document starts here; expected one only");
  pai__error_help(l->err, "remove all that comes from here on, or the \"---\" "
                          "before it");
  return PAI_EINVAL;
}

/* --- one document ------------------------------------------------------- */

static int read_events(pai__yaml_loader *l, yaml_parser_t *p, bool *failed)
{
  unsigned documents = 0;
  bool more = true;
  int rc = PAI_OK;

  while (more && rc == PAI_OK) {
    yaml_event_t event;

    if (!yaml_parser_parse(p, &event)) {
      *failed = true; /* the error is libyaml's */
      return PAI_EINVAL;
    }
    more = event.type != YAML_STREAM_END_EVENT;
    if (event.type == YAML_DOCUMENT_START_EVENT && documents++ != 0)
      rc = fail_second(l, &event);
    else
      rc = pai__yaml_take(l, &event);
    yaml_event_delete(&event);
  }
  if (rc == PAI_OK && l->t->count == 0 &&
      pai__tree_push(l->t, PAI__NULL, 0, 0) == NULL)
    rc = pai__oom(l->err);
  return rc;
}

/* Resets the loader, to parse the text again. */
static void start_over(pai__yaml_loader *l)
{
  l->t->count = 0;
  l->t->strings_len = 0;
  l->t->side_len = 0;
  pai__anchors_dispose(&l->anchors);
  l->depth = 0;
  l->at = 0;
  l->expanded = 0;
  l->repeated = 0;
  l->key_bytes = 0;
}

static bool may_read_again(size_t round, size_t len)
{
  return round < 2 || (round < MOST_ROUNDS && round * len <= MOST_REREAD);
}

/* Parses the document.  If libyaml stops at a tab, changes such tabs and
 * parses again. */
static int read_document(pai__yaml_loader *l)
{
  int rc = PAI_OK;
  bool again = true, failed;

  for (size_t round = 0; again; round++) {
    yaml_parser_t p;

    again = failed = false;
    start_over(l);
    if (!yaml_parser_initialize(&p))
      return pai__oom(l->err);
    pai__yaml_feed(&l->src, &p);
    rc = read_events(l, &p, &failed);
    if (failed && p.error == YAML_SCANNER_ERROR &&
        may_read_again(round, l->src.len) &&
        pai__yaml_take_tabs(&l->src, p.problem_mark.index, &again) < 0)
      rc = pai__oom(l->err);
    else if (failed && !again)
      rc = fail_libyaml(l, &p);
    yaml_parser_delete(&p);
  }
  return rc;
}

static bool has_too_many_tags(const char *text)
{
  int n = 0;

  while ((text = strstr(text, "%TAG")) != NULL && n <= MOST_TAG_LINES) {
    text++;
    n++;
  }
  return n > MOST_TAG_LINES;
}

static pai__yaml_options with_defaults(const pai__yaml_options *opts)
{
  pai__yaml_options o = { 0 };

  if (opts != NULL)
    o = *opts;
  if (o.max_depth == 0)
    o.max_depth = DEFAULT_DEPTH;
  if (o.max_bytes == 0)
    o.max_bytes = DEFAULT_BYTES;
  if (o.max_bytes > PAI__TREE_MAX_TEXT)
    o.max_bytes = PAI__TREE_MAX_TEXT;
  if (o.alias_factor == 0)
    o.alias_factor = DEFAULT_FACTOR;
  if (o.alias_floor == 0)
    o.alias_floor = DEFAULT_FLOOR;
  return o;
}

int pai__yaml_parse(pai__tree **out, const char *text, size_t len,
                    const pai__yaml_options *opts, pai_error **err)
{
  pai__yaml_loader l = { .opts = with_defaults(opts), .err = err };
  int rc;

  PAI__CLEAR_OUT(out, err);
  if (len > l.opts.max_bytes)
    return pai__fail(err, PAI_ELIMIT, "the text has more than %zu bytes",
                     l.opts.max_bytes);
  l.js = l.opts.mode == PAI__YAML_JS;
  rc = pai__tree_new(&l.t, pai__alloc_or_libc(l.opts.alloc), text, len, err);
  if (rc < 0)
    return rc;
  l.t->syntax = PAI__SYNTAX_YAML;
  l.t->how = (uint8_t)l.opts.mode;
  pai__anchors_init(&l.anchors, &l.t->alloc);
  rc = pai__yaml_source_init(&l.src, l.t, err);
  if (rc < 0)
    goto done;
  if (pai__tree_reserve(l.t, len) < 0)
    rc = pai__oom(err); /* enough for nearly all texts */
  else if (has_too_many_tags(l.t->text))
    rc = pai__fail(err, PAI_ELIMIT, "there are more than %d %%TAG directives",
                   MOST_TAG_LINES);
  else
    rc = read_document(&l);
done:
  pai__yaml_source_dispose(&l.src);
  pai__anchors_dispose(&l.anchors);
  pai__free(&l.t->alloc, l.frames, l.frame_cap * sizeof(*l.frames));
  if (rc < 0) {
    pai__tree_free(l.t);
    return rc;
  }
  pai__tree_trim(l.t);
  *out = l.t;
  return PAI_OK;
}
