/* client.i - a client of a server, for openpai.i */

PAI_CALLS_BACK(Client::step)
PAI_CALLS_BACK(Client::dispatch)
PAI_CALLS_BACK(Client::close)
/* These wait for another thread that has the client. */
PAI_CALLS_BACK(Client::~Client)
PAI_CALLS_BACK(Call::~Call)
PAI_CALLS_BACK(Call::cancel)
PAI_CALLS_BACK(Call::take)

%newobject Client::open;
%newobject Client::call;

typedef struct {} Call;
%extend Call {
  ~Call() { call_free($self); }
  void cancel() { call_cancel($self); }
  int state() { return call_state($self); }
  log_bytes take() { return call_take($self); }
  listing answer(failure *f) { return call_answer($self, f); }
  log_bytes body() { return call_body($self); }
}

typedef struct {} Client;
%extend Client {
  static Client *open(words fields, failure *f) {
    return client_open(fields, f);
  }
  ~Client() { client_free($self); }
  void close(failure *f) { client_shut($self, f); }
  bool closed() { return client_is_shut($self); }
  int fileno(failure *f) { return client_fd($self, f); }
  int timeout_ms(failure *f) { return client_timeout_ms($self, f); }
  bool dispatch(failure *f) { return client_dispatch($self, f); }
  bool step(int most_ms, failure *f) {
    return client_step($self, most_ms, f);
  }
  listing who(failure *f) { return client_who($self, f); }
  Call *call(const char *kind, words fields, const char *text, size_t len,
             const char *code, size_t code_len, failure *f) {
    return client_call($self, kind, fields, text, len, code, code_len, f);
  }
}
