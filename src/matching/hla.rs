//! Data distribution management in the terms of the High Level Architecture (IEEE 1516): which
//! federates must receive an update.
//!
//! Federates own regions. A federate *subscribes* to an object class with a region; an object's
//! updates are *associated* with regions. An update of an object goes to every other federate that
//! subscribed to the object's class with a region that overlaps one of the object's. Both may be
//! limited to one attribute. An interaction goes to the other federates that subscribed to its
//! class with a region that overlaps the one it is sent with.
//!
//! ```
//! use eventhorizon::gpu::Gpu;
//! use eventhorizon::matching::Matcher;
//! use eventhorizon::matching::hla::{Federate, Interest, Service};
//!
//! // Figure 1 of Marzolla and D'Angelo: cars (federate 1) and scooters (2) on a road of 1,000 m, lights at its side (4).
//! let (cars, scooters, lights) = (Federate(1), Federate(2), Federate(4));
//! const LIGHT: u32 = 0; // an object class
//! let lit = Interest::Objects(LIGHT);
//! let mut service = Service::new(&Matcher::new(&Gpu::new()?), [1000]);
//!
//! let light = service.register_object_instance(lights, LIGHT);
//! let shines = service.create_region([(500, 560)])?;
//! service.associate(light, shines)?;
//!
//! let car_sees = service.create_region([(450, 510)])?;
//! let scooter_sees = service.create_region([(560, 620)])?;
//! service.subscribe(cars, lit, car_sees)?;
//! service.subscribe(scooters, lit, scooter_sees)?;
//! assert_eq!(service.recipients(light)?, [cars]); // [500, 560) ends before [560, 620) begins
//!
//! service.modify(scooter_sees, [(550, 610)])?;
//! service.commit()?;
//! assert_eq!(service.recipients(light)?, [cars, scooters]);
//!
//! service.unsubscribe(cars, lit, car_sees)?;
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

impl ObjectHandle {
    /// Updates of one attribute of this object, numbered by the caller.
    #[must_use]
    pub fn attribute(self, attribute: u32) -> Updates {
        Updates { object: self, attribute: Some(attribute) }
    }
}

/// Updates of an object: of all attributes, or of one ([`ObjectHandle::attribute`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Updates {
    object: ObjectHandle,
    attribute: Option<u32>,
}

impl From<ObjectHandle> for Updates {
    fn from(object: ObjectHandle) -> Self {
        Self { object, attribute: None }
    }
}

/// What a federate subscribes to with a region. The caller numbers classes and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interest {
    /// Updates of objects of a class.
    Objects(u32),
    /// Updates of an attribute of objects of a class: the class, the attribute.
    Attribute(u32, u32),
    /// Interactions of a class that are sent with a region that overlaps the federate's.
    Interactions(u32),
}

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
    /// By handle; deleted ones are `None`.
    objects: Vec<Option<Object>>,
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
    subscribers: BTreeSet<(Federate, Interest)>,
    /// Objects, with the attribute that the region is for, or `None` for all.
    objects: BTreeSet<(ObjectHandle, Option<u32>)>,
    /// Whether an interaction was sent with it.
    sends: bool,
}

