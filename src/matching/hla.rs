//! Data distribution management in the words of the High Level Architecture (IEEE 1516): which federates must
//! hear of an update.
//!
//! Federates own regions. A federate *subscribes* to an object class with a region; an object's updates are
//! *associated* with regions. An update of an object goes to every other federate that subscribed to the
//! object's class with a region that overlaps one of the object's.
//!
//! ```
//! use eventhorizon::gpu::Gpu;
//! use eventhorizon::matching::Matcher;
//! use eventhorizon::matching::hla::{Federate, Service};
//!
//! // Figure 1 of Marzolla and D'Angelo: cars (federate 1) and scooters (2) on a road of 1,000 m, lights at its side (4).
//! let (cars, scooters, lights) = (Federate(1), Federate(2), Federate(4));
//! const LIGHT: u32 = 0; // an object class
//! let mut service = Service::new(&Matcher::new(&Gpu::new()?), [1000]);
//!
//! let light = service.register_object_instance(lights, LIGHT);
//! let shines = service.create_region([(500, 560)])?;
//! service.associate(light, shines)?;
//!
//! let car_sees = service.create_region([(450, 510)])?;
//! let scooter_sees = service.create_region([(560, 620)])?;
//! service.subscribe(cars, LIGHT, car_sees)?;
//! service.subscribe(scooters, LIGHT, scooter_sees)?;
//! assert_eq!(service.recipients(light)?, [cars]); // [500, 560) ends before [560, 620) begins
//!
//! service.modify(scooter_sees, [(550, 610)])?;
//! service.commit()?;
//! assert_eq!(service.recipients(light)?, [cars, scooters]);
//!
//! service.unsubscribe(cars, LIGHT, car_sees)?;
//! assert_eq!(service.recipients(light)?, [scooters]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::{Matcher, MatchingError, MovingRegions, Region};

/// A simulator that takes part in the federation; the number is the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Federate(pub u32);

/// A region of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionHandle(u32);

/// An object instance whose updates are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectHandle(u32);

/// Data distribution management over `D` dimensions.
///
/// Bounds that [`Service::modify`] gives take effect with [`Service::commit`], all at once, as the standard's
/// *commit region modifications* has it; only regions that changed are matched again.
#[derive(Debug)]
pub struct Service<const D: usize> {
    matcher: Matcher,
    /// The upper bound of each dimension.
    dimensions: [u32; D],
    regions: BTreeMap<u32, Use<D>>,
    objects: Vec<Object>,
    /// Bounds that wait for the commit.
    modified: BTreeMap<u32, Region<u32, D>>,
    /// Regions whose part in matching changed.
    changed: BTreeSet<u32>,
    /// Every region has its place on both sides; on a side where it is not used, an empty one.
    matching: Option<MovingRegions<u32, D>>,
    places: u32,
    next: u32,
    /// By region associated with updates, the subscribed regions that it overlaps.
    overlaps: BTreeMap<u32, BTreeSet<u32>>,
}

#[derive(Debug)]
struct Use<const D: usize> {
    bounds: Region<u32, D>,
    subscribers: BTreeSet<(Federate, u32)>,
    objects: BTreeSet<ObjectHandle>,
}

#[derive(Debug)]
struct Object {
    owner: Federate,
    class: u32,
    regions: BTreeSet<u32>,
}

impl<const D: usize> Service<D> {
    /// A service whose dimension `d` reaches from 0 up to, and not including, `dimensions[d]`.
    pub fn new(matcher: &Matcher, dimensions: [u32; D]) -> Self {
        Self {
            matcher: matcher.clone(),
            dimensions,
            regions: BTreeMap::new(),
            objects: Vec::new(),
            modified: BTreeMap::new(),
            changed: BTreeSet::new(),
            matching: None,
            places: 0,
            next: 0,
            overlaps: BTreeMap::new(),
        }
    }

    /// *Create region*: a range `[lower, upper)` in each dimension.
    ///
    /// # Errors
    /// [`MatchingError::Range`] if a range is not within its dimension.
    pub fn create_region(&mut self, ranges: [(u32, u32); D]) -> Result<RegionHandle, MatchingError> {
        let bounds = self.bounds(ranges)?;
        let handle = RegionHandle(self.next);
        self.next += 1;
        let usage = Use { bounds, subscribers: BTreeSet::new(), objects: BTreeSet::new() };
        self.regions.insert(handle.0, usage);
        Ok(handle)
    }

    /// *Delete region*.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`]; [`MatchingError::RegionInUse`] while it is associated or subscribed
    /// with.
    pub fn delete_region(&mut self, region: RegionHandle) -> Result<(), MatchingError> {
        let usage = self.region(region)?;
        if !usage.subscribers.is_empty() || !usage.objects.is_empty() {
            return Err(MatchingError::RegionInUse { region: region.0 });
        }
        self.regions.remove(&region.0);
        self.modified.remove(&region.0);
        Ok(())
    }

