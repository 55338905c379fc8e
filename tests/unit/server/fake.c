#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

#define LIST "[{\"name\":\"mnist\"}]"

static char written[2048]; /* the last text */

int fake_write(pai_write_cb write, void *user_data, const char *text)
{
  (void)snprintf(written, sizeof(written), "%s", text);
  return write(user_data, text, strlen(text));
}

bool fake_has_written(const char *text)
{
  return strcmp(text, written) == 0;
}

static int say(pai_platform *p, pai_write_cb write, void *user_data,
               const char *text, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  return fake_write(write, user_data, text);
}

int pai_platform_find(pai_job_id *job, pai_platform *p, const char *name,
                      pai_error **err)
{
  (void)p;
  if (err != NULL)
    *err = NULL;
  *job = strcmp(name, FAKE_JOB) == 0 ? 7 : 0;
  return *job != 0 ? PAI_OK : pai__fail(err, PAI_ENOTFOUND, "no such job");
}

static void note(pai_platform *p, const char *what, const char *value)
{
  size_t len = strlen(p->query_text);

  if (value != NULL)
    (void)snprintf(p->query_text + len, sizeof(p->query_text) - len, "%s=%s;",
                   what, value);
}

int pai_platform_list(pai_platform *p, const pai_job_query *q,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  p->query = *q;
  p->query_text[0] = '\0';
  note(p, "users", q->users);
  note(p, "vcs", q->virtual_clusters);
  note(p, "states", q->states);
  note(p, "priorities", q->priorities);
  note(p, "tags", q->tags);
  note(p, "not", q->not_tags);
  note(p, "keyword", q->keyword);
  note(p, "order", q->order);
  if (p->list != NULL)
    return say(p, write, user_data, p->list, err);
  return say(p, write, user_data,
             q->with_total ? "{\"totalCount\":41,\"data\":" LIST "}" : LIST,
             err);
}

int pai_platform_show(pai_platform *p, pai_job_id job, int attempt,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  (void)job;
  p->shows++;
  if (attempt > 0)
    return pai__fail(err, PAI_ENOTFOUND, "no such attempt");
  return say(p, write, user_data, p->show, err);
}

int pai_platform_show_task(pai_platform *p, pai_job_id job, int attempt,
                           const char *role, uint32_t index,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  char text[128];

  (void)job;
  (void)snprintf(text, sizeof(text), "{\"task\":\"%d %s %u\"}", attempt, role,
                 index);
  return say(p, write, user_data, text, err);
}

int pai_platform_config(pai_platform *p, pai_job_id job, int format,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  (void)job;
  return say(p, write, user_data,
             format == PAI_FORMAT_JSON ? "{\"a\":1}" : "a: 1\n", err);
}

int pai_platform_environment(pai_platform *p, pai_job_id job, int with_folder,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  (void)with_folder;
  return pai_platform_config(p, job, PAI_FORMAT_JSON, write, user_data, err);
}

int pai_platform_events(pai_platform *p, pai_job_id job, const char *type,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  (void)job;
  return say(p, write, user_data, type != NULL ? type : "all", err);
}

int pai_platform_add_event(pai_platform *p, pai_job_id job, const char *type,
                           const char *reason, const char *message,
                           pai_error **err)
{
  (void)job;
  if (err != NULL)
    *err = NULL;
  (void)snprintf(p->event, sizeof(p->event), "%s %s: %s", type, reason,
                 message);
  return PAI_OK;
}

int pai_platform_ssh(pai_platform *p, pai_job_id job, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  (void)job;
  return say(p, write, user_data,
             "{\"containers\":[{\"taskRole\":\"w\",\"taskIndex\":0,"
             "\"sshUser\":\"u\",\"sshIp\":\"127.0.0.1\",\"sshPort\":\"22\","
             "\"hostKey\":\"ssh-ed25519 AAAA\"}],\"publicKey\":null}",
             err);
}

int pai_platform_ssh_key(pai_platform *p, pai_job_id job, pai_write_cb write,
                         void *user_data, pai_error **err)
{
  (void)job;
  return say(p, write, user_data, "{\"privateKey\":\"PRIVATE KEY\"}", err);
}

int pai_platform_status(pai_platform *p, pai_write_cb write, void *user_data,
                        pai_error **err)
{
  return say(p, write, user_data,
             p->status != NULL ? p->status : "{\"pid\":1}", err);
}

int pai_platform_snapshot(pai_platform *p, pai_write_cb write, void *user_data,
                          pai_error **err)
{
  return say(p, write, user_data, "{\"snapshot\":1}\n", err);
}

int pai_platform_keep_text(pai_platform *p, const char *name, const char *text,
                           pai_error **err)
{
  (void)name;
  (void)err;
  if (p->fail < 0)
    return p->fail;
  free(p->kept_text);
  p->kept_text = text != NULL ? strdup(text) : NULL;
  return PAI_OK;
}

