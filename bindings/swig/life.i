/* life.i - the life of a job, and the exit spec, for openpai.i */

%newobject Life::make;
%newobject Life::load;

typedef struct {} Life;
%extend Life {
  static Life *make(Job *job, uint64_t seed, bool gang, bool raw,
                    bool own_signals, failure *f) {
    return facade_life(job, seed, gang, raw, own_signals, f);
  }
  static Life *load(const char *text, size_t len, failure *f) {
    return facade_life_load(text, len, f);
  }
  ~Life() { facade_life_free($self); }
  job_text save(failure *f) { return facade_life_save($self, f); }
  void send(const char *kind, uint32_t task, uint32_t count, int code,
            int64_t time, failure *f) {
    facade_life_send($self, kind, task, count, code, time, f);
  }
  void rescale(uint32_t role, uint32_t tasks, int64_t time, failure *f) {
    facade_life_rescale($self, role, tasks, time, f);
  }
  listing next(uint32_t most, failure *f) {
    return facade_life_next($self, most, f);
  }
  listing look(failure *f) { return facade_life_look($self, f); }
}

%inline %{
static listing exit_entry(int code, failure *f)
{
  return facade_exit(code, f);
}
static listing exit_codes(failure *f)
{
  return facade_exits(f);
}
%}
