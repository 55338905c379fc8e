/* write.h - internal to the room: YAML and JSON output shared by the writers
 * of clusters */
#ifndef PAI_SRC_RESOURCE_CLUSTER_WRITE_H
#define PAI_SRC_RESOURCE_CLUSTER_WRITE_H

#include "json/writer.h"
#include "resource/cluster/read.h"
#include "yaml/writer.h"

/* Output as JSON or as YAML. */
typedef struct pai__output {
  bool json;
  pai__json_writer j;
  pai__yaml_writer y;
  pai__buf text;
} pai__output;

/* Returns PAI_EINVAL for an unknown format. */
int pai__out_begin(pai__output *o, const pai_cluster *c, int format,
                   pai_error **err);
/* Passes the text to `write`, and frees the output in any case. */
int pai__out_end(pai__output *o, pai_write_cb write, void *user_data,
                 pai_error **err);

void pai__out_begin_mapping(pai__output *o);
void pai__out_end_mapping(pai__output *o);
void pai__out_begin_list(pai__output *o);
void pai__out_end_list(pai__output *o);
void pai__out_key(pai__output *o, const char *s);
void pai__out_text(pai__output *o, const char *s);
void pai__out_number(pai__output *o, int64_t v);

/* Write an entry; unknown values, NULL or 0, are left out. */
void pai__out_put_text(pai__output *o, const char *name, const char *s);
void pai__out_put_number(pai__output *o, const char *name, uint32_t v);

/* Begins a mapping or list as the value of a key, unless *begun; for those
 * that are left out if they are empty. */
void pai__out_begin_once(pai__output *o, const char *key, bool list,
                         bool *begun);

/* Writes a record by the table that it is read by: as the value of a key, or,
 * without a key, as an item of a list. */
#define PAI__WRITE(o, c, key, fields, record) \
  pai__out_put_record(o, c, key, fields, PAI__LEN(fields), record)
void pai__out_put_record(pai__output *o, const pai_cluster *c, const char *key,
                         const pai__read_field *fields, size_t nfields,
                         const void *record);

/* Write the entries of `physicalCluster` with HiveD's keys: `skuTypes`, if
 * there are any (read_cells.c); `cellTypes` (read_hived.c); and
 * `physicalCells`, without what the reader would infer.
 * pai__out_put_cells() returns PAI_OK or PAI_ENOMEM. */
void pai__out_put_units(pai__output *o, const pai__unit *units, size_t n);
void pai__out_put_types(pai__output *o, const pai_cluster *c);
int pai__out_put_cells(pai__output *o, const pai_cluster *c);

#endif
