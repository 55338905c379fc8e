/*
 * websocket.h - the frames of a WebSocket (RFC 6455), as a server reads and
 * writes them
 *
 * Pure.  Messages are taken as a stream of bytes: where one ends does not
 * matter, only that their frames are in order.
 */
#ifndef PAI_SRC_SERVER_HTTP_WEBSOCKET_H
#define PAI_SRC_SERVER_HTTP_WEBSOCKET_H

#include "base/base.h"

enum {
  PAI__WS_ACCEPT = 29,    /* size of a Sec-WebSocket-Accept, with a NUL */
  PAI__WS_HEAD = 4,       /* largest head that is written */
  PAI__WS_CONTROL = 125,  /* largest payload of a control frame */
  PAI__WS_FRAME = 1 << 20 /* largest frame that is read */
};

enum pai__ws_opcode {
  PAI__WS_CONTINUED = 0,
  PAI__WS_TEXT = 1,
  PAI__WS_BINARY = 2,
  PAI__WS_CLOSE = 8,
  PAI__WS_PING = 9,
  PAI__WS_PONG = 10
};

/* Why a WebSocket is closed. */
enum {
  PAI__WS_NORMAL = 1000,
  PAI__WS_GOING_AWAY = 1001,
  PAI__WS_PROTOCOL = 1002,
  PAI__WS_UNSUPPORTED = 1003, /* text */
  PAI__WS_NO_CODE = 1005,     /* never sent */
  PAI__WS_INVALID = 1007,     /* a reason that is not UTF-8 */
  PAI__WS_TOO_LARGE = 1009
};

/* What was read so far; begins as zeros. */
typedef struct pai__ws_reader {
  unsigned char head[14];
  size_t have;   /* bytes of `head` */
  bool in_frame; /* the head is complete */
  uint64_t left; /* bytes of the frame's payload still to come */
  unsigned turn; /* which byte of the mask is next */
  bool in_message;
  unsigned char control[PAI__WS_CONTROL]; /* payload of a control frame */
  size_t control_len;
  /* Results.  The latest ping waits for its answer. */
  bool pinged;
  unsigned char ping[PAI__WS_CONTROL];
  size_t ping_len;
  /* 0: open.  The client has closed, or broken the rules: the code to close
   * with.  Nothing more is read. */
  unsigned closed;
} pai__ws_reader;

/* Answers a Sec-WebSocket-Key.  Returns false if it is not valid. */
bool pai__ws_accept(char out[PAI__WS_ACCEPT], const char *key);
/* Reads bytes in place: moves the data of messages to the front, and returns
 * their number. */
size_t pai__ws_read(pai__ws_reader *w, char *bytes, size_t len);
/* Writes the head of a frame with up to 65,535 bytes; returns its length. */
size_t pai__ws_head(unsigned char out[PAI__WS_HEAD],
                    enum pai__ws_opcode opcode, size_t len);

#endif
