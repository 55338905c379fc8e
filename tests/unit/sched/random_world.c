/* random_world.c - see random_world.h */
#include "random_world.h"

#include "wild.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_PORT = 20000, LAST_PORT = 20009 };

const random_variant random_variants[] = {
  { "fifo", NULL, NULL },
  { "fifo", "{\"greedy\":true,\"place\":\"spread\"}", NULL },
  { "fifo", "{\"greedy\":true,\"place\":\"topo\"}", NULL },
  { "fifo", "{\"place\":\"score\"}", NULL },
  { "backfill", NULL, NULL },
  { "backfill", "{\"mode\":\"conservative\",\"assume\":20}", NULL },
  { "priority", NULL, NULL },
  { "priority", "{\"strict\":true,\"place\":\"pack\"}", NULL },
  { "priority", "{\"reclaim\":false}", NULL },
  { "capacity", NULL, NULL },
  { "fair", NULL, NULL },
  { "fair", "{\"mode\":\"decay\",\"half_life\":20,\"shares\":false}", NULL },
  { "k8s", NULL, NULL },
  { "k8s", "{\"shares\":false}", NULL },
  { "k8s", "{\"reclaim\":false,\"place\":\"first\"}", NULL },
  { "hived", NULL, NULL },
  { "wild", NULL, &wild_policy },
};
const size_t random_nvariants = PAI__LEN(random_variants);

uint64_t random_number_of(const char *name, uint64_t otherwise)
{
  const char *text = getenv(name);

  return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

uint32_t random_below(random_world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->prng, n);
}

static bool one_in(random_world *w, uint32_t n)
{
  return random_below(w, n) == 0;
}

/* --- clusters ------------------------------------------------------------- */

typedef struct machine {
  const char *sku, *text;
  const char *cells[2]; /* what virtual clusters can have of it */
  const char *kinds[2];
  uint32_t gpus;
} machine;

static const machine machines[] = {
  { "big",
    "{gpu: h, gpus: 8, near: {switch: 4}, numa: 2, cpus: 16, memory: 16G}",
    { "big" },
    { "h" },
    8 },
  { "old", "{gpu: v, gpus: 4, cpus: 8, memory: 8G}", { "old" }, { "v" }, 4 },
  { "tiny", "{gpu: t, gpus: 2, cpus: 3, memory: 4G}", { "tiny" }, { "t" }, 2 },
  { "mixed",
    "{gpu: {v: 2, t: 2}, cpus: 6, memory: 8G}",
    { "mixed-v", "mixed-t" },
    { "v", "t" },
    2 },
  { "bare", "{gpu: h, gpus: 4}", { "bare" }, { "h" }, 4 }, /* CPUs unknown */
  { "plain", "{cpus: 8, memory: 8G}", { NULL }, { NULL }, 0 },
};

static const char *const vcs[] = { "default", "left", "right" };

