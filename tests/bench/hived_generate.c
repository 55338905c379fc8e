/* hived_generate.c - clusters of any size, and gangs that come and go */
#include "bench.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

enum { VCS = 4, RACK = 8, GPUS = 8, MISSES = 200 };

typedef struct class
{
  unsigned share; /* percent */
  unsigned pods, gpus;
} class;

static const class classes[] = {
  { 55, 1, 1 }, { 25, 1, 8 }, { 15, 4, 8 }, { 5, 16, 8 }
};
static const class small_classes[] = { { 55, 1, 1 },
                                       { 30, 1, 8 },
                                       { 15, 2, 8 } };

/* A gang that runs, as far as the generator can tell. */
typedef struct running {
  unsigned number, gpus;
} running;

typedef struct generating {
  pai__prng r;
  unsigned nodes;
  bool mixed;
  unsigned count; /* of gangs */
  running *list[VCS + 1];
  size_t n[VCS + 1], cap[VCS + 1];
  unsigned used[VCS + 1]; /* the last one's are opportunistic */
} generating;

static unsigned below(generating *g, unsigned n)
{
  return (unsigned)pai__prng_below(&g->r, n);
}

void bench_hived_cluster(pai__buf *out, unsigned nodes)
{
  unsigned racks = nodes / 64, rest = nodes / VCS - racks * RACK;

  pai__buf_printf(out,
                  "physicalCluster:\n"
                  "  cellTypes:\n"
                  "    SWITCH: {childCellType: GPU, childCellNumber: 2}\n"
                  "    SOCKET: {childCellType: SWITCH, childCellNumber: 2}\n"
                  "    NODE: {childCellType: SOCKET, childCellNumber: 2, "
                  "isNodeLevel: true}\n"
                  "    RACK: {childCellType: NODE, childCellNumber: %d}\n"
                  "  physicalCells:\n",
                  RACK);
  for (unsigned i = 0; i < nodes; i++) {
    if (i % RACK == 0)
      pai__buf_str(out, "  - cellType: RACK\n    cellChildren: [");
    pai__buf_printf(out, "{cellAddress: n%04u}%s", i,
                    (i + 1) % RACK == 0 ? "]\n" : ", ");
  }
  pai__buf_str(out, "virtualClusters:\n");
  for (unsigned i = 0; i < VCS; i++) {
    pai__buf_printf(out, "  vc%u:\n    virtualCells:\n", i);
    if (racks > 0)
      pai__buf_printf(out, "    - {cellType: RACK, cellNumber: %u}\n", racks);
    if (rest > 0)
      pai__buf_printf(out, "    - {cellType: RACK.NODE, cellNumber: %u}\n",
                      rest);
  }
}

static void print_cluster(unsigned nodes)
{
  pai__buf text;

  pai__buf_init(&text, &pai__libc_alloc);
  bench_hived_cluster(&text, nodes);
  (void)fwrite(pai__buf_text(&text), 1, text.len, stdout);
  pai__buf_dispose(&text);
}

/* What may be in use: of a virtual cluster, or opportunistically. */
static unsigned limit(const generating *g, unsigned vc)
{
  unsigned all = g->nodes * GPUS;

  if (vc == VCS)
    return all / 5;
  return all / VCS * (g->mixed ? 95 : 80) / 100;
}

static const class *draw_class(generating *g)
{
  const class *c = g->nodes < 128 ? small_classes : classes;
  unsigned x = below(g, 100);

  for (; x >= c->share; c++)
    x -= c->share;
  return c;
}

static void submit(generating *g, unsigned owner, unsigned vc, const class *c)
{
  unsigned gpus = c->pods * c->gpus, priority = 0;

  if (PAI__VEC_ROOM(&pai__libc_alloc, g->list[owner], g->n[owner],
                    g->cap[owner]) < 0)
    exit(1);
  g->list[owner][g->n[owner]++] = (running){ g->count, gpus };
  g->used[owner] += gpus;
  printf("{\"op\":\"submit\",\"g\":\"g%u\",\"vc\":\"vc%u\"", g->count++, vc);
  if (owner == VCS)
    printf(",\"prio\":-1");
  else if (g->mixed && below(g, 2) == 1)
    priority = 1 + below(g, 5);
  if (priority > 0)
    printf(",\"prio\":%u", priority);
  if (g->mixed && below(g, 2) == 1)
    printf(",\"lazy\":true");
  printf(",\"pods\":%u,\"gpus\":%u}\n", c->pods, c->gpus);
}

static void drop(generating *g, unsigned owner, size_t which)
{
  running *list = g->list[owner];

  printf("{\"op\":\"delete\",\"g\":\"g%u\"}\n", list[which].number);
  g->used[owner] -= list[which].gpus;
  list[which] = list[--g->n[owner]];
}

static void generate(generating *g)
{
  unsigned missed = 0, rounds = g->mixed ? 1000 : 2000;

  while (missed < MISSES) {
    const class *c = draw_class(g);
    unsigned vc = below(g, VCS);
    unsigned owner = g->mixed && below(g, 5) == 0 ? VCS : vc;

    missed++;
    if (g->used[owner] + c->pods * c->gpus > limit(g, owner))
      continue;
    submit(g, owner, vc, c);
    missed = 0;
  }
  printf("{\"op\":\"mark\",\"mark\":\"churn\"}\n");
  for (unsigned i = 0; i < rounds; i++) {
    const class *c = draw_class(g);
    unsigned vc = below(g, VCS);
    unsigned owner = g->mixed && below(g, 5) == 0 ? VCS : vc;

    while (g->n[owner] > 0 &&
           g->used[owner] + c->pods * c->gpus > limit(g, owner))
      drop(g, owner, below(g, (unsigned)g->n[owner]));
    submit(g, owner, vc, c);
  }
  printf("{\"op\":\"mark\",\"mark\":\"drain\"}\n");
  for (unsigned owner = 0; owner <= VCS; owner++)
    while (g->n[owner] > 0)
      drop(g, owner, g->n[owner] - 1);
}

int bench_hived_generate(int argc, char **argv)
{
  generating g = { .nodes = 0 };

  if (argc >= 2)
    g.nodes = (unsigned)strtoul(argv[0], NULL, 10) / RACK * RACK;
  if (argc < 2 || argc > 3 || g.nodes < 16 || g.nodes > 65536) {
    fprintf(stderr, "usage: openpai-bench hived-generate N "
                    "cluster|guaranteed|mixed [SEED]\n");
    return 2;
  }
  g.r.state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  g.mixed = strcmp(argv[1], "mixed") == 0;
  if (strcmp(argv[1], "cluster") == 0)
    print_cluster(g.nodes);
  else
    generate(&g);
  for (unsigned i = 0; i <= VCS; i++)
    free(g.list[i]);
  return 0;
}
