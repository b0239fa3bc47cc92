//! The HLA service against a federation that tests every pair of regions.

use std::collections::BTreeSet;

use super::common::gpu;
use eventhorizon::matching::hla::{Federate, Interest, ObjectHandle, RegionHandle, Service, Updates};
use eventhorizon::matching::{Matcher, MatchingError};

const LIMIT: u32 = 100;

/// The expected state of the service, in plain collections.
#[derive(Default)]
struct Plain {
    regions: Vec<[(u32, u32); 2]>,
    subscriptions: BTreeSet<(Federate, u32, usize)>,
    associations: BTreeSet<(usize, usize)>,
    objects: Vec<(Federate, u32)>,
}

impl Plain {
    fn recipients(&self, object: usize) -> Vec<Federate> {
        let (owner, class) = self.objects[object];
        let mine = self.associations.iter().filter(|(of, _)| *of == object);
        let mut federates = BTreeSet::new();
        for (_, region) in mine {
            for (federate, wanted, seen) in &self.subscriptions {
                let (a, b) = (self.regions[*region], self.regions[*seen]);
                let overlap = (0..2).all(|d| a[d].0 < b[d].1 && b[d].0 < a[d].1);
                if overlap && *wanted == class && *federate != owner {
                    federates.insert(*federate);
                }
            }
        }
        federates.into_iter().collect()
    }
}

#[test]
fn the_right_federates_hear_of_every_update() {
    right_federates_hear(Service::new(&Matcher::new(&gpu()), [LIMIT; 2]));
}

#[test]
fn the_right_federates_hear_on_the_host() {
    right_federates_hear(Service::on_host([LIMIT; 2]));
}

fn right_federates_hear(mut service: Service<2>) {
    let mut plain = Plain::default();
    let mut state = 12345u64;
    let mut below = move |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit
    };
    let (mut regions, mut objects): (Vec<RegionHandle>, Vec<ObjectHandle>) = (Vec::new(), Vec::new());
    let mut heard = 0;
    for round in 0..8 {
        for _ in 0..30 {
            let mut ranges = || {
                [(); 2].map(|()| {
                    let lo = u32::try_from(below(90)).unwrap();
                    (lo, lo + 1 + u32::try_from(below(10)).unwrap() * 6 % (LIMIT - lo))
                })
            };
            let ranges = ranges();
            match if round == 0 { 0 } else { below(7) } {
                0 => {
                    regions.push(service.create_region(ranges).unwrap());
                    plain.regions.push(ranges);
                    let federate = Federate(u32::try_from(below(5)).unwrap());
                    let class = u32::try_from(below(2)).unwrap();
                    objects.push(service.register_object_instance(federate, class));
                    plain.objects.push((federate, class));
                }
                1 => {
                    let region = below(regions.len());
                    service.modify(regions[region], ranges).unwrap();
                    plain.regions[region] = ranges;
                }
                2 | 3 => {
                    let (federate, class) =
                        (Federate(u32::try_from(below(5)).unwrap()), u32::try_from(below(2)).unwrap());
                    let region = below(regions.len());
                    service.subscribe(federate, Interest::Objects(class), regions[region]).unwrap();
                    plain.subscriptions.insert((federate, class, region));
                }
                4 | 5 => {
                    let (object, region) = (below(objects.len()), below(regions.len()));
                    service.associate(objects[object], regions[region]).unwrap();
                    plain.associations.insert((object, region));
                }
                _ => {
                    if let Some((federate, class, region)) = plain.subscriptions.pop_first() {
                        service.unsubscribe(federate, Interest::Objects(class), regions[region]).unwrap();
                    }
                    if let Some((object, region)) = plain.associations.pop_first() {
                        service.unassociate(objects[object], regions[region]).unwrap();
                    }
                }
            }
        }
        service.commit().unwrap();
        for (object, handle) in objects.iter().enumerate() {
            let recipients = service.recipients(*handle).unwrap();
            assert_eq!(recipients, plain.recipients(object), "round {round}, object {object}");
            heard += recipients.len();
        }
    }
    assert!(heard > 100, "the test must have matches: {heard}");
}

