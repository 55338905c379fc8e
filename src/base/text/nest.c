/* nest.c - checks the order of keys, values and brackets in a document being
 * written */
#include "base/text/nest.h"

bool pai__nest_refuse(pai__nest *n, int code)
{
  if (n->rc == PAI_OK)
    n->rc = code;
  return false;
}

bool pai__nest_open(pai__nest *n, bool mapping)
{
  if (n->rc < 0)
    return false;
  if (n->depth == PAI__NEST_MAX)
    return pai__nest_refuse(n, PAI_ELIMIT);
  n->level[n->depth++] = mapping ? PAI__NEST_MAPPING : 0;
  return true;
}

bool pai__nest_close(pai__nest *n, bool mapping, bool *empty)
{
  unsigned top = pai__nest_top(n);

  *empty = false;
  if (n->rc < 0)
    return false;
  if (n->depth == 0 || ((top & PAI__NEST_MAPPING) != 0) != mapping ||
      (top & PAI__NEST_KEY) != 0)
    return pai__nest_refuse(n, PAI_EINVAL);
  *empty = (top & PAI__NEST_FULL) == 0;
  n->depth--;
  return true;
}

int pai__nest_finish(const pai__nest *n)
{
  if (n->rc < 0)
    return n->rc;
  return n->done && n->depth == 0 ? PAI_OK : PAI_EINVAL;
}
