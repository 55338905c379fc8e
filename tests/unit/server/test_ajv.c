/* Findings in the words of Ajv 6, as OpenPAI's server told them. */
#include "cases.h"

#include "server/calls/ajv.h"

#include <openpai/spec.h>

#define HEAD "protocolVersion: 2\nname: a\ntype: job\n"
#define IMAGE "prerequisites: [{name: x, type: dockerimage, uri: x}]\n"
#define ROLE(more)                                                        \
  "taskRoles: {w-: {dockerImage: x, commands: [a], resourcePerInstance: " \
  "{cpu: 1, memoryMB: 1, gpu: 0}" more "}}\n"
#define GOOD_ROLE(more)                                                  \
  "taskRoles: {w: {dockerImage: x, commands: [a], resourcePerInstance: " \
  "{cpu: 1, memoryMB: 1, gpu: 0}" more "}}\n"

static int check(pai__buf *out, const char *text, const pai_alloc *alloc)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_report *report = NULL;
  pai_spec *spec = NULL;
  int rc = pai_spec_check(&report, &spec, text, strlen(text), &o, NULL);

  assert_ok(rc);
  assert_null(spec);
  pai__buf_init(out, alloc);
  rc = pai__ajv_write(out, report);
  pai_report_free(report);
  return rc;
}

TEST(each_keyword)
{
  static const struct {
    const char *text, *wanted;
  } rows[] = {
    { "name: a\ntype: job\n" IMAGE GOOD_ROLE(""),
      "{\"keyword\":\"required\",\"dataPath\":\"\",\"schemaPath\":"
      "\"#/required\",\"params\":{\"missingProperty\":"
      "\"protocolVersion\"},\"message\":\"should have required property "
      "'protocolVersion'\"" },
    { HEAD IMAGE "no: 1\n" GOOD_ROLE(""),
      "\"keyword\":\"additionalProperties\",\"dataPath\":\"\","
      "\"schemaPath\":\"#/additionalProperties\",\"params\":"
      "{\"additionalProperty\":\"no\"},\"message\":\"should NOT have "
      "additional properties\"" },
    { HEAD IMAGE ROLE(""),
      "\"keyword\":\"additionalProperties\",\"dataPath\":"
      "\".taskRoles\",\"schemaPath\":\"#/properties/taskRoles/"
      "additionalProperties\",\"params\":{\"additionalProperty\":"
      "\"w-\"}" },
    { "protocolVersion: 2\nname: a b\ntype: job\n" IMAGE GOOD_ROLE(""),
      "\"keyword\":\"pattern\",\"dataPath\":\".name\",\"schemaPath\":"
      "\"#/properties/name/pattern\",\"params\":{\"pattern\":"
      "\"^[a-zA-Z0-9_-]+$\"},\"message\":\"should match pattern "
      "\\\"^[a-zA-Z0-9_-]+$\\\"\"" },
    { "protocolVersion: 3\nname: a\ntype: job\n" IMAGE GOOD_ROLE(""),
      "\"keyword\":\"enum\",\"dataPath\":\".protocolVersion\","
      "\"schemaPath\":\"#/properties/protocolVersion/enum\",\"params\":"
      "{\"allowedValues\":[2,\"2\"]},\"message\":\"should be equal to "
      "one of the allowed values\"" },
    { HEAD IMAGE GOOD_ROLE(", instances: 0"),
      "\"keyword\":\"minimum\",\"dataPath\":\".taskRoles['w'].instances"
      "\",\"schemaPath\":\"#/properties/taskRoles/patternProperties/"
      "%5E%5Ba-zA-Z_%5D%5Ba-zA-Z0-9_%5D*%24/properties/instances/minimum\","
      "\"params\":{\"comparison\":\">=\",\"limit\":1,\"exclusive\":"
      "false},\"message\":\"should be >= 1\"" },
    { HEAD IMAGE GOOD_ROLE(", instances: [1]"),
      "\"params\":{\"type\":\"integer\"},\"message\":\"should be "
      "integer\"" },
    { HEAD IMAGE GOOD_ROLE(", completion: {minFailedInstances: x}"),
      "\"message\":\"should be integer,null\"" },
    { HEAD IMAGE "taskRoles: []\n", "\"message\":\"should be object\"" },
    { HEAD IMAGE "taskRoles: {}\n",
      "\"keyword\":\"minProperties\",\"dataPath\":\".taskRoles\"" },
    { HEAD "prerequisites: []\n" GOOD_ROLE(""),
      "\"message\":\"should NOT have fewer than 1 items\"" },
    { HEAD "prerequisites: [{name: x, type: data, uri: y}]\n" GOOD_ROLE(""),
      "\"keyword\":\"oneOf\",\"dataPath\":\".prerequisites[0]\","
      "\"schemaPath\":\"#/properties/prerequisites/items/oneOf\"" },
    { HEAD IMAGE GOOD_ROLE(", script: z"),
      "\"keyword\":\"unknown-name\",\"dataPath\":\".taskRoles['w']."
      "script\"" },
    { "", "\"message\":\"should be object\"" },
    { "a: [", "\"line\":" },
  };
  pai__buf out;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_ok(check(&out, rows[i].text, &pai__libc_alloc));
    if (strstr(pai__buf_text(&out), rows[i].wanted) == NULL)
      print_error("want %s\nhave %s\n", rows[i].wanted, pai__buf_text(&out));
    assert_has(pai__buf_text(&out), rows[i].wanted);
    pai__buf_dispose(&out);
  }
}

/* Places that are long, and keys with what JSON pointers escape. */
TEST(odd_places)
{
  pai__buf out;

  assert_ok(
    check(&out, HEAD IMAGE "taskRoles: {\"a/b~c\": 1}\n", &pai__libc_alloc));
  assert_has(pai__buf_text(&out), "{\"additionalProperty\":\"a/b~c\"}");
  pai__buf_dispose(&out);
}

static int write_once(const pai_alloc *alloc, void *user_data)
{
  pai__buf out;
  int rc = check(&out, user_data, alloc);

  pai__buf_dispose(&out);
  return rc;
}

TEST(no_memory)
{
  test_faults(write_once, (void *)(HEAD "no: 1\nprerequisites: [{name: x}]\n"
                                        "taskRoles: {w: 1, v-: 2}\n"));
}
