/* certificates.c - an authority of the test's own, and what it signs */
#include "client/certificates.h"

#include "files.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <time.h>

static void check(int rc)
{
  if (rc < 0)
    print_message("%s\n", gnutls_strerror(rc));
  assert_true(rc >= 0);
}

static void make_key(gnutls_x509_privkey_t *key)
{
  check(gnutls_x509_privkey_init(key));
  check(gnutls_x509_privkey_generate(
    *key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
    0));
}

static void name_it(gnutls_x509_crt_t c, bool authority, const char *host)
{
  const char *name = authority ? "test authority" : host != NULL ? host : "me";

  check(gnutls_x509_crt_set_dn_by_oid(c, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                      (unsigned)strlen(name)));
  check(gnutls_x509_crt_set_basic_constraints(c, authority, -1));
  check(gnutls_x509_crt_set_key_usage(
    c, GNUTLS_KEY_DIGITAL_SIGNATURE |
         (authority ? GNUTLS_KEY_KEY_CERT_SIGN : 0)));
  if (host != NULL && strcmp(host, "127.0.0.1") == 0)
    check(gnutls_x509_crt_set_subject_alt_name(
      c, GNUTLS_SAN_IPADDRESS, "\x7f\0\0\1", 4, GNUTLS_FSAN_SET));
  else if (host != NULL)
    check(gnutls_x509_crt_set_subject_alt_name(
      c, GNUTLS_SAN_DNSNAME, host, (unsigned)strlen(host), GNUTLS_FSAN_SET));
}

void certificate_make(certificate *out, const certificate *by,
                      const char *host, long from, long until)
{
  static unsigned char serial = 1;
  const unsigned char id[] = { 1, serial++ };
  gnutls_x509_privkey_t key;
  gnutls_x509_crt_t c;
  size_t size;

  memset(out, 0, sizeof(*out));
  make_key(&key);
  check(gnutls_x509_crt_init(&c));
  check(gnutls_x509_crt_set_version(c, 3));
  check(gnutls_x509_crt_set_serial(c, id, sizeof(id)));
  check(gnutls_x509_crt_set_activation_time(c, time(NULL) + from));
  check(gnutls_x509_crt_set_expiration_time(c, time(NULL) + until));
  check(gnutls_x509_crt_set_key(c, key));
  check(gnutls_x509_crt_set_subject_key_id(c, id, sizeof(id)));
  name_it(c, by == NULL, host);
  check(gnutls_x509_crt_sign2(c, by != NULL ? by->key : c,
                              by != NULL ? by->of_key : key, GNUTLS_DIG_SHA256,
                              0));
  size = sizeof(out->pem);
  check(gnutls_x509_crt_export(c, GNUTLS_X509_FMT_PEM, out->pem, &size));
  size = sizeof(out->key_pem);
  check(
    gnutls_x509_privkey_export(key, GNUTLS_X509_FMT_PEM, out->key_pem, &size));
  out->key = c;
  out->of_key = key;
}

void certificate_free(certificate *c)
{
  gnutls_x509_crt_deinit(c->key);
  gnutls_x509_privkey_deinit(c->of_key);
}

void certificate_save(char path[96], const char *folder, const char *name,
                      const char *pem)
{
  (void)snprintf(path, 96, "%s/%s", folder, name);
  test_write_file(path, pem);
}
