// SVG as text: elements, colours, legends. No DOM.

/** Text between tags or in an attribute in double quotes. Control characters, which XML forbids, become a mark. */
export function escapeText(text) {
  return String(text)
      .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
      // eslint-disable-next-line no-control-regex
      .replace(
          /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
          "\ufffd");
}

/** A coordinate with at most two decimals. */
export const round = (x) => String(Math.round(x * 100) / 100);

export const rectangle = (x, y, width, height, classes, title) =>
    `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, width))}" height="${
        round(Math.max(0, height))}" ` +
    `class="${classes}"${title ? `><title>${escapeText(title)}</title></rect>` : "/>"}`;

export const segment = (x1, y1, x2, y2) => `M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}`;

export const line = (x1, y1, x2, y2, classes) => path(segment(x1, y1, x2, y2), classes);

/** A circle; `inside` is what stands in it, a title. */
export const circle = (x, y, r, classes, inside) => `<circle cx="${round(x)}" cy="${round(y)}" r="${
    round(r)}" class="${classes}"${inside === undefined ? "/>" : `>${inside}</circle>`}`;

export const path = (d, classes) => (d === "" ? "" : `<path d="${d}" class="${classes}"/>`);

/** Text at a baseline; `anchor` is start, middle or end. */
export const label = (x, y, size, text, classes = "", anchor = "start") =>
    `<text x="${round(x)}" y="${round(y)}" font-size="${round(size)}"${
        anchor === "start" ? "" : ` text-anchor="${anchor}"`}` +
    `${classes ? ` class="${classes}"` : ""}>${escapeText(text)}</text>`;

/** How wide a text is, roughly: enough to place what stands beside it. */
export const textWidth = (text, size, mono = false) => text.length * size * (mono ? 0.61 : 0.55);

/** Breaks a text into lines of at most `columns` characters. */
export function wrapText(text, columns) {
  const lines = [];
  let current = "";
  for (const word of String(text).split(/\s+/)) {
    let rest = word;
    if (current !== "" && current.length + 1 + rest.length > columns) {
      lines.push(current);
      current = "";
    }
    while (rest.length > columns) {
      lines.push(rest.slice(0, columns));
      rest = rest.slice(columns);
    }
    current = current === "" ? rest : `${current} ${rest}`;
  }
  if (current !== "") lines.push(current);
  return lines;
}

/** One thread at one moment: a state has a shape, so that it needs no colour. */
export function stateCell(x, y, width, height, state, title) {
  const gap = Math.min(1.5, width / 6);
  const [left, top, w, h] = [x + gap, y + gap, width - 2 * gap, height - 2 * gap];
  const titled = title ? `<title>${escapeText(title)}</title>` : "";
  const hit = title ? rectangle(x, y, width, height, "hit") : "";
  switch (state) {
    case "active": return `<g>${titled}${rectangle(left, top, w, h, "active")}</g>`;
    case "idle":
      return `<g>${titled}${rectangle(left, top, w, h, "idle")}${
          line(left, top + h, left + w, top, "slash")}</g>`;
    case "ready": return `<g>${titled}${rectangle(left, top, w, h, "ready")}</g>`;
    case "waiting":
      return `<g>${titled}${hit}${
          rectangle(
              x + width / 2 - Math.min(1.5, w / 4), top + h * 0.12, Math.min(3, w / 2), h * 0.76,
              "waiting")}</g>`;
    default:
      return `<g>${titled}${hit}${
          rectangle(x + width / 2 - 1.2, y + height / 2 - 1.2, 2.4, 2.4, "left")}</g>`;
  }
}

/** A row of [mark, text]; mark(x, y, size) draws into a square. Returns {svg, height}. */
export function legend(entries, x, y, width, font) {
  const size = font * 0.95;
  const lineHeight = font * 1.55;
  let [column, row] = [0, 0];
  let svg = "";
  for (const [mark, text] of entries) {
    const needed = size + font * 0.4 + textWidth(text, font * 0.92);
    if (column > 0 && column + needed > width) {
      column = 0;
      ++row;
    }
    const top = y + row * lineHeight;
    svg += mark(x + column, top, size) +
        label(x + column + size + font * 0.4, top + size * 0.85, font * 0.92, text, "muted");
    column += needed + font * 1.3;
  }
  return {svg, height: (row + 1) * lineHeight};
}

