/*
 * settings.c - reads alerts.yaml: rules, receivers and routes of alerts
 */
#include "server/alerts/reading.h"

#include "yaml/yaml.h"

#include <gnutls/gnutls.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define SECOND INT64_C(1000000)

/* --- rules --------------------------------------------------------------- */

static const pai__alert_key rule_keys[] = {
  { "alert", pai__alert_set_line, offsetof(pai__alert_rule, name) },
  { "expr", pai__alert_set_text, offsetof(pai__alert_rule, expr) },
  { "for", pai__alert_set_time, offsetof(pai__alert_rule, wait) },
  { "severity", pai__alert_set_line, offsetof(pai__alert_rule, severity) },
  { "summary", pai__alert_set_line, offsetof(pai__alert_rule, summary) },
  { "labels", pai__alert_set_labels, offsetof(pai__alert_rule, labels) },
};

static int set_rule(const pai__alert_reading *r, pai__node n)
{
  pai__alert_rule rule = { .severity = "warn" };
  pai_error *why = NULL;
  int rc = pai__alert_set_mapping(r, n, rule_keys, PAI__LEN(rule_keys), &rule);

  if (rc < 0)
    return rc;
  if (rule.name == NULL || rule.expr == NULL)
    return pai__alert_fail_at(
      r, n, "a rule needs \"alert\" and \"expr\"",
      "for example alert: Hot, expr: nvidiasmi_temperature > 85");
  if (!pai__alert_label_is_name(rule.name, strlen(rule.name)))
    return pai__alert_fail_at(r, pai__tree_get(r->t, n, "alert"),
                              "a name of an alert has letters, digits and _",
                              NULL);
  if (!pai__alert_is_severity(rule.severity))
    return pai__alert_fail_at(r, pai__tree_get(r->t, n, "severity"),
                              "there is no such severity",
                              "severities are " PAI__ALERT_SEVERITIES);
  if (pai__alert_rules_find(&r->out->rules, rule.name) != NULL)
    return pai__alert_fail_at(
      r, pai__tree_get(r->t, n, "alert"),
      "there is a rule of this name already",
      "to replace a built-in rule, name it in \"disabled\" and "
      "give yours another name");
  if (rule.summary == NULL)
    rule.summary = rule.expr;
  rc = pai__alert_rules_add(&r->out->rules, &rule, &why);
  if (rc == PAI_ENOMEM)
    rc = pai__oom(r->err);
  else if (rc < 0)
    rc = pai__alert_fail_within(r, pai__tree_get(r->t, n, "expr"), rule.expr,
                                why);
  pai_error_free(why);
  return rc;
}

static int set_rules(const pai__alert_reading *r, pai__node n, void *to)
{
  (void)to;
  return pai__alert_set_items(r, n, set_rule);
}

static int set_disabled(const pai__alert_reading *r, pai__node n)
{
  const char *name = NULL;
  int rc = pai__alert_set_line(r, n, &name);
  pai__alert_rule *rule;

  if (rc < 0)
    return rc;
  rule = pai__alert_rules_find(&r->out->rules, name);
  if (rule == NULL)
    return pai__alert_fail_at(r, n, "there is no such rule",
                              "'openpai alert rules' lists the rules");
  rule->off = true;
  return PAI_OK;
}

static int set_all_disabled(const pai__alert_reading *r, pai__node n, void *to)
{
  (void)to;
  return pai__alert_set_items(r, n, set_disabled);
}

/* --- receivers ----------------------------------------------------------- */

static int set_url(const pai__alert_reading *r, pai__node n, void *to)
{
  int rc = pai__alert_set_line(r, n, to);
  const char *url = rc == PAI_OK ? *(const char **)to : "";
  char target[300];

  if (rc < 0)
    return rc;
  if (!pai__alert_target_of(target, sizeof(target), url))
    return pai__alert_fail_at(
      r, n, "this is not a URL with a host, and without a user",
      "write https://HOST/PATH or smtps://HOST");
  return PAI_OK;
}

static const pai__alert_key webhook_keys[] = {
  { "url", set_url, offsetof(pai__alert_receiver, url) },
  { "token_file", pai__alert_set_line,
    offsetof(pai__alert_receiver, token_file) },
};

