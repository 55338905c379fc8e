/*
 * op.c - password hashing on other threads
 *
 * A hash takes memory and time by design.  A few are made at a time; other
 * operations wait in a queue of limited length.  Clients take turns: each has
 * one operation per round, however many another client has waiting.  In a full
 * queue, an operation of a client with fewer replaces the last one of the
 * client with most.  The other thread only sees the operation it works on.
 */
#include "account/inside.h"

#include <errno.h>

enum { LONGEST_QUEUE = 1000, MOST_OF_ONE = 64 };

/* --- life ---------------------------------------------------------------- */

void pai__forget_requester(pai_accounts *a)
{
  a->requester = (pai__account_requester){ .is_gone = NULL };
}

int pai__op_new(pai__op **out, pai_accounts *a, pai_account_cb cb,
                void *user_data, pai_error **err)
{
  pai__account_requester requester = a->requester;
  pai__op *op;

  *out = NULL;
  pai__forget_requester(a); /* valid for one call, even if it fails */
  if (a->stopped)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  op = pai__zalloc(&a->alloc, sizeof(*op));
  if (op == NULL)
    return pai__oom(err);
  op->a = a;
  op->cb = cb;
  op->user_data = user_data;
  op->requester = requester;
  op->actor = a->actor;
  op->passes = a->passes;
  op->memory = a->memory;
  pai__buf_init(&op->answer, &a->alloc);
  *out = op;
  return PAI_OK;
}

int pai__op_text(pai__op *op, char **to, const char *text, pai_error **err)
{
  return pai__set_text(&op->a->alloc, to, text) < 0 ? pai__oom(err) : PAI_OK;
}

void pai__op_free(pai__op *op)
{
  const pai_alloc *alloc = &op->a->alloc;

  pai__strfree(alloc, op->user);
  pai__forget(alloc, op->stored);
  pai__forget(alloc, op->given);
  pai__forget(alloc, op->fresh);
  pai__user_put_free(&op->put);
  pai_error_free(op->err);
  if (op->answer.data != NULL)
    sodium_memzero(op->answer.data, op->answer.cap);
  pai__buf_dispose(&op->answer);
  sodium_memzero(op->hash, sizeof(op->hash));
  pai__free(alloc, op, sizeof(*op));
}

/* --- on the other thread ------------------------------------------------- */

static void hash(pai__op *op, const char *password)
{
  op->failed =
    crypto_pwhash_str_alg(op->hash, password, strlen(password), op->passes,
                          op->memory, crypto_pwhash_ALG_ARGON2ID13) != 0;
}

/* Takes as long as the check of a user that exists. */
static void check_nobody(pai__op *op)
{
  hash(op, op->given);
  op->right = false;
}

/* Checks a hash of OpenPAI, and makes an argon2id hash in its place. */
static void check_old(pai__op *op)
{
  char text[PAI__OLD_HASH];

  pai__hash_old(text, op->user, op->given);
  op->right = sodium_memcmp(text, op->stored, PAI__OLD_HASH) == 0;
  op->old = true;
  hash(op, op->given);
  sodium_memzero(text, sizeof(text));
}

/* libsodium tells a wrong password from lack of memory only by errno. */
static void check_own(pai__op *op)
{
  errno = 0;
  op->right =
    crypto_pwhash_str_verify(op->stored, op->given, strlen(op->given)) == 0;
  op->failed = !op->right && errno == ENOMEM;
}

static void run(void *user_data)
{
  pai__op *op = ((pai__account_slot *)user_data)->op;

  if (op->given != NULL && op->stored == NULL)
    check_nobody(op);
  else if (op->given != NULL && pai__is_old_hash(op->stored))
    check_old(op);
  else if (op->given != NULL)
    check_own(op);
  if (op->fresh != NULL && (op->given == NULL || op->right))
    hash(op, op->fresh);
}

/* --- on the loop --------------------------------------------------------- */

static void call(pai__op *op)
{
  const char *text = pai__buf_text(&op->answer);

  op->cb(op->user_data, op->rc, op->rc == PAI_OK ? text : NULL,
         op->rc == PAI_OK ? op->answer.len : 0, op->err);
  pai__op_free(op);
}

static void pump(pai_accounts *a);

static void finish(pai__op *op)
{
  const pai__actor actor = op->a->actor;

  op->a->actor = op->actor; /* changes are those of the operation's caller */
  if (op->failed)
    op->rc = pai__oom(&op->err);
  else
    op->rc = op->finish(op, &op->answer, &op->err);
  op->a->actor = actor;
  if (op->rc == PAI_OK && !pai__buf_ok(&op->answer))
    op->rc = pai__oom(&op->err);
}

