/* picture.h - internal to the room: what the text and the SVG picture of a
 * cluster share */
#ifndef PAI_SRC_RESOURCE_PICTURE_H
#define PAI_SRC_RESOURCE_PICTURE_H

#include "base/buf.h"
#include "resource/cluster.h"

enum { PAI__COLOURS = 9 /* of users; all others share one more */ };

/* How a GPU is shown: free, sick, used by a user, or unknown. */
enum {
  PAI__SHOW_PLAIN,
  PAI__SHOW_FREE,
  PAI__SHOW_SICK,
  PAI__SHOW_USED, /* the first user's; PAI__COLOURS more follow */
  PAI__SHOW_COUNT = PAI__SHOW_USED + PAI__COLOURS + 1
};

typedef struct pai__cluster_picture {
  const pai_cluster *c;
  const pai_gpu_mark *marks;
  size_t mark_count;
  bool colour;                     /* colour the text for a terminal */
  const char *users[PAI__COLOURS]; /* in the order of their first GPU */
  size_t nusers;                   /* number of users with a colour */
  size_t counts[PAI__SHOW_COUNT];  /* GPUs by PAI__SHOW_* */
  /* lists of the nodes of each rack; the last list: nodes without a rack */
  uint32_t *first, *next, *in_rack;
} pai__cluster_picture;

/* Returns how a GPU of a node is shown, PAI__SHOW_*. */
int pai__picture_show(const pai__cluster_picture *p, const pai__member *m,
                      uint32_t gpu);
/* Returns the GPU's user, or why it is sick, or "". */
const char *pai__picture_text(const pai__cluster_picture *p,
                              const pai__member *m, uint32_t gpu);
/* Writes "16 nodes, 128 GPUs: 120 free, 4 used, 4 sick". */
void pai__picture_summary(const pai__cluster_picture *p, pai__buf *out);
/* Writes "8 × h100 (80 GB)" or "no GPUs". */
void pai__picture_gpus(const pai__cluster_picture *p, const pai__sku *s,
                       pai__buf *out);

void pai__picture_write_svg(const pai__cluster_picture *p, pai__buf *out);

#endif
