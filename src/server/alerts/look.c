/*
 * look.c - checks the rules of alerts, each minute and on request
 */
#include "server/alerts/alerts.h"

#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000)
enum { FRESH = 5 }; /* seconds for which a look is recent enough */

/* A look at the machine and its jobs. */
typedef struct looking {
  pai__watched *w;
  const pai__observed_machine *machine;
  const pai_sample *sample; /* NULL: none can be taken */
  pai__observed_tasks running;
  pai__alert_samples samples;
  pai_time now;
} looking;

/* --- samples: THE place from which rules get their values ------------------ */

/* Collects the names of metrics in rules. */
static int add_names(pai__map *wanted, const pai__alert_rules *rules)
{
  const char *name;

  for (size_t i = 0; i < rules->n; i++)
    for (size_t k = 0;
         !rules->at[i].off &&
         (name = pai__alert_expr_metric(rules->at[i].parsed, k)) != NULL;
         k++)
      if (pai__map_set(wanted, name, strlen(name), (void *)rules) < 0)
        return PAI_ENOMEM;
  return PAI_OK;
}

static int read_metrics(looking *l, pai_error **err)
{
  pai__map wanted;
  pai__buf text;
  int rc;

  pai__map_init(&wanted, &l->w->server->alloc);
  pai__buf_init(&text, &l->w->server->alloc);
  rc = add_names(&wanted, &l->w->settings->rules) < 0 ? pai__oom(err) : PAI_OK;
  if (rc == PAI_OK)
    rc = pai__metrics_text(&text, l->w->server, l->machine, &l->running,
                           l->sample);
  if (rc == PAI_OK &&
      (!pai__buf_ok(&text) ||
       pai__alert_samples_read(&l->samples, text.data, &wanted) < 0))
    rc = pai__oom(err);
  pai__buf_dispose(&text);
  pai__map_dispose(&wanted);
  return rc;
}

static int read_samples(looking *l, pai_error **err)
{
  pai_server *s = l->w->server;
  pai__job_samples jobs = { .out = &l->samples,
                            .running = &l->running,
                            .now = l->now };
  int rc;

  pai__map_init(&jobs.users, &s->alloc);
  rc = pai_platform_tasks(s->platform, pai__job_samples_task, &jobs, err);
  pai__map_dispose(&jobs.users);
  if (rc == PAI_OK)
    rc = pai__usage_sampler_take(&l->sample, &s->usage_sampler, s, &l->running,
                                 err);
  if (rc == PAI_OK)
    rc = read_metrics(l, err);
  if (rc == PAI_OK && l->sample != NULL &&
      pai__job_samples_gpus(&l->samples, s, l->sample, &l->running) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK && l->machine->trouble != NULL &&
      pai__alert_samples_add(
        &l->samples, "openpai_database_trouble",
        &(pai__alert_label){ "reason", l->machine->trouble }, 1, 1) < 0)
    rc = pai__oom(err);
  return rc;
}

/* --- rules --------------------------------------------------------------- */

/* Labels that an alert has in another way. */
static bool is_special(const char *name)
{
  static const char *const all[] = { "alertname", "severity", "node_name",
                                     "username",  "job_name", "reason" };

  for (size_t i = 0; i < PAI__LEN(all); i++)
    if (strcmp(all[i], name) == 0)
      return true;
  return false;
}

static size_t add_labels(pai__alert_label *to, size_t n,
                         pai__alert_labels labels)
{
  for (size_t i = 0; i < labels.n && n < PAI__ALERT_LABELS; i++) {
    bool have = is_special(labels.at[i].name);

    for (size_t k = 0; k < n; k++)
      have = have || strcmp(to[k].name, labels.at[i].name) == 0;
    if (!have)
      to[n++] = labels.at[i];
  }
  return n;
}

