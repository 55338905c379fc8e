/* save.c - writing the state of a scheduler as one line of JSON */
#include "sched/log/snapshot_form.h"

#include "sched/log/event_form.h"
#include "sched/policy/policy.h"
#include "sched/sched.h"

#include "resource/bits.h"

/* --- reasons of virtual clusters ------------------------------------------ */

/* Writes the reasons that hold until the next decision. */
static void put_vc_reasons(pai__saving *x)
{
  const pai_sched *s = x->s;
  bool begun = false;

  for (uint32_t i = 0; i < s->vc_reasons.len; i++) {
    const pai__vc_reason *vc_reason =
      (const pai__vc_reason *)s->vc_reasons.data + i;

    if (vc_reason->made != s->m.decided)
      continue;
    if (!begun)
      pai__json_put_array(x->w, "refused");
    begun = true;
    pai__table_put(
      x->w, &pai__vc_reason_table,
      &(pai__vc_reason_form){ s->cluster->vcs[i / 2].name, *vc_reason });
  }
  if (begun)
    pai__json_end_array(x->w);
}

/* --- nodes ---------------------------------------------------------------- */

static void put_capacity(pai__saving *x, uint32_t i)
{
  const pai_sched *s = x->s;
  const pai__free_capacity *capacity = pai__free_capacity_at(s, i);
  bool moved = capacity->next_port != s->m.next_port;

  pai__json_begin_object(x->w);
  pai__saving_put(x, &pai__free_capacity_table,
                  &(pai__free_capacity_form){
                    .name = s->cluster->nodes[i].name,
                    .reason = pai__saving_text(x, capacity->reason),
                    .state = capacity->state,
                    .next_port = moved ? capacity->next_port : 0 });
  if (capacity->sick != 0)
    pai__mask_put(x->w, "sick", capacity->sick);
  if (capacity->lost.len != 0)
    pai__ports_put(x->w, "lost", pai__pool_at(&s->pool, capacity->lost.at),
                   capacity->lost.len);
  pai__json_end_object(x->w);
}

static void put_capacities(pai__saving *x)
{
  bool begun = false;

  for (uint32_t i = 0; i < x->s->free_capacity.len; i++) {
    const pai__free_capacity *capacity = pai__free_capacity_at(x->s, i);

    if (capacity->state == PAI_NODE_UP && capacity->reason == PAI__NONE &&
        capacity->sick == 0 && capacity->lost.len == 0 &&
        capacity->next_port == x->s->m.next_port)
      continue;
    if (!begun)
      pai__json_put_array(x->w, "nodes");
    begun = true;
    put_capacity(x, i);
  }
  if (begun)
    pai__json_end_array(x->w);
}

static int put_reservation(pai__saving *x, const pai__sched_reservation *k)
{
  const pai_sched *s = x->s;
  size_t most = s->free_capacity.len != 0 ? s->free_capacity.len : 1;
  const char **names;
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = pai__saving_text(x, k->name),
                        .from = k->from,
                        .to = k->to != INT64_MAX ? k->to : 0,
                        .vc = pai__saving_text(x, k->vc),
                        .user = pai__saving_text(x, k->user) };

  if (k->nodes == PAI__NONE) {
    pai__reservation_put(x->w, &r);
    return PAI_OK;
  }
  names = pai__realloc(&s->alloc, NULL, 0, most, sizeof(*names));
  if (names == NULL)
    return pai__oom(x->err);
  for (uint32_t i = 0; i < s->free_capacity.len; i++)
    if (pai__bits_has(pai__pool_at(&s->pool, k->nodes), k->words, i))
      names[r.nnodes++] = s->cluster->nodes[i].name;
  r.nodes = names;
  pai__reservation_put(x->w, &r);
  pai__free(&s->alloc, names, most * sizeof(*names));
  return PAI_OK;
}

static int put_reservations(pai__saving *x)
{
  int rc = PAI_OK;

  if (x->s->reservations.len == 0)
    return PAI_OK;
  pai__json_put_array(x->w, "reservations");
  for (uint32_t i = 0; i < x->s->reservations.len && rc == PAI_OK; i++)
    rc = put_reservation(
      x, (const pai__sched_reservation *)x->s->reservations.data + i);
  pai__json_end_array(x->w);
  return rc;
}

/* --- requests ------------------------------------------------------------- */

static void put_requests(pai__saving *x)
{
  if (x->nturns == 0)
    return;
  pai__json_put_array(x->w, "requests");
  for (uint32_t i = 0; i < x->nturns; i++)
    if (x->turns[i].alike != PAI__NONE)
      pai__save_row(x, &x->turns[i]);
    else
      pai__save_request(x, x->turns[i].req);
  pai__json_end_array(x->w);
}

