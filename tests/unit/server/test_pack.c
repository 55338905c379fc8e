/* Answers in gzip: who gets them, of what, and that they are the same. */
#define _GNU_SOURCE
#include "asked.h"

#include <stdio.h>
#include <zlib.h>

typedef struct answer {
  char head[2048];
  char *body; /* as it came */
  size_t len;
} answer;

static void begin_far(scene *s)
{
  begin_empty(s);
  s->options.listen = "127.0.0.1:0";
  assert_ok(new_server(s, NULL));
}

/* With these lines in its head. */
static void fetch(answer *a, scene *s, const char *method, const char *path,
                  const char *lines)
{
  char text[1024];
  const char *seen, *end;
  peer p;

  come_far(&p, s);
  (void)snprintf(text, sizeof(text),
                 "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n",
                 method, path, lines);
  say(&p, text);
  hear_all(&p);
  seen = pai__buf_text(&p.seen);
  end = strstr(seen, "\r\n\r\n");
  assert_non_null(end);
  end += 4;
  assert_true((size_t)(end - seen) < sizeof(a->head));
  memcpy(a->head, seen, (size_t)(end - seen));
  a->head[end - seen] = '\0';
  a->len = p.seen.len - (size_t)(end - seen);
  a->body = test_malloc(a->len + 1);
  memcpy(a->body, end, a->len + 1);
  leave(&p);
}

static bool is_packed(const answer *a)
{
  return strstr(a->head, "Content-Encoding: gzip\r\n") != NULL;
}

static void unpack(answer *a, const answer *from, size_t room)
{
  z_stream z = { .next_in = (unsigned char *)from->body,
                 .avail_in = (uInt)from->len };

  a->body = test_malloc(room + 1);
  z.next_out = (unsigned char *)a->body;
  z.avail_out = (uInt)room;
  assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
  assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
  assert_int_equal(z.avail_in, 0);
  a->len = z.total_out;
  (void)inflateEnd(&z);
}

#define DOCUMENT "/api/v2/openapi.json"

static const char *tag_of(const answer *a)
{
  const char *tag = strstr(a->head, "ETag: ");

  assert_non_null(tag);
  return tag;
}

IN_SCENE(begin_far, the_same_comes_shorter)
{
  answer plain, packed, again, opened;
  char known[128];

  fetch(&plain, s, "GET", DOCUMENT, "");
  assert_false(is_packed(&plain));
  assert_has(plain.head, "Vary: Accept-Encoding\r\n");
  for (int i = 0; i < 2; i++) { /* the second is of the same packer */
    fetch(&packed, s, "GET", DOCUMENT, "Accept-Encoding: gzip\r\n");
    assert_true(is_packed(&packed));
    assert_true(packed.len * 3 < plain.len);
    assert_has(packed.head, "Vary: Accept-Encoding\r\n");
    unpack(&opened, &packed, plain.len);
    assert_int_equal(opened.len, plain.len);
    assert_memory_equal(opened.body, plain.body, plain.len);
    test_free(packed.body);
    test_free(opened.body);
  }
  /* One tag for both, which says that they mean the same. */
  assert_int_equal(strncmp(tag_of(&plain), tag_of(&packed), 40), 0);
  (void)snprintf(known, sizeof(known),
                 "Accept-Encoding: gzip\r\nIf-None-Match: %.*s\r\n",
                 (int)strcspn(tag_of(&plain) + 6, "\r"), tag_of(&plain) + 6);
  fetch(&again, s, "GET", DOCUMENT, known);
  assert_has(again.head, "HTTP/1.1 304 ");
  assert_int_equal(again.len, 0);
  assert_has(again.head, "Vary: Accept-Encoding\r\n");
  test_free(again.body);
  fetch(&again, s, "HEAD", DOCUMENT, "Accept-Encoding: gzip\r\n");
  assert_true(is_packed(&again));
  assert_int_equal(again.len, 0);
  test_free(again.body);
  test_free(plain.body);
}

IN_SCENE(begin_far, who_asks_for_it_gets_it)
{
  static const struct {
    const char *accepts;
    bool packed;
  } rows[] = {
    { "gzip", true },
    { "GZIP", true },
    { "deflate, gzip;q=1.0, *;q=0.5", true },
    { "deflate , gzip", true },
    { "br;q=1, gzip;q=0.001", true },
    { "*", true },
    { "deflate, *;q=0.1", true },
    { "", false },
    { "identity", false },
    { "gzipped", false },
    { "x-gzip-2", false },
    { "gzip;q=0", false },
    { "gzip;q=0.000", false },
    { "gzip; q=0, *", false },
    { "gzip ;Q=0 ", false },
    { "*;q=0", false },
    { "deflate;q=1,", false },
    { ",,;;q=0,,", false },
  };
  char line[128];

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    answer a;

    (void)snprintf(line, sizeof(line), "Accept-Encoding: %s\r\n",
                   rows[i].accepts);
    fetch(&a, s, "GET", DOCUMENT, line);
    if (is_packed(&a) != rows[i].packed)
      fail_msg("Accept-Encoding: %s", rows[i].accepts);
    test_free(a.body);
  }
}

/* What is short, what may have a secret, and what goes wrong is as it was; and
 * at the socket all is. */
IN_SCENE(begin_far, the_others_do_not)
{
  static const char *const paths[] = { "/api/v2/info", "/api/v2/users",
                                       "/api/v2/tokens",
                                       "/api/v2/jobs/alice~mnist/config",
                                       "/nothing" };
  const char *here;

  for (size_t i = 0; i < PAI__LEN(paths); i++) {
    answer a;

    fetch(&a, s, "GET", paths[i],
          "Accept-Encoding: gzip\r\nAuthorization: Bearer alice\r\n");
    assert_false(is_packed(&a));
    test_free(a.body);
  }
  here = ask(s, "GET " DOCUMENT " HTTP/1.1\r\nHost: x\r\n"
                "Connection: close\r\nAccept-Encoding: gzip\r\n\r\n");
  expect(here, 200, "\"openapi\"");
  assert_null(strstr(here, "Content-Encoding"));
}
