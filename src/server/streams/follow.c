/*
 * follow.c - GET /jobs/NAME/follow: states and output of a job in one stream
 * that ends with the job
 *
 * The stream has lines of JSON as GET /events.  A line {"event": "output",
 * "len": N} is followed by N bytes of output.  Past events come first.  A
 * state comes after all output printed before it.  With ?output=false there
 * are only states.
 */
#include "server/server.h"

#include "base/exit_code.h"

typedef struct follower follower;

/* stdout or stderr of a task. */
typedef struct task_pipe {
  follower *f;
  struct followed_task *task;
  int number; /* 1: stdout, 2: stderr */
  pai_log_reader *reader;
} task_pipe;

typedef struct followed_task {
  struct followed_task *next;
  char *role;
  uint32_t index;
  task_pipe pipes[2];
  int open; /* number of pipes not at their end */
  /* Its begin was reported.  Output may exist before the database has the
   * begin, and then waits. */
  bool begun;
  /* The start whose logs are read next.  Counted here, so that each is read
   * once, whatever events come meanwhile. */
  uint32_t attempt, retry;
} followed_task;

/* A line that waits for the output before it. */
typedef struct line {
  struct line *next;
  /* waits for the end of its pipes; NULL: for all tasks */
  followed_task *task;
  bool last; /* last line of the stream */
  size_t len;
  char text[];
} line;

struct follower {
  pai_alloc alloc;
  pai__request *request;
  pai_job_id job;
  pai_listener *listener;
  followed_task *tasks;
  followed_task **end;
  line *first, **last;
  uint32_t attempt; /* the job's last reported attempt */
  bool paused;
  bool silent; /* without output */
};

/* --- lines --------------------------------------------------------------- */

static bool is_printed(const follower *f, const line *l)
{
  if (l->task != NULL)
    return l->task->open == 0;
  for (const followed_task *t = f->tasks; t != NULL; t = t->next)
    if (l->last && t->open > 0)
      return false;
  return true;
}

static void tell(follower *f)
{
  line *l;

  while ((l = f->first) != NULL && is_printed(f, l)) {
    pai__stream_add(f->request->stream, l->text, l->len);
    if (l->last)
      pai__stream_over(f->request->stream, false);
    f->first = l->next;
    if (f->first == NULL)
      f->last = &f->first;
    pai__free(&f->alloc, l, sizeof(*l) + l->len);
  }
}

/* Out of memory: breaks the stream, so that the reader notices the loss. */
static void give_up(follower *f)
{
  pai__stream_over(f->request->stream, true);
}

/* Queues a complete line until the output before it was sent. */
static void add_line(follower *f, pai__buf *json, followed_task *task,
                     bool last)
{
  line *l = NULL;

  pai__buf_char(json, '\n');
  if (pai__buf_ok(json))
    l = pai__zalloc(&f->alloc, sizeof(*l) + json->len);
  if (l == NULL) {
    give_up(f);
  } else {
    *l = (line){ .task = task, .last = last, .len = json->len };
    memcpy(l->text, pai__buf_text(json), json->len);
    *f->last = l;
    f->last = &l->next;
  }
  pai__buf_dispose(json);
}

/* --- output of tasks ----------------------------------------------------- */

static void read_on(follower *f, followed_task *t);

static void add_output(task_pipe *p, uint64_t offset, const char *bytes,
                       size_t len)
{
  follower *f = p->f;
  pai__json_writer w;
  pai__buf b;

  pai__buf_init(&b, &f->alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_object(&w);
  pai__json_put_text(&w, "event", "output");
  pai__json_put_int(&w, "time_us", pai__loop_wall_time());
  pai__json_put_int(&w, "attempt", p->task->attempt);
  pai__json_put_text(&w, "role", p->task->role);
  pai__json_put_int(&w, "index", p->task->index);
  pai__json_put_int(&w, "stream", p->number);
  pai__json_put_int(&w, "offset", (int64_t)offset);
  pai__json_put_int(&w, "len", (int64_t)len);
  pai__json_end_object(&w);
  pai__buf_char(&b, '\n');
  pai__buf_add(&b, bytes, len);
  if (pai__json_finish(&w) == PAI_OK && pai__buf_ok(&b))
    pai__stream_add(f->request->stream, pai__buf_text(&b), b.len);
  else
    give_up(f);
  pai__buf_dispose(&b);
}

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  task_pipe *p = user_data;
  follower *f = p->f;
  followed_task *t = p->task;

  (void)status; /* a failed log does not stop the others */
  if (len > 0) {
    add_output(p, offset, bytes, len);
    return;
  }
  pai_log_close(p->reader);
  p->reader = NULL;
  t->open--;
  if (t->open == 0)
    read_on(f, t);
  tell(f);
}

