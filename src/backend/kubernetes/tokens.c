/*
 * tokens.c - tokens from a program, and the requests that wait for them
 *
 * The program runs when a request needs a token and there is none, or it
 * expires, or the API server has refused it.  One run serves all waiting
 * requests.
 */
#include "backend/kubernetes/inside.h"

#include "base/text/utf8.h"

enum {
  SECOND = 1000 * 1000,
  MOST_TIME = 50, /* seconds for a run: less than a list's limit, so the list
                     gets the error */
  MARGIN = 10     /* seconds for which a token must still be valid */
};

/* --- the program --------------------------------------------------------- */

static char **copy_list(pai__arena *arena, const char *const *list,
                        const char *more, pai_error **err)
{
  size_t n = 0;
  char **copy;

  while (list != NULL && list[n] != NULL)
    n++;
  copy = pai__arena_zalloc(arena, n + 2, sizeof(*copy));
  for (size_t i = 0; copy != NULL && i <= n; i++) {
    const char *text = i < n ? list[i] : more;
    if (text == NULL)
      break;
    copy[i] = pai__arena_strndup(arena, text, strlen(text));
    if (copy[i] == NULL)
      copy = NULL;
  }
  if (copy == NULL)
    (void)pai__oom(err);
  return copy;
}

static int copy_program(pai__kube *kube, const pai__kube_options *o,
                        pai_error **err)
{
  pai__kube_program *p = pai__arena_zalloc(&kube->arena, 1, sizeof(*p));
  pai__buf info;
  char **words, **env = NULL, **hint = NULL;

  if (p == NULL)
    return pai__oom(err);
  pai__buf_init(&info, &kube->alloc);
  pai__buf_str(&info, "KUBERNETES_EXEC_INFO=");
  pai__kube_put_info(&info, o);
  words = copy_list(&kube->arena, o->program->words, NULL, err);
  if (words != NULL && pai__buf_ok(&info))
    env = copy_list(&kube->arena, o->program->env, pai__buf_text(&info), err);
  else if (words != NULL)
    (void)pai__oom(err);
  pai__buf_dispose(&info);
  if (env != NULL) {
    const char *const texts[] = { o->program->version, o->program->hint,
                                  NULL };
    hint = copy_list(&kube->arena, texts, NULL, err);
  }
  if (hint == NULL)
    return PAI_ENOMEM;
  *p = (pai__kube_program){ .words = (const char *const *)words,
                            .env = (const char *const *)env,
                            .version = hint[0],
                            .hint = hint[1] };
  kube->program = p;
  return PAI_OK;
}

static void on_step(void *user_data);

int pai__kube_keep_program(pai__kube *kube, const pai__kube_options *o,
                           pai_error **err)
{
  pai__arena_init(&kube->arena, &kube->alloc);
  if (o->program == NULL)
    return PAI_OK;
  if (pai__loop_step_new(&kube->step, &kube->alloc, kube->loop, on_step,
                         kube) < 0)
    return pai__oom(err);
  return copy_program(kube, o, err);
}

void pai__kube_drop_program(pai__kube *kube)
{
  pai__program_kill(kube->running);
  pai__loop_step_close(kube->step);
  pai__arena_dispose(&kube->arena);
}

/* --- the token ----------------------------------------------------------- */

static void forget(pai__kube *kube)
{
  pai__strfree(&kube->alloc, kube->authorization);
  kube->authorization = NULL;
}

bool pai__kube_must_wait(const pai__kube *kube)
{
  return kube->program != NULL &&
         (kube->authorization == NULL ||
          (kube->expires != 0 &&
           pai__loop_wall_time() + (pai_time)MARGIN * SECOND >=
             kube->expires));
}

void pai__kube_refused(pai__kube *kube, const char *authorization)
{
  if (kube->program != NULL && kube->authorization != NULL &&
      strcmp(kube->authorization, authorization) == 0)
    forget(kube);
}

static int take_token(pai__kube *kube, const char *text, size_t len,
                      pai_error **err)
{
  pai_time expires;
  pai__buf token;
  int rc;

  pai__buf_init(&token, &kube->alloc);
  pai__buf_str(&token, "Bearer ");
  rc = pai__kube_read_credential(&token, &expires, text, len,
                                 kube->program->version, err);
  if (rc == PAI_OK && !pai__kube_is_line(pai__buf_text(&token)))
    rc = pai__fail(err, PAI_EINVAL, "its token must be one line");
  if (rc == PAI_OK) {
    forget(kube);
    kube->authorization = pai__buf_take(&token);
    kube->expires = expires;
    if (kube->authorization == NULL)
      rc = pai__oom(err);
  }
  pai__buf_dispose(&token);
  return rc;
}

