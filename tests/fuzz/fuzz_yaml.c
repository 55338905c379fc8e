/* fuzz_yaml.c - the YAML reader, in both modes */
#include "check.h"
#include "yaml/yaml.h"

static void parse(const char *text, size_t size, int mode)
{
  pai__yaml_options opts = { .mode = mode };
  pai_error *err = NULL;
  pai__tree *t;
  int rc = pai__yaml_parse(&t, text, size, &opts, &err);

  if (rc < 0) {
    CHECK(t == NULL);
    check_error(err, rc);
  } else {
    CHECK(err == NULL);
    test_check_tree(t);
    check_round_trips(t, mode);
  }
  pai_error_free(err);
  pai__tree_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size != 0 ? size : 1); /* exact: reading on is seen */

  if (text == NULL)
    return 0;
  if (size != 0)
    memcpy(text, data, size);
  parse(text, size, PAI__YAML_JS);
  parse(text, size, PAI__YAML_CORE);
  free(text);
  return 0;
}
