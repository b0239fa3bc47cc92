//! A network in the form that runs it.

use crate::facility::{
    Facility, FacilityError, Facts, Network, PointNetwork, PointRun, Report, Share, Study, Timeline,
    WatchPoint,
};
#[cfg(not(target_arch = "wasm32"))]
use crate::facility::{Follow, Visit};
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
/// let forms = NetworkForm::of_points(&description.networks()?, &[], false);
/// let forms = forms.map_err(|(_, error)| error)?;
/// let design = FacilityDesign::new(description.design()?, forms);
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
            Err(error) if error.needs_process() => Self::process(network, shares, allow_unstable),
            compiled => Ok(Self::Network(Box::new(compiled?))),
        }
    }

    /// The points of a design in one form, so that they have common random numbers: if one of them
    /// runs as a process model, all do, unless that refuses one of the others.
    ///
    /// # Errors
    /// As [`NetworkForm::new`], with the number of the point.
    #[expect(clippy::result_large_err, reason = "it is returned once")]
    pub fn of_points(
        networks: &[Network],
        shares: &[Share],
        allow_unstable: bool,
    ) -> Result<Vec<Self>, (usize, FacilityError)> {
        let forms = networks.iter().enumerate().map(|(point, network)| {
            Self::new(network, shares, allow_unstable).map_err(|error| (point, error))
        });
        let forms: Vec<Self> = forms.collect::<Result<_, _>>()?;
        let is_process = |form: &Self| matches!(form, Self::Process(_));
        if !forms.iter().any(is_process) || forms.iter().all(is_process) {
            return Ok(forms);
        }
        let all: Result<Vec<Self>, _> =
            networks.iter().map(|network| Self::process(network, shares, allow_unstable)).collect();
        Ok(all.unwrap_or(forms))
    }

    fn process(network: &Network, shares: &[Share], allow_unstable: bool) -> Result<Self, FacilityError> {
        let process = match allow_unstable {
            true => NetworkProcess::new_unstable(network)?,
            false => NetworkProcess::new(network)?,
        };
        Ok(Self::Process(Box::new(process.with_shares(shares)?)))
    }

    /// Reports quantiles of times and the distribution of the number of customers, too, in studies
    /// with [`Study::details`].
    ///
    /// # Errors
    /// As [`NetworkProcess::with_details`].
    pub fn with_details(self) -> Result<Self, FacilityError> {
        match self {
            Self::Network(facility) => Ok(Self::Network(facility)),
            Self::Process(process) => Ok(Self::Process(Box::new(process.with_details()?))),
        }
    }

    /// [`Facility::settles`], or [`NetworkProcess::settles`].
    ///
    /// # Errors
    /// As these.
    pub fn settles(&self, seed: u64, until: f64, pilots: u32) -> Result<f64, FacilityError> {
        match self {
            Self::Network(facility) => facility.settles(seed, until, pilots),
            Self::Process(process) => process.settles(seed, until, pilots),
        }
    }

    /// The visits of some customers in the first replication of a study: [`Facility::trace`] on the
    /// CPU, or [`NetworkProcess::trace`].
    ///
    /// # Errors
    /// As these.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn trace(&self, study: &Study, follow: Follow) -> Result<Vec<Visit>, FacilityError> {
        match self {
            Self::Network(facility) => facility.trace(study, follow).run(),
            Self::Process(process) => Ok(process.trace(study, follow)?),
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
