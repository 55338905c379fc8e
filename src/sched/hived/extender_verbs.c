/* extender_verbs.c - filter, bind and preempt: what is asked, and the answers */
#include "json/json.h"
#include "sched/hived/extender.h"

enum { MOST_SENT = 64 << 10 }; /* bytes that an error repeats */

/* --- what is asked -------------------------------------------------------- */

/* Errors of what is asked begin so. */
static int misread(pai_hived_extender *e, const char *args, const char *why)
{
  pai__buf_printf(&e->why, "Failed to unmarshal web request body to %s: %s",
                  args, why);
  return PAI_EINVAL;
}

/* As Go says it, where that is what is known. */
static const char *words_of(const pai_error *err, size_t len)
{
  const char *message = pai_error_message(err);

  if (len == 0)
    return "EOF";
  if (strstr(message, "not the end of the text") != NULL ||
      strstr(message, "has no end") != NULL)
    return "unexpected EOF";
  return message;
}

static int read_args(pai_hived_extender *e, const char *args, const char *body,
                     size_t len, pai__ext_read *r)
{
  pai__json_options opts = { .flags = PAI__JSON_DUPLICATES };
  pai_error *err;
  int rc;

  opts.alloc = &e->alloc;
  rc = pai__json_parse(&e->tree, body, len, &opts, &err);
  if (rc == PAI_ENOMEM) {
    pai_error_free(err);
    return rc;
  }
  if (rc < 0) {
    rc = misread(e, args, words_of(err, len));
    pai_error_free(err);
    return rc;
  }
  *r = (pai__ext_read){ .t = e->tree };
  if (pai__tree_type(e->tree, 0) != PAI__MAPPING &&
      pai__tree_type(e->tree, 0) != PAI__NULL)
    return misread(e, args, "it is no object");
  return PAI_OK;
}

/* After the fields were read. */
static int check_args(pai_hived_extender *e, const char *args,
                      const pai__ext_read *r)
{
  pai__buf why;
  int rc;

  if (r->wrong == NULL)
    return PAI_OK;
  pai__buf_init(&why, &e->alloc);
  pai__buf_printf(&why, "field %s %s", r->wrong, pai__ext_wrong(r));
  rc = misread(e, args, pai__buf_text(&why));
  if (!pai__buf_ok(&why))
    rc = PAI_ENOMEM;
  pai__buf_dispose(&why);
  return rc;
}

/* The texts of a list, or the keys of a map. */
static int read_names(pai_hived_extender *e, pai__ext_read *r, pai__node list,
                      const char *const **out, size_t *n)
{
  size_t most = list != PAI__NO_NODE ? pai__tree_count(r->t, list) : 0;
  const char **names = pai__arena_zalloc(&e->arena, most + 1, sizeof(*names));
  pai__tree_walk walk;
  pai__node item;

  *n = 0;
  *out = names;
  if (names == NULL)
    return PAI_ENOMEM;
  if (list == PAI__NO_NODE)
    return PAI_OK;
  walk = pai__tree_iter(r->t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__tree_type(r->t, item) == PAI__STRING)
      names[(*n)++] = pai__tree_str(r->t, item, NULL);
    else if (r->wrong == NULL)
      r->wrong = "NodeNames";
  return PAI_OK;
}

/* A field as it was sent, for an error that repeats it; not what is long. */
static void put_sent(pai_hived_extender *e, const pai__ext_read *r,
                     const char *key, const char *otherwise)
{
  pai__node v = pai__ext_field(r, 0, key);
  const pai__tree_node *n = v != PAI__NO_NODE ? pai__tree_at(r->t, v) : NULL;
  pai__json_writer w;

  pai__buf_printf(&e->why, ",\"%s\":", key);
  if (n == NULL || n->end - n->start > MOST_SENT) {
    pai__buf_str(&e->why, otherwise);
    return;
  }
  pai__json_writer_init(&w, &e->why, false);
  pai__json_ready(&w, r->t->text + n->start, n->end - n->start);
  if (pai__json_finish(&w) < 0)
    e->why.failed = true;
}

