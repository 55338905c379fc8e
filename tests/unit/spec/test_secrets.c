/*
 * What is told of a file never tells its secrets: neither where they belong,
 * nor where somebody has put them by mistake.
 */
#include "spec/found.h"

#include "base/buf.h"
#include "spec/spec.h"

#define SECRET "hunter2"
#define IMAGE_WITH(fields)                                    \
  JOB_HEAD "prerequisites:\n- name: x\n  type: dockerimage\n" \
           "  uri: x\n" fields JOB_ROLES

static void look_at(const char *s)
{
  if (s != NULL && strstr(s, SECRET) != NULL)
    fail_msg("told: %s", s);
}

static void look_at_all(const pai_report *report)
{
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++) {
    look_at(d->message);
    look_at(d->help);
    look_at(d->pointer);
    look_at(d->source);
    for (size_t k = 0; k < d->fix_count; k++) {
      look_at(d->fixes[k]->title);
      for (size_t n = 0; n < d->fixes[k]->edit_count; n++)
        look_at(d->fixes[k]->edits[n]->text);
    }
  }
}

/* In files with something to tell of. */
static const char *const hiding[] = {
  /* where it belongs */
  JOB_WITH("x: 1\nsecrets: " SECRET),
  JOB_WITH("secrets: {a: " SECRET "}\nx: 1"),
  JOB_WITH("secrets: {a: " SECRET "}\nx: 1\n"),
  JOB_WITH("x: {y: 1, \"secrets\": {\"a\": \"" SECRET "\"}}"),
  IMAGE_WITH("  auth: {user: 1, password: " SECRET "}\n  x: 1\n"),
  IMAGE_WITH("  auth: " SECRET "\n"),
  /* nearly */
  IMAGE_WITH("  auth:\n  username: " SECRET "\n  password: " SECRET "\n"),
  IMAGE_WITH("  auth:\n  usename: " SECRET "\n  pasword: " SECRET "\n"),
  IMAGE_WITH("  atuh: {password: " SECRET "}\n"),
  IMAGE_WITH("  Auth: {password: " SECRET "}\n"),
  IMAGE_WITH("  auht: " SECRET "\n"),
  IMAGE_WITH("  auth: {pasword: " SECRET "}\n"),
  JOB_HEAD "prerequisites: {name: x, auth: {password: " SECRET
           "}}\n" JOB_ROLES,
  JOB_HEAD "prerequisites: {name: x, type: dockerimage, passwd: " SECRET
           "}\n" JOB_ROLES,
  JOB_WITH("secret: {a: " SECRET "}"),
  JOB_WITH("Secrets: {a: " SECRET "}"),
  JOB_WITH("secerts: " SECRET),
  JOB_WITH("my_secrets: {token: " SECRET "}"),
  /* in another place */
  ROLE_WITH("secrets: " SECRET),
  ROLE_WITH("secrets: {a: " SECRET "}"),
  ROLE_WITH("token: " SECRET),
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a: {" ROLE_FIELDS
                     "}\n  secrets:\n    tok: " SECRET "\n",
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a: {" ROLE_FIELDS "}\n  secrets: " SECRET
                     "\n",
  JOB_WITH("defaults: {deployment: {password: " SECRET "}}"),
  "{\"jobName\": \"a\", \"image\": 1, \"jobEnvs\": {\"PASSWORD\": \"" SECRET
  "\"}}",
  /* through aliases */
  JOB_WITH("secrets: {a: &s " SECRET "}\n*s : 1"),
  JOB_WITH("secrets: {a: &s " SECRET "}\nx: *s"),
  JOB_WITH("secrets: {a: &s " SECRET "}\nname2: 1\ndefaults: {deployment: "
           "*s}"),
  JOB_HEAD JOB_IMAGE "secrets: {a: &s " SECRET
                     "}\ntaskRoles: {a: {? *s : 1, " ROLE_FIELDS "}}\n",
  JOB_WITH("secrets: {a: *" SECRET "}"),
  /* in a text that can be corrected */
  "extras:\n  password:\xc2\xa0" SECRET "\xc2\xa0z\n  b: 1\n",
  "secrets:\n  a: x\n\tb: " SECRET "\n  c: 1\n",
  JOB_HEAD JOB_IMAGE "secrets: {a: &s " SECRET "}\ntaskRoles: {a: {"
                     "dockerImage: *s, commands: *s, " ROLE_SIZES "}}\n",
  /* comments beside it */
  JOB_WITH("x: 1\nsecrets: {a: 1} # " SECRET "\ny: 1"),
  /* as a name */
  JOB_HEAD "secrets: {a: &s " SECRET
           "a}\nprerequisites:\n- {name: *s, type: dockerimage, uri: x}\n"
           "taskRoles: {a: {dockerImage: hunter1a, " ROLE_SIZES
           ", commands: [c]}}\n",
  JOB_HEAD "secrets: {a: &s " SECRET
           "}\nprerequisites:\n- {name: Hunter, type: dockerimage, uri: x}\n"
           "taskRoles: {a: {dockerImage: *s, " ROLE_SIZES
           ", commands: [c]}}\n",
  JOB_WITH("secrets: {a: &s " SECRET "}\nparameters: {*s : 1}"),
  JOB_HEAD JOB_IMAGE "secrets: {a: &s " SECRET
                     "_a}\ntaskRoles: {*s : {" ROLE_FIELDS "}}\nx: 1\n",
  JOB_HEAD JOB_IMAGE
  "secrets: {a: &s " SECRET "_a}\ntaskRoles: {*s : {dockerImage: x, "
  "commands: [<% $parameters.p %>], " ROLE_SIZES
  ", completion: {minFailedInstances: 9}}, b: {" ROLE_FIELDS "}}\n",
  JOB_HEAD JOB_IMAGE
  "secrets: {a: &s " SECRET
  "}\ntaskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
  "{cpu: 1, memoryMB: 1, gpu: 0, ports: {*s : 8080}}}}\n",
  JOB_WITH("secrets: {a: &s " SECRET "}\ndeployments: [{name: d, taskRoles: "
           "{*s : {preCommands: [c]}}}]\ndefaults: {deployment: d}"),
  /* in what was meant for a mapping */
  "a:\xc2\xa0{password: " SECRET "}\n",
  "'a: {password: " SECRET "}'\n",
  "|\n  password: " SECRET "\n",
  JOB_HEAD "prerequisites:\n- password:\xc2\xa0" SECRET "\n" JOB_ROLES,
};

static void nothing_tells_them(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(hiding); i++) {
    pai_report *report;
    pai_error *err;
    pai_spec *spec;

    assert_int_equal(
      pai_spec_check(&report, NULL, hiding[i], strlen(hiding[i]), NULL, NULL),
      PAI_OK);
    if (pai_report_count(report) == 0)
      fail_msg("nothing to tell of:\n%s", hiding[i]);
    look_at_all(report);
    pai_report_free(report);
    if (pai_spec_parse(&spec, hiding[i], strlen(hiding[i]), NULL, &err) < 0) {
      look_at(pai_error_message(err));
      look_at(pai_error_help(err));
      look_at(pai_error_pointer(err));
    }
    pai_error_free(err);
    pai_spec_unref(spec);
  }
}

