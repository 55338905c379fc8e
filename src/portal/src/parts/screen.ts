// screen.ts - xterm.js on a page that allows no inline styles
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";

const FONT = "ui-monospace, 'SF Mono', 'DejaVu Sans Mono', monospace";

/* In place of a <style>, which the page's policy forbids: its text goes into a sheet of the page. */
function makeStyle(): HTMLElement {
  const holder = document.createElement("template");
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(holder, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  holder.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(one => one !== sheet);
    Element.prototype.remove.call(holder);
  };
  return holder;
}

/* The page, but for the making of styles. */
const page = new Proxy(document, {
  get(of, name) {
    if (name === "createElement")
      return (tag: string) => tag === "style" ? makeStyle() : of.createElement(tag);
    const value: unknown = Reflect.get(of, name, of);
    return typeof value === "function" ? (value as () => unknown).bind(of) : value;
  },
});

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return { background: of("--row"), foreground: of("--text"), cursor: of("--text"), cursorAccent: of("--row"), selectionBackground: of("--link"), selectionForeground: of("--page") };
}

export interface Screen {
  terminal: Terminal;
  /** Makes it as large as its box. */
  fit: () => void;
  close: () => void;
}

/** Puts a terminal into a box. */
export function openScreen(box: HTMLElement, isRead: boolean): Screen {
  const terminal = new Terminal({ documentOverride: page, fontFamily: FONT, fontSize: 13, minimumContrastRatio: 4.5, screenReaderMode: isRead, scrollback: 10_000, theme: colours() });
  const addon = new FitAddon();
  terminal.loadAddon(addon);
  terminal.open(box);
  addon.fit();
  const theme = new MutationObserver(() => { terminal.options.theme = colours(); });
  theme.observe(document.documentElement, { attributeFilter: ["class"] });
  return {
    terminal, fit: () => addon.fit(),
    close() {
      theme.disconnect();
      terminal.dispose();
    },
  };
}
