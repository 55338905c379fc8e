/*
 * fuzz_websocket.c - frames of a WebSocket, cut anywhere
 *
 * The first byte says where.  What is read does not depend on it, and is never
 * more than came.
 */
#include "check.h"

#include "server/http/websocket.h"

#include <string.h>

static size_t read_by(pai__ws_reader *w, char *to, const uint8_t *data,
                      size_t size, size_t step)
{
  size_t n = 0;

  memset(w, 0, sizeof(*w));
  memcpy(to, data, size);
  for (size_t at = 0; at < size; at += step) {
    size_t len = size - at < step ? size - at : step;
    size_t got = pai__ws_read(w, to + at, len);

    CHECK(got <= len && w->control_len <= PAI__WS_CONTROL &&
          w->ping_len <= PAI__WS_CONTROL);
    memmove(to + n, to + at, got);
    n += got;
  }
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char bytes[2][20 << 10];
  pai__ws_reader all, cut;
  size_t step, n;

  if (size < 2 || size > sizeof(bytes[0]))
    return 0;
  step = *data % 64 + 1;
  data++;
  size--;
  n = read_by(&all, bytes[0], data, size, size);
  CHECK(read_by(&cut, bytes[1], data, size, step) == n &&
        memcmp(bytes[0], bytes[1], n) == 0);
  CHECK(all.closed == cut.closed && all.pinged == cut.pinged &&
        all.ping_len == cut.ping_len &&
        memcmp(all.ping, cut.ping, all.ping_len) == 0);
  CHECK(all.closed == 0 || (all.closed >= 1000 && all.closed < 5000));
  return 0;
}
