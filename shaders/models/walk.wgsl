// A random walk over a map of 30 chunks: the third model of the paper (section 5.1), after
// Vattulainen and Ala-Nissila, "Mission impossible: find a random pseudorandom number generator",
// Computers in Physics 9(5), 1995.
//
// A walker starts on a random cell of a 60 by 50 map with joined edges and makes `steps` steps to
// one of the four neighbours. The map has 30 chunks of 10 by 10 cells; the original test has four
// quarters. After each step the walker's chunk is found by comparisons, one branch per chunk, and
// the visit is counted. The last cell is uniform, so over many replications each chunk has the same
// number of final walkers.
//
// A step is one step of the walker and one draw.

struct Params {
    // At least 1.
    steps: u32,
}

struct State {
    x: u32,
    y: u32,
    next: u32,
    chunk: u32,
    visits: array<u32, 30>,
}

struct Output {
    // The chunk in which the walk ended, 0 to 29, row by row, and the cell.
    chunk: u32,
    x: u32,
    y: u32,
    // The number of visited chunks, and the most visits to one.
    explored: u32,
    most_visits: u32,
}

const WALK_COLUMNS = 60u;
const WALK_ROWS = 50u;

fn start(state: ptr<function, State>) {
    *state = State();
    (*state).x = draw_below(WALK_COLUMNS);
    (*state).y = draw_below(WALK_ROWS);
}

fn step(state: ptr<function, State>) -> bool {
    let x = (*state).x;
    let y = (*state).y;
    let direction = draw() >> 30u;
    if direction == 0u {
        (*state).x = select(x + 1u, 0u, x == WALK_COLUMNS - 1u);
    } else if direction == 1u {
        (*state).x = select(x, WALK_COLUMNS, x == 0u) - 1u;
    } else if direction == 2u {
        (*state).y = select(y + 1u, 0u, y == WALK_ROWS - 1u);
    } else {
        (*state).y = select(y, WALK_ROWS, y == 0u) - 1u;
    }
    if (*state).y < 10u {
        walk_visit(state, 0u);
    } else if (*state).y < 20u {
        walk_visit(state, 6u);
    } else if (*state).y < 30u {
        walk_visit(state, 12u);
    } else if (*state).y < 40u {
        walk_visit(state, 18u);
    } else {
        walk_visit(state, 24u);
    }
    (*state).next += 1u;
    return (*state).next < params.steps;
}

// Counts a visit to a chunk of the row with the first chunk `row`.
fn walk_visit(state: ptr<function, State>, row: u32) {
    let x = (*state).x;
    if x < 10u {
        (*state).chunk = row;
        (*state).visits[row] += 1u;
    } else if x < 20u {
        (*state).chunk = row + 1u;
        (*state).visits[row + 1u] += 1u;
    } else if x < 30u {
        (*state).chunk = row + 2u;
        (*state).visits[row + 2u] += 1u;
    } else if x < 40u {
        (*state).chunk = row + 3u;
        (*state).visits[row + 3u] += 1u;
    } else if x < 50u {
        (*state).chunk = row + 4u;
        (*state).visits[row + 4u] += 1u;
    } else {
        (*state).chunk = row + 5u;
        (*state).visits[row + 5u] += 1u;
    }
}

fn finish(state: ptr<function, State>) -> Output {
    var output = Output((*state).chunk, (*state).x, (*state).y, 0u, 0u);
    for (var chunk = 0u; chunk < 30u; chunk++) {
        let visits = (*state).visits[chunk];
        output.explored += u32(visits > 0u);
        output.most_visits = max(output.most_visits, visits);
    }
    return output;
}