/* --- the rest ------------------------------------------------------------- */

/* Writes the decisions that events have made since the last decision. */
static void put_pending(pai__saving *x)
{
  const pai_sched *s = x->s;

  if (s->told >= s->decisions.len)
    return;
  pai__json_put_array(x->w, "decisions");
  for (uint32_t i = s->told; i < s->decisions.len; i++)
    pai__table_put(x->w, &pai__pending_table,
                   (const pai__decision *)s->decisions.data + i);
  pai__json_end_array(x->w);
}

static int put_policy(pai__saving *x, const char *key, const pai__acting *a)
{
  const pai_sched *s = x->s;
  pai__policy_form form = { .name = a->policy->name };
  pai__buf state;
  int rc;

  if (a == &s->shadow)
    form.agreement = s->agreement;
  pai__json_put_object(x->w, key);
  pai__saving_put(x, &pai__policy_table, &form);
  pai__json_member(x->w, "options");
  rc = pai__json_foreign(x->w, &s->alloc, "the options of the policy",
                         a->options, strlen(a->options), x->err);
  pai__buf_init(&state, &s->alloc);
  if (rc == PAI_OK)
    rc = pai__policy_save(a, &state, x->err);
  if (rc == PAI_OK && state.len != 0) {
    pai__json_member(x->w, "state");
    rc = pai__json_foreign(x->w, &s->alloc, "what the policy saved",
                           pai__buf_text(&state), state.len, x->err);
  }
  pai__buf_dispose(&state);
  pai__json_end_object(x->w);
  return rc;
}

static int put_all(pai__saving *x)
{
  const pai_sched *s = x->s;
  int rc;

  pai__json_begin_object(x->w);
  pai__saving_put(
    x, &pai__state_table,
    &(pai__state_form){ .version = PAI__SNAPSHOT_VERSION, .m = s->m });
  if (x->lean)
    pai__save_tables(x);
  pai__json_member(x->w, "cluster");
  pai__json_ready(x->w, s->cluster->text, s->cluster->text_len);
  rc = put_policy(x, "policy", &s->live);
  if (rc == PAI_OK && s->shadow.policy != NULL)
    rc = put_policy(x, "shadow", &s->shadow);
  put_capacities(x);
  if (rc == PAI_OK)
    rc = put_reservations(x);
  put_requests(x);
  put_vc_reasons(x);
  put_pending(x);
  pai__json_end_object(x->w);
  return rc;
}

static int save(const pai_sched *s, bool lean, pai__buf *out, pai_error **err)
{
  pai__json_writer w;
  pai__saving x = { .s = s, .w = &w, .err = err };
  int rc = pai__saving_list(&x, lean);

  pai__json_writer_init(&w, out, false);
  pai__buf_init(&x.list, &s->alloc);
  if (rc == PAI_OK)
    rc = put_all(&x);
  if (rc == PAI_OK && (pai__json_finish(&w) < 0 || !pai__buf_ok(&x.list)))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    pai__buf_char(out, '\n');
  pai__buf_dispose(&x.list);
  pai__saving_end(&x);
  return rc == PAI_OK && !pai__buf_ok(out) ? pai__oom(err) : rc;
}

int pai__save_lean(const pai_sched *s, pai__buf *out, pai_error **err)
{
  return save(s, true, out, err);
}

int pai__save(const pai_sched *s, pai__buf *out, pai_error **err)
{
  return save(s, false, out, err);
}

/* Only numbers come before the first object.  This is "alike" in the lean
 * form, else the cluster. */
static bool is_lean(const char *text, size_t len)
{
  static const char key[] = "\"alike\":";
  const size_t n = sizeof(key) - 1;
  const char *at = len > n ? memchr(text + n, '{', len - n) : NULL;

  return at != NULL && memcmp(at - n, key, n) == 0;
}

int pai__save_like(const pai_sched *s, const char *like, size_t len,
                   pai__buf *out, pai_error **err)
{
  return save(s, is_lean(like, len), out, err);
}

int pai_sched_save(const pai_sched *s, pai_write_cb write, void *user_data,
                   pai_error **err)
{
  pai__buf text;
  int rc;

  PAI__CHECK_ARG_ERR(s != NULL && write != NULL, err);
  if (s->deciding)
    return pai__fail(err, PAI_EBUSY, "a policy cannot save what it decides");
  pai__buf_init(&text, &s->alloc);
  rc = pai__save(s, &text, err);
  if (rc == PAI_OK) {
    rc = write(user_data, pai__buf_text(&text), text.len);
    rc = rc < 0 ? pai__fail(err, rc, "the snapshot could not be written")
                : PAI_OK;
  }
  pai__buf_dispose(&text);
  return rc;
}
