/*
 * hived.c - workloads of gangs, placed by HiveD's engine
 *
 *   openpai-bench hived-workload CLUSTER.yaml WORKLOAD.jsonl [DECISIONS.jsonl]
 *   openpai-bench hived-generate N cluster|guaranteed|mixed [SEED]
 *
 * The first prints a line of JSON: how fast the churn phase went, and how many
 * gangs were placed otherwise than DECISIONS tells.  Only the engine's calls
 * are in it; the workload is read before.
 */
#include "bench.h"

#include "base/tree.h"
#include "json/json.h"
#include "sched/hived/hived.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { SUBMIT, DELETE, MARK };
enum { NOT_YET, BOUND, PREEMPTED_AND_BOUND, WAITED };

typedef struct step {
  uint32_t op;
  uint32_t gang;
} step;

typedef struct gang {
  char name[16];
  pai__hived_member member;
  uint32_t vc;
  int32_t priority;
  bool lazy;
  bool compared;
  uint8_t result;
  uint32_t placed; /* pods that run */
  uint32_t first;  /* of its leaves, in the leaves of all */
} gang;

typedef struct run {
  pai__hived *h;
  step *steps;
  gang *gangs;
  size_t nsteps, steps_cap, ngangs, gangs_cap;
  uint32_t *leaves; /* of all gangs: where they were placed */
  size_t nleaves;
  double *waits; /* of first pods, in us */
  size_t nwaits, waits_cap;
  unsigned long pods;
} run;

/* --- reading -------------------------------------------------------------- */

static char *read_all(const char *path, size_t *len)
{
  FILE *in = fopen(path, "rb");
  char *text = NULL;
  long size;

  if (in != NULL && fseek(in, 0, SEEK_END) == 0 && (size = ftell(in)) >= 0) {
    rewind(in);
    text = malloc((size_t)size + 1);
    *len = text != NULL ? fread(text, 1, (size_t)size, in) : 0;
  }
  if (in != NULL)
    (void)fclose(in);
  if (text == NULL)
    fprintf(stderr, "openpai-bench: cannot read %s\n", path);
  return text;
}

static const char *text_of(const pai__tree *t, const char *key)
{
  pai__node n = pai__tree_get(t, 0, key);

  return n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__STRING
           ? pai__tree_str(t, n, NULL)
           : "";
}

static int64_t number_of(const pai__tree *t, const char *key)
{
  pai__node n = pai__tree_get(t, 0, key);

  return n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__INT
           ? pai__tree_int(t, n)
           : 0;
}

/* Gangs are called g0, g1, ... as they come. */
static int add_gang(run *r, const pai__tree *t)
{
  pai__node lazy = pai__tree_get(t, 0, "lazy");
  const char *vc = text_of(t, "vc");
  gang *g;

  if (PAI__VEC_ROOM(&pai__libc_alloc, r->gangs, r->ngangs, r->gangs_cap) < 0)
    return PAI_ENOMEM;
  g = &r->gangs[r->ngangs++];
  *g = (gang){ .member = { (uint32_t)number_of(t, "gpus"),
                           (uint32_t)number_of(t, "pods") },
               .vc = pai__hived_find_vc(r->h, vc, strlen(vc)),
               .priority = (int32_t)number_of(t, "prio"),
               .lazy = lazy != PAI__NO_NODE && pai__tree_bool(t, lazy),
               .first = (uint32_t)r->nleaves };
  (void)snprintf(g->name, sizeof(g->name), "%s", text_of(t, "g"));
  if (g->vc == PAI__HIVED_UNKNOWN || g->member.pods - 1 > 65535 ||
      g->member.leaves - 1 > 65535)
    return PAI_EINVAL;
  r->nleaves += (size_t)g->member.leaves * g->member.pods;
  return (size_t)strtoul(g->name + 1, NULL, 10) == r->ngangs - 1 ? PAI_OK
                                                                 : PAI_EINVAL;
}

static int add_step(run *r, const pai__tree *t)
{
  const char *op = text_of(t, "op");
  step s = { MARK, 0 };

  if (strcmp(op, "submit") == 0) {
    s = (step){ SUBMIT, (uint32_t)r->ngangs };
    if (add_gang(r, t) < 0)
      return PAI_EINVAL;
  } else if (strcmp(op, "delete") == 0) {
    s.op = DELETE;
    s.gang = (uint32_t)strtoul(text_of(t, "g") + 1, NULL, 10);
    if (s.gang >= r->ngangs)
      return PAI_EINVAL;
  } else if (strcmp(op, "mark") != 0) {
    return PAI_EINVAL;
  }
  if (PAI__VEC_ROOM(&pai__libc_alloc, r->steps, r->nsteps, r->steps_cap) < 0)
    return PAI_ENOMEM;
  r->steps[r->nsteps++] = s;
  return PAI_OK;
}

