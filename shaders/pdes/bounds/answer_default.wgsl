// For a model that declares senders and no `answer`: an LP sends because of an arrival a lookahead
// later at the earliest.
//
// Functions: answer.
//
// provides: answer
// needs: Answer, State, TIME_ZERO, run

fn answer(lp: u32, state: ptr<function, State>) -> Answer {
    return Answer(TIME_ZERO, run.lookahead);
}
