/* serve.c - options shared by `up` and `serve`: times, sizes, and the address
 * that others reach */
#include "keep.h"
#include "serve.h"
#include "quantity.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool cli_keep_time(int64_t *ms, const char *word)
{
  *ms = 0;
  if (word == NULL)
    return true;
  if (cli_read_since(ms, word) && *ms < 0) {
    *ms = -*ms;
    return true;
  }
  return cli_wrong("--keep is a time, as 12h, 30d or 1d12h", word);
}

/* Parses "500M", "20G", "1T". */
static bool read_size(uint64_t *bytes, const char *word)
{
  int64_t size = 0;

  *bytes = 0;
  if (word == NULL)
    return true;
  if (cli_read_bytes(word, strlen(word), &size) &&
      strpbrk(word, "KMGT") != NULL)
    *bytes = (uint64_t)size;
  if (*bytes > 0)
    return true;
  return cli_wrong("--keep-size is an amount, as 500M, 20G or 1T", word);
}

bool cli_keep_read(pai_platform_options *out, const cli_keep_options *k)
{
  int64_t ms;

  if (!cli_keep_time(&ms, k->keep) ||
      !read_size(&out->keep_bytes, k->keep_size))
    return false;
  out->keep_jobs = cli_number(k->keep_jobs, 0);
  out->keep_time = ms * 1000;
  return true;
}

bool cli_keep_good(const cli_keep_options *k)
{
  pai_platform_options none = { 0 };

  return cli_keep_read(&none, k);
}

char *cli_join_addresses(const cli_words *listen, const char *usual)
{
  size_t size = strlen(usual) + 1, len = 0;
  char *list;

  for (size_t i = 0; i < listen->count; i++)
    size += strlen(listen->words[i]) + 1;
  list = malloc(size);
  if (list == NULL)
    return NULL;
  (void)snprintf(list, size, "%s", listen->count == 0 ? usual : "");
  for (size_t i = 0; i < listen->count; i++)
    len += (size_t)snprintf(list + len, size - len, "%s%s", i > 0 ? "," : "",
                            listen->words[i]);
  return list;
}

void cli_set_rates(pai_server_options *o, unsigned rate)
{
  o->rate_requests = rate;
  o->rate_lists = rate > 0 ? 120 : 0;
  o->rate_submits = rate > 0 ? 3600 : 0;
}

/* Finds the address from which a packet to `elsewhere` would be sent; sends
 * none. */
static bool find_own(char *out, size_t size, int family, const char *elsewhere)
{
  const struct addrinfo hints = { .ai_family = family,
                                  .ai_socktype = SOCK_DGRAM,
                                  .ai_flags = AI_NUMERICHOST };
  struct addrinfo *to = NULL;
  struct sockaddr_storage own;
  socklen_t len = sizeof(own);
  bool found = false;
  int fd = -1;

  if (getaddrinfo(elsewhere, "9", &hints, &to) != 0)
    return false;
  fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  found = fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
          getsockname(fd, (struct sockaddr *)&own, &len) == 0 &&
          getnameinfo((struct sockaddr *)&own, len, out, (socklen_t)size, NULL,
                      0, NI_NUMERICHOST) == 0;
  if (fd >= 0)
    (void)close(fd);
  freeaddrinfo(to);
  return found;
}

static bool is_loopback(const char *host)
{
  return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
         strcmp(host, "localhost") == 0;
}

bool cli_find_address(char *out, size_t size, const char *listen)
{
  unsigned char bytes[sizeof(struct in6_addr)];
  char host[256];
  const char *end;
  size_t len;

  out[0] = '\0';
  if (listen == NULL || *listen == '\0')
    return false;
  len = strcspn(listen, ",");
  end = memchr(listen, ']', len);
  if (listen[0] == '[' && end != NULL) {
    listen++;
    len = (size_t)(end - listen);
  } else {
    for (size_t i = len; i > 0; i--)
      if (listen[i - 1] == ':') {
        len = i - 1;
        break;
      }
  }
  if (len >= sizeof(host) || len >= size)
    return false;
  memcpy(host, listen, len);
  host[len] = '\0';
  if (is_loopback(host))
    return false;
  if (strcmp(host, "::") != 0 && strcmp(host, "0.0.0.0") != 0 &&
      (inet_pton(AF_INET, host, bytes) == 1 ||
       inet_pton(AF_INET6, host, bytes) == 1)) {
    memcpy(out, host, len + 1);
    return true;
  }
  return find_own(out, size, AF_INET, "192.0.2.1") ||
         find_own(out, size, AF_INET6, "2001:db8::1");
}