#[derive(Debug)]
struct Object {
    owner: Federate,
    class: u32,
    /// With the attribute that each is for, or `None` for all.
    regions: BTreeSet<(RegionHandle, Option<u32>)>,
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
        let (subscribers, objects) = (BTreeSet::new(), BTreeSet::new());
        let usage = RegionUse { row, bounds, subscribers, objects, sends: false };
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
        let (row, sends) = (usage.row, usage.sends);
        if sends {
            self.changed.insert(row);
        }
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
        self.objects.push(Some(Object { owner, class, regions: BTreeSet::new() }));
        ObjectHandle(handle)
    }

    /// *Delete object instance*, with its associations. Its handle stays unknown.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn delete_object_instance(&mut self, object: ObjectHandle) -> Result<(), MatchingError> {
        let regions = std::mem::take(&mut self.object(object)?.regions);
        for (region, attribute) in regions {
            let usage = self.region(region)?;
            usage.objects.remove(&(object, attribute));
            let row = usage.row;
            self.changed.insert(row);
        }
        self.objects[object.0 as usize] = None;
        Ok(())
    }

    /// *Associate regions for updates*: updates of the object, or of one of its attributes
    /// ([`ObjectHandle::attribute`]), concern this region.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn associate(
        &mut self,
        updates: impl Into<Updates>,
        region: RegionHandle,
    ) -> Result<(), MatchingError> {
        self.set_association(updates.into(), region, true)
    }

    /// *Unassociate regions for updates*: ends [`Service::associate`] of the same updates.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn unassociate(
        &mut self,
        updates: impl Into<Updates>,
        region: RegionHandle,
    ) -> Result<(), MatchingError> {
        self.set_association(updates.into(), region, false)
    }

    fn set_association(
        &mut self,
        Updates { object, attribute }: Updates,
        region: RegionHandle,
        is_on: bool,
    ) -> Result<(), MatchingError> {
        self.region(region)?;
        set(&mut self.object(object)?.regions, (region, attribute), is_on);
        let usage = self.region(region)?;
        set(&mut usage.objects, (object, attribute), is_on);
        let row = usage.row;
        self.changed.insert(row);
        Ok(())
    }

    /// *Subscribe object class attributes with regions*, *subscribe interaction class with
    /// regions*: the federate wants what concerns this region.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn subscribe(
        &mut self,
        federate: Federate,
        interest: Interest,
        region: RegionHandle,
    ) -> Result<(), MatchingError> {
        self.set_subscription(federate, interest, region, true)
    }

    /// *Unsubscribe object class attributes with regions*, *unsubscribe interaction class with
    /// regions*: ends [`Service::subscribe`] with the same interest.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`].
    pub fn unsubscribe(
        &mut self,
        federate: Federate,
        interest: Interest,
        region: RegionHandle,
    ) -> Result<(), MatchingError> {
        self.set_subscription(federate, interest, region, false)
    }

    fn set_subscription(
        &mut self,
        federate: Federate,
        interest: Interest,
        region: RegionHandle,
        is_on: bool,
    ) -> Result<(), MatchingError> {
        let usage = self.region(region)?;
        set(&mut usage.subscribers, (federate, interest), is_on);
        let row = usage.row;
        self.changed.insert(row);
        Ok(())
    }

    /// The federates that must receive an update of this object, or of one of its attributes
    /// ([`ObjectHandle::attribute`]), in the order of their numbers, without the owner. Regions and
    /// subscriptions count that are for this attribute, or for all.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`]; [`MatchingError::Gpu`] if the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn recipients(&mut self, updates: impl Into<Updates>) -> Result<Vec<Federate>, MatchingError> {
        pollster::block_on(self.recipients_async(updates))
    }

    /// [`Service::recipients`] without blocking.
    ///
    /// # Errors
    /// As [`Service::recipients`].
    pub async fn recipients_async(
        &mut self,
        updates: impl Into<Updates>,
    ) -> Result<Vec<Federate>, MatchingError> {
        let Updates { object, attribute: updated } = updates.into();
        self.match_changed().await?;
        let Object { owner, class, regions } = &*self.object(object)?;
        let (owner, class, regions) = (*owner, *class, regions.clone());
        let mut federates = BTreeSet::new();
        for (region, associated) in regions {
            // Of the updated attributes, those that this region is for; `None` for all.
            let concerned = match (updated, associated) {
                (Some(updated), Some(associated)) if updated != associated => continue,
                (one, other) => one.or(other),
            };
            let wants = |interest| match interest {
                Interest::Objects(wanted) => wanted == class,
                Interest::Attribute(wanted, attribute) => {
                    wanted == class && concerned.is_none_or(|concerned| concerned == attribute)
                }
                Interest::Interactions(_) => false,
            };
            federates.extend(self.subscribers_of(region, wants));
        }
        federates.remove(&owner);
        Ok(federates.into_iter().collect())
    }

    /// *Send interaction with regions*: the federates that must receive an interaction of this
    /// class, in the order of their numbers, without the sender. The first interaction with a
    /// region matches it, later ones look it up.
    ///
    /// # Errors
    /// [`MatchingError::UnknownHandle`]; [`MatchingError::Gpu`] if the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn send_interaction(
        &mut self,
        sender: Federate,
        class: u32,
        region: RegionHandle,
    ) -> Result<Vec<Federate>, MatchingError> {
        pollster::block_on(self.send_interaction_async(sender, class, region))
    }

    /// [`Service::send_interaction`] without blocking.
    ///
    /// # Errors
    /// As [`Service::send_interaction`].
    pub async fn send_interaction_async(
        &mut self,
        sender: Federate,
        class: u32,
        region: RegionHandle,
    ) -> Result<Vec<Federate>, MatchingError> {
        let usage = self.region(region)?;
        let (row, was_sent) = (usage.row, std::mem::replace(&mut usage.sends, true));
        if !was_sent {
            self.changed.insert(row);
        }
        self.match_changed().await?;
        let wants = |interest| interest == Interest::Interactions(class);
        let mut federates: BTreeSet<_> = self.subscribers_of(region, wants).collect();
        federates.remove(&sender);
        Ok(federates.into_iter().collect())
    }

    /// The federates with such an interest and a region that overlaps this one.
    fn subscribers_of(
        &self,
        region: RegionHandle,
        wants: impl Fn(Interest) -> bool,
    ) -> impl Iterator<Item = Federate> {
        let row = self.regions.get(&region).map(|usage| usage.row);
        let rows = row.and_then(|row| self.overlaps.get(&row)).into_iter().flatten();
        let subscribers = rows.filter_map(|&row| self.region_in(row)).flat_map(|usage| &usage.subscribers);
        subscribers.filter(move |(_, interest)| wants(*interest)).map(|(federate, _)| *federate)
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
        self.objects.get_mut(object.0 as usize).and_then(Option::as_mut).ok_or(unknown)
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
            let associated =
                usage.map_or(nowhere, |usage| bounds(usage.sends || !usage.objects.is_empty(), usage));
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

/// Inserts an item into a set, or removes it.
fn set<T: Ord>(items: &mut BTreeSet<T>, item: T, is_in: bool) {
    match is_in {
        true => items.insert(item),
        false => items.remove(&item),
    };
}
