//! Names and what they stand for.

use indexmap::{IndexMap, IndexSet};

use super::super::error::ProcessError;
use super::super::ir::{Entity, Kind, Place, ProcessModel, SELECTED, Statement};
use super::super::program::{Attribute, Slot};
use super::walk;

/// Words of expressions: no names. Names of functions are followed by `(`, so they may be.
const WORDS: [&str; 9] = ["now", "age", "waited", "number", "and", "or", "not", "true", "false"];

/// What a name in an expression stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Named {
    /// A parameter of this kind.
    Parameter(Kind),
    /// An attribute or a variable.
    Slot(Slot, Kind),
}

/// The names that expressions of an entity may use.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub(super) names: IndexMap<String, Named>,
}

impl Scope {
    /// Parameters and variables.
    pub(super) fn global(model: &ProcessModel) -> Self {
        let parameters =
            model.parameters.iter().map(|(name, parameter)| (name, Named::Parameter(parameter.kind)));
        let variables = (0..)
            .zip(&model.variables)
            .map(|(index, (name, variable))| (name, Named::Slot(Slot::Variable(index), variable.kind)));
        Self { names: parameters.chain(variables).map(|(name, named)| (name.clone(), named)).collect() }
    }

    /// The same with the attributes of an entity.
    pub(super) fn with(&self, attributes: &[Attribute]) -> Self {
        let mut names = self.names.clone();
        names.extend(attributes.iter().map(|attribute| {
            (attribute.name.clone(), Named::Slot(Slot::Attribute(attribute.word), attribute.kind))
        }));
        Self { names }
    }

    /// What a name stands for.
    pub(super) fn find(&self, name: &str, place: Place) -> Result<Named, ProcessError> {
        self.names.get(name).copied().ok_or_else(|| ProcessError::Unknown {
            place,
            name: name.to_owned(),
            what: "an attribute, a variable or a parameter",
            known: self.names.keys().filter(|name| !name.contains(' ')).cloned().collect(),
        })
    }

    /// The name of a slot that no description names.
    pub(super) fn hidden(slot: Slot) -> String {
        format!("hidden {slot:?}")
    }

    /// Where a name can be set.
    pub(super) fn slot(&self, name: &str, place: Place) -> Result<(Slot, Kind), ProcessError> {
        match self.find(name, place)? {
            Named::Slot(slot, kind) => Ok((slot, kind)),
            Named::Parameter(_) => Err(ProcessError::Unsupported {
                place,
                what: format!("setting the parameter `{name}`"),
                remedy: "use a variable",
            }),
        }
    }
}

/// The index of a name in a table of the model.
pub(super) fn index<T>(
    table: &IndexMap<String, T>,
    name: &str,
    what: &'static str,
    place: Place,
) -> Result<u32, ProcessError> {
    let known = || table.keys().cloned().collect();
    let unknown = || ProcessError::Unknown { place, name: name.to_owned(), what, known: known() };
    table.get_index_of(name).and_then(|index| u32::try_from(index).ok()).ok_or_else(unknown)
}

/// The number of a resource, which `select` may have chosen.
pub(super) fn resource(
    model: &ProcessModel,
    name: &str,
    selected: Option<u32>,
    place: Place,
) -> Result<u32, ProcessError> {
    match selected {
        Some(resource) if name == SELECTED => Ok(resource),
        _ => index(&model.resources, name, "a resource", place),
    }
}

/// Checks that names are names, and each names one thing.
pub(super) fn check(model: &ProcessModel) -> Result<(), ProcessError> {
    let mut seen: IndexMap<&str, &'static str> = IndexMap::new();
    let all = (model.parameters.iter().map(|(name, of)| (name, "a parameter", of.place)))
        .chain(model.variables.iter().map(|(name, of)| (name, "a variable", of.place)))
        .chain(model.resources.iter().map(|(name, of)| (name, "a resource", of.place)))
        .chain(model.containers.iter().map(|(name, of)| (name, "a container", of.place)))
        .chain(model.stores.iter().map(|(name, of)| (name, "a store", of.place)))
        .chain(model.signals.iter().map(|(name, of)| (name, "a signal", of.place)))
        .chain(model.entities.iter().map(|(name, of)| (name, "an entity", of.place)));
    for (name, what, place) in all {
        valid(name, place)?;
        if name == SELECTED {
            let reason = "it is that of the resource that `select` chose";
            return Err(ProcessError::Name { place, name: name.clone(), reason });
        }
        if let Some(other) = seen.insert(name, what) {
            return Err(ProcessError::Repeated { place, name: name.clone(), other });
        }
    }
    for (name, tally) in &model.tallies {
        valid(name, tally.place)?;
    }
    for entity in model.entities.values() {
        let mut labels = IndexSet::new();
        let all = entity.blocks.values().chain([&entity.statements]);
        all.into_iter().try_for_each(|block| labelled(entity, block, &mut labels))?;
        for (name, attribute) in &entity.attributes {
            valid(name, attribute.place)?;
            if let Some(&other) = seen.get(&**name) {
                return Err(ProcessError::Repeated { place: attribute.place, name: name.clone(), other });
            }
        }
    }
    Ok(())
}

/// Checks that random numbers named by labels are those of one statement.
fn labelled<'m>(
    entity: &Entity,
    all: &'m [Statement],
    seen: &mut IndexSet<&'m str>,
) -> Result<(), ProcessError> {
    for statement in all {
        if let Some(label) = &statement.label {
            let (place, name) = (statement.place, label.clone());
            if label.is_empty() || label.contains(['/', '#']) || entity.attributes.contains_key(label) {
                let reason = "random numbers of others may have it: a label is no attribute, and has no `/` and no `#`";
                return Err(ProcessError::Name { place, name, reason });
            }
            if !seen.insert(label) {
                let other = "the label of another statement of this entity";
                return Err(ProcessError::Repeated { place, name, other });
            }
        }
        for block in walk::blocks(&statement.action) {
            labelled(entity, block, seen)?;
        }
    }
    Ok(())
}

fn valid(name: &str, place: Place) -> Result<(), ProcessError> {
    let wrong = |reason| Err(ProcessError::Name { place, name: name.to_owned(), reason });
    let letter = |c: char| c.is_alphabetic() || c == '_';
    if WORDS.contains(&name) {
        return wrong("expressions use this word");
    }
    match name.chars().next().is_some_and(letter) && name.chars().all(|c| letter(c) || c.is_numeric()) {
        true => Ok(()),
        false => wrong("use letters, digits and `_`, and begin with a letter"),
    }
}
