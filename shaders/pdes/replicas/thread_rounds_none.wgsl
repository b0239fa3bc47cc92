// Runs by threads that all have a lookahead: compilers leave out what rounds need, which is in the way of everything else. (Figures: docs/replicas.md.)
//
// provides: WITH_ROUNDS

const WITH_ROUNDS = false;
