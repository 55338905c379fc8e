/* diff_tell.c - reports differences to the caller */
#include "spec/diff/diff.h"

#include "spec/format/write.h"

void pai__teller_init(pai__teller *teller, const pai_alloc *alloc,
                      pai_spec_diff_cb cb, void *user_data)
{
  *teller = (pai__teller){ .cb = cb, .user_data = user_data };
  pai__buf_init(&teller->pointer, alloc);
  pai__buf_init(&teller->old_text, alloc);
  pai__buf_init(&teller->new_text, alloc);
}

void pai__teller_dispose(pai__teller *teller)
{
  pai__buf_dispose(&teller->pointer);
  pai__buf_dispose(&teller->old_text);
  pai__buf_dispose(&teller->new_text);
}

void pai__tell_rc(pai__teller *teller, int rc)
{
  if (teller->rc == PAI_OK && rc < 0)
    teller->rc = rc;
}

static void tell(pai__teller *teller, int kind, const char *old_value,
                 const char *new_value)
{
  pai_spec_change change = { sizeof(change), kind,
                             pai__buf_text(&teller->pointer), old_value,
                             new_value };

  if (!pai__buf_ok(&teller->pointer) || !pai__buf_ok(&teller->old_text) ||
      !pai__buf_ok(&teller->new_text))
    pai__tell_rc(teller, PAI_ENOMEM);
  if (teller->rc < 0)
    return;
  teller->count++;
  pai__tell_rc(teller, teller->cb(teller->user_data, &change));
}

/* Returns a value as compact JSON, or NULL for PAI__NO_NODE. */
static const char *json_of(pai__teller *teller, pai__buf *out,
                           const pai__secrets *secrets, pai__node n)
{
  pai__json_writer w;

  pai__buf_clear(out);
  if (n == PAI__NO_NODE)
    return NULL;
  pai__json_writer_init(&w, out, false);
  pai__value_write(&w, secrets, n);
  pai__tell_rc(teller, pai__json_finish(&w));
  return pai__buf_text(out);
}

static int kind_of(bool in_a, bool in_b)
{
  return !in_a   ? PAI_CHANGE_ADDED
         : !in_b ? PAI_CHANGE_REMOVED
                 : PAI_CHANGE_CHANGED;
}

void pai__tell_values(pai__teller *teller, const pai__secrets *p, pai__node a,
                      const pai__secrets *q, pai__node b)
{
  const char *old_value = json_of(teller, &teller->old_text, p, a);
  const char *new_value = json_of(teller, &teller->new_text, q, b);

  tell(teller, kind_of(a != PAI__NO_NODE, b != PAI__NO_NODE), old_value,
       new_value);
}

static const char *json_line(pai__teller *teller, pai__buf *out,
                             const pai__secrets *secrets,
                             const pai__spec_piece *line)
{
  pai__json_writer w;

  if (line == NULL || pai__secrets_hide(secrets, line->node))
    return json_of(teller, out, secrets,
                   line != NULL ? line->node : PAI__NO_NODE);
  pai__buf_clear(out);
  pai__json_writer_init(&w, out, false);
  pai__json_text(&w, line->s, line->len);
  pai__tell_rc(teller, pai__json_finish(&w));
  return pai__buf_text(out);
}

void pai__tell_lines(pai__teller *teller, const pai__secrets *p,
                     const pai__spec_piece *a, const pai__secrets *q,
                     const pai__spec_piece *b)
{
  const char *old_value = json_line(teller, &teller->old_text, p, a);
  const char *new_value = json_line(teller, &teller->new_text, q, b);

  tell(teller, kind_of(a != NULL, b != NULL), old_value, new_value);
}

void pai__tell_move(pai__teller *teller, size_t from, size_t to)
{
  pai__buf_clear(&teller->old_text);
  pai__buf_clear(&teller->new_text);
  pai__buf_printf(&teller->old_text, "%zu", from);
  pai__buf_printf(&teller->new_text, "%zu", to);
  tell(teller, PAI_CHANGE_MOVED, pai__buf_text(&teller->old_text),
       pai__buf_text(&teller->new_text));
}

size_t pai__tell_key(pai__teller *teller, const char *key, size_t len)
{
  size_t before = teller->pointer.len;

  pai__pointer_add(&teller->pointer, key, len);
  return before;
}

size_t pai__tell_item(pai__teller *teller, uint32_t index)
{
  size_t before = teller->pointer.len;

  pai__buf_printf(&teller->pointer, "/%u", index);
  return before;
}

void pai__tell_up(pai__teller *teller, size_t before)
{
  if (!pai__buf_ok(&teller->pointer))
    return;
  teller->pointer.len = before;
  teller->pointer.data[before] = '\0';
}
