/*
 * What is told of a file never tells its secrets: neither where they belong,
 * nor where somebody has put them by mistake.  Files of which secrets were
 * taken, and what is missing when they are to be run again.
 */
#include "cases.h"
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
  JOB_WITH("secrets: {a: &s " SECRET
           "}\nname2: 1\ndefaults: {deployment: *s}"),
  JOB_HEAD JOB_IMAGE "secrets: {a: &s " SECRET
                     "}\ntaskRoles: {a: {? *s : 1, " ROLE_FIELDS "}}\n",
  JOB_WITH("secrets: {a: *" SECRET "}"),
  /* in a text that can be corrected */
  "extras:\n  password:\xc2\xa0" SECRET "\xc2\xa0z\n  b: 1\n",
  "secrets:\n  a: x\n\tb: " SECRET "\n  c: 1\n",
  JOB_HEAD JOB_IMAGE
  "secrets: {a: &s " SECRET
  "}\ntaskRoles: {a: {dockerImage: *s, commands: *s, " ROLE_SIZES "}}\n",
  /* comments beside it */
  JOB_WITH("x: 1\nsecrets: {a: 1} # " SECRET "\ny: 1"),
  /* as a name */
  JOB_HEAD "secrets: {a: &s " SECRET
           "a}\nprerequisites:\n- {name: *s, type: dockerimage, uri: "
           "x}\ntaskRoles: {a: {dockerImage: hunter1a, " ROLE_SIZES
           ", commands: [c]}}\n",
  JOB_HEAD "secrets: {a: &s " SECRET
           "}\nprerequisites:\n- {name: Hunter, type: dockerimage, uri: "
           "x}\ntaskRoles: {a: {dockerImage: *s, " ROLE_SIZES
           ", commands: [c]}}\n",
  JOB_WITH("secrets: {a: &s " SECRET "}\nparameters: {*s : 1}"),
  JOB_HEAD JOB_IMAGE "secrets: {a: &s " SECRET
                     "_a}\ntaskRoles: {*s : {" ROLE_FIELDS "}}\nx: 1\n",
  JOB_HEAD JOB_IMAGE
  "secrets: {a: &s " SECRET "_a}\ntaskRoles: {*s : {dockerImage: x, commands: "
  "[<% $parameters.p %>], " ROLE_SIZES
  ", completion: {minFailedInstances: 9}}, b: {" ROLE_FIELDS "}}\n",
  JOB_HEAD JOB_IMAGE
  "secrets: {a: &s " SECRET
  "}\ntaskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
  "{cpu: 1, memoryMB: 1, gpu: 0, ports: {*s : 8080}}}}\n",
  JOB_WITH("secrets: {a: &s " SECRET
           "}\ndeployments: [{name: d, taskRoles: {*s : {preCommands: "
           "[c]}}}]\ndefaults: {deployment: d}"),
  /* in what was meant for a mapping */
  "a:\xc2\xa0{password: " SECRET "}\n",
  "'a: {password: " SECRET "}'\n",
  "|\n  password: " SECRET "\n",
  JOB_HEAD "prerequisites:\n- password:\xc2\xa0" SECRET "\n" JOB_ROLES,
};

