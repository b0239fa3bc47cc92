// The playground: an editor for a model, its runs in a worker, and links that hold both.

import { show } from './play-course.js';
import { chart } from './play-chart.js';

const place = Object.fromEntries([...document.querySelectorAll('[id]')].map(it => [it.id, it]));
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
let worker = null;
let number = 0; // of the last request: answers to earlier ones are dropped
let report = null;
let course = null; // what moves in the picture
let line = 0; // of the error, from 1; 0 for none

function send(message) {
  if (!worker) {
    worker = new Worker(new URL('play-worker.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => data.number === number && hear(data);
    worker.onerror = event => hear({ error: event.message || 'the worker could not be started' });
  }
  number += 1;
  worker.postMessage({ number, ...message });
}

// Text of the editor.

// The line that an error is about: the one that it names, or that of the node and of the word in backticks.
function lineOf(message, text) {
  const named = message.match(/\bline:? (\d+)/);
  if (named) return Number(named[1]);
  const lines = text.split('\n');
  const names = [...message.matchAll(/`([^`]+)`/g)].map(it => it[1]);
  const header = name => lines.findIndex(it => it.trim().startsWith('[') && (it.includes(`.${name}]`) || it.includes(`."${name}"]`)));
  const begin = names.map(header).find(it => it >= 0);
  if (begin === undefined) return 0;
  let end = lines.findIndex((it, i) => i > begin && it.startsWith('['));
  if (end < 0) end = lines.length;
  const within = lines.findIndex((it, i) => i > begin && i < end && names.some(name => it.includes(`"${name}"`) || it.trim().startsWith(`${name} `)));
  return (within < 0 ? begin : within) + 1;
}

function showNumbers() {
  const count = place.text.value.split('\n').length;
  place.numbers.replaceChildren(...Array.from({ length: count }, (_, i) => {
    const span = document.createElement('div');
    span.textContent = i + 1;
    if (i + 1 === line) span.className = 'at';
    return span;
  }));
  place.numbers.scrollTop = place.text.scrollTop;
}

function goToLine() {
  const before = place.text.value.split('\n').slice(0, line - 1).join('\n').length;
  const begin = line > 1 ? before + 1 : 0;
  const end = place.text.value.indexOf('\n', begin);
  place.text.focus();
  place.text.setSelectionRange(begin, end < 0 ? place.text.value.length : end);
  place.text.scrollTop = Math.max(0, (line - 4) * 20);
}

function showProblem(message) {
  line = message ? lineOf(message, place.text.value) : 0;
  place.text.setAttribute('aria-invalid', Boolean(message));
  place.problem.replaceChildren();
  if (line) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = `Line ${line}`;
    button.onclick = goToLine;
    place.problem.append(button, ' ');
  }
  place.problem.append(message);
  showNumbers();
}

// Results.

function digits(value, half) {
  if (value === null || value === undefined) return '';
  const decimals = half ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(Math.abs(half))))) : 4;
  return value.toFixed(decimals);
}

// The interval as a bar, and theory as a mark, on a scale of six half widths.
function interval({ mean, lower, upper, half_width: half, theory }) {
  if (!half) return '';
  const x = value => 50 + 50 * Math.max(-1, Math.min(1, (value - mean) / (3 * half)));
  const mark = theory === null ? '' : `<rect class="theory" x="${x(theory) - 1.5}" y="1" width="3" height="14"/>`;
  return `<svg class="interval" viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true"><rect x="${x(lower)}" y="6" width="${x(upper) - x(lower)}" height="4"/>${mark}</svg>`;
}

function showRows() {
  const isDeviation = ({ measure }) => measure.endsWith('_deviation') || measure.startsWith('deviation(');
  const rows = report.results.filter(it => it.mean !== null && (place.deviations.checked || !isDeviation(it)));
  // Columns that say nothing are left out: a theory that is unknown, and a class that all have.
  const columns = COLUMNS.filter(({ value, least = 0 }) => new Set(rows.map(value).filter(Boolean)).size >= least);
  place.head.replaceChildren(...columns.map(({ name, isNumber }) => {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = name;
    cell.className = isNumber ? 'number' : '';
    return cell;
  }));
  place.rows.replaceChildren(...rows.map(it => {
    const row = document.createElement('tr');
    for (const { value, isNumber, isDrawn } of columns) {
      const made = document.createElement(row.firstChild ? 'td' : 'th');
      if (!row.firstChild) made.scope = 'row';
      if (isNumber) made.className = 'number';
      if (isDrawn) made.innerHTML = value(it);
      else made.textContent = value(it) ?? '';
      row.append(made);
    }
    return row;
  }));
  place.scroll.hidden = place.about.hidden = place.options.hidden = false;
}

const COLUMNS = [
  { name: 'where', value: it => it.node, least: 2 },
  { name: 'class', value: it => it.class, least: 2 },
  { name: 'measure', value: it => it.measure },
  { name: 'mean', value: it => digits(it.mean, it.half_width), isNumber: true },
  { name: '±', value: it => digits(it.half_width, it.half_width), isNumber: true },
  { name: 'theory', value: it => digits(it.theory, it.half_width), isNumber: true, least: 1 },
  { name: 'interval', value: interval, isDrawn: true },
];

function showPicture(svg, text) {
  const image = document.createElement('img');
  image.alt = text;
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  place.picture.hidden = false;
  place.image.replaceChildren(image);
}

function showReport(isLast) {
  if (!performance.getEntriesByName('numbers').length) performance.mark('numbers');
  const { replications, events, seconds, engine, adapter, fingerprint, picture, warnings } = report;
  const begun = isLast ? '' : 'Running: ';
  place.status.textContent = `${begun}${whole.format(replications)} replications, ${whole.format(events)} events, ${seconds.toFixed(2)} s on ${engine === 'cpu' ? 'the CPU' : adapter}; fingerprint ${fingerprint}`;
  if (picture) showPicture(picture, 'The network. A darker station is busier.');
  place.warnings.textContent = warnings.join(' ');
  showRows();
}

