// Starts a worker for each panel and shows the results. With `?drive` the page tests itself and
// reports the outcome in its title; with `?cpu` it uses no WebGPU.

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

function worker(message, hears, transfer = []) {
  const made = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
  made.onmessage = ({ data }) => hears(data);
  made.onerror = event => hears({ error: event.message || 'the worker could not be started' });
  made.postMessage(message, transfer);
  return made;
}

// A panel of the page; `show` draws a step. It starts when it becomes visible, and runs while it is
// visible and not paused.
class Panel {
  constructor(name, show, message = {}, transfer = []) {
    this.root = document.getElementById(name);
    this.steps = 0;
    this.show = show;
    this.visible = false;
    this.stopped = false;
    this.begin = () => {
      this.worker ??= worker({ panel: name, onCpu, ...message }, data => this.hear(data), transfer);
      this.tell();
    };
    const button = this.root.querySelector('[name=pause]');
    button.onclick = () => {
      this.stopped = !this.stopped;
      button.textContent = this.stopped ? 'Continue' : 'Pause';
      this.tell();
    };
    new IntersectionObserver(entries => {
      this.visible = entries.at(-1).isIntersecting;
      if (this.visible && !driven) this.begin();
      this.tell();
    }).observe(this.root.querySelector('canvas'));
  }

  tell() {
    this.worker?.postMessage({ paused: this.stopped || !(this.visible || driven) });
  }

  set(name, text, kind) {
    const place = this.root.querySelector(`[data-of=${name}]`);
    place.textContent = text;
    if (kind !== undefined) place.className = `note ${kind}`;
  }

  hear(data) {
    if (data.error) {
      this.error = data.error;
      let place = this.root.querySelector('.wrong');
      if (!place) {
        place = document.createElement('p');
        place.className = 'wrong';
        this.root.append(place);
      }
      place.textContent = `This panel stopped: ${data.error}`;
    } else if (data.asked) {
      this.asked?.(data.asked);
    } else if (data.step && 'rate' in data.step) {
      this.steps += 1;
      this.show(data.step);
    }
  }
}

const query = new URLSearchParams(location.search);
const driven = query.has('drive');
let onCpu = query.has('cpu') || !navigator.gpu;

// The live run.
function torus() {
  const root = document.getElementById('torus');
  const form = root.querySelector('form');
  const settings = () => {
    const { model, side, load, rate, lookahead, queue, sync } = Object.fromEntries(new FormData(form));
    const numbers = { side: Number(side), load: Number(load), rate: Number(rate), lookahead: Number(lookahead) };
    return { model, queue, sync, seed: 42, ...numbers };
  };
  const canvas = root.querySelector('canvas').transferControlToOffscreen();
  let smooth = 0;
  const panel = new Panel('torus', step => {
    smooth = smooth ? 0.9 * smooth + 0.1 * step.rate : step.rate;
    panel.rate = smooth;
    panel.set('rate', short.format(smooth));
    panel.set('events', number.format(step.events));
    panel.set('time', step.time.toFixed(2));
    panel.set('way', step.way);
  }, { canvas, settings: settings() }, [canvas]);
  form.onsubmit = event => {
    event.preventDefault();
    smooth = 0;
    panel.set('fingerprint', '–');
    panel.worker?.postMessage({ restart: settings() });
  };
  const button = root.querySelector('[name=check]');
  button.onclick = () => {
    button.disabled = true;
    panel.set('verdict', 'Waiting for the running step …', '');
    panel.worker?.postMessage({ fingerprint: true });
  };
  panel.asked = ({ fingerprint, until, settings }) => {
    panel.set('fingerprint', fingerprint);
    const check = worker({ panel: 'check', settings, until }, data => {
      if (data.events) {
        panel.set('verdict', `The CPU has executed ${number.format(data.events)} events …`, '');
        return;
      }
      button.disabled = false;
      check.terminate();
      if (data.error) {
        panel.verdict = data.error;
        panel.set('verdict', data.error, 'wrong');
      } else if (data.fingerprint === fingerprint) {
        panel.verdict = 'same';
        panel.set('verdict', `The same: ${fingerprint}. The CPU took ${data.seconds.toFixed(1)} s, on one core.`, 'right');
      } else {
        panel.verdict = 'differs';
        panel.set('verdict', `Different: the CPU engine has ${data.fingerprint}. Please report this adapter.`, 'wrong');
      }
    });
  };
  return panel;
}

