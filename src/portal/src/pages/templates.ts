// templates.ts - examples to begin a job file with; make.sh copies them from examples/jobs
import hello from "../examples/hello.yaml";

export const TEMPLATES: { name: string; text: string }[] = [
  { name: "hello", text: hello },
];
