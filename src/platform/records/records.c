/* records.c - common parts of replies from the database */
#include "platform/records/records.h"

#include "job/end/exit.h"
#include "json/json.h"

#include <openpai/job.h>

/* Bytes of most replies, and of a writer's pieces. */
enum { ROOM = 12 << 10 };

int pai__reply_open(pai__reply *a, pai_platform *p, pai_write_cb write,
                    void *user_data, pai_error **err)
{
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (p->store == NULL)
    return pai__no_records(err);
  a->p = p;
  a->held = false;
  a->err = err;
  pai__buf_init(&a->buf, &p->alloc);
  (void)pai__buf_reserve(&a->buf, ROOM); /* a failure shows at the end */
  pai__buf_init(&a->exit, &p->alloc);
  pai__json_writer_init(&a->w, &a->buf, false);
  pai__json_writer_to(&a->w, write, user_data);
  return PAI_OK;
}

int pai__reply_hold(pai__reply *a)
{
  int rc = pai__store_hold(a->p->store, a->err);

  a->held = rc == PAI_OK;
  return rc;
}

int pai__reply_begin(pai__reply *a, pai_platform *p, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  int rc = pai__reply_open(a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  rc = pai__reply_hold(a);
  return rc < 0 ? pai__reply_end(a, rc) : rc;
}

int pai__reply_end(pai__reply *a, int rc)
{
  int written = rc == PAI_OK ? pai__json_finish(&a->w) : rc;

  if (a->held)
    pai__store_let_go(a->p->store);
  pai__buf_dispose(&a->buf);
  pai__buf_dispose(&a->exit);
  if (written == PAI_ENOMEM && rc == PAI_OK)
    return pai__oom(a->err);
  if (written < 0 && rc == PAI_OK)
    return pai__fail(a->err, written, "the answer cannot be written");
  return written;
}

int pai__reply_text(pai__reply *a, const char *text)
{
  pai__json_string(&a->w, text);
  return PAI_OK;
}

int pai__reply_time(pai__reply *a, pai_time time)
{
  if (time != 0)
    pai__json_int(&a->w, time / 1000);
  else
    pai__json_null(&a->w);
  return PAI_OK;
}

void pai__member_time(pai__reply *a, const char *key, pai_time time)
{
  pai__json_member(&a->w, key);
  (void)pai__reply_time(a, time);
}

static bool make_exit(pai__reply *a, int64_t code)
{
  pai__json_writer w;

  if (a->exit.len > 0 && a->exit_code == code)
    return true;
  pai__buf_cut(&a->exit, 0);
  pai__json_writer_init(&w, &a->exit, false);
  pai__exit_write(&w, pai__exit_find_own((int)code), (int)code);
  a->exit_code = code;
  if (pai__json_finish(&w) == PAI_OK)
    return true;
  pai__buf_cut(&a->exit, 0);
  return false;
}

int pai__reply_exit(pai__reply *a, pai__maybe code)
{
  if (code.there && make_exit(a, code.value))
    pai__json_written(&a->w, a->exit.data, a->exit.len);
  else
    pai__json_null(&a->w);
  return PAI_OK;
}

int pai__reply_summary(pai__reply *a, const char *diagnostics)
{
  pai__buf text;

  pai__buf_init(&text, &a->p->alloc);
  if (diagnostics != NULL)
    (void)pai__end_summary(&text, diagnostics);
  (void)pai__reply_text(a, text.len != 0 ? text.data : NULL);
  pai__buf_dispose(&text);
  return PAI_OK;
}

/* Copies some members of a JSON object. */
static void add_members(pai__reply *a, const pai__buf *json)
{
  static const char *const names[] = { "runtime", "launcher" };
  pai__json_options options = { .alloc = &a->p->alloc };
  pai__tree *tree = NULL;

  (void)pai__json_parse(&tree, json->data, json->len, &options, NULL);
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    pai__node n =
      tree != NULL ? pai__tree_get(tree, 0, names[i]) : PAI__NO_NODE;
    const pai__tree_node *at = n != PAI__NO_NODE ? &tree->nodes[n] : NULL;

    pai__json_member(&a->w, names[i]);
    if (at != NULL)
      pai__json_ready(&a->w, json->data + at->start, at->end - at->start);
    else
      pai__json_null(&a->w);
  }
  pai__tree_free(tree);
}

