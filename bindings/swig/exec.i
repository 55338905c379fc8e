/* exec.i - commands in tasks that run, for openpai.i */

/* They wait for whoever has what the command is on, which runs callbacks. */
PAI_CALLS_BACK(Exec::~Exec)
PAI_CALLS_BACK(Exec::cancel)

%newobject Client::enter;
%newobject Platform::enter;

typedef struct {} Exec;
%extend Exec {
  ~Exec() { exec_free($self); }
  void cancel() { exec_cancel($self); }
  void live(failure *f) { exec_live($self, f); }
  bool begun() { return exec_has_begun($self); }
  bool over() { return exec_is_over($self); }
  int state() { return exec_state($self); }
  log_bytes take(failure *f) { return exec_take($self, f); }
  bool full() { return exec_is_full($self); }
  bool write(const char *text, size_t len, failure *f) {
    return exec_write($self, text, len, f);
  }
  bool pending(failure *f) { return exec_pending($self, f); }
  void end_input(failure *f) { exec_end_input($self, f); }
  void resize(uint32_t columns, uint32_t rows, failure *f) {
    exec_resize($self, columns, rows, f);
  }
  void signal(int number, failure *f) { exec_signal($self, number, f); }
  listing answer(failure *f) { return exec_answer($self, f); }
}

%extend Client {
  Exec *enter(words fields, words names, const char *text, size_t len,
              failure *f) {
    return client_exec($self, fields, names, text, len, f);
  }
}

%extend Platform {
  Exec *enter(pai_job_id job, words fields, words names, const char *text,
              size_t len, failure *f) {
    return platform_exec($self, job, fields, names, text, len, f);
  }
}