/* --- errors with the name of the pod -------------------------------------- */

void pai__ext_put_key(pai__buf *out, const char *uid, const char *ns,
                      const char *name)
{
  pai__buf_printf(out, "%s(%s/%s)", uid, ns, name);
}

/* What a routine says is wrong, with whom it is wrong before it. */
static int name_error(pai_hived_extender *e, const char *routine,
                      const char *uid, const char *ns, const char *name)
{
  char *text = pai__buf_take(&e->why);

  if (text == NULL)
    return PAI_ENOMEM;
  pai__buf_char(&e->why, '[');
  pai__ext_put_key(&e->why, uid, ns, name);
  pai__buf_printf(&e->why, "]: %sRoutine: Failed: %s", routine, text);
  pai__strfree(&e->alloc, text);
  return pai__buf_ok(&e->why) ? PAI_OK : PAI_ENOMEM;
}

static bool is_told(int rc)
{
  return rc == PAI_EINVAL || rc == PAI_EINTERNAL;
}

/* --- of a pod, and nodes for it ------------------------------------------- */

/* What is asked so: the names of its fields in HiveD. */
typedef struct verb {
  const char *routine, *args;
  const char *other; /* field that is not looked at */
  const char *list;  /* field with the nodes */
  int type;
  const char *none; /* that field, where it is not sent */
} verb;

typedef struct asked {
  pai__ext_view pod;
  const char *const *names;
  size_t nnames;
} pod_asked;

static int read_asked(pai_hived_extender *e, const verb *v, const char *body,
                      size_t len, pod_asked *a)
{
  pai__ext_read r;
  pai__node pod;
  int rc = read_args(e, v->args, body, len, &r);

  if (rc < 0)
    return rc;
  pod = pai__ext_get(&r, 0, "Pod", PAI__MAPPING);
  rc = read_names(e, &r, pai__ext_get(&r, 0, v->list, v->type), &a->names,
                  &a->nnames);
  if (pod != PAI__NO_NODE)
    pai__ext_read_pod(&r, pod, &a->pod);
  if (rc == PAI_OK)
    rc = check_args(e, v->args, &r);
  if (rc < 0 || pod != PAI__NO_NODE)
    return rc;
  pai__buf_printf(&e->why, "%s: Pod field should not be nil: {\"Pod\":null",
                  v->args);
  put_sent(e, &r, v->other, "null");
  put_sent(e, &r, v->list, v->none);
  pai__buf_char(&e->why, '}');
  return PAI_EINVAL;
}

/* What came of it; an error says of which pod. */
static int tell_whom(pai_hived_extender *e, const verb *v,
                     const pai__ext_view *pod, int rc)
{
  return is_told(rc) &&
             name_error(e, v->routine, pod->uid, pod->ns, pod->name) < 0
           ? PAI_ENOMEM
           : rc;
}

/* --- answers -------------------------------------------------------------- */

/* The text of an error, in an answer that is one all the same. */
static void put_error(pai_hived_extender *e, int rc, pai__json_writer *w)
{
  pai__buf text;

  pai__ext_key(w, "Error");
  pai__buf_init(&text, &e->alloc);
  if (rc < 0)
    pai__buf_printf(&text, "Code: %d, Message: hivedscheduler: %s Error: %s",
                    rc == PAI_EINVAL ? 400 : 500,
                    rc == PAI_EINVAL ? "User" : "Platform",
                    pai__buf_text(&e->why));
  pai__json_text(w, pai__buf_text(&text), text.len);
  if (!pai__buf_ok(&text))
    e->body.failed = true;
  pai__buf_dispose(&text);
}

/* --- filter --------------------------------------------------------------- */

