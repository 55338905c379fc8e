/* allocation_write.c - sets as text and as JSON */
#include "json/writer.h"
#include "resource/allocation.h"

static void add_ports(pai__buf *out, pai__ports p)
{
  for (size_t i = 0; i < p.n; i++)
    pai__bits_write_run(out, i > 0, pai__port_first(p.ranges[i]),
                        pai__port_last(p.ranges[i]));
}

static void add_words(pai__buf *out, const pai_allocation *set,
                      const pai__share *s, unsigned kind)
{
  pai__bits_write_list(out, pai__share_words(set, s, kind), s->words[kind]);
}

/* In the largest unit that it is whole in: "64G". */
static void add_memory(pai__buf *out, uint64_t bytes)
{
  size_t unit = 0;

  for (; unit < 4 && bytes % 1024 == 0; unit++)
    bytes /= 1024;
  pai__buf_printf(out, "%llu%.*s", (unsigned long long)bytes, unit != 0,
                  &"?KMGT"[unit]);
}

static void add_share(pai__buf *out, const pai_allocation *set,
                      const pai__share *s)
{
  pai__buf_str(out, "node ");
  pai__bits_write_run(out, false, s->node, s->node);
  pai__buf_char(out, ':');
  if (s->words[PAI__GPUS] != 0) {
    pai__buf_str(out, " gpu ");
    add_words(out, set, s, PAI__GPUS);
  }
  if (s->words[PAI__CPUS] != 0) {
    pai__buf_str(out, " cpu ");
    add_words(out, set, s, PAI__CPUS);
  }
  if (s->memory != 0) {
    pai__buf_str(out, " mem ");
    add_memory(out, s->memory);
  }
  if (s->ranges != 0) {
    pai__buf_str(out, " port ");
    add_ports(out, pai__share_ports(set, s));
  }
}

/* Hands the text on, which begins anew. */
static int flush(pai__buf *out, pai_write_cb write, void *user_data,
                 pai_error **err)
{
  int rc;

  if (!pai__buf_ok(out))
    return pai__oom(err);
  if (out->len == 0)
    return PAI_OK;
  rc = write(user_data, out->data, out->len);
  pai__buf_clear(out);
  return rc < 0 ? rc : PAI_OK;
}

enum { CHUNK = 16384 };

int pai_allocation_write(const pai_allocation *set, pai_write_cb write,
                         void *user_data, pai_error **err)
{
  int rc = PAI_OK;
  pai__buf out;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(set != NULL && write != NULL, err);
  pai__buf_init(&out, &set->alloc);
  for (size_t i = 0; rc == PAI_OK && i < set->len; i++) {
    if (i > 0)
      pai__buf_str(&out, "; ");
    add_share(&out, set, &set->shares[i]);
    if (out.len >= CHUNK)
      rc = flush(&out, write, user_data, err);
  }
  if (rc == PAI_OK)
    rc = flush(&out, write, user_data, err);
  pai__buf_dispose(&out);
  return rc;
}

/* --- JSON --------------------------------------------------------------- */

static void put_key(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

/* The list that was made, as the value of a key; nothing for an empty one. */
static void put_list(pai__json_writer *w, const char *key, pai__buf *list)
{
  if (!pai__buf_ok(list) || list->len == 0) /* a failure is told at the end */
    return;
  put_key(w, key);
  pai__json_text(w, list->data, list->len);
  pai__buf_cut(list, 0);
}

/* `list` is for the lists in it, one after the other. */
static void put_share(pai__json_writer *w, pai__buf *list,
                      const pai_allocation *set, const pai__share *s)
{
  pai__json_begin_object(w);
  put_key(w, "node");
  pai__json_int(w, s->node);
  add_words(list, set, s, PAI__GPUS);
  put_list(w, "gpu", list);
  add_words(list, set, s, PAI__CPUS);
  put_list(w, "cpu", list);
  if (s->memory != 0) {
    put_key(w, "memory");
    pai__json_int(w, (int64_t)s->memory);
  }
  add_ports(list, pai__share_ports(set, s));
  put_list(w, "port", list);
  pai__json_end_object(w);
}

int pai_allocation_write_json(const pai_allocation *set, pai_write_cb write,
                              void *user_data, pai_error **err)
{
  pai__json_writer w;
  pai__buf out, list;
  int rc = PAI_OK;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(set != NULL && write != NULL, err);
  pai__buf_init(&out, &set->alloc);
  pai__buf_init(&list, &set->alloc);
  pai__json_writer_init(&w, &out, false);
  pai__json_begin_object(&w);
  put_key(&w, "nodes");
  pai__json_begin_array(&w);
  for (size_t i = 0; rc == PAI_OK && i < set->len; i++) {
    put_share(&w, &list, set, &set->shares[i]);
    if (!pai__buf_ok(&list))
      rc = pai__oom(err);
    else if (out.len >= CHUNK)
      rc = flush(&out, write, user_data, err);
  }
  pai__json_end_array(&w);
  pai__json_end_object(&w);
  if (rc == PAI_OK && pai__json_finish(&w) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = flush(&out, write, user_data, err);
  pai__buf_dispose(&list);
  pai__buf_dispose(&out);
  return rc;
}
