// dom.mjs - as much of a browser as the viewer asks for; what could run a report's words as code,
// or fetch them, does not exist or throws

class Node {
  children = [];
  attributes = new Map();
  listeners = new Map();
  dataset = {};
  style = {};
  hidden = false;
  clientWidth = 900;
  offsetWidth = 100;
  offsetHeight = 40;

  constructor(tag) {
    this.tag = tag;
    this.classList = {
      contains: name => this.className().includes(name),
      toggle: (name, on) => this.setAttribute("class",
        this.className().filter(other => other !== name).concat(on ? [name] : []).join(" ")),
    };
  }

  className() { return (this.attributes.get("class") ?? "").split(" "); }

  setAttribute(name, value) {
    if (/^(on.*|style|href|src|srcdoc)$/i.test(name))
      throw new Error(`${this.tag} gets ${name}`);
    this.attributes.set(name, String(value));
  }

  append(...children) {
    for (const child of children)
      this.children.push(child instanceof Node ? child : String(child));
  }

  prepend(...children) {
    this.children = [...children, ...this.children.filter(child => !children.includes(child))];
  }

  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  get lastChild() { return this.children.at(-1); }
  set innerHTML(text) { throw new Error("innerHTML"); }
  set textContent(text) { this.replaceChildren(text); }
  addEventListener(name, act) {
    this.listeners.set(name, [...this.listeners.get(name) ?? [], act]);
  }

  dispatchEvent(event) {
    for (const act of this.listeners.get(event.type) ?? [])
      act(event);
  }

  getBoundingClientRect() { return { left: 0, top: 0 }; }
  querySelector(tag) { return all(this, tag)[0] ?? null; }

  getContext() {
    const context = { rects: 0, scale() {}, fillRect() { context.rects++; } };
    this.context ??= context;
    return this.context;
  }
}

/** All elements of a tag, in the order of the page */
export function all(root, tag) {
  return root.children.flatMap(child => child instanceof Node
    ? [...child.tag === tag ? [child] : [], ...all(child, tag)] : []);
}

/** All texts under an element, a line for each */
export function texts(root) {
  return root.children.flatMap(child => child instanceof Node ? texts(child) : [child]);
}

/** Puts it in place of a browser's; returns an element to draw in */
export function begin(colour = "rgb(0, 0, 0)") {
  Object.assign(globalThis, {
    devicePixelRatio: 1,
    document: { createElement: tag => new Node(tag), createElementNS: (space, tag) => new Node(tag) },
    getComputedStyle: () => ({ color: colour, getPropertyValue: name => name }),
    ResizeObserver: class {
      constructor(act) { this.act = act; }
      observe() { this.act(); }
    },
  });
  return new Node("div");
}

/** A press of a key on an element */
export function press(element, key) {
  element.dispatchEvent({ type: "keydown", key, preventDefault() {} });
}
