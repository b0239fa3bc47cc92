// Runs by threads that all have a lookahead: compilers remove the code for rounds, which slows the
// rest.
//
// provides: WITH_ROUNDS

const WITH_ROUNDS = false;