/* Adds the program's name to an error. */
static int name_it(const pai__kube *kube, int rc, pai_error **err)
{
  const char *hint = rc == PAI_ENOTFOUND ? kube->program->hint : NULL;
  pai_error *cause = *err;
  char text[PAI__EXCERPT];

  if (rc == PAI_OK || rc == PAI_ENOMEM)
    return rc;
  *err = NULL;
  (void)pai__fail(err, rc, "no token from %s: %s%s%s", kube->program->words[0],
                  cause != NULL ? pai_error_message(cause) : "",
                  hint != NULL ? "; " : "",
                  hint != NULL ? pai__excerpt(text, hint, strlen(hint)) : "");
  pai_error_free(cause);
  return rc;
}

/* --- waiting requests ---------------------------------------------------- */

static pai__kube_request *pop(pai__kube_request **at)
{
  pai__kube_request *r = *at;

  *at = r->next;
  r->next = NULL;
  return r;
}

static void end_canceled(pai__kube_request *r)
{
  pai_error *err = NULL;
  int rc = pai__fail(&err, PAI_ECANCELED, "the request was canceled");

  pai__kube_end(r, rc, err);
  pai_error_free(err);
}

static void send_it(pai__kube_request *r)
{
  pai_error *err = NULL;
  int rc = pai__kube_send(r, &err);

  if (rc < 0)
    pai__kube_end(r, rc, err);
  pai_error_free(err);
}

/* Ends the requests that wait now; each callback may add new ones. */
static void tell_all(pai__kube *kube, int rc, const pai_error *err)
{
  size_t n = 0;

  for (const pai__kube_request *r = kube->first; r != NULL; r = r->next)
    n++;
  for (; n > 0; n--) {
    pai__kube_request *r = pop(&kube->first);
    if (r->canceled)
      end_canceled(r);
    else if (rc < 0)
      pai__kube_end(r, rc, err);
    else
      send_it(r);
  }
}

static void on_written(void *user_data, int status, const char *text,
                       size_t len, const pai_error *why)
{
  pai__kube *kube = user_data;
  pai_error *err = NULL;

  kube->running = NULL;
  if (status == PAI_OK)
    status = take_token(kube, text, len, &err);
  else
    (void)pai__fail(&err, status, "%s", pai_error_message(why));
  status = name_it(kube, status, &err);
  tell_all(kube, status, err);
  pai_error_free(err);
}

int pai__kube_wait(pai__kube_request *r, pai_error **err)
{
  pai__kube *kube = r->kube;
  const pai__program_want want = { .words = kube->program->words,
                                   .env = kube->program->env,
                                   .most = (pai_time)MOST_TIME * SECOND,
                                   .on_done = on_written,
                                   .user_data = kube };
  pai__kube_request **last = &kube->first;
  pai_error *mine = NULL;
  int rc = PAI_OK;

  if (kube->running == NULL)
    rc = pai__program_start(&kube->running, &kube->alloc, kube->loop, &want,
                            &mine);
  rc = name_it(kube, rc, &mine);
  if (err != NULL)
    *err = mine;
  else
    pai_error_free(mine);
  if (rc < 0)
    return rc;
  while (*last != NULL)
    last = &(*last)->next;
  *last = r;
  return PAI_OK;
}

static pai__kube_request **find_canceled(pai__kube *kube)
{
  pai__kube_request **at = &kube->first;

  while (*at != NULL && !(*at)->canceled)
    at = &(*at)->next;
  return at;
}

/* Ends them one by one, because each callback may change the list. */
static void on_step(void *user_data)
{
  pai__kube *kube = user_data;
  pai__kube_request **at;

  while (*(at = find_canceled(kube)) != NULL)
    end_canceled(pop(at));
  if (kube->closing)
    pai__kube_close_http(kube);
}

void pai__kube_give_up(pai__kube_request *r)
{
  r->canceled = true;
  pai__loop_step_ask(r->kube->step);
}

void pai__kube_give_all_up(pai__kube *kube)
{
  for (pai__kube_request *r = kube->first; r != NULL; r = r->next)
    r->canceled = true;
  pai__program_kill(kube->running);
  kube->running = NULL;
  pai__loop_step_ask(kube->step);
}
