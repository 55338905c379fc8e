/* label.c - labels of metrics and alerts, and matchers on them */
#include "server/alerts/label.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- labels -------------------------------------------------------------- */

const char *pai__alert_labels_get(pai__alert_labels labels, const char *name)
{
  for (size_t i = 0; i < labels.n; i++)
    if (strcmp(labels.at[i].name, name) == 0)
      return labels.at[i].value;
  return "";
}

bool pai__alert_labels_copy(pai__alert_labels *out, pai__arena *arena,
                            pai__alert_labels labels)
{
  pai__alert_label *to =
    pai__arena_zalloc(arena, labels.n + 1, sizeof(*labels.at));

  if (to == NULL)
    return false;
  for (size_t i = 0; i < labels.n; i++) {
    const pai__alert_label *from = &labels.at[i];

    to[i].name = pai__arena_strndup(arena, from->name, strlen(from->name));
    to[i].value = pai__arena_strndup(arena, from->value, strlen(from->value));
    if (to[i].name == NULL || to[i].value == NULL)
      return false;
  }
  *out = (pai__alert_labels){ to, labels.n };
  return true;
}

static int by_name(const void *a, const void *b)
{
  const pai__alert_label *x = a, *y = b;

  return strcmp(x->name, y->name);
}

void pai__alert_labels_sort(pai__alert_label *labels, size_t n)
{
  if (n > 1)
    qsort(labels, n, sizeof(*labels), by_name);
}

void pai__alert_labels_key(pai__buf *out, pai__alert_labels labels,
                           const pai__alert_labels *only)
{
  for (size_t i = 0; i < labels.n; i++) {
    const pai__alert_label *l = &labels.at[i];
    bool wanted = only == NULL && l->value[0] != '\0';

    for (size_t k = 0; only != NULL && k < only->n; k++)
      wanted = wanted || strcmp(only->at[k].name, l->name) == 0;
    if (wanted)
      pai__buf_printf(out, "%s\x01%s\x02", l->name, l->value);
  }
}

bool pai__alert_label_is_name(const char *text, size_t len)
{
  static const char allowed[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

  if (len == 0 || (text[0] >= '0' && text[0] <= '9'))
    return false;
  for (size_t i = 0; i < len; i++)
    if (text[i] == '\0' || strchr(allowed, text[i]) == NULL)
      return false;
  return true;
}

/* --- matchers ------------------------------------------------------------ */

void pai__alert_matchers_init(pai__alert_matchers *m, const pai_alloc *alloc)
{
  *m = (pai__alert_matchers){ .alloc = *alloc };
}

static void free_matcher(const pai_alloc *alloc, pai__alert_matcher *m)
{
  if (m->regex != NULL) {
    regfree(m->regex);
    pai__free(alloc, m->regex, sizeof(regex_t));
  }
  pai__strfree(alloc, m->name);
  pai__strfree(alloc, m->value);
}

void pai__alert_matchers_dispose(pai__alert_matchers *m)
{
  for (size_t i = 0; i < m->n; i++)
    free_matcher(&m->alloc, &m->at[i]);
  pai__free(&m->alloc, m->at, m->cap * sizeof(*m->at));
  m->at = NULL;
  m->n = m->cap = 0;
}

/* Returns whether a group, or what is repeated already, is repeated: regcomp()
 * copies it for each +, and those copies with the next one. */
static bool repeats_group(const char *text)
{
  for (; *text != '\0'; text++)
    if ((strchr("+*?", *text) != NULL && text[1] != '\0' &&
         strchr("+*?", text[1]) != NULL) ||
        (*text == ')' && (text[1] == '+' || text[1] == '*')))
      return true;
  return false;
}

/* Bounds, back-references and repeated groups could take unlimited time and
 * memory. */
static int compile(const pai_alloc *alloc, pai__alert_matcher *m,
                   pai_error **err)
{
  char whole[PAI__MATCHER_VALUE + 8], why[128];
  int rc;

  if (strchr(m->value, '{') != NULL || strchr(m->value, '\\') != NULL) {
    (void)pai__fail(err, PAI_EINVAL,
                    "the regular expression \"%s\" has { or a backslash",
                    m->value);
    pai__error_help(err, "write [.] for a dot, and repeat with * + or ?");
    return PAI_EINVAL;
  }
  if (repeats_group(m->value)) {
    (void)pai__fail(err, PAI_EINVAL,
                    "the regular expression \"%s\" repeats a group", m->value);
    pai__error_help(err, "repeat a character or a set, as in [a-z]+");
    return PAI_EINVAL;
  }
  (void)snprintf(whole, sizeof(whole), "^(%s)$", m->value);
  m->regex = pai__zalloc(alloc, sizeof(regex_t));
  if (m->regex == NULL)
    return pai__oom(err);
  rc = regcomp(m->regex, whole, REG_EXTENDED | REG_NOSUB);
  if (rc == 0)
    return PAI_OK;
  (void)regerror(rc, m->regex, why, sizeof(why));
  pai__free(alloc, m->regex, sizeof(regex_t));
  m->regex = NULL;
  if (rc == REG_ESPACE)
    return pai__oom(err);
  return pai__fail(err, PAI_EINVAL, "\"%s\" is no regular expression: %s",
                   m->value, why);
}

int pai__alert_matchers_add(pai__alert_matchers *m, const char *name,
                            size_t name_len, const char *value, size_t len,
                            bool negative, bool regex, pai_error **err)
{
  pai__alert_matcher new = { .negative = negative };
  int rc = PAI_OK;

  if (!pai__alert_label_is_name(name, name_len)) {
    (void)pai__fail(err, PAI_EINVAL, "\"%.*s\" is not the name of a label",
                    (int)(name_len < 64 ? name_len : 64), name);
    pai__error_help(err, "a name has letters, digits and _");
    return PAI_EINVAL;
  }
  if (m->n == PAI__MATCHERS || len > PAI__MATCHER_VALUE)
    return pai__fail(err, PAI_ELIMIT,
                     "more than %d matchers, or a value of more than %d bytes",
                     PAI__MATCHERS, PAI__MATCHER_VALUE);
  if (PAI__VEC_ROOM(&m->alloc, m->at, m->n, m->cap) < 0)
    return pai__oom(err);
  new.name = pai__strndup(&m->alloc, name, name_len);
  new.value = pai__strndup(&m->alloc, value, len);
  if (new.name == NULL || new.value == NULL)
    rc = pai__oom(err);
  else if (regex)
    rc = compile(&m->alloc, &new, err);
  if (rc < 0)
    free_matcher(&m->alloc, &new);
  else
    m->at[m->n++] = new;
  return rc;
}

bool pai__alert_matchers_match(const pai__alert_matchers *m,
                               pai__alert_labels labels)
{
  for (size_t i = 0; i < m->n; i++) {
    const pai__alert_matcher *x = &m->at[i];
    const char *value = pai__alert_labels_get(labels, x->name);
    bool is = x->regex != NULL ? regexec(x->regex, value, 0, NULL, 0) == 0
                               : strcmp(value, x->value) == 0;

    if (is == x->negative)
      return false;
  }
  return true;
}