/* The change is durable, or `why` it is not. */
static void on_safe(void *user_data, int status, const pai_error *why)
{
  pai__op *op = user_data;
  pai_accounts *a = op->a;

  a->unsafe--;
  if (status < 0)
    op->rc = pai__first_lost(why, status, &op->err);
  else
    pai__first_told(op);
  a->host.soon(a->host.ctx);
  call(op);
}

/* Calls back; with `safe`, only when the change is durable.  Other calls see
 * the change before. */
static void tell(pai__op *op)
{
  pai_accounts *a = op->a;

  if (op->rc < 0 || !op->safe) {
    call(op);
    return;
  }
  a->unsafe++;
  if (a->host.sync(a->host.ctx, on_safe, op) < 0)
    on_safe(op, PAI_ENOMEM, NULL);
}

static void on_done(void *user_data)
{
  pai__account_slot *slot = user_data;
  pai_accounts *a = slot->a;
  pai__op *op = slot->op;

  slot->op = NULL;
  finish(op);
  pump(a);
  a->host.soon(a->host.ctx); /* the end may wait for this operation */
  tell(op);
}

static bool begin(pai_accounts *a, pai__account_slot *slot)
{
  slot->a = a;
  return slot->beside != NULL ||
         a->host.beside_new(&slot->beside, a->host.ctx, run, on_done, slot) ==
           PAI_OK;
}

/* --- the queue ----------------------------------------------------------- */

/* Removes an operation from the queue. */
static pai__op *leave(pai_accounts *a, pai__op **at)
{
  pai__op *op = *at;

  *at = op->next;
  if (*at == NULL)
    a->queue_end = at;
  a->nqueue--;
  return op;
}

static void give_up(pai__op *op, int rc, const char *why)
{
  op->rc = pai__fail(&op->err, rc, "%s", why);
  if (rc == PAI_EBUSY) {
    pai__error_retriable(&op->err);
    (void)pai__as(&op->err, rc, 503, "UnknownError");
  }
  pai__op_ready(op);
}

static bool is_gone(const pai__op *op)
{
  return op->requester.is_gone != NULL &&
         op->requester.is_gone(op->user_data) != 0;
}

static void drop_gone(pai_accounts *a)
{
  for (pai__op **at = &a->queue; *at != NULL;)
    if (is_gone(*at))
      give_up(leave(a, at), PAI_ECANCELED, "no caller waits for it");
    else
      at = &(*at)->next;
}

/* Returns how long the operation has to wait because of wrong passwords. */
static pai_time wait_of(const pai__op *op)
{
  return op->given != NULL
           ? pai__guard_wait(op->a, op->user, op->requester.who)
           : 0;
}

/* Gives up the first operation if its caller is gone, or if it has to wait
 * because of wrong passwords since it was queued. */
static bool give_up_first(pai_accounts *a)
{
  pai_time wait = wait_of(a->queue);
  pai__op *op;

  if (is_gone(a->queue)) {
    give_up(leave(a, &a->queue), PAI_ECANCELED, "no caller waits for it");
    return true;
  }
  if (wait == 0)
    return false;
  op = leave(a, &a->queue);
  op->rc = pai__guard_refuse(a, op->user, wait, &op->err);
  pai__op_ready(op);
  return true;
}

/* During an attack one worker is reserved for users at known addresses. */
static bool may_begin(const pai_accounts *a, const pai__op *op)
{
  size_t busy = 0;

  for (size_t i = 0; i < a->workers; i++)
    busy += a->slots[i].op != NULL && a->slots[i].op->rank > 0;
  return op->rank == 0 || busy + 1 < a->workers || a->workers == 1 ||
         !pai__guard_is_attacked(a);
}

static void pump(pai_accounts *a)
{
  for (size_t i = 0; i < a->workers && a->queue != NULL; i++) {
    pai__account_slot *slot = &a->slots[i];

    while (a->queue != NULL && give_up_first(a))
      ;
    if (a->queue == NULL || slot->op != NULL || !may_begin(a, a->queue) ||
        !begin(a, slot))
      continue;
    slot->op = leave(a, &a->queue);
    a->rounds[slot->op->rank] = slot->op->round;
    a->host.beside_start(slot->beside);
  }
}

static bool is_alike(const pai__op *x, const pai__op *y)
{
  return x->rank == y->rank && strcmp(x->requester.who, y->requester.who) == 0;
}

static size_t count_alike(const pai_accounts *a, const pai__op *as)
{
  size_t n = 0;

  for (const pai__op *op = a->queue; op != NULL; op = op->next)
    n += is_alike(op, as);
  return n;
}

