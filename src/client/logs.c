/*
 * logs.c - the log of a task, each byte once, through cuts
 *
 * What has come is counted, and it is that which the next request leaves out: a
 * server of ours by ?offset=, others by a range, or, where they know none, by
 * passing over it here.
 */
#include "client/inside.h"

typedef struct reading {
  pai__course course;
  char *job, *role, *name;
  uint32_t index;
  uint64_t offset; /* of the next byte */
  uint64_t skip;   /* bytes of this answer that are known */
  bool begun;      /* its first bytes have come */
  bool follow;
  pai_write_cb on_data;
  /* Of the start that is read; where it is said that there is none. */
  int64_t attempt, retry;
  bool over; /* the task was, before it was read last */
  pai_time pause;
} reading;

static void ask_job(pai__course *c);

static bool ended(pai__course *c)
{
  if (c->stopped >= 0)
    return false;
  pai__course_fail(c, c->stopped, NULL);
  return true;
}

static void ask_later(reading *r)
{
  pai_client *client = r->course.op.client;
  pai_time first = client->first_wait * 4;

  r->pause = r->pause > 0 ? r->pause * 3 / 2 : first;
  if (r->pause > client->most_wait)
    r->pause = client->most_wait;
  pai__course_wait(&r->course, r->pause, ask_job);
}

/* --- its bytes ---------------------------------------------------------------------- */

static int on_bytes(void *user_data, int http_status, const char *bytes,
                    size_t len)
{
  reading *r = user_data;
  size_t known;

  if (!r->begun && http_status == 206)
    r->skip = 0; /* it began where it was asked to */
  r->begun = true;
  known = r->skip < len ? (size_t)r->skip : len;
  r->skip -= known;
  if (known == len)
    return 0;
  r->pause = 0;
  r->offset += len - known;
  r->course.stopped =
    r->on_data(r->course.user_data, bytes + known, len - known);
  return r->course.stopped;
}

static bool is_lasting(int status)
{
  return status == PAI_EIO || status == PAI_EBUSY;
}

static void on_log(pai__course *c, int status, const pai_client_answer *a)
{
  reading *r = (reading *)c;
  bool whole = status == PAI_OK || a->http_status == 416,
       ours = c->op.client->server == PAI__OURS;

  if (ended(c))
    return;
  if (!whole && (r->begun || r->follow) && is_lasting(status)) /* it was cut */
    ask_later(r);
  else if (!whole && status == PAI_ENOTFOUND && r->follow && !r->over)
    ask_later(r);
  else if (!whole)
    pai__course_end(c, status, a);
  else if (!r->follow || r->over || ours)
    pai__course_end(c, PAI_OK, a);
  else
    ask_later(r);
}

static void read_from(reading *r, const char *path)
{
  pai__course *c = &r->course;
  pai__call call = pai__call_of(c->op.client, "GET", path);
  pai__buf range;

  pai__buf_init(&range, &c->op.client->alloc);
  r->begun = false;
  r->skip = 0;
  call.accept = "text/plain, */*";
  call.on_body = on_bytes;
  call.stream = true;
  if (c->op.client->server == PAI__OURS) {
    if (r->follow) { /* if the server is gone, what is asked next tells */
      call.idle_time = 0;
      call.total_time = c->op.client->stream_time;
      call.most_tries = 1;
    }
  } else if (r->offset > 0) {
    r->skip = r->offset;
    pai__buf_printf(&range, "bytes=%llu-", (unsigned long long)r->offset);
    call.range = pai__buf_text(&range);
  }
  if (pai__buf_ok(&range))
    pai__course_go(c, &call, on_log);
  else
    pai__course_fail(c, PAI_ENOMEM, NULL);
  pai__buf_dispose(&range);
}

/* --- where it is --------------------------------------------------------------------- */

static void add_place(pai__buf *b, const reading *r)
{
  (void)pai__job_path(b, r->job, "", NULL);
  pai__buf_printf(b, "/attempts/%lld/taskRoles/", (long long)r->attempt);
  pai__url_add(b, r->role);
  pai__buf_printf(b, "/taskIndex/%u/attempts/%lld/logs", r->index,
                  (long long)r->retry);
}

/* Of another kind of server: "/log-manager/..." of the host, or elsewhere; what
 * is of the API has a path that begins there, and is told who asks. */
static void add_location(pai__buf *b, const pai_client *client,
                         const char *uri)
{
  const char *prefix = client->base + strlen(client->origin);
  size_t len = strlen(prefix);

  if (strncmp(uri, prefix, len) == 0 && strncmp(uri + len, "/api/", 5) == 0)
    uri += len;
  else if (uri[0] == '/' && strncmp(uri, "/api/", 5) != 0)
    pai__buf_str(b, client->origin);
  pai__buf_str(b, uri);
}

