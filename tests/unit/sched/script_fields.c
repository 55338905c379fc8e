/* script_fields.c - see script_fields.h */
#include "script_fields.h"

#include <openpai/sched.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FIELD(type, member, kind)         \
  {                                       \
#member, offsetof(type, member), kind \
  }

#define WANT(member, kind) FIELD(pai_want, member, kind)
const script_field script_want[] = {
  WANT(name, SCRIPT_TEXT),      WANT(type, SCRIPT_TEXT),
  WANT(tasks, SCRIPT_U32),      WANT(min_tasks, SCRIPT_U32),
  WANT(gpus, SCRIPT_U32),       WANT(cpus, SCRIPT_U32),
  WANT(ports, SCRIPT_U32),      WANT(memory, SCRIPT_U64),
  WANT(cpu_millis, SCRIPT_U32), { 0 },
};

#define REQUEST(member, kind) FIELD(pai_request, member, kind)
const script_field script_request[] = {
  REQUEST(vc, SCRIPT_TEXT),      REQUEST(user, SCRIPT_TEXT),
  REQUEST(pin, SCRIPT_TEXT),     REQUEST(within, SCRIPT_TEXT),
  REQUEST(priority, SCRIPT_INT), REQUEST(duration, SCRIPT_U64),
  REQUEST(limit, SCRIPT_U64),    REQUEST(instances, SCRIPT_U32),
  REQUEST(at_once, SCRIPT_U32),  REQUEST(held, SCRIPT_INT),
  REQUEST(lazy, SCRIPT_INT),     { 0 },
};

#define RESERVATION(member, kind) FIELD(pai_reservation, member, kind)
const script_field script_reservation[] = {
  RESERVATION(from, SCRIPT_U64),
  RESERVATION(to, SCRIPT_U64),
  RESERVATION(vc, SCRIPT_TEXT),
  RESERVATION(user, SCRIPT_TEXT),
  { 0 },
};

#define REASON(member, kind) FIELD(pai_reason, member, kind)
const script_field script_reason[] = {
  REASON(lack, SCRIPT_INT),          REASON(of, SCRIPT_INT),
  REASON(placed, SCRIPT_U32),        REASON(tasks, SCRIPT_U32),
  REASON(wanted, SCRIPT_U64),        REASON(found, SCRIPT_U64),
  REASON(wanted_millis, SCRIPT_U32), REASON(found_millis, SCRIPT_U32),
  REASON(behind, SCRIPT_U64),        REASON(until, SCRIPT_U64),
  REASON(node, SCRIPT_TEXT),         { 0 },
};

#define RVIEW(member, kind) FIELD(pai_request_view, member, kind)
const script_field script_request_view[] = {
  RVIEW(state, SCRIPT_INT),   RVIEW(waiting, SCRIPT_U32),
  RVIEW(running, SCRIPT_U32), RVIEW(finished, SCRIPT_U32),
  RVIEW(failed, SCRIPT_U32),  { 0 },
};

#define NODE(member, kind) FIELD(pai_sched_node_view, member, kind)
const script_field script_node_view[] = {
  NODE(state, SCRIPT_INT),       NODE(why, SCRIPT_TEXT),
  NODE(free_gpus, SCRIPT_U32),   NODE(sick_gpus, SCRIPT_U32),
  NODE(free_mask, SCRIPT_U64),   NODE(sick_mask, SCRIPT_U64),
  NODE(free_cpus, SCRIPT_U32),   NODE(free_cpu_millis, SCRIPT_U32),
  NODE(free_memory, SCRIPT_U64), { 0 },
};

#define VC(member, kind) FIELD(pai_sched_vc_view, member, kind)
const script_field script_vc_view[] = {
  VC(name, SCRIPT_TEXT),
  VC(limited, SCRIPT_INT),
  VC(gpus, SCRIPT_U64),
  VC(used, SCRIPT_U64),
  VC(lent, SCRIPT_U64),
  VC(waiting, SCRIPT_U32),
  VC(running, SCRIPT_U32),
  VC(most_gpus, SCRIPT_U64),
  VC(most_cpus, SCRIPT_U64),
  VC(used_cpus, SCRIPT_U64),
  VC(used_cpu_millis, SCRIPT_U32),
  VC(used_memory, SCRIPT_U64),
  { 0 },
};

