/* slurm_fields.c - numbers, names and states as versions of Slurm write them */
#include "resource/slurm.h"

#include "base/utf8.h"

/* --- numbers -------------------------------------------------------------- */

static bool is_true(const pai__reader *r, pai__node n)
{
  return n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__BOOL &&
         pai__tree_bool(r->t, n);
}

bool pai__slurm_number(pai__reader *r, pai__node n, const char *what,
                       uint64_t most, uint64_t *out)
{
  char text[PAI__VALUE_TEXT];
  int64_t value;

  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) == PAI__NULL)
    return false;
  if (pai__tree_type(r->t, n) == PAI__MAPPING) {
    if (!is_true(r, pai__import_get(r, n, "set")) ||
        is_true(r, pai__import_get(r, n, "infinite")))
      return false;
    n = pai__import_get(r, n, "number");
  }
  if (n == PAI__NO_NODE)
    return false;
  if (!pai__tree_whole(r->t, n, &value)) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", n,
                    "%s must be a whole number, not %s", what,
                    pai__value_text(text, r->f, n));
    return false;
  }
  if (value < 0 || (uint64_t)value > most) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR,
                    value < 0 ? "too-small" : "too-large", n,
                    "%s cannot be %s", what, pai__value_text(text, r->f, n));
    return false;
  }
  *out = (uint64_t)value;
  return true;
}

/* --- names ---------------------------------------------------------------- */

void pai__slurm_names_begin(pai__slurm_names *s, const pai__reader *r,
                            pai__node n)
{
  *s = (pai__slurm_names){ .r = r };
  if (n == PAI__NO_NODE)
    return;
  if (pai__tree_type(r->t, n) == PAI__SEQUENCE)
    s->walk = pai__tree_iter(r->t, n);
  else
    s->left = pai__import_text(r, n);
}

bool pai__slurm_names_next(pai__slurm_names *s, pai__piece *name)
{
  for (;;) {
    pai__node item;

    while (s->left.len > 0 && strchr(",+ ", *s->left.s) != NULL &&
           *s->left.s != '\0') {
      s->left.s++;
      s->left.len--;
    }
    if (s->left.s != NULL && s->left.len > 0) {
      name->s = s->left.s;
      name->len = 0;
      while (name->len < s->left.len &&
             memchr(",+ ", name->s[name->len], 3) == NULL)
        name->len++;
      s->left.s += name->len;
      s->left.len -= name->len;
      return true;
    }
    if (s->walk.left == 0)
      return false;
    item = pai__tree_next(&s->walk);
    s->left = pai__import_text(s->r, item);
  }
}

/* --- states --------------------------------------------------------------- */

/* In what a node is out of use, and how to say so; of several the first in
 * this list says most. */
static const struct sick_state {
  const char *name, *says;
} sick_states[] = {
  { "DOWN", "down" },
  { "ERROR", "in error" },
  { "FAIL", "failed" },
  { "FAILING", "failed" },
  { "DRAIN", "drained" },
  { "DRAINED", "drained" },
  { "DRAINING", "drained" },
  { "NOT_RESPONDING", "not responding" },
  { "NO_RESPOND", "not responding" },
  { "INVALID_REG", "registered with less than is configured" },
  { "MAINTENANCE", "in maintenance" },
  { "MAINT", "in maintenance" },
  { "REBOOT_ISSUED", "rebooting" },
  { "POWERED_DOWN", "powered down" },
  { "POWERING_DOWN", "powering down" },
  { "POWER_DOWN", "powering down" },
  { "POWER_DRAIN", "powering down" },
  { "POWERING_UP", "powering up" },
  { "POWER_UP", "powering up" },
  { "FUTURE", "not there yet" },
  { "DYNAMIC_FUTURE", "not there yet" },
  { "UNKNOWN", "in an unknown state" },
  { "INVALID", "in an unknown state" },
};

/* Older versions write small letters, and scontrol's text has marks such as *
 * behind the state. */
static bool is_state(pai__piece s, const char *name)
{
  size_t i = 0;

  for (; i < s.len && name[i] != '\0'; i++) {
    char c = s.s[i];

    if (c >= 'a' && c <= 'z')
      c = (char)(c - 'a' + 'A');
    if (c != name[i])
      return false;
  }
  if (name[i] != '\0')
    return false;
  while (i < s.len && memchr("*~#!%$@^-", s.s[i], 9) != NULL)
    i++;
  return i == s.len;
}

static size_t find_state(pai__piece s)
{
  size_t i = 0;

  while (i < PAI__LEN(sick_states) && !is_state(s, sick_states[i].name))
    i++;
  return i;
}

/* A mark behind a state says what newer versions say with a flag. */
static size_t find_mark(pai__piece s)
{
  static const struct {
    char mark;
    const char *state;
  } marks[] = { { '*', "NOT_RESPONDING" }, { '$', "MAINT" },
                { '~', "POWERED_DOWN" },   { '%', "POWERING_DOWN" },
                { '!', "POWER_DOWN" },     { '#', "POWERING_UP" } };

  for (size_t i = 0; i < PAI__LEN(marks); i++)
    if (memchr(s.s, marks[i].mark, s.len) != NULL)
      return find_state(
        (pai__piece){ marks[i].state, strlen(marks[i].state) });
  return PAI__LEN(sick_states);
}

void pai__slurm_health(const pai__reader *r, pai__node node, pai__buf *why)
{
  static const char *const keys[] = { "state", "state_flags" };
  pai__piece reason = pai__import_text(r, pai__import_get(r, node, "reason"));
  size_t worst = PAI__LEN(sick_states);

  for (size_t i = 0; i < PAI__LEN(keys); i++) {
    pai__slurm_names names;
    pai__piece s;

    pai__slurm_names_begin(&names, r, pai__import_get(r, node, keys[i]));
    while (pai__slurm_names_next(&names, &s)) {
      size_t state = find_state(s), mark = find_mark(s);

      if (state < worst)
        worst = state;
      if (mark < worst)
        worst = mark;
    }
  }
  if (worst == PAI__LEN(sick_states))
    return;
  pai__reason_add(why, "%s", sick_states[worst].says);
  if (reason.s != NULL && !pai__piece_is(reason, "(null)") &&
      !pai__piece_is(reason, "none"))
    pai__buf_printf(why, ": %.*s", (int)(reason.len < 500 ? reason.len : 500),
                    reason.s);
}