int pai_platform_kept_text(pai_platform *p, const char *name,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  (void)name;
  if (p->kept_text == NULL)
    return pai__fail(err, PAI_ENOTFOUND, "there is no such text");
  return write(user_data, p->kept_text, strlen(p->kept_text));
}

int pai_platform_tag(pai_platform *p, pai_job_id job, const char *tag,
                     pai_error **err)
{
  (void)job;
  (void)err;
  (void)snprintf(p->tag, sizeof(p->tag), "%s", tag);
  return p->fail;
}

int pai_platform_untag(pai_platform *p, pai_job_id job, const char *tag,
                       pai_error **err)
{
  (void)job;
  if (strcmp(p->tag, tag) != 0)
    return pai__fail(err, PAI_ENOTFOUND, "no such tag");
  p->tag[0] = '\0';
  return PAI_OK;
}

int pai_platform_stop(pai_platform *p, pai_job_id job)
{
  (void)job;
  p->stops++;
  return PAI_OK;
}

int pai_platform_job_state(int *code, const pai_platform *p, pai_job_id job)
{
  (void)code;
  (void)job;
  return p->state;
}

int pai_platform_submit_as(pai_job_id *job, pai_platform *p, pai_spec *spec,
                           const pai_submit_options *o, pai_error **err)
{
  (void)spec;
  *job = 7;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  (void)snprintf(p->submitted_by, sizeof(p->submitted_by), "%s",
                 o->user != NULL ? o->user : "-");
  (void)snprintf(p->submitted, sizeof(p->submitted), "%s|%s|%s|%d",
                 o->name != NULL ? o->name : "",
                 o->work_dir != NULL ? o->work_dir : "",
                 o->code_dir != NULL ? o->code_dir : "", (int)o->like);
  return PAI_OK;
}

int pai_platform_sync(pai_platform *p, pai_sync_cb cb, void *user_data)
{
  p->syncs[p->nsyncs].cb = cb;
  p->syncs[p->nsyncs++].user_data = user_data;
  return PAI_OK;
}

void fake_synced(pai_platform *p, int status)
{
  pai_error *err = NULL;

  if (status < 0)
    (void)pai__fail(&err, status, "the disk is full");
  for (size_t i = 0; i < p->nsyncs; i++)
    p->syncs[i].cb(p->syncs[i].user_data, status, err);
  p->nsyncs = 0;
  pai_error_free(err);
}

/* --- copies ------------------------------------------------------------------- */

int pai_platform_backup(pai_platform *p, const char *path, pai_sync_cb cb,
                        void *user_data, pai_error **err)
{
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  p->copies[p->ncopies].backup = cb;
  p->copies[p->ncopies].user_data = user_data;
  (void)snprintf(p->copies[p->ncopies].path, sizeof(p->copies[0].path), "%s",
                 path);
  p->ncopies++;
  return PAI_OK;
}

int pai_platform_copy_code(pai_platform *p, pai_job_id job, pai_copy_cb cb,
                           void *user_data, pai_error **err)
{
  (void)job;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  p->copies[p->ncopies].code = cb;
  p->copies[p->ncopies++].user_data = user_data;
  return PAI_OK;
}

int pai_platform_remove_code(pai_platform *p, const char *dir, pai_error **err)
{
  (void)p;
  (void)dir;
  return pai__fail(err, PAI_ENOTSUP, "no records are kept");
}

void fake_copied(pai_platform *p, int status, const char *what)
{
  static const char list[] = "{\"folder\":\"/root/\\\"code\",\"own\":true,"
                             "\"entries\":[],\"next\":null,\"files\":null,"
                             "\"bytes\":null}";
  static const char total[] = "{\"folder\":\"/root/code\",\"own\":true,"
                              "\"entries\":[],\"next\":null,\"files\":2,"
                              "\"bytes\":1000}";
  pai_error *err = NULL;
  FILE *file;

  if (status < 0)
    (void)pai__fail(&err, status, "the disk is full");
  for (size_t i = 0; i < p->ncopies; i++) {
    if (p->copies[i].files != NULL) {
      bool all = strcmp(p->listed, "-|-|0|0|1|1") == 0;
      p->copies[i].files(p->copies[i].user_data, status, all ? total : list,
                         (all ? sizeof(total) : sizeof(list)) - 1, err);
    } else if (p->copies[i].code != NULL) {
      p->copies[i].code(p->copies[i].user_data, status,
                        status == PAI_OK ? what : NULL, err);
    } else {
      if (status == PAI_OK && (file = fopen(p->copies[i].path, "w")) != NULL) {
        (void)fputs(what, file);
        (void)fclose(file);
      }
      p->copies[i].backup(p->copies[i].user_data, status, err);
    }
  }
  memset(p->copies, 0, sizeof(p->copies));
  p->ncopies = 0;
  pai_error_free(err);
}

