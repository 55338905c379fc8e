/*
 * posix_plugin.c - loads policies from shared objects
 *
 * They are never unloaded: a scheduler may use one for as long as the process
 * lives.
 */
#include "base/base.h"

#include <openpai/policy.h>

#include <dlfcn.h>
#include <unistd.h>

static int check_plugin(const pai_plugin_entry *p, const char *path,
                        pai_error **err)
{
  size_t least = offsetof(pai_plugin_entry, table) + sizeof(p->table);

  if (p->struct_size < least || p->table == NULL)
    return pai__fail(err, PAI_EINVAL, "%s: its pai_plugin has no table", path);
  if (p->abi != PAI_PLUGIN_ABI)
    return pai__fail(err, PAI_ENOTSUP,
                     "%s: it is made for plug-ins of ABI %u, and this is %d",
                     path, p->abi, (int)PAI_PLUGIN_ABI);
  if (p->kind != PAI_PLUGIN_POLICY)
    return pai__fail(err, PAI_EINVAL, "%s: it is no policy", path);
  return PAI_OK;
}

int pai_policy_load(const pai_policy **out, const char *path, pai_error **err)
{
  const pai_plugin_entry *plugin;
  void *object;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(path != NULL, err);
  object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (object == NULL) {
    const char *reason = dlerror();
    bool is_there = access(path, F_OK) == 0;

    (void)pai__fail(err, is_there ? PAI_EINVAL : PAI_ENOTFOUND, "%s", reason);
    pai__error_help(err, is_there
                           ? "a policy is a shared object that exports "
                             "pai_plugin"
                           : "a name without '/' is looked for where "
                             "libraries are: write ./NAME for one here");
    return is_there ? PAI_EINVAL : PAI_ENOTFOUND;
  }
  plugin = dlsym(object, "pai_plugin");
  rc = plugin != NULL
         ? check_plugin(plugin, path, err)
         : pai__fail(err, PAI_EINVAL, "%s: it exports no pai_plugin", path);
  if (plugin != NULL && rc == PAI_OK)
    *out = plugin->table;
  else
    (void)dlclose(object);
  return rc;
}
