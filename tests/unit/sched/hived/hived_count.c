/* hived_count.c - what HiveD's engine counts, counted again */
#include "sched/hived/hived_count.h"

#include <stdlib.h>

const char *test_hived_wrong(const pai__hived *h)
{
  const char *wrong;

  (void)pai__hived_check(h, &wrong);
  return wrong;
}

bool test_hived_is_safe(const pai__hived *h, bool whole)
{
  for (uint32_t i = 0; i < h->nchains; i++) {
    const pai__hived_chain *c = &h->chains[i];
    int64_t left = 0;

    for (uint32_t l = c->levels; l-- > 0;) {
      const pai__hived_level *at = &h->levels[c->level + l];

      left += (int64_t)at->nfree - at->wanted;
      if ((whole && left < 0) || at->left < at->wanted)
        return false;
      left *= at->children;
    }
  }
  return true;
}

/* --- all of it ------------------------------------------------------------ */

static void mix(uint64_t *digest, uint64_t word)
{
  *digest = (*digest ^ word) * 0x100000001b3u;
  *digest ^= *digest >> 29;
}

static void mix_views(uint64_t *digest, const pai__hived *h)
{
  uint32_t *list = calloc(h->nvnodes + 1, sizeof(*list));

  assert_non_null(list);
  for (uint32_t i = 0; i < h->nviews; i++) {
    pai__view_list(h, &h->views[i], list);
    for (uint32_t k = 0; k < h->views[i].count; k++)
      mix(digest, list[k]);
  }
  free(list);
}

static void mix_group(uint64_t *digest, const pai__hived *h, uint32_t group)
{
  const pai__hived_group *g = &h->groups[group];
  const char *name = pai__hived_group_name(h, group);
  const uint32_t *leaves = pai__words(h, g->physical);
  uint32_t i = 0, node;
  uint64_t pod;

  for (; *name != '\0'; name++)
    mix(digest, (unsigned char)*name);
  mix(digest, g->state);
  mix(digest, g->was_lazy);
  for (uint32_t k = 0; k < g->nleaves; k++) {
    mix(digest, leaves[k]);
    if (g->vcell != PAI__NOTHING)
      mix(digest, pai__words(h, g->vcell)[k]);
  }
  while (pai__hived_next_pod(h, group, &i, &pod, &node))
    mix(digest, pod);
  mix(digest, g->npreempting);
}

uint64_t test_hived_digest(const pai__hived *h)
{
  uint64_t digest = 0xcbf29ce484222325u;

  for (uint32_t i = 0; i < h->npcells; i++) {
    mix(&digest, h->pcells[i].bound);
    mix(&digest, h->pcells[i].flags);
    mix(&digest, (uint64_t)h->pcells[i].priority);
    mix(&digest, h->pcells[i].at_free);
    mix(&digest, h->pcells[i].at_sick);
    mix(&digest, h->pcells[i].at_doomed);
  }
  for (uint32_t i = 0; i < h->npleaves; i++) {
    mix(&digest, h->pleaves[i].state);
    mix(&digest, h->pleaves[i].guaranteed);
  }
  for (uint32_t i = 0; i < h->nvcells; i++)
    mix(&digest, (uint64_t)h->vcells[i].priority);
  for (uint32_t i = 0; i < h->npair_levels; i++)
    mix(&digest, (uint64_t)h->pair_levels[i].free);
  mix_views(&digest, h);
  for (uint32_t i = 0; i < h->ngroups; i++)
    if (h->groups[i].state != PAI__GROUP_GONE)
      mix_group(&digest, h, i);
  return digest;
}
