/* write.h - internal to the room: writes records as JSON */
#ifndef PAI_SRC_API_WRITE_H
#define PAI_SRC_API_WRITE_H

#include "api/api.h"
#include "api/records.h"
#include "api/rows.h"
#include "json/writer.h"

/* Writes the value of a field that has no column: PAI__RECORD_field. */
typedef int (*pai__api_value_fn)(void *user_data, unsigned field,
                                 const void *row);

/* Writes the members of a record into an object that is open.  A field's value
 * comes from the row, or from `value`, which may be NULL if all fields have
 * columns.  A field that may be missing, and not null, is left out if its row
 * has no value.  Returns PAI_OK or the first error of `value`; the other
 * members are written all the same. */
int pai__api_write(pai__json_writer *w, const pai__api_record *record,
                   const void *row, pai__api_value_fn value, void *user_data);

/* Writes a record as an object. */
int pai__api_object(pai__json_writer *w, const pai__api_record *record,
                    const void *row, pai__api_value_fn value, void *user_data);

#endif
