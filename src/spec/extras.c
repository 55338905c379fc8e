/*
 * extras.c - extras.openpai: the fields of a job that only libopenpai reads
 *
 * Other OpenPAI servers ignore them.  The table of its keys is in rules_v2.c.
 */
#include "base/text/duration.h"
#include "spec/check.h"
#include "spec/dependency.h"
#include "spec/scan/index.h"
#include "spec/notes.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)

enum {
  LONGEST = 10 * 366 * 86400, /* longest time limit, in seconds */
  MOST_FOLDERS = 64
};

pai__node pai__check_extras(pai__findings *f, pai__place *places,
                            const char *name, const pai__spec_rule *rule)
{
  const char *const path[] = { "extras", name };
  pai__node n = 0, key = PAI__NO_NODE;

  places[0] = (pai__place){ NULL, PAI__NO_NODE, 0 };
  for (size_t i = 0; i < PAI__LEN(path); i++) {
    if (pai__tree_type(f->tree, n) != PAI__MAPPING)
      return PAI__NO_NODE;
    key = pai__tree_find(f->tree, n, path[i], strlen(path[i]));
    if (key == PAI__NO_NODE)
      return PAI__NO_NODE;
    places[i + 1] = (pai__place){ &places[i], key, 0 };
    n = pai__tree_value(f->tree, key);
  }
  f->place = &places[PAI__LEN(path)];
  pai__check(f, rule, n, key);
  return n;
}

/* Limits the items of a list in extras.openpai, whose node is `n`. */
static void check_count(pai__findings *f, pai__node n, const char *name,
                        size_t most, const char *what, const char *things,
                        const char *help)
{
  n = pai__tree_get(f->tree, n, name);
  if (!pai__tree_is(f->tree, n, PAI__SEQUENCE) ||
      pai__tree_count(f->tree, n) <= most)
    return;
  pai__find(f, PAI_SEVERITY_ERROR, "too-many", n, "%s at most %d %s", what,
            (int)most, things);
  pai__find_help(f, "%s", help);
}

void pai__check_openpai(pai__findings *f)
{
  pai__place places[PAI__EXTRAS_PLACES];

  pai__node n = pai__check_extras(f, places, "openpai", &pai__rules_openpai);

  if (pai__tree_is(f->tree, n, PAI__MAPPING)) {
    check_count(f, n, "after", PAI__MOST_AFTER, "a job waits for", "others",
                "wait only for the last of these jobs");
    check_count(f, n, "folders", MOST_FOLDERS, "tasks see", "folders of /tmp",
                "use a folder that contains the others");
  }
  f->place = NULL;
}

pai__node pai__spec_own(const pai__tree *t, const char *name)
{
  return pai__tree_look(
    t, pai__tree_get(t, pai__tree_get(t, 0, "extras"), "openpai"), name);
}

bool pai__spec_own_flag(const pai__tree *t, const char *name)
{
  return pai__tree_is_true(t, pai__spec_own(t, name));
}

bool pai__spec_gang(const pai__tree *t)
{
  pai__node n =
    pai__tree_get(t, pai__tree_get(t, 0, "extras"), "gangAllocation");

  return !pai__tree_is(t, n, PAI__BOOL) || pai__tree_bool(t, n);
}

/* --- a time limit ------------------------------------------------------- */

static pai_time read_time_limit(const pai__tree *t)
{
  pai__node n = pai__spec_own(t, "timeLimit");
  pai_time limit = 0;

  if (n == PAI__NO_NODE)
    return 0;
  if (pai__tree_type(t, n) == PAI__INT && pai__tree_int(t, n) > 0)
    limit = pai__tree_int(t, n) < LONGEST ? pai__tree_int(t, n) * SECOND
                                          : LONGEST * SECOND;
  else if (pai__tree_type(t, n) != PAI__STRING ||
           pai__duration_read(pai__tree_str(t, n, NULL), &limit) == NULL)
    return 0;
  return limit < LONGEST * SECOND ? limit : LONGEST * SECOND;
}