static void add(char *text, size_t *at, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

static void add(char *text, size_t *at, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  *at += (size_t)vsnprintf(text + *at, RANDOM_TEXT - *at, format, args);
  va_end(args);
  assert_true(*at < RANDOM_TEXT);
}

/* How many of each there are, by machines[]. */
static void draw_machines(random_world *w, uint32_t *count)
{
  uint32_t kinds = 1 + random_below(w, 3);

  for (uint32_t i = 0; i < kinds; i++)
    count[random_below(w, PAI__LEN(machines))] +=
      1 + random_below(w, one_in(w, 4) ? 12 : 3); /* many that are alike */
  if (count[PAI__LEN(machines) - 1] != 0) /* without GPUs there are no cells */
    count[random_below(w, 2)] += 1;
}

/* What may be asked for by name. */
static void list_types(random_world *w, const uint32_t *count)
{
  for (size_t i = 0; i < PAI__LEN(machines); i++) {
    const machine *m = &machines[i];

    if (count[i] == 0)
      continue;
    w->gpus = m->gpus > w->gpus ? m->gpus : w->gpus;
    if (w->ntypes + 3 > PAI__LEN(w->types))
      return;
    w->types[w->ntypes++] = m->sku;
    for (size_t k = 0; k < 2 && m->kinds[k] != NULL; k++)
      w->types[w->ntypes++] = m->kinds[k];
  }
}

static void write_machines(random_world *w, const uint32_t *count)
{
  size_t at = 0;
  bool pinned = false;

  w->nnodes = 0;
  add(w->machines, &at, "skus:\n");
  for (size_t i = 0; i < PAI__LEN(machines); i++)
    if (count[i] != 0)
      add(w->machines, &at, "  %s: %s\n", machines[i].sku, machines[i].text);
  add(w->machines, &at, "nodes:\n");
  for (size_t i = 0; i < PAI__LEN(machines); i++)
    for (uint32_t k = 0; k < count[i] && w->nnodes < RANDOM_NODES; k++) {
      char *name = w->nodes[w->nnodes++];

      (void)snprintf(name, sizeof(w->nodes[0]), "n%zu", w->nnodes);
      add(w->machines, &at, "  - {name: %s, sku: %s", name, machines[i].sku);
      if (w->shares != RANDOM_CELLS)
        add(w->machines, &at, ", rack: r%u", random_below(w, 2));
      if (!pinned && one_in(w, 4) && w->shares != RANDOM_CELLS) {
        add(w->machines, &at, ", pin: desk");
        pinned = true;
      }
      add(w->machines, &at, "}\n");
    }
}

static void write_parts(random_world *w, char *text, size_t *at)
{
  uint32_t left = 10000;

  for (size_t i = 1; i < w->nvcs; i++) {
    uint32_t part = random_below(w, left / 2 + 1);
    uint32_t most = part + random_below(w, 10001 - part);

    left -= part;
    add(text, at, "  %s: {part: %u.%02u%%, max: %u.%02u%%%s}\n", vcs[i],
        part / 100, part % 100, most / 100, most % 100,
        one_in(w, 12) ? ", stopped: true" : "");
  }
  add(text, at, "  default: {part: rest}\n");
}

static uint32_t count_of(const random_world *w, const machine *m)
{
  char sku[24];
  uint32_t n = 0;

  (void)snprintf(sku, sizeof(sku), "sku: %s", m->sku);
  for (const char *p = strstr(w->machines, "nodes:"); p != NULL;) {
    p = strstr(p + 1, sku);
    n += p != NULL;
  }
  return n;
}

static void write_cells(random_world *w, char *text, size_t *at)
{
  uint32_t left[PAI__LEN(machines)];

  for (size_t i = 0; i < PAI__LEN(machines); i++)
    left[i] = count_of(w, &machines[i]);
  for (size_t v = 0; v < w->nvcs; v++) {
    bool any = false;

    add(text, at, "  %s: {cells: {", vcs[v]);
    for (size_t i = 0; i < PAI__LEN(machines); i++) {
      uint32_t n = v + 1 < w->nvcs ? random_below(w, left[i] + 1) : left[i];

      left[i] -= n;
      for (size_t c = 0; n != 0 && c < 2; c++)
        if (machines[i].cells[c] != NULL) {
          add(text, at, "%s%s: %u", any ? ", " : "", machines[i].cells[c], n);
          any = true;
        }
    }
    add(text, at, "}}\n");
  }
}

static pai_cluster *make_cluster(random_world *w)
{
  char text[2 * RANDOM_TEXT];
  size_t at = 0;
  pai_cluster *c = NULL;
  pai_error *err = NULL;

  add(text, &at, "%s", w->machines);
  if (w->shares != RANDOM_WHOLE)
    add(text, &at, "virtualClusters:\n");
  if (w->shares == RANDOM_PARTS)
    write_parts(w, text, &at);
  else if (w->shares == RANDOM_CELLS)
    write_cells(w, text, &at);
  if (pai_cluster_parse(&c, text, strlen(text), NULL, &err) < 0)
    fail_msg("%s\n%s", pai_error_message(err), text);
  return c;
}

pai_sched *random_world_make(const random_world *w)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_sched *s;

  o.policy = w->variant->table == NULL ? w->variant->policy : NULL;
  o.policy_options = w->variant->options;
  o.table = w->variant->table;
  o.first_port = FIRST_PORT;
  o.last_port = LAST_PORT;
  if (pai_sched_new(&s, w->cluster, &o, &err) < 0)
    fail_msg("seed %" PRIu64 ", %s: %s\n%s", w->seed, w->variant->policy,
             pai_error_message(err), w->machines);
  return s;
}

pai_sched *random_world_load(const random_world *w, const char *saved)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_sched *s;

  o.table = w->variant->table;
  if (pai_sched_load(&s, saved, strlen(saved), &o, &err) < 0)
    fail_msg("seed %" PRIu64 ", %s: %s\n%s", w->seed, w->variant->policy,
             pai_error_message(err), saved);
  return s;
}

void random_world_begin(random_world *w, uint64_t seed,
                        const random_variant *variant)
{
  uint32_t count[PAI__LEN(machines)] = { 0 };

  *w = (random_world){
    .seed = seed, .variant = variant, .prng = { seed * 1000003 }, .now = 1
  };
  w->shares = (enum random_shares)random_below(w, 3);
  w->nvcs = w->shares == RANDOM_WHOLE ? 1 : 2 + random_below(w, 2);
  w->priorities = 1 + random_below(w, 4);
  w->prompt = one_in(w, 2);
  draw_machines(w, count);
  list_types(w, count);
  write_machines(w, count);
  w->cluster = make_cluster(w);
  w->s = random_world_make(w);
}

