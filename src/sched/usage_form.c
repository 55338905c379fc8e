/* usage_form.c - what users have used, as text */
#include "sched/usage.h"

#include "json/json.h"
#include "json/writer.h"

#include <stdlib.h>

static void write_text(pai__json_writer *w, const pai_sched *s,
                       const char *key, uint32_t name)
{
  const char *text = pai__texts_text(&s->names, name);

  pai__json_key(w, key, strlen(key));
  if (text != NULL)
    pai__json_text(w, text, strlen(text));
  else
    pai__json_null(w);
}

static void write_number(pai__json_writer *w, const char *key, int64_t n)
{
  pai__json_key(w, key, strlen(key));
  pai__json_int(w, n);
}

/* An account, and whose it is. */
typedef struct owned {
  const pai__account *account;
  const char *vc, *user; /* user: NULL: nobody in particular */
} owned;

static int by_owner(const void *a, const void *b)
{
  const owned *x = a, *y = b;
  int order = strcmp(x->vc, y->vc);

  if (order != 0 || x->user == y->user)
    return order;
  if (x->user == NULL || y->user == NULL)
    return x->user == NULL ? -1 : 1;
  return strcmp(x->user, y->user);
}

/* By their names: the order in which accounts were made depends on where runs
 * lie in memory, which is another one of a fork.  NULL without memory. */
static owned *list_owned(const pai__usage *u, const pai_sched *s)
{
  owned *list = pai__zalloc(&s->alloc, (u->accounts.len + 1) * sizeof(*list));

  for (uint32_t i = 0; list != NULL && i < u->accounts.len; i++) {
    const pai__account *a = (pai__account *)u->accounts.data + i;

    list[i] = (owned){ a, pai__texts_text(&s->names, a->vc),
                       pai__texts_text(&s->names, a->user) };
  }
  if (list != NULL && u->accounts.len > 1)
    qsort(list, u->accounts.len, sizeof(*list), by_owner);
  return list;
}

int pai__usage_write(const pai__usage *u, const pai_sched *s,
                     pai_write_cb write, void *user_data)
{
  pai__buf buf;
  pai__json_writer w;
  owned *list = list_owned(u, s);
  int rc;

  if (list == NULL)
    return PAI_ENOMEM;
  pai__buf_init(&buf, &s->alloc);
  pai__json_writer_init(&w, &buf, false);
  pai__json_writer_to(&w, write, user_data);
  pai__json_begin_object(&w);
  write_number(&w, "last", u->last);
  pai__json_key(&w, "users", 5);
  pai__json_begin_array(&w);
  for (uint32_t i = 0; i < u->accounts.len; i++) {
    const pai__account *a = list[i].account;

    pai__json_begin_object(&w);
    write_text(&w, s, "vc", a->vc);
    write_text(&w, s, "user", a->user);
    write_number(&w, "usage", (int64_t)a->usage);
    write_number(&w, "gpus", (int64_t)a->rate);
    pai__json_end_object(&w);
  }
  pai__json_end_array(&w);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  pai__buf_dispose(&buf);
  pai__free(&s->alloc, list, (u->accounts.len + 1) * sizeof(*list));
  return rc;
}

static bool get_number(const pai__tree *t, pai__node of, const char *key,
                       int64_t *n)
{
  pai__node value = pai__tree_get(t, of, key);

  if (value == PAI__NO_NODE || pai__tree_type(t, value) != PAI__INT)
    return false;
  *n = pai__tree_int(t, value);
  return true;
}

/* PAI_OK, PAI_ENOMEM or PAI_EINVAL. */
static int get_name(pai_sched *s, const pai__tree *t, pai__node of,
                    const char *key, uint32_t *name)
{
  pai__node value = pai__tree_get(t, of, key);

  *name = PAI__NONE;
  if (value == PAI__NO_NODE)
    return PAI_EINVAL;
  if (pai__tree_type(t, value) == PAI__NULL)
    return PAI_OK;
  if (pai__tree_type(t, value) != PAI__STRING)
    return PAI_EINVAL;
  return pai__texts_add(&s->names, &s->alloc, pai__tree_str(t, value, NULL),
                        name);
}

static int read_account(pai__usage *u, pai_sched *s, const pai__tree *t,
                        pai__node of)
{
  pai__account a = { 0 };
  int64_t usage, gpus;
  int rc = get_name(s, t, of, "vc", &a.vc);

  if (rc == PAI_OK)
    rc = get_name(s, t, of, "user", &a.user);
  if (rc < 0)
    return rc;
  if (!get_number(t, of, "usage", &usage) || usage < 0 ||
      !get_number(t, of, "gpus", &gpus) || gpus < 0 || a.vc == PAI__NONE ||
      pai__usage_has(u, a.vc, a.user))
    return PAI_EINVAL;
  a.usage = (uint64_t)usage;
  a.rate = (uint64_t)gpus;
  return pai__usage_add(u, &s->alloc, &a);
}

static int read_saved(pai__usage *u, pai_sched *s, const pai__tree *t)
{
  pai__node users = pai__tree_get(t, 0, "users"), of;
  pai__tree_walk walk;
  int rc = PAI_OK;

  if (pai__tree_type(t, 0) == PAI__NULL)
    return PAI_OK; /* written by hand: nobody has used anything */
  if (!get_number(t, 0, "last", &u->last) || users == PAI__NO_NODE ||
      pai__tree_type(t, users) != PAI__SEQUENCE)
    return PAI_EINVAL;
  u->accounts.len = 0;
  pai__lookup_clear(&u->index);
  walk = pai__tree_iter(t, users);
  while (rc == PAI_OK && (of = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read_account(u, s, t, of);
  return rc;
}

int pai__usage_read(pai__usage *u, pai_sched *s, const char *saved, size_t len)
{
  pai__json_options how = { .alloc = &s->alloc };
  pai__tree *tree;
  int rc = pai__json_parse(&tree, saved, len, &how, NULL);

  if (rc < 0)
    return rc;
  rc = read_saved(u, s, tree);
  pai__tree_free(tree);
  return rc;
}
