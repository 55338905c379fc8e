// fake_vscode.ts - as much of VS Code's API as the tested modules load or call

export class EventEmitter<T> {
  private readonly listeners: ((event: T) => void)[] = [];
  event = (listener: (event: T) => void) => {
    this.listeners.push(listener);
    return { dispose: () => undefined };
  };
  fire(event: T): void {
    this.listeners.forEach(listener => listener(event));
  }
  dispose(): void {
    this.listeners.length = 0;
  }
}

export class Uri {
  constructor(readonly scheme: string, readonly authority: string, readonly path: string) {}
  static from(parts: { scheme: string; authority?: string; path: string }): Uri {
    return new Uri(parts.scheme, parts.authority ?? "", parts.path);
  }
  with(parts: { path: string }): Uri {
    return new Uri(this.scheme, this.authority, parts.path);
  }
  toString(): string {
    return `${this.scheme}://${this.authority}${this.path}`;
  }
}

export class ThemeIcon {
  static readonly Folder = new ThemeIcon("folder");
  static readonly File = new ThemeIcon("file");
  constructor(readonly id: string, readonly color?: unknown) {}
}
export class ThemeColor {
  constructor(readonly id: string) {}
}
export class TreeItem {
  constructor(readonly label: string, readonly collapsibleState?: number) {}
}
export class DocumentLink {
  constructor(readonly range: unknown) {}
}
export class FileSystemError extends Error {
  static FileNotFound = (uri: Uri) => new FileSystemError(`${uri} not found`);
  static NoPermissions = (text: string) => new FileSystemError(text);
  static Unavailable = (text: string) => new FileSystemError(text);
}
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 };
export const FileChangeType = { Changed: 1, Created: 2, Deleted: 3 };
export class Disposable {
  constructor(readonly dispose: () => void) {}
}
export class CancellationError extends Error {}

/** The last input box that was made, for the test to type in. */
export class InputBox {
  static last: InputBox;
  value = "";
  busy = false;
  enabled = true;
  validationMessage: string | undefined;
  private readonly accepted = new EventEmitter<void>();
  private readonly edited = new EventEmitter<string>();
  private readonly hidden = new EventEmitter<void>();
  onDidAccept = this.accepted.event;
  onDidChangeValue = this.edited.event;
  onDidHide = this.hidden.event;
  constructor() {
    InputBox.last = this;
  }
  /** Types a text and presses Enter; resolves when what that began is done. */
  async type(text: string): Promise<void> {
    this.edited.fire(this.value = text);
    this.accepted.fire();
    while (this.busy)
      await new Promise(done => setImmediate(done));
  }
  show = () => undefined;
  hide = () => this.hidden.fire();
  dispose = () => this.hide();
}
export const window = { createInputBox: () => new InputBox() };
/** Context keys that were set. */
export const context: Record<string, unknown> = {};
export const commands = {
  executeCommand: async (_: string, key: string, value: unknown) => { context[key] = value; },
};
/** Fires when a test opens a document. */
export const opened = new EventEmitter<{ uri: Uri }>();
export const workspace = {
  getConfiguration: () => ({ get: <T>(_: string, usual: T) => usual }),
  onDidOpenTextDocument: opened.event,
  onDidCloseTextDocument: new EventEmitter<unknown>().event,
  onDidChangeTextDocument: new EventEmitter<unknown>().event,
};