typedef int (*line_fn)(run *r, const pai__tree *t);

static int each_line(run *r, const char *path, line_fn fn)
{
  char line[65536];
  FILE *in = fopen(path, "rb");
  unsigned long number = 0;
  pai_error *err = NULL;
  pai__tree *t;
  int rc = PAI_OK;

  if (in == NULL) {
    fprintf(stderr, "openpai-bench: cannot read %s\n", path);
    return PAI_ENOTFOUND;
  }
  while (rc == PAI_OK && fgets(line, sizeof(line), in) != NULL) {
    number++;
    rc = pai__json_parse(&t, line, strlen(line), NULL, &err);
    if (rc == PAI_OK)
      rc = fn(r, t);
    pai__tree_free(t);
  }
  (void)fclose(in);
  if (rc == PAI_OK && number == 0)
    rc = PAI_EINVAL;
  if (rc < 0)
    fprintf(stderr, "openpai-bench: %s:%lu: %s\n", path, number,
            err != NULL ? pai_error_message(err)
            : number > 0
              ? "that is no step, or of a gang or virtual cluster that is not "
                "there"
              : "it is empty");
  pai_error_free(err);
  return rc;
}

/* --- running -------------------------------------------------------------- */

static pai__hived_request request_of(const gang *g)
{
  return (pai__hived_request){ .group = g->name,
                               .group_len = strlen(g->name),
                               .members = &g->member,
                               .nmembers = 1,
                               .leaves = g->member.leaves,
                               .vc = g->vc,
                               .pin = PAI__NOTHING,
                               .leaf_type = 0,
                               .priority = g->priority,
                               .lazy = g->lazy,
                               .ignores_suggested = true };
}

static uint64_t pod_of(uint32_t number, uint32_t pod)
{
  return (uint64_t)(number + 1) << 32 | pod;
}

static void delete_gang(run *r, gang *g)
{
  size_t len = strlen(g->name);

  for (uint32_t i = 0; i < g->placed; i++)
    (void)pai__hived_delete(r->h, g->name, len, g->member.leaves, i);
  g->placed = 0;
}

/* Deletes the gangs that have victims on the first node. */
static void evict(run *r, const pai__hived_result *result)
{
  uint32_t first = UINT32_MAX, node, i, n = 0;
  uint32_t gone[1024];
  uint64_t pod;

  for (uint32_t k = 0; k < result->ngroups; k++)
    for (i = 0; pai__hived_next_pod(r->h, result->groups[k], &i, &pod, &node);)
      first = node < first ? node : first;
  for (uint32_t k = 0; k < result->ngroups && n < PAI__LEN(gone); k++)
    for (i = 0; pai__hived_next_pod(r->h, result->groups[k], &i, &pod, &node);)
      if (node == first) {
        gone[n++] = (uint32_t)(pod >> 32) - 1;
        break;
      }
  while (n > 0) /* they come by their names */
    delete_gang(r, &r->gangs[gone[--n]]);
}

/* One pod; the kind of the last answer. */
static int place_pod(run *r, gang *g, uint32_t number,
                     pai__hived_result *result)
{
  pai__hived_request q = request_of(g);
  uint64_t pod = pod_of(number, g->placed);

  for (int tries = 0; tries < 5; tries++) {
    if (pai__hived_schedule(r->h, &q, pod, NULL, PAI__HIVED_FILTERING,
                            result) < 0)
      return -1;
    if (result->kind != PAI__HIVED_PREEMPT || tries == 4)
      break;
    g->result = PREEMPTED_AND_BOUND;
    do {
      if (pai__hived_schedule(r->h, &q, pod, NULL, PAI__HIVED_PREEMPTING,
                              result) < 0)
        return -1;
      if (result->kind == PAI__HIVED_PREEMPT)
        evict(r, result);
    } while (result->kind == PAI__HIVED_PREEMPT);
  }
  if (result->kind == PAI__HIVED_BIND) {
    uint32_t leaf = result->gang.leaves[result->first];

    memcpy(r->leaves + g->first + (size_t)g->placed * g->member.leaves,
           result->gang.leaves + result->first,
           g->member.leaves * sizeof(*r->leaves));
    if (pai__hived_add(r->h, &q, pod, pai__hived_leaf_node(r->h, leaf),
                       result->index, &result->info) < 0)
      return -1;
    g->placed++;
    r->pods++;
  }
  return result->kind;
}

