// templates.ts - templates that come with openpai; make.sh copies them from examples/templates
import batchFiles from "../examples/batch-files.yaml";
import dataParallel from "../examples/data-parallel.yaml";
import gpuCheck from "../examples/gpu-check.yaml";
import hello from "../examples/hello.yaml";
import jupyter from "../examples/jupyter.yaml";
import logViewer from "../examples/log-viewer.yaml";
import mpi from "../examples/mpi.yaml";
import notebookRun from "../examples/notebook-run.yaml";
import parameterServer from "../examples/parameter-server.yaml";
import pytorchDdp from "../examples/pytorch-ddp.yaml";
import serveModel from "../examples/serve-model.yaml";
import sweep from "../examples/sweep.yaml";
import trainCheckpoints from "../examples/train-checkpoints.yaml";

export interface Template { name: string; text: string; summary: string; description: string; tags: string[]; categories: string[] }

/* Their files have one form: a block of text, and lists on one line. */
function read(name: string, text: string): Template {
  const block = /^description: \|-\n((?: {2}.*\n|\n)*)/m.exec(text)?.[1] ?? "";
  const description = block.replace(/^ {2}/gm, "").trim();
  const list = (key: string) => new RegExp(`^ {4}${key}: \\[(.*)\\]$`, "m").exec(text)?.[1]?.split(", ") ?? [];
  return { name, text, description, summary: description.split("\n")[0]!, tags: list("tags"), categories: list("categories") };
}

export const TEMPLATES: Template[] = [
  read("hello", hello),
  read("batch-files", batchFiles),
  read("data-parallel", dataParallel),
  read("gpu-check", gpuCheck),
  read("jupyter", jupyter),
  read("log-viewer", logViewer),
  read("mpi", mpi),
  read("notebook-run", notebookRun),
  read("parameter-server", parameterServer),
  read("pytorch-ddp", pytorchDdp),
  read("serve-model", serveModel),
  read("sweep", sweep),
  read("train-checkpoints", trainCheckpoints),
];
