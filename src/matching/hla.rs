//! Data distribution management in the terms of the High Level Architecture (IEEE 1516): which
//! federates must receive an update.
//!
//! Federates own regions. A federate *subscribes* to an object class with a region; an object's
//! updates are *associated* with regions. An update of an object goes to every other federate that
//! subscribed to the object's class with a region that overlaps one of the object's.
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

use super::{Changes, Matcher, MatchingError, MovingRegions, Region, host};

/// A simulator in the federation; the caller chooses its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Federate(pub u32);

/// A region of the service. Handles are never reused: the handle of a deleted region stays unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionHandle(u64);

/// An object instance with distributed updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectHandle(u32);

/// Data distribution management over `D` dimensions.
///
/// Bounds of [`Service::modify`] take effect with [`Service::commit`], all at once, as in the
/// standard's *commit region modifications*. Only changed regions are matched again.
#[derive(Debug)]
pub struct Service<const D: usize> {
    /// `None` for the host's cores.
    matcher: Option<Matcher>,
    /// The upper bound of each dimension.
    dimensions: [u32; D],
    regions: BTreeMap<RegionHandle, RegionUse<D>>,
    objects: Vec<Object>,
    /// Bounds that wait for the commit.
    modified: BTreeMap<RegionHandle, Region<u32, D>>,
    next: u64,
    /// The region in each row, if there is one. Every region has the same row on both sides of the
    /// matching; on a side that does not use the region, the row is empty.
    rows: Vec<Option<RegionHandle>>,
    /// Rows without a region.
    free: Vec<u32>,
    /// Rows whose part in matching changed. A row that gets another region before the next matching
    /// is matched once, with its new region.
    changed: BTreeSet<u32>,
    matching: Option<Moving<D>>,
    device_rows: u32,
    /// For each row associated with updates, the overlapping subscribed rows.
    overlaps: BTreeMap<u32, BTreeSet<u32>>,
}

/// Regions of both sides, on the device or on the host.
#[derive(Debug)]
enum Moving<const D: usize> {
    Device(Box<MovingRegions<u32, D>>),
    Host(host::MovingRegions<u32, D>),
}

impl<const D: usize> Moving<D> {
    async fn new(matcher: Option<&Matcher>, rows: &[Region<u32, D>]) -> Result<Self, MatchingError> {
        Ok(match matcher {
            Some(matcher) => Self::Device(Box::new(MovingRegions::new_async(matcher, rows, rows).await?)),
            None => Self::Host(host::MovingRegions::new(rows, rows)?),
        })
    }

    async fn update(
        &mut self,
        subscriptions: &[(u32, Region<u32, D>)],
        updates: &[(u32, Region<u32, D>)],
    ) -> Result<Changes, MatchingError> {
        match self {
            Self::Device(regions) => regions.update_async(subscriptions, updates).await,
            Self::Host(regions) => regions.update(subscriptions, updates),
        }
    }
}

#[derive(Debug)]
struct RegionUse<const D: usize> {
    row: u32,
    bounds: Region<u32, D>,
    subscribers: BTreeSet<(Federate, u32)>,
    objects: BTreeSet<ObjectHandle>,
}

#[derive(Debug)]
struct Object {
    owner: Federate,
    class: u32,
    regions: BTreeSet<RegionHandle>,
}

impl<const D: usize> Service<D> {
    /// A service whose dimension `d` reaches from 0 up to `dimensions[d]`, exclusive.
    pub fn new(matcher: &Matcher, dimensions: [u32; D]) -> Self {
        Self::with(Some(matcher.clone()), dimensions)
    }

    /// The same on the host's cores, for machines without a GPU.
    pub fn on_host(dimensions: [u32; D]) -> Self {
        Self::with(None, dimensions)
    }

    fn with(matcher: Option<Matcher>, dimensions: [u32; D]) -> Self {
        Self {
            matcher,
            dimensions,
            regions: BTreeMap::new(),
            objects: Vec::new(),
            modified: BTreeMap::new(),
            next: 0,
            rows: Vec::new(),
            free: Vec::new(),
            changed: BTreeSet::new(),
            matching: None,
            device_rows: 0,
            overlaps: BTreeMap::new(),
        }
    }

    /// *Create region*: a range `[lower, upper)` in each dimension.
    ///
    /// # Errors
    /// [`MatchingError::Range`] if a range is not within its dimension.
    ///
    /// # Panics
    /// Beyond 2^32 regions at a time.
    pub fn create_region(&mut self, ranges: [(u32, u32); D]) -> Result<RegionHandle, MatchingError> {
        let bounds = self.bounds(ranges)?;
        let handle = RegionHandle(self.next);
        self.next += 1;
        let row = self.free.pop().unwrap_or_else(|| {
            self.rows.push(None);
            u32::try_from(self.rows.len() - 1).expect("fewer than 2^32 regions")
        });
        self.rows[row as usize] = Some(handle);
        let usage = RegionUse { row, bounds, subscribers: BTreeSet::new(), objects: BTreeSet::new() };
        self.regions.insert(handle, usage);
        Ok(handle)
    }

    /// *Delete region*.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`]; [`MatchingError::RegionInUse`] while it is associated or
    /// subscribed with.
    pub fn delete_region(&mut self, region: RegionHandle) -> Result<(), MatchingError> {
        let usage = self.region(region)?;
        if !usage.subscribers.is_empty() || !usage.objects.is_empty() {
            return Err(MatchingError::RegionInUse { region: region.0 });
        }
        // The device's row is empty or among `changed`, because the region is not used.
        let row = usage.row;
        self.regions.remove(&region);
        self.modified.remove(&region);
        self.rows[row as usize] = None;
        self.free.push(row);
        Ok(())
    }

