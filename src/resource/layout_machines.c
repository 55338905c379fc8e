/* layout_machines.c - the machines of a layout.yaml, and what is wrong with
 * them alone and together */
#include "resource/layout.h"

#include "base/utf8.h"

#include <stdlib.h>

/* --- machines ------------------------------------------------------------- */

/* "true" or "false", as texts: OpenPAI compares them as such. */
static bool read_role(pai__reader *r, pai__node n, const char *what)
{
  char text[PAI__VALUE_TEXT];
  bool is_bool;
  pai__piece s;

  if (n == PAI__NO_NODE)
    return false;
  s = pai__import_text(r, n);
  if (pai__piece_is(s, "true") || pai__piece_is(s, "false"))
    return s.len == 4;
  is_bool = pai__tree_type(r->t, n) == PAI__BOOL;
  if (pai__find(r->f, PAI_SEVERITY_ERROR, is_bool ? "unquoted" : "bad-role", n,
                is_bool ? "%s must be a text: %s without quotes is none"
                        : "%s cannot be %s",
                what, pai__value_text(text, r->f, n)))
    pai__find_help(r->f, "write %s: \"%s\"", what,
                   is_bool && !pai__tree_bool(r->t, n) ? "false" : "true");
  return is_bool && pai__tree_bool(r->t, n);
}

static uint32_t find_def(pai__layout *l, pai__node n)
{
  pai__reader *r = l->r;
  pai__piece name = pai__read_text(r, n, "machine-type");
  pai__names names;
  void *known;

  if (name.s == NULL)
    return PAI__NOTHING;
  known = pai__map_get(&l->by_name, name.s, name.len);
  if (known != NULL)
    return (uint32_t)(uintptr_t)known - 1;
  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-sku", n,
                 "there is no machine type '%.*s'", (int)name.len, name.s))
    return PAI__NOTHING;
  pai__names_init(&names, &r->c->alloc, name.s, name.len);
  names.made_up = true;
  for (size_t i = 0; i < l->ndefs; i++)
    pai__names_add(&names, l->defs[i].sku.name, strlen(l->defs[i].sku.name));
  pai__names_help(&names, r->f, "machine-sku has");
  return PAI__NOTHING;
}

/* Small letters, digits and -, in parts between points. */
static bool is_hostname(pai__piece s)
{
  char last = '.';

  for (size_t i = 0; i < s.len; i++) {
    char c = s.s[i];
    bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

    if (!is_word && (c != '-' || last == '.') && (c != '.' || last == '.'))
      return false;
    if (c == '.' && last == '-')
      return false;
    last = c;
  }
  return last != '.' && last != '-';
}

static bool is_ipv4(pai__piece s)
{
  unsigned parts = 0, value = 0, digits = 0;

  for (size_t i = 0; i <= s.len; i++) {
    if (i < s.len && s.s[i] >= '0' && s.s[i] <= '9' && digits < 3) {
      value = value * 10 + (unsigned)(s.s[i] - '0');
      digits++;
    } else if ((i == s.len || s.s[i] == '.') && digits > 0 && value < 256) {
      parts++;
      value = digits = 0;
    } else {
      return false;
    }
  }
  return parts == 4;
}

static void read_names(pai__reader *r, pai__layout_machine *m)
{
  char piece[PAI__EXCERPT];

  m->name = pai__read_text(r, m->name_at, "hostname");
  m->address = pai__read_text(r, m->address_at, "hostip");
  if (m->name.s != NULL && !is_hostname(m->name) &&
      pai__find(r->f, PAI_SEVERITY_ERROR, "bad-hostname", m->name_at,
                "'%s' cannot be the name of a machine",
                pai__excerpt(piece, m->name.s, m->name.len)))
    pai__find_help(r->f, "small letters, digits, - and . between them, as "
                         "pai-worker1");
  if (m->address.s != NULL && !is_ipv4(m->address) &&
      pai__find(r->f, PAI_SEVERITY_ERROR, "bad-address", m->address_at,
                "'%s' is no address of IPv4",
                pai__excerpt(piece, m->address.s, m->address.len)))
    pai__find_help(r->f, "four numbers from 0 to 255, as 10.0.0.1");
}

