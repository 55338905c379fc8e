// layout.ts - where the cells of the machine map are
import type { MapNode } from "./picture";

export interface Block { node: number; x: number; y: number; columns: number; cells: number }
export interface Layout { cell: number; gap: number; label: number; blocks: Block[]; width: number; height: number }

const LABEL = 16;        // height of a node's name
const NARROWEST = 74;    // of a block with a name
const MOST_NAMED = 160;  // nodes with names

/* [cells up to, size of one] */
const SIZES = [[64, 26], [512, 18], [1600, 13], [5000, 9], [Infinity, 6]] as const;

/* Columns of a node: 8 GPUs are two rows of four. */
function columnsOf(cells: number): number {
  return cells <= 4 ? Math.max(cells, 1) : cells <= 8 ? 4 : 2 ** Math.ceil(Math.log2(Math.sqrt(cells)));
}

/** Places blocks of nodes in rows, as the width allows. */
export function layoutOf(nodes: MapNode[], width: number): Layout {
  const all = nodes.reduce((sum, node) => sum + node.cells.length, 0);
  const cell = SIZES.find(([most]) => all <= most)![1];
  const gap = cell > 10 ? 2 : 1;
  const label = nodes.length <= MOST_NAMED ? LABEL : 0;
  const step = cell + gap, between = Math.max(8, Math.round(cell / 1.5));
  const blocks: Block[] = [];
  let x = between / 2, y = 4, tallest = 0;
  nodes.forEach((node, i) => {
    const columns = Math.min(columnsOf(node.cells.length), Math.max(1, Math.floor((width - between) / step)));
    const wide = Math.max(columns * step, label > 0 ? NARROWEST : 0);
    const tall = label + Math.max(1, Math.ceil(node.cells.length / columns)) * step;
    if (x + wide > width && x > between / 2) {
      x = between / 2;
      y += tallest + between;
      tallest = 0;
    }
    blocks.push({ node: i, x, y, columns, cells: node.cells.length });
    x += wide + between;
    tallest = Math.max(tallest, tall);
  });
  return { cell, gap, label, blocks, width, height: y + tallest + 6 };
}

export interface Spot { node: number; cell: number }

/** Upper left corner of a cell. */
export function cornerOf(layout: Layout, { node, cell }: Spot): [number, number] {
  const { x, y, columns } = layout.blocks[node]!;
  const step = layout.cell + layout.gap;
  return [x + cell % columns * step, y + layout.label + Math.floor(cell / columns) * step];
}

/** The cell at a point. */
export function spotAt(layout: Layout, x: number, y: number): Spot | null {
  const step = layout.cell + layout.gap;
  for (const { node, x: left, y: top, columns, cells } of layout.blocks) {
    const column = Math.floor((x - left) / step), row = Math.floor((y - top - layout.label) / step);
    if (column >= 0 && column < columns && row >= 0 && row * columns + column < cells)
      return { node, cell: row * columns + column };
  }
  return null;
}
