// Runs by threads of which some have no lookahead: their windows are the rounds of a time.

const WITH_ROUNDS = true;