bool pai__time_limit_fits(const char *text, size_t len)
{
  pai_time limit;

  return len > 0 && pai__duration_read(text, &limit) == text + len &&
         limit >= SECOND && limit <= LONGEST * SECOND;
}

/* --- jobs to wait for --------------------------------------------------- */

static bool is_name_byte(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || (c != '\0' && strchr("._~-", c) != NULL);
}

bool pai__dependency_read(pai__dependency *out, const char *text, size_t len)
{
  static const struct {
    const char *word;
    enum pai__dependency_kind when;
  } kinds[] = { { "ok", PAI__WHEN_OK },
                { "failed", PAI__WHEN_FAILED },
                { "ended", PAI__WHEN_ENDED } };
  size_t n = 0;

  while (n < len && is_name_byte(text[n]))
    n++;
  *out = (pai__dependency){ text, n, PAI__WHEN_OK };
  if (n == 0 || n == len)
    return n > 0;
  if (text[n] != ':')
    return false;
  for (size_t i = 0; i < PAI__LEN(kinds); i++) {
    size_t word = strlen(kinds[i].word);

    out->when = kinds[i].when;
    if (len - n - 1 == word && memcmp(text + n + 1, kinds[i].word, word) == 0)
      return true;
  }
  return false;
}

/* Adds a job to wait for, unless it is there already.  An invalid text is
 * skipped: find_obstacle() has refused it. */
static void add_dependency(pai_spec *spec, pai__node n)
{
  size_t len = 0;
  const char *text = pai__text_at(spec->tree, n, &len);
  pai__dependency one;

  if (text == NULL || spec->nafter == PAI__MOST_AFTER ||
      !pai__dependency_read(&one, text, len))
    return;
  for (size_t i = 0; i < spec->nafter; i++)
    if (spec->after[i].when == one.when && spec->after[i].len == one.len &&
        memcmp(spec->after[i].name, one.name, one.len) == 0)
      return;
  spec->after[spec->nafter++] = one;
}

/* Makes an error of extras.openpai an obstacle.  A stored job can then still
 * be read, but a submitted one cannot be run. */
static int find_obstacle(pai_spec *spec)
{
  pai__findings f;
  char text[400];

  pai__findings_init(&f, &spec->arena, spec->tree);
  pai__check_openpai(&f);
  if (!f.failed && f.len > 0 && spec->obstacle == NULL) {
    (void)snprintf(text, sizeof(text), "in extras.openpai: %s%s%s",
                   f.list[0].message, f.list[0].help != NULL ? "; " : "",
                   f.list[0].help != NULL ? f.list[0].help : "");
    spec->obstacle = pai__arena_strndup(&spec->arena, text, strlen(text));
    f.failed = spec->obstacle == NULL;
  }
  pai__findings_dispose(&f);
  return f.failed ? PAI_ENOMEM : PAI_OK;
}

int pai__spec_extras(pai_spec *spec)
{
  const pai__tree *t = spec->tree;
  pai__node list = pai__spec_own(t, "after"), item;
  pai__tree_walk walk;

  if (pai__tree_get(t, pai__tree_get(t, 0, "extras"), "openpai") !=
        PAI__NO_NODE &&
      find_obstacle(spec) < 0)
    return PAI_ENOMEM;
  spec->time_limit = read_time_limit(t);
  if (list == PAI__NO_NODE)
    return PAI_OK;
  spec->after =
    pai__arena_zalloc(&spec->arena, PAI__MOST_AFTER, sizeof(*spec->after));
  if (spec->after == NULL)
    return PAI_ENOMEM;
  if (pai__tree_type(t, list) != PAI__SEQUENCE) {
    add_dependency(spec, list);
    return PAI_OK;
  }
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    add_dependency(spec, item);
  return PAI_OK;
}