static int write_log(void *file, const char *bytes, size_t len)
{
  return fwrite(bytes, 1, len, file) == len && fflush(file) == 0 ? PAI_OK
                                                                 : PAI_EIO;
}

void random_world_log(random_world *w, const char *path)
{
  FILE *file = fopen(path, "w");

  assert_non_null(file); /* closed when the test ends */
  assert_ok(pai_sched_set_log(w->s, write_log, file, NULL));
}

void random_world_end(random_world *w)
{
  pai_sched_free(w->s);
  for (int i = 0; i < RANDOM_BESIDE; i++)
    pai_sched_free(w->beside[i]);
  pai_cluster_free(w->cluster);
}

/* --- what is asked for ---------------------------------------------------- */

/* Events that cannot be true are refused; of these there are some. */
int random_world_tell(random_world *w, pai_sched_event e)
{
  int rc;

  e.struct_size = sizeof(e);
  e.time = w->now;
  rc = pai_sched_send(w->s, &e, NULL);
  if (rc == PAI_ENOMEM || rc == PAI_EINTERNAL)
    fail_msg("%s, seed %" PRIu64 ": event %d answers %s", w->variant->policy,
             w->seed, e.kind, pai_code_name(rc));
  for (int i = 0; i < RANDOM_BESIDE; i++)
    if (w->beside[i] != NULL)
      assert_int_equal(pai_sched_send(w->beside[i], &e, NULL), rc);
  w->taken += rc == PAI_OK;
  w->refused += rc < 0;
  return rc;
}

/* One of those that are there, or nearly any number. */
static uint64_t any_request(random_world *w)
{
  uint64_t id = 0;

  for (uint32_t i = random_below(w, 16); i > 0; i--)
    id = pai_sched_next(w->s, id);
  return id != 0 ? id : 1 + random_below(w, (uint32_t)w->last + 1);
}

static pai_want any_want(random_world *w)
{
  static const char *const roles[] = { NULL, "ps", "worker" };
  uint32_t gpus = random_below(w, w->gpus + 3);
  pai_want x = { .struct_size = sizeof(x),
                 .name = roles[random_below(w, 3)],
                 .type =
                   one_in(w, 2) ? w->types[random_below(w, w->ntypes)] : NULL,
                 .tasks = one_in(w, 2) ? 1 + random_below(w, 4) : 1,
                 .gpus = gpus <= w->gpus ? gpus : gpus - w->gpus,
                 .cpus = random_below(w, 3),
                 .ports = one_in(w, 3) ? random_below(w, 4) : 0,
                 .memory =
                   one_in(w, 4) ? (uint64_t)random_below(w, 4) << 30 : 0 };

  x.min_tasks = one_in(w, 2) ? random_below(w, x.tasks + 1) : 0;
  if (one_in(w, 3))
    x.cpu_millis = 50 * random_below(w, 20);
  return x;
}

static void submit_one(random_world *w)
{
  static const char *const users[] = { "ann", "bob", "cyd", NULL };
  static const char *const within[] = { "node", "rack", "switch" };
  pai_want wants[3];
  pai_after after = { any_request(w), 1 + (int)random_below(w, 3) };
  pai_request q = {
    .struct_size = sizeof(q),
    .id = ++w->last,
    .vc = one_in(w, 30) ? "none" : vcs[random_below(w, (uint32_t)w->nvcs)],
    .user = users[random_below(w, 4)],
    .within = one_in(w, 8) ? within[random_below(w, 3)] : NULL,
    .pin = one_in(w, 12) ? "desk" : NULL,
    .priority = one_in(w, 6) ? -1 : (int)random_below(w, w->priorities),
    .duration = one_in(w, 2) ? random_below(w, 50) : 0,
    .limit = one_in(w, 4) ? 1 + random_below(w, 60) : 0,
    .instances = one_in(w, 4) ? random_below(w, 6) : 1,
    .at_once = one_in(w, 8) ? random_below(w, 3) : 0,
    .held = one_in(w, 20),
    .lazy = one_in(w, 4),
    .wants = wants,
    .nwants = one_in(w, 2) ? 1 : 2 + one_in(w, 4),
    .after = &after,
    .nafter = one_in(w, 12)
  };

  for (size_t i = 0; i < PAI__LEN(wants); i++)
    wants[i] = any_want(w);
  (void)random_world_tell(
    w, (pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &q });
}