static void put_victims(const pai__ext_choice *c, pai__buf *out)
{
  pai__buf_printf(out, "node(%s) has preemptible Pods: ", c->node);
  for (uint32_t i = 0; i < c->nvictims; i++) {
    const pai__ext_pod *p = c->victims[i];

    if (i > 0)
      pai__buf_str(out, ", ");
    pai__ext_put_key(out, p->uid, p->ns, p->name);
  }
}

static void put_failed(pai_hived_extender *e, const pai__ext_choice *c,
                       pai__json_writer *w)
{
  pai__buf text;

  pai__buf_init(&text, &e->alloc);
  pai__json_begin_object(w);
  if (c->kind == PAI__HIVED_WAIT)
    pai__buf_printf(&text,
                    "Pod is waiting for preemptible or free resource to "
                    "appear: %s",
                    pai__buf_text(&e->why));
  else
    put_victims(c, &text);
  pai__ext_key(w, c->kind == PAI__HIVED_WAIT ? "hivedscheduler" : c->node);
  pai__json_text(w, pai__buf_text(&text), text.len);
  pai__json_end_object(w);
  if (!pai__buf_ok(&text))
    e->body.failed = true;
  pai__buf_dispose(&text);
}

static int put_filter(pai_hived_extender *e, int asked,
                      const pai__ext_choice *c)
{
  pai__json_writer w;

  pai__json_writer_init(&w, &e->body, false);
  pai__json_begin_object(&w);
  pai__ext_key(&w, "Nodes");
  pai__json_null(&w);
  pai__ext_key(&w, "NodeNames");
  if (asked == PAI_OK && c->kind == PAI__HIVED_BIND) {
    pai__json_begin_array(&w);
    pai__ext_put(&w, c->node);
    pai__json_end_array(&w);
  } else {
    pai__json_null(&w);
  }
  pai__ext_key(&w, "FailedNodes");
  if (asked == PAI_OK &&
      (c->kind == PAI__HIVED_WAIT || c->kind == PAI__HIVED_PREEMPT))
    put_failed(e, c, &w);
  else
    pai__json_null(&w);
  put_error(e, asked, &w);
  pai__json_end_object(&w);
  return pai__json_finish(&w);
}

static int filter(pai_hived_extender *e, const char *body, size_t len,
                  pai__ext_choice *c)
{
  static const verb filter = { "filter",    "ExtenderArgs", "Nodes",
                               "NodeNames", PAI__SEQUENCE,  "[]" };
  pod_asked a;
  int rc = read_asked(e, &filter, body, len, &a);

  return rc == PAI_OK
           ? tell_whom(e, &filter, &a.pod,
                       pai__ext_filter(e, &a.pod, a.names, a.nnames, c))
           : rc;
}

int pai__ext_on_filter(pai_hived_extender *e, const char *body, size_t len)
{
  pai__ext_choice c = { .kind = PAI__HIVED_REFUSE };
  int rc = filter(e, body, len, &c);

  if (rc < 0 && !is_told(rc))
    return rc;
  if (rc == PAI_OK && c.kind == PAI__HIVED_WAIT)
    e->answer.hold_ms = e->hold_ms;
  return put_filter(e, rc, &c);
}

/* --- bind ----------------------------------------------------------------- */

static int put_bind(pai_hived_extender *e, int asked)
{
  pai__json_writer w;

  pai__json_writer_init(&w, &e->body, false);
  pai__json_begin_object(&w);
  put_error(e, asked, &w);
  pai__json_end_object(&w);
  return pai__json_finish(&w);
}

/* Two texts after each other, in the form of the fields of an object. */
static void put_field(pai_hived_extender *e, const char *before,
                      const char *key, const char *s)
{
  pai__json_writer w;

  pai__buf_printf(&e->why, "%s\"%s\":", before, key);
  pai__json_writer_init(&w, &e->why, false);
  pai__ext_put(&w, s);
  if (pai__json_finish(&w) < 0)
    e->why.failed = true;
}

