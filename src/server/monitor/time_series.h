/* time_series.h - internal to the room: time series of jobs and nodes as JSON */
#ifndef PAI_SRC_SERVER_MONITOR_TIME_SERIES_H
#define PAI_SRC_SERVER_MONITOR_TIME_SERIES_H

#include "server/monitor/sampling.h"

/* What is shown of a job, a node, a virtual cluster or the queue. */
typedef struct pai__metrics_view {
  enum pai__series_kind kind;
  char
    subject[PAI__SERIES_NAME]; /* a name; of a job the prefix of its tasks */
  bool tasks;                  /* of a job: each task, instead of their sum */
  const char *wanted;          /* names of metrics with commas; NULL: all */
} pai__metrics_view;

void pai__metrics_of_job(pai__metrics_view *v, pai_job_id job);
/* Finds the node that the path names; if there is none, answers and returns
 * false. */
bool pai__metrics_of_node(pai__metrics_view *v, pai__request *r);

/* Writes the values of all series at one second as a list.  PAI_OK or
 * PAI_ENOMEM. */
int pai__metrics_write_now(pai__json_writer *w, const pai__sampling *u,
                           const pai__metrics_view *v, int64_t second);

/* Adds up the records of a job, or of all if it is 0. */
int pai__use_of_job(pai__series_use_record *sum, const pai__sampling *u,
                    pai_job_id job, int64_t from, int64_t to);
/* Write the members of UseOf and LastUse. */
void pai__use_write(pai__json_writer *w, const pai__series_use_amounts *a);
void pai__use_write_last(pai__json_writer *w,
                         const pai__series_use_amounts *a);

#endif
