// lazy.tsx - pages whose code is loaded when they are opened for the first time
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

/** A component that loads its module first; the module exports it by `name`. */
export function lazy<Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, ComponentType<Props>>>, name: Name,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [, again] = useState(0);
    useEffect(() => {
      if (loaded === undefined)
        void load().then(module => {
          loaded = module[name];
          again(1);
        });
    }, []);
    const Loaded = loaded;
    return Loaded === undefined ? <p class="loading" aria-busy="true" /> : <Loaded {...props} />;
  };
}
