// The worker of the playground: checks descriptions, and runs one in more and more replications.

import init, * as library from './eventhorizon_web.js';

const FIRST = 2; // replications of the first report
const ready = init().then(() => library.prepare());

// Whether WebGPU has an adapter that is not software: those are slower than the CPU engine.
async function hasGpu() {
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  const info = adapter?.info ?? {};
  const isSoftware = (info.isFallbackAdapter ?? adapter?.isFallbackAdapter) || /swiftshader|llvmpipe/i.test(`${info.architecture} ${info.description}`);
  return Boolean(adapter) && !isSoftware;
}

const text = error => String(error?.message ?? error);

onmessage = async ({ data: { number, description, run } }) => {
  try {
    await ready;
    if (!run) {
      library.check(description);
      postMessage({ number, checked: true });
      return;
    }
    const onCpu = run.where === 'cpu' || (run.where === 'auto' && !await hasGpu());
    const playground = await library.Playground.open(description, run.seed, onCpu);
    for (let count = Math.min(FIRST, run.replications), isFirst = true; ; count = Math.min(2 * count, run.replications), isFirst = false) {
      const report = JSON.parse(await playground.run(count));
      const isLast = count === run.replications;
      postMessage({ number, report, isLast });
      if (isFirst) {
        const rate = report.kind === 'network' ? report.events / (report.replications * (report.until - report.warm_up)) : 0;
        postMessage({ number, course: JSON.parse(await playground.course(rate)) });
      }
      if (isLast) break;
    }
    playground.free();
  } catch (error) {
    postMessage({ number, error: text(error) });
  }
};