/* A line with a finding, and how it is shown, with marks below it. */
typedef struct shown {
  const char *text, *source, *marks;
} shown;

static const shown lines[] = {
  /* as long as six stars, whatever it is; the marks stand right */
  { IMAGE_WITH("  auth: {x: 1, password: p, registryuri: r}\n"),
    "  auth: {x: ******, password: ******, registryuri: r}",
    "            ^~~~~~" },
  { IMAGE_WITH("  auth: {password: a-very-long-password, registryuri: 1}\n"),
    "  auth: {password: ******, registryuri: 1}",
    "                                        ^" },
  { JOB_WITH("secrets: {a: b, c: d}\n\nextra1: {secrets: {}, x: 1}"),
    "extra1: {secrets: ******, x: 1}", "^~~~~~" },
  /* comments that belong to them, and no others */
  { JOB_WITH("secrets: x # y"), "secrets: ******", "         ^~~~~~" },
  { ROLE_WITH("token: # old\n      - new # newer\n      # oldest\n    x: 1"),
    "    token: ******", "    ^~~~~" },
  { ROLE_WITH("x: 1 # not\n    token: y"), "    x: 1 # not", "    ^" },
  { ROLE_WITH("token: y\n    # above x\n    x: 1 # of x"), "    token: ******",
    "    ^~~~~" },
  /* what has such a name and is none */
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  auth: {" ROLE_FIELDS ", x: 1}\n",
    "...ePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}, commands: [c], x: 1}",
    NULL },
  { IMAGE_WITH("  auth: {username: u, password: <% $secrets.p %>, "
               "registryuri: 1}\n"),
    "...uth: {username: ******, password: <% $secrets.p %>, registryuri: 1}",
    NULL },
  { JOB_WITH("extras: {tokenizer: t, authors: me, path: p}\nx: 1"), "x: 1",
    "^" },
  { JOB_WITH("x: {tokenizer: t, authors: me, path: p}"),
    "x: {tokenizer: t, authors: me, path: p}", "^" },
};

static void check_marks(const pai_diagnostic *d, const char *marks)
{
  size_t first = strspn(marks, " ");

  assert_int_equal(d->source_column, first + 1);
  assert_int_equal(d->source_end_column, strlen(marks) + 1);
}

