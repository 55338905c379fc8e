/* reading.c - values of alerts.yaml, and errors with their places */
#include "server/alerts/reading.h"

#include <string.h>

/* --- errors -------------------------------------------------------------- */

int pai__alert_fail_pos(const pai__alert_reading *r, pai__pos pos,
                        const char *what, const char *help)
{
  int rc = pai__fail_at(r->err, PAI_EINVAL, pos, "%s:%u:%u: %s", r->path,
                        (unsigned)pos.line, (unsigned)pos.column, what);

  if (help != NULL)
    pai__error_help(r->err, "%s", help);
  return rc;
}

int pai__alert_fail_at(const pai__alert_reading *r, pai__node n,
                       const char *what, const char *help)
{
  return pai__alert_fail_pos(r, pai__tree_where(r->t, n), what, help);
}

/* Reports an error that has a place within a text of the file. */
int pai__alert_fail_within(const pai__alert_reading *r, pai__node n,
                           const char *text, const pai_error *why)
{
  size_t start = r->t->nodes[n].start, at = 0;
  unsigned line = 1, column = 1;
  pai__pos pos = pai__tree_where(r->t, n);

  start += r->t->text[start] == '"' || r->t->text[start] == '\'';
  if (strncmp(r->t->text + start, text, strlen(text)) == 0) {
    while (text[at] != '\0' &&
           (line < pai_error_line(why) || column < pai_error_column(why))) {
      column = text[at] == '\n' ? 1 : column + ((text[at + 1] & 0xc0) != 0x80);
      line += text[at++] == '\n';
    }
    pos = pai__tree_pos(r->t, start + at);
  }
  return pai__alert_fail_pos(r, pos, pai_error_message(why),
                             pai_error_help(why));
}

/* --- values -------------------------------------------------------------- */

int pai__alert_set_text(const pai__alert_reading *r, pai__node n, void *to)
{
  const char **out = to, *text;
  size_t len = 0;

  if (pai__tree_type(r->t, n) != PAI__STRING)
    return pai__alert_fail_at(r, n, "this is not text",
                              "put numbers and dates in quotes");
  text = pai__tree_str(r->t, n, &len);
  if (len == 0 || strlen(text) != len)
    return pai__alert_fail_at(r, n, "the text is empty, or has a zero byte",
                              NULL);
  *out = pai__arena_strndup(&r->out->arena, text, len);
  return *out != NULL ? PAI_OK : pai__oom(r->err);
}

/* A text of one line, for URLs, addresses and headers. */
int pai__alert_set_line(const pai__alert_reading *r, pai__node n, void *to)
{
  int rc = pai__alert_set_text(r, n, to);
  const char *text = *(const char **)to;

  return rc == PAI_OK && text != NULL && strpbrk(text, "\r\n\t") != NULL
           ? pai__alert_fail_at(r, n, "the text has more than one line", NULL)
           : rc;
}

int pai__alert_set_flag(const pai__alert_reading *r, pai__node n, void *to)
{
  if (pai__tree_type(r->t, n) != PAI__BOOL)
    return pai__alert_fail_at(r, n, "this is neither true nor false", NULL);
  *(bool *)to = pai__tree_bool(r->t, n);
  return PAI_OK;
}

int pai__alert_set_time(const pai__alert_reading *r, pai__node n, void *to)
{
  const char *text = NULL;
  int rc = pai__alert_set_line(r, n, &text);

  if (rc < 0 || text == NULL)
    return rc;
  *(pai_time *)to = pai__alert_duration(text, strlen(text));
  return *(pai_time *)to == 0 ? pai__alert_fail_at(r, n, "this is not a time",
                                                   "write 30s, 5m or 24h")
                              : PAI_OK;
}

