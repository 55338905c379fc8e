/* kubernetes_health.c - why no job can run on a Kubernetes node */
#include "resource/kubernetes.h"

#include "base/utf8.h"

static bool ends(pai__piece s, const char *end)
{
  size_t len = strlen(end);

  return s.len >= len && memcmp(s.s + s.len - len, end, len) == 0;
}

/* --- conditions ----------------------------------------------------------- */

/* Those that are well when they are not True. */
static bool is_trouble(pai__piece type)
{
  static const char *const others[] = { "OutOfDisk", "KernelDeadlock",
                                        "ReadonlyFilesystem" };

  for (size_t i = 0; i < PAI__LEN(others); i++)
    if (pai__piece_is(type, others[i]))
      return true;
  return ends(type, "Pressure") || ends(type, "Unavailable");
}

/* "not ready: Kubelet stopped posting node status" */
static void add_condition(const pai__reader *r, pai__node n, pai__piece type,
                          pai__buf *why)
{
  pai__piece says = pai__import_text(r, pai__import_get(r, n, "message"));
  char piece[PAI__EXCERPT];

  if (says.s == NULL)
    says = pai__import_text(r, pai__import_get(r, n, "reason"));
  if (pai__piece_is(type, "Ready"))
    pai__reason_add(why, "not ready");
  else if (ends(type, "Ready"))
    pai__reason_add(why, "not %s", pai__excerpt(piece, type.s, type.len));
  else
    pai__reason_add(why, "%s", pai__excerpt(piece, type.s, type.len));
  if (says.s != NULL)
    pai__buf_printf(why, ": %.*s", (int)(says.len < 500 ? says.len : 500),
                    says.s);
}

static void read_conditions(pai__reader *r, pai__node n, pai__buf *why)
{
  pai__tree_walk walk;
  pai__node item;

  if (!pai__read_is_list(r, n, "conditions"))
    return;
  walk = pai__tree_iter(r->t, n);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__piece type = pai__import_text(r, pai__import_get(r, item, "type"));
    bool is_true = pai__piece_is(
      pai__import_text(r, pai__import_get(r, item, "status")), "True");

    if (type.s == NULL)
      continue;
    if (ends(type, "Ready") ? !is_true : is_true && is_trouble(type))
      add_condition(r, item, type, why);
  }
}

/* --- taints --------------------------------------------------------------- */

/* Of nodes with GPUs, to keep jobs without GPUs away: jobs that ask for the
 * resource of that name are let in. */
static bool is_for_gpus(const pai__reader *r, const pai__kube_node *k,
                        pai__piece key)
{
  return pai__kube_is_gpu(key) &&
         pai__import_get(r, k->capacity, key.s) != PAI__NO_NODE;
}

/* What Kubernetes itself puts on a node that is not well. */
static bool is_own(pai__piece key)
{
  static const char own[] = "node.kubernetes.io/";

  return key.len > strlen(own) && memcmp(key.s, own, strlen(own)) == 0;
}

static void read_taint(const pai__reader *r, const pai__kube_node *k,
                       pai__node n, pai__buf *why)
{
  pai__piece key = pai__import_text(r, pai__import_get(r, n, "key"));
  pai__piece value = pai__import_text(r, pai__import_get(r, n, "value"));
  pai__piece effect = pai__import_text(r, pai__import_get(r, n, "effect"));
  char piece[PAI__EXCERPT], other[PAI__EXCERPT];
  bool is_masters;

  if (key.s == NULL || is_for_gpus(r, k, key) ||
      (!pai__piece_is(effect, "NoSchedule") &&
       !pai__piece_is(effect, "NoExecute")) ||
      (is_own(key) && why->len > 0)) /* told by then in better words */
    return;
  is_masters = pai__piece_is(key, "node-role.kubernetes.io/control-plane") ||
               pai__piece_is(key, "node-role.kubernetes.io/master");
  pai__reason_add(
    why, "%staint %s%s%s:%.10s%s",
    is_masters ? "kept for the control plane (" : "",
    pai__excerpt(piece, key.s, key.len), value.s != NULL ? "=" : "",
    value.s != NULL ? pai__excerpt(other, value.s, value.len) : "", effect.s,
    is_masters ? ")" : "");
}

void pai__kube_health(pai__reader *r, const pai__kube_node *k, pai__buf *why)
{
  pai__tree_walk walk;
  pai__node item;

  read_conditions(r, k->conditions, why);
  if (k->is_leaving)
    pai__reason_add(why, "being deleted");
  if (k->is_unschedulable)
    pai__reason_add(why, "cordoned");
  if (!pai__read_is_list(r, k->taints, "taints"))
    return;
  walk = pai__tree_iter(r->t, k->taints);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    read_taint(r, k, item, why);
}