TEST(nothing_tells_them)
{
  for (size_t i = 0; i < PAI__LEN(hiding); i++) {
    pai_report *report = test_report(hiding[i], strlen(hiding[i]), NULL);
    pai_error *err;
    pai_spec *spec;

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
  { IMAGE_WITH(
      "  auth: {username: u, password: <% $secrets.p %>, registryuri: 1}\n"),
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
TEST(lines_are_shown_without_them)
{
  for (size_t i = 0; i < PAI__LEN(lines); i++) {
    pai_report *report =
      test_report(lines[i].text, strlen(lines[i].text), NULL);
    const pai_diagnostic *d;
    size_t at = 0;

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

static void explain_never_tells(const pai_spec *spec, int format)
{
  pai__buf out = test_buf();

  assert_ok(pai_spec_explain(spec, format, test_collect, &out, NULL));
  look_at(pai__buf_text(&out));
  assert_has(pai__buf_text(&out), "******");
  pai__buf_dispose(&out);
}

TEST(explanations_mask_what_is_a_secret_elsewhere)
{
  static const char *const texts[] = {
    "protocolVersion: 2\nname: &s " SECRET "\ntype: job\n" JOB_IMAGE JOB_ROLES
    "secrets: {a: *s}\n",
    IMAGE_WITH(
      "  auth: {username: u, password: &s " SECRET
      "}\n- {name: y, type: dockerimage, uri: *s}\n") "extras: {storages: "
                                                      "[{name: *s}]}\n",
    JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: &s " SECRET
             "}]\n" JOB_ROLES "secrets: {a: *s}\n",
    JOB_WITH("secrets: {a: &s " SECRET
             "}\nextras: {com.microsoft.pai.runtimeplugin: [{plugin: *s}]}"),
    JOB_WITH("secrets: {a: &s " SECRET
             "}\ndeployments: [{name: *s, taskRoles: {a: {}}}]\ndefaults: "
             "{deployment: *s}"),
  };

  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    pai_spec *spec = test_spec(texts[i], NULL);

    explain_never_tells(spec, PAI_FORMAT_TEXT);
    explain_never_tells(spec, PAI_FORMAT_JSON);
    pai_spec_unref(spec);
  }
}

/* Who may see a script sees them masked; what runs has them. */
TEST(commands_may_be_secrets)
{
  static const char text[] = JOB_HEAD JOB_IMAGE
    "secrets: {a: &s echo " SECRET
    "}\ntaskRoles: {a: {dockerImage: x, " ROLE_SIZES
    ", commands: [one, *s, <% $secrets.a %>]}, b: {" ROLE_FIELDS
    "}}\ndeployments: [{name: d, taskRoles: {b: {preCommands: "
    "[*s]}}}]\ndefaults: {deployment: d}\n";
  pai_spec *spec = test_spec(text, NULL);

  assert_string_equal(pai_spec_role_script(spec, 0),
                      "one\n******\n<% $secrets.a %>");
  assert_string_equal(spec->roles[0].command,
                      "one\necho " SECRET "\necho " SECRET);
  assert_string_equal(pai_spec_role_script(spec, 1), "******\nc");
  assert_string_equal(spec->roles[1].command, "echo " SECRET "\nc");
  pai_spec_unref(spec);
}

/* What JSON cannot say is told with lines of the file. */
TEST(writing_shows_no_comment_beside_them)
{
  pai_spec *spec =
    test_spec(JOB_WITH("secrets: {a: .nan} # old: " SECRET), NULL);
  pai_spec_write_options o = PAI_SPEC_WRITE_OPTIONS_INIT;
  const pai_diagnostic *d;
  pai_report *report;
  pai__buf out = test_buf();

  o.format = PAI_FORMAT_JSON;
  o.secrets = 1;
  o.report = &report;
  assert_ok(pai_spec_write(spec, &o, test_collect, &out, NULL));
  look_at_all(report);
  d = pai_report_get(report, 0);
  assert_string_equal(d->code, "no-json");
  assert_string_equal(d->source, "secrets: ******");
  pai_report_free(report);
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
}

TEST(no_memory_is_survived)
{
  test_spec_faults(hiding[6], NULL);
  test_spec_faults(hiding[26], NULL);
}

#define USES(what)                                                           \
  "taskRoles: {a: {dockerImage: x, " ROLE_SIZES ", commands: ['" what "']}}" \
  "\n"
#define IMAGE_AUTH(auth)                                     \
  JOB_HEAD                                                   \
  "prerequisites:\n- {name: x, type: dockerimage, uri: x}\n" \
  "- name: y\n  type: dockerimage\n  uri: y\n  auth:\n" auth JOB_ROLES

/* --- masked ------------------------------------------------------------------ */

/* A file, and a part of what becomes of it. */
static const struct {
  const char *text, *part;
} masked[] = {
  { JOB_WITH("secrets: {a: " SECRET ", b c: [" SECRET "]} # " SECRET),
    "\nsecrets: {\"a\": \"******\", \"b c\": \"******\"}\n" },
  { JOB_WITH("secrets:\n  a: " SECRET "\n  # was " SECRET
             "0\n  b: |\n    " SECRET "\n    more\nparameters: {x: 1}"),
    "\nsecrets: {\"a\": \"******\", \"b\": \"******\"}\nparameters: {x: "
    "1}\n" },
  { JOB_WITH("secrets: {}"), "\nsecrets: {}\n" },
  { JOB_WITH("# mine\nsecrets: {a: " SECRET "}\n# yours"), "# mine\n" },
  { JOB_WITH("# mine\nsecrets: {a: " SECRET "}\n# yours"), "# yours\n" },
  { IMAGE_AUTH("    username: " SECRET "\n    password: '" SECRET
               "'\n    registryuri: r # r\n"),
    "    username: \"******\"\n    password: \"******\"\n    registryuri: r # "
    "r\n" },
  { IMAGE_AUTH("    password: <% $secrets.p %>\n"),
    "password: <% $secrets.p %>\n" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\", "
    "\"secrets\":{\"a\":\"" SECRET
    "\"}, \"prerequisites\": [{\"name\": \"x\", \"type\": \"dockerimage\", "
    "\"uri\": \"x\"}], \"taskRoles\": {\"a\": {\"dockerImage\": \"x\", "
    "\"resourcePerInstance\": {\"cpu\": 1, \"memoryMB\": 1, \"gpu\": 0}, "
    "\"commands\": [\"c\"]}}}",
    "\"secrets\": {\"a\": \"******\"}, \"prerequisites\"" },
};

TEST(names_stay_and_so_does_the_rest)
{
  for (size_t i = 0; i < PAI__LEN(masked); i++) {
    pai_spec *spec = test_spec(masked[i].text, NULL);
    pai__buf text = test_buf();

    pai__buf_str(&text, "before");
    assert_true(pai__spec_masked_text(&text, spec));
    if (strstr(pai__buf_text(&text), masked[i].part) == NULL ||
        strstr(pai__buf_text(&text), SECRET) != NULL ||
        strncmp(pai__buf_text(&text), "before", 6) != 0)
      fail_msg("%zu: %s", i, pai__buf_text(&text));
    pai_spec_unref(spec);
    pai__buf_dispose(&text);
  }
}

/* Nothing leads into a secret that is not there any more. */
TEST(aliases_into_secrets)
{
  pai_spec *spec = test_spec(
    JOB_WITH("secrets: {a: &s " SECRET "}\nparameters: {b: *s}"), NULL);
  pai__buf text = test_buf();

  assert_false(pai__spec_masked_text(&text, spec));
  assert_true(pai__buf_ok(&text));
  assert_int_equal(text.len, 0);
  pai__buf_dispose(&text);
  pai_spec_unref(spec);
}

/* A text that only larger limits can read is of no use to who reads it next. */
TEST(a_text_can_be_read_again)
{
  static const char text[] = JOB_WITH("parameters: {b: 1}");
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai__buf out = test_buf(), many = test_buf();
  pai_spec *spec;

  spec = test_spec(text, NULL);
  assert_true(pai__spec_masked_text(&out, spec));
  assert_string_equal(pai__buf_text(&out), text);
  pai_spec_unref(spec);

  pai__buf_clear(&out);
  pai__buf_str(&many, text);
  pai__buf_str(&many, "\ndefaults: {virtualCluster: \"");
  while (many.len < PAI__SPEC_MAX_BYTES)
    pai__buf_str(&many, "0123456789abcdef");
  pai__buf_str(&many, "\"}\n");
  o.max_bytes = 2 * many.len;
  assert_ok(pai_spec_parse(&spec, pai__buf_text(&many), many.len, &o, NULL));
  assert_false(pai__spec_masked_text(&out, spec));
  assert_int_equal(out.len, 0);
  pai_spec_unref(spec);
  pai__buf_dispose(&many);
  pai__buf_dispose(&out);
}

/* --- missing ------------------------------------------------------------------- */

/* A file, and what it lacks; ? before what is not even masked. */
static const struct {
  const char *text, *list;
} missing[] = {
  { JOB_WITH("secrets: {a: 1, b: x}"), "" },
  { JOB_WITH("secrets: {a: '******', b: x, 'c/d~': '******'}"),
    "/secrets/a /secrets/c~1d~0 " },
  { JOB_WITH("secrets: {a: '*****', b: ['******']}"), "" },
  { JOB_HEAD JOB_IMAGE USES("<% $secrets.a %> <% $secrets.b %> <% $secrets.b "
                            "%> <% $parameters.c %>") "secrets: {a: 1}\n",
    "?/secrets/b " },
  { JOB_HEAD JOB_IMAGE USES("<% $secrets.a %>") "secrets: {a: '******'}\n",
    "/secrets/a " },
  { JOB_HEAD JOB_IMAGE USES("<% $secrets.a.b[0] %> <% $secrets.d[1] %>"),
    "?/secrets/a ?/secrets/d " },
  { JOB_HEAD JOB_IMAGE USES("<% $secrets %> <% $secretss.a %>"), "" },
  { IMAGE_AUTH("    username: '******'\n    password: <% $secrets.p %>\n    "
               "registryuri: '<% $secrets.r %>'\n"),
    "/prerequisites/1/auth/username ?/secrets/p ?/secrets/r " },
};

static void list(pai__buf *out, const pai_spec *spec)
{
  const char *pointer;
  int is_masked;

  for (size_t i = 0;
       (pointer = pai_spec_missing_secret(spec, i, &is_masked)) != NULL; i++) {
    assert_string_equal(pointer, pai_spec_missing_secret(spec, i, NULL));
    pai__buf_printf(out, "%s%s ", is_masked ? "" : "?", pointer);
  }
  assert_int_equal(is_masked, 0);
}

TEST(what_is_missing)
{
  for (size_t i = 0; i < PAI__LEN(missing); i++) {
    pai_spec *spec = test_spec(missing[i].text, NULL);
    pai__buf text = test_buf();

    list(&text, spec);
    if (strcmp(pai__buf_text(&text), missing[i].list) != 0)
      fail_msg("%zu: %s", i, pai__buf_text(&text));
    pai__buf_dispose(&text);
    pai_spec_unref(spec);
  }
}

/* A copy that anybody may see lacks what the job needs. */
TEST(what_a_masked_copy_lacks)
{
  pai_spec *spec = test_spec(
    JOB_HEAD JOB_IMAGE USES("<% $secrets.a %>") "secrets: {a: x, b: y}\n",
    NULL);
  pai_spec *copy;
  int is_masked;

  assert_ok(pai_spec_masked(&copy, spec, NULL));
  assert_string_equal(pai_spec_missing_secret(copy, 0, &is_masked),
                      "/secrets/a");
  assert_int_equal(is_masked, 1);
  assert_null(pai_spec_missing_secret(copy, 1, NULL));
  pai_spec_unref(copy);
  pai_spec_unref(spec);
}

static int mask_once(const pai_spec *spec)
{
  int rc = PAI_OK;
  pai__buf out;

  pai__buf_init(&out, &spec->alloc);
  if (!pai__spec_masked_text(&out, spec))
    rc = PAI_ENOMEM; /* this one can be masked */
  else
    assert_null(strstr(pai__buf_text(&out), SECRET));
  pai__buf_dispose(&out);
  return rc;
}

TEST(masks_survive_failing_memory)
{
  test_spec_faults(masked[1].text, mask_once);
  test_spec_faults(masked[5].text, mask_once);
  test_spec_faults(missing[7].text, mask_once);
}
