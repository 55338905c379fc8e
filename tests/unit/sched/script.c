/* script.c - see script.h */
#include "script_run.h"

#include "script_fields.h"
#include "scribe.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_WANTS = 4 };

void script_fails(const script_run *r, const char *what)
{
  fail_msg("%s: \"%.*s\": %s", r->of->policy != NULL ? r->of->policy : "fifo",
           (int)strcspn(r->line, "\n"), r->line, what);
}

const char *script_word(const script_run *r, size_t i)
{
  if (i >= r->n)
    script_fails(r, "a word lacks");
  return r->words[i];
}

uint64_t script_number_of(const script_run *r, const char *text)
{
  int64_t n;

  if (!script_number(text, &n))
    script_fails(r, text);
  return (uint64_t)n;
}

void script_read_id(const script_run *r, uint64_t *first, uint64_t *last,
                    uint32_t *instance)
{
  char *end;

  *first = strtoull(script_word(r, 1), &end, 10);
  *last = *first;
  if (*end == '.')
    *instance = (uint32_t)strtoul(end + 1, &end, 10);
  else if (*end == '-')
    *last = strtoull(end + 1, &end, 10);
  if (*end != '\0')
    script_fails(r, script_word(r, 1));
}

/* --- what is expected ------------------------------------------------------ */

void script_expect_parts(const script_run *r, const char *said)
{
  char part[SCRIPT_LINE];
  const char *at = r->text, *end;

  for (; at != NULL; at = *end != '\0' ? end + 3 : NULL) {
    end = strstr(at, " | ");
    end = end != NULL ? end : at + strlen(at);
    (void)snprintf(part, sizeof(part), "%.*s", (int)(end - at), at);
    if (strstr(said, part) == NULL)
      script_fails(r, said);
  }
}

int script_expect_code(const script_run *r, int rc, pai_error *err)
{
  const char *name = rc < 0 ? pai_code_name(rc) + strlen("PAI_") : "OK";
  char said[2 * SCRIPT_LINE];

  (void)snprintf(said, sizeof(said), "%s: %s (cause: %s, help: %s)", name,
                 pai_error_message(err),
                 pai_error_message(pai_error_cause(err)),
                 err != NULL ? pai_error_help(err) : "");
  pai_error_free(err);
  if (r->faults && rc == PAI_ENOMEM)
    return rc;
  if (r->code != NULL && strcmp(r->code, "ANY") == 0)
    return PAI_OK;
  if (strcmp(name, r->code != NULL ? r->code : "OK") != 0)
    script_fails(r, said);
  if (r->code != NULL)
    script_expect_parts(r, said);
  return PAI_OK;
}

static int send(const script_run *r, pai_sched_event e)
{
  pai_error *err = NULL;
  int rc = scene_event(r->s, e, &err);

  return script_expect_code(r, rc, err);
}

static int decide(const script_run *r, pai_sched *s, const char *expected)
{
  const char *decisions;
  int rc = scene_try_decide(s, &decisions);

  if (r->faults && rc == PAI_ENOMEM)
    return rc;
  if (strcmp(expected, "nothing") == 0)
    expected = "";
  if (strcmp(expected, "any") != 0 && strcmp(expected, decisions) != 0)
    script_fails(r, decisions);
  return PAI_OK;
}

/* --- events ---------------------------------------------------------------- */

static bool read_after(const script_run *r, const char *text, pai_request *q,
                       pai_after *after)
{
  static const char *const kinds[] = { "", ":ok", ":any", ":failed" };
  char *end;

  if (strncmp(text, "after=", 6) != 0)
    return false;
  after->id = strtoull(text + 6, &end, 10);
  after->kind = PAI_AFTER_OK;
  for (int k = PAI_AFTER_OK; k <= PAI_AFTER_FAILED; k++)
    if (strcmp(end, kinds[k]) == 0)
      after->kind = k;
  q->after = after;
  q->nafter = 1;
  (void)r;
  return true;
}