static int set_webhook(const pai__alert_reading *r, pai__node n, void *to)
{
  pai__alert_receiver *receiver = to;
  int rc = pai__alert_set_mapping(r, n, webhook_keys, PAI__LEN(webhook_keys),
                                  receiver);

  return rc == PAI_OK && (receiver->url == NULL ||
                          strncasecmp(receiver->url, "http", 4) != 0)
           ? pai__alert_fail_at(r, n, "a webhook needs a url",
                                "write url: https://...")
           : rc;
}

/* An action is on if its key is there; OpenPAI's have a template, of which
 * there is one. */
static int set_action(const pai__alert_reading *r, pai__node n, void *to)
{
  const char *template = NULL;
  const pai__alert_key keys[] = { { "template", pai__alert_set_line, 0 } };

  *(bool *)to = true;
  if (pai__tree_type(r->t, n) == PAI__BOOL)
    return pai__alert_set_flag(r, n, to);
  return pai__alert_set_mapping(r, n, keys, 1, &template);
}

static int set_tags(const pai__alert_reading *r, pai__node n, void *to)
{
  const pai__alert_key keys[] = { { "tags", pai__alert_set_list, 0 } };

  return pai__alert_set_mapping(r, n, keys, 1, to);
}

static const pai__alert_key action_keys[] = {
  { "webhook", set_webhook, 0 },
  { "email-admin", set_action, offsetof(pai__alert_receiver, email_admin) },
  { "email-user", set_action, offsetof(pai__alert_receiver, email_user) },
  { "stop-jobs", set_action, offsetof(pai__alert_receiver, stop_jobs) },
  { "cordon-nodes", set_action, offsetof(pai__alert_receiver, cordon_nodes) },
  { "tag-jobs", set_tags, offsetof(pai__alert_receiver, tags) },
};

static int set_actions(const pai__alert_reading *r, pai__node n, void *to)
{
  return pai__alert_set_mapping(r, n, action_keys, PAI__LEN(action_keys), to);
}

static const pai__alert_key receiver_keys[] = {
  { "name", pai__alert_set_line, offsetof(pai__alert_receiver, name) },
  { "actions", set_actions, 0 },
};

pai__alert_receiver *pai__alert_receiver_find(const pai__alert_settings *s,
                                              const char *name)
{
  for (size_t i = 0; i < s->nreceivers; i++)
    if (strcmp(s->receivers[i].name, name) == 0)
      return &s->receivers[i];
  return NULL;
}

static int set_receiver(const pai__alert_reading *r, pai__node n)
{
  pai__alert_receiver new = { .name = NULL };
  pai__alert_settings *s = r->out;
  int rc =
    pai__alert_set_mapping(r, n, receiver_keys, PAI__LEN(receiver_keys), &new);

  if (rc < 0)
    return rc;
  if (new.name == NULL || pai__alert_receiver_find(s, new.name) != NULL ||
      s->nreceivers == PAI__ALERT_ROUTES)
    return pai__alert_fail_at(r, n, "a receiver has no name of its own",
                              "write name: NAME; there may be up to 64");
  if (PAI__VEC_ROOM(&s->alloc, s->receivers, s->nreceivers, s->receivers_cap) <
      0)
    return pai__oom(r->err);
  s->receivers[s->nreceivers++] = new;
  return PAI_OK;
}

static int set_receivers(const pai__alert_reading *r, pai__node n, void *to)
{
  (void)to;
  return pai__alert_set_items(r, n, set_receiver);
}

/* --- routes -------------------------------------------------------------- */

static int add_matchers(const pai__alert_reading *r, pai__node n,
                        pai__alert_matchers *to, bool regex)
{
  pai__alert_labels labels = { NULL, 0 };
  pai_error *why = NULL;
  int rc = pai__alert_set_labels(r, n, &labels);

  for (size_t i = 0; rc == PAI_OK && i < labels.n; i++)
    rc = pai__alert_matchers_add(
      to, labels.at[i].name, strlen(labels.at[i].name), labels.at[i].value,
      strlen(labels.at[i].value), false, regex, &why);
  if (why != NULL && rc != PAI_ENOMEM)
    rc = pai__alert_fail_at(r, n, pai_error_message(why), pai_error_help(why));
  else if (why != NULL)
    rc = pai__oom(r->err);
  pai_error_free(why);
  return rc;
}