static int submit(run *r, uint32_t number)
{
  gang *g = &r->gangs[number];
  pai__hived_result result;

  g->result = BOUND;
  for (uint32_t i = 0; i < g->member.pods; i++) {
    double start = i == 0 ? bench_seconds(CLOCK_MONOTONIC) : 0;
    int kind = place_pod(r, g, number, &result);

    if (i == 0)
      r->waits[r->nwaits++] = (bench_seconds(CLOCK_MONOTONIC) - start) * 1e6;
    if (kind < 0)
      return -1;
    if (kind != PAI__HIVED_BIND) {
      g->result = WAITED;
      break;
    }
  }
  return 0;
}

/* From one mark to the next; what it took. */
static double run_phase(run *r, size_t *at)
{
  double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);

  r->pods = 0;
  r->nwaits = 0;
  for (; *at < r->nsteps && r->steps[*at].op != MARK; ++*at) {
    const step *s = &r->steps[*at];

    if (s->op == DELETE)
      delete_gang(r, &r->gangs[s->gang]);
    else if (submit(r, s->gang) < 0)
      return -1;
  }
  ++*at;
  return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* --- decisions ------------------------------------------------------------ */

static unsigned long mismatches;

static bool is_as_told(const run *r, const gang *g, const pai__tree *t)
{
  static const char *const results[] = { "", "bind", "preempt+bind", "wait" };
  pai__node list = pai__tree_get(t, 0, "p"), item;
  const uint32_t *leaf = r->leaves + g->first;
  const pai_cluster *c = pai__hived_cluster(r->h);
  pai__tree_walk walk;
  char text[4096];

  if (strcmp(text_of(t, "r"), results[g->result]) != 0)
    return false;
  if (g->result == WAITED || list == PAI__NO_NODE)
    return true;
  if (pai__tree_count(t, list) != g->member.pods)
    return false;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    int n = snprintf(text, sizeof(text), "%s",
                     c->nodes[pai__hived_leaf_node(r->h, *leaf)].name);

    for (uint32_t i = 0; i < g->member.leaves; i++)
      n += snprintf(text + n, sizeof(text) - (size_t)n, "%c%u",
                    i == 0 ? ':' : ',',
                    (unsigned)pai__hived_leaf_index(r->h, *leaf++));
    if (strcmp(text, pai__tree_str(t, item, NULL)) != 0)
      return false;
  }
  return true;
}

static int check_gang(run *r, const pai__tree *t)
{
  uint32_t number = (uint32_t)strtoul(text_of(t, "g") + 1, NULL, 10);

  if (number >= r->ngangs || text_of(t, "r")[0] == '\0')
    return PAI_EINVAL;
  if (is_as_told(r, &r->gangs[number], t) && !r->gangs[number].compared)
    mismatches--;
  r->gangs[number].compared = true;
  return PAI_OK;
}

/* --- the whole ------------------------------------------------------------ */

static pai_cluster *load_cluster(const char *path)
{
  pai_cluster *c = NULL;
  size_t len = 0;
  char *text = read_all(path, &len);
  pai_error *err = NULL;

  if (text != NULL && pai_cluster_parse(&c, text, len, NULL, &err) < 0)
    fprintf(stderr, "openpai-bench: %s: %s\n", path, pai_error_message(err));
  pai_error_free(err);
  free(text);
  return c;
}

static int run_all(run *r, double init, const char *decisions)
{
  struct rusage usage;
  size_t at = 0;
  double cpu;
  unsigned long pods;

  r->leaves = malloc((r->nleaves + 1) * sizeof(*r->leaves));
  r->waits = malloc((r->ngangs + 1) * sizeof(*r->waits));
  if (r->leaves == NULL || r->waits == NULL || run_phase(r, &at) < 0)
    return 1;
  cpu = run_phase(r, &at);
  pods = r->pods;
  if (cpu < 0)
    return 1;
  qsort(r->waits, r->nwaits, sizeof(*r->waits), bench_by_size);
  (void)getrusage(RUSAGE_SELF, &usage);
  while (at < r->nsteps)
    if (run_phase(r, &at) < 0)
      return 1;
  /* What is not told of is not as it was told. */
  mismatches = decisions != NULL ? r->ngangs : 0;
  if (decisions != NULL && each_line(r, decisions, check_gang) < 0)
    return 1;
  printf("{\"pods\":%lu,\"cpu_s\":%.6f,\"pods_per_cpu_s\":%.0f,"
         "\"init_s\":%.6f,\"peak_rss_kb\":%ld,\"p50_us\":%.2f,"
         "\"p99_us\":%.2f,\"mismatches\":%lu}\n",
         pods, cpu, cpu > 0 ? (double)pods / cpu : 0, init, usage.ru_maxrss,
         r->nwaits > 0 ? r->waits[r->nwaits / 2] : 0,
         r->nwaits > 0 ? r->waits[r->nwaits * 99 / 100] : 0, mismatches);
  return mismatches == 0 ? 0 : 1;
}