/* The first operation of a client joins the round after the current one. */
static uint64_t round_of(const pai_accounts *a, const pai__op *as)
{
  uint64_t round = a->rounds[as->rank];

  for (const pai__op *op = a->queue; op != NULL; op = op->next)
    if (is_alike(op, as) && op->round > round)
      round = op->round;
  return round + 1;
}

/* Ranks come first, so that clients with recent wrong passwords come after all
 * others, in order of their number. */
static bool is_before(const pai__op *x, const pai__op *y)
{
  return x->rank != y->rank ? x->rank < y->rank : x->round <= y->round;
}

static int refuse(int status, const char *why, pai_error **err)
{
  (void)pai__fail(err, PAI_EBUSY, "%s", why);
  pai__error_retriable(err);
  return pai__as(err, PAI_EBUSY, status, "UnknownError");
}

/* Gives up the last operation if the new one comes before it. */
static bool make_room(pai_accounts *a, const pai__op *op)
{
  pai__op **at = &a->queue;

  while (*at != NULL && (*at)->next != NULL)
    at = &(*at)->next;
  if (*at == NULL || is_before(*at, op))
    return false;
  give_up(leave(a, at), PAI_EBUSY, "too many passwords are being checked");
  return true;
}

static int enter(pai_accounts *a, pai__op *op, pai_error **err)
{
  pai__op **at = &a->queue;
  const char *who = op->requester.who;

  op->rank = op->given != NULL ? pai__guard_rank(a, op->user, who) : 0;
  if (a->nqueue >= LONGEST_QUEUE || count_alike(a, op) >= MOST_OF_ONE)
    drop_gone(a);
  if (who[0] != '\0' && count_alike(a, op) >= MOST_OF_ONE)
    return refuse(429, "too many of your passwords are being checked", err);
  op->round = round_of(a, op);
  if (a->nqueue >= LONGEST_QUEUE && !make_room(a, op))
    return refuse(503, "too many passwords are being checked", err);
  while (*at != NULL && is_before(*at, op))
    at = &(*at)->next;
  op->next = *at;
  if (op->next == NULL)
    a->queue_end = &op->next;
  *at = op;
  a->nqueue++;
  return PAI_OK;
}

int pai__op_start(pai__op *op, pai_error **err)
{
  pai_accounts *a = op->a;
  pai_time wait = wait_of(op);
  int rc;

  if (wait > 0)
    return pai__guard_refuse(a, op->user, wait, err);
  if (!begin(a, &a->slots[0])) /* so at least one worker can take it */
    return pai__oom(err);
  rc = enter(a, op, err);
  if (rc == PAI_OK)
    pump(a);
  return rc;
}

int pai_accounts_ask_as(pai_accounts *a, const pai_asker *requester)
{
  pai_asker o;
  int rc;

  PAI__CHECK_ARG(a != NULL && requester != NULL);
  PAI__CHECK_PROCESS(a, NULL);
  rc = PAI__COPY_IN(&o, requester, pai_asker, is_gone);
  if (rc < 0)
    return rc;
  PAI__CHECK_ARG(o.who != NULL && strlen(o.who) < sizeof(a->requester.who));
  memcpy(a->requester.who, o.who, strlen(o.who) + 1);
  a->requester.is_gone = o.is_gone;
  return PAI_OK;
}

void pai__op_ready(pai__op *op)
{
  pai_accounts *a = op->a;

  op->next = NULL;
  *a->ready_end = op;
  a->ready_end = &op->next;
  a->host.soon(a->host.ctx);
}

/* Calls back only what was ready at the start, as callbacks may add more. */
void pai__accounts_step(pai_accounts *a)
{
  pai__op *op = a->ready;

  a->ready = NULL;
  a->ready_end = &a->ready;
  while (op != NULL) {
    pai__op *next = op->next;
    call(op);
    op = next;
  }
}

void pai__accounts_stop(pai_accounts *a)
{
  pai__op *op;

  if (a == NULL || a->stopped)
    return;
  a->stopped = true;
  op = a->queue;
  a->queue = NULL;
  a->queue_end = &a->queue;
  a->nqueue = 0;
  while (op != NULL) {
    pai__op *next = op->next;
    op->rc = pai__fail(&op->err, PAI_ECANCELED, "the platform is closing");
    pai__op_ready(op);
    op = next;
  }
}

bool pai__accounts_is_idle(const pai_accounts *a)
{
  if (a == NULL)
    return true;
  for (size_t i = 0; i < PAI__MOST_WORKERS; i++)
    if (a->slots[i].op != NULL)
      return false;
  return a->queue == NULL && a->ready == NULL && a->unsafe == 0;
}
