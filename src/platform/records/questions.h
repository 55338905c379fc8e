/* questions.h - internal to the room: calls about jobs that another thread
 * answers, one after the other */
#ifndef PAI_SRC_PLATFORM_RECORDS_QUESTIONS_H
#define PAI_SRC_PLATFORM_RECORDS_QUESTIONS_H

#include "platform/platform.h"

typedef void (*pai__question_cb)(void *user_data, int status, const char *json,
                                 size_t len, const pai_error *err);

/* A question, which the API calls pai_estimate or pai_answer. */
typedef struct pai__question {
  pai_platform *p;
  pai__questions *list;
  struct pai__question *next;
  pai_job_id job;
  pai__question_cb cb;
  void *user_data;
  bool cancelled;
  uint64_t request; /* of the job, when the answer was begun */
  uint64_t source;  /* the fork or forecast that answers it; 0: none yet */
} pai__question;

/* What a kind of question needs. */
typedef struct pai__question_kind {
  unsigned most;                /* questions at a time */
  const char *what;             /* "estimates" */
  int (*make)(pai_platform *p); /* what answers, with the first question */
} pai__question_kind;

/* Appends a question and asks for a step of the platform. */
int pai__question_ask(pai__question **out, pai__questions *list,
                      pai_platform *p, pai_job_id job, pai__question_cb cb,
                      void *user_data, const pai__question_kind *kind,
                      pai_error **err);
/* Writes an answer, or returns a code with *err. */
typedef int (*pai__question_fn)(pai__question *q, const void *with,
                                pai__buf *out, pai_error **err);
/* Calls back with what `write` writes, or with PAI_ECANCELED if the question
 * was cancelled, and frees it. */
void pai__question_tell(pai__question *q, pai__question_fn write,
                        const void *with);
/* NULL is allowed. */
void pai__question_cancel(pai__question *q);
void pai__questions_cancel(pai__questions *list);

/* Returns the number of events that the scheduler has had. */
uint64_t pai__platform_events(const pai_platform *p);

#endif
