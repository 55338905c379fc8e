/* follow.i - who follows a platform's scheduler, and what is to be durable, for
 * openpai.i */

PAI_CALLS_BACK(Follower::~Follower)

%newobject Platform::follow;
%newobject Platform::promise;

typedef struct {} Follower;
%extend Follower {
  ~Follower() { facade_follow_free($self); }
  job_text read(failure *f) { return facade_follow_read($self, f); }
}

typedef struct {} Promise;
%extend Promise {
  ~Promise() { facade_promise_free($self); }
  int state() { return facade_promise_state($self); }
  void take(failure *f) { facade_promise_take($self, f); }
}

%extend Platform {
  Follower *follow(failure *f) { return facade_follow($self, f); }
  pai_job_id submit_soon(Job *job, words fields, failure *f) {
    return facade_submit_soon($self, job, fields, f);
  }
  Promise *promise(failure *f) { return facade_promise($self, f); }
}
