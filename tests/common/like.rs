//! PHOLD as user code would define it.

use eventhorizon::gpu::Source;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{Capacity, Model};
use eventhorizon::time::Ticks;

/// PHOLD with another file, or other capacities.
pub struct Like(pub Phold, pub Source, pub Capacity);

impl Model for Like {
    type State = <Phold as Model>::State;
    type Params = <Phold as Model>::Params;
    type Payload = <Phold as Model>::Payload;
    type Output = <Phold as Model>::Output;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn source(&self) -> Source {
        self.1.clone()
    }

    fn lps(&self) -> u32 {
        self.0.lps()
    }

    fn params(&self) -> Self::Params {
        self.0.params()
    }

    fn lookahead(&self) -> Ticks {
        self.0.lookahead()
    }

    fn capacity(&self) -> Capacity {
        self.2
    }
}
