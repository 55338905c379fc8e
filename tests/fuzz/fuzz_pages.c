/*
 * fuzz_pages.c - a list that Kubernetes' API server gives page by page
 *
 * Pages with a NUL between them, each as the watch hands them on: joined they
 * have the objects of all, but for who manages which fields, and are one list;
 * what leads to the next page is a value of a query.  What comes of it is read
 * as nodes, as the platform does.
 */
#include "check.h"

#include "backend/kubernetes/pages.h"
#include "json/json.h"

#include <openpai/cluster.h>

static const char safe[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.~%"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static pai__tree *parse(const char *json, size_t len)
{
  pai__json_options options = { .flags = PAI__JSON_DUPLICATES };
  pai__tree *t;

  return pai__json_parse(&t, json, len, &options, NULL) == PAI_OK ? t : NULL;
}

static size_t count_items(const pai__tree *t)
{
  pai__node items = pai__tree_type(t, 0) == PAI__MAPPING
                      ? pai__tree_get(t, 0, "items")
                      : PAI__NO_NODE;

  return items != PAI__NO_NODE && pai__tree_type(t, items) == PAI__SEQUENCE
           ? pai__tree_count(t, items)
           : 0;
}

static void read_nodes(const char *json, size_t len)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_report *report = NULL;
  pai_cluster *c = NULL;

  opts.form = "kubernetes";
  CHECK(pai_cluster_check(&report, &c, json, len, &opts, NULL) == PAI_OK);
  CHECK(pai_report_valid(report) == (c != NULL));
  pai_report_free(report);
  pai_cluster_free(c);
}

static void check_all(const pai__kube_pages *p, size_t count)
{
  pai__tree *t = parse(pai__buf_text(&p->all), p->all.len);

  CHECK(t != NULL && count_items(t) == count);
  CHECK(strcmp(pai__tree_str(t, pai__tree_get(t, 0, "kind"), NULL),
               "NodeList") == 0);
  pai__tree_free(t);
  read_nodes(pai__buf_text(&p->all), p->all.len);
}

/* One page.  False: it leads to no other, or is none. */
static bool add(pai__kube_pages *p, const char *json, size_t len,
                size_t *count)
{
  bool first = pai__kube_pages_next(p) == NULL;
  pai__tree *t = parse(json, len);
  const char *next;
  int rc;

  if (t == NULL || pai__tree_type(t, 0) != PAI__MAPPING) {
    pai__tree_free(t);
    return false;
  }
  rc = pai__kube_pages_add(p, t, json, "NodeList", "7");
  *count += count_items(t);
  pai__tree_free(t);
  CHECK(rc == PAI_OK || rc == PAI_EINVAL);
  next = pai__kube_pages_next(p);
  CHECK(next == NULL || strspn(next, safe) == strlen(next));
  if (rc == PAI_OK && next == NULL) {
    CHECK((p->all.len == 0) == first);
    if (first)
      read_nodes(json, len);
    else
      check_all(p, *count);
  }
  return rc == PAI_OK && next != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *at = (const char *)data, *end = at + size;
  pai__kube_pages p;
  size_t count = 0;

  pai__kube_pages_init(&p, &pai__libc_alloc);
  while (at < end) {
    const char *nul = memchr(at, '\0', (size_t)(end - at));
    size_t len = (size_t)((nul != NULL ? nul : end) - at);
    char *copy = malloc(len + 1); /* with an end, as the watch has it */

    CHECK(copy != NULL);
    memcpy(copy, at, len);
    copy[len] = '\0';
    if (!add(&p, copy, len, &count)) { /* the list begins anew */
      pai__kube_pages_clear(&p);
      CHECK(pai__kube_pages_next(&p) == NULL && p.all.len == 0);
      count = 0;
    }
    free(copy);
    at += len + 1;
  }
  pai__kube_pages_clear(&p);
  return 0;
}