    /// The number of regions for which each side of the matching has memory: a power of two that
    /// follows the maximum number of regions at a time, not the number of created regions.
    #[doc(hidden)]
    pub fn device_rows(&self) -> u32 {
        self.device_rows
    }

    /// *Set range bounds*, of all dimensions. Takes effect with [`Service::commit`].
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`]; [`MatchingError::Range`] if a range is not within its
    /// dimension.
    pub fn modify(&mut self, region: RegionHandle, ranges: [(u32, u32); D]) -> Result<(), MatchingError> {
        let bounds = self.bounds(ranges)?;
        self.region(region)?;
        self.modified.insert(region, bounds);
        Ok(())
    }

    /// *Commit region modifications*, of all modified regions.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`] if the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn commit(&mut self) -> Result<(), MatchingError> {
        pollster::block_on(self.commit_async())
    }

    /// [`Service::commit`] without blocking.
    ///
    /// # Errors
    /// As [`Service::commit`].
    pub async fn commit_async(&mut self) -> Result<(), MatchingError> {
        for (region, bounds) in std::mem::take(&mut self.modified) {
            if let Some(usage) = self.regions.get_mut(&region) {
                usage.bounds = bounds;
                self.changed.insert(usage.row);
            }
        }
        self.match_changed().await
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
        let usage = self.region(region)?;
        usage.objects.insert(object);
        let row = usage.row;
        self.object(object)?.regions.insert(region);
        self.changed.insert(row);
        Ok(())
    }

    /// *Unassociate regions for updates*.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn unassociate(&mut self, object: ObjectHandle, region: RegionHandle) -> Result<(), MatchingError> {
        self.object(object)?.regions.remove(&region);
        let usage = self.region(region)?;
        usage.objects.remove(&object);
        let row = usage.row;
        self.changed.insert(row);
        Ok(())
    }

    /// *Subscribe object class attributes with regions*: the federate wants updates of that class
    /// that concern this region.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn subscribe(
        &mut self,
        federate: Federate,
        class: u32,
        region: RegionHandle,
    ) -> Result<(), MatchingError> {
        let usage = self.region(region)?;
        usage.subscribers.insert((federate, class));
        let row = usage.row;
        self.changed.insert(row);
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
        let usage = self.region(region)?;
        usage.subscribers.remove(&(federate, class));
        let row = usage.row;
        self.changed.insert(row);
        Ok(())
    }

    /// The federates that must receive an update of this object, in the order of their numbers,
    /// without the owner.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`]; [`MatchingError::Gpu`] if the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn recipients(&mut self, object: ObjectHandle) -> Result<Vec<Federate>, MatchingError> {
        pollster::block_on(self.recipients_async(object))
    }

    /// [`Service::recipients`] without blocking.
    ///
    /// # Errors
    /// As [`Service::recipients`].
    pub async fn recipients_async(&mut self, object: ObjectHandle) -> Result<Vec<Federate>, MatchingError> {
        self.match_changed().await?;
        let Object { owner, class, regions } = &*self.object(object)?;
        let (owner, class, regions) = (*owner, *class, regions.clone());
        let mut federates = BTreeSet::new();
        let rows = regions.iter().filter_map(|region| Some(self.regions.get(region)?.row));
        for row in rows.filter_map(|row| self.overlaps.get(&row)).flatten() {
            let subscribers = self.region_in(*row).map(|usage| &usage.subscribers);
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

    fn region(&mut self, region: RegionHandle) -> Result<&mut RegionUse<D>, MatchingError> {
        let unknown = MatchingError::UnknownHandle { kind: "region", handle: region.0 };
        self.regions.get_mut(&region).ok_or(unknown)
    }

    /// The region in a row.
    fn region_in(&self, row: u32) -> Option<&RegionUse<D>> {
        self.regions.get(self.rows[row as usize].as_ref()?)
    }

    fn object(&mut self, object: ObjectHandle) -> Result<&mut Object, MatchingError> {
        let unknown = MatchingError::UnknownHandle { kind: "object", handle: object.0.into() };
        self.objects.get_mut(object.0 as usize).ok_or(unknown)
    }

    /// Updates the overlaps of regions with changed bounds or use.
    async fn match_changed(&mut self) -> Result<(), MatchingError> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let nowhere = Region::new([0; D], [0; D]);
        if self.matching.is_none() || self.rows.len() > self.device_rows as usize {
            // Allocates more rows than regions, so that this is rare. Then all regions count as
            // changed.
            let rows = self.rows.len().next_power_of_two().max(64);
            let empty = vec![nowhere; rows];
            self.matching = Some(Moving::new(self.matcher.as_ref(), &empty).await?);
            self.device_rows = u32::try_from(rows).unwrap_or(u32::MAX);
            self.overlaps.clear();
            self.changed.extend(self.regions.values().map(|usage| usage.row));
        }
        let (mut subscriptions, mut updates) = (Vec::new(), Vec::new());
        for &row in &self.changed {
            let usage = self.region_in(row);
            let bounds = |used: bool, usage: &RegionUse<D>| if used { usage.bounds } else { nowhere };
            let subscribed = usage.map_or(nowhere, |usage| bounds(!usage.subscribers.is_empty(), usage));
            let associated = usage.map_or(nowhere, |usage| bounds(!usage.objects.is_empty(), usage));
            subscriptions.push((row, subscribed));
            updates.push((row, associated));
        }
        let Some(matching) = &mut self.matching else { return Ok(()) };
        let changes = match matching.update(&subscriptions, &updates).await {
            Ok(changes) => changes,
            Err(error) => {
                // The next call rebuilds everything.
                self.matching = None;
                return Err(error);
            }
        };
        self.changed.clear();
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
