// world.ts - a worker with the scheduler's state, for pages to ask
import { useEffect, useRef } from "preact/hooks";
import { t } from "../texts";
import type { Question, Questions, Reply } from "./worker";

const address = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)!.content;

export class World {
  #worker = new Worker(address("openpai-world"), { type: "module" });
  #waiting = new Map<number, { done: (answer: never) => void; failed: (error: Error) => void; tell: (done: number) => void }>();
  #last = 0;

  constructor() {
    this.#worker.addEventListener("message", ({ data: { id, answer, error, done } }: MessageEvent<Reply>) => {
      const one = this.#waiting.get(id);
      if (done !== undefined) {
        one?.tell(done);
        return;
      }
      this.#waiting.delete(id);
      if (error !== undefined)
        one?.failed(new Error(error));
      else
        one?.done(answer as never);
    });
    this.#worker.addEventListener("error", event => {
      for (const one of this.#waiting.values())
        one.failed(new Error(event.message || t("workerFailed")));
      this.#waiting.clear();
    });
  }

  /** `tell` hears how much of the work is done. */
  ask<Kind extends keyof Questions>(kind: Kind, what: Questions[Kind]["ask"], tell: (done: number) => void = () => {}): Promise<Questions[Kind]["answer"]> {
    const id = ++this.#last;
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed, tell });
      this.#worker.postMessage({ id, kind, module: address("openpai-core"), ...what } as Question);
    });
  }

  end(): void {
    this.#worker.terminate();
  }
}

/** A world that lives as long as the component. */
export function useWorld(): World {
  const world = useRef<World>();
  world.current ??= new World();
  useEffect(() => () => world.current?.end(), []);
  return world.current;
}
