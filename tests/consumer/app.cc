/*
 * app.cc - a program in C++11 and later: handles in smart pointers, options
 * from their initialisers, a lambda for a callback, codes as exceptions
 */
#include <openpai/openpai.h>
#include <openpai/server.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace
{

template <typename T, void (*Free)(T *)> struct freed {
  void operator()(T *handle) const
  {
    Free(handle);
  }
};
using loop = std::unique_ptr<pai_loop, freed<pai_loop, pai_loop_free>>;
using cluster =
  std::unique_ptr<pai_cluster, freed<pai_cluster, pai_cluster_free>>;
using scheduler = std::unique_ptr<pai_sched, freed<pai_sched, pai_sched_free>>;

/* By reference: arguments may be evaluated from right to left. */
int good(int rc, pai_error *&err)
{
  if (rc < 0) {
    std::string message = pai_error_message(err);
    pai_error_free(err);
    throw std::runtime_error(message);
  }
  return rc;
}

std::string decisions(pai_sched *sched)
{
  pai_error *err = nullptr;
  std::string out;
  int count = good(pai_sched_decide(sched, 0, &err), err);

  for (int i = 0; i < count; i++)
    good(pai_sched_write_decision(
           sched, static_cast<size_t>(i),
           [](void *to, const char *bytes, size_t len) -> int {
             static_cast<std::string *>(to)->append(bytes, len);
             return PAI_OK;
           },
           &out, &err),
         err);
  return out;
}

void submit(pai_sched *sched)
{
  pai_want want = pai_want();
  pai_request request = pai_request();
  pai_sched_event event = pai_sched_event();
  pai_error *err = nullptr;

  want.struct_size = sizeof(want);
  want.tasks = 2;
  want.gpus = 4;
  request.struct_size = sizeof(request);
  request.id = 1;
  request.wants = &want;
  request.nwants = 1;
  event.struct_size = sizeof(event);
  event.kind = PAI_SCHED_SUBMIT;
  event.request = &request;
  good(pai_sched_send(sched, &event, &err), err);
}

void schedule()
{
  pai_cluster_options cluster_options = PAI_CLUSTER_OPTIONS_INIT;
  pai_sched_options options = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *made = nullptr;
  pai_sched *sched = nullptr;
  pai_error *err = nullptr;

  good(pai_cluster_synthetic(&made, "nodes:1 gpu:8", &cluster_options, &err),
       err);
  cluster nodes(made);
  good(pai_sched_new(&sched, nodes.get(), &options, &err), err);
  scheduler owner(sched);
  submit(sched);
  if (decisions(sched).find("\"start\"") == std::string::npos)
    throw std::logic_error("nothing was started");
}

/* Refused, and the message comes over as it is. */
void refuse()
{
  pai_loop_options loop_options = PAI_LOOP_OPTIONS_INIT;
  pai_server_options options = PAI_SERVER_OPTIONS_INIT;
  pai_loop *made = nullptr;
  pai_server *server = nullptr;
  pai_error *err = nullptr;

  good(pai_loop_new(&made, &loop_options, &err), err);
  loop owner(made);
  try {
    good(pai_server_new(&server, made, nullptr, &options, &err), err);
  } catch (const std::runtime_error &error) {
    std::cout << error.what() << '\n';
    return;
  }
  throw std::logic_error("a server without a platform");
}

} // namespace

int main()
{
  schedule();
  refuse();
  return 0;
}