/* --- a copy of a full cluster --------------------------------------------- */

enum { FORK_NODES = 1256, FORK_GANGS = 10000 }; /* of 8 GPUs; of one each */

static pai_cluster *fork_cluster;

static int build_full(pai__hived **out)
{
  static const pai__hived_member one = { 1, 1 };
  pai__hived_result result;
  char name[16];
  int rc = pai__hived_new(out, fork_cluster, &pai__libc_alloc, NULL);

  for (uint32_t i = 0; rc == PAI_OK && i < fork_cluster->nnodes; i++)
    pai__hived_set_node(*out, i, true);
  for (uint32_t i = 0; rc == PAI_OK && i < FORK_GANGS; i++) {
    pai__hived_request q = { .group = name,
                             .members = &one,
                             .nmembers = 1,
                             .leaves = 1,
                             .vc = i % 4,
                             .pin = PAI__NOTHING,
                             .ignores_suggested = true };

    q.group_len = (size_t)snprintf(name, sizeof(name), "g%u", (unsigned)i);
    rc = pai__hived_schedule(*out, &q, i + 1, NULL, PAI__HIVED_FILTERING,
                             &result);
    if (rc == PAI_OK && result.kind != PAI__HIVED_BIND)
      rc = PAI_ENOROOM;
    if (rc == PAI_OK)
      rc = pai__hived_add(*out, &q, i + 1,
                          pai__hived_leaf_node(*out, result.gang.leaves[0]), 0,
                          &result.info);
  }
  return rc;
}

static void *setup_fork(void)
{
  pai__hived *h = NULL;
  pai__buf text;

  pai__buf_init(&text, &pai__libc_alloc);
  bench_hived_cluster(&text, FORK_NODES);
  if (pai_cluster_parse(&fork_cluster, pai__buf_text(&text), text.len, NULL,
                        NULL) == PAI_OK &&
      build_full(&h) < 0) {
    pai__hived_free(h);
    h = NULL;
  }
  pai__buf_dispose(&text);
  return h;
}

static void teardown_fork(void *data)
{
  pai__hived_free(data);
  pai_cluster_free(fork_cluster);
}

static int clone_full(void *data)
{
  pai__hived *clone;
  int rc = pai__hived_clone(&clone, data);

  pai__hived_free(clone);
  return rc;
}

static int build_again(void *data)
{
  pai__hived *h = NULL;
  int rc = build_full(&h);

  (void)data;
  pai__hived_free(h);
  return rc;
}

const bench bench_hived[] = {
  { "hived-fork",
    "a copy of 1,256 nodes with 10,000 running gangs, against their events",
    "copy", 10, setup_fork, teardown_fork, clone_full, build_again },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};

int bench_hived_workload(int argc, char **argv)
{
  run r = { .h = NULL };
  pai_cluster *c;
  pai_error *err = NULL;
  double start;
  int code = 1;

  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: openpai-bench hived-workload CLUSTER.yaml "
                    "WORKLOAD.jsonl [DECISIONS.jsonl]\n");
    return 2;
  }
  c = load_cluster(argv[0]);
  if (c == NULL)
    return 1;
  start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (pai__hived_new(&r.h, c, &pai__libc_alloc, &err) == PAI_OK)
    for (uint32_t i = 0; i < c->nnodes; i++)
      pai__hived_set_node(r.h, i, true);
  start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
  if (r.h == NULL)
    fprintf(stderr, "openpai-bench: %s: %s\n", argv[0],
            pai_error_message(err));
  else if (each_line(&r, argv[1], add_step) == PAI_OK)
    code = run_all(&r, start, argc > 2 ? argv[2] : NULL);
  pai_error_free(err);
  pai__hived_free(r.h);
  pai_cluster_free(c);
  free(r.steps);
  free(r.gangs);
  free(r.leaves);
  free(r.waits);
  return code;
}
