/* hived.i - HiveD's extender, for openpai.i */

PAI_CALLS_BACK(HiveD::load)
PAI_CALLS_BACK(HiveD::parse)
PAI_CALLS_BACK(HiveD::tell)
PAI_CALLS_BACK(HiveD::request)

%newobject HiveD::load;
%newobject HiveD::parse;

typedef struct {} HiveD;
%extend HiveD {
  static HiveD *load(const char *path, failure *f) {
    return facade_hived_load(path, f);
  }
  static HiveD *parse(const char *text, size_t len, failure *f) {
    return facade_hived_parse(text, len, f);
  }
  ~HiveD() { facade_hived_free($self); }
  void tell(const char *text, size_t len, int64_t now, failure *f) {
    facade_hived_tell($self, text, len, now, f);
  }
  listing request(const char *method, const char *target, const char *text,
                  size_t len, int64_t now, failure *f) {
    return facade_hived_request($self, method, target, text, len, now, f);
  }
  listing unbound(const char *uid, const char *reason, failure *f) {
    return facade_hived_unbound($self, uid, reason, f);
  }
}
