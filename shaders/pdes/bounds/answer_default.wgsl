// For a model that says who may send to whom and no more: an LP answers what arrives after the lookahead at the earliest.
//
// Functions: answer.
//
// provides: answer
// needs: Answer, State, TIME_ZERO, run

fn answer(lp: u32, state: ptr<function, State>) -> Answer {
    return Answer(TIME_ZERO, run.lookahead);
}
