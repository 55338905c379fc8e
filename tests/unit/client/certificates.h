/* certificates.h - an authority of the test's own, and what it signs */
#ifndef PAI_TESTS_CLIENT_CERTIFICATES_H
#define PAI_TESTS_CLIENT_CERTIFICATES_H

enum { CERTIFICATE_SIZE = 8192 };

typedef struct certificate {
  void *key, *of_key; /* GnuTLS's certificate and key */
  char pem[CERTIFICATE_SIZE], key_pem[CERTIFICATE_SIZE];
} certificate;

/* Signed by `by`, or by itself, as an authority then; for a host, or, NULL, a
 * client; valid from and until so many seconds from now. */
void certificate_make(certificate *out, const certificate *by,
                      const char *host, long from, long until);
void certificate_free(certificate *c);
/* A text as a file in a folder. */
void certificate_save(char path[96], const char *folder, const char *name,
                      const char *pem);

#endif
