/* variables.c - values of variables that the job file says */
#include "language/facts/parts.h"

enum { MOST_TASKS = 4, LONGEST = 400 };

/* Lines that cannot be parsed are not in the tree's text. */
int pai__facts_spec(pai_spec **out, const pai__facts *f)
{
  pai_spec_options opts = PAI_SPEC_OPTIONS_INIT;
  int rc;

  opts.alloc = f->alloc;
  rc = pai_spec_parse(out, f->tree->text, f->len, &opts, NULL);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

static bool find_role(pai__variable_of *of, const char *name, size_t len)
{
  for (size_t r = 0; r < of->spec->nroles; r++) {
    const pai__role *role = &of->spec->roles[r];

    if (strlen(role->name) != len || memcmp(role->name, name, len) != 0)
      continue;
    of->role = role;
    of->role_tasks = role->instances;
    return true;
  }
  return false;
}

/* Appends ", VALUE" for each task after the first, unless all values are equal.
 * Returns the number of tasks whose values are there. */
static uint32_t put_more(pai__buf *out, const pai__platform_variable *v,
                         pai__variable_of *of, size_t first)
{
  size_t end = out->len, len = end - first;

  for (of->index = 1; of->index < MOST_TASKS && of->index < of->role_tasks;
       of->index++) {
    pai__buf_str(out, ", ");
    v->put(out, of);
    if (of->index == 1 && pai__buf_ok(out) && out->len == end + 2 + len &&
        memcmp(out->data + first, out->data + end + 2, len) == 0) {
      pai__buf_cut(out, end);
      return 1;
    }
  }
  if (of->index < of->role_tasks)
    pai__buf_str(out, ", ...");
  return of->index;
}

uint32_t pai__facts_put_known(pai__buf *out, const pai_spec *spec,
                              const pai__platform_variable *v,
                              const char *role, size_t role_len)
{
  pai__variable_of of = { .spec = spec };
  size_t before = out->len;
  uint32_t n = 1;

  if (spec == NULL || v->put == NULL ||
      ((v->task || pai__variable_has(v, PAI__VARIABLE_ROLE)) &&
       !find_role(&of, role, role_len)))
    return 0;
  of.tasks = (uint32_t)spec->ntasks;
  v->put(out, &of);
  if (out->len == before)
    return 0; /* its meaning says that it is empty */
  if (v->task)
    n = put_more(out, v, &of, before);
  if (pai__buf_ok(out) && out->len > before + LONGEST) {
    pai__buf_cut(out, before + LONGEST); /* all ASCII */
    pai__buf_str(out, "...");
  }
  return n;
}
