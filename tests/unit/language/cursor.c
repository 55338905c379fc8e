/* cursor.c - a job file with a cursor, for tests of the facts of a text */
#include "language/cursor.h"

const char cursor_job[] =
  "# A job for tests.\n"
  "# Two lines of comment.\n"
  "protocolVersion: 2\n"
  "name: train\n"
  "type: job\n"
  "prerequisites:\n"
  "  - name: image\n"
  "    type: dockerimage\n"
  "    uri: python:3\n"
  "    auth: { username: me, password: <% $secrets.token %> }\n"
  "  - name: corpus\n"
  "    type: data\n"
  "    uri: [ https://example.org/corpus.tar ]\n"
  "parameters:\n"
  "  lr: 0.1\n"
  "  model: { depth: 4 }\n"
  "secrets:\n"
  "  token: abc123\n"
  "taskRoles:\n"
  "  worker:\n"
  "    instances: 4\n"
  "    dockerImage: image\n"
  "    data: corpus\n"
  "    resourcePerInstance:\n"
  "      cpu: 16\n"
  "      memoryMB: 65536\n"
  "      gpu: 2\n"
  "      ports: { mpi: 1 }\n"
  "    commands:\n"
  "      - train <% $parameters.lr %> <% $secrets.token %>\n"
  "      - echo $PAI_PORT_LIST_worker_0_mpi <% $data.uri[0] %>\n"
  "  ps:\n"
  "    dockerImage: image\n"
  "    resourcePerInstance: { cpu: 0.5, memoryMB: 1000, gpu: 0 }\n"
  "    commands: [ echo $PAI_HOST_IP_worker_1 ]\n"
  "deployments:\n"
  "  - name: quick\n"
  "    taskRoles:\n"
  "      worker: { preCommands: [ echo first ] }\n"
  "defaults:\n"
  "  deployment: quick\n";

cursor_text cursor_open(const char *marked, const pai_alloc *alloc)
{
  cursor_text c = { .at = strcspn(marked, "^") };
  enum pai__language_kind kind;

  assert_true(marked[c.at] == '^');
  c.text = test_buf();
  pai__buf_add(&c.text, marked, c.at);
  pai__buf_str(&c.text, marked + c.at + 1);
  kind = pai__language_detect(NULL, pai__buf_text(&c.text), c.text.len);
  c.t = (pai__language_text){ pai__buf_text(&c.text), c.text.len,
                              kind != PAI__LANGUAGE_OTHER ? kind
                                                          : PAI__LANGUAGE_JOB,
                              alloc != NULL ? alloc : &pai__libc_alloc };
  return c;
}

void cursor_close(cursor_text *c)
{
  pai__buf_dispose(&c->text);
}

const char *cursor_show(const cursor_text *c, pai__span span)
{
  const char *text = c->t.text;

  assert_true(span.start <= span.end && span.end <= c->t.len);
  return test_string("%.*s<%.*s>%s", (int)span.start, text,
                     (int)(span.end - span.start), text + span.start,
                     text + span.end);
}

const char *cursor_part(const cursor_text *c, pai__span span)
{
  assert_true(span.start <= span.end && span.end <= c->t.len);
  return test_string("%.*s", (int)(span.end - span.start),
                     c->t.text + span.start);
}

typedef struct collector {
  const cursor_text *c;
  pai__buf out;
  char last[32];
} collector;

static int on_completion(void *user_data, const pai__completion *p)
{
  collector *all = user_data;
  const cursor_text *c = all->c;

  assert_non_null(p->label);
  assert_non_null(p->insert);
  assert_true(p->replaces.start <= c->at && c->at <= p->replaces.end);
  assert_true(p->replaces.end <= c->t.len);
  assert_null(memchr(c->t.text + p->replaces.start, '\n',
                     p->replaces.end - p->replaces.start));
  assert_true(strlen(p->sort) < sizeof(all->last));
  pai__buf_printf(&all->out, "%s%s", p->required ? "*" : "", p->label);
  if (strcmp(p->label, p->insert) != 0)
    pai__buf_printf(&all->out, " -> %s", p->insert);
  if (p->detail != NULL)
    pai__buf_printf(&all->out, " (%s)", p->detail);
  pai__buf_char(&all->out, '\n');
  return PAI_OK;
}

pai__buf cursor_completions(const cursor_text *c, int *rc)
{
  static const char *const vcs[] = { "default", "vc1", NULL };
  static const char *const skus[] = { "V100", NULL };
  static const char *const storages[] = { "nfs", NULL };
  static const char *const images[] = { "ubuntu:22.04", NULL };
  const pai__cluster_names names = { vcs, skus, storages, images };
  collector all = { .c = c };
  pai_error *err = NULL;

  all.out = test_buf();
  *rc = pai__complete(&c->t, c->at, &names, on_completion, &all, &err);
  assert_true((err == NULL) == (*rc == PAI_OK));
  pai_error_free(err);
  return all.out;
}

/* A line of the completions begins with a label. */
static bool has_label(const char *all, const char *label)
{
  size_t len = strlen(label);

  for (const char *s = all; (s = strstr(s, label)) != NULL; s++)
    if ((s == all || s[-1] == '\n' || s[-1] == '*') &&
        (s[len] == '\n' || strncmp(s + len, " (", 2) == 0 ||
         strncmp(s + len, " -> ", 4) == 0))
      return true;
  return false;
}

void cursor_check_row(const void *of)
{
  const cursor_row *r = of;
  cursor_text c = cursor_open(r->text, NULL);
  int rc;
  pai__buf all = cursor_completions(&c, &rc);

  assert_ok(rc);
  for (size_t i = 0; i < PAI__LEN(r->has) && r->has[i] != NULL; i++)
    assert_has(pai__buf_text(&all), r->has[i]);
  for (size_t i = 0; i < PAI__LEN(r->not ) && r->not [i] != NULL; i++)
    if (has_label(pai__buf_text(&all), r->not [i]))
      fail_msg("'%s' is among\n%s", r->not [i], pai__buf_text(&all));
  pai__buf_dispose(&all);
  cursor_close(&c);
}
