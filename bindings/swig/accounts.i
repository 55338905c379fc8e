/* accounts.i - accounts and virtual clusters of a platform, for openpai.i */

PAI_CALLS_BACK(Platform::administer)

%extend Platform {
  listing administer(const char *kind, words fields, const char *text,
                     size_t len, failure *f) {
    return accounts_do($self, kind, fields, text, len, f);
  }
}