// The first replication over time: dots that move, or a picture.
function showCourse(found) {
  if (found?.timeline?.averages.length) {
    place.picture.hidden = false;
    place.image.replaceChildren(chart(found.timeline));
  }
  if (!found?.visits) return;
  const unit = found.unit ? ` ${found.unit}${found.unit.endsWith('s') ? '' : 's'}` : '';
  const time = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
  place.moving.hidden = place.dots.hidden = false;
  course = show(place.dots, found, now => { place.time.textContent = `${time.format(now)} of ${time.format(found.end)}${unit}`; });
  window.course = course; // for tests
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) course.pause();
  showPause();
}

function showPause() {
  place.pause.textContent = course.isPaused ? 'Play' : 'Pause';
}

// Before a run: what is shown belongs to another model.
function clearCourse() {
  course?.end();
  course = null;
  place.picture.hidden = place.moving.hidden = place.dots.hidden = true;
}

function setRunning(isRunning) {
  place.stop.disabled = !isRunning;
  place.run.disabled = isRunning;
}

function hear(data) {
  if (data.report) {
    report = data.report;
    showReport(data.isLast);
    if (data.isLast) setRunning(false);
    return;
  }
  if ('course' in data) {
    showCourse(data.course);
    return;
  }
  if (data.error) {
    const left = report ? ' The results are those of the last run.' : '';
    place.status.textContent = `Not run: see the message below the description.${left}`;
    setRunning(false);
  }
  showProblem(data.error ?? '');
}

// Links: the model is compressed, in the part of the address that no server sees.

async function piped(bytes, transform) {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function link() {
  const bytes = await piped(new TextEncoder().encode(place.text.value), new CompressionStream('deflate-raw'));
  const model = btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return `#seed=${place.seed.value}&replications=${place.replications.value}&model=${model}`;
}

// Whether the address held a model.
async function readLink() {
  const values = new URLSearchParams(location.hash.slice(1));
  if (!values.has('model')) return false;
  const packed = atob(values.get('model').replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = await piped(Uint8Array.from(packed, it => it.charCodeAt(0)), new DecompressionStream('deflate-raw'));
  place.text.value = new TextDecoder().decode(bytes);
  for (const name of ['seed', 'replications']) if (values.has(name)) place[name].value = values.get(name);
  place.preset.value = '';
  return true;
}

async function run() {
  if (!place.form.reportValidity()) return;
  clearTimeout(checking);
  showProblem('');
  setRunning(true);
  clearCourse();
  place.status.textContent = 'Running …';
  const [seed, replications] = [place.seed, place.replications].map(it => Number(it.value));
  send({ description: place.text.value, run: { seed, replications, where: place.where.value } });
  history.replaceState(null, '', await link());
}

let checking = 0;
function check() {
  clearTimeout(checking);
  checking = setTimeout(() => place.stop.disabled && send({ description: place.text.value }), 300);
}

async function usePreset() {
  if (!place.preset.value) return;
  place.text.value = await (await fetch(`${place.preset.value}.toml`)).text();
  place.text.scrollTop = 0;
  showProblem('');
}

place.text.oninput = () => {
  place.preset.value = '';
  showNumbers();
  check();
};
place.text.onscroll = () => { place.numbers.scrollTop = place.text.scrollTop; };
place.preset.onchange = async () => {
  await usePreset();
  run();
};
place.form.onsubmit = event => {
  event.preventDefault();
  run();
  // On a phone the results lie below the editor.
  if (matchMedia('(max-width: 52rem)').matches) place.results.scrollIntoView();
};
place.form.onkeydown = event => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !place.run.disabled) {
    event.preventDefault();
    run();
  }
};
// A step cannot be interrupted: the worker ends, and the next request starts another.
place.stop.onclick = () => {
  worker.terminate();
  worker = null;
  setRunning(false);
  place.status.textContent += ' (stopped)';
};
place.share.onclick = async () => {
  history.replaceState(null, '', await link());
  try {
    await navigator.clipboard.writeText(location.href);
    place.share.textContent = 'Copied';
  } catch {
    place.share.textContent = 'Copy the address above';
  }
  setTimeout(() => { place.share.textContent = 'Copy link'; }, 2000);
};
place.deviations.onchange = showRows;
place.pause.onclick = () => {
  if (course.isPaused) course.resume();
  else course.pause();
  showPause();
};
addEventListener('hashchange', async () => await readLink() && run());

async function begin() {
  const presets = await (await fetch('presets.json')).json();
  for (const [kind, label] of [['networks', 'Queueing networks'], ['processes', 'Process models']]) {
    const group = document.createElement('optgroup');
    group.label = label;
    const names = presets.filter(it => it.startsWith(`${kind}/`));
    group.append(...names.map(it => new Option(it.slice(kind.length + 1).replaceAll('_', ' '), it)));
    place.preset.append(group);
  }
  const wanted = new URLSearchParams(location.hash.slice(1)).get('preset');
  place.preset.value = presets.includes(wanted) ? wanted : 'networks/mm1';
  let problem = '';
  const isLinked = await readLink().catch(() => { problem = 'The link is damaged: it holds no model.'; });
  if (!isLinked) await usePreset();
  for (const it of [place.text, place.run, place.share]) it.disabled = false;
  showNumbers();
  if (problem) showProblem(problem);
  else run();
}

begin().catch(error => { place.status.textContent = `The page could not start: ${error.message}`; });
