/* What a client does when curl has had an end of its own, for want of memory. */
#include "cases.h"
#include "client/caller.h"

#include "loop/loop.h"

static int left; /* watches until one cannot be made; 0: none fails */

int __real_pai__poll_new(pai__poll **out, const pai_alloc *alloc,
                         pai_loop *loop, int fd, pai__poll_cb cb,
                         void *user_data, pai_error **err);
int __wrap_pai__poll_new(pai__poll **out, const pai_alloc *alloc,
                         pai_loop *loop, int fd, pai__poll_cb cb,
                         void *user_data, pai_error **err);

int __wrap_pai__poll_new(pai__poll **out, const pai_alloc *alloc,
                         pai_loop *loop, int fd, pai__poll_cb cb,
                         void *user_data, pai_error **err)
{
  if (left > 0 && --left == 0)
    return PAI_ENOMEM;
  return __real_pai__poll_new(out, alloc, loop, fd, cb, user_data, err);
}

static void answer(played *p, const char *request, pai__buf *out)
{
  (void)caller_info(p->user_data, request, out);
}

/* What was under way ends; who asks next is answered. */
CALLING(answer, it_begins_anew)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  close_client(w->loop, w->client);
  options.url = w->p.url;
  options.most_tries = 1;
  assert_ok(pai_client_new(&w->client, w->loop, &options, NULL));
  left = 1;
  assert_ok(pai_client_info(NULL, w->client, on_outcome, &w->o, NULL));
  wait_for(w->loop, &w->o, 1);
  assert_int_equal(left, 0);
  assert_int_equal(w->o.status, PAI_ENOMEM);
  assert_ok(pai_client_info(NULL, w->client, on_outcome, &w->o, NULL));
  wait_for(w->loop, &w->o, 2);
  assert_ok(w->o.status);
}