/* Opens the logs of a start; returns false if it does not exist yet. */
static bool open_pipes(follower *f, followed_task *t)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;

  o.attempt = (int)t->attempt;
  o.role = t->role;
  o.index = t->index;
  o.retry = (int)t->retry;
  o.follow = 1;
  for (int i = 0; i < 2; i++) {
    task_pipe *p = &t->pipes[i];
    *p = (task_pipe){ .f = f, .task = t, .number = i + 1 };
    o.name = i == 0 ? "stdout" : "stderr";
    if (pai_log_open(&p->reader, f->request->server->platform, f->job, &o,
                     on_data, p, NULL) < 0)
      continue;
    t->open++;
    pai_log_pause(p->reader, f->paused || !t->begun);
  }
  return t->open > 0;
}

/* Continues with the task's next start in the same attempt; if there is none,
 * with the job's current attempt. */
static void read_on(follower *f, followed_task *t)
{
  if (f->silent || t->open > 0)
    return;
  if (open_pipes(f, t)) {
    t->retry++;
  } else if (t->attempt < f->attempt) {
    t->attempt = f->attempt;
    t->retry = 0;
    if (open_pipes(f, t))
      t->retry++;
  }
}

static void pause_pipes(const follower *f, followed_task *t)
{
  for (int i = 0; i < 2; i++)
    if (t->pipes[i].reader != NULL)
      pai_log_pause(t->pipes[i].reader, f->paused || !t->begun);
}

/* A state of the task, or with NULL of the job, was reported: lets the output
 * of tasks that have begun flow. */
static void begin_tasks(follower *f, followed_task *task, int state)
{
  if (state == PAI_STATE_WAITING ||
      (task == NULL && state < PAI_STATE_SUCCEEDED))
    return;
  for (followed_task *t = f->tasks; t != NULL; t = t->next)
    if ((task == NULL || t == task) && !t->begun) {
      t->begun = true;
      pause_pipes(f, t);
    }
}

/* --- events -------------------------------------------------------------- */

static followed_task *find_task(const follower *f, const char *role,
                                uint32_t index)
{
  for (followed_task *t = f->tasks; t != NULL; t = t->next)
    if (t->index == index && strcmp(t->role, role) == 0)
      return t;
  return NULL;
}

static followed_task *add_task(follower *f, const char *role, uint32_t index)
{
  followed_task *t = pai__zalloc(&f->alloc, sizeof(*t));

  if (t == NULL)
    return NULL;
  t->role = pai__strdup(&f->alloc, role);
  if (t->role == NULL) {
    pai__free(&f->alloc, t, sizeof(*t));
    return NULL;
  }
  t->index = index;
  *f->end = t;
  f->end = &t->next;
  return t;
}

