//! A network in the form that runs it.

use crate::facility::{
    Facility, FacilityError, Facts, Network, PointNetwork, PointRun, Report, Share, Study, Timeline,
    WatchPoint,
};
use crate::statistics::{Intervals, Profile};
use crate::time::Resolution;

use super::NetworkProcess;

/// A network in the form that runs it: the network form, or a process model where that is needed
/// ([`FacilityError::needs_process`]).
///
/// ```
/// use eventhorizon::facility::{FacilityDesign, NetworkDescription, Study};
/// use eventhorizon::process::NetworkForm;
///
/// // Customers are served in groups of at most `most`.
/// let mut description = NetworkDescription::from_toml(r#"
/// name = "lift"
/// source.arrivals = { interarrival = { exponential = 1.0 }, to = "lift" }
/// station.lift = { service = { exponential = 2.0 }, batch = { least = 1, most = 4 }, to = "out" }
/// sink.out = {}
/// "#)?;
/// description.set("station.lift.batch.most=3,4")?;
/// let networks = description.networks()?;
/// let forms = networks.iter().map(|network| NetworkForm::new(network, &[], false));
/// let design = FacilityDesign::new(description.design()?, forms.collect::<Result<_, _>>()?);
/// let results = design.study(&Study::new(8, 300.0, 30.0)).run()?;
/// println!("{}", results.report(0.95)?);
/// # Ok::<(), eventhorizon::facility::FacilityError>(())
/// ```
#[derive(Debug)]
pub enum NetworkForm {
    /// The network form.
    Network(Box<Facility>),
    /// A process model.
    Process(Box<NetworkProcess>),
}

impl NetworkForm {
    /// Compiles a network whose studies report these shares.
    ///
    /// # Errors
    /// [`FacilityError`]: that of the process model, if the network form does not run the network.
    pub fn new(network: &Network, shares: &[Share], allow_unstable: bool) -> Result<Self, FacilityError> {
        let compiled = if allow_unstable { network.compile_unstable() } else { network.compile() };
        match compiled {
            Err(error) if error.needs_process() => {
                let process = match allow_unstable {
                    true => NetworkProcess::new_unstable(network)?,
                    false => NetworkProcess::new(network)?,
                };
                Ok(Self::Process(Box::new(process.with_shares(shares)?)))
            }
            compiled => Ok(Self::Network(Box::new(compiled?))),
        }
    }

    /// The description.
    pub fn network(&self) -> &Network {
        match self {
            Self::Network(facility) => facility.network(),
            Self::Process(process) => process.network(),
        }
    }

    /// Ticks in the unit of time.
    pub fn resolution(&self) -> Resolution {
        match self {
            Self::Network(facility) => facility.resolution(),
            Self::Process(process) => process.compiled().resolution(),
        }
    }

    /// What follows from the description without a run.
    pub fn facts(&self) -> Facts {
        match self {
            Self::Network(facility) => facility.facts(),
            Self::Process(process) => process.outline.facts(),
        }
    }

    /// The names of the measures that studies report, without shares and quantiles.
    pub fn measures(&self) -> Vec<String> {
        match self {
            Self::Network(facility) => facility.measures(false),
            Self::Process(process) => process.measures(),
        }
    }

    /// [`Facility::course`], or [`NetworkProcess::course`].
    ///
    /// # Errors
    /// As these.
    pub fn course(&self, study: &Study, parts: u32) -> Result<Timeline, FacilityError> {
        match self {
            Self::Network(facility) => facility.course(study, parts as usize),
            Self::Process(process) => Ok(process.course(study, parts)?),
        }
    }

    /// [`Facility::profile`], or [`NetworkProcess::profile`].
    ///
    /// # Errors
    /// As these.
    pub fn profile(
        &self,
        study: &Study,
        intervals: Intervals,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Profile, FacilityError> {
        match self {
            Self::Network(facility) => facility.profile(study, intervals, is_wanted),
            Self::Process(process) => Ok(process.profile(study, intervals, is_wanted)?),
        }
    }

    /// A picture of the network, with stations by utilisation if there is a report.
    ///
    /// # Errors
    /// [`FacilityError::Plot`].
    #[cfg(feature = "plot")]
    pub fn draw<'r>(&self, report: impl Into<Option<&'r Report>>) -> Result<String, FacilityError> {
        match self {
            Self::Network(facility) => crate::facility::plot::network(facility, report),
            Self::Process(process) => process.outline.draw(report),
        }
    }

    /// Makes replications of a study, from `run.first` on.
    ///
    /// # Errors
    /// [`FacilityError`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(
        &self,
        study: &Study,
        run: PointRun<'_>,
        watch: WatchPoint<'_>,
    ) -> Result<Report, FacilityError> {
        pollster::block_on(self.replicate(study, run, watch))
    }
}

impl PointNetwork for NetworkForm {
    fn deciding(&self, study: &Study) -> Result<Vec<String>, FacilityError> {
        match self {
            Self::Network(facility) => facility.deciding(study),
            Self::Process(process) => process.deciding(study),
        }
    }

    async fn replicate(
        &self,
        study: &Study,
        run: PointRun<'_>,
        watch: WatchPoint<'_>,
    ) -> Result<Report, FacilityError> {
        match self {
            Self::Network(facility) => facility.replicate(study, run, watch).await,
            Self::Process(process) => process.replicate(study, run, watch).await,
        }
    }
}

impl PointNetwork for NetworkProcess {
    fn deciding(&self, study: &Study) -> Result<Vec<String>, FacilityError> {
        self.outline.deciding(study)
    }

    async fn replicate(
        &self,
        study: &Study,
        run: PointRun<'_>,
        watch: WatchPoint<'_>,
    ) -> Result<Report, FacilityError> {
        let PointRun { shares, backend, options, first } = run;
        if shares != self.shares {
            let remedy = "compile the network with the shares of the run";
            return Err(self.setting("the shares of a run", "others than before", remedy).into());
        }
        let plan = self.study(study)?;
        let run = self.compiled.study(&plan).backend(backend).options(options).with_first(first);
        // Like a network, it counts from the first replication of the study.
        let watch = |runs: usize, events: u64| watch(first as usize + runs, events);
        let results = run.watch(watch).run_async().await.map_err(|error| self.explained(error))?;
        Ok(self.report(study, &results)?)
    }
}
