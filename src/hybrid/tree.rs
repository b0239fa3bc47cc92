//! The living processes of an entity: their names, their kinds, and which spawned which.

use std::collections::{BTreeMap, BTreeSet};

/// The name and the kind of a process, both optional. A name belongs to one living process of an
/// entity at a time; a kind may have many.
///
/// ```
/// use eventhorizon::hybrid::ProcessLabel;
///
/// let label = ProcessLabel::named("teller 1").kind("teller");
/// assert_eq!(label.name(), Some("teller 1"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessLabel {
    name: Option<String>,
    kind: Option<String>,
}

impl ProcessLabel {
    /// A label with a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), kind: None }
    }

    /// A label with a kind, without a name.
    pub fn of_kind(kind: impl Into<String>) -> Self {
        Self::default().kind(kind)
    }

    /// Sets the kind.
    #[must_use]
    pub fn kind(self, kind: impl Into<String>) -> Self {
        Self { kind: Some(kind.into()), ..self }
    }

    /// The name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether this is its kind.
    pub fn is_of_kind(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }
}

/// The living processes of an entity, by number.
#[derive(Debug, Default)]
pub(super) struct ProcessTree {
    living: BTreeMap<u32, Living>,
    names: BTreeMap<String, u32>,
}

#[derive(Debug)]
struct Living {
    label: ProcessLabel,
    parent: Option<u32>,
    /// Whether it had a child: without one, its end concerns no other process.
    has_children: bool,
}

impl ProcessTree {
    /// Adds a process. Nothing is added below a parent that has ended. False if its name is taken.
    pub(super) fn add(&mut self, number: u32, label: ProcessLabel, parent: Option<u32>) -> bool {
        if parent.is_some_and(|parent| !self.lives(parent)) {
            return true;
        }
        if let Some(name) = &label.name {
            if self.names.contains_key(name) {
                return false;
            }
            self.names.insert(name.clone(), number);
        }
        if let Some(parent) = parent.and_then(|parent| self.living.get_mut(&parent)) {
            parent.has_children = true;
        }
        self.living.insert(number, Living { label, parent, has_children: false });
        true
    }

    pub(super) fn lives(&self, number: u32) -> bool {
        self.living.contains_key(&number)
    }

    pub(super) fn named(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    pub(super) fn label(&self, number: u32) -> Option<&ProcessLabel> {
        self.living.get(&number).map(|process| &process.label)
    }

    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = u32> {
        self.living
            .iter()
            .filter(move |(_, process)| process.label.is_of_kind(kind))
            .map(|(&number, _)| number)
    }

    pub(super) fn children(&self, parent: u32) -> impl Iterator<Item = u32> {
        let of_parent = move |(_, process): &(&u32, &Living)| process.parent == Some(parent);
        self.living.iter().filter(of_parent).map(|(&number, _)| number)
    }

    /// Removes a process. Its children become children of its parent, so that an ancestor's tree
    /// still has them.
    pub(super) fn end(&mut self, number: u32) {
        let Some(ended) = self.remove(number).filter(|ended| ended.has_children) else { return };
        if let Some(parent) = ended.parent.and_then(|parent| self.living.get_mut(&parent)) {
            parent.has_children = true;
        }
        for (_, process) in self.living.range_mut(number..) {
            if process.parent == Some(number) {
                process.parent = ended.parent;
            }
        }
    }

    /// Removes a process and all processes below it. Returns their number.
    pub(super) fn kill(&mut self, number: u32) -> usize {
        match self.living.get(&number) {
            None => return 0,
            Some(process) if !process.has_children => return self.remove(number).iter().count(),
            Some(_) => {}
        }
        // A process has a greater number than its parent.
        let mut killed = BTreeSet::from([number]);
        for (&number, process) in self.living.range(number..) {
            if process.parent.is_some_and(|parent| killed.contains(&parent)) {
                killed.insert(number);
            }
        }
        for &number in &killed {
            self.remove(number);
        }
        killed.len()
    }

    fn remove(&mut self, number: u32) -> Option<Living> {
        let removed = self.living.remove(&number)?;
        if let Some(name) = &removed.label.name {
            self.names.remove(name);
        }
        Some(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family() -> ProcessTree {
        let mut tree = ProcessTree::default();
        assert!(tree.add(0, ProcessLabel::named("root"), None));
        assert!(tree.add(1, ProcessLabel::of_kind("leaf"), Some(0)));
        assert!(tree.add(2, ProcessLabel::named("middle").kind("inner"), Some(0)));
        assert!(tree.add(3, ProcessLabel::of_kind("leaf"), Some(2)));
        assert!(tree.add(4, ProcessLabel::of_kind("leaf"), None));
        tree
    }

    #[test]
    fn a_tree_dies_with_its_root_and_nothing_else() {
        let mut tree = family();
        assert_eq!(tree.kill(2), 2);
        assert_eq!(tree.of_kind("leaf").collect::<Vec<_>>(), [1, 4]);
        assert_eq!((tree.kill(2), tree.kill(0), tree.lives(4)), (0, 2, true));
        // Names are free again, and nothing grows below the dead.
        assert!(tree.add(5, ProcessLabel::named("middle"), Some(0)) && !tree.lives(5));
        assert!(tree.add(6, ProcessLabel::named("middle"), None));
        assert!(!tree.add(7, ProcessLabel::named("middle"), None));
        assert_eq!(tree.named("middle"), Some(6));
    }

    #[test]
    fn children_of_an_ended_process_belong_to_its_parent() {
        let mut tree = family();
        tree.end(2);
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(tree.named("middle"), None);
        assert_eq!(tree.kill(0), 3);
        assert!(tree.lives(4));
    }
}