static int on_event(void *user_data, const pai_event *event)
{
  follower *f = user_data;
  int type = pai_event_type(event), state = pai_event_state(event);
  followed_task *task = NULL;
  pai__json_writer w;
  pai__buf b;

  if (type != PAI_EVENT_JOB && type != PAI_EVENT_TASK)
    return 0;
  f->attempt = pai_event_attempt(event);
  if (type == PAI_EVENT_TASK) {
    task = find_task(f, pai_event_role(event), pai_event_index(event));
    if (task == NULL) /* the job was rescaled */
      task = add_task(f, pai_event_role(event), pai_event_index(event));
    if (task == NULL) {
      give_up(f);
      return 0;
    }
    read_on(f, task);
  }
  pai__buf_init(&b, &f->alloc);
  pai__json_writer_init(&w, &b, false);
  pai__event_json(&w, NULL, event, NULL);
  if (pai__json_finish(&w) < 0)
    b.failed = true;
  add_line(f, &b, state >= PAI_STATE_SUCCEEDED ? task : NULL,
           type == PAI_EVENT_JOB && state >= PAI_STATE_SUCCEEDED);
  tell(f);
  begin_tasks(f, task, state);
  return 0;
}

/* --- current states ------------------------------------------------------ */

/* Converts a state's API name to its number; 0: none. */
static int state_of(const char *name)
{
  for (int state = PAI_STATE_WAITING; state <= PAI_STATE_STOPPED; state++) {
    const char *own = pai_state_name(state);
    size_t i = 0;

    while (own[i] != '\0' && (name[i] | 0x20) == own[i])
      i++; /* API names are in capitals */
    if (own[i] == name[i])
      return state;
  }
  return 0;
}

/* Returns when the job or task entered the state. */
static pai_time time_of(const pai__tree *t, pai__node n, int state, bool task)
{
  pai_time ms = state >= PAI_STATE_SUCCEEDED
                  ? pai__tree_look_int(t, n, "completedTime")
                  : 0;

  if (ms == 0)
    ms = pai__tree_look_int(t, n, "launchedTime");
  if (ms == 0)
    ms = pai__tree_look_int(t, n, task ? "createdTime" : "submissionTime");
  return ms * 1000;
}

/* Writes a line as if the job or task had just entered the state, like
 * pai__event_json(), from the output of pai_platform_show(). */
static void tell_as(follower *f, const pai__tree *t, pai__node n, int state,
                    followed_task *task)
{
  const char *code = task != NULL ? "containerExitCode" : "appExitCode",
             *text = task != NULL && state == PAI_STATE_RUNNING
                       ? pai__tree_look_text(t, n, "runtime", "")
                       : "";
  pai__json_writer w;
  pai__buf b;

  pai__buf_init(&b, &f->alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_object(&w);
  pai__json_put_text(&w, "event", task != NULL ? "task" : "job");
  pai__json_put_int(&w, "time_us", time_of(t, n, state, task != NULL));
  pai__json_put_int(&w, "attempt", f->attempt);
  if (task != NULL) {
    pai__json_put_text(&w, "role", task->role);
    pai__json_put_int(&w, "index", task->index);
  }
  pai__json_put_text(&w, "state", pai_state_name(state));
  if (state >= PAI_STATE_SUCCEEDED)
    pai__json_put_int(
      &w, "code",
      pai__result_code((int)pai__tree_look_int(t, n, code),
                       (int)pai__tree_look_int(t, n, "originUserExitCode")));
  pai__json_put_word(&w, "text", text);
  pai__json_end_object(&w);
  if (pai__json_finish(&w) < 0)
    b.failed = true;
  add_line(f, &b, state >= PAI_STATE_SUCCEEDED ? task : NULL,
           task == NULL && state >= PAI_STATE_SUCCEEDED);
}

/* Reports a finished task as running first, if it ran, with what that event
 * reported. */
static void tell_task(follower *f, const pai__tree *t, pai__node n,
                      followed_task *task)
{
  int state = state_of(pai__tree_look_text(t, n, "taskState", ""));

  if (state == 0 || state == PAI_STATE_WAITING)
    return;
  if (state >= PAI_STATE_SUCCEEDED &&
      pai__tree_look_text(t, n, "runtime", "")[0] != '\0')
    tell_as(f, t, n, PAI_STATE_RUNNING, task);
  tell_as(f, t, n, state, task);
}

static bool read_tasks(follower *f, const pai__tree *t, pai__node role,
                       const char *name)
{
  pai__node list = pai__tree_get(t, role, "taskStatuses"), n;
  pai__tree_walk walk = pai__tree_iter(t, list);

  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    followed_task *task =
      add_task(f, name, (uint32_t)pai__tree_look_int(t, n, "taskIndex"));
    if (task == NULL)
      return false;
    task->attempt = f->attempt;
    task->retry = (uint32_t)pai__tree_look_int(t, n, "attemptId");
    task->begun =
      strcmp(pai__tree_look_text(t, n, "taskState", ""), "WAITING") != 0;
    read_on(f, task);
    tell_task(f, t, n, task);
  }
  return true;
}