/** The colours and strokes of all pictures. In a page it stands once, in a still what that needs of it. */
export const pictureStyle =
    `:root{--paper:#fff;--ink:#1f2328;--muted:#59636e;--line:#c4ccd4;--soft:#848d97;--faint:#eaeef2;--accent:#0757ba;--on-accent:#fff;--warn:#a63a08;--on-warn:#fff;--mark:#7d2b8b}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--muted:#9aa4ae;--line:#444c56;--soft:#6e7681;--faint:#1b222b;--accent:#6cb2ff;--on-accent:#071427;--warn:#ff9f68;--on-warn:#2a0f00;--mark:#e0a3ee}}
.picture{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
.picture .paper{fill:var(--paper)}
.picture .muted{fill:var(--muted)}
.picture .mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
.picture .bold{font-weight:600}
.picture .active{fill:var(--accent)}
.picture .on{fill:var(--on-accent)}
.picture .onwarn{fill:var(--on-warn)}
.picture .warntext{fill:var(--warn)}
.picture .conflict{fill:var(--warn)}
.picture .idle{fill:var(--faint);stroke:var(--muted);stroke-width:.8}
.picture .slash{stroke:var(--muted);stroke-width:1;fill:none}
.picture .ready{fill:none;stroke:var(--soft);stroke-width:1}
.picture .track{fill:var(--faint)}
.picture .waiting{fill:var(--muted)}
.picture .left{fill:var(--soft)}
.picture .hit{fill:transparent}
.picture .cell{fill:var(--paper);stroke:var(--line);stroke-width:1}
.picture .rule{stroke:var(--line);stroke-width:1;fill:none}
.picture .barrier{stroke:var(--ink);stroke-width:1.6;fill:none}
.picture .warpbarrier{stroke:var(--ink);stroke-width:1.4;stroke-dasharray:5 3;fill:none}
.picture .edge{stroke:var(--muted);stroke-width:1;fill:none;opacity:.75}
.picture .later{stroke:var(--line);stroke-width:.8;fill:none;opacity:.7}
.picture .origin{stroke:var(--accent);stroke-width:2;fill:none}
.picture .thin{stroke-width:1.1}
.picture .fine{stroke-width:.65}
.picture .dense{stroke-width:.3}
.picture .guess{stroke-dasharray:3 3}
.picture .node{fill:var(--ink);stroke:var(--paper);stroke-width:.8}
.picture .nodelater{fill:var(--paper);stroke:var(--soft);stroke-width:1}
.picture .nodenow{fill:var(--accent);stroke:var(--paper);stroke-width:.8}
.picture .leaf{fill:var(--paper);stroke:var(--ink);stroke-width:1}
.picture .ring{fill:none;stroke:var(--accent);stroke-width:1.6}
.picture .witness{fill:none;stroke:var(--mark);stroke-width:2}
.picture .flag{fill:var(--mark)}
.picture .onflag{fill:var(--paper);font-weight:700}
.picture .now{stroke:var(--accent);stroke-width:2;fill:none}
.picture .link{stroke:var(--accent);stroke-width:1;fill:none;opacity:.8}`;

const margin = 12;

/**
 * Options with what was left out. A still has a margin, so its parts have less room than its width. It is as wide and its
 * type as large as a telephone needs, where it is shown at about 360 pixels.
 */
export function settled(options) {
  const {still = false, width = still ? 440 : 720} = options;
  return {font: still ? 15.5 : 12, ...options, still, width: still ? width - 2 * margin : width};
}

/** The rules for the classes that are in a picture, and those for all. */
const styleOf = (svg) => pictureStyle.split("\n")
                             .filter((rule) => {
                               const name = /^\.picture \.(\w+)/.exec(rule)?.[1];
                               return !name || new RegExp(`class="[^"]*\\b${name}\\b`).test(svg);
                             })
                             .join("\n");

/** A whole picture. A still has its own style and paper. */
export function picture({width, height, title, description, body, still}) {
  const w = Math.ceil(width + (still ? 2 * margin : 0));
  const h = Math.ceil(height + (still ? 2 * margin : 0));
  const inside = still ? `<rect width="${w}" height="${h}" rx="6" class="paper"/><g transform="translate(${
                             margin} ${margin})">${body}</g>` :
                         body;
  // In a page the title is a label: a <title> on the whole would cover what single parts say when pointed at.
  const name = still ? `<title>${escapeText(title)}</title><desc>${escapeText(description)}</desc><style>${
                           styleOf(inside)}</style>` :
                       "";
  const named = still ? "" : ` aria-label="${escapeText(description ? `${title}. ${description}` : title)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${
             h}" role="img" ` +
      `class="picture"${named}>${name}${inside}</svg>`;
}