void random_world_submit(random_world *w)
{
  for (uint32_t n = 1 + random_below(w, 3); n > 0; n--)
    submit_one(w);
}

/* --- what happens --------------------------------------------------------- */

static void change(random_world *w)
{
  static const char *const keys[] = { "priority",  "held",  "limit",
                                      "at_once",   "tasks", "gpus",
                                      "instances", "cpus",  "min_tasks",
                                      "after",     "ports", "duration" };
  static const char *const texts[] = { "vc", "within", "pin", "type", "name" };
  static const char *const values[] = { "left", "node", "t", NULL, "desk" };
  pai_sched_event e = { .kind = PAI_SCHED_CHANGE,
                        .id = any_request(w),
                        .want = random_below(w, 2) };

  if (one_in(w, 4)) {
    e.key = texts[random_below(w, PAI__LEN(texts))];
    e.text = values[random_below(w, PAI__LEN(values))];
  } else {
    e.key = keys[random_below(w, PAI__LEN(keys))];
    e.number = (int64_t)random_below(w, 7) - 1;
    e.cpu_millis = one_in(w, 4) ? random_below(w, 1001) : 0;
  }
  (void)random_world_tell(w, e);
}

static const char *any_node(random_world *w)
{
  return w->nodes[random_below(w, (uint32_t)w->nnodes)];
}

static void reserve(random_world *w)
{
  const char *nodes[] = { any_node(w), any_node(w) };
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = one_in(w, 2) ? "one" : "two",
                        .from = w->now + random_below(w, 20),
                        .vc = one_in(w, 3) ? "left" : NULL,
                        .user = one_in(w, 3) ? "ann" : NULL,
                        .nodes = nodes,
                        .nnodes = nodes[0] != nodes[1] ? 2 : 1 };

  r.to = r.from + 1 + random_below(w, 30);
  (void)random_world_tell(
    w, (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &r });
}

static void set_cluster(random_world *w)
{
  pai_cluster *c = make_cluster(w);

  (void)random_world_tell(
    w, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c });
  pai_cluster_free(c);
}

static void disturb_node(random_world *w)
{
  (void)random_world_tell(
    w,
    (pai_sched_event){ .kind = PAI_SCHED_NODE,
                       .node = any_node(w),
                       .gpu = one_in(w, 3) ? (int32_t)random_below(w, 4) : -1,
                       .number = one_in(w, 2) ? 0 : random_below(w, 3),
                       .text = "dust" });
}

/* An instance that runs, of any request, or none. */
static bool any_run(random_world *w, uint64_t *id, uint32_t *instance)
{
  uint32_t n = 0;

  for (uint64_t i = 0; (i = pai_sched_next(w->s, i)) != 0;)
    for (uint32_t k = PAI_SCHED_ALL;
         pai_sched_next_running(w->s, i, &k, NULL) == PAI_OK;)
      if (one_in(w, ++n)) {
        *id = i;
        *instance = k;
      }
  return n != 0;
}

static void end_run(random_world *w, int kind)
{
  pai_sched_event e = { .kind = kind, .number = one_in(w, 4) };

  if (any_run(w, &e.id, &e.instance))
    (void)random_world_tell(w, e);
}

void random_world_happen(random_world *w)
{
  uint32_t what = random_below(w, 64);

  w->now += random_below(w, 3);
  switch (what) {
  case 0: reserve(w); break;
  case 1: set_cluster(w); break;
  case 2:
    (void)random_world_tell(
      w, (pai_sched_event){ .kind = PAI_SCHED_UNRESERVE,
                            .text = one_in(w, 2) ? "one" : "two" });
    break;
  case 3:
  case 4: disturb_node(w); break;
  case 5:
    (void)random_world_tell(
      w, (pai_sched_event){ .kind = PAI_SCHED_LOSE_PORT,
                            .node = any_node(w),
                            .number = FIRST_PORT + random_below(w, 10) });
    break;
  case 6:
    (void)random_world_tell(
      w, (pai_sched_event){ .kind = PAI_SCHED_REGAIN_PORTS });
    break;
  case 7:
  case 8:
    (void)random_world_tell(
      w, (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                            .id = any_request(w),
                            .instance = one_in(w, 2) ? PAI_SCHED_ALL
                                                     : random_below(w, 3) });
    break;
  case 9:
  case 10:
  case 11: change(w); break;
  case 12: end_run(w, PAI_SCHED_RETURNED); break;
  case 13:
  case 14: end_run(w, PAI_SCHED_RESIZED); break;
  default:
    if (what < 36)
      submit_one(w);
    else if (what < 48)
      end_run(w, PAI_SCHED_STARTED);
    else
      end_run(w, PAI_SCHED_FINISHED);
  }
}
