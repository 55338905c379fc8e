/* facade_vcs.c - virtual clusters and nodes */
#include "facade_accounts_act.h"

/* --- virtual clusters and nodes --------------------------------------------------------- */

static int do_put_vc(accounts_act *a, pai_error **err)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;

  o.capacity = a->w->capacity;
  o.max_capacity = a->w->max_capacity;
  o.description = a->w->description;
  o.external_name = a->w->external_name;
  return pai_platform_put_vc(a->platform->platform, a->w->name, &o, err);
}

static int do_stop_vc(accounts_act *a, pai_error **err)
{
  return pai_platform_stop_vc(a->platform->platform, a->w->name, a->w->on,
                              err);
}

static int do_delete_vc(accounts_act *a, pai_error **err)
{
  return pai_platform_remove_vc(a->platform->platform, a->w->name, err);
}

static int do_write_vcs(accounts_act *a, pai_error **err)
{
  return pai_platform_write_vcs(a->platform->platform, a->w->name,
                                facade_collect, a->out, err);
}

static int do_write_vc_nodes(accounts_act *a, pai_error **err)
{
  return pai_platform_write_vc_nodes(a->platform->platform, facade_collect,
                                     a->out, err);
}

static int do_write_skus(accounts_act *a, pai_error **err)
{
  return pai_platform_write_skus(a->platform->platform, a->w->name,
                                 facade_collect, a->out, err);
}

static int do_write_nodes(accounts_act *a, pai_error **err)
{
  return pai_platform_write_nodes(a->platform->platform, a->w->name,
                                  facade_collect, a->out, err);
}

static int do_drain(accounts_act *a, pai_error **err)
{
  return pai_platform_drain(a->platform->platform, a->w->name, a->w->on,
                            a->w->why, err);
}

const accounts_deed accounts_vcs[] = {
  { "platform_put_vc", do_put_vc, ACCOUNTS_CHANGES },
  { "platform_stop_vc", do_stop_vc, ACCOUNTS_CHANGES },
  { "platform_remove_vc", do_delete_vc, ACCOUNTS_CHANGES },
  { "platform_write_vcs", do_write_vcs, ACCOUNTS_TELLS },
  { "platform_write_vc_nodes", do_write_vc_nodes, ACCOUNTS_TELLS },
  { "platform_write_skus", do_write_skus, ACCOUNTS_TELLS },
  { "platform_write_nodes", do_write_nodes, ACCOUNTS_TELLS },
  { "platform_drain", do_drain, ACCOUNTS_CHANGES },
  { NULL, NULL, 0 },
};