int pai__alert_set_list(const pai__alert_reading *r, pai__node n, void *to)
{
  pai__tree_walk w = pai__tree_iter(r->t, n);
  uint32_t count = pai__tree_size(r->t, n);
  pai__alert_texts *out = to;
  pai__node item;
  int rc = PAI_OK;

  if (pai__tree_type(r->t, n) != PAI__SEQUENCE || count > PAI__ALERT_TEXTS)
    return pai__alert_fail_at(r, n, "this is not a list of up to 64 texts",
                              "write [one, another]");
  out->at = pai__arena_zalloc(&r->out->arena, count + 1, sizeof(*out->at));
  if (out->at == NULL)
    return pai__oom(r->err);
  out->n = 0;
  while (rc == PAI_OK && (item = pai__tree_next(&w)) != PAI__NO_NODE)
    rc = pai__alert_set_line(r, item, &out->at[out->n++]);
  return rc;
}

/* Reads a mapping by the table of its keys. */
int pai__alert_set_mapping(const pai__alert_reading *r, pai__node n,
                           const pai__alert_key *keys, size_t nkeys, void *to)
{
  pai__tree_walk w;
  pai__node k;
  int rc = PAI_OK;

  if (pai__tree_type(r->t, n) == PAI__NULL)
    return PAI_OK;
  if (pai__tree_type(r->t, n) != PAI__MAPPING)
    return pai__alert_fail_at(r, n, "this is not a mapping",
                              "write NAME: VALUE");
  w = pai__tree_iter(r->t, n);
  while (rc == PAI_OK && (k = pai__tree_next(&w)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(r->t, k, NULL);
    const pai__alert_key *found = NULL;

    for (size_t i = 0; i < nkeys; i++)
      if (strcmp(name, keys[i].name) == 0)
        found = &keys[i];
    if (found == NULL) {
      pai__buf known;

      pai__buf_init(&known, &r->out->alloc);
      for (size_t i = 0; i < nkeys; i++)
        pai__buf_printf(&known, "%s%s", i > 0 ? ", " : "the keys here are ",
                        keys[i].name);
      rc = pai__alert_fail_at(r, k, "there is no such key",
                              pai__buf_text(&known));
      pai__buf_dispose(&known);
    } else {
      rc = found->set(r, pai__tree_value(r->t, k), (char *)to + found->at);
    }
  }
  return rc;
}

/* Reads each item of a list. */
int pai__alert_set_items(const pai__alert_reading *r, pai__node n,
                         int (*set)(const pai__alert_reading *r,
                                    pai__node item))
{
  pai__tree_walk w = pai__tree_iter(r->t, n);
  pai__node item;
  int rc = PAI_OK;

  if (pai__tree_type(r->t, n) != PAI__SEQUENCE)
    return pai__alert_fail_at(r, n, "this is not a list",
                              "begin each item with \"- \"");
  while (rc == PAI_OK && (item = pai__tree_next(&w)) != PAI__NO_NODE)
    rc = set(r, item);
  return rc;
}

int pai__alert_set_labels(const pai__alert_reading *r, pai__node n, void *to)
{
  pai__alert_labels *out = to;
  pai__tree_walk w = pai__tree_iter(r->t, n);
  pai__alert_label *all;
  pai__node k;
  int rc = PAI_OK;

  if (pai__tree_type(r->t, n) != PAI__MAPPING ||
      pai__tree_size(r->t, n) > PAI__MATCHERS)
    return pai__alert_fail_at(r, n, "this is not a mapping of up to 16 labels",
                              "write NAME: VALUE");
  all = pai__arena_zalloc(&r->out->arena, PAI__MATCHERS, sizeof(*all));
  if (all == NULL)
    return pai__oom(r->err);
  while (rc == PAI_OK && (k = pai__tree_next(&w)) != PAI__NO_NODE) {
    rc = pai__alert_set_line(r, k, &all[out->n].name);
    if (rc == PAI_OK &&
        !pai__alert_label_is_name(all[out->n].name, strlen(all[out->n].name)))
      rc = pai__alert_fail_at(r, k, "this is not the name of a label",
                              "a name has letters, digits and _");
    if (rc == PAI_OK)
      rc =
        pai__alert_set_line(r, pai__tree_value(r->t, k), &all[out->n++].value);
  }
  pai__alert_labels_sort(all, out->n);
  out->at = all;
  return rc;
}