static int set_match(const pai__alert_reading *r, pai__node n, void *to)
{
  return add_matchers(r, n, to, false);
}

static int set_match_re(const pai__alert_reading *r, pai__node n, void *to)
{
  return add_matchers(r, n, to, true);
}

static const pai__alert_key route_keys[] = {
  { "receiver", pai__alert_set_line, offsetof(pai__alert_route, receiver) },
  { "match", set_match, offsetof(pai__alert_route, matchers) },
  { "match_re", set_match_re, offsetof(pai__alert_route, matchers) },
  { "repeat_interval", pai__alert_set_time,
    offsetof(pai__alert_route, repeat) },
  { "continue", pai__alert_set_flag, offsetof(pai__alert_route, more) },
};

static int set_route(const pai__alert_reading *r, pai__node n)
{
  pai__alert_settings *s = r->out;
  pai__alert_route *new;
  int rc;

  if (s->nroutes == PAI__ALERT_ROUTES)
    return pai__alert_fail_at(r, n, "there are more than 64 routes", NULL);
  if (PAI__VEC_ROOM(&s->alloc, s->routes, s->nroutes, s->routes_cap) < 0)
    return pai__oom(r->err);
  new = &s->routes[s->nroutes++];
  *new = (pai__alert_route){ .repeat = 24 * 3600 * SECOND };
  pai__alert_matchers_init(&new->matchers, &s->alloc);
  rc = pai__alert_set_mapping(r, n, route_keys, PAI__LEN(route_keys), new);
  return rc == PAI_OK && new->receiver == NULL
           ? pai__alert_fail_at(r, n, "a route has no receiver",
                                "write receiver: NAME")
           : rc;
}

static int set_routes(const pai__alert_reading *r, pai__node n, void *to)
{
  (void)to;
  return pai__alert_set_items(r, n, set_route);
}

/* --- the whole ----------------------------------------------------------- */

static const pai__alert_key mail_keys[] = {
  { "server", set_url, offsetof(pai__alert_mail, server) },
  { "from", pai__alert_set_line, offsetof(pai__alert_mail, from) },
  { "to", pai__alert_set_list, offsetof(pai__alert_mail, to) },
  { "user", pai__alert_set_line, offsetof(pai__alert_mail, user) },
  { "password_file", pai__alert_set_line,
    offsetof(pai__alert_mail, password_file) },
  { "ca_file", pai__alert_set_line, offsetof(pai__alert_mail, ca_file) },
  { "allow_plain", pai__alert_set_flag, offsetof(pai__alert_mail, plain) },
};

static int set_mail(const pai__alert_reading *r, pai__node n, void *to)
{
  pai__alert_mail *mail = to;
  int rc = pai__alert_set_mapping(r, n, mail_keys, PAI__LEN(mail_keys), mail);

  if (rc == PAI_OK && (mail->server == NULL || mail->from == NULL ||
                       !pai__alert_is_address(mail->from) ||
                       strncasecmp(mail->server, "smtp", 4) != 0))
    rc = pai__alert_fail_at(r, n, "mail needs \"server\" and \"from\"",
                            "write server: smtps://HOST and from: ADDRESS");
  for (size_t i = 0; rc == PAI_OK && i < mail->to.n; i++)
    if (!pai__alert_is_address(mail->to.at[i]) ||
        !pai__alert_is_address(mail->from))
      rc = pai__alert_fail_at(r, n, "\"from\" or \"to\" is no address",
                              "write name@example.org");
  return rc == PAI_OK && (mail->user == NULL) != (mail->password_file == NULL)
           ? pai__alert_fail_at(
               r, n, "\"user\" and \"password_file\" need each other", NULL)
           : rc;
}

static const pai__alert_key all_keys[] = {
  { "interval", pai__alert_set_time, offsetof(pai__alert_settings, interval) },
  { "rules", set_rules, 0 },
  { "disabled", set_all_disabled, 0 },
  { "targets", pai__alert_set_list, offsetof(pai__alert_settings, targets) },
  { "alertmanagers", pai__alert_set_list,
    offsetof(pai__alert_settings, alertmanagers) },
  { "mail", set_mail, offsetof(pai__alert_settings, mail) },
  { "receivers", set_receivers, 0 },
  { "routes", set_routes, 0 },
};

