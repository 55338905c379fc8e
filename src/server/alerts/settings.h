/*
 * settings.h - internal to the room: alerts.yaml of the root: rules, receivers
 * and routes of alerts
 */
#ifndef PAI_SRC_SERVER_ALERTS_SETTINGS_H
#define PAI_SRC_SERVER_ALERTS_SETTINGS_H

#include "server/alerts/rules.h"

/* A list of texts. */
typedef struct pai__alert_texts {
  const char **at; /* ended by NULL */
  size_t n;
} pai__alert_texts;

/* What is done with an alert. */
typedef struct pai__alert_receiver {
  const char *name;
  const char *url; /* of a webhook, or NULL */
  const char *token_file;
  char *token; /* for the webhook; read from the file; or NULL */
  bool email_admin, email_user, stop_jobs, cordon_nodes;
  pai__alert_texts tags;
} pai__alert_receiver;

/* Which alerts a receiver is told of. */
typedef struct pai__alert_route {
  const char *receiver;
  pai__alert_matchers matchers;
  pai_time repeat; /* time between two messages about one alert */
  bool more;       /* later routes are tried, too */
} pai__alert_route;

typedef struct pai__alert_mail {
  const char *server; /* smtp:// or smtps://; NULL: no mail */
  const char *from, *user, *password_file, *ca_file;
  char *password;      /* read from the file, or NULL */
  pai__alert_texts to; /* administrators */
  bool plain;          /* TLS is not required */
} pai__alert_mail;

typedef struct pai__alert_settings {
  pai_alloc alloc;
  pai__arena arena; /* texts, receivers */
  pai__alert_rules rules;
  pai__alert_texts targets, alertmanagers;
  pai__alert_mail mail;
  pai__alert_receiver *receivers;
  size_t nreceivers, receivers_cap;
  pai__alert_route *routes;
  size_t nroutes, routes_cap;
  pai_time interval; /* between looks */
} pai__alert_settings;

enum { PAI__ALERT_ROUTES = 64, PAI__ALERT_TEXTS = 64 };

/* Settings without a file. */
int pai__alert_settings_init(pai__alert_settings *s, const pai_alloc *alloc,
                             pai_error **err);
void pai__alert_settings_dispose(pai__alert_settings *s);
/* Parses a file, pure; `path` is its name in errors, which have line and
 * column.  PAI_EINVAL; PAI_ELIMIT; PAI_ENOMEM. */
int pai__alert_settings_parse(pai__alert_settings *out, const pai_alloc *alloc,
                              const char *path, const char *text, size_t len,
                              pai_error **err);
/* Reads the file, if there is one, and the files with secrets that it
 * names. */
int pai__alert_settings_read(pai__alert_settings *out, const pai_alloc *alloc,
                             const char *path, pai_error **err);
pai__alert_receiver *pai__alert_receiver_find(const pai__alert_settings *s,
                                              const char *name);

/* --- targets.c: where messages may go -------------------------------------- */

/* Writes "host:port" of a URL, the port also if it is the scheme's; false: the
 * URL has none, or a user. */
bool pai__alert_target_of(char *out, size_t size, const char *url);
/* Returns whether a text can be an address in a mail. */
bool pai__alert_is_address(const char *text);
bool pai__alert_target_is_listed(const pai__alert_settings *s,
                                 const char *target);

/* --- posix_targets.c -------------------------------------------------------- */

/* Returns whether messages may go to an address (a struct sockaddr): it is a
 * public one, or the list has it. */
bool pai__alert_may_connect(const pai__alert_settings *s, const void *address);
/* Returns a number that changes when the file does; 0: there is none. */
uint64_t pai__alert_file_stamp(const char *path);

#endif
