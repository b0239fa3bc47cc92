// Runs by threads of which some have no lookahead: their windows are the rounds of a time.
//
// provides: WITH_ROUNDS

const WITH_ROUNDS = true;
