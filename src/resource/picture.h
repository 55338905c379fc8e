/* picture.h - internal to the room: what pictures of a cluster share */
#ifndef PAI_SRC_RESOURCE_PICTURE_H
#define PAI_SRC_RESOURCE_PICTURE_H

#include "base/buf.h"
#include "resource/cluster.h"

enum { PAI__COLOURS = 9 /* for users; all others are of one more */ };

/* How a GPU is shown: free, sick, of a user, or nothing is known of it. */
enum {
  PAI__SHOW_PLAIN,
  PAI__SHOW_FREE,
  PAI__SHOW_SICK,
  PAI__SHOW_USED, /* and PAI__COLOURS more: by whom */
  PAI__SHOW_COUNT = PAI__SHOW_USED + PAI__COLOURS + 1
};

typedef struct pai__cluster_picture {
  const pai_cluster *c;
  const pai_gpu_mark *marks;
  size_t mark_count;
  bool colour;                      /* of text, for a terminal */
  const char *users[PAI__COLOURS];  /* in the order they are met */
  size_t nusers;                    /* of those */
  size_t counts[PAI__SHOW_COUNT];   /* of GPUs */
  uint32_t *first, *next, *in_rack; /* nodes of each rack, and of none last */
} pai__cluster_picture;

/* PAI__SHOW_*, of a GPU of a node. */
int pai__picture_show(const pai__cluster_picture *p, const pai__member *m,
                      uint32_t gpu);
/* Who uses it, why it is sick, or "". */
const char *pai__picture_text(const pai__cluster_picture *p,
                              const pai__member *m, uint32_t gpu);
/* "16 nodes, 128 GPUs: 120 free, 4 used, 4 sick" */
void pai__picture_summary(const pai__cluster_picture *p, pai__buf *out);
/* "8 × h100 (80 GB)"; "no GPUs". */
void pai__picture_gpus(const pai__cluster_picture *p, const pai__sku *s,
                       pai__buf *out);

void pai__picture_write_text(const pai__cluster_picture *p, pai__buf *out);
void pai__picture_write_svg(const pai__cluster_picture *p, pai__buf *out);

#endif
