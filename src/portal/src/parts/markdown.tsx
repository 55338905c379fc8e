// markdown.tsx - text of other users as Markdown: no HTML, links to http and https alone
import type { ComponentChildren } from "preact";

const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|\[([^\]\n]{1,500})\]\((https?:\/\/[^\s()<>]{1,2000})\)/g;

function inline(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, code, strong, weak, label, url] = found;
    out.push(text.slice(at, found.index));
    at = found.index + all.length;
    if (code !== undefined)
      out.push(<code>{code}</code>);
    else if (strong !== undefined)
      out.push(<strong>{strong}</strong>);
    else if (weak !== undefined)
      out.push(<em>{weak}</em>);
    else
      out.push(<a href={url} target="_blank" rel="noopener noreferrer nofollow">{label}</a>);
  }
  out.push(text.slice(at));
  return out;
}

/* Headings of the text are below those of the page. */
function heading(level: number, text: string): ComponentChildren {
  return level === 1 ? <h3>{inline(text)}</h3> : level === 2 ? <h4>{inline(text)}</h4> : <h5>{inline(text)}</h5>;
}

const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const FENCE = /^\s*```/;

export function Markdown({ text }: { text: string }) {
  const lines = text.split(/\r?\n/);
  const out: ComponentChildren[] = [];
  let i = 0;
  const take = (wanted: (line: string) => boolean): string[] => {
    const from = i;
    while (i < lines.length && wanted(lines[i]!))
      i++;
    return lines.slice(from, i);
  };
  while (i < lines.length) {
    const line = lines[i]!;
    const head = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (line.trim() === "") {
      i++;
    } else if (FENCE.test(line)) {
      i++;
      out.push(<pre tabIndex={0}>{take(one => !FENCE.test(one)).join("\n")}</pre>);
      i++;
    } else if (head !== null) {
      out.push(heading(head[1]!.length, head[2]!));
      i++;
    } else if (item !== null) {
      const items = take(one => ITEM.test(one)).map(one => <li>{inline(ITEM.exec(one)![2]!)}</li>);
      out.push(item[1] === undefined ? <ul>{items}</ul> : <ol>{items}</ol>);
    } else {
      const rest = take(one => one.trim() !== "" && !FENCE.test(one) && !HEADING.test(one) && !ITEM.test(one));
      out.push(<p>{inline(rest.join("\n"))}</p>);
    }
  }
  return <div class="markdown">{out}</div>;
}
