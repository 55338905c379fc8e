/* topology_guard.h - the scanner of hwloc's XML and what it checks */
#ifndef PAI_RESOURCE_TOPOLOGY_GUARD_H
#define PAI_RESOURCE_TOPOLOGY_GUARD_H

#include "resource/topology.h"

typedef struct pai__topo_span {
  const char *s;
  size_t len;
} pai__topo_span;

typedef struct pai__topo_scan {
  const char *text, *at, *end;
  pai__topo_span open[PAI__TOPO_MAX_DEPTH]; /* names of elements */
  size_t depth;
  size_t left_out; /* depth of the element that hwloc is not given, plus 1 */
  size_t objects;
  /* of this element: */
  unsigned sets; /* one bit for each attribute in the table of sets */
  bool typed, indexed, in_set;
  bool normal; /* neither a device nor Misc: it has sets */
  bool root;   /* its type may be the outermost one */
  /* of all: */
  bool pu, numa; /* there is one */
  bool v2;       /* and there must be a NUMA node */
  bool done;     /* the outermost element has ended */
  pai__buf *out; /* what hwloc is given */
  pai_error **err;
} pai__topo_scan;

static inline bool pai__topo_is(pai__topo_span name, const char *text)
{
  return name.len == strlen(text) && memcmp(name.s, text, name.len) == 0;
}

int pai__topo_wrong(const pai__topo_scan *s, int code, const char *at,
                    const char *what);

/* What would crash hwloc, or cost it memory (topology_guard_object.c): in one
 * attribute, and in an object whose attributes were all seen. */
void pai__topo_check_begin(pai__topo_scan *s);
int pai__topo_check_attribute(pai__topo_scan *s, pai__topo_span name,
                              pai__topo_span value);
int pai__topo_check_object(pai__topo_scan *s, const char *start);
/* Whether hwloc is given elements of this name. */
bool pai__topo_is_given(pai__topo_span element);

#endif
