/*
 * pack.c - answers compressed with gzip
 *
 * Only over TCP and for routes that allow it.  The length of a compressed
 * answer reveals repetitions, so an answer is not compressed if it holds a
 * secret beside text that a stranger may choose.  Compression runs on the
 * loop: large answers are sent as they are, and short ones gain nothing.
 */
#include "server/http/reply.h"

#include <strings.h>
#include <zlib.h>

enum { LEAST = 2 << 10, MOST = 1 << 20, GZIP = 15 + 16, LEVEL = 1 };

struct pai__packer {
  z_stream z;
  pai__buf buf;
};

void pai__packer_free(pai_server *s)
{
  struct pai__packer *p = s->packer;

  if (p == NULL)
    return;
  (void)deflateEnd(&p->z);
  pai__buf_dispose(&p->buf);
  pai__free(&s->alloc, p, sizeof(*p));
  s->packer = NULL;
}

/* One for all answers, as it takes 256 KiB.  Returns NULL if out of memory. */
static struct pai__packer *find_packer(pai_server *s)
{
  struct pai__packer *p = s->packer;

  if (p != NULL)
    return deflateReset(&p->z) == Z_OK ? p : NULL;
  p = pai__zalloc(&s->alloc, sizeof(*p));
  if (p == NULL)
    return NULL;
  if (deflateInit2(&p->z, LEVEL, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    pai__free(&s->alloc, p, sizeof(*p));
    return NULL;
  }
  pai__buf_init(&p->buf, &s->alloc);
  s->packer = p;
  return p;
}

/* --- Accept-Encoding ----------------------------------------------------- */

static const char *skip_blanks(const char *text)
{
  return text + strspn(text, " \t");
}

/* Returns whether the parameters, up to a comma, refuse the coding: "q=0". */
static bool is_refused(const char *text)
{
  const char *end = text + strcspn(text, ",");

  while ((text = memchr(text, ';', (size_t)(end - text))) != NULL) {
    text = skip_blanks(text + 1);
    if ((*text == 'q' || *text == 'Q') && text[1] == '=')
      return text[2] == '0' &&
             strspn(text + 2, "0.") == strcspn(text + 2, ", \t;");
  }
  return false;
}

/* Returns 1 if the list accepts the coding, 0 if it refuses it, -1 if it is
 * not named. */
static int find_coding(const char *list, const char *coding)
{
  size_t len = strlen(coding);

  while (*list != '\0') {
    list = skip_blanks(list);
    if (strncasecmp(list, coding, len) == 0 &&
        strchr(" \t;,", list[len]) != NULL)
      return is_refused(list + len) ? 0 : 1;
    list += strcspn(list, ",");
    list += *list == ',';
  }
  return -1;
}

static bool wants_gzip(const pai__request *r)
{
  const char *list = pai__conn_field(r->conn, "Accept-Encoding");
  int gzip = list != NULL ? find_coding(list, "gzip") : 0;

  return gzip < 0 ? find_coding(list, "*") > 0 : gzip > 0;
}

/* --- compression --------------------------------------------------------- */

bool pai__pack_may(const pai__request *r)
{
  return r->remote && r->route != NULL && r->route->packs && r->status == 200;
}

/* Compresses; returns whether the result is complete and shorter. */
static bool deflate_all(struct pai__packer *p, pai__buf *from)
{
  size_t room = deflateBound(&p->z, (uLong)from->len);

  pai__buf_cut(&p->buf, 0);
  if (!pai__buf_reserve(&p->buf, room)) {
    p->buf.failed = false;
    return false;
  }
  p->z.next_in = (unsigned char *)from->data;
  p->z.avail_in = (uInt)from->len;
  p->z.next_out = (unsigned char *)p->buf.data;
  p->z.avail_out = (uInt)room;
  return deflate(&p->z, Z_FINISH) == Z_STREAM_END &&
         p->z.total_out < from->len;
}

/* For clients that take no gzip. */
static void inflate_page(pai__request *r)
{
  uLongf len = (uLongf)r->page->size;
  z_stream z = { .next_in = (unsigned char *)(uintptr_t)r->page->packed,
                 .avail_in = (uInt)r->page->packed_len };

  if (!pai__buf_reserve(&r->answer, len) || inflateInit2(&z, GZIP) != Z_OK) {
    r->answer.failed = true;
    return;
  }
  z.next_out = (unsigned char *)r->answer.data;
  z.avail_out = (uInt)len;
  r->answer.failed |= inflate(&z, Z_FINISH) != Z_STREAM_END;
  (void)inflateEnd(&z);
  pai__buf_cut(&r->answer, len);
}

/* Files of the portal are packed already. */
static bool pack_page(pai__request *r)
{
  if (r->status != 200 || wants_gzip(r))
    return r->status == 200;
  inflate_page(r);
  return false;
}

bool pai__pack(pai__request *r)
{
  struct pai__packer *p;

  if (r->page != NULL)
    return pack_page(r);
  if (!pai__pack_may(r) || !pai__buf_ok(&r->answer) || r->answer.len < LEAST ||
      r->answer.len > MOST || !wants_gzip(r) ||
      (p = find_packer(r->server)) == NULL || !deflate_all(p, &r->answer))
    return false;
  memcpy(r->answer.data, p->buf.data, p->z.total_out);
  pai__buf_cut(&r->answer, p->z.total_out);
  return true;
}
