use eventhorizon::models::Epidemic;
use eventhorizon::pdes::{Context, CpuModel, Event, Model};
use eventhorizon::random::Stream;
use eventhorizon::time::Ticks;

use super::Reference;

const CONTACT: u32 = 0;
const RECOVERY: u32 = 1;

type State = <Epidemic as Model>::State;
type Output = <Epidemic as Model>::Output;

impl Reference<Epidemic> {
    /// The neighbours of a person.
    pub fn neighbours(&self, person: u32) -> &[u32] {
        let data = self.data();
        let [begin, end] = [0, 1].map(|next| data[person as usize + next] as usize);
        &data[begin..end]
    }

    /// The time from the infection of `person` to the contact with each neighbour, in a run with
    /// this seed: [`Ticks::NEVER`] if the recovery comes first. In the order of
    /// [`Self::neighbours`]. The infector is not contacted again.
    #[allow(dead_code, reason = "a test's")]
    pub fn contacts(&self, seed: u64, person: u32) -> Vec<Ticks> {
        let mut stream = Stream::new(seed, person, 1);
        let (recovery, contacts) = self.draw(person, &mut stream);
        contacts.map(|contact| if contact < recovery { contact } else { Ticks::NEVER }).collect()
    }

    /// The consequences of an infection: the time to the recovery, and to the contact with each
    /// neighbour.
    fn draw<'a>(
        &self,
        person: u32,
        stream: &'a mut Stream,
    ) -> (Ticks, impl Iterator<Item = Ticks> + use<'a>) {
        let (latent, params) = (self.lookahead(), self.params());
        let recovery = latent.saturating_add(stream.exponential(params.mean_infectious));
        let neighbours = self.neighbours(person).len();
        let contacts = (0..neighbours).map(move |_| stream.exponential(params.mean_contact));
        (recovery, contacts.map(move |contact| latent.saturating_add(contact)))
    }
}

impl CpuModel for Reference<Epidemic> {
    fn init(&self, lp: u32, _: &mut State, context: &mut Context<'_, [u32; 6]>) {
        if lp >= self.lps() - self.params().index_cases {
            context.schedule(lp, Ticks::ZERO, [CONTACT, 0, lp, lp, 0, 0]);
        }
    }

    fn handle(
        &self,
        lp: u32,
        event: &Event<[u32; 6]>,
        state: &mut State,
        context: &mut Context<'_, [u32; 6]>,
    ) {
        let now = context.now();
        let [kind, generation, infector, index_case, low, high] = event.payload;
        if kind == RECOVERY {
            state.status = Epidemic::RECOVERED;
            state.recovered = now;
            return;
        }
        state.contacts += 1;
        if state.status != Epidemic::SUSCEPTIBLE {
            return;
        }
        let mut stream = context.stream().clone();
        let (recovery, contacts) = self.draw(lp, &mut stream);
        context.schedule(lp, now.saturating_add(recovery), [RECOVERY, 0, 0, 0, 0, 0]);
        let [since_low, since_high] = now.to_words();
        let message = [CONTACT, generation + 1, lp, index_case, since_low, since_high];
        let mut infections = 0;
        for (&neighbour, contact) in self.neighbours(lp).iter().zip(contacts) {
            if contact < recovery && neighbour != infector {
                context.schedule(neighbour, now.saturating_add(contact), message);
                infections += 1;
            }
        }
        *state = State {
            status: Epidemic::INFECTED,
            contacts: 1,
            infections,
            generation,
            infector,
            index_case,
            infected: now,
            recovered: Ticks::ZERO,
            interval: Ticks::new(now.get() - Ticks::from_words([low, high]).get()),
        };
    }

    fn output(&self, _: u32, state: &State, _: &mut Context<'_, [u32; 6]>) -> Output {
        let State { status, generation, infected, interval, .. } = *state;
        let cases = u32::from(status != Epidemic::SUSCEPTIBLE);
        Output { status, generation, infected, interval, cases, unused: 0 }
    }
}
