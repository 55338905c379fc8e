// log_text.ts - the text of a log that grows: its end, without what controls a terminal

const MARK = "[the beginning is left out: openpai logs has all of it]\n";
// Colours and cursor movements of terminals.
// eslint-disable-next-line no-control-regex
const CONTROL = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;

export class LogText {
  private parts = "";
  private tail = ""; // a control sequence, or a carriage return, that may go on
  private cut = false;

  constructor(private readonly most: number) {}

  get text(): string {
    return (this.cut ? MARK : "") + this.parts;
  }

  append(piece: string): void {
    let text = this.tail + piece;
    // eslint-disable-next-line no-control-regex
    const open = /(?:\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*)?|\r)$/.exec(text);
    this.tail = open !== null && open[0].length < 256 ? open[0] : "";
    if (this.tail !== "")
      text = text.slice(0, -this.tail.length);
    this.parts += text.replace(CONTROL, "").replace(/\r\n/g, "\n");
    // A carriage return begins a line again: of a progress bar its last state is kept.
    const from = this.parts.lastIndexOf("\n", this.parts.indexOf("\r")) + 1;
    if (this.parts.includes("\r"))
      this.parts = this.parts.slice(0, from) +
        this.parts.slice(from).replace(/[^\n]*\r(?=[^\n]*)/g, "");
    if (this.parts.length > this.most) {
      const at = this.parts.indexOf("\n", this.parts.length - Math.floor(this.most / 2));
      this.parts = this.parts.slice(at + 1);
      this.cut = true;
    }
  }
}