static void read_machine(pai__layout *l, pai__node n)
{
  enum { NAME, ADDRESS, TYPE, MASTER, WORKER, STORAGE, KEYS, OLD = KEYS + 2 };
  static const char *const keys[] = { "hostname", "hostip", "machine-type",
                                      "pai-master", "pai-worker",
                                      "pai-storage",
                                      /* of old ones, so like those above */
                                      "nodename", "dashboard" };
  pai__reader *r = l->r;
  pai__layout_machine *m = &l->machines[l->nmachines];
  pai__node v[OLD];

  if (!pai__read_fields(r, n, "a machine", keys, l->is_old ? OLD : KEYS, v))
    return;
  for (size_t i = 0; i <= TYPE; i++)
    if (v[i] == PAI__NO_NODE)
      pai__read_missing(r, n, "a machine", keys[i]);
  *m = (pai__layout_machine){ .at = n,
                              .name_at = v[NAME],
                              .address_at = v[ADDRESS] };
  read_names(r, m);
  m->def = find_def(l, v[TYPE]);
  m->is_master = read_role(r, v[MASTER], "pai-master");
  m->is_worker = read_role(r, v[WORKER], "pai-worker");
  m->is_storage = read_role(r, v[STORAGE], "pai-storage");
  if (m->is_master && m->is_worker &&
      pai__find(r->f, PAI_SEVERITY_ERROR, "two-roles", v[WORKER],
                "a machine cannot be both pai-master and pai-worker"))
    pai__find_help(r->f, "take one of them out");
  l->nmachines++;
}

static void read_machines(pai__layout *l, pai__node n)
{
  pai__reader *r = l->r;
  pai__tree_walk walk;
  pai__node item;

  if (!pai__read_is_list(r, n, "machine-list"))
    return;
  l->machine_room = pai__tree_count(r->t, n);
  l->machines = pai__realloc(&r->c->alloc, NULL, 0, l->machine_room + 1,
                             sizeof(*l->machines));
  r->f->failed |= l->machines == NULL;
  walk = pai__tree_iter(r->t, n);
  while (!r->f->failed && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    read_machine(l, item);
}

/* --- all of them together ------------------------------------------------- */

typedef struct named {
  pai__piece name;
  pai__layout_machine *m;
} named;

static int by_name(const void *a, const void *b)
{
  const named *x = a, *y = b;
  size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
  int order = memcmp(x->name.s, y->name.s, len);

  if (order != 0)
    return order;
  if (x->name.len != y->name.len)
    return x->name.len < y->name.len ? -1 : 1;
  return x->m < y->m ? -1 : x->m > y->m;
}

static void tell_same(pai__layout *l, const named *list, size_t n,
                      bool addresses)
{
  size_t first = 0;

  for (size_t i = 1; i < n; i++) {
    pai__layout_machine *m = list[i].m;
    pai__pos pos;

    if (list[i].name.len != list[first].name.len ||
        memcmp(list[i].name.s, list[first].name.s, list[i].name.len) != 0) {
      first = i;
      continue;
    }
    m->is_twice = true;
    pos = pai__tree_where(l->r->t, list[first].m->at);
    if (pai__find(l->r->f, PAI_SEVERITY_ERROR, "duplicate",
                  addresses ? m->address_at : m->name_at,
                  "the machine at line %u has %s '%.*s' already",
                  (unsigned)pos.line, addresses ? "hostip" : "hostname",
                  (int)list[i].name.len, list[i].name.s))
      pai__find_help(l->r->f, "each machine has its own");
  }
}

static void find_same(pai__layout *l, bool addresses)
{
  const pai_alloc *alloc = &l->r->c->alloc;
  size_t n = 0;
  named *list = pai__realloc(alloc, NULL, 0, l->nmachines + 1, sizeof(*list));

  if (list == NULL) {
    l->r->f->failed = true;
    return;
  }
  for (size_t i = 0; i < l->nmachines; i++) {
    pai__layout_machine *m = &l->machines[i];
    pai__piece name = addresses ? m->address : m->name;

    if (name.s != NULL)
      list[n++] = (named){ name, m };
  }
  qsort(list, n, sizeof(*list), by_name);
  tell_same(l, list, n, addresses);
  pai__free(alloc, list, (l->nmachines + 1) * sizeof(*list));
}

/* One master, and somebody to work. */
static void count_roles(pai__layout *l, pai__node at)
{
  const pai__layout_machine *master = NULL;
  pai__findings *f = l->r->f;
  size_t workers = 0;

  for (size_t i = 0; i < l->nmachines; i++) {
    const pai__layout_machine *m = &l->machines[i];

    workers += m->is_worker;
    if (m->is_master && master != NULL &&
        pai__find(f, PAI_SEVERITY_ERROR, "two-masters", m->at,
                  "the machine at line %u is pai-master already",
                  (unsigned)pai__tree_where(l->r->t, master->at).line))
      pai__find_help(f, "OpenPAI has exactly one");
    if (m->is_master && master == NULL)
      master = m;
  }
  if (master == NULL && pai__find(f, PAI_SEVERITY_ERROR, "no-master", at,
                                  "no machine is pai-master"))
    pai__find_help(f, "write pai-master: \"true\" for one of them");
  if (workers == 0 && pai__find(f, PAI_SEVERITY_ERROR, "no-worker", at,
                                "no machine is pai-worker"))
    pai__find_help(f, "write pai-worker: \"true\" for those that run jobs");
}

void pai__layout_machines(pai__layout *l, pai__node n)
{
  read_machines(l, n);
  if (l->r->f->failed || l->machines == NULL)
    return;
  find_same(l, false);
  find_same(l, true);
  count_roles(l, n);
}
