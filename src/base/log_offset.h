/* log_offset.h - name of the header field with an answer's offset in a log;
 * written by the server, read by the client */
#ifndef PAI_SRC_BASE_LOG_OFFSET_H
#define PAI_SRC_BASE_LOG_OFFSET_H

#define PAI__LOG_OFFSET "X-Log-Offset"

#endif
