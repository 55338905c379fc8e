/* samples.c - samples of metrics, added one by one or read from a text in
 * Prometheus' format */
#include "server/alerts/expr.h"

#include <stdlib.h>
#include <string.h>

enum { LABELS = 32 };

void pai__alert_samples_init(pai__alert_samples *s, const pai_alloc *alloc)
{
  *s = (pai__alert_samples){ .n = 0 };
  pai__arena_init(&s->arena, alloc);
}

void pai__alert_samples_dispose(pai__alert_samples *s)
{
  pai__free(s->arena.alloc, s->at, s->cap * sizeof(*s->at));
  pai__arena_dispose(&s->arena);
  s->at = NULL;
  s->n = s->cap = 0;
}

int pai__alert_samples_add(pai__alert_samples *s, const char *name,
                           const pai__alert_label *labels, size_t n,
                           double value)
{
  pai__alert_sample *new;

  if (PAI__VEC_ROOM(s->arena.alloc, s->at, s->n, s->cap) < 0)
    return PAI_ENOMEM;
  new = &s->at[s->n];
  new->value = value;
  new->name = pai__arena_strndup(&s->arena, name, strlen(name));
  if (new->name == NULL ||
      !pai__alert_labels_copy(&new->labels, &s->arena,
                              (pai__alert_labels){ labels, n }))
    return PAI_ENOMEM;
  pai__alert_labels_sort((pai__alert_label *)(uintptr_t) new->labels.at, n);
  s->n++;
  return PAI_OK;
}

bool pai__alert_samples_has(const pai__alert_samples *s, const char *name)
{
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->at[i].name, name) == 0)
      return true;
  return false;
}

/* --- Prometheus' text format --------------------------------------------- */

/* Ends a quoted value in place; returns what follows it, or NULL. */
static char *unquote(char *at)
{
  char *to = at;

  for (; *at != '"'; at++) {
    if (*at == '\0')
      return NULL;
    if (*at == '\\' && at[1] != '\0') {
      at++;
      *to++ = *at == 'n' ? '\n' : *at;
    } else {
      *to++ = *at;
    }
  }
  *to = '\0';
  return at + 1;
}

/* Reads `name="value",...}`; returns what follows, or NULL. */
static char *read_labels(char *at, pai__alert_label labels[LABELS], size_t *n)
{
  while (*at != '}') {
    char *equals = strchr(at, '=');

    if (equals == NULL || equals[1] != '"' || *n == LABELS)
      return NULL;
    *equals = '\0';
    labels[*n].name = at;
    labels[(*n)++].value = equals + 2;
    at = unquote(equals + 2);
    if (at == NULL)
      return NULL;
    at += *at == ',';
  }
  return at + 1;
}

static int read_line(pai__alert_samples *s, char *line, const pai__map *wanted)
{
  size_t len = strcspn(line, "{ "), n = 0;
  pai__alert_label labels[LABELS];
  char *rest = line + len, *end;
  bool has_labels = *rest == '{';
  double value;

  if (line[0] == '#' || *rest == '\0' ||
      pai__map_get(wanted, line, len) == NULL)
    return PAI_OK;
  *rest++ = '\0';
  if (has_labels)
    rest = read_labels(rest, labels, &n);
  if (rest == NULL)
    return PAI_OK;
  value = strtod(rest, &end);
  return end == rest ? PAI_OK
                     : pai__alert_samples_add(s, line, labels, n, value);
}

int pai__alert_samples_read(pai__alert_samples *s, char *text,
                            const pai__map *wanted)
{
  int rc = PAI_OK;

  while (rc == PAI_OK && *text != '\0') {
    size_t len = strcspn(text, "\n");
    char *next = text + len + (text[len] != '\0');

    text[len] = '\0';
    rc = read_line(s, text, wanted);
    text = next;
  }
  return rc;
}
