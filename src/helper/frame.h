/* frame.h - the framing of the Language Server Protocol: a header with the
 * length of each message */
#ifndef PAI_SRC_HELPER_FRAME_H
#define PAI_SRC_HELPER_FRAME_H

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of a message, and of a header. */
enum { FRAME_MOST = 64 << 20, FRAME_HEADER = 8192 };

/* Bytes that have arrived.  A zeroed one is empty. */
typedef struct frame_reader {
  char *bytes; /* for free() */
  size_t len, cap;
  size_t at; /* bytes that were taken */
} frame_reader;

/* Returns `size` bytes to read into, or NULL without memory. */
char *frame_room(frame_reader *f, size_t size);
/* Says that `n` bytes were read there. */
void frame_add(frame_reader *f, size_t n);

/* Takes the next message, which is valid until frame_room().  Returns 1; 0: it
 * has not arrived whole; -1: this is not the protocol. */
int frame_take(frame_reader *f, const char **message, size_t *len);

void frame_free(frame_reader *f);

#endif