#[test]
fn bad_calls_are_errors() {
    let matcher = Matcher::new(&gpu());
    let mut service = Service::new(&matcher, [LIMIT]);
    let error = service.create_region([(5, LIMIT + 1)]).unwrap_err();
    assert!(matches!(error, MatchingError::Range { dimension: 0, upper: 101, limit: 100, .. }), "{error}");
    assert!(matches!(service.create_region([(5, 5)]), Err(MatchingError::Range { .. })));
    let region = service.create_region([(5, 6)]).unwrap();
    service.subscribe(Federate(1), Interest::Objects(0), region).unwrap();
    assert!(matches!(service.delete_region(region), Err(MatchingError::RegionInUse { .. })));
    service.unsubscribe(Federate(1), Interest::Objects(0), region).unwrap();
    service.delete_region(region).unwrap();
    assert!(matches!(service.delete_region(region), Err(MatchingError::UnknownHandle { .. })));
    assert!(matches!(service.modify(region, [(1, 2)]), Err(MatchingError::UnknownHandle { .. })));
}

#[test]
fn deleted_regions_leave_their_rows_and_never_their_handles() {
    let matcher = Matcher::new(&gpu());
    let mut service = Service::new(&matcher, [LIMIT]);
    let (watcher, owner) = (Federate(1), Federate(2));
    let object = service.register_object_instance(owner, 0);
    let lasting = service.create_region([(10, 20)]).unwrap();
    service.associate(object, lasting).unwrap();
    let mut handles = BTreeSet::from([lasting]);
    for cycle in 0..10_000 {
        // Alternately inside and outside of the object's region, in rows that held the other
        // before.
        let inside = cycle % 2 == 0;
        let region = service.create_region([if inside { (15, 25) } else { (20, 25) }]).unwrap();
        service.subscribe(watcher, Interest::Objects(0), region).unwrap();
        if cycle % 501 < 2 {
            let expected: &[Federate] = if inside { &[watcher] } else { &[] };
            assert_eq!(service.recipients(object).unwrap(), expected, "cycle {cycle}");
        }
        service.unsubscribe(watcher, Interest::Objects(0), region).unwrap();
        service.delete_region(region).unwrap();
        assert!(handles.insert(region), "a handle came twice");
    }
    assert_eq!(service.recipients(object).unwrap(), []);
    assert_eq!(service.device_rows(), 64);
    let fresh = service.create_region([(10, 20)]).unwrap();
    for old in handles.into_iter().filter(|handle| *handle != lasting) {
        let error = service.subscribe(watcher, Interest::Objects(0), old).unwrap_err();
        assert!(matches!(error, MatchingError::UnknownHandle { kind: "region", .. }), "{error}");
    }
    service.subscribe(watcher, Interest::Objects(0), fresh).unwrap();
    assert_eq!(service.recipients(object).unwrap(), [watcher]);
}

/// Attributes with regions of their own, interactions and deleted objects, against all pairs.
#[test]
fn the_right_federates_hear_of_attributes_and_interactions() {
    right_federates_hear_of_parts(Service::new(&Matcher::new(&gpu()), [LIMIT]));
    right_federates_hear_of_parts(Service::on_host([LIMIT]));
}

