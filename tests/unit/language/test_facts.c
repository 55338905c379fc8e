/*
 * What an editor shows of a file beside completions and hover texts: language,
 * outline, names, structure, tokens, links, lenses, hints.
 */
#include "cases.h"
#include "language/cursor.h"

#include <openpai/spec.h>

static cursor_text whole(const char *text)
{
  return cursor_open(test_string("%s^", text), NULL);
}

/* The job of all tests, with the cursor in front of the n-th occurrence of a
 * text. */
static cursor_text job_at(const char *text, int nth)
{
  const char *at = strstr(cursor_job, text);

  for (; nth > 1; nth--)
    at = strstr(at + 1, text);
  return cursor_open(
    test_string("%.*s^%s", (int)(at - cursor_job), cursor_job, at), NULL);
}

/* --- language ---------------------------------------------------------------- */

typedef struct language {
  const char *name, *path, *text;
  enum pai__language_kind kind;
} language;

static const language languages[] = {
  { "v2", NULL, "# c\nprotocolVersion: 2\n", PAI__LANGUAGE_JOB },
  { "v2 as JSON", NULL, "{\"name\": {}, \"taskRoles\": 1}",
    PAI__LANGUAGE_JOB },
  { "v1", NULL, "// c\n{ \"jobName\": \"x\" }", PAI__LANGUAGE_JOB },
  { "broken", NULL, "name: [\ntaskRoles:\n", PAI__LANGUAGE_JOB },
  { "by name", "a/x.pai.yaml", "", PAI__LANGUAGE_JOB },
  { "by URI", "file:///x.pai.jsonc", "{", PAI__LANGUAGE_JOB },
  { "HiveD", NULL, "physicalCluster:\n  x: 1\n", PAI__LANGUAGE_HIVED },
  { "cluster", NULL, "skus: {}\nnodes: []\n", PAI__LANGUAGE_CLUSTER },
  { "cluster by name", "/x/pai_cluster_a.json", "{}", PAI__LANGUAGE_CLUSTER },
  { "deeper keys do not count", "x.yaml", "a:\n  taskRoles: 1\n",
    PAI__LANGUAGE_OTHER },
  { "brackets before it", NULL, "x: { a: { b: 1 } }\nnodes: []\n",
    PAI__LANGUAGE_CLUSTER },
  { "nor does a value", NULL, "a: taskRoles\n", PAI__LANGUAGE_OTHER },
  { "content before name", "x.pai.yaml", "nodes: []\n",
    PAI__LANGUAGE_CLUSTER },
  { "empty", "x.yaml", "", PAI__LANGUAGE_OTHER },
};

static void check_language(const void *of)
{
  const language *l = of;

  assert_int_equal(pai__language_detect(l->path, l->text, strlen(l->text)),
                   l->kind);
}

TEST_TABLE(check_language, languages);

/* --- outline ------------------------------------------------------------------ */

typedef struct lines {
  const cursor_text *c;
  pai__buf out;
} lines;

static int on_item(void *user_data, const pai__outline_item *item)
{
  lines *l = user_data;

  pai__buf_printf(&l->out, "%*s%s", (int)(2 * item->depth), "", item->name);
  if (item->detail != NULL)
    pai__buf_printf(&l->out, " (%s)", item->detail);
  if (item->kind != PAI__OUTLINE_FIELD && item->kind != PAI__OUTLINE_SECTION)
    pai__buf_printf(&l->out, " #%d", item->kind);
  pai__buf_char(&l->out, '\n');
  assert_string_equal(cursor_part(l->c, item->at), item->name);
  return PAI_OK;
}

