/* Gangs that run: how they grow and shrink, who makes room, what is claimed. */
#include "scene.h"

/* A policy that does what it is told to. */
typedef struct order {
  int (*decide)(const pai_policy_host *host);
  uint32_t want, tasks; /* of request 1 */
  pai_task_place places[4];
  size_t nplaces;
  int said;
} order;

static order todo;

static int decide(void *state, void *data, const pai_policy_host *host)
{
  (void)state;
  (void)data;
  todo.said = todo.decide(host);
  return todo.said < 0 ? todo.said : PAI_OK;
}

static const pai_policy obedient = { .struct_size = sizeof(obedient),
                                     .version = PAI_POLICY_VERSION,
                                     .name = "obedient",
                                     .decide = decide };

static pai_sched *scene_of(const char *description, const pai_alloc *alloc)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *c;
  pai_sched *s;

  o.alloc = alloc;
  o.table = &obedient;
  if (strchr(description, '\n') == NULL)
    assert_int_equal(pai_cluster_synthetic(&c, description, NULL, NULL),
                     PAI_OK);
  else
    assert_int_equal(
      pai_cluster_parse(&c, description, strlen(description), NULL, NULL),
      PAI_OK);
  if (pai_sched_new(&s, c, &o, NULL) < 0)
    assert_null(s);
  pai_cluster_free(c);
  return s;
}

/* --- what it is told to --------------------------------------------------- */

static int start_all(const pai_policy_host *host)
{
  uint64_t next;
  int rc = 0;

  for (uint64_t id = host->next_waiting(host, 0); id != 0 && rc >= 0;
       id = next) {
    next = host->next_waiting(host, id);
    rc = host->start(host, id, NULL);
  }
  return rc;
}

static int start_all_over(const pai_policy_host *host)
{
  uint64_t next;
  int rc = 0;

  for (uint64_t id = host->next_waiting(host, 0); id != 0 && rc >= 0;
       id = next) {
    next = host->next_waiting(host, id);
    rc = host->start_over(host, id, NULL);
  }
  return rc;
}

static int resize_first(const pai_policy_host *host)
{
  return host->resize(host, 1, 0, todo.want, todo.tasks);
}

static int claim_last(const pai_policy_host *host)
{
  uint64_t last = 0;

  for (uint64_t id = host->next_waiting(host, 0); id != 0;
       id = host->next_waiting(host, id))
    last = id;
  return host->claim_at(host, last, todo.places, todo.nplaces);
}

/* Nobody makes room for 2, until 1 is told to stop. */
static int stop_between(const pai_policy_host *host)
{
  int rc = host->start_over(host, 2, NULL);

  if (rc >= 0)
    rc = host->preempt(host, 1, 0, 2);
  return rc >= 0 ? host->start_over(host, 2, NULL) : rc;
}

static const char *decide_by(pai_sched *s,
                             int (*how)(const pai_policy_host *host))
{
  todo.decide = how;
  return scene_decide(s);
}

static const char *resize(pai_sched *s, uint32_t want, uint32_t tasks)
{
  todo.want = want;
  todo.tasks = tasks;
  return decide_by(s, resize_first);
}

static const char *claim(pai_sched *s, uint32_t node, uint64_t first,
                         uint64_t second)
{
  todo.nplaces = second != 0 ? 2 : 1;
  todo.places[0] = (pai_task_place){ .struct_size = sizeof(pai_task_place),
                                     .node = node,
                                     .gpus = first };
  todo.places[1] = todo.places[0];
  todo.places[1].gpus = second;
  return decide_by(s, claim_last);
}

static int tell(pai_sched *s, int kind, uint64_t id)
{
  return scene_event(s, (pai_sched_event){ .kind = kind, .id = id }, NULL);
}

/* --- growing and shrinking ------------------------------------------------ */

/* Two wants, of which the first may do with one task. */
static int submit_elastic(pai_sched *s, const char *within)
{
  pai_want wants[2] = { scene_want(4, 1), scene_want(1, 1) };

  wants[0].min_tasks = 1;
  wants[0].ports = 2;
  wants[1].ports = 3;
  return scene_request(
    s,
    &(pai_request){ .id = 1, .wants = wants, .nwants = 2, .within = within },
    NULL);
}

/* Ports of task `task`, the first one of them. */
static uint32_t port_of(const pai_sched *s, uint32_t task)
{
  pai_task_place p = { .struct_size = sizeof(p) };

  assert_int_equal(pai_sched_task(s, 1, 0, task, &p), PAI_OK);
  return p.ports[0];
}