fn right_federates_hear_of_parts(mut service: Service<1>) {
    let mut stream = eventhorizon::random::Stream::new(3, 0, 0);
    let mut ranges = Vec::new();
    let mut regions = Vec::new();
    for _ in 0..40 {
        let lower = stream.below(90);
        ranges.push((lower, lower + 1 + stream.below(9)));
        regions.push(service.create_region([*ranges.last().unwrap()]).unwrap());
    }
    let overlap = |a: usize, b: usize| ranges[a].0 < ranges[b].1 && ranges[b].0 < ranges[a].1;
    let mut objects = Vec::new();
    for _ in 0..12 {
        let (owner, class) = (Federate(stream.below(4)), stream.below(2));
        objects.push(Some((service.register_object_instance(owner, class), owner, class)));
    }
    // (object, attribute or all, region), (federate, class, attribute or all, region), and
    // (federate, class of interactions, region).
    let mut associations = BTreeSet::new();
    let mut subscriptions = BTreeSet::new();
    let mut interests = BTreeSet::new();
    let mut heard = [0; 3];
    for round in 0..12 {
        for _ in 0..25 {
            let region = stream.below(40) as usize;
            let (federate, class) = (Federate(stream.below(4)), stream.below(2));
            let attribute = Some(stream.below(3)).filter(|&attribute| attribute < 2);
            match stream.below(8) {
                0..3 => {
                    let object = stream.below(12) as usize;
                    let Some((handle, ..)) = objects[object] else { continue };
                    service.associate(updates(handle, attribute), regions[region]).unwrap();
                    associations.insert((object, attribute, region));
                }
                3 | 4 => {
                    service.subscribe(federate, interest(class, attribute), regions[region]).unwrap();
                    subscriptions.insert((federate, class, attribute, region));
                }
                5 => {
                    service.subscribe(federate, Interest::Interactions(class), regions[region]).unwrap();
                    interests.insert((federate, class, region));
                }
                6 => {
                    if let Some((federate, class, attribute, region)) = subscriptions.pop_first() {
                        service.unsubscribe(federate, interest(class, attribute), regions[region]).unwrap();
                    }
                }
                _ => {
                    if let Some((object, attribute, region)) = associations.pop_last() {
                        let (handle, ..) = objects[object].unwrap();
                        service.unassociate(updates(handle, attribute), regions[region]).unwrap();
                    }
                    if let Some((federate, class, region)) = interests.pop_last() {
                        service
                            .unsubscribe(federate, Interest::Interactions(class), regions[region])
                            .unwrap();
                    }
                }
            }
        }
        if round % 4 == 3 {
            let object = stream.below(12) as usize;
            if let Some((handle, ..)) = objects[object].take() {
                service.delete_object_instance(handle).unwrap();
                associations.retain(|&(of, ..)| of != object);
                assert!(matches!(service.recipients(handle), Err(MatchingError::UnknownHandle { .. })));
            }
        }
        let meets = |a: Option<u32>, b: Option<u32>| a.is_none() || b.is_none() || a == b;
        for (object, known) in objects.iter().enumerate() {
            let Some((handle, owner, class)) = *known else { continue };
            for updated in [None, Some(0), Some(1)] {
                let mine = associations.iter().filter(|&&(of, to, _)| of == object && meets(to, updated));
                let mine: Vec<_> = mine.collect();
                let wanted = |&&(federate, of, attribute, seen): &&(Federate, u32, Option<u32>, usize)| {
                    let meets_one = mine.iter().any(|&&(_, to, region)| {
                        meets(attribute, to) && meets(attribute, updated) && overlap(region, seen)
                    });
                    of == class && federate != owner && meets_one
                };
                let expected: BTreeSet<_> =
                    subscriptions.iter().filter(wanted).map(|&(federate, ..)| federate).collect();
                let found = service.recipients(updates(handle, updated)).unwrap();
                assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "round {round}, object {object}");
                heard[usize::from(updated.is_some())] += found.len();
            }
        }
        for (region, &handle) in regions.iter().enumerate().step_by(5) {
            let (sender, class) = (Federate(1), stream.below(2));
            let wanted = |&&(federate, of, seen): &&(Federate, u32, usize)| {
                of == class && federate != sender && overlap(region, seen)
            };
            let expected: BTreeSet<_> =
                interests.iter().filter(wanted).map(|&(federate, ..)| federate).collect();
            let found = service.send_interaction(sender, class, handle).unwrap();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "round {round}, region {region}");
            heard[2] += found.len();
        }
    }
    assert!(heard.iter().all(|&heard| heard > 10), "the test must have matches: {heard:?}");
    // A region that only sent interactions is not in use.
    let region = service.create_region([(0, LIMIT)]).unwrap();
    service.send_interaction(Federate(9), 0, region).unwrap();
    service.delete_region(region).unwrap();
}

/// Updates of all attributes, or of one.
fn updates(object: ObjectHandle, attribute: Option<u32>) -> Updates {
    attribute.map_or(object.into(), |attribute| object.attribute(attribute))
}

fn interest(class: u32, attribute: Option<u32>) -> Interest {
    attribute.map_or(Interest::Objects(class), |attribute| Interest::Attribute(class, attribute))
}
