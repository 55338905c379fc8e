/* write.h - internal to the room: what the writers of clusters share */
#ifndef PAI_SRC_RESOURCE_WRITE_H
#define PAI_SRC_RESOURCE_WRITE_H

#include "json/writer.h"
#include "resource/cluster.h"
#include "yaml/writer.h"

/* One of two writers. */
typedef struct pai__output {
  bool json;
  pai__json_writer j;
  pai__yaml_writer y;
  pai__buf text;
} pai__output;

/* PAI_EINVAL: no such format. */
int pai__out_begin(pai__output *o, const pai_cluster *c, int format,
                   pai_error **err);
/* Hands the text over, and ends the output whatever comes of it. */
int pai__out_end(pai__output *o, pai_write_cb write, void *user_data,
                 pai_error **err);

void pai__out_begin_mapping(pai__output *o);
void pai__out_end_mapping(pai__output *o);
void pai__out_begin_list(pai__output *o);
void pai__out_end_list(pai__output *o);
void pai__out_key(pai__output *o, const char *s);
void pai__out_text(pai__output *o, const char *s);
void pai__out_number(pai__output *o, int64_t v);
void pai__out_flag(pai__output *o, bool v);

/* An entry; what nobody knows, NULL or 0, is left out. */
void pai__out_put_text(pai__output *o, const char *name, const char *s);
void pai__out_put_number(pai__output *o, const char *name, uint32_t v);
void pai__out_put_size(pai__output *o, const char *name, uint64_t v);

/* --- write_cells.c -------------------------------------------------------- */

/* The entries of `physicalCluster`, with HiveD's keys: `skuTypes`, if there are
 * any; `cellTypes` and `physicalCells`, of which only what reading would not
 * infer is written.  PAI_OK or PAI_ENOMEM. */
void pai__out_put_units(pai__output *o, const pai__unit *units, size_t n);
int pai__out_put_cells(pai__output *o, const pai_cluster *c);

#endif
