/* log.c - events as lines of JSON */
#include "json/writer.h"
#include "sched/sched.h"

static void put(pai__json_writer *w, const char *key, int64_t n)
{
  pai__json_key(w, key, strlen(key));
  pai__json_int(w, n);
}

void pai__log_write(pai__json_writer *w, const pai_sched *s,
                    const pai_sched_event *e)
{
  (void)s;
  pai__json_begin_object(w);
  put(w, "kind", e->kind);
  put(w, "id", (int64_t)e->id);
  put(w, "number", e->number);
  pai__json_end_object(w);
}

int pai__log_event(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  (void)s;
  (void)e;
  (void)err;
  return PAI_OK;
}

int pai__log_decide(pai_sched *s, pai_error **err)
{
  (void)s;
  (void)err;
  return PAI_OK;
}
