// draw.ts - the machine map on a canvas
import { isMeasured, scaled, SICK_CELL, TAKEN, UNKNOWN, type Mode, type RANGES } from "./colours";
import { cornerOf, type Layout } from "./layout";
import { FREE, nameIn, SICK, type Picture } from "./picture";

export type Readings = (number | undefined)[][];

export interface Look {
  mode: Mode;
  readings: Readings;
  named: (name: string) => string;
  /** A job whose cells are marked. */
  job: number | null;
}

/* Colours of the page, which are others in the dark. */
function pageColours(canvas: HTMLCanvasElement) {
  const style = getComputedStyle(canvas);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return { free: of("--track"), text: of("--text"), dim: of("--dim"), focus: of("--focus"), font: style.fontFamily };
}

function colourOf(picture: Picture, { mode, readings, named }: Look, node: number, cell: number, free: string): string {
  const task = picture.nodes[node]!.cells[cell]!;
  if (isMeasured(mode) && task !== SICK) {
    const value = readings[node]?.[cell];
    return value !== undefined ? scaled(mode as keyof typeof RANGES, value) : task === FREE ? free : UNKNOWN;
  }
  return task < 0 ? free : mode === "taken" ? TAKEN : named(nameIn(mode, picture.jobs[picture.tasks[task]!.job]!));
}


export function draw(canvas: HTMLCanvasElement, picture: Picture, layout: Layout, look: Look): void {
  const scale = devicePixelRatio, { cell, label } = layout;
  const context = canvas.getContext("2d")!;
  const page = pageColours(canvas);
  const [wide, tall] = [Math.round(layout.width * scale), Math.round(layout.height * scale)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, layout.width, layout.height);
  const byColour = new Map<string, Path2D>(), crosses = new Path2D(), marks = new Path2D(), closed = new Path2D();
  for (const block of layout.blocks) {
    const node = picture.nodes[block.node]!;
    node.cells.forEach((task, i) => {
      const [x, y] = cornerOf(layout, { node: block.node, cell: i });
      const colour = colourOf(picture, look, block.node, i, page.free);
      const path = byColour.get(colour) ?? new Path2D();
      byColour.set(colour, path);
      path.rect(x, y, cell, cell);
      if (node.sick.includes(i)) {
        crosses.moveTo(x + 1, y + 1);
        crosses.lineTo(x + cell - 1, y + cell - 1);
        crosses.moveTo(x + cell - 1, y + 1);
        crosses.lineTo(x + 1, y + cell - 1);
      }
      if (look.job !== null && task >= 0 && picture.tasks[task]!.job === look.job) {
        marks.rect(x, y, cell, cell);
      }
    });
    if (node.state !== "up")
      closed.rect(block.x - 3, block.y + label - 3, block.columns * (cell + layout.gap) + 4,
        Math.ceil(block.cells / block.columns) * (cell + layout.gap) + 4);
  }
  for (const [colour, path] of byColour) {
    context.fillStyle = colour;
    context.fill(path);
  }
  context.lineWidth = cell > 10 ? 2 : 1.5;
  context.strokeStyle = SICK_CELL;
  context.stroke(crosses);
  context.setLineDash([4, 3]);
  context.stroke(closed);
  context.setLineDash([]);
  context.lineWidth = 2;
  context.strokeStyle = page.focus;
  context.stroke(marks);
  if (label > 0)
    drawNames(context, picture, layout, page);
}

function drawNames(context: CanvasRenderingContext2D, picture: Picture, layout: Layout, page: ReturnType<typeof pageColours>): void {
  context.font = `12px ${page.font}`;
  context.textBaseline = "top";
  for (const { node, x, y, columns } of layout.blocks) {
    const { name, state } = picture.nodes[node]!;
    const room = Math.max(columns * (layout.cell + layout.gap), 72);
    let shown = name;
    while (shown.length > 3 && context.measureText(shown).width > room)
      shown = `${shown.slice(0, -2)}…`;
    context.fillStyle = state === "up" ? page.text : page.dim;
    context.fillText(shown, x, y);
  }
}