static int submit(script_run *r)
{
  pai_want wants[MOST_WANTS];
  pai_after after;
  pai_request q = { .wants = wants, .nwants = 1 };
  uint64_t last;
  int rc = PAI_OK;

  for (size_t i = 0; i < MOST_WANTS; i++)
    wants[i] = scene_want(1, 0);
  script_read_id(r, &q.id, &last, &q.instances);
  for (size_t i = 2; i < r->n; i++)
    if (strcmp(r->words[i], "+") == 0)
      q.nwants++;
    else if (!script_set(script_want, &wants[q.nwants - 1], r->words[i]) &&
             !script_set(script_request, &q, r->words[i]) &&
             !read_after(r, r->words[i], &q, &after))
      script_fails(r, r->words[i]);
  for (; rc == PAI_OK && q.id <= last; q.id++) {
    pai_error *err = NULL;

    rc = scene_request(r->s, &q, &err);
    rc = script_expect_code(r, rc, err);
  }
  return rc;
}

static int change(script_run *r)
{
  const char *value = script_word(r, 3);
  pai_sched_event e = { .kind = PAI_SCHED_CHANGE, .key = script_word(r, 2) };
  uint64_t last;

  script_read_id(r, &e.id, &last, &e.want);
  if (!script_number(value, &e.number) && strcmp(value, "-") != 0)
    e.text = value;
  return send(r, e);
}

/* Events of runs; "cancel 3" is all of 3. */
static int of_runs(script_run *r, int kind)
{
  pai_sched_event e = { .kind = kind };
  uint64_t last;
  int rc = PAI_OK;

  if (kind == PAI_SCHED_CANCEL)
    e.instance = PAI_SCHED_ALL;
  script_read_id(r, &e.id, &last, &e.instance);
  e.number = r->n > 2 && strcmp(r->words[2], "failed") == 0;
  for (; rc == PAI_OK && e.id <= last; e.id++)
    rc = send(r, e);
  return rc;
}

static int set_node(script_run *r, int state)
{
  pai_sched_event e = { .kind = PAI_SCHED_NODE,
                        .node = script_word(r, 1),
                        .gpu = -1,
                        .number = state };

  if (r->n > 2 && strncmp(r->words[2], "gpu=", 4) == 0)
    e.gpu = (int32_t)script_number_of(r, r->words[2] + 4);
  if (r->code == NULL)
    e.text = r->text;
  return send(r, e);
}

static int reserve(script_run *r)
{
  const char *nodes[4];
  pai_reservation v = { .struct_size = sizeof(v), .name = script_word(r, 1) };

  for (size_t i = 2; i < r->n; i++)
    if (strncmp(r->words[i], "nodes=", 6) == 0) {
      v.nodes = nodes;
      for (char *at = strtok(r->words[i] + 6, ","); at != NULL;
           at = strtok(NULL, ","))
        nodes[v.nnodes++] = at;
    } else if (!script_set(script_reservation, &v, r->words[i])) {
      script_fails(r, r->words[i]);
    }
  return send(
    r, (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &v });
}

static int set_policy(script_run *r, int kind)
{
  return send(r,
              (pai_sched_event){ .kind = kind,
                                 .text = r->n > 1 ? r->words[1] : NULL,
                                 .options = r->n > 2 ? r->words[2] : NULL });
}

static int set_cluster(script_run *r)
{
  pai_cluster *c;
  int rc;

  assert_non_null(r->of->other);
  c = scene_cluster(r->of->other, NULL);
  rc = send(r, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c });
  pai_cluster_free(c);
  return rc;
}

