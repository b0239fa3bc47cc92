// A run over time: customers as dots that move on the picture of a network.

const SECONDS = 75; // that the run takes on the screen
const STEP = 0.45; // seconds that a customer takes from node to node, which takes no simulated time
const RADIUS = 4.5;
const IN_LINE = 12; // dots of a line; more become a number
const COLOURS = ['#0b6374', '#b3480f', '#6a3d9a', '#1b7837', '#a61e1e', '#444'];
const LOST = '#d00000';

const ease = part => part * part * (3 - 2 * part);

function onCurve(curve, part) {
  const rest = 1 - part;
  const weights = [rest ** 3, 3 * rest ** 2 * part, 3 * rest * part ** 2, part ** 3];
  return [0, 1].map(axis => curve.reduce((sum, point, i) => sum + weights[i] * point[axis], 0));
}

// Visits as objects, each with the node that its customer came from.
function read({ visits, end }) {
  const classes = [...new Set(visits.map(it => it[1]))];
  const before = new Map(); // of each customer: its earlier visits
  return visits.map(([customer, kind, node, arrived, began, left, outcome, first]) => {
    const earlier = before.get(customer) ?? [];
    before.set(customer, earlier);
    // A task comes from the fork at which its customer waits, others from where they left.
    const last = earlier.findLast(it => it.left === arrived) ?? earlier.findLast(it => it.arrived === arrived);
    const from = last?.node ?? (earlier.length === 0 && arrived > 0 ? first : null);
    const visit = { node, from, arrived, began, left: left ?? end, isLost: ['lost', 'balked', 'reneged'].includes(outcome), colour: COLOURS[classes.indexOf(kind) % COLOURS.length] };
    earlier.push(visit);
    return visit;
  }).sort((a, b) => a.arrived - b.arrived);
}

// Shows a course in a canvas that lies over a picture. Returns `{ pause, resume, isPaused, end }`.
export function show(canvas, course, onTime) {
  const { places: { size, nodes, routes }, end } = course;
  const visits = read(course);
  const curves = new Map(routes.map(it => [`${it.from} ${it.to}`, it.curve]));
  const speed = end / SECONDS; // simulated time for each second
  const context = canvas.getContext('2d');
  let [now, last, frame, isPaused] = [0, null, 0, false];

  function dot([x, y], colour, alpha = 1) {
    context.globalAlpha = alpha;
    context.beginPath();
    context.arc(x, y, RADIUS, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    context.strokeStyle = '#fff';
    context.lineWidth = 1;
    context.stroke();
    context.globalAlpha = 1;
  }

  function draw() {
    const scale = canvas.width / size[0];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, ...size);
    const step = STEP * speed;
    const lines = nodes.map(() => ({ waiting: [], served: [] }));
    for (const visit of visits) {
      if (visit.arrived > now) break;
      const part = (now - visit.arrived) / step;
      const colour = visit.isLost && now >= visit.left ? LOST : visit.colour;
      if (part < 1 && visit.from !== null) {
        const curve = curves.get(`${visit.from} ${visit.node}`) ?? [0, 1 / 3, 2 / 3, 1].map(at => [0, 1].map(axis => nodes[visit.from].middle[axis] * (1 - at) + nodes[visit.node].middle[axis] * at));
        dot(onCurve(curve, ease(part)), colour);
      } else if (now < visit.left) {
        lines[visit.node][visit.began !== null && visit.began <= now ? 'served' : 'waiting'].push(visit.colour);
      } else if (now - Math.max(visit.left, visit.arrived + step) < step && visit.isLost) {
        const part = (now - Math.max(visit.left, visit.arrived + step)) / step;
        const { middle: [x, y], half } = nodes[visit.node];
        dot([x, y + half[1] + 12 + 14 * part], LOST, 1 - part);
      }
    }
    lines.forEach(({ waiting, served }, node) => {
      const { middle: [x, y], half: [wide, high] } = nodes[node];
      // Served customers on the lower edge of the node, the line to its left.
      const most = Math.floor(2 * wide / (2 * RADIUS + 1));
      served.slice(0, most).forEach((colour, i) => dot([x - wide + (i + 0.7) * (2 * RADIUS + 1), y + high], colour));
      const [shown, left] = [waiting.slice(0, IN_LINE), waiting.length - IN_LINE];
      shown.forEach((colour, i) => dot([x - wide - 7 - Math.floor(i / 4) * 10, y + high - 5 - (i % 4) * 10], colour));
      context.fillStyle = '#17203a';
      context.font = '12px system-ui, sans-serif';
      if (left > 0) context.fillText(`+${left}`, x - wide - 34, y + high + 13);
      if (served.length > most) context.fillText(`+${served.length - most}`, x + wide + 3, y + high + 4);
    });
    onTime(now);
  }

  function tick(time) {
    if (last !== null) now += Math.min(0.1, (time - last) / 1000) * speed;
    last = time;
    if (now >= end) now = 0;
    draw();
    frame = isPaused ? 0 : requestAnimationFrame(tick);
  }

  // As many pixels as the screen has.
  const observer = new ResizeObserver(() => {
    canvas.width = canvas.clientWidth * devicePixelRatio;
    canvas.height = canvas.clientHeight * devicePixelRatio;
    draw();
  });
  observer.observe(canvas);
  const shown = {
    get isPaused() { return isPaused; },
    pause() {
      isPaused = true;
      cancelAnimationFrame(frame);
    },
    resume() {
      [isPaused, last] = [false, null];
      frame = requestAnimationFrame(tick);
    },
    end() {
      shown.pause();
      observer.disconnect();
    },
    // For tests: the numbers of customers at each node at a time.
    at(time) {
      const there = visits.filter(it => it.arrived <= time && time < it.left);
      return nodes.map((it, node) => [it.name, there.filter(visit => visit.node === node).length]);
    },
  };
  shown.resume();
  return shown;
}
