/* fuzz_json.c - the JSON reader; the first byte chooses its options */
#include "check.h"
#include "json/json.h"
#include "yaml/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pai__json_options opts = { .flags = 0 };
  pai_error *err = NULL;
  pai__tree *t;
  char *text;
  int rc;

  if (size == 0)
    return 0;
  opts.flags = data[0] == '#'
                 ? PAI__JSON_COMMENTS | PAI__JSON_DUPLICATES | PAI__JSON_COMMAS
                 : 0;
  if (opts.flags != 0) {
    data++;
    size--;
  }
  text = malloc(size != 0 ? size : 1); /* exact: reading on is seen */
  if (text == NULL)
    return 0;
  memcpy(text, data, size);
  rc = pai__json_parse(&t, text, size, &opts, &err);
  free(text);
  if (rc < 0) {
    CHECK(t == NULL);
    check_error(err, rc);
  } else {
    CHECK(err == NULL);
    test_check_tree(t);
    check_round_trips(t, PAI__YAML_CORE);
  }
  pai_error_free(err);
  pai__tree_free(t);
  return 0;
}