static bool is_location(const char *uri)
{
  for (const char *p = uri; *p != '\0'; p++)
    if ((unsigned char)*p <= ' ' || *p == 0x7f)
      return false;
  return uri[0] == '/' || strncmp(uri, "http://", 7) == 0 ||
         strncmp(uri, "https://", 8) == 0;
}

static const char *find_location(const pai__tree *tree, const char *name)
{
  pai__node list =
    tree != NULL ? pai__tree_get(tree, 0, "locations") : PAI__NO_NODE;
  pai__tree_walk walk;
  pai__node n;

  if (list == PAI__NO_NODE || pai__tree_type(tree, list) != PAI__SEQUENCE)
    return "";
  walk = pai__tree_iter(tree, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__client_text(tree, n, "name"), name) == 0)
      return pai__client_text(tree, n, "uri");
  return "";
}

static void on_locations(pai__course *c, int status,
                         const pai_client_answer *a)
{
  reading *r = (reading *)c;
  pai__tree *tree;
  pai__buf url;
  const char *uri;

  if (status == PAI_ENOTFOUND && r->follow && !r->over) {
    ask_later(r); /* it has not started */
    return;
  }
  if (status < 0) {
    pai__course_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  uri = find_location(tree, r->name);
  pai__buf_init(&url, &c->op.client->alloc);
  if (is_location(uri)) {
    add_location(&url, c->op.client, uri);
    if (pai__buf_ok(&url))
      read_from(r, pai__buf_text(&url));
    else
      pai__course_fail(c, PAI_ENOMEM, NULL);
  } else {
    pai_error *err = NULL;
    int rc =
      pai__fail(&err, PAI_ENOTFOUND, "there is no log named %s", r->name);
    pai__course_fail(c, rc, err);
    pai_error_free(err);
  }
  pai__buf_dispose(&url);
  pai__tree_free(tree);
}

static void ask_log(reading *r)
{
  pai__course *c = &r->course;
  bool ours = c->op.client->server == PAI__OURS;
  pai__call call;
  pai__buf path;

  pai__buf_init(&path, &c->op.client->alloc);
  add_place(&path, r);
  if (ours) {
    pai__buf_char(&path, '/');
    pai__url_add(&path, r->name);
    pai__buf_printf(&path, "?offset=%llu%s", (unsigned long long)r->offset,
                    r->follow ? "&follow=true" : "");
  }
  if (!pai__buf_ok(&path)) {
    pai__course_fail(c, PAI_ENOMEM, NULL);
  } else if (ours) {
    read_from(r, pai__buf_text(&path));
  } else {
    call = pai__call_of(c->op.client, "GET", pai__buf_text(&path));
    pai__course_go(c, &call, on_locations);
  }
  pai__buf_dispose(&path);
}

/* --- which start of the task --------------------------------------------------------- */

/* The API has roles in lower case, and only letters and digits. */
static bool is_role(const char *name, const char *role)
{
  if (strcmp(name, role) == 0)
    return true;
  for (; *role != '\0'; role++) {
    char c = *role >= 'A' && *role <= 'Z' ? (char)(*role + 32) : *role;
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      if (*name != c)
        return false;
      name++;
    }
  }
  return *name == '\0';
}

static pai__node find_task(const pai__tree *tree, const reading *r)
{
  pai__node roles = tree != NULL ? pai__tree_get(tree, 0, "taskRoles")
                                 : PAI__NO_NODE,
            key, list, n;
  pai__tree_walk walk;

  if (roles == PAI__NO_NODE || pai__tree_type(tree, roles) != PAI__MAPPING)
    return PAI__NO_NODE;
  walk = pai__tree_iter(tree, roles);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (is_role(pai__tree_str(tree, key, NULL), r->role))
      break;
  list = key != PAI__NO_NODE
           ? pai__tree_get(tree, pai__tree_value(tree, key), "taskStatuses")
           : PAI__NO_NODE;
  if (list == PAI__NO_NODE || pai__tree_type(tree, list) != PAI__SEQUENCE)
    return PAI__NO_NODE;
  walk = pai__tree_iter(tree, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__answer_number(tree, n, "taskIndex") == r->index)
      return n;
  return PAI__NO_NODE;
}

static bool is_over(const char *state)
{
  return strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "FAILED") == 0 ||
         strcmp(state, "STOPPED") == 0;
}

