/* fake_vcs.c - virtual clusters and nodes of the platform that is played: what
 * was asked for is in `submitted`; there is "research", and the node "box" */
#include "fake.h"

#include <openpai/vc.h>

#include <stdio.h>

static int say(pai_platform *p, pai_write_cb write, void *user_data,
               const char *text, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  return fake_write(write, user_data, text);
}

static int find(const char *name, const char *one, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  return name == NULL || strcmp(name, one) == 0
           ? PAI_OK
           : pai__fail(err, PAI_ENOTFOUND, "there is no %s", name);
}

int pai_platform_write_vcs(pai_platform *p, const char *name,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  int rc = find(name, "research", err);

  return rc < 0 ? rc
                : say(p, write, user_data,
                      name != NULL     ? "{\"capacity\":25}"
                      : p->vcs != NULL ? p->vcs
                                       : "{\"default\":{},\"research\":{}}",
                      err);
}

int pai_platform_write_vc_nodes(pai_platform *p, pai_write_cb write,
                                void *user_data, pai_error **err)
{
  return say(p, write, user_data, "{\"box\":{\"gpuUsed\":1}}", err);
}

int pai_platform_write_skus(pai_platform *p, const char *name,
                            pai_write_cb write, void *user_data,
                            pai_error **err)
{
  int rc = find(name, "research", err);

  return rc < 0 ? rc : say(p, write, user_data, "{\"gpu\":{}}", err);
}

int pai_platform_put_vc(pai_platform *p, const char *name,
                        const pai_vc_options *o, pai_error **err)
{
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  (void)snprintf(p->submitted, sizeof(p->submitted), "%s %u %u %s %s", name,
                 o->capacity, o->max_capacity,
                 o->description != NULL ? o->description : "-",
                 o->external_name != NULL ? o->external_name : "-");
  return PAI_OK;
}

int pai_platform_stop_vc(pai_platform *p, const char *name, int stopped,
                         pai_error **err)
{
  int rc = find(name, "research", err);

  (void)snprintf(p->submitted, sizeof(p->submitted), "%s %d", name, stopped);
  return rc;
}

int pai_platform_remove_vc(pai_platform *p, const char *name, pai_error **err)
{
  int rc = find(name, "research", err);

  if (rc == PAI_OK && p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  (void)snprintf(p->submitted, sizeof(p->submitted), "removed %s", name);
  return rc;
}

int pai_platform_write_nodes(pai_platform *p, const char *name,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  int rc = find(name, "box", err);

  return rc < 0 ? rc
                : say(p, write, user_data,
                      name != NULL ? "{\"name\":\"box\"}" : "[{}]", err);
}

int pai_platform_drain(pai_platform *p, const char *node, int drain,
                       const char *why, pai_error **err)
{
  int rc = find(node, "box", err);

  (void)snprintf(p->submitted, sizeof(p->submitted), "%s %d %s", node, drain,
                 why != NULL ? why : "-");
  return rc;
}