// A histogram that grows, with the interval and theory below it.
function replications() {
  const canvas = document.querySelector('#replications canvas');
  const context = canvas.getContext('2d');
  const bins = new Float64Array(64);
  const most = 14;
  const panel = new Panel('replications', step => {
    for (const value of step.values) bins[Math.min(bins.length - 1, Math.floor(value / most * bins.length))] += 1;
    panel.set('done', number.format(step.done));
    panel.set('rate', short.format(step.rate));
    panel.set('mean', `${step.mean.toFixed(4)} ± ${step.half_width.toFixed(4)}`);
    panel.set('theory', step.theory.toFixed(4));
    panel.set('fingerprint', step.fingerprint);
    const { width, height } = canvas;
    const floor = height - 40;
    const top = Math.max(...bins);
    context.clearRect(0, 0, width, height);
    context.fillStyle = '#0b728599';
    bins.forEach((count, bin) => {
      const tall = count / top * (floor - 12);
      context.fillRect(bin * width / bins.length + 0.5, floor - tall, width / bins.length - 1, tall);
    });
    const at = value => value / most * width;
    context.fillStyle = '#17203a';
    context.fillRect(0, floor, width, 1);
    context.fillStyle = '#a61e1e55';
    context.fillRect(at(step.mean - step.half_width), 0, Math.max(2, at(2 * step.half_width)), floor);
    context.fillStyle = '#17203a';
    context.fillRect(at(step.theory), 0, 1.5, floor + 6);
    context.font = '13px system-ui, sans-serif';
    context.textAlign = 'center';
    for (let value = 0; value < most; value += 2) context.fillText(String(value), Math.max(8, at(value)), floor + 17);
    context.fillText('mean wait of the first 200 customers, in mean services; red: the interval, line: theory', width / 2, floor + 34, width - 8);
  });
  return panel;
}

// The maze, a picture of a byte for each colour of a cell.
function maze() {
  const context = document.querySelector('#maze canvas').getContext('2d');
  const panel = new Panel('maze', step => {
    panel.set('searches', number.format(step.searches));
    panel.set('rate', short.format(step.rate));
    panel.set('found', number.format(step.found));
    panel.set('expanded', number.format(step.expanded));
    if (context.canvas.width !== step.side) context.canvas.width = context.canvas.height = step.side;
    context.putImageData(new ImageData(new Uint8ClampedArray(step.picture), step.side), 0, 0);
  });
  return panel;
}

// The boxes at their positions.
function regions() {
  const canvas = document.querySelector('#regions canvas');
  const context = canvas.getContext('2d');
  const panel = new Panel('regions', step => {
    panel.set('count', number.format(step.count));
    panel.set('pairs', number.format(step.pairs));
    panel.set('changes', `${number.format(step.began)}, ${number.format(step.ended)}`);
    panel.set('rate', step.rate.toFixed(1));
    context.fillStyle = '#101830';
    context.fillRect(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < step.boxes.length; i += 4) {
      const [x, y, side, seen] = step.boxes.subarray(i, i + 4).map((value, of) => of < 3 ? value * canvas.width : value);
      if (seen > 0) {
        context.fillStyle = `rgb(11 160 170 / ${Math.min(0.8, 0.15 + 0.1 * seen)})`;
        context.fillRect(x, y, side, side);
      } else if (seen < 0) {
        context.fillStyle = '#ffd24a';
        context.fillRect(x, y, side, side);
      } else {
        context.strokeStyle = '#3a4a78';
        context.strokeRect(x + 0.5, y + 0.5, side, side);
      }
    }
  });
  return panel;
}

// Tests the page: measures the longest pause of its thread, and counts the steps of each panel.
async function drive(panels) {
  let [last, pause] = [performance.now(), 0];
  const tick = setInterval(() => {
    const now = performance.now();
    pause = Math.max(pause, now - last - 20);
    last = now;
  }, 20);
  const until = async true_of => {
    while (!true_of()) await new Promise(go => setTimeout(go, 100));
  };
  const failed = () => panels.find(panel => panel.error);
  const went = name => panels[name].steps;
  // One panel after the other, so that they do not share the device.
  for (const name of panels.keys()) {
    panels[name].begin();
    await until(() => failed() || went(name) >= (name > 0 ? 2 : 8));
    if (name > 0) panels[name].root.querySelector('[name=pause]').click();
  }
  if (!failed() && !onCpu) {
    document.querySelector('#torus [name=pause]').click();
    document.querySelector('#torus [name=check]').click();
    await until(() => failed() || panels[0].verdict);
  }
  clearInterval(tick);
  const wrong = failed()?.error ?? (onCpu || panels[0].verdict === 'same' ? '' : panels[0].verdict);
  const steps = panels.map(panel => panel.steps).join(' ');
  document.title = wrong ? `failed: ${wrong}` : `passed: steps ${steps}; events a second ${panels[0].rate.toExponential(2)}; longest pause ${pause.toFixed(0)} ms`;
  document.body.dataset.driven = document.title;
}

const note = document.getElementById('adapter');

function start() {
  const panels = onCpu ? [torus(), replications()] : [torus(), replications(), maze(), regions()];
  if (driven) drive(panels);
}

// The panels of models run without WebGPU too, slowly.
function startOnCpu(why) {
  onCpu = true;
  note.className = 'wrong';
  note.textContent = `${why} The first two panels run on the CPU, the others need WebGPU. Chrome and Edge have it from 113 on, Safari from 26, `
    + 'Firefox from 141 on some systems; the page must come from https or localhost, and hardware acceleration must be on.';
  // The check would repeat the run in the same way.
  document.querySelectorAll('#maze button, #regions button, #torus [name=check]').forEach(button => { button.disabled = true; });
  if (driven && !query.has('cpu')) {
    document.title = `failed: ${why}`;
    return;
  }
  start();
}

if (onCpu) {
  startOnCpu('This page uses no WebGPU here.');
} else {
  const probe = worker({ panel: 'adapter' }, ({ adapter, error }) => {
    probe.terminate();
    if (error) {
      startOnCpu(error);
    } else {
      note.textContent = adapter;
      start();
    }
  });
}
