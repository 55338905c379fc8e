// lazy.tsx - pages whose code is loaded when they are opened for the first time
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

type Module<Name extends string, Properties> = Record<Name, ComponentType<Properties>>;

/** A component that loads its module first; the module exports it by `name`. */
export function lazy<Name extends string, Properties extends object = object>(
  load: () => Promise<Module<Name, Properties>>, name: Name,
): ComponentType<Properties> {
  let loaded: ComponentType<Properties> | undefined;
  return function Lazy(properties: Properties) {
    const [, again] = useState(0);
    useEffect(() => {
      if (loaded === undefined)
        void load().then(module => {
          loaded = module[name];
          again(1);
        });
    }, []);
    const Loaded = loaded;
    return Loaded === undefined ? <p class="loading" aria-busy="true" /> : <Loaded {...properties} />;
  };
}