/* Of a start that has just been followed by another one nothing more comes. */
static void take_start(reading *r, const pai__tree *tree, pai__node task)
{
  pai__node job = pai__tree_get(tree, 0, "jobStatus");
  int64_t attempt = pai__answer_number(tree, job, "attemptId"),
          retry = pai__answer_number(tree, task, "attemptId");

  if (r->attempt < 0) {
    r->attempt = attempt;
    r->retry = retry;
  }
  r->over = is_over(pai__client_text(tree, task, "taskState")) ||
            attempt != r->attempt || retry != r->retry ||
            is_over(pai__client_text(tree, job, "state"));
}

static void on_job(pai__course *c, int status, const pai_client_answer *a)
{
  reading *r = (reading *)c;
  pai_error *err = NULL;
  pai__tree *tree;
  pai__node task;

  if (status < 0) {
    pai__course_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  task = find_task(tree, r);
  if (task != PAI__NO_NODE)
    take_start(r, tree, task);
  pai__tree_free(tree);
  if (task != PAI__NO_NODE) {
    ask_log(r);
    return;
  }
  status = pai__fail(&err, PAI_ENOTFOUND, "%s has no task %s[%u]", r->job,
                     r->role, r->index);
  pai__course_fail(c, status, err);
  pai_error_free(err);
}

static int ask_about(reading *r, pai_error **err)
{
  pai__course *c = &r->course;
  pai__call call;
  pai__buf path;
  int rc;

  pai__buf_init(&path, &c->op.client->alloc);
  rc = pai__job_path(&path, r->job, "", err);
  call = pai__call_of(c->op.client, "GET", pai__buf_text(&path));
  if (rc == PAI_OK)
    rc = pai__buf_ok(&path) ? pai__course_ask(c, &call, on_job, err)
                            : pai__oom(err);
  pai__buf_dispose(&path);
  return rc;
}

static void ask_job(pai__course *c)
{
  pai_error *err = NULL;
  int rc = ask_about((reading *)c, &err);

  if (rc < 0)
    pai__course_fail(c, rc, err);
  pai_error_free(err);
}

/* --- its life --------------------------------------------------------------------------- */

static void on_info(pai__course *c, int status, const pai_client_answer *a)
{
  if (status < 0) {
    pai__course_end(c, status, a);
    return;
  }
  if (pai__client_note_info(c->op.client, a) < 0)
    pai__course_fail(c, PAI_ENOMEM, NULL);
  else
    ask_job(c);
}

static int begin(reading *r, pai_error **err)
{
  pai_client *client = r->course.op.client;
  pai__call call = pai__call_of(client, "GET", "/api/v2/info");

  if (client->server != PAI__UNKNOWN)
    return ask_about(r, err);
  call.nobody = true;
  return pai__course_ask(&r->course, &call, on_info, err);
}

static void dispose(pai__course *c)
{
  const pai_alloc *alloc = &c->op.client->alloc;
  reading *r = (reading *)c;

  pai__strfree(alloc, r->job);
  pai__strfree(alloc, r->role);
  pai__strfree(alloc, r->name);
}

static int fill(reading *r, const pai_client_log_options *o, pai_error **err)
{
  const pai_alloc *alloc = &r->course.op.client->alloc;

  r->job = pai__strdup(alloc, o->job);
  r->role = pai__strdup(alloc, o->role);
  r->name = pai__strdup(alloc, o->name != NULL ? o->name : "all");
  r->index = o->index;
  r->offset = o->offset;
  r->follow = o->follow != 0;
  r->on_data = o->on_data;
  r->attempt = -1;
  if (r->job == NULL || r->role == NULL || r->name == NULL)
    return pai__oom(err);
  return begin(r, err);
}

int pai_client_logs(pai_op **op, pai_client *client,
                    const pai_client_log_options *opts, pai_client_cb cb,
                    void *user_data, pai_error **err)
{
  pai_client_log_options o;
  pai__course *c;
  int rc;

  if (op != NULL)
    *op = NULL;
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(client != NULL && cb != NULL, err);
  PAI__CHECK_PROCESS(client, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_client_log_options, on_data);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_client_log_options");
  if (o.job == NULL || o.role == NULL || o.on_data == NULL)
    return pai__fail(
      err, PAI_EINVAL,
      "pai_client_log_options: job, role and on_data are needed");
  rc =
    pai__course_new(&c, client, sizeof(reading), dispose, cb, user_data, err);
  if (rc < 0)
    return rc;
  rc = fill((reading *)c, &o, err);
  if (rc < 0)
    pai__course_drop(c);
  else if (op != NULL)
    *op = &c->op;
  return rc;
}
