// Where nobody asks for answers: pdes/answers.wgsl.

fn answers_keep(row: u32) {}
