/* inputs.c - job specs and job lists as OpenPAI's users and server make them */
#include "bench.h"
#include "base/prng.h"

/* A role's lines, each behind `indent`. */
static void yaml_role(pai__buf *out, const char *indent, const char *role,
                      unsigned instances)
{
  static const char *const lines[] = {
    "  completion:",
    "    minFailedInstances: 1",
    "    minSucceededInstances: -1",
    "  taskRetryCount: 0",
    "  dockerImage: docker_image_0",
    "  data: training_data",
    "  resourcePerInstance:",
    "    gpu: 4",
    "    cpu: 16",
    "    memoryMB: 65536",
    "    ports:",
    "      sync: 1",
    "  extraContainerOptions:",
    "    shmMB: 8192",
    "    infiniband: false",
    "  commands:",
    "    - 'export NCCL_DEBUG=INFO PYTHONUNBUFFERED=1'",
    "    - cd /workdir/examples && pip install -r requirements.txt",
    "    - >-",
    "      python -m torch.distributed.launch --nproc_per_node 4",
    "      --master_addr $PAI_HOST_IP_worker_0 train.py --epochs 90",
    "      --data <% $data.uri[0] %> --lr <% $parameters.lr %>",
  };

  pai__buf_printf(out, "%s%s:\n%s  instances: %u\n", indent, role, indent,
                  instances);
  for (size_t i = 0; i < PAI__LEN(lines); i++)
    pai__buf_printf(out, "%s%s\n", indent, lines[i]);
}

static void yaml_job(pai__buf *out, const char *indent, unsigned number)
{
  pai__buf_printf(out,
                  "protocolVersion: 2\n%sname: resnet_%u\n%stype: job\n"
                  "%sjobRetryCount: 1\n%sprerequisites:\n",
                  indent, number, indent, indent, indent);
  pai__buf_printf(out,
                  "%s  - type: dockerimage\n"
                  "%s    uri: 'openpai/standard:python_3.6-pytorch_1.2-gpu'\n"
                  "%s    name: docker_image_0\n",
                  indent, indent, indent);
  pai__buf_printf(out,
                  "%s  - type: data\n%s    name: training_data\n"
                  "%s    uri:\n%s      - /mnt/data/imagenet # read only\n",
                  indent, indent, indent, indent);
  pai__buf_printf(out,
                  "%sparameters:\n%s  lr: 0.1\n%s  batch: 256\n"
                  "%s  note: \"a \\\"quoted\\\" text, %u\"\n%staskRoles:\n",
                  indent, indent, indent, indent, number, indent);
}

static void yaml_defaults(pai__buf *out, const char *indent)
{
  pai__buf_printf(out,
                  "%sdefaults:\n%s  virtualCluster: default\n%sextras:\n"
                  "%s  com.microsoft.pai.runtimeplugin:\n"
                  "%s    - plugin: ssh\n%s      parameters:\n"
                  "%s        jobssh: true\n",
                  indent, indent, indent, indent, indent, indent, indent);
}

void bench_yaml_spec(pai__buf *out)
{
  yaml_job(out, "", 1);
  yaml_role(out, "  ", "worker", 8);
  yaml_role(out, "  ", "server", 2);
  yaml_role(out, "  ", "tester", 1);
  yaml_defaults(out, "");
}

void bench_yaml_list(pai__buf *out, int njobs)
{
  for (int i = 0; i < njobs; i++) {
    pai__buf_str(out, "- ");
    yaml_job(out, "  ", (unsigned)i);
    yaml_role(out, "    ", "worker", (unsigned)i % 8 + 1);
    yaml_defaults(out, "  ");
  }
}