/* True: it was an event. */
static bool send_event(script_run *r, int *rc)
{
  static const struct {
    const char *verb;
    int kind;
    int (*send)(script_run *r, int kind);
  } verbs[] = {
    { "finish", PAI_SCHED_FINISHED, of_runs },
    { "returned", PAI_SCHED_RETURNED, of_runs },
    { "started", PAI_SCHED_STARTED, of_runs },
    { "resized", PAI_SCHED_RESIZED, of_runs },
    { "cancel", PAI_SCHED_CANCEL, of_runs },
    { "policy", PAI_SCHED_POLICY, set_policy },
    { "shadow", PAI_SCHED_SHADOW, set_policy },
    { "up", PAI_NODE_UP, set_node },
    { "drain", PAI_NODE_DRAIN, set_node },
    { "sick", PAI_NODE_SICK, set_node },
  };
  const char *verb = script_word(r, 0);
  pai_sched_event e = { 0 };

  for (size_t i = 0; i < PAI__LEN(verbs); i++)
    if (strcmp(verb, verbs[i].verb) == 0) {
      *rc = verbs[i].send(r, verbs[i].kind);
      return true;
    }
  if (strcmp(verb, "submit") == 0) {
    *rc = submit(r);
  } else if (strcmp(verb, "change") == 0) {
    *rc = change(r);
  } else if (strcmp(verb, "reserve") == 0) {
    *rc = reserve(r);
  } else if (strcmp(verb, "cluster") == 0) {
    *rc = set_cluster(r);
  } else if (strcmp(verb, "time") == 0) {
    e.kind = PAI_SCHED_TIME;
    e.time = (pai_time)script_number_of(r, script_word(r, 1));
    *rc = send(r, e);
  } else if (strcmp(verb, "unreserve") == 0) {
    e.kind = PAI_SCHED_UNRESERVE;
    e.text = script_word(r, 1);
    *rc = send(r, e);
  } else if (strcmp(verb, "lose") == 0) {
    e.kind = PAI_SCHED_LOSE_PORT;
    e.node = script_word(r, 1);
    e.number = (int64_t)script_number_of(r, script_word(r, 2));
    *rc = send(r, e);
  } else if (strcmp(verb, "regain") == 0) {
    e.kind = PAI_SCHED_REGAIN_PORTS;
    *rc = send(r, e);
  } else {
    return false;
  }
  return true;
}

/* --- lines ----------------------------------------------------------------- */

/* On a copy: a fork, or what was saved and is saved alike when loaded. */
static int decide_copy(const script_run *r, bool fork, const char *expected)
{
  pai__buf saved, again;
  pai_sched *copy;
  int rc;

  if (fork) {
    rc = pai_sched_fork(&copy, r->s, NULL);
    if (rc < 0)
      return rc;
  } else {
    scribe_save(r->s, &saved);
    rc = pai_sched_load(&copy, saved.data, saved.len, NULL, NULL);
    assert_ok(rc);
    scribe_save(copy, &again);
    scribe_same(&saved, &again);
    pai__buf_dispose(&saved);
    pai__buf_dispose(&again);
  }
  rc = expected != NULL ? decide(r, copy, expected) : PAI_OK;
  pai_sched_free(copy);
  return rc;
}

static void split(script_run *r, char *step)
{
  r->n = 0;
  r->code = NULL;
  for (char *at = strtok(step, " "); at != NULL; at = strtok(NULL, " "))
    if (*at == '!') {
      r->code = at + 1;
    } else {
      assert_true(r->n < SCRIPT_WORDS);
      r->words[r->n++] = at;
    }
}

/* The decision fails with this code. */
static int fail_to_decide(script_run *r)
{
  pai_error *err = NULL;
  int rc = pai_sched_decide(r->s, scene_now(r->s), &err);

  r->code = script_word(r, 1);
  return script_expect_code(r, rc, err);
}

static int do_step(script_run *r, char *step)
{
  char *arrow = strstr(step, "=> ");
  const char *expected = NULL;
  int rc = PAI_OK;

  if (arrow != NULL) {
    *arrow = '\0';
    expected = arrow + 3;
  }
  split(r, step);
  if (r->n != 0 && strcmp(r->words[0], "fails") == 0)
    return fail_to_decide(r);
  if (r->n != 0 && strcmp(r->words[0], "fork") == 0)
    return decide_copy(r, true, expected);
  if (r->n != 0 && strcmp(r->words[0], "load") == 0)
    return decide_copy(r, false, expected);
  if (r->n != 0 && (r->of->own == NULL || !r->of->own(r->words, r->n)) &&
      !send_event(r, &rc) && !script_check(r, &rc))
    script_fails(r, "no such step");
  return rc == PAI_OK && expected != NULL ? decide(r, r->s, expected) : rc;
}

static int do_line(script_run *r)
{
  char line[SCRIPT_LINE], *tilde, *end;
  size_t len = strcspn(r->line, "\n");
  int rc = PAI_OK;

  assert_true(len < sizeof(line));
  (void)snprintf(line, sizeof(line), "%.*s", (int)len, r->line);
  tilde = strstr(line, " ~ ");
  if (tilde != NULL)
    *tilde = '\0';
  for (char *at = line; at != NULL && rc == PAI_OK; at = end) {
    end = strchr(at, ';');
    if (end != NULL)
      *end++ = '\0';
    else
      for (len = strlen(at); len > 0 && at[len - 1] == ' ';)
        at[--len] = '\0';
    r->text = end == NULL && tilde != NULL ? tilde + 3 : NULL;
    rc = do_step(r, at);
  }
  return rc;
}