/* Reads the output of pai_platform_show(). */
static bool read_job(follower *f, const pai__tree *t)
{
  pai__node status = pai__tree_get(t, 0, "jobStatus"),
            roles = pai__tree_get(t, 0, "taskRoles"), key;
  int state = state_of(pai__tree_look_text(t, status, "state", ""));
  pai__tree_walk walk;

  f->attempt = (uint32_t)pai__tree_look_int(t, status, "attemptId");
  if (state != 0 && state < PAI_STATE_SUCCEEDED)
    tell_as(f, t, status, state, NULL);
  walk = pai__tree_iter(t, roles);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (!read_tasks(f, t, pai__tree_value(t, key),
                    pai__tree_str(t, key, NULL)))
      return false;
  if (state >= PAI_STATE_SUCCEEDED) /* comes last */
    tell_as(f, t, status, state, NULL);
  begin_tasks(f, NULL, state);
  return true;
}

static int show(follower *f, pai_error **err)
{
  pai__tree *tree;
  pai__buf json;
  int rc;

  pai__buf_init(&json, &f->alloc);
  rc = pai_platform_show(f->request->server->platform, f->job, -1,
                         pai__answer_write, &json, err);
  tree = pai__written_tree(&json);
  if (rc == PAI_OK && (tree == NULL || !read_job(f, tree)))
    rc = pai__oom(err);
  pai__tree_free(tree);
  return rc;
}

/* --- begin and end ------------------------------------------------------- */

static void pause_follower(void *source, bool paused)
{
  follower *f = source;

  f->paused = paused;
  for (followed_task *t = f->tasks; t != NULL; t = t->next)
    pause_pipes(f, t);
}

static void free_follower(void *source)
{
  follower *f = source;
  pai_alloc alloc = f->alloc;
  line *l;
  followed_task *t;

  pai_platform_unlisten(f->listener);
  while ((t = f->tasks) != NULL) {
    pai_log_close(t->pipes[0].reader);
    pai_log_close(t->pipes[1].reader);
    f->tasks = t->next;
    pai__strfree(&alloc, t->role);
    pai__free(&alloc, t, sizeof(*t));
  }
  while ((l = f->first) != NULL) {
    f->first = l->next;
    pai__free(&alloc, l, sizeof(*l) + l->len);
  }
  pai__free(&alloc, f, sizeof(*f));
}

/* No end marker: the job's final state is the last line. */
static const pai__server_source follow_source = { pause_follower, NULL,
                                                  free_follower, false };

void pai__do_jobs_follow(pai__request *r)
{
  pai_alloc *alloc = &r->server->alloc;
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  const char *output;
  follower *f;

  if (job == 0)
    return;
  f = pai__zalloc(alloc, sizeof(*f));
  if (f == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  *f = (follower){ .alloc = *alloc, .request = r, .job = job };
  output = pai__request_query(r, "output");
  f->silent = output != NULL && strcmp(output, "false") == 0;
  f->end = &f->tasks;
  f->last = &f->first;
  if (!pai__stream_begin(r, "application/x-openpai-follow", &follow_source, f))
    return;
  if (pai_platform_listen(&f->listener, r->server->platform, job, on_event, f,
                          &err) < 0 ||
      show(f, &err) < 0) {
    pai__log_line(&r->server->log, PAI_LOG_WARNING, "cannot follow %s: %s",
                  r->params[0], pai_error_message(err));
    pai_error_free(err);
    give_up(f);
    return;
  }
  tell(f);
}