static int bind(pai_hived_extender *e, const char *body, size_t len)
{
  static const char args[] = "ExtenderBindingArgs";
  const char *name, *ns, *uid, *node;
  pai__ext_read r;
  int rc = read_args(e, args, body, len, &r);

  if (rc < 0)
    return rc;
  name = pai__ext_text(&r, 0, "PodName");
  ns = pai__ext_text(&r, 0, "PodNamespace");
  uid = pai__ext_text(&r, 0, "PodUID");
  node = pai__ext_text(&r, 0, "Node");
  rc = check_args(e, args, &r);
  if (rc < 0)
    return rc;
  if (*name == '\0' || *ns == '\0' || *uid == '\0' || *node == '\0') {
    pai__buf_printf(&e->why, "%s: All fields should not be empty: ", args);
    put_field(e, "{", "PodName", name);
    put_field(e, ",", "PodNamespace", ns);
    put_field(e, ",", "PodUID", uid);
    put_field(e, ",", "Node", node);
    pai__buf_char(&e->why, '}');
    return PAI_EINVAL;
  }
  rc = pai__ext_bind(e, uid, node);
  if (is_told(rc) && name_error(e, "bind", uid, ns, name) < 0)
    return PAI_ENOMEM;
  return rc;
}

int pai__ext_on_bind(pai_hived_extender *e, const char *body, size_t len)
{
  int rc = bind(e, body, len);

  return rc < 0 && !is_told(rc) ? rc : put_bind(e, rc);
}

int pai__ext_put_unbound(pai_hived_extender *e, const char *uid,
                         const char *why)
{
  const pai__ext_pod *p = pai__ext_find(e, uid);
  int rc;

  pai__buf_printf(&e->why, "Failed to bind Pod: %s", why);
  rc = name_error(e, "bind", uid, p != NULL ? p->ns : "",
                  p != NULL ? p->name : "");
  return rc < 0 ? rc : put_bind(e, PAI_EINTERNAL);
}

/* --- preempt -------------------------------------------------------------- */

static int put_preempt(pai_hived_extender *e, const pai__ext_choice *c)
{
  pai__json_writer w;

  pai__json_writer_init(&w, &e->body, false);
  pai__json_begin_object(&w);
  pai__ext_key(&w, "NodeNameToMetaVictims");
  if (c->kind != PAI__HIVED_PREEMPT) {
    pai__json_null(&w);
  } else {
    pai__json_begin_object(&w);
    pai__ext_key(&w, c->node);
    pai__json_begin_object(&w);
    pai__ext_key(&w, "Pods");
    pai__json_begin_array(&w);
    for (uint32_t i = 0; i < c->nvictims; i++) {
      pai__json_begin_object(&w);
      pai__ext_pair(&w, "UID", c->victims[i]->uid);
      pai__json_end_object(&w);
    }
    pai__json_end_array(&w);
    pai__ext_key(&w, "NumPDBViolations");
    pai__json_int(&w, 0);
    pai__json_end_object(&w);
    pai__json_end_object(&w);
  }
  pai__json_end_object(&w);
  return pai__json_finish(&w);
}

int pai__ext_on_preempt(pai_hived_extender *e, const char *body, size_t len)
{
  static const verb preempt = { "preempt",           "ExtenderPreemptionArgs",
                                "NodeNameToVictims", "NodeNameToMetaVictims",
                                PAI__MAPPING,        "{}" };
  pai__ext_choice c = { .kind = PAI__HIVED_WAIT };
  pod_asked a;
  int rc = read_asked(e, &preempt, body, len, &a);

  if (rc == PAI_OK)
    rc = tell_whom(e, &preempt, &a.pod,
                   pai__ext_preempt(e, &a.pod, a.names, a.nnames, &c));
  return rc < 0 ? rc : put_preempt(e, &c);
}
