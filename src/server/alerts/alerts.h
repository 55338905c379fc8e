/* alerts.h - internal to the room: alerts for administrators and users */
#ifndef PAI_SRC_SERVER_ALERTS_ALERTS_H
#define PAI_SRC_SERVER_ALERTS_ALERTS_H

#include "server/alerts/outbox.h"
#include "server/alerts/settings.h"
#include "server/alerts/silences.h"
#include "server/alerts/states.h"
#include "server/monitor/observed.h"

/* How long a list of alerts stays valid after the answer, as
 * Alertmanager's. */
#define PAI__ALERT_ENDS (INT64_C(5) * 60 * 1000000)

/* Everything about alerts of a server. */
typedef struct pai__watched {
  pai_server *server;
  pai__alert_states states;
  pai__alert_silences silences;
  pai__alert_settings *settings;
  char *path;     /* alerts.yaml of the root */
  uint64_t stamp; /* of the file, when it was last read */
  pai__timer *timer;
  pai_time last;  /* time of the last look; 0: none */
  char node[256]; /* name of the machine, since the first look */
  bool changed;   /* silences, since they were last written */
  pai__outbox outbox;
} pai__watched;

/* --- look.c ---------------------------------------------------------------- */

/* Reads alerts.yaml of the root and the state of an earlier server; then
 * checks the rules each minute.  PAI_OK; errors of the file; PAI_ENOMEM. */
int pai__alerts_begin(pai_server *s, const char *root, pai_error **err);
void pai__alerts_free(pai_server *s);
/* Sends nothing more; pai__alerts_are_over() says when all is sent. */
void pai__alerts_shut(pai_server *s);
bool pai__alerts_are_over(const pai_server *s);
/* Checks the rules now, unless they were checked just before.  Returns a
 * code. */
int pai__alerts_look(pai_server *s, const pai__observed_machine *m,
                     pai_error **err);

/* --- job_samples.c --------------------------------------------------------- */

/* Adds samples that only rules have: of waiting and retried jobs.  To be
 * called for each task; collects running tasks. */
typedef struct pai__job_samples {
  pai__alert_samples *out;
  pai__observed_tasks *running;
  pai__map users; /* number of samples of each user */
  pai_time now;
  uint64_t job; /* job of the previous task */
} pai__job_samples;

int pai__job_samples_task(void *samples, const pai_task_view *t);
/* Adds the utilization of the GPUs of running jobs, and lost GPUs. */
int pai__job_samples_gpus(pai__alert_samples *out, const pai_server *s,
                          const pai_sample *sample,
                          const pai__observed_tasks *running);

/* --- view.c: an alert with all of its labels ------------------------------- */

enum { PAI__ALERT_LABELS = 40 };

typedef struct pai__alert_view {
  pai__alert_label at[PAI__ALERT_LABELS + 5];
  char job[600]; /* "user~name" */
  pai__alert_labels labels;
} pai__alert_view;

void pai__alert_view_of(pai__alert_view *out, const pai__watched *w,
                        const pai__alert *alert);
/* Writes an alert in Alertmanager's format. */
void pai__alert_write(pai__json_writer *w, const pai__watched *watched,
                      const pai__alert_state *x, pai_time now);
/* Writes "labels" and "annotations". */
void pai__alert_write_labels(pai__json_writer *w, const pai__watched *watched,
                             const pai__alert *a);
/* Returns whether a silence holds for the alert now. */
bool pai__alert_is_silenced(const pai__watched *w, const pai__alert *a,
                            pai_time now);

/* --- keep.c: the state survives a restart ---------------------------------- */

/* Puts changes into the database.  PAI_OK or an error. */
int pai__alerts_keep(pai__watched *w, pai_error **err);
int pai__alerts_restore(pai__watched *w, pai_error **err);

/* --- actions.c ------------------------------------------------------------- */

/* Tells receivers of alerts that they were not told of. */
void pai__alerts_act(pai__watched *w, pai_time now);
/* Stop jobs, add a tag, or drain nodes that the labels of alerts name; add a
 * line to the audit log for each.  Return the number of changes. */
size_t pai__alert_stop_job(pai__watched *w, pai__alert_labels labels,
                           const char *who);
size_t pai__alert_tag_job(pai__watched *w, pai__alert_labels labels,
                          const char *tag, const char *who);
size_t pai__alert_drain_node(pai__watched *w, pai__alert_labels labels,
                             const char *who);

#endif
