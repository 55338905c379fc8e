/*
 * rules.h - internal to the room: rules, which say when there is an alert
 */
#ifndef PAI_SRC_SERVER_ALERTS_RULES_H
#define PAI_SRC_SERVER_ALERTS_RULES_H

#include "server/alerts/expr.h"

/* A rule.  Texts of rules from the settings are owned by their arena. */
typedef struct pai__alert_rule {
  const char *name, *severity, *expr, *summary;
  pai_time wait;            /* the condition must hold this long */
  pai__alert_labels labels; /* added to each alert, sorted */
  bool built_in, off;
  pai__alert_expr *parsed;
} pai__alert_rule;

typedef struct pai__alert_rules {
  pai_alloc alloc;
  pai__alert_rule *at;
  size_t n, cap;
} pai__alert_rules;

enum { PAI__ALERT_RULES = 200, PAI__ALERT_RULE_ALERTS = 200 };

void pai__alert_rules_init(pai__alert_rules *r, const pai_alloc *alloc);
void pai__alert_rules_dispose(pai__alert_rules *r);
/* Adds a rule and parses its expression, whose errors have line and column in
 * it. */
int pai__alert_rules_add(pai__alert_rules *r, const pai__alert_rule *rule,
                         pai_error **err);
/* Adds the rules that every platform has. */
int pai__alert_rules_built_in(pai__alert_rules *r, pai_error **err);
pai__alert_rule *pai__alert_rules_find(const pai__alert_rules *r,
                                       const char *name);
/* Returns whether a text is a severity. */
bool pai__alert_is_severity(const char *text);
#define PAI__ALERT_SEVERITIES "info, warn, error and fatal"

/* Writes a summary: {{name}} stands for a label or {{value}}. */
void pai__alert_summary(char *out, size_t size, const char *form,
                        pai__alert_labels labels, double value);

#endif
