/* fuzz_topology.c - hwloc's synthetic descriptions, and its XML: what begins
 * with < */
#include "check.h"

#include <openpai/topology.h>

/* hwloc loses memory when it refuses XML; what is lost elsewhere is ours. */
PAI_API const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
  return "leak:libhwloc";
}

/* Texts end: a writer that reads beyond its own would be seen. */
static int swallow(void *user_data, const char *bytes, size_t len)
{
  size_t *sum = user_data;

  for (size_t i = 0; i < len; i++)
    *sum += (unsigned char)bytes[i];
  return PAI_OK;
}

static void check_objects(const pai_topology *t, uint32_t n)
{
  pai_topology_object o = { .struct_size = sizeof(o) };

  for (uint32_t i = 0; i < n; i++) {
    CHECK(pai_topology_view_object(t, i, &o) == PAI_OK);
    CHECK(o.end > i && o.end <= n);
    CHECK(i == 0 ? o.parent == PAI_NONE : o.parent < i);
  }
}

static void check_gpus(const pai_topology *t, uint32_t n)
{
  pai_topology_gpu g = { .struct_size = sizeof(g) };
  pai_topology_link link = { .struct_size = sizeof(link) };
  pai_affinity *a;

  for (uint32_t i = 0; i < n; i++) {
    CHECK(pai_topology_view_gpu(t, i, &g) == PAI_OK);
    CHECK(pai_topology_between(t, 0, i, &link) == PAI_OK);
    CHECK((link.closeness == PAI_NEAR_SAME) == (i == 0));
    CHECK(pai_topology_affinity(&a, t, &i, 1, 1, NULL) == PAI_OK);
    CHECK(pai_affinity_get(a)->cores == 1);
    pai_affinity_free(a);
  }
}

static void check(const pai_topology *t)
{
  pai_topology_summary s = { .struct_size = sizeof(s) };
  pai_topology_write_options o = PAI_TOPOLOGY_WRITE_OPTIONS_INIT;
  size_t sum = 0;

  CHECK(pai_topology_summarize(t, &s) == PAI_OK);
  CHECK(s.pus > 0 && s.objects > 0);
  check_objects(t, s.objects);
  check_gpus(t, s.gpus);
  for (o.format = PAI_FORMAT_JSON; o.format <= PAI_FORMAT_SVG; o.format++) {
    int rc = pai_topology_write(t, &o, swallow, &sum, NULL);
    CHECK(rc == PAI_OK || rc == PAI_ELIMIT);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);
  pai_error *err = NULL;
  pai_topology *t;
  int rc;

  if (text == NULL)
    return 0;
  if (size != 0)
    memcpy(text, data, size);
  text[size] = '\0';
  rc = size > 0 && text[0] == '<'
         ? pai_topology_parse_xml(&t, text, size, NULL, &err)
         : pai_topology_synthetic(&t, text, NULL, &err);
  if (rc < 0)
    check_error(err, rc);
  else
    check(t);
  CHECK((rc == PAI_OK) == (t != NULL));
  pai_error_free(err);
  pai_topology_unref(t);
  free(text);
  return 0;
}
