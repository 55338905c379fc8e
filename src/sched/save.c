/* save.c - the state of a scheduler as one line of JSON */
#include "sched/saving.h"

#include "sched/event_form.h"
#include "sched/place_form.h"
#include "sched/policy.h"
#include "sched/sched.h"

#include "resource/bits.h"

/* --- what is refused ------------------------------------------------------ */

/* Those that hold until the next decision. */
static void put_rules(pai__saving *x)
{
  const pai_sched *s = x->s;
  bool begun = false;

  for (uint32_t i = 0; i < s->rules.len; i++) {
    const pai__rule *rule = (const pai__rule *)s->rules.data + i;

    if (rule->made != s->m.decided)
      continue;
    if (!begun) {
      pai__form_put_key(x->w, "refused");
      pai__json_begin_array(x->w);
    }
    begun = true;
    pai__json_begin_object(x->w);
    pai__saving_put(x, &pai__rule_table,
                    &(pai__rule_form){ .vc = s->park->tenants[i / 2].name,
                                       .lazy = rule->lazy,
                                       .behind = rule->behind,
                                       .first = (int64_t)rule->first,
                                       .last = (int64_t)rule->last });
    pai__json_end_object(x->w);
  }
  if (begun)
    pai__json_end_array(x->w);
}

/* --- nodes ---------------------------------------------------------------- */

static void put_room(pai__saving *x, uint32_t i)
{
  const pai_sched *s = x->s;
  const pai__room *room = pai__room_at(s, i);
  bool moved = room->next_port != s->m.next_port;

  pai__json_begin_object(x->w);
  pai__saving_put(
    x, &pai__room_table,
    &(pai__room_form){ .name = s->park->spots[i].name,
                       .why = pai__saving_text(x, room->why),
                       .state = room->state,
                       .next_port = moved ? room->next_port : 0 });
  if (room->sick != 0)
    pai__mask_put(x->w, "sick", room->sick);
  if (room->lost.len != 0)
    pai__ports_put(x->w, "lost", pai__pool_at(&s->pool, room->lost.at),
                   room->lost.len);
  pai__json_end_object(x->w);
}

/* Those of which there is something to say. */
static void put_rooms(pai__saving *x)
{
  bool begun = false;

  for (uint32_t i = 0; i < x->s->rooms.len; i++) {
    const pai__room *room = pai__room_at(x->s, i);

    if (room->state == PAI_NODE_UP && room->why == PAI__NONE &&
        room->sick == 0 && room->lost.len == 0 &&
        room->next_port == x->s->m.next_port)
      continue;
    if (!begun) {
      pai__form_put_key(x->w, "nodes");
      pai__json_begin_array(x->w);
    }
    begun = true;
    put_room(x, i);
  }
  if (begun)
    pai__json_end_array(x->w);
}

static int put_kept(pai__saving *x, const pai__kept *k)
{
  const pai_sched *s = x->s;
  size_t most = s->rooms.len != 0 ? s->rooms.len : 1;
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
  for (uint32_t i = 0; i < s->rooms.len; i++)
    if (pai__bits_has(pai__pool_at(&s->pool, k->nodes), k->words, i))
      names[r.nnodes++] = s->park->spots[i].name;
  r.nodes = names;
  pai__reservation_put(x->w, &r);
  pai__free(&s->alloc, names, most * sizeof(*names));
  return PAI_OK;
}

static int put_reservations(pai__saving *x)
{
  int rc = PAI_OK;

  if (x->s->kept.len == 0)
    return PAI_OK;
  pai__form_put_key(x->w, "reservations");
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < x->s->kept.len && rc == PAI_OK; i++)
    rc = put_kept(x, (const pai__kept *)x->s->kept.data + i);
  pai__json_end_array(x->w);
  return rc;
}

/* --- requests ------------------------------------------------------------- */

static void put_requests(pai__saving *x)
{
  if (x->nturns == 0)
    return;
  pai__form_put_key(x->w, "requests");
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < x->nturns; i++)
    if (x->turns[i].alike != PAI__NONE)
      pai__save_row(x, &x->turns[i]);
    else
      pai__save_request(x, x->turns[i].req);
  pai__json_end_array(x->w);
}

/* --- the rest ------------------------------------------------------------- */

/* Decisions that events have made, and that were not told yet. */
static void put_pending(pai__saving *x)
{
  const pai_sched *s = x->s;

  if (s->told >= s->decisions.len)
    return;
  pai__form_put_key(x->w, "decisions");
  pai__json_begin_array(x->w);
  for (uint32_t i = s->told; i < s->decisions.len; i++) {
    const pai__decision *d = (const pai__decision *)s->decisions.data + i;

    pai__json_begin_object(x->w);
    pai__saving_put(x, &pai__pending_table,
                    &(pai__pending_form){ .id = d->id,
                                          .by = d->by,
                                          .instance = d->instance,
                                          .want = d->want,
                                          .tasks = d->tasks,
                                          .kind = d->kind,
                                          .cause = d->cause });
    pai__json_end_object(x->w);
  }
  pai__json_end_array(x->w);
}

static int put_policy(pai__saving *x, const char *key, bool shadow)
{
  const pai_sched *s = x->s;
  const char *options = shadow ? s->shadow_options : s->policy_options;
  pai__policy_form form = { .name = s->policy->name };
  pai__buf state;
  int rc;

  if (shadow)
    form = (pai__policy_form){ .name = s->shadow->name,
                               .live = (int64_t)s->shadow_live,
                               .decisions = (int64_t)s->shadow_decisions,
                               .agreed = (int64_t)s->shadow_agreed,
                               .failed = (int64_t)s->shadow_failed };
  pai__form_put_key(x->w, key);
  pai__json_begin_object(x->w);
  pai__saving_put(x, &pai__policy_table, &form);
  pai__form_put_key(x->w, "options");
  rc = pai__json_foreign(x->w, &s->alloc, "the options of the policy", options,
                         strlen(options), x->err);
  pai__buf_init(&state, &s->alloc);
  if (rc == PAI_OK)
    rc = pai__policy_save(s, shadow, &state, x->err);
  if (rc == PAI_OK && state.len != 0) {
    pai__form_put_key(x->w, "state");
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
  pai__saving_put(x, &pai__state_table,
                  &(pai__state_form){ .version = PAI__SNAPSHOT_VERSION,
                                      .time = s->m.now,
                                      .events = (int64_t)s->m.events,
                                      .turns = (int64_t)s->m.turns,
                                      .orders = (int64_t)s->m.orders,
                                      .next_limit = s->m.next_limit,
                                      .first_port = s->m.first_port,
                                      .last_port = s->m.last_port,
                                      .next_port = s->m.next_port,
                                      .unchecked = s->m.unchecked });
  if (x->lean)
    pai__save_tables(x);
  pai__form_put_key(x->w, "cluster");
  pai__json_ready(x->w, s->park->text, s->park->text_len);
  rc = put_policy(x, "policy", false);
  if (rc == PAI_OK && s->shadow != NULL)
    rc = put_policy(x, "shadow", true);
  put_rooms(x);
  if (rc == PAI_OK)
    rc = put_reservations(x);
  put_requests(x);
  put_rules(x);
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

/* Only numbers stand before the first object in it, which is what is alike, or
 * the cluster. */
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

  if (err != NULL)
    *err = NULL;
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