int pai_platform_export(pai_platform *p, pai_job_id after, uint64_t limit,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  char text[64];

  (void)snprintf(text, sizeof(text), "{\"after\":%d,\"limit\":%d}\n",
                 (int)after, (int)limit);
  return say(p, write, user_data, text, err);
}

static pai_platform *the_platform; /* there is one at a time */

/* --- events ------------------------------------------------------------------ */

int pai_platform_listen(pai_listener **out, pai_platform *p, pai_job_id job,
                        pai_event_cb cb, void *user_data, pai_error **err)
{
  pai_listener *l = calloc(1, sizeof(*l));

  (void)err;
  *l = (pai_listener){
    .job = job, .cb = cb, .user_data = user_data, .next = p->listeners
  };
  p->listeners = l;
  the_platform = p;
  *out = l;
  return PAI_OK;
}

void pai_platform_unlisten(pai_listener *l)
{
  pai_listener **at;

  if (l == NULL)
    return;
  at = &the_platform->listeners;
  while (*at != l)
    at = &(*at)->next;
  *at = l->next;
  free(l);
}

void fake_event(pai_platform *p, int type, int state, const char *role,
                uint32_t index)
{
  pai_event e = { .type = type,
                  .state = state,
                  .job = 7,
                  .role = role,
                  .index = index,
                  .text = "",
                  .code = state == PAI_STATE_FAILED ? 3 : 0 };
  pai_listener *next;

  for (pai_listener *l = p->listeners; l != NULL; l = next) {
    next = l->next;
    (void)l->cb(l->user_data, &e);
  }
}

int pai_event_type(const pai_event *e)
{
  return e->type;
}

pai_job_id pai_event_job(const pai_event *e)
{
  return e->job;
}

pai_time pai_event_time(const pai_event *e)
{
  (void)e;
  return 1000;
}

int pai_event_state(const pai_event *e)
{
  return e->state;
}

int pai_event_code(const pai_event *e)
{
  return e->code;
}

const char *pai_event_role(const pai_event *e)
{
  return e->role;
}

uint32_t pai_event_index(const pai_event *e)
{
  return e->index;
}

uint32_t pai_event_attempt(const pai_event *e)
{
  return e->attempt;
}

const char *pai_event_text(const pai_event *e, size_t *len)
{
  if (len != NULL)
    *len = strlen(e->text);
  return e->text;
}

const char *pai_state_name(int state)
{
  static const char *const names[] = { "?",        "waiting",   "running",
                                       "stopping", "succeeded", "failed",
                                       "stopped" };

  return state >= 1 && state <= 6 ? names[state] : "?";
}

/* --- into a task ----------------------------------------------------------------- */

int pai_platform_enter(int *fd, pai_platform *p, pai_job_id job,
                       const char *role, uint32_t index, pai_error **err)
{
  (void)job;
  *fd = -1;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants it");
  if (strcmp(role, "w") != 0 || index != 0)
    return pai__fail(err, PAI_ENOTFOUND, "no such task");
  *fd = p->entrance;
  p->entrance = -1;
  return PAI_OK;
}

/* --- logs ---------------------------------------------------------------------- */

int pai_log_open(pai_log_reader **out, pai_platform *p, pai_job_id job,
                 const pai_log_options *o, pai_log_data_cb cb, void *user_data,
                 pai_error **err)
{
  pai_log_reader *r, **at = &p->readers;

  (void)job;
  *out = NULL;
  if (p->fail < 0 || o->attempt > p->last_attempt || o->retry > p->last_retry)
    return pai__fail(err, PAI_ENOTFOUND, "no such log");
  r = calloc(1, sizeof(*r));
  *r = (pai_log_reader){ .cb = cb,
                         .user_data = user_data,
                         .index = o->index,
                         .attempt = o->attempt,
                         .retry = o->retry,
                         .offset = o->offset,
                         .follow = o->follow };
  (void)snprintf(r->name, sizeof(r->name), "%s",
                 o->name != NULL ? o->name : "all");
  (void)snprintf(r->role, sizeof(r->role), "%s", o->role);
  while (*at != NULL)
    at = &(*at)->next;
  *at = r;
  *out = r;
  the_platform = p;
  p->opened++;
  return PAI_OK;
}

pai_time pai_log_time(const pai_log_reader *r)
{
  (void)r;
  return 0;
}

uint64_t pai_log_offset(const pai_log_reader *r)
{
  return r->offset >= 0 ? (uint64_t)r->offset : 95;
}

void pai_log_pause(pai_log_reader *r, int paused)
{
  r->paused = paused;
}

void pai_log_close(pai_log_reader *r)
{
  pai_log_reader **at;

  if (r == NULL)
    return;
  at = &the_platform->readers;
  while (*at != r)
    at = &(*at)->next;
  *at = r->next;
  free(r);
}

pai_log_reader *fake_reader(pai_platform *p, const char *name)
{
  for (pai_log_reader *r = p->readers; r != NULL; r = r->next)
    if (strcmp(r->name, name) == 0)
      return r;
  return NULL;
}
