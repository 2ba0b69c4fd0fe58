/** Draws our icon as PNG, in the sizes that phones want: a rounded square and one stroked path, as public/icon.svg says. */
import { crc32, deflateSync } from "node:zlib";

const WHITE = [255, 255, 255];

/** Names and contents of the files. `room` is how large the drawing is, measured by the one in the file. */
export function drawIcons(svg) {
  const icon = readIcon(svg);
  return [
    ["icon-192.png", draw(icon, 192, { corner: icon.corner })],
    ["icon-512.png", draw(icon, 512, { corner: icon.corner })],
    // Launchers that crop these leave at least the inner four fifths.
    ["icon-maskable-512.png", draw(icon, 512, { room: 1.1 })],
    ["apple-touch-icon.png", draw(icon, 180, { room: 1.15 })],
    // Android takes its shape and gives it a colour of its own.
    ["badge-96.png", draw(icon, 96, { room: 1.6, stroke: WHITE, ground: null })],
  ];
}

function readIcon(svg) {
  const find = (pattern) => {
    const found = pattern.exec(svg);
    if (!found) throw new Error(`icon.svg has no ${pattern}`);
    return found.slice(1);
  };
  const [size] = find(/viewBox="0 0 (\d+) /).map(Number);
  const [x, y, scale] = find(/translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)/).map(Number);
  const [width] = find(/stroke-width="([\d.]+)"/).map(Number);
  const place = ([px, py]) => [x + px * scale, y + py * scale];
  return {
    size,
    corner: Number(find(/rx="(\d+)"/)[0]),
    ground: colour(find(/<rect[^>]* fill="#(\w{6})"/)[0]),
    stroke: colour(find(/stroke="#(\w{6})"/)[0]),
    half: (width * scale) / 2,
    lines: flatten(find(/ d="([^"]+)"/)[0]).map((line) => line.map(place)),
  };
}

function draw(icon, pixels, { corner = 0, room = 1, stroke = icon.stroke, ground = icon.ground }) {
  const unit = icon.size / pixels;
  const away = distances(icon, pixels, room);
  const raw = Buffer.alloc(pixels * (1 + pixels * 4));
  for (let row = 0; row < pixels; row += 1) {
    for (let column = 0; column < pixels; column += 1) {
      const inked = cover(away[row * pixels + column], 1);
      const inside = ground ? cover(distanceToSquare((column + 0.5) * unit, (row + 0.5) * unit, icon.size, corner), unit) : inked;
      const at = row * (1 + pixels * 4) + 1 + column * 4;
      for (let channel = 0; channel < 3; channel += 1) {
        const below = (ground ?? stroke)[channel];
        raw[at + channel] = Math.round(below + (stroke[channel] - below) * inked);
      }
      raw[at + 3] = Math.round(255 * inside);
    }
  }
  return png(pixels, raw);
}

/** How far each pixel is from the edge of the drawing, in pixels; each line is looked at only where it is near. */
function distances(icon, pixels, room) {
  const away = new Float64Array(pixels * pixels).fill(pixels);
  const scale = (room * pixels) / icon.size;
  const place = (each) => pixels / 2 + (each - icon.size / 2) * scale;
  const half = icon.half * scale;
  for (const line of icon.lines) {
    for (let at = 1; at < line.length; at += 1) {
      const [x1, y1, x2, y2] = [...line[at - 1], ...line[at]].map(place);
      const [left, right] = reach(x1, x2, half, pixels);
      const [top, bottom] = reach(y1, y2, half, pixels);
      for (let row = top; row < bottom; row += 1) {
        for (let column = left; column < right; column += 1) {
          const distance = distanceToSegment(column + 0.5, row + 0.5, x1, y1, x2, y2) - half;
          if (distance < away[row * pixels + column]) away[row * pixels + column] = distance;
        }
      }
    }
  }
  return away;
}

function reach(from, to, half, pixels) {
  return [Math.max(0, Math.floor(Math.min(from, to) - half - 2)), Math.min(pixels, Math.ceil(Math.max(from, to) + half + 2))];
}

/** How much of a pixel lies within an edge this far away. */
function cover(distance, unit) {
  return Math.min(1, Math.max(0, 0.5 - distance / unit));
}

function distanceToSquare(x, y, size, corner) {
  const inner = size / 2 - corner;
  const dx = Math.max(Math.abs(x - size / 2) - inner, 0);
  const dy = Math.max(Math.abs(y - size / 2) - inner, 0);
  return corner ? Math.hypot(dx, dy) - corner : -1e9;
}

function distanceToSegment(x, y, x1, y1, x2, y2) {
  const dx = x2 - x1;
  const dy = y2 - y1;
  const along = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

/** A path of moves, lines and arcs as lists of points. */
function flatten(path) {
  const words = path.match(/[a-zA-Z]|-?(?:\d+\.?\d*|\.\d+)/g) ?? [];
  const lines = [];
  let here = [0, 0];
  let command = "";
  const take = (relative, axis) => Number(words.shift()) + (relative ? here[axis] : 0);
  while (words.length) {
    if (/[a-zA-Z]/.test(words[0])) command = words.shift();
    const relative = command === command.toLowerCase();
    let points;
    switch (command.toLowerCase()) {
      case "m":
        here = [take(relative, 0), take(relative, 1)];
        lines.push([here]);
        command = relative ? "l" : "L";
        continue;
      case "l":
        points = [[take(relative, 0), take(relative, 1)]];
        break;
      case "h":
        points = [[take(relative, 0), here[1]]];
        break;
      case "v":
        points = [[here[0], take(relative, 1)]];
        break;
      case "a": {
        const [radius, , , large, sweep] = words.splice(0, 5).map(Number);
        points = arc(here, [take(relative, 0), take(relative, 1)], radius, large, sweep);
        break;
      }
      default:
        throw new Error(`icon.svg: ${command} is not known here`);
    }
    lines.at(-1).push(...points);
    here = points.at(-1);
  }
  return lines;
}

/** Of a circle, from one point to another, as SVG has it. */
function arc([x1, y1], [x2, y2], wanted, large, sweep) {
  const half = Math.hypot(x2 - x1, y2 - y1) / 2;
  const radius = Math.max(wanted, half);
  const aside = Math.sqrt(Math.max(0, radius * radius - half * half)) * (large === sweep ? -1 : 1);
  const cx = (x1 + x2) / 2 - (aside * (y2 - y1)) / (2 * half);
  const cy = (y1 + y2) / 2 + (aside * (x2 - x1)) / (2 * half);
  const from = Math.atan2(y1 - cy, x1 - cx);
  let turn = Math.atan2(y2 - cy, x2 - cx) - from;
  if (sweep && turn < 0) turn += 2 * Math.PI;
  if (!sweep && turn > 0) turn -= 2 * Math.PI;
  const steps = 24;
  return Array.from({ length: steps }, (_, step) => {
    const angle = from + (turn * (step + 1)) / steps;
    return step === steps - 1 ? [x2, y2] : [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
  });
}

function colour(hex) {
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function png(pixels, raw) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(pixels, 0);
  head.writeUInt32BE(pixels, 4);
  head.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", deflateSync(raw, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(name, content) {
  const named = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(content.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