/* There is an alert for this value of a rule. */
static int see(const looking *l, const pai__alert_rule *rule,
               const pai__alert_sample *value)
{
  pai__alert_label labels[PAI__ALERT_LABELS];
  pai__alert a = { .name = rule->name,
                   .severity = rule->severity,
                   .wait = rule->wait };
  const char *job = pai__alert_labels_get(value->labels, "job_name"),
             *tilde = strchr(job, '~');
  char user[256];

  if (tilde != NULL && (size_t)(tilde - job) < sizeof(user)) {
    (void)snprintf(user, sizeof(user), "%.*s", (int)(tilde - job), job);
    a.user = user;
    a.job = tilde + 1;
  }
  a.labels.n = add_labels(labels, 0, rule->labels);
  a.labels.n = add_labels(labels, a.labels.n, value->labels);
  a.labels.at = labels;
  pai__alert_labels_sort(labels, a.labels.n);
  if (!pai__alert_states_have_room(&l->w->states, &a))
    return PAI_OK;
  pai__alert_summary(a.text, sizeof(a.text), rule->summary, value->labels,
                     value->value);
  return pai__alert_states_see(&l->w->states, &a, l->now);
}

static bool runs(const looking *l, const pai__alert *a)
{
  for (size_t i = 0; i < l->running.n; i++)
    if (strcmp(l->running.at[i].user, a->user) == 0 &&
        strcmp(l->running.at[i].name, a->job) == 0)
      return true;
  return false;
}

/* The rule cannot be checked: its alerts stay as they are, except those of
 * jobs that no longer run. */
static void stay(const looking *l, const pai__alert_rule *rule)
{
  for (size_t i = 0; i < l->w->states.n; i++) {
    pai__alert_state *x = l->w->states.list[i];

    if (x->ended == 0 && !x->alert.outside &&
        strcmp(x->alert.name, rule->name) == 0 &&
        (x->alert.job == NULL || runs(l, &x->alert)))
      pai__alert_states_stay(&l->w->states, x);
  }
}

/* Returns whether the rule needs a sample of the machine, and there is none;
 * or values of a time before this server began. */
static bool is_unknown(const looking *l, const pai__alert_rule *rule)
{
  const char *name;

  if (pai__alert_expr_has_window(rule->parsed) && l->w->states.look <= 2)
    return true;
  for (size_t i = 0; l->sample == NULL &&
                     (name = pai__alert_expr_metric(rule->parsed, i)) != NULL;
       i++)
    if (!pai__alert_samples_has(&l->samples, name))
      return true;
  return false;
}

static int check_rule(const looking *l, const pai__alert_rule *rule,
                      pai__arena *arena)
{
  pai__alert_result result;
  int rc = pai__alert_expr_remember(rule->parsed, &l->samples, l->now);

  if (rc == PAI_OK)
    rc =
      pai__alert_expr_eval(&result, rule->parsed, &l->samples, l->now, arena);
  if (rc == PAI_ELIMIT) {
    pai__log_line(&l->w->server->log, PAI_LOG_WARNING,
                  "alert rule %s has more than %d values", rule->name,
                  PAI__EXPR_RESULTS);
    return PAI_OK;
  }
  if (rc == PAI_OK && result.n == 0 && is_unknown(l, rule))
    stay(l, rule);
  for (size_t i = 0; rc == PAI_OK && i < result.n; i++) {
    const char *job = pai__alert_labels_get(result.at[i].labels, "job_name");

    if (i < PAI__ALERT_RULE_ALERTS || job[0] != '\0')
      rc = see(l, rule, &result.at[i]);
  }
  return rc;
}

