// A drawing of one replication of a process model over time.

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [720, 260, 44, 12, 12, 34];
const COLOURS = ['#0b6374', '#b3480f', '#6a3d9a', '#1b7837', '#a61e1e', '#444444', '#8a6d00', '#c2468f'];

function element(name, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A number of 1, 2 or 5 times a power of ten that is no less than a fourth of the largest value.
function step(largest) {
  const power = 10 ** Math.floor(Math.log10(largest / 4 || 1));
  return [1, 2, 5, 10].map(it => it * power).find(it => it >= largest / 4);
}

// The lines with the largest averages of a timeline, as a figure.
export function chart({ unit, part, averages }) {
  const largest = ([, values]) => Math.max(...values);
  const lines = [...averages].sort((a, b) => largest(b) - largest(a)).slice(0, COLOURS.length);
  const top = Math.max(...lines.map(largest)) || 1;
  const end = part * averages[0][1].length;
  const x = time => LEFT + (WIDTH - LEFT - RIGHT) * time / end;
  const y = value => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top;
  const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
  const text = `The first replication over time: ${lines.map(it => it[0]).join(', ')}`;
  const svg = element('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': text, 'font-size': 12, 'font-family': 'system-ui, sans-serif' });
  for (let at = 0, by = step(top); at <= top; at += by) {
    svg.append(element('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: y(at), y2: y(at), stroke: '#d3d9e6' }));
    svg.append(element('text', { x: LEFT - 6, y: y(at) + 4, 'text-anchor': 'end', fill: '#566079' }, number.format(at)));
  }
  for (let at = 0, by = step(end); at <= end; at += by) {
    svg.append(element('text', { x: x(at) + (at === end ? RIGHT : 0), y: HEIGHT - BOTTOM + 16, 'text-anchor': at === end ? 'end' : 'middle', fill: '#566079' }, number.format(at)));
  }
  svg.append(element('text', { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, 'text-anchor': 'middle', fill: '#566079' }, unit ? `time (${unit})` : 'time'));
  lines.forEach(([, values], line) => {
    const points = values.flatMap((value, i) => [`${x(i * part)},${y(value)}`, `${x((i + 1) * part)},${y(value)}`]);
    svg.append(element('polyline', { points: points.join(' '), fill: 'none', stroke: COLOURS[line], 'stroke-width': 1.5 }));
  });
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  caption.textContent = 'The first replication over time. ';
  lines.forEach(([name], line) => {
    const label = document.createElement('span');
    const mark = document.createElement('b');
    mark.style.background = COLOURS[line];
    label.append(mark, name);
    caption.append(label, ' ');
  });
  figure.append(svg, caption);
  return figure;
}
