/*
 * topology_guard_object.c - which elements and attributes of hwloc's XML are
 * safe for hwloc to read
 *
 * hwloc trusts its input.  Each check stands for a crash, an abort or an
 * allocation of hwloc 2.9 that fuzzing an instrumented hwloc has found.
 */
#include "resource/topology_guard.h"

enum {
  MOST_OBJECTS_IN_MATRIX = 1024,
  MOST_INDEX = 1 << 20, /* of PUs and NUMA nodes: firmware's numbers */
  MOST_SET = 4096       /* characters of a set of 8,192 CPUs, with room */
};

bool pai__topo_is_given(pai__topo_span element)
{
  static const char *const names[] = {
    "topology",         "object",    "info",      "distances2", "indexes",
    "distances2hetero", "u64values", "distances", "latency"
  };

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (pai__topo_is(element, names[i]))
      return true;
  return false;
}

/* Digits up to `most`; hwloc reads what else begins with them. */
static bool is_up_to(pai__topo_span value, uint64_t most)
{
  uint64_t n = 0;

  for (size_t i = 0; i < value.len; i++) {
    if (value.s[i] < '0' || value.s[i] > '9')
      return i > 0;
    n = n * 10 + (uint64_t)(value.s[i] - '0');
    if (n > most)
      return false;
  }
  return value.len > 0;
}

static bool is_hex(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
         (c >= 'A' && c <= 'F');
}

/* 32 bits of a set, from `*at`: 0x and up to eight digits. */
static bool take_bits(pai__topo_span set, size_t *at)
{
  size_t first;

  if (*at + 2 <= set.len && set.s[*at] == '0' && set.s[*at + 1] == 'x')
    *at += 2;
  first = *at;
  while (*at < set.len && is_hex(set.s[*at]))
    (*at)++;
  return *at > first && *at - first <= 8;
}

/* As hwloc writes a set: 0xf...f (all the rest) and 32 bits each behind
 * commas, with nothing between commas for 0.  The last has digits; else hwloc
 * reads words that it has not written. */
static bool is_set(pai__topo_span set)
{
  static const char infinite[] = "0xf...f";
  size_t at = 0;

  if (set.len >= 7 && memcmp(set.s, infinite, 7) == 0) {
    at = 7;
    if (at == set.len)
      return true;
    if (set.s[at++] != ',')
      return false;
  }
  for (size_t first = at;; at++) {
    bool empty = at < set.len && set.s[at] == ',' && at > first;
    if (!empty && !take_bits(set, &at))
      return false;
    if (at == set.len)
      return true;
    if (set.s[at] != ',')
      return false;
  }
}

/* --- objects ------------------------------------------------------------------ */

/* Bits of `sets`. */
enum { CPUSET = 1, COMPLETE_CPUSET = 2, NODESET = 4, COMPLETE_NODESET = 8 };
static const char *const sets[] = { "cpuset", "complete_cpuset", "nodeset",
                                    "complete_nodeset" };

/* Whether hwloc takes the type for one of these, of which it compares two
 * letters in any case. */
static bool is_like(pai__topo_span type, const char *const *with, size_t count)
{
  for (size_t i = 0; type.len >= 2 && i < count; i++)
    if ((type.s[0] | 0x20) == with[i][0] && (type.s[1] | 0x20) == with[i][1])
      return true;
  return false;
}

/* The os_index of a PU or NUMA node is the length of a bit set.  Others are
 * plain numbers: a PCI device's holds its domain.  Version 1 may omit the
 * Machine above its only NUMA node. */
static void check_type(pai__topo_scan *s, pai__topo_span type)
{
  static const char *const in_set[] = { "pu", "nu", "no" };
  bool numa = pai__topo_is(type, "NUMANode");

  s->typed = true;
  s->root = pai__topo_is(type, "Machine") || pai__topo_is(type, "System") ||
            (numa && !s->v2);
  s->in_set = is_like(type, in_set, PAI__LEN(in_set));
  s->normal = !pai__topo_is(type, "PCIDev") && !pai__topo_is(type, "Bridge") &&
              !pai__topo_is(type, "OSDev") && !pai__topo_is(type, "Misc");
  s->pu = s->pu || pai__topo_is(type, "PU");
  s->numa = s->numa || numa;
}

static int check_set(pai__topo_scan *s, pai__topo_span name,
                     pai__topo_span value)
{
  if (value.len > MOST_SET)
    return pai__topo_wrong(s, PAI_ELIMIT, value.s, "a set of too many CPUs");
  if (!is_set(value))
    return pai__topo_wrong(s, PAI_EINVAL, value.s,
                           "a set is 0x and hexadecimal digits, 32 bits "
                           "between commas");
  for (size_t i = 0; i < PAI__LEN(sets); i++) {
    if (!pai__topo_is(name, sets[i]))
      continue;
    if ((s->sets >> i & 1) != 0)
      return pai__topo_wrong(s, PAI_EINVAL, value.s, "an attribute twice");
    s->sets |= 1U << i;
  }
  return PAI_OK;
}

static bool ends(pai__topo_span name, const char *text)
{
  size_t len = strlen(text);

  return name.len >= len && memcmp(name.s + name.len - len, text, len) == 0;
}

void pai__topo_check_begin(pai__topo_scan *s)
{
  s->sets = 0;
  s->typed = s->indexed = s->in_set = s->normal = s->root = false;
}

int pai__topo_check_attribute(pai__topo_scan *s, pai__topo_span name,
                              pai__topo_span value)
{
  s->v2 = s->v2 || pai__topo_is(name, "version");
  if (pai__topo_is(name, "type")) {
    if (s->typed)
      return pai__topo_wrong(s, PAI_EINVAL, value.s, "an attribute twice");
    check_type(s, value);
  }
  s->indexed = s->indexed || pai__topo_is(name, "os_index");
  if (pai__topo_is(name, "os_index") && s->in_set &&
      !is_up_to(value, MOST_INDEX))
    return pai__topo_wrong(s, PAI_ELIMIT, value.s,
                           "the os_index of a PU or NUMA node is not a number "
                           "up to 1048576");
  if (pai__topo_is(name, "local_memory") &&
      !is_up_to(value, PAI__TOPO_MAX_BYTES))
    return pai__topo_wrong(s, PAI_ELIMIT, value.s,
                           "more memory than any machine has");
  if (pai__topo_is(name, "nbobjs") && !is_up_to(value, MOST_OBJECTS_IN_MATRIX))
    return pai__topo_wrong(s, PAI_ELIMIT, value.s,
                           "a matrix of too many objects");
  if (ends(name, "cpuset") || ends(name, "nodeset"))
    return check_set(s, name, value);
  return PAI_OK;
}

/* Where a set is, hwloc follows the complete one without looking. */
static bool sets_are_whole(const pai__topo_scan *s)
{
  return (s->sets & (CPUSET | NODESET)) == (s->sets >> 1 & (CPUSET | NODESET));
}

int pai__topo_check_object(pai__topo_scan *s, const char *start)
{
  if (!sets_are_whole(s))
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "an object has a set of CPUs or nodes without the "
                           "complete one");
  if (s->depth == 1 && !s->root)
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "the outermost object is not a Machine");
  if (s->in_set && !s->indexed)
    return pai__topo_wrong(s, PAI_EINVAL, start,
                           "a PU or NUMA node has no os_index");
  return PAI_OK;
}
