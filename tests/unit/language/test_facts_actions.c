/* Changes of a file that an editor offers, beyond the fixes of its problems. */
#include "cases.h"
#include "language/cursor.h"

#include <openpai/report.h>
#include <openpai/spec.h>

typedef struct wanted {
  const cursor_text *c;
  const char *title;
  pai__buf out; /* the text after the action */
} wanted;

static int on_action(void *user_data, const pai__language_action *action)
{
  wanted *w = user_data;
  size_t done = 0;

  if (strcmp(action->title, w->title) != 0)
    return PAI_OK;
  for (size_t i = 0; i < action->nedits; i++) {
    pai__buf_add(&w->out, w->c->t.text + done,
                 action->edits[i].span.start - done);
    pai__buf_str(&w->out, action->edits[i].text);
    done = action->edits[i].span.end;
  }
  pai__buf_str(&w->out, w->c->t.text + done);
  return PAI_OK;
}

/* A text, the title of an action at the cursor, and the text after it; "": the
 * action is not offered. */
static const struct acting {
  const char *name, *text, *title, *want;
} actings[] = {
  { "required fields of the job", "name: ^x\ntaskRoles: {}\n",
    "Add 2 required fields",
    "name: x\ntaskRoles: {}\nprotocolVersion: 2\ntype: job\n" },
  { "required fields of a role's resources",
    "taskRoles:\n  w:\n    resourcePerInstance:\n      cpu: ^1\n",
    "Add 2 required fields",
    "taskRoles:\n  w:\n    resourcePerInstance:\n      cpu: 1\n      "
    "memoryMB: "
    "8192\n      gpu: 1\n" },
  { "required fields of an item",
    "prerequisites:\n  - type: ^dockerimage\n    name: i\n",
    "Add 1 required field",
    "prerequisites:\n  - type: dockerimage\n    name: i\n    uri: "
    "python:3-slim\n" },
  { "nothing is missing",
    "taskRoles:\n  w:\n    resourcePerInstance: { cpu: 1, gpu: ^1, memoryMB: "
    "1 }\n",
    "Add 1 required field", "" },
  { "a time limit", "protocolVersion: 2\nna^me: x\n", "Add a time limit",
    "protocolVersion: 2\nname: x\nextras:\n  openpai:\n    timeLimit: 2h\n" },
  { "a time limit beside others",
    "protocolVersion: 2\nextras:\n  openpai:\n    tty: tru^e\n",
    "Add a time limit",
    "protocolVersion: 2\nextras:\n  openpai:\n    tty: true\n    timeLimit: "
    "2h\n" },
  { "there is a time limit",
    "protocolVersion: 2\nextras: { openpai: { timeLimit: ^1 } }\n",
    "Add a time limit", "" },
  { "a password",
    "protocolVersion: 2\nprerequisites:\n  - type: dockerimage\n    auth:\n   "
    "   "
    "password: hun^ter2 # mine\n",
    "Move it to secrets, as 'password'",
    "protocolVersion: 2\nprerequisites:\n  - type: dockerimage\n    auth:\n   "
    "   "
    "password: <% $secrets.password %> # mine\nsecrets:\n  password: "
    "hunter2\n" },
  { "a password, where the name is taken",
    "secrets:\n  password: a\nprotocolVersion: 2\nprerequisites:\n  - type: "
    "dockerimage\n    auth: { password: hun^ter2 }\n",
    "Move it to secrets, as 'password_2'",
    "secrets:\n  password: a\n  password_2: hunter2\nprotocolVersion: 2\n"
    "prerequisites:\n  - type: dockerimage\n    auth: { password: <% "
    "$secrets.password_2 %> }\n" },
  { "a password that is a template",
    "secrets: {x: 1}\nprotocolVersion: 2\nprerequisites:\n  - type: "
    "dockerimage\n    auth: { password: <% $secr^ets.x %> }\n",
    "Move it to secrets, as 'password'", "" },
};

static void check_acting(const void *of)
{
  const struct acting *a = of;
  cursor_text c = cursor_open(a->text, NULL);
  wanted w = { &c, a->title, test_buf() };

  assert_ok(pai__more_actions(&c.t, (pai__span){ c.at, c.at }, on_action, &w));
  assert_string_equal(pai__buf_text(&w.out), a->want);
  pai__buf_dispose(&w.out);
  cursor_close(&c);
}

TEST_TABLE(check_acting, actings);

TEST(v1_becomes_v2)
{
  cursor_text c = cursor_open("// mine\n{ \"jobName\": \"^n\", \"image\": "
                              "\"i\", \"taskRoles\": [ { \"name\": "
                              "\"w\", \"command\": \"ls\" } ] }\n",
                              NULL);
  wanted w = { &c, "Convert to job protocol v2 (YAML, without comments)",
               test_buf() };
  pai_report *report;

  assert_ok(pai__more_actions(&c.t, (pai__span){ c.at, c.at }, on_action, &w));
  assert_has(pai__buf_text(&w.out), "dockerImage: default_image");
  assert_ok(pai_spec_check(&report, NULL, pai__buf_text(&w.out), w.out.len,
                           NULL, NULL));
  assert_int_equal(pai_report_version(report), 2);
  assert_true(pai_report_valid(report));
  pai_report_free(report);
  pai__buf_dispose(&w.out);
  cursor_close(&c);
}

TEST_FAULTS(actions_without_memory)
{
  cursor_text c = cursor_open("protocolVersion: 2\nprerequisites:\n  - type: "
                              "dockerimage\n    auth:\n      "
                              "password: hun^ter2\n",
                              alloc);
  wanted w = { &c, "", test_buf() };
  int rc = pai__more_actions(&c.t, (pai__span){ c.at, c.at }, on_action, &w);

  pai__buf_dispose(&w.out);
  cursor_close(&c);
  return rc;
}