/* The first error that shows it, but for a heading. */
static void lines_are_shown_without_them(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(lines); i++) {
    pai_report *report;
    const pai_diagnostic *d;
    size_t at = 0;

    assert_int_equal(pai_spec_check(&report, NULL, lines[i].text,
                                    strlen(lines[i].text), NULL, NULL),
                     PAI_OK);
    d = pai_report_get(report, 0);
    while (d != NULL &&
           (d->source == NULL || d->severity != PAI_SEVERITY_ERROR ||
            strcmp(d->code, "bad-item") == 0 ||
            strcmp(d->source, lines[i].source) != 0))
      d = pai_report_get(report, ++at);
    if (d == NULL)
      fail_msg("%s\nnot shown: %s\nbut: %s", lines[i].text, lines[i].source,
               pai_report_count(report) > 0
                 ? pai_report_get(report, pai_report_count(report) - 1)->source
                 : "(nothing)");
    if (lines[i].marks != NULL)
      check_marks(d, lines[i].marks);
    pai_report_free(report);
  }
}

/* --- files that are right -------------------------------------------------- */

static int gather(void *user_data, const char *data, size_t len)
{
  pai__buf_add(user_data, data, len);
  return PAI_OK;
}

static void explain_never_tells(const pai_spec *spec, int format)
{
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(pai_spec_explain(spec, format, gather, &out, NULL), PAI_OK);
  look_at(pai__buf_text(&out));
  assert_non_null(strstr(pai__buf_text(&out), "******"));
  pai__buf_dispose(&out);
}

static void explanations_mask_what_is_a_secret_elsewhere(void **state)
{
  static const char *const texts[] = {
    "protocolVersion: 2\nname: &s " SECRET "\ntype: job\n" JOB_IMAGE JOB_ROLES
    "secrets: {a: *s}\n",
    IMAGE_WITH(
      "  auth: {username: u, password: &s " SECRET "}\n"
      "- {name: y, type: dockerimage, uri: *s}\n") "extras: {storages: "
                                                   "[{name: *s}]}\n",
    JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: &s " SECRET
             "}]\n" JOB_ROLES "secrets: {a: *s}\n",
    JOB_WITH("secrets: {a: &s " SECRET
             "}\nextras: {com.microsoft.pai.runtimeplugin: [{plugin: *s}]}"),
    JOB_WITH("secrets: {a: &s " SECRET
             "}\ndeployments: [{name: *s, taskRoles: "
             "{a: {}}}]\ndefaults: {deployment: *s}"),
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    pai_spec *spec = test_spec(texts[i], NULL);

    explain_never_tells(spec, PAI_FORMAT_TEXT);
    explain_never_tells(spec, PAI_FORMAT_JSON);
    pai_spec_unref(spec);
  }
}

/* Who may see a script sees them masked; what runs has them. */
static void commands_may_be_secrets(void **state)
{
  static const char text[] = JOB_HEAD JOB_IMAGE
    "secrets: {a: &s echo " SECRET "}\n"
    "taskRoles: {a: {dockerImage: x, " ROLE_SIZES
    ", commands: [one, *s, <% $secrets.a %>]}, b: {" ROLE_FIELDS "}}\n"
    "deployments: [{name: d, taskRoles: {b: {preCommands: [*s]}}}]\n"
    "defaults: {deployment: d}\n";
  pai_spec *spec = test_spec(text, NULL);

  (void)state;
  assert_string_equal(pai_spec_role_script(spec, 0),
                      "one\n******\n<% $secrets.a %>");
  assert_string_equal(spec->roles[0].command,
                      "one\necho " SECRET "\necho " SECRET);
  assert_string_equal(pai_spec_role_script(spec, 1), "******\nc");
  assert_string_equal(spec->roles[1].command, "echo " SECRET "\nc");
  pai_spec_unref(spec);
}

/* What version 1 cannot say is told with lines of the file. */
static void conversions_show_no_comment_beside_them(void **state)
{
  pai_spec *spec = test_spec(
    JOB_WITH("secrets:\n  # old: " SECRET "\n  tok: a # " SECRET), NULL);
  pai_spec_write_options o = PAI_SPEC_WRITE_OPTIONS_INIT;
  const pai_diagnostic *d;
  pai_report *report;
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  o.version = 1;
  o.report = &report;
  assert_int_equal(pai_spec_write(spec, &o, gather, &out, NULL), PAI_OK);
  look_at(pai__buf_text(&out));
  look_at_all(report);
  d = pai_report_get(report, pai_report_count(report) - 1);
  assert_string_equal(d->code, "secrets");
  assert_string_equal(d->source, "  ******");
  pai_report_free(report);
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
}

static int check_once(const pai_alloc *alloc, void *user_data)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  const char *text = user_data;
  pai_report *report;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_check(&report, NULL, text, strlen(text), &o, NULL);
  if (rc == PAI_OK)
    look_at_all(report);
  pai_report_free(report);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(check_once, (void *)(uintptr_t)hiding[6]);
  test_faults(check_once, (void *)(uintptr_t)hiding[26]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_tells_them),
    cmocka_unit_test(lines_are_shown_without_them),
    cmocka_unit_test(explanations_mask_what_is_a_secret_elsewhere),
    cmocka_unit_test(commands_may_be_secrets),
    cmocka_unit_test(conversions_show_no_comment_beside_them),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