static void json_role(pai__buf *out, const char *role, unsigned instances)
{
  pai__buf_printf(
    out,
    "    \"%s\": {\n      \"instances\": %u,\n      \"completion\": {\n"
    "        \"minFailedInstances\": 1,\n"
    "        \"minSucceededInstances\": -1\n      },\n"
    "      \"taskRetryCount\": 0,\n"
    "      \"dockerImage\": \"docker_image_0\",\n"
    "      \"resourcePerInstance\": {\n        \"gpu\": 4,\n"
    "        \"cpu\": 16,\n        \"memoryMB\": 65536,\n"
    "        \"ports\": { \"sync\": 1 }\n      },\n"
    "      \"extraContainerOptions\": { \"shmMB\": 8192 },\n"
    "      \"commands\": [\n"
    "        \"export NCCL_DEBUG=INFO PYTHONUNBUFFERED=1\",\n"
    "        \"cd /workdir/examples && pip install -r requirements.txt\",\n"
    "        \"python train.py --epochs 90 --name \\\"r1\\\"\\n\"\n"
    "      ]\n    }",
    role, instances);
}

void bench_json_spec(pai__buf *out)
{
  pai__buf_str(
    out, "{\n  \"protocolVersion\": 2,\n  \"name\": \"resnet_1\",\n"
         "  \"type\": \"job\",\n  \"jobRetryCount\": 1,\n"
         "  \"prerequisites\": [\n    {\n      \"type\": \"dockerimage\",\n"
         "      \"uri\": \"openpai/standard:python_3.6-pytorch_1.2-gpu\",\n"
         "      \"name\": \"docker_image_0\"\n    },\n    {\n"
         "      \"type\": \"data\",\n      \"name\": \"training_data\",\n"
         "      \"uri\": [\"/mnt/data/imagenet\"]\n    }\n  ],\n"
         "  \"parameters\": {\n    \"lr\": 0.1,\n    \"batch\": 256,\n"
         "    \"momentum\": 0.9\n  },\n  \"taskRoles\": {\n");
  json_role(out, "worker", 8);
  pai__buf_str(out, ",\n");
  json_role(out, "server", 2);
  pai__buf_str(out, ",\n");
  json_role(out, "tester", 1);
  pai__buf_str(out, "\n  },\n  \"defaults\": {\n"
                    "    \"virtualCluster\": \"default\"\n  },\n"
                    "  \"extras\": {\n"
                    "    \"com.microsoft.pai.runtimeplugin\": [\n"
                    "      {\n        \"plugin\": \"ssh\",\n"
                    "        \"parameters\": { \"jobssh\": true }\n      }\n"
                    "    ],\n    \"submitFrom\": \"webportal\"\n  }\n}\n");
}

void bench_json_list(pai__buf *out, int njobs)
{
  static const char *const states[] = { "RUNNING", "WAITING", "SUCCEEDED",
                                        "FAILED", "STOPPED" };
  pai__prng r = { 7 };

  pai__buf_char(out, '[');
  for (int i = 0; i < njobs; i++) {
    uint64_t at = 1700000000000 + pai__prng_below(&r, 1000000000);
    unsigned gpus = (unsigned)pai__prng_below(&r, 64);

    pai__buf_printf(
      out,
      "%s{\"debugId\":\"%016llx\",\"name\":\"resnet_%d\","
      "\"username\":\"user%d\",\"state\":\"%s\",\"subState\":"
      "\"AttemptRunning\",\"executionType\":\"START\",\"retries\":0,"
      "\"retryDetails\":{\"user\":0,\"platform\":0,\"resource\":0},"
      "\"retryDelayTime\":null,\"createdTime\":%llu,\"completedTime\":%llu,"
      "\"appExitCode\":%d,\"virtualCluster\":\"vc%u\",\"totalGpuNumber\":%u,"
      "\"totalTaskNumber\":%u,\"totalTaskRoleNumber\":1,"
      "\"jobPriority\":\"default\",\"launchTime\":%llu,"
      "\"completed\":%s,\"gpuHours\":%u.%02u}",
      i != 0 ? "," : "", (unsigned long long)pai__prng_next(&r), i, i % 97,
      states[pai__prng_below(&r, PAI__LEN(states))], (unsigned long long)at,
      (unsigned long long)at + 3600000, i % 3 - 1, (unsigned)i % 5, gpus,
      gpus / 4 + 1, (unsigned long long)at + 1000, i % 2 ? "true" : "false",
      gpus, (unsigned)i % 100);
  }
  pai__buf_char(out, ']');
}
