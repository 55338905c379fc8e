/*
 * topology_picture.h - what the text, the JSON and the SVG of a machine share
 *
 * Shown are not all objects: ports of switches that lead to one device only,
 * and host bridges, stand for nothing a person asks for.
 */
#ifndef PAI_SRC_RESOURCE_TOPOLOGY_PICTURE_H
#define PAI_SRC_RESOURCE_TOPOLOGY_PICTURE_H

#include "resource/topology.h"

typedef struct pai__topo_picture {
  const pai_topology *t;
  const pai_gpu_mark *marks;
  size_t mark_count;
} pai__topo_picture;

/* The mark of a GPU; its text is never NULL. */
pai_gpu_mark pai__topo_mark(const pai__topo_picture *p, uint32_t gpu);
/* "free", "used", "sick", or "". */
const char *pai__topo_state(int state);

/* Objects, in order. */
typedef struct pai__topo_list {
  const pai_alloc *alloc;
  uint32_t *at;
  size_t len, cap;
} pai__topo_list;

/* What is shown in an object. */
int pai__topo_shown(pai__topo_list *out, const pai_topology *t,
                    uint32_t object);
void pai__topo_list_dispose(pai__topo_list *l);
/* How many from i on look the same, with what they hold. */
size_t pai__topo_run(const pai_topology *t, const pai__topo_list *l, size_t i);

/* "755 GB": as the makers of memory count, by 1024. */
void pai__topo_add_bytes(pai__buf *out, uint64_t bytes);
/* "4 TB": as the makers of disks count, by 1000. */
void pai__topo_add_disk(pai__buf *out, uint64_t bytes);
/* "3 cores", "1 core" */
void pai__topo_add_count(pai__buf *out, uint64_t n, const char *noun);
/* "2 packages, 48 cores, 96 threads, 251 GB, 8 GPUs" */
void pai__topo_add_summary(pai__buf *out, const pai_topology *t);
/* The short name of a kind of link: "NV", "SW", "XG", "XE", or "". */
const char *pai__topo_link_sign(int kind);

int pai__topo_write_text(pai__buf *out, const pai__topo_picture *p);
int pai__topo_write_json(pai__buf *out, const pai__topo_picture *p);
int pai__topo_write_svg(pai__buf *out, const pai__topo_picture *p);

#endif