    /// *Set range bounds*, of all dimensions: in effect after [`Service::commit`].
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`]; [`MatchingError::Range`] if a range is not within its dimension.
    pub fn modify(&mut self, region: RegionHandle, ranges: [(u32, u32); D]) -> Result<(), MatchingError> {
        let bounds = self.bounds(ranges)?;
        self.region(region)?;
        self.modified.insert(region.0, bounds);
        Ok(())
    }

    /// *Commit region modifications*, of all modified regions.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`] where the device fails.
    pub fn commit(&mut self) -> Result<(), MatchingError> {
        for (region, bounds) in std::mem::take(&mut self.modified) {
            if let Some(usage) = self.regions.get_mut(&region) {
                usage.bounds = bounds;
                self.changed.insert(region);
            }
        }
        self.match_changed()
    }

    /// *Register object instance*.
    ///
    /// # Panics
    /// Beyond 2^32 objects.
    pub fn register_object_instance(&mut self, owner: Federate, class: u32) -> ObjectHandle {
        let handle = u32::try_from(self.objects.len()).expect("fewer than 2^32 objects");
        self.objects.push(Object { owner, class, regions: BTreeSet::new() });
        ObjectHandle(handle)
    }

    /// *Associate regions for updates*: the object's updates concern this region.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn associate(&mut self, object: ObjectHandle, region: RegionHandle) -> Result<(), MatchingError> {
        self.object(object)?;
        self.region(region)?.objects.insert(object);
        self.object(object)?.regions.insert(region.0);
        self.changed.insert(region.0);
        Ok(())
    }

    /// *Unassociate regions for updates*.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn unassociate(&mut self, object: ObjectHandle, region: RegionHandle) -> Result<(), MatchingError> {
        self.object(object)?.regions.remove(&region.0);
        self.region(region)?.objects.remove(&object);
        self.changed.insert(region.0);
        Ok(())
    }

    /// *Subscribe object class attributes with regions*: the federate wants updates of that class that concern
    /// this region.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn subscribe(
        &mut self,
        federate: Federate,
        class: u32,
        region: RegionHandle,
    ) -> Result<(), MatchingError> {
        self.region(region)?.subscribers.insert((federate, class));
        self.changed.insert(region.0);
        Ok(())
    }

    /// *Unsubscribe object class attributes with regions*.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn unsubscribe(
        &mut self,
        federate: Federate,
        class: u32,
        region: RegionHandle,
    ) -> Result<(), MatchingError> {
        self.region(region)?.subscribers.remove(&(federate, class));
        self.changed.insert(region.0);
        Ok(())
    }

    /// The federates that must hear of an update of this object, in the order of their numbers. The owner is
    /// not among them.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`]; [`MatchingError::Gpu`] where the device fails.
    pub fn recipients(&mut self, object: ObjectHandle) -> Result<Vec<Federate>, MatchingError> {
        self.match_changed()?;
        let Object { owner, class, regions } = &*self.object(object)?;
        let (owner, class, regions) = (*owner, *class, regions.clone());
        let mut federates = BTreeSet::new();
        for region in regions.iter().filter_map(|region| self.overlaps.get(region)).flatten() {
            let subscribers = self.regions.get(region).map(|usage| &usage.subscribers);
            let interested = subscribers.into_iter().flatten().filter(|(_, wanted)| *wanted == class);
            federates.extend(interested.map(|(federate, _)| *federate));
        }
        federates.remove(&owner);
        Ok(federates.into_iter().collect())
    }

    fn bounds(&self, ranges: [(u32, u32); D]) -> Result<Region<u32, D>, MatchingError> {
        for (dimension, ((lower, upper), limit)) in (0..).zip(ranges.into_iter().zip(self.dimensions)) {
            if lower >= upper || upper > limit {
                return Err(MatchingError::Range { dimension, lower, upper, limit });
            }
        }
        Ok(Region::new(ranges.map(|range| range.0), ranges.map(|range| range.1)))
    }

    fn region(&mut self, region: RegionHandle) -> Result<&mut Use<D>, MatchingError> {
        let unknown = MatchingError::UnknownHandle { kind: "region", handle: region.0 };
        self.regions.get_mut(&region.0).ok_or(unknown)
    }

    fn object(&mut self, object: ObjectHandle) -> Result<&mut Object, MatchingError> {
        let unknown = MatchingError::UnknownHandle { kind: "object", handle: object.0 };
        self.objects.get_mut(object.0 as usize).ok_or(unknown)
    }

    /// Brings the overlaps up to date with the regions whose bounds or use changed.
    fn match_changed(&mut self) -> Result<(), MatchingError> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let nowhere = Region::new([0; D], [0; D]);
        if self.matching.is_none() || self.next > self.places {
            // More places than regions, so that this is seldom needed. All regions count as changed then.
            self.places = self.next.next_power_of_two().max(64);
            let places = vec![nowhere; self.places as usize];
            self.matching = Some(MovingRegions::new(&self.matcher, &places, &places)?);
            self.overlaps.clear();
            self.changed.extend(self.regions.keys());
        }
        let (mut subscriptions, mut updates) = (Vec::new(), Vec::new());
        for region in std::mem::take(&mut self.changed) {
            let usage = self.regions.get(&region);
            let bounds = |used: bool, usage: &Use<D>| if used { usage.bounds } else { nowhere };
            let subscribed = usage.map_or(nowhere, |usage| bounds(!usage.subscribers.is_empty(), usage));
            let associated = usage.map_or(nowhere, |usage| bounds(!usage.objects.is_empty(), usage));
            subscriptions.push((region, subscribed));
            updates.push((region, associated));
        }
        let Some(matching) = &mut self.matching else { return Ok(()) };
        let changes = matching.update(&subscriptions, &updates)?;
        for [subscribed, associated] in changes.began {
            self.overlaps.entry(associated).or_default().insert(subscribed);
        }
        for [subscribed, associated] in changes.ended {
            if let Some(set) = self.overlaps.get_mut(&associated) {
                set.remove(&subscribed);
            }
        }
        Ok(())
    }
}
