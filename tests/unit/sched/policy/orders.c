/* orders.c - see orders.h */
#include "orders.h"

#include <stdlib.h>

typedef struct order {
  const char *verb;
  int (*decide)(const pai_policy_host *host);
  uint64_t numbers[2];
  pai_task_place places[4];
  size_t nplaces;
} order;

static order todo;
static int said;

static int each_waiting(const pai_policy_host *host,
                        int (*start)(const pai_policy_host *, uint64_t,
                                     const pai_place *))
{
  uint64_t next;
  int rc = 0;

  for (uint64_t id = host->next_waiting(host, 0); id != 0 && rc >= 0;
       id = next) {
    next = host->next_waiting(host, id);
    rc = start(host, id, NULL);
  }
  return rc;
}

static int start_all(const pai_policy_host *host)
{
  if (todo.numbers[0] != 0)
    return host->start(host, todo.numbers[0], NULL);
  return each_waiting(host, host->start);
}

static int start_all_over(const pai_policy_host *host)
{
  return each_waiting(host, host->start_over);
}

static int refuse(const pai_policy_host *host, uint64_t id,
                  const pai_place *how)
{
  pai_reason r = { .struct_size = sizeof(r),
                   .lack = PAI_LACK_POLICY,
                   .text = "it is Sunday" };

  (void)how;
  return host->refuse(host, id, &r);
}

static int refuse_all(const pai_policy_host *host)
{
  return each_waiting(host, refuse);
}

static int start_there(const pai_policy_host *host)
{
  return host->start_at(host, todo.numbers[0], todo.places, todo.nplaces);
}

/* What was right stays. */
static int start_both(const pai_policy_host *host)
{
  int rc = host->start_at(host, 1, todo.places, todo.nplaces);

  return rc < 0 ? rc : host->start_at(host, 2, todo.places, todo.nplaces);
}

static int claim_last(const pai_policy_host *host)
{
  uint64_t last = 0;

  for (uint64_t id = host->next_waiting(host, 0); id != 0;
       id = host->next_waiting(host, id))
    last = id;
  return host->claim_at(host, last, todo.places, todo.nplaces);
}

static int resize_first(const pai_policy_host *host)
{
  return host->resize(host, 1, 0, (uint32_t)todo.numbers[0],
                      (uint32_t)todo.numbers[1]);
}

/* Nobody makes room for 2, until 1 is told to stop. */
static int stop_between(const pai_policy_host *host)
{
  int rc = host->start_over(host, 2, NULL);

  if (rc >= 0)
    rc = host->preempt(host, 1, 0, 2);
  return rc >= 0 ? host->start_over(host, 2, NULL) : rc;
}

static int give_up(const pai_policy_host *host)
{
  return host->give_up(host, PAI_EUSER, "I do not know");
}

static int send(const pai_policy_host *host)
{
  pai_sched_event e = { .struct_size = sizeof(e), .kind = PAI_SCHED_TIME };

  return pai_sched_send(host->sched, &e, NULL);
}

/* A number, or a place: NODE:GPUS. */
static void read_word(const char *word, size_t *numbers)
{
  char *end;
  uint64_t number = strtoull(word, &end, 0);

  if (*end == ':')
    todo.places[todo.nplaces++] =
      (pai_task_place){ .struct_size = sizeof(pai_task_place),
                        .node = (uint32_t)number,
                        .gpus = strtoull(end + 1, NULL, 0) };
  else
    todo.numbers[(*numbers)++] = number;
}

static void check_said(const char *expected)
{
  const char *is = pai_code_name(said);

  if (said < 0 ? strcmp(is + strlen("PAI_"), expected) != 0
               : said != atoi(expected))
    fail_msg("it said %d (%s), not %s", said, is, expected);
}

bool orders_own(char *const *words, size_t n)
{
  static const order all[] = {
    { .verb = "start", .decide = start_all },
    { .verb = "over", .decide = start_all_over },
    { .verb = "at", .decide = start_there },
    { .verb = "both", .decide = start_both },
    { .verb = "claim", .decide = claim_last },
    { .verb = "resize", .decide = resize_first },
    { .verb = "between", .decide = stop_between },
    { .verb = "refuse", .decide = refuse_all },
    { .verb = "give_up", .decide = give_up },
    { .verb = "send", .decide = send },
  };
  size_t which = 0;

  if (strcmp(words[0], "said") == 0) {
    check_said(words[1]);
    return true;
  }
  while (which < PAI__LEN(all) && strcmp(words[0], all[which].verb) != 0)
    which++;
  if (which == PAI__LEN(all))
    return false;
  todo = all[which];
  for (size_t i = 1, numbers = 0; i < n; i++)
    read_word(words[i], &numbers);
  return true;
}

static int decide(void *state, void *data, const pai_policy_host *host)
{
  (void)state;
  (void)data;
  said = todo.decide(host);
  return said < 0 ? said : PAI_OK;
}

const pai_policy orders_policy = { .struct_size = sizeof(orders_policy),
                                   .version = PAI_POLICY_VERSION,
                                   .name = "orders",
                                   .decide = decide };

pai_sched *orders_new(const char *cluster, const pai_alloc *alloc)
{
  pai_sched *s = scene_make(
    &(scene_case){ .cluster = cluster, .table = &orders_policy }, alloc);

  assert_non_null(s);
  return s;
}

void orders_script(pai_sched *s, const char *script)
{
  scene_script_of(s, &(scene_case){ .script = script, .own = orders_own });
}