static void a_gang_shrinks_and_grows(void **state)
{
  pai_sched *s = scene_of("nodes:2 gpu:4 cpus:8", NULL);
  pai_sched_view v = { .struct_size = sizeof(v) };
  uint32_t last;

  (void)state;
  assert_int_equal(submit_elastic(s, NULL), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:1 0:2 0:4 0:8 1:1");
  last = port_of(s, 4);
  assert_string_equal(resize(s, 0, 2), "shrink 1 to 2");
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_int_equal(v.free_gpus, 3); /* they hold their places still */
  assert_string_equal(scene_places(s, 1, 0), "0:1 0:2 0:4 0:8 1:1");
  assert_int_equal(tell(s, PAI_SCHED_RESIZED, 1), PAI_OK);
  assert_int_equal(tell(s, PAI_SCHED_RESIZED, 1), PAI_ENOTFOUND);
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_int_equal(v.free_gpus, 5);
  assert_string_equal(scene_places(s, 1, 0), "0:1 0:2 1:1");
  assert_int_equal(port_of(s, 2), last);
  assert_int_equal(scene_submit(s, 2, 1, 1), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 2");
  assert_string_equal(resize(s, 0, 4), "grow 1 to 4");
  assert_string_equal(scene_places(s, 1, 0), "0:1 0:2 1:2 1:4 1:1");
  assert_int_equal(port_of(s, 4), last);
  assert_int_not_equal(port_of(s, 3), port_of(s, 2));
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_int_equal(v.free_gpus, 8);
  pai_sched_free(s);
}

static void sizes_that_cannot_be(void **state)
{
  pai_sched *s = scene_of("nodes:2 gpu:4 cpus:8", NULL);

  (void)state;
  assert_int_equal(submit_elastic(s, NULL), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1");
  (void)resize(s, 0, 0);
  assert_int_equal(todo.said, PAI_EINVAL);
  (void)resize(s, 0, 5);
  assert_int_equal(todo.said, PAI_EINVAL);
  (void)resize(s, 1, 0);
  assert_int_equal(todo.said, PAI_EINVAL);
  (void)resize(s, 2, 1);
  assert_int_equal(todo.said, PAI_EINVAL);
  assert_string_equal(resize(s, 0, 4), ""); /* as it is */
  assert_int_equal(todo.said, 1);
  assert_string_equal(resize(s, 0, 1), "shrink 1 to 1");
  (void)resize(s, 0, 2); /* not before it has shrunk */
  assert_int_equal(todo.said, PAI_EBUSY);
  assert_int_equal(tell(s, PAI_SCHED_RESIZED, 1), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 2, 3), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 2");
  assert_string_equal(resize(s, 0, 2), ""); /* there is no room */
  assert_int_equal(todo.said, 0);
  assert_string_equal(scene_places(s, 1, 0), "0:1 1:1");
  pai_sched_free(s);
}

static void what_it_grows_by_is_beside_it(void **state)
{
  static const char kinds[] = "skus:\n"
                              "  a: {gpu: a100, gpus: 4, cpus: 8}\n"
                              "  b: {gpu: b100, gpus: 4, cpus: 8}\n"
                              "nodes:\n"
                              "  - {name: x, sku: b}\n"
                              "  - {name: y, sku: a}\n"
                              "  - {name: z, sku: b}\n";
  pai_sched *s = scene_of("nodes:2 gpu:8 cpus:16", NULL);
  pai_want want = scene_want(2, 3);

  (void)state;
  assert_int_equal(submit_elastic(s, "node"), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1");
  assert_string_equal(resize(s, 0, 1), "shrink 1 to 1");
  assert_int_equal(tell(s, PAI_SCHED_RESIZED, 1), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 5), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 2");
  assert_string_equal(scene_places(s, 2, 0), "0:6e");
  assert_string_equal(resize(s, 0, 4), ""); /* 1 is left, 8 on the other */
  assert_string_equal(resize(s, 0, 2), "grow 1 to 2");
  assert_string_equal(scene_places(s, 1, 0), "0:1 0:80 0:10");
  pai_sched_free(s);

  s = scene_of(kinds, NULL);
  assert_int_equal(submit_elastic(s, NULL), PAI_OK); /* 5: not of a */
  assert_string_equal(decide_by(s, start_all), "start 1");
  assert_string_equal(resize(s, 0, 1), "shrink 1 to 1");
  assert_int_equal(tell(s, PAI_SCHED_RESIZED, 1), PAI_OK);
  assert_string_equal(scene_places(s, 1, 0), "0:1 2:1");
  want.type = "b100";
  assert_int_equal(
    scene_request(s, &(pai_request){ .id = 2, .wants = &want, .nwants = 1 },
                  NULL),
    PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 2");
  assert_string_equal(resize(s, 0, 2), ""); /* only the other kind is left */
  pai_sched_free(s);
}

/* Growing again and again takes no more memory. */
static void the_old_is_given_back(void **state)
{
  test_tally t;
  size_t before = 0;
  pai_sched *s;

  (void)state;
  test_tally_init(&t);
  s = scene_of("nodes:2 gpu:4 cpus:8", &t.alloc);
  assert_int_equal(submit_elastic(s, NULL), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1");
  for (int i = 0; i < 200; i++) {
    if (i == 20)
      before = t.live;
    assert_string_equal(resize(s, 0, 1), "shrink 1 to 1");
    assert_int_equal(tell(s, PAI_SCHED_RESIZED, 1), PAI_OK);
    assert_string_equal(resize(s, 0, 4), "grow 1 to 4");
  }
  assert_int_equal(t.live, before);
  pai_sched_free(s);
}

/* --- room is made --------------------------------------------------------- */

static int submit_with(pai_sched *s, uint64_t id, const char *vc,
                       uint32_t gpus, int priority)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .wants = &want, .nwants = 1, .priority = priority },
    NULL);
}

static uint64_t lent_to(const pai_sched *s, size_t vc)
{
  pai_sched_vc_view v = { .struct_size = sizeof(v) };

  assert_int_equal(pai_sched_view_vc(s, vc, &v), PAI_OK);
  return v.lent;
}

static void the_opportunistic_give_way(void **state)
{
  static const char site[] = "skus: {box: {gpu: a100, gpus: 4, cpus: 8}}\n"
                             "nodes: [{name: \"n[1-2]\", sku: box}]\n"
                             "virtualClusters:\n"
                             "  l: {cells: {box: 1}}\n"
                             "  r: {cells: {box: 1}}\n";
  pai_sched *s = scene_of(site, NULL);

  (void)state;
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(
      submit_with(s, id, "l", 2, id < 4 ? PAI_SCHED_OPPORTUNISTIC : 0),
      PAI_OK);
  assert_string_equal(decide_by(s, start_all_over),
                      "start 1, start 2, start 3, start 4");
  assert_int_equal(lent_to(s, 0), 6);
  assert_int_equal(submit_with(s, 5, "r", 4, 0), PAI_OK);
  assert_string_equal(decide_by(s, start_all_over),
                      "stop 2 preempted, stop 1 preempted");
  assert_string_equal(scene_places(s, 5, 0), "");
  assert_int_equal(lent_to(s, 0), 6); /* they are there, still */
  assert_int_equal(tell(s, PAI_SCHED_RETURNED, 1), PAI_OK);
  assert_int_equal(lent_to(s, 0), 4);
  assert_string_equal(decide_by(s, start_all), "");
  assert_int_equal(tell(s, PAI_SCHED_RETURNED, 2), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 5");
  assert_int_equal(submit_with(s, 6, "r", 2, 1), PAI_OK);
  assert_string_equal(decide_by(s, start_all_over), "stop 5 preempted");
  assert_int_equal(scene_finish(s, 5), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 6, start 1");
  assert_int_equal(lent_to(s, 0), 4);
  pai_sched_free(s);
}

static void what_is_claimed_is_kept(void **state)
{
  pai_sched *s = scene_of("nodes:2 gpu:4 cpus:8", NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 2), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1, start 2");
  assert_int_equal(scene_submit(s, 3, 2, 2), PAI_OK);
  assert_string_equal(claim(s, 0, 0x5, 0xa),
                      "stop 2 preempted, stop 1 preempted");
  assert_int_equal(todo.said, 0);
  assert_int_equal(scene_submit(s, 4, 1, 2), PAI_OK);
  (void)claim(s, 0, 0x3, 0);
  assert_int_equal(todo.said, PAI_EBUSY); /* somebody's, by now */
  assert_int_equal(tell(s, PAI_SCHED_RETURNED, 1), PAI_OK);
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 3, start 1, start 4");
  assert_string_equal(scene_places(s, 3, 0), "0:5 0:a");
  assert_string_equal(scene_places(s, 1, 0), "1:3");
  assert_int_equal(scene_submit(s, 5, 1, 4), PAI_OK);
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_string_equal(claim(s, 0, 0xf, 0), "start 5"); /* nobody is there */
  pai_sched_free(s);
}

static int submit_cpus(pai_sched *s, uint64_t id, uint32_t cpus, int priority)
{
  pai_want want = scene_want(1, 0);
  pai_request q = {
    .id = id, .wants = &want, .nwants = 1, .priority = priority
  };

  want.cpus = cpus;
  return scene_request(s, &q, NULL);
}

/* CPUs are nobody's in particular: the least important ones go, as few as it
 * takes. */
static void cpus_alone_are_made_room_for(void **state)
{
  pai_sched *s = scene_of("nodes:2 gpu:4 cpus:8", NULL);

  (void)state;
  assert_int_equal(submit_cpus(s, 1, 2, 3), PAI_OK);
  assert_int_equal(submit_cpus(s, 2, 1, 1), PAI_OK);
  assert_int_equal(submit_cpus(s, 3, 5, 2), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1, start 2, start 3");
  assert_string_equal(scene_places(s, 3, 0), "0:0");
  /* 2 alone would not do, and with 3 it may stay. */
  assert_int_equal(submit_cpus(s, 4, 4, 9), PAI_OK);
  assert_string_equal(claim(s, 0, 0, 0), "stop 3 preempted");
  assert_int_equal(tell(s, PAI_SCHED_RETURNED, 3), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 4, start 3");
  assert_string_equal(scene_places(s, 4, 0), "0:0");
  assert_string_equal(scene_places(s, 3, 0), "1:0");
  pai_sched_free(s);
}

static void claims_that_could_never_be(void **state)
{
  pai_sched *s = scene_of("nodes:2 gpu:4 cpus:8", NULL);
  pai_want want = scene_want(2, 1);
  pai_request q = { .id = 2, .wants = &want, .nwants = 1 };
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 2), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1");
  want.cpus = 5;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  (void)claim(s, 0, 0x4, 0x4); /* one GPU twice, */
  assert_int_equal(todo.said, PAI_EBUSY);
  (void)claim(s, 0, 0x1, 0x1); /* also one that another holds */
  assert_int_equal(todo.said, PAI_EBUSY);
  (void)claim(s, 0, 0x1, 0x2); /* 10 of 8 CPUs */
  assert_int_equal(todo.said, PAI_EBUSY);
  (void)claim(s, 0, 0x1, 0);
  assert_int_equal(todo.said, PAI_EINVAL); /* one place for two tasks */
  (void)claim(s, 0, 0x10, 0x20);
  assert_int_equal(todo.said, PAI_EINVAL); /* there are no such GPUs */
  (void)claim(s, 7, 0x1, 0x2);
  assert_int_equal(todo.said, PAI_EINVAL);
  (void)claim(s, 0, 0x3, 0xc);
  assert_int_equal(todo.said, PAI_EINVAL); /* two each */
  assert_int_equal(pai_sched_view_node(s, 0, &v), PAI_OK);
  assert_int_equal(v.free_mask, 0xc);
  assert_int_equal(v.free_cpus, 7);
  assert_string_equal(decide_by(s, start_all), "start 2");
  assert_string_equal(scene_places(s, 2, 0), "0:4 1:1");
  pai_sched_free(s);
}

#define TWO_SHARES(l, r)                   \
  "skus:\n"                                \
  "  box: {gpu: a100, gpus: 4, cpus: 8}\n" \
  "  old: {gpu: v100, gpus: 4, cpus: 8}\n" \
  "nodes:\n"                               \
  "  - {name: \"n[1-2]\", sku: box}\n"     \
  "  - {name: o1, sku: old}\n"             \
  "virtualClusters: {l: {cells: {" l "}}, r: {cells: {" r "}}}\n"

/* It may count on what leaves its virtual cluster, and on no more. */
static void claims_keep_to_shares(void **state)
{
  static const char before[] = TWO_SHARES("box: 1", "box: 1, old: 1");
  static const char after[] = TWO_SHARES("old: 1", "box: 2");
  pai_sched *s = scene_of(before, NULL);
  pai_cluster *c;

  (void)state;
  assert_int_equal(submit_with(s, 1, "r", 4, 0), PAI_OK);
  assert_int_equal(submit_with(s, 2, "l", 4, 0), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1, start 2");
  assert_int_equal(submit_with(s, 3, "l", 4, 5), PAI_OK);
  (void)claim(s, 0, 0xf, 0); /* which is of r */
  assert_int_equal(todo.said, PAI_EBUSY);
  assert_string_equal(claim(s, 1, 0xf, 0), "stop 2 preempted");
  assert_int_equal(pai_cluster_parse(&c, after, strlen(after), NULL, NULL),
                   PAI_OK);
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, NULL),
    PAI_OK);
  pai_cluster_free(c);
  assert_string_equal(decide_by(s, start_all), ""); /* 2 is there, still */
  assert_string_equal(scene_lack(s, 3), "");
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_int_equal(submit_with(s, 4, "r", 4, 0), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 3, start 4");
  assert_string_equal(scene_places(s, 3, 0), "2:f"); /* what l has now */
  assert_string_equal(scene_places(s, 4, 0), "1:f");
  pai_sched_free(s);
}

/* A place must be what is wanted: of its type, and all of one kind. */
static void places_are_of_the_kind_that_is_wanted(void **state)
{
  static const char site[] = TWO_SHARES("box: 1", "box: 1, old: 1");
  pai_sched *s = scene_of(site, NULL);
  pai_want want = scene_want(2, 2);
  pai_request q = { .id = 1, .vc = "r", .wants = &want, .nwants = 1 };

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  (void)claim(s, 0, 0x3, 0xc);
  assert_int_equal(todo.said, 1); /* both of one kind */
  want = scene_want(1, 0);
  want.type = "old"; /* the SKU */
  q.id = 2;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  (void)claim(s, 1, 0, 0);
  assert_int_equal(todo.said, PAI_EINVAL);
  assert_string_equal(claim(s, 2, 0, 0), "start 2");
  want = scene_want(2, 1);
  q.id = 3;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  todo.places[0].node = 2;
  todo.places[0].gpus = 0x1;
  todo.places[1].node = 1;
  todo.places[1].gpus = 0x1;
  todo.nplaces = 2;
  (void)decide_by(s, claim_last);
  assert_int_equal(todo.said, PAI_EINVAL); /* a v100 and an a100 */
  pai_sched_free(s);
}

/* --- failing memory ------------------------------------------------------- */

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_of("nodes:2 gpu:4 cpus:8", alloc);
  int (*const steps[])(const pai_policy_host *) = {
    start_all, resize_first, resize_first, start_all_over, claim_last
  };
  static const uint32_t sizes[] = { 0, 1, 4, 0, 0 };
  int rc = s != NULL ? submit_elastic(s, NULL) : PAI_ENOMEM;

  (void)user_data;
  for (size_t i = 0; i < PAI__LEN(steps) && rc == PAI_OK; i++) {
    todo.decide = steps[i];
    todo.tasks = sizes[i];
    todo.want = 0;
    if (i == 3)
      rc = submit_with(s, 2, NULL, 4, 7);
    if (i == 4)
      rc = submit_with(s, 3, NULL, 2, 0);
    todo.nplaces = 1;
    todo.places[0] = (pai_task_place){ .struct_size = sizeof(pai_task_place),
                                       .node = 1,
                                       .gpus = 0x3 };
    if (rc == PAI_OK)
      rc = pai_sched_decide(s, 0, NULL);
    rc = rc < 0 ? rc : PAI_OK;
    (void)tell(s, PAI_SCHED_RESIZED, 1);
  }
  if (s != NULL) { /* whatever happened, all of it can end */
    pai_sched_view v = { .struct_size = sizeof(v) };
    uint64_t id;

    while ((id = pai_sched_next(s, 0)) != 0 &&
           scene_event(s,
                       (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                          .id = id,
                                          .instance = PAI_SCHED_ALL },
                       NULL) == PAI_OK)
      (void)scene_finish(s, id);
    assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
    if (id == 0)
      assert_int_equal(v.free_gpus, 8);
  }
  pai_sched_free(s);
  return rc;
}

static void who_found_nobody_may_find_somebody(void **state)
{
  pai_sched *s = scene_of("nodes:1 gpu:8 cpus:8", NULL);

  (void)state;
  assert_int_equal(submit_with(s, 1, NULL, 8, 9), PAI_OK);
  assert_string_equal(decide_by(s, start_all), "start 1");
  assert_int_equal(submit_with(s, 2, NULL, 8, 5), PAI_OK);
  assert_string_equal(decide_by(s, stop_between), "stop 1 preempted");
  assert_string_equal(scene_lack(s, 2), "victims");
  pai_sched_free(s);
}

static void failing_memory_is_survived(void **state)
{
  (void)state;
  test_faults(story, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_gang_shrinks_and_grows),
    cmocka_unit_test(sizes_that_cannot_be),
    cmocka_unit_test(what_it_grows_by_is_beside_it),
    cmocka_unit_test(the_old_is_given_back),
    cmocka_unit_test(the_opportunistic_give_way),
    cmocka_unit_test(what_is_claimed_is_kept),
    cmocka_unit_test(cpus_alone_are_made_room_for),
    cmocka_unit_test(claims_that_could_never_be),
    cmocka_unit_test(claims_keep_to_shares),
    cmocka_unit_test(places_are_of_the_kind_that_is_wanted),
    cmocka_unit_test(who_found_nobody_may_find_somebody),
    cmocka_unit_test(failing_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
