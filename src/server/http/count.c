/* count.c - counts of answers by route, status and duration */
#include "server/http/request.h"
#include "server/monitor/observed.h"

/* Counts of one method, path and status. */
typedef struct tally {
  const pai__api_route *route; /* NULL: none */
  int status;
  char method[8];
  uint64_t n;
} tally;

/* Upper bounds. */
static const struct {
  pai_time us;
  const char *seconds;
} bounds[] = {
  { 1000, "0.001" }, { 2500, "0.0025" }, { 5000, "0.005" },
  { 10000, "0.01" }, { 25000, "0.025" }, { 50000, "0.05" },
  { 100000, "0.1" }, { 250000, "0.25" }, { 500000, "0.5" },
  { 1000000, "1" },  { 2500000, "2.5" }, { 10000000, "10" },
};

struct pai__counts {
  pai__map tallies;
  uint64_t within[PAI__LEN(bounds)];
  uint64_t n;
  pai_time sum;
};

static struct pai__counts *counts_of(pai_server *s)
{
  if (s->counts == NULL) {
    s->counts = pai__zalloc(&s->alloc, sizeof(*s->counts));
    if (s->counts != NULL)
      pai__map_init(&s->counts->tallies, &s->alloc);
  }
  return s->counts;
}

/* HEAD counts as GET; requests without a route have no method. */
static const char *method_of(const pai__request *r)
{
  static const char *const known[] = { "GET", "POST", "PUT", "DELETE",
                                       "PATCH" };

  for (size_t i = 0; r->route != NULL && i < PAI__LEN(known); i++)
    if (strcmp(r->method, known[i]) == 0)
      return known[i];
  return r->route != NULL && strcmp(r->method, "HEAD") == 0 ? "GET" : "other";
}

static tally *tally_of(pai_server *s, const pai__request *r)
{
  tally key;
  tally *t;

  memset(&key, 0, sizeof(key)); /* the key is hashed with its padding */
  key.route = r->route;
  key.status = r->status;
  strncpy(key.method, method_of(r), sizeof(key.method) - 1);
  t = pai__map_get(&s->counts->tallies, &key, sizeof(key));
  if (t != NULL)
    return t;
  t = pai__zalloc(&s->alloc, sizeof(*t));
  if (t == NULL)
    return NULL;
  *t = key;
  if (pai__map_set(&s->counts->tallies, &key, sizeof(key), t) == PAI_OK)
    return t;
  pai__free(&s->alloc, t, sizeof(*t));
  return NULL;
}

/* If out of memory, the answer is not counted. */
void pai__count_answer(pai__request *r)
{
  pai_server *s = r->server;
  struct pai__counts *c = counts_of(s);
  pai_time took = pai__loop_time() - r->since;
  tally *t = c != NULL ? tally_of(s, r) : NULL;

  if (t == NULL)
    return;
  t->n++;
  c->n++;
  c->sum += took;
  for (size_t i = 0; i < PAI__LEN(bounds); i++)
    c->within[i] += took <= bounds[i].us;
}

static void write_times(const struct pai__counts *c, pai__buf *out)
{
  pai__metric_head(
    out, "openpai_request_seconds", "histogram",
    "Time from the head of a request to the head of its answer.");
  for (size_t i = 0; i < PAI__LEN(bounds); i++)
    pai__buf_printf(out, "openpai_request_seconds_bucket{le=\"%s\"} %llu\n",
                    bounds[i].seconds, (unsigned long long)c->within[i]);
  pai__buf_printf(out,
                  "openpai_request_seconds_bucket{le=\"+Inf\"} %llu\n"
                  "openpai_request_seconds_sum %lld.%06lld\n"
                  "openpai_request_seconds_count %llu\n",
                  (unsigned long long)c->n, (long long)(c->sum / 1000000),
                  (long long)(c->sum % 1000000), (unsigned long long)c->n);
}

void pai__count_write(pai_server *s, pai__buf *out)
{
  const struct pai__counts *c = counts_of(s);
  const pai__map_entry *e;

  if (c == NULL)
    return;
  pai__metric_head(out, "openpai_requests_total", "counter",
                   "Answers by route, method and status.");
  for (size_t i = 0; (e = pai__map_next(&c->tallies, &i)) != NULL;) {
    const tally *t = e->value;
    pai__buf_printf(out,
                    "openpai_requests_total{route=\"%s\",method=\"%s\","
                    "status=\"%d\"} %llu\n",
                    t->route != NULL ? t->route->path : "", t->method,
                    t->status, (unsigned long long)t->n);
  }
  write_times(c, out);
}

void pai__count_free(pai_server *s)
{
  const pai__map_entry *e;

  if (s->counts == NULL)
    return;
  for (size_t i = 0; (e = pai__map_next(&s->counts->tallies, &i)) != NULL;)
    pai__free(&s->alloc, e->value, sizeof(tally));
  pai__map_dispose(&s->counts->tallies);
  pai__free(&s->alloc, s->counts, sizeof(*s->counts));
  s->counts = NULL;
}
