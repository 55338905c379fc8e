/*
 * follow.c - GET /jobs/NAME/follow: a job's states and all that its tasks
 * print, in one stream that ends with the job
 *
 * Lines of JSON, as of GET /events; one that says {"event": "output", "len": N}
 * is followed by N bytes as they were printed.  What has happened already is
 * told first.  A state is told after all that was printed before it.  With
 * ?output=false only states are told.
 */
#include "server/server.h"

#include "base/exit_code.h"

typedef struct follower follower;

/* One of the two streams of a task. */
typedef struct task_pipe {
  follower *f;
  struct followed_task *task;
  int number; /* 1 stdout, 2 stderr */
  pai_log_reader *reader;
} task_pipe;

typedef struct followed_task {
  struct followed_task *next;
  char *role;
  uint32_t index;
  task_pipe pipes[2];
  int open; /* pipes that are not over */
  /* It was told that it has begun.  What it prints may be there before that is
   * in the database, and then waits. */
  bool begun;
  /* Of the start whose logs are read next: so each is read once, whatever is
   * told of the task in the meantime. */
  uint32_t attempt, retry;
} followed_task;

/* A line that waits for what was printed before it. */
typedef struct line {
  struct line *next;
  followed_task *task; /* whose pipes must be over; NULL: all of them */
  bool last;           /* of the stream */
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
  uint32_t attempt; /* of the job, as last told */
  bool paused;
  bool silent; /* what tasks print is not wanted */
};

/* --- lines ------------------------------------------------------------------------------------ */

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

/* Out of memory: the reader sees that something is missing. */
static void give_up(follower *f)
{
  pai__stream_over(f->request->stream, true);
}

/* A line of JSON that is whole: told when what was printed before it is. */
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

/* --- what tasks print --------------------------------------------------------------------------- */

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
  pai__json_key(&w, "event", 5);
  pai__json_text(&w, "output", 6);
  pai__json_key(&w, "time_us", 7);
  pai__json_int(&w, pai__loop_wall_time());
  pai__json_key(&w, "attempt", 7);
  pai__json_int(&w, p->task->attempt);
  pai__json_key(&w, "role", 4);
  pai__json_text(&w, p->task->role, strlen(p->task->role));
  pai__json_key(&w, "index", 5);
  pai__json_int(&w, p->task->index);
  pai__json_key(&w, "stream", 6);
  pai__json_int(&w, p->number);
  pai__json_key(&w, "offset", 6);
  pai__json_int(&w, (int64_t)offset);
  pai__json_key(&w, "len", 3);
  pai__json_int(&w, (int64_t)len);
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

  (void)status; /* what is lost of a log does not end the rest */
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

/* False: there is no such start yet. */
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

/* Goes on with the logs of the next start, if there is one: of the same attempt
 * of the job, or else of the one that runs now. */
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

/* It was told of this task, or with NULL of the job, that it is so. */
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

/* --- what happens --------------------------------------------------------------------------------- */

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
    if (task == NULL) /* the job was made larger */
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

/* --- how things stand --------------------------------------------------------------------------------- */

/* The library's number of a state that the API names; 0: it has none. */
static int state_of(const char *name)
{
  for (int state = PAI_STATE_WAITING; state <= PAI_STATE_STOPPED; state++) {
    const char *own = pai_state_name(state);
    size_t i = 0;

    while (own[i] != '\0' && (name[i] | 0x20) == own[i])
      i++; /* the API's are capitals */
    if (own[i] == name[i])
      return state;
  }
  return 0;
}

/* When the job, or a task of it, came to that state. */
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

static void put_text(pai__json_writer *w, const char *key, const char *text)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, text, strlen(text));
}

static void put_number(pai__json_writer *w, const char *key, int64_t number)
{
  pai__json_key(w, key, strlen(key));
  pai__json_int(w, number);
}

/* Tells of the job, or of a task, as if it had just come to that state: as
 * pai__event_json() does, from what pai_platform_show() wrote. */
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
  put_text(&w, "event", task != NULL ? "task" : "job");
  put_number(&w, "time_us", time_of(t, n, state, task != NULL));
  put_number(&w, "attempt", f->attempt);
  if (task != NULL) {
    put_text(&w, "role", task->role);
    put_number(&w, "index", task->index);
  }
  put_text(&w, "state", pai_state_name(state));
  if (state >= PAI_STATE_SUCCEEDED)
    put_number(
      &w, "code",
      pai__told_code((int)pai__tree_look_int(t, n, code),
                     (int)pai__tree_look_int(t, n, "originUserExitCode")));
  if (*text != '\0')
    put_text(&w, "text", text);
  pai__json_end_object(&w);
  if (pai__json_finish(&w) < 0)
    b.failed = true;
  add_line(f, &b, state >= PAI_STATE_SUCCEEDED ? task : NULL,
           task == NULL && state >= PAI_STATE_SUCCEEDED);
}

/* A task that is over is told to have run first where something is to be said of
 * that, as its event said it. */
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
  pai__tree_walk walk;

  if (list == PAI__NO_NODE)
    return true;
  walk = pai__tree_iter(t, list);
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

/* What pai_platform_show() wrote. */
static bool read_job(follower *f, const pai__tree *t)
{
  pai__node status = pai__tree_get(t, 0, "jobStatus"),
            roles = pai__tree_get(t, 0, "taskRoles"), key;
  int state = state_of(pai__tree_look_text(t, status, "state", ""));
  pai__tree_walk walk;

  f->attempt = (uint32_t)pai__tree_look_int(t, status, "attemptId");
  if (state != 0 && state < PAI_STATE_SUCCEEDED)
    tell_as(f, t, status, state, NULL);
  if (roles != PAI__NO_NODE) {
    walk = pai__tree_iter(t, roles);
    while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
      if (!read_tasks(f, t, pai__tree_value(t, key),
                      pai__tree_str(t, key, NULL)))
        return false;
  }
  if (state >= PAI_STATE_SUCCEEDED) /* last of all */
    tell_as(f, t, status, state, NULL);
  begin_tasks(f, NULL, state);
  return true;
}

static int show(follower *f, pai_error **err)
{
  pai__json_options options = { .alloc = &f->alloc };
  pai__tree *tree = NULL;
  pai__buf json;
  int rc;

  pai__buf_init(&json, &f->alloc);
  rc = pai_platform_show(f->request->server->platform, f->job, -1,
                         pai__answer_write, &json, err);
  if (rc == PAI_OK)
    rc = pai__json_parse(&tree, pai__buf_text(&json), json.len, &options, err);
  if (rc == PAI_OK && !read_job(f, tree))
    rc = pai__oom(err);
  pai__tree_free(tree);
  pai__buf_dispose(&json);
  return rc;
}

/* --- its life -------------------------------------------------------------------------------------------- */

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

/* That the job is over is told before its end. */
static const pai__source follow_source = { pause_follower, NULL, free_follower,
                                           false };

static void do_follow(pai__request *r)
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
    pai__answer_failure(r, PAI_ENOMEM, NULL);
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

/* --- answers --- */

static const pai__result events = { .type = "application/x-openpai-follow" };

/* --- queries --- */

static const pai__field queries[] = { { .name = "output",
                                        .kind = PAI__IS_FLAG,
                                        .missing = "true",
                                        .what =
                                          "also the output of its tasks" },
                                      { 0 } };

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/jobs/:job/follow",
    .handle = do_follow,
    .right = PAI__OF_READERS,
    .result = &events,
    .queries = queries,
    .summary = "Stream the states and the output of a job",
    .errors = "404 NoJobError" },
};

const pai__routes pai__follow_routes = { routes, PAI__LEN(routes) };