/* Checks that messages to the URL are allowed. */
static int check_target(const pai__alert_reading *r, const char *url)
{
  char target[300];
  int rc;

  if (url == NULL)
    return PAI_OK;
  if (!pai__alert_target_of(target, sizeof(target), url))
    return pai__fail(r->err, PAI_EINVAL,
                     "%s: an address of alertmanagers is not a URL", r->path);
  if (pai__alert_target_is_listed(r->out, target))
    return PAI_OK;
  rc =
    pai__fail(r->err, PAI_EINVAL, "%s: %s is not in targets", r->path, target);
  pai__error_help(r->err, "add \"%s\" to the list \"targets\"", target);
  return rc;
}

/* Checks what depends on several parts of the file. */
static int check(const pai__alert_reading *r)
{
  const pai__alert_settings *s = r->out;
  int rc = check_target(r, s->mail.server);

  for (size_t i = 0; rc == PAI_OK && i < s->alertmanagers.n; i++)
    rc = check_target(r, s->alertmanagers.at[i]);
  for (size_t i = 0; rc == PAI_OK && i < s->nreceivers; i++) {
    const pai__alert_receiver *x = &s->receivers[i];

    rc = check_target(r, x->url);
    if (rc == PAI_OK && (x->email_admin || x->email_user) &&
        s->mail.server == NULL)
      rc = pai__fail(r->err, PAI_EINVAL,
                     "%s: receiver %s sends mail, but there is no \"mail\"",
                     r->path, x->name);
  }
  for (size_t i = 0; rc == PAI_OK && i < s->nroutes; i++)
    if (pai__alert_receiver_find(s, s->routes[i].receiver) == NULL)
      rc = pai__fail(r->err, PAI_EINVAL,
                     "%s: a route names receiver %s, which there is not",
                     r->path, s->routes[i].receiver);
  return rc;
}

int pai__alert_settings_init(pai__alert_settings *s, const pai_alloc *alloc,
                             pai_error **err)
{
  *s = (pai__alert_settings){ .alloc = *alloc, .interval = 60 * SECOND };
  pai__arena_init(&s->arena, &s->alloc);
  pai__alert_rules_init(&s->rules, &s->alloc);
  return pai__alert_rules_built_in(&s->rules, err);
}

/* Overwrites and frees a secret. */
static void wipe(const pai_alloc *alloc, char **text)
{
  if (*text != NULL)
    gnutls_memset(*text, 0, strlen(*text));
  pai__strfree(alloc, *text);
  *text = NULL;
}

void pai__alert_settings_dispose(pai__alert_settings *s)
{
  for (size_t i = 0; i < s->nreceivers; i++)
    wipe(&s->alloc, &s->receivers[i].token);
  for (size_t i = 0; i < s->nroutes; i++)
    pai__alert_matchers_dispose(&s->routes[i].matchers);
  wipe(&s->alloc, &s->mail.password);
  pai__free(&s->alloc, s->receivers, s->receivers_cap * sizeof(*s->receivers));
  pai__free(&s->alloc, s->routes, s->routes_cap * sizeof(*s->routes));
  pai__alert_rules_dispose(&s->rules);
  pai__arena_dispose(&s->arena);
}

int pai__alert_settings_parse(pai__alert_settings *out, const pai_alloc *alloc,
                              const char *path, const char *text, size_t len,
                              pai_error **err)
{
  const pai__yaml_options o = { .mode = PAI__YAML_CORE,
                                .max_depth = 12,
                                .alloc = alloc };
  pai__alert_reading r = { out, path, NULL, err };
  pai__tree *t = NULL;
  pai_error *why = NULL;
  int rc = pai__alert_settings_init(out, alloc, err);

  if (rc < 0)
    return rc;
  rc = pai__yaml_parse(&t, text, len, &o, &why);
  if (rc == PAI_ENOMEM) {
    rc = pai__oom(err);
  } else if (rc < 0) {
    rc = pai__alert_fail_pos(
      &r, (pai__pos){ pai_error_line(why), pai_error_column(why) },
      pai_error_message(why), pai_error_help(why));
  } else if (t != NULL) {
    r.t = t;
    rc = pai__alert_set_mapping(&r, 0, all_keys, PAI__LEN(all_keys), out);
    if (rc == PAI_OK)
      rc = check(&r);
  }
  pai_error_free(why);
  pai__tree_free(t);
  return rc;
}