TEST(outline_of_a_job)
{
  static const char want[] =
    "protocolVersion (2)\nname (train) #1\ntype (job)\n"
    "prerequisites\n  image (dockerimage) #3\n    auth\n"
    "  corpus (data) #3\n    uri\n"
    "parameters\n  lr (0.1) #4\n  model #4\n"
    "secrets (******)\n  token (******) #5\n"
    "taskRoles\n  worker (4 tasks, 8 GPUs, 64 CPUs, 256 GiB) #2\n"
    "    resourcePerInstance\n      ports\n        mpi (1) #7\n"
    "    commands\n"
    "  ps (1 task, 0.5 CPUs, 1000 MiB) #2\n    resourcePerInstance\n"
    "    commands\n"
    "deployments\n  quick #6\n    taskRoles\n      worker\n"
    "        preCommands\n"
    "defaults\n";
  cursor_text c = whole(cursor_job);
  lines l = { &c, test_buf() };

  assert_ok(pai__outline(&c.t, on_item, &l));
  assert_string_equal(pai__buf_text(&l.out), want);
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

TEST(outline_of_a_cluster)
{
  cursor_text c =
    whole("nodes:\n  - name: n1\n    sku: x\nskus: { x: { gpu: 1 } }\n");
  lines l = { &c, test_buf() };

  c.t.kind = PAI__LANGUAGE_CLUSTER;
  assert_ok(pai__outline(&c.t, on_item, &l));
  assert_string_equal(pai__buf_text(&l.out), "nodes\n  n1\nskus\n  x\n");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

/* --- names --------------------------------------------------------------------- */

static int on_reference(void *user_data, const pai__reference *r)
{
  lines *l = user_data;
  pai__pos pos = { 1, 1 };

  for (size_t i = 0; i < r->span.start; i++)
    pos.line += l->c->t.text[i] == '\n';
  pai__buf_printf(&l->out, "%s%u:%s", l->out.len > 0 ? " " : "",
                  (unsigned)pos.line, cursor_part(l->c, r->span));
  if (r->is_declaration)
    pai__buf_char(&l->out, '!');
  assert_true(r->is_write || !r->is_declaration);
  return PAI_OK;
}

/* The name in front of which the cursor is, its occurrences with their lines,
 * and ! for the declaration. */
static const struct named {
  const char *name, *at;
  int nth;
  const char *want;
} names[] = {
  { "a role by its key", "worker:", 1,
    "20:worker! 31:worker 35:worker 39:worker" },
  { "a role by a variable", "worker_1", 1,
    "20:worker! 31:worker 35:worker 39:worker" },
  { "a role in a deployment", "worker:", 2,
    "20:worker! 31:worker 35:worker 39:worker" },
  { "a prerequisite", "image\n", 1, "7:image! 22:image 33:image" },
  { "a prerequisite by its use", "image\n", 4, "7:image! 22:image 33:image" },
  { "data", "corpus\n", 2, "11:corpus! 23:corpus" },
  { "a parameter", "lr: 0.1", 1, "15:lr! 30:lr" },
  { "a parameter by its use", "lr %>", 1, "15:lr! 30:lr" },
  { "a secret", "token:", 1, "10:token 18:token! 30:token" },
  { "a port label", "mpi: 1", 1, "28:mpi! 31:mpi" },
  { "a port label by a variable", "mpi <%", 1, "28:mpi! 31:mpi" },
  { "a deployment", "quick\n", 2, "37:quick! 41:quick" },
  { "no name", "echo first", 1, "" },
  { "no name in a comment", "A job for", 1, "" },
};

static void check_names(const void *of)
{
  const struct named *n = of;
  cursor_text c = job_at(n->at, n->nth);
  lines l = { &c, test_buf() };

  assert_ok(pai__references(&c.t, c.at, on_reference, &l));
  assert_string_equal(pai__buf_text(&l.out), n->want);
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

TEST_TABLE(check_names, names);

TEST(names_of_v1)
{
  cursor_text c =
    cursor_open("{\"jobName\": \"n\", \"taskRoles\": [\n{\"name\": \"^w\", "
                "\"command\": \"ls "
                "$PAI_HOST_IP_w_0 $PAI_PORT_LIST_w_0_x\",\n\"portList\": "
                "[{\"label\": \"x\"}]}]}",
                NULL);
  lines l = { &c, test_buf() };

  assert_ok(pai__references(&c.t, c.at, on_reference, &l));
  assert_string_equal(pai__buf_text(&l.out), "2:w! 2:w 2:w");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

/* Plugins fill in texts of which no table knows. */
TEST(names_in_any_text)
{
  cursor_text c = cursor_open(
    "parameters: { ^x: 1 }\nprerequisites:\n- type: script\n  name: s\n  "
    "plugin: com.microsoft.pai.runtimeplugin.cmd\n  callbacks: [ { commands: "
    "[ "
    "'a <% $parameters.x %>' ] } ]\nextras:\n  mine: { y: '<% $parameters.x "
    "%>' }\n  openpai: { environment: { X: '<% $parameters.x %>' } }\n",
    NULL);
  lines l = { &c, test_buf() };

  assert_ok(pai__references(&c.t, c.at, on_reference, &l));
  assert_string_equal(pai__buf_text(&l.out), "1:x! 6:x 8:x 9:x");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

TEST(secret_of_a_variable)
{
  cursor_text c = cursor_open(
    "secrets: { ^x: 1 }\nextras: { openpai: { environment: { X: { secret: x } "
    "} } }\nprotocolVersion: 2\n",
    NULL);
  lines l = { &c, test_buf() };

  assert_ok(pai__references(&c.t, c.at, on_reference, &l));
  assert_string_equal(pai__buf_text(&l.out), "1:x! 2:x");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

static const struct renaming {
  const char *name, *at, *to;
  int code;
  const char *says;
} renamings[] = {
  { "a role", "worker:", "trainer", PAI_OK, NULL },
  { "the same name", "worker:", "worker", PAI_OK, NULL },
  { "only asked", "worker:", NULL, PAI_OK, NULL },
  { "not a name", "worker:", "a-b", PAI_EINVAL, "not a name of a task role" },
  { "empty", "worker:", "", PAI_EINVAL, "letters, digits" },
  { "taken", "worker:", "ps", PAI_EEXISTS, "there is a task role 'ps'" },
  { "another type's name is free", "corpus\n", "image", PAI_OK, NULL },
  { "a parameter with a dot", "lr: ", "a.b", PAI_EINVAL, "a.b" },
  { "nothing", "echo first", "x", PAI_ENOTFOUND, "nothing here" },
};

static void check_renaming(const void *of)
{
  const struct renaming *r = of;
  cursor_text c = job_at(r->at, 1);
  pai_error *err;
  pai__span name;

  if (r->code == PAI_OK) {
    assert_ok(pai__can_rename(&c.t, c.at, r->to, &name, &err));
    assert_int_equal(name.start, c.at);
  } else {
    assert_fails(pai__can_rename(&c.t, c.at, r->to, &name, &err), err, r->code,
                 r->says);
  }
  cursor_close(&c);
}

TEST_TABLE(check_renaming, renamings);

/* A role under a new name everywhere: the job means the same. */
typedef struct replacer {
  const cursor_text *c;
  const char *to;
  size_t done;
  pai__buf out;
} replacer;

static int on_use(void *user_data, const pai__reference *r)
{
  replacer *p = user_data;

  pai__buf_add(&p->out, p->c->t.text + p->done, r->span.start - p->done);
  pai__buf_str(&p->out, p->to);
  p->done = r->span.end;
  return PAI_OK;
}

TEST(renamed_job_is_the_same_job)
{
  cursor_text c = job_at("worker:", 1);
  replacer p = { &c, "other", 0, test_buf() };
  pai_spec *spec;

  assert_ok(pai__references(&c.t, c.at, on_use, &p));
  pai__buf_str(&p.out, c.t.text + p.done);
  assert_null(strstr(pai__buf_text(&p.out), "worker"));
  assert_ok(
    pai_spec_parse(&spec, pai__buf_text(&p.out), p.out.len, NULL, NULL));
  assert_string_equal(pai_spec_role_name(spec, 0), "other");
  assert_null(pai_spec_unresolved(spec, 0) != NULL &&
                  strstr(pai_spec_unresolved(spec, 0), "$secrets") == NULL
                ? "unresolved"
                : NULL);
  pai_spec_unref(spec);
  pai__buf_dispose(&p.out);
  cursor_close(&c);
}

/* --- structure ------------------------------------------------------------------- */

static int on_fold(void *user_data, pai__span span,
                   enum pai__folding_kind kind)
{
  lines *l = user_data;
  unsigned from = 1, to = 1;

  for (size_t i = 0; i < span.end; i++) {
    from += i < span.start && l->c->t.text[i] == '\n';
    to += l->c->t.text[i] == '\n';
  }
  assert_true(from < to);
  pai__buf_printf(&l->out, "%s%u-%u ", kind == PAI__FOLDING_COMMENT ? "#" : "",
                  from, to);
  return PAI_OK;
}

TEST(folds)
{
  cursor_text c =
    whole("# a\n# b\ntaskRoles:\n  w:\n    commands:\n    - |\n      x\n"
          "      y\n    - z\n\nextras: {}\n");
  lines l = { &c, test_buf() };

  assert_ok(pai__folding(&c.t, on_fold, &l));
  assert_string_equal(pai__buf_text(&l.out), "3-9 4-9 5-9 #1-2 ");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

static int on_selection(void *user_data, pai__span span)
{
  lines *l = user_data;

  pai__buf_printf(&l->out, "[%s]\n", cursor_part(l->c, span));
  return PAI_OK;
}

TEST(selections_grow)
{
  cursor_text c = cursor_open("a: 1\nw:\n  - ls -l^a b\n", NULL);
  lines l = { &c, test_buf() };

  assert_ok(pai__selection(&c.t, c.at, on_selection, &l));
  assert_string_equal(
    pai__buf_text(&l.out),
    "[-la]\n[ls -la b]\n[- ls -la b]\n[w:\n  - ls -la b]\n"
    "[a: 1\nw:\n  - ls -la b]\n[a: 1\nw:\n  - ls -la b\n]\n");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

/* --- tokens ------------------------------------------------------------------------ */

static int on_token(void *user_data, pai__span span, enum pai__token_type type,
                    unsigned modifiers)
{
  static const char letters[] = "mnpvct";
  lines *l = user_data;

  pai__buf_printf(&l->out, "%c%s%s ", letters[type],
                  modifiers != 0 ? test_string("%u", modifiers) : "",
                  test_string(":%s", cursor_part(l->c, span)));
  return PAI_OK;
}

TEST(tokens_of_templates_and_names)
{
  cursor_text c = whole(
    "parameters: { lr: 1 }\nprerequisites: [ { name: i, type: dockerimage } "
    "]\n"
    "taskRoles:\n  w:\n    dockerImage: i\n    commands:\n"
    "    - a <% $parameters.lr %> <%$secrets.x%> $PAI_TASK_INDEX ${PAI_NO}\n");
  lines l = { &c, test_buf() };

  assert_ok(pai__tokens(&c.t, on_token, &l));
  assert_string_equal(pai__buf_text(&l.out),
                      "t1:i c1:w t:i m:<% n:$parameters p:lr m:%> m:<% "
                      "n:$secrets p4:x m:%> v2:PAI_TASK_INDEX v4:PAI_NO ");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

/* --- links, lenses, hints ------------------------------------------------------------ */

static int on_link(void *user_data, pai__span span, const char *target)
{
  lines *l = user_data;

  assert_string_equal(cursor_part(l->c, span), target);
  pai__buf_printf(&l->out, "%s\n", target);
  return PAI_OK;
}

TEST(links_in_texts)
{
  cursor_text c =
    whole("description: see https://a.example/x?y=1, and (http://b.example).\n"
          "secrets: { a: https://secret.example }\n"
          "taskRoles: { w: { commands: [ 'get "
          "https://c.example/$PAI_TASK_INDEX' ] } }\n");
  lines l = { &c, test_buf() };

  assert_ok(pai__links(&c.t, on_link, &l));
  assert_string_equal(pai__buf_text(&l.out),
                      "https://a.example/x?y=1\nhttp://b.example\n");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

static int on_lens(void *user_data, pai__span span, const char *title,
                   enum pai__lens_command command)
{
  lines *l = user_data;

  pai__buf_printf(&l->out, "%s:%s:%d ", cursor_part(l->c, span), title,
                  command);
  return PAI_OK;
}

TEST(lenses_at_the_name)
{
  cursor_text c = whole(cursor_job), none = whole("taskRoles:\n  w: 1\n");
  lines l = { &c, test_buf() };

  assert_ok(pai__lenses(&c.t, on_lens, &l));
  assert_string_equal(pai__buf_text(&l.out),
                      "train:Submit:0 train:Run here:1 train:Explain:2 ");
  pai__buf_clear(&l.out);
  l.c = &none;
  assert_ok(pai__lenses(&none.t, on_lens, &l));
  assert_has(pai__buf_text(&l.out), "taskRoles::Submit:0 ");
  pai__buf_dispose(&l.out);
  cursor_close(&none);
  cursor_close(&c);
}

static int on_hint(void *user_data, size_t at, const char *text)
{
  lines *l = user_data;
  size_t start = at;

  assert_true(l->c->t.text[at] == '\n');
  while (start > 0 && l->c->t.text[start - 1] != '\n')
    start--;
  pai__buf_printf(&l->out, "%s | %s\n",
                  cursor_part(l->c, (pai__span){ start, at }), text);
  return PAI_OK;
}

TEST(hints_of_sums)
{
  cursor_text c = whole(cursor_job);
  lines l = { &c, test_buf() };

  assert_ok(pai__hints(&c.t, on_hint, &l));
  assert_string_equal(
    pai__buf_text(&l.out),
    "  worker: | 8 GPUs, 64 CPUs, 256 GiB in all\n"
    "name: train | 5 tasks: 8 GPUs, 64.5 CPUs, 263144 MiB in all\n");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

/* --- memory and callbacks ------------------------------------------------------------------ */

static int enough(void *user_data, pai__span span)
{
  (void)span;
  return ++*(int *)user_data == 2 ? 77 : PAI_OK;
}

TEST(callbacks_end_the_call)
{
  cursor_text c = job_at("worker", 1);
  int calls = 0;

  assert_int_equal(pai__selection(&c.t, c.at, enough, &calls), 77);
  assert_int_equal(calls, 2);
  cursor_close(&c);
}

TEST_FAULTS(renaming_without_memory)
{
  cursor_text c = job_at("worker:", 1);
  pai__span name;
  pai_error *err = NULL;
  int rc;

  c.t.alloc = alloc;
  rc = pai__can_rename(&c.t, c.at, "other", &name, &err);
  pai_error_free(err);
  cursor_close(&c);
  return rc;
}