static int do_script(script_run *r)
{
  int rc = PAI_OK;

  for (r->line = r->of->script; rc == PAI_OK && *r->line != '\0';) {
    rc = do_line(r);
    r->line += strcspn(r->line, "\n");
    r->line += *r->line != '\0';
  }
  return rc;
}

void scene_script(pai_sched *s, const char *script)
{
  scene_script_of(s, &(scene_case){ .script = script });
}

void scene_script_of(pai_sched *s, const scene_case *c)
{
  script_run r = { .of = c, .s = s };

  assert_ok(do_script(&r));
}

pai_sched *scene_make(const scene_case *c, const pai_alloc *alloc)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *cluster;
  pai_sched *s = NULL;

  if (c->table == NULL)
    return scene_new(c->cluster, c->policy, c->options, alloc);
  cluster = scene_cluster(c->cluster, alloc);
  o.alloc = alloc;
  o.table = c->table;
  if (cluster != NULL && pai_sched_new(&s, cluster, &o, NULL) < 0)
    assert_null(s);
  pai_cluster_free(cluster);
  return s;
}

static void run_once(const scene_case *c)
{
  pai_sched *s = scene_make(c, NULL);

  if (s == NULL)
    fail_msg("%s: no scheduler is made", c->policy);
  scene_script_of(s, c);
  pai_sched_free(s);
}

/* Whatever happened, all can end, and then all is free. */
static void end_all(pai_sched *s)
{
  pai_sched_node_view v = { .struct_size = sizeof(v) };
  pai_sched_event e = { .kind = PAI_SCHED_FINISHED };

  while ((e.id = pai_sched_next(s, 0)) != 0) {
    if (scene_cancel(s, e.id) < 0)
      return; /* there is no memory for that */
    for (e.instance = PAI_SCHED_ALL;
         pai_sched_next_running(s, e.id, &e.instance, NULL) == PAI_OK;
         e.instance = PAI_SCHED_ALL)
      if (scene_event(s, e, NULL) < 0)
        return;
  }
  for (size_t i = 0; pai_sched_view_node(s, i, &v) == PAI_OK; i++) {
    assert_int_equal(v.free_gpus + v.sick_gpus, v.gpus);
    assert_int_equal(v.free_cpus, v.cpus);
  }
}

static int run_without_memory(const pai_alloc *alloc, void *user_data)
{
  script_run r = { .of = user_data, .faults = true };
  int rc = PAI_ENOMEM;

  r.s = scene_make(r.of, alloc);
  if (r.s != NULL) {
    pai_sched_view v = { .struct_size = sizeof(v) };

    rc = do_script(&r);
    assert_ok(pai_sched_view_sums(r.s, &v));
    assert_true(v.running <= v.requests);
    end_all(r.s);
  }
  pai_sched_free(r.s);
  return rc;
}

void scene_run(const void *row)
{
  scene_case c = *(const scene_case *)row;
  const scene_policy one[] = { { c.policy, c.options }, { NULL, NULL } };
  const scene_policy *p = c.under != NULL ? c.under : one;

  do {
    c.policy = p->name;
    c.options = p->options;
    if (c.faults)
      test_faults(run_without_memory, &c);
    else
      run_once(&c);
    p++;
  } while (p->name != NULL);
}

void scene_refuses(const char *cluster, const char *policy,
                   const scene_wrong *list, size_t n)
{
  pai_cluster *c = scene_cluster(cluster, NULL);

  for (size_t i = 0; i < n; i++) {
    pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
    pai_error *err = NULL;
    pai_sched *s;

    o.policy = policy;
    o.policy_options = list[i].options;
    if (pai_sched_new(&s, c, &o, &err) != PAI_EINVAL)
      fail_msg("%s is taken", list[i].options);
    assert_null(s);
    test_expect_error(err, PAI_EINVAL, list[i].part);
  }
  pai_cluster_free(c);
}