int pai__reply_messages(pai__reply *a, const char *diagnostics, bool summary)
{
  pai__buf text, words;
  pai__json_writer w;
  int rc = PAI_ENOTFOUND;

  pai__buf_init(&text, &a->p->alloc);
  pai__buf_init(&words, &a->p->alloc);
  pai__json_writer_init(&w, &text, false);
  if (diagnostics != NULL && *diagnostics != '\0')
    rc = pai__end_messages(&w, diagnostics);
  if (rc == PAI_OK)
    rc = pai__json_finish(&w);
  if (rc == PAI_OK && !summary) {
    pai__json_ready(&a->w, text.data, text.len);
  } else if (rc == PAI_OK && pai__end_summary(&words, diagnostics) == PAI_OK) {
    pai__json_begin_object(&a->w);
    pai__json_put_text(&a->w, "diagnosticsSummary", pai__buf_text(&words));
    add_members(a, &text);
    pai__json_end_object(&a->w);
  } else {
    pai__json_null(&a->w);
  }
  pai__buf_dispose(&words);
  pai__buf_dispose(&text);
  return PAI_OK;
}

int pai__reply_debug_id(pai__reply *a, const char *user, const char *name)
{
  pai__buf whole, id;

  pai__buf_init(&whole, &a->p->alloc);
  pai__buf_init(&id, &a->p->alloc);
  pai__buf_str(&whole, user);
  pai__buf_char(&whole, '~');
  pai__buf_str(&whole, name);
  pai__name_encode(&id, pai__buf_text(&whole));
  (void)pai__reply_text(a, pai__buf_text(&id));
  pai__buf_dispose(&whole);
  pai__buf_dispose(&id);
  return PAI_OK;
}

static int on_tag(void *user_data, const char *tag)
{
  pai__reply *a = user_data;

  pai__json_string(&a->w, tag);
  return PAI_OK;
}

int pai__reply_tags(pai__reply *a, uint64_t job)
{
  int rc;

  pai__json_begin_array(&a->w);
  rc = pai__store_tags(a->p->store, job, on_tag, a, a->err);
  pai__json_end_array(&a->w);
  return rc;
}

const char *pai__shown_ip(const pai_platform *p, const char *ip)
{
  return ip != NULL && p->address[0] != '\0' && strcmp(ip, p->here.ip) == 0
           ? p->address
           : ip;
}

int pai__reply_retries(pai__reply *a, unsigned field, const pai__job_row *row)
{
  if (field == PAI__JobRetries_retries) {
    pai__json_int(&a->w, (int64_t)row->user_retries + row->platform_retries);
    return PAI_OK;
  }
  pai__json_begin_object(&a->w);
  pai__json_put_int(&a->w, "user", row->user_retries);
  pai__json_put_int(&a->w, "platform", row->platform_retries);
  pai__json_put_int(&a->w, "resource", 0);
  pai__json_end_object(&a->w);
  return PAI_OK;
}

/* --- by name -------------------------------------------------------------- */

static int on_found(void *user_data, const pai__job_row *row)
{
  *(pai_job_id *)user_data = row->id;
  return PAI_OK;
}

int pai_platform_find(pai_job_id *job, pai_platform *p, const char *name,
                      pai_error **err)
{
  const char *tilde;
  char *user;
  int rc;

  PAI__CHECK_ARG_ERR(job != NULL, err);
  *job = 0;
  PAI__CHECK_ARG_ERR(p != NULL && name != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  if (p->store == NULL)
    return pai__no_records(err);
  tilde = strchr(name, '~');
  if (tilde == NULL)
    user = pai__strdup(&p->alloc, p->user);
  else
    user = pai__strndup(&p->alloc, name, (size_t)(tilde - name));
  if (user == NULL)
    return pai__oom(err);
  rc = pai__store_job_named(p->store, user, tilde != NULL ? tilde + 1 : name,
                            on_found, job, err);
  pai__strfree(&p->alloc, user);
  if (rc == PAI_OK && pai__is_dropped(p, *job)) {
    *job = 0;
    rc = pai__fail(err, PAI_ENOTFOUND, "there is no job %s", name);
  }
  return rc;
}
