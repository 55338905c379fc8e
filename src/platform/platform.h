/* platform.h - internal to the room: a platform and its jobs */
#ifndef PAI_SRC_PLATFORM_PLATFORM_H
#define PAI_SRC_PLATFORM_PLATFORM_H

#include "backend/backend.h"
#include "base/map.h"
#include "job/form.h"
#include "job/plan.h"
#include "resource/machine.h"

#include <openpai/platform.h>
#include <openpai/sched.h>

typedef struct pai__pjob pai__pjob;

/* A job of the platform: the fold, and what hangs on it. */
struct pai__pjob {
  pai_platform *platform;
  pai_job_id id;
  pai_spec *spec;
  pai__job_form form;
  pai__job job;
  char *dir;
  pai__task_place *places; /* of each task, while placed */
  uint32_t *ports;         /* of all of them, in a row */
  size_t nports;
  pai__arena attempt;       /* of what follows; emptied with the place */
  pai__plan_shared *shared; /* made with the attempt's first plan */
  uint8_t *told;            /* the state last told, of the job (0: none), then
                               of its tasks */
  char *why;                /* text of the last task that did not start */
  pai__timer *grace;        /* from SIGTERM to SIGKILL */
  pai__timer *retry;
  bool placed;             /* it holds what is in `places` */
  bool changed;            /* stands in the platform's list of those */
  pai__pjob *next_changed; /* in that list */
  pai__pjob *next_placed;  /* among what was decided */
  bool forgotten;          /* freed when its turn in the list comes */
};

/* Jobs in the order they were added. */
typedef struct pai__pjob_list {
  pai__pjob *first, *last;
} pai__pjob_list;

struct pai_platform {
  pai_alloc alloc;
  pai_loop *loop;
  pai__log log;
  pai_event_cb on_event;
  void *user_data;
  char *jobs_dir;
  char *user;
  pai__machine here; /* the one it runs jobs on */
  pai_sched *sched;
  const pai__backend_ops *ops;
  void *backend;
  pai__turn *kick;   /* everything that calls back happens in it */
  pai__timer *ports; /* then ports that others used are looked at again */
  pai__map jobs;     /* by id; those that were forgotten are not in it */
  pai_job_id last_id;
  uint64_t seed;
  pai__pjob_list changed; /* what the next kick looks at */
  pai__pjob_list placed;  /* during pai__platform_schedule() */
  bool schedule_due;
  bool closing;         /* asked to */
  bool backend_closing; /* and begun */
  pai_closed_cb closed;
  void *closed_data;
};

struct pai_event {
  int type;
  pai_job_id job;
  pai_time time;
  int state;
  int code;
  const char *role;
  uint32_t index;
  uint32_t attempt;
  int stream;
  const char *text;
  size_t len;
};

/* drive.c: carries out what the fold asks for.  Never calls the user back. */
void pai__platform_drive(pai__pjob *j);
/* Hands the fold an event and carries out what follows. */
void pai__platform_event(pai__pjob *j, enum pai__event_kind kind,
                         uint32_t task, int code);
/* Has the next kick look at the job. */
void pai__platform_changed(pai__pjob *j);
/* Asks for a place for it.  The codes of pai_sched_send(). */
int pai__platform_queue(pai__pjob *j, pai_error **err);
void pai__platform_task_ended(void *user_data, uint64_t id, int code,
                              const char *text);

/* placing.c: lets the scheduler decide, and starts what it placed. */
void pai__platform_schedule(pai_platform *p);
/* It holds nothing any more and waits again, in its old turn; or, until that
 * is resumed, does not. */
int pai__platform_return(pai__pjob *j, bool held);
int pai__platform_resume(pai__pjob *j);
/* The job, if it is known there, holds nothing any more and does not wait. */
void pai__platform_unqueue(pai__pjob *j);
/* Ports that each task of a role is given. */
uint32_t pai__platform_role_ports(const pai__role *role);

/* event.c: tells the user what changed since it was last told. */
void pai__platform_tell(pai__pjob *j);
void pai__platform_output(void *user_data, uint64_t id, int stream,
                          const char *data, size_t len);

/* By the back end's number of a task. */
pai__pjob *pai__platform_find_task(pai_platform *p, uint64_t id,
                                   uint32_t *task);
/* jobs.c; NULL when there is no such job. */
pai__pjob *pai__platform_find_job(const pai_platform *p, pai_job_id id);
void pai__platform_free_job(pai__pjob *j);

/* posix_root.c; both freed with pai__strfree() */
int pai__platform_default_root(char **out, const pai_alloc *alloc,
                               pai_error **err);
char *pai__platform_user_name(const pai_alloc *alloc);

#endif