#define SUMS(member, kind) FIELD(pai_sched_view, member, kind)
const script_field script_sums[] = {
  SUMS(policy, SCRIPT_TEXT),
  SUMS(shadow, SCRIPT_TEXT),
  SUMS(nodes, SCRIPT_U64),
  SUMS(gpus, SCRIPT_U64),
  SUMS(free_gpus, SCRIPT_U64),
  SUMS(requests, SCRIPT_U32),
  SUMS(waiting, SCRIPT_U32),
  SUMS(running, SCRIPT_U32),
  SUMS(live_decisions, SCRIPT_U64),
  SUMS(shadow_decisions, SCRIPT_U64),
  SUMS(shadow_agreed, SCRIPT_U64),
  SUMS(shadow_failed, SCRIPT_U64),
  { 0 },
};

bool script_number(const char *text, int64_t *number)
{
  static const struct {
    char suffix;
    int64_t times;
  } units[] = { { 's', 1000000 },
                { 'h', INT64_C(3600000000) },
                { 'M', INT64_C(1) << 20 },
                { 'G', INT64_C(1) << 30 } };
  char *end;

  *number = strtoll(text, &end, 0);
  for (size_t i = 0; end != text && i < PAI__LEN(units); i++)
    if (*end == units[i].suffix) {
      *number *= units[i].times;
      end++;
    }
  return end != text && *end == '\0';
}

/* A name of a lack or of a state is a number, too. */
static int64_t value_of(const char *text)
{
  static const struct {
    const char *name;
    int number;
  } states[] = { { "up", PAI_NODE_UP },
                 { "drain", PAI_NODE_DRAIN },
                 { "sick", PAI_NODE_SICK },
                 { "stopping", PAI_REQUEST_STOPPING } };
  int64_t number;

  if (script_number(text, &number))
    return number;
  for (size_t i = 0; i < PAI__LEN(states); i++)
    if (strcmp(text, states[i].name) == 0)
      return states[i].number;
  for (int lack = 0; lack < PAI_LACKS; lack++)
    if (strcmp(text, pai_lack_name(lack)) == 0)
      return lack;
  fail_msg("'%s' is no number", text);
  return 0;
}

static const script_field *find(const script_field *fields, const char *word)
{
  size_t len = strcspn(word, "=");

  if (word[len] != '=')
    return NULL;
  for (; fields->key != NULL; fields++)
    if (strlen(fields->key) == len && strncmp(fields->key, word, len) == 0)
      return fields;
  return NULL;
}

bool script_set(const script_field *fields, void *object, const char *word)
{
  const script_field *f = find(fields, word);
  const char *value;
  char *at = object;

  if (f == NULL)
    return false;
  value = strchr(word, '=') + 1;
  at += f->offset;
  switch (f->type) {
  case SCRIPT_TEXT: memcpy(at, &value, sizeof(value)); break;
  case SCRIPT_INT: *(int *)(void *)at = (int)value_of(value); break;
  case SCRIPT_U32: *(uint32_t *)(void *)at = (uint32_t)value_of(value); break;
  case SCRIPT_U64: *(uint64_t *)(void *)at = (uint64_t)value_of(value); break;
  }
  return true;
}

bool script_is(const script_field *fields, const void *object,
               const char *word, char is[64])
{
  const script_field *f = find(fields, word);
  const char *value = strchr(word, '='), *text, *at = object;
  int64_t number = 0;

  if (f == NULL)
    fail_msg("there is no member for '%s'", word);
  at += f->offset;
  value++;
  switch (f->type) {
  case SCRIPT_TEXT:
    memcpy(&text, at, sizeof(text));
    (void)snprintf(is, 64, "%s", text != NULL ? text : "-");
    return strcmp(is, value) == 0;
  case SCRIPT_INT: number = *(const int *)(const void *)at; break;
  case SCRIPT_U32: number = *(const uint32_t *)(const void *)at; break;
  case SCRIPT_U64:
    number = (int64_t) * (const uint64_t *)(const void *)at;
    break;
  }
  (void)snprintf(is, 64, "%" PRId64, number);
  return number == value_of(value);
}
