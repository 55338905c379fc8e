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
  int state() { return exec_state($self); }
  log_bytes take(uint32_t stream) { return exec_take($self, stream); }
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
