// plugin_frame.ts - in the frame of a plugin: loads its script and mounts its element
//
// The frame has an origin of its own. What the element needs comes as a message from the
// portal's page; the script is named by the page that the server made.
(() => {
  const uri = (document.currentScript as HTMLScriptElement).dataset.uri!;
  const element = document.createElement("pai-plugin");
  let isMounted = false;

  function mount(): void {
    const script = document.createElement("script");
    script.src = uri;
    script.addEventListener("load", () => document.body.append(element));
    script.addEventListener("error", () => { document.body.textContent = `The plugin's script could not be loaded: ${uri}`; });
    document.head.append(script);
  }

  addEventListener("message", (event: MessageEvent<{ attributes?: Record<string, string> }>) => {
    if (event.source !== parent || event.data.attributes === undefined)
      return;
    for (const [name, value] of Object.entries(event.data.attributes))
      element.setAttribute(name, value);
    if (!isMounted)
      mount();
    isMounted = true;
  });
  parent.postMessage("openpai-plugin-ready", "*"); // says nothing
})();
