//! An engine of searches that runs wherever results are expected first.

use rayon::prelude::*;
use web_time::Instant;

use super::reference::find_all;
use super::{Engine, Mapping, Options, Results, SearchError, Space};
use crate::backend::{Backend, Chooser, Kind, Place};
use crate::gpu::Gpu;

/// Searches for each core in a part of a list, at least: a core prepares memory for a part.
const CHUNKS: usize = 4;

/// Finds the paths that [`Engine`] and [`find_all`] find, on the device, on all cores of the CPU,
/// or first on the CPU and then on a device that a thread opens meanwhile: see [`Backend`]. Results
/// are the same.
#[derive(Debug)]
pub struct AnyEngine<'g, S: Space> {
    chooser: Chooser<'g>,
    space: S,
    options: Options,
    device: Option<Engine<S>>,
}

impl<'g, S: Space + Send + 'static> AnyEngine<'g, S> {
    /// Creates an engine for a map or a graph. A mapping is a way to use a device.
    pub fn new(backend: Backend<'g>, space: S, options: Options) -> Self {
        let backend = backend.on_device_if(options.mapping != Mapping::Auto);
        let of_device = space.clone();
        let chooser = Chooser::new(backend, Kind::Searches).compiling(move |gpu: &Gpu| {
            // What fails here fails again with the searches.
            if let Ok(engine) = Engine::new(gpu, of_device.clone(), options) {
                let _ = engine.compile();
            }
        });
        Self { chooser, space, options, device: None }
    }

    /// The device's engine, if it made searches.
    pub fn device(&self) -> Option<&Engine<S>> {
        self.device.as_ref()
    }

    /// Runs a list of searches, (start, goal) each. `watch` gets the number of those that ended.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run(
        &mut self,
        searches: &[(S::Cell, S::Cell)],
        mut watch: impl FnMut(u64),
    ) -> Result<Results<S::Cell>, SearchError> {
        let limit = u32::MAX - 1;
        let list = u32::try_from(searches.len()).ok().filter(|count| *count <= limit);
        let count = list.ok_or(SearchError::TooMany { what: "searches", count: searches.len(), limit })?;
        // Wrong searches are found before the first part.
        for (number, &(start, goal)) in searches.iter().enumerate() {
            self.space.locate(number, start)?;
            self.space.locate(number, goal)?;
        }
        if self.options.paths {
            self.space.check_paths()?;
        }
        let mut outcomes = Vec::with_capacity(searches.len());
        let mut paths = Vec::new();
        let mut next = 0;
        while next < count {
            let (place, some) = self.chooser.next(count - next, 1);
            let part = &searches[next as usize..(next + some) as usize];
            let begun = Instant::now();
            let found = match place {
                Place::Host => on_cores(&self.space, part, self.options.paths),
                Place::Device(gpu) => {
                    let engine = match &mut self.device {
                        Some(engine) => engine,
                        none => none.insert(Engine::new(gpu, self.space.clone(), self.options)?),
                    };
                    engine
                        .searches(part)
                        .watch(|ended| watch(u64::from(next) + ended))
                        .run()
                        .map(|found| vec![found])
                }
            };
            for found in found.map_err(|error| error.after(next))? {
                if self.options.paths {
                    paths.extend(
                        (0..found.outcomes().len()).map(|search| found.path(search).collect::<Vec<_>>()),
                    );
                }
                outcomes.extend_from_slice(found.outcomes());
            }
            self.chooser.took(place, part.len(), begun.elapsed());
            next += some;
            watch(next.into());
        }
        Ok(Results::new(searches, outcomes, self.options.paths.then_some(paths)))
    }
}

/// The results of a list, in parts.
fn on_cores<S: Space>(
    space: &S,
    searches: &[(S::Cell, S::Cell)],
    paths: bool,
) -> Result<Vec<Results<S::Cell>>, SearchError> {
    let each = searches.len().div_ceil(CHUNKS * rayon::current_num_threads()).max(1);
    let chunks = searches.par_chunks(each).enumerate().map(|(number, chunk)| {
        let before = u32::try_from(number * each).expect("a list has a 32-bit number of searches");
        find_all(space, chunk, paths, |_| {}).map_err(|error| error.after(before))
    });
    // The first failed search of the list decides, whatever the order of their ends.
    chunks.collect::<Vec<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use glam::uvec2;

    use super::*;
    use crate::OnDemand;
    use crate::search::Grid;

    #[test]
    fn searches_move_to_the_device_after_any_number_and_stay_the_same() {
        let gpu = Gpu::for_test();
        let grid = Grid::random(40, 0.2, 7).unwrap();
        let searches = grid.random_searches(60, 3);
        let expected = find_all(&grid, &searches, true, |_| {}).unwrap();
        assert!(expected.found() > 10);
        for after in [0, 1, 30, 59, 60] {
            let device = OnDemand::from(gpu.clone()).handing_over_after(after);
            let options = Options::default().paths(true);
            let mut engine = AnyEngine::new(Backend::Auto(&device), grid.clone(), options);
            let mut last = 0;
            let found = engine.run(&searches, |ended| last = ended).unwrap();
            assert_eq!((engine.device().is_some(), last), (after < 60, 60), "{after}");
            assert_eq!(found, expected, "{after}");
        }
    }

    #[test]
    fn errors_name_searches_of_the_whole_list() {
        let grid = Grid::random(8, 0.0, 1).unwrap();
        let mut searches = vec![(uvec2(0, 0), uvec2(1, 1)); 100];
        searches[77].1 = uvec2(8, 0);
        let refused =
            AnyEngine::new(Backend::Cpu, grid, Options::default()).run(&searches, |_| {}).unwrap_err();
        assert!(matches!(refused, SearchError::Outside { search: 77, .. }), "{refused}");
        let overflow = SearchError::Overflow { search: 3, limit: 9 }.after(40);
        assert!(matches!(overflow, SearchError::Overflow { search: 43, limit: 9 }));
    }
}