static int check_all(looking *l, pai_error **err)
{
  const pai__alert_rules *rules = &l->w->settings->rules;
  pai__arena arena;
  int rc = read_samples(l, err);

  if (rc < 0)
    return rc;
  pai__arena_init(&arena, &l->w->server->alloc);
  for (size_t i = 0; rc == PAI_OK && i < rules->n; i++) {
    pai__arena_clear(&arena);
    if (!rules->at[i].off)
      rc = check_rule(l, &rules->at[i], &arena);
  }
  pai__arena_dispose(&arena);
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

/* --- settings ------------------------------------------------------------ */

static void free_settings(pai__watched *w, pai__alert_settings *settings)
{
  if (settings == NULL)
    return;
  pai__alert_settings_dispose(settings);
  pai__free(&w->server->alloc, settings, sizeof(*settings));
}

/* Reads the file; the settings before stay if it is invalid. */
static int load(pai__watched *w, pai_error **err)
{
  pai__alert_settings *new = pai__zalloc(&w->server->alloc, sizeof(*new));
  int rc;

  if (new == NULL)
    return pai__oom(err);
  w->stamp = pai__alert_file_stamp(w->path);
  rc = pai__alert_settings_read(new, &w->server->alloc, w->path, err);
  if (rc < 0) {
    free_settings(w, new);
    return rc;
  }
  free_settings(w, w->settings);
  w->settings = new;
  return PAI_OK;
}

static void load_changed(pai__watched *w)
{
  pai_error *err = NULL;

  if (pai__alert_file_stamp(w->path) == w->stamp)
    return;
  if (load(w, &err) < 0)
    pai__log_line(&w->server->log, PAI_LOG_ERROR,
                  "alerts go on with the settings before: %s",
                  pai_error_message(err));
  pai_error_free(err);
}

/* --- looks --------------------------------------------------------------- */

/* An incomplete check ends no alerts. */
int pai__alerts_look(pai_server *s, const pai__observed_machine *m,
                     pai_error **err)
{
  pai__watched *w = s->watched;
  looking l = { .w = w, .machine = m, .now = pai__loop_wall_time() };
  pai_time fresh = w->settings->interval < FRESH * SECOND
                     ? w->settings->interval
                     : FRESH * SECOND;
  int rc;

  if (w->last != 0 && l.now >= w->last && l.now - w->last < fresh)
    return PAI_OK;
  load_changed(w);
  (void)snprintf(w->node, sizeof(w->node), "%s", m->name);
  pai__observed_tasks_init(&l.running, s);
  pai__alert_samples_init(&l.samples, &s->alloc);
  pai__alert_states_begin(&w->states);
  rc = check_all(&l, err);
  if (rc == PAI_OK) {
    pai__alert_states_end(&w->states, l.now);
    w->changed = pai__alert_silences_tidy(&w->silences, l.now) || w->changed;
    w->last = l.now;
    pai__alerts_act(w, l.now);
    (void)!pai__alerts_keep(w, NULL); /* the next look tries again */
  }
  pai__alert_samples_dispose(&l.samples);
  pai__observed_tasks_dispose(&l.running);
  return rc;
}

static void on_minute(void *user_data)
{
  pai_server *s = user_data;
  pai__observed_machine machine;

  if (s->closing > 0)
    return;
  /* On failure the next look may succeed. */
  if (pai__observed_machine_read(&machine, s, NULL) == PAI_OK)
    (void)!pai__alerts_look(s, &machine, NULL);
  pai__observed_machine_dispose(&machine);
  pai__timer_start(s->watched->timer, s->watched->settings->interval);
}

int pai__alerts_begin(pai_server *s, const char *root, pai_error **err)
{
  pai__watched *w = pai__zalloc(&s->alloc, sizeof(*w));
  pai__buf path;
  int rc;

  if (w == NULL)
    return pai__oom(err);
  s->watched = w;
  w->server = s;
  pai__alert_states_init(&w->states, &s->alloc);
  pai__alert_silences_init(&w->silences, &s->alloc);
  pai__buf_init(&path, &s->alloc);
  pai__buf_printf(&path, "%s/alerts.yaml", root);
  w->path = pai__buf_take(&path);
  if (w->path == NULL || pai__outbox_init(w) < 0 ||
      pai__timer_new(&w->timer, &s->alloc, s->loop, on_minute, s) < 0)
    return pai__oom(err);
  rc = load(w, err);
  if (rc == PAI_OK)
    rc = pai__alerts_restore(w, err);
  if (rc == PAI_OK)
    pai__timer_start(w->timer, w->settings->interval);
  return rc;
}

void pai__alerts_shut(pai_server *s)
{
  if (s->watched != NULL)
    pai__outbox_shut(s->watched);
}

bool pai__alerts_are_over(const pai_server *s)
{
  return s->watched == NULL || s->watched->outbox.under_way == 0;
}

void pai__alerts_free(pai_server *s)
{
  pai__watched *w = s->watched;

  if (w == NULL)
    return;
  pai__timer_close(w->timer);
  pai__outbox_free(w);
  pai__alert_states_dispose(&w->states);
  pai__alert_silences_dispose(&w->silences);
  free_settings(w, w->settings);
  pai__strfree(&s->alloc, w->path);
  pai__free(&s->alloc, w, sizeof(*w));
  s->watched = NULL;
}
