// The worker of a panel: owns the simulation and reports its progress to the page after each step.

import init, * as library from './eventhorizon_web.js';

const SEARCHES = 1000;
const BOXES = 1500;

let paused = true;
let waiting = null; // new settings, or a request for the fingerprint
let resume = () => {};

// For each panel: its start, which returns the function that runs a step.
const panels = {
  async torus({ canvas, settings, onCpu }) {
    const torus = onCpu ? new library.CpuTorus(make(settings)) : await library.Torus.open(canvas, make(settings));
    const context = onCpu ? canvas.getContext('2d') : null;
    let [last, before] = [performance.now(), 0];
    return async () => {
      if (waiting) {
        const { restart, fingerprint } = waiting;
        waiting = null;
        if (restart) {
          settings = restart;
          before = 0;
          await torus.restart(make(settings));
        }
        if (fingerprint) {
          const checked = await torus.checked();
          postMessage({ asked: { fingerprint: checked.fingerprint, until: checked.until, settings } });
          checked.free();
          return {};
        }
      }
      const frame = await torus.frame();
      if (context) {
        if (canvas.width !== settings.side) canvas.width = canvas.height = settings.side;
        context.putImageData(new ImageData(new Uint8ClampedArray(torus.picture()), settings.side), 0, 0);
      }
      const now = performance.now();
      const { events, time, queue, sync } = frame;
      frame.free();
      const rate = (events - before) * 1000 / (now - last);
      [last, before] = [now, events];
      return { events, time, rate, way: `${queue}, ${sync}` };
    };
  },

  async replications({ onCpu }) {
    const replications = await library.Replications.open(0.8, 200, onCpu);
    let count = onCpu ? 64 : 256;
    return async () => {
      const begun = performance.now();
      const estimate = await replications.more(count);
      const took = performance.now() - begun;
      const { done, mean, half_width, theory, values, fingerprint } = estimate;
      estimate.free();
      const told = { done, mean, half_width, theory, values, fingerprint, rate: count * 1000 / took };
      count = Math.min(1 << 15, Math.max(64, 2 * Math.round(count * 100 / Math.max(took, 1) / 2), count >> 1));
      return told;
    };
  },

  async maze() {
    const maze = await library.Maze.open(127, 1);
    let searches = 0;
    return async () => {
      const begun = performance.now();
      const [found, expanded] = await maze.search(SEARCHES);
      searches += SEARCHES;
      const rate = SEARCHES * 1000 / (performance.now() - begun);
      return { searches, rate, found, expanded, side: maze.side(), picture: maze.picture() };
    };
  },

  async regions() {
    const moving = await library.Moving.open(BOXES, 1);
    let last = performance.now();
    return async () => {
      const [pairs, began, ended] = await moving.step();
      const now = performance.now();
      const rate = 1000 / (now - last);
      last = now;
      return { count: 2 * BOXES, pairs, began, ended, rate, boxes: moving.boxes() };
    };
  },

  // The same run on the CPU. Blocks only its worker.
  async check({ settings, until }) {
    const begun = performance.now();
    const fingerprint = library.sequential(make(settings), until, events => postMessage({ events }));
    postMessage({ fingerprint, seconds: (performance.now() - begun) / 1000 });
    return null;
  },

  async adapter() {
    postMessage({ adapter: await library.adapter() });
    return null;
  },
};

function make(settings) {
  return Object.assign(new library.Settings(), settings);
}

onmessage = async ({ data }) => {
  if ('paused' in data) {
    paused = data.paused;
    if (!paused) resume();
    return;
  }
  if (data.restart || data.fingerprint) {
    waiting = { ...waiting, ...data };
    resume();
    return;
  }
  try {
    await init();
    library.prepare();
    const step = await panels[data.panel](data);
    while (step) {
      if (paused && !waiting) await new Promise(go => { resume = go; });
      postMessage({ step: await step() });
      // Leaves a frame for showing the canvas.
      await new Promise(go => (self.requestAnimationFrame ?? setTimeout)(go));
    }
  } catch (error) {
    postMessage({ error: String(error?.message ?? error) });
  }
};
