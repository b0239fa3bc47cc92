//! Takes the keys of a table one after the other, and refuses the others.

use super::super::error::ProcessError;
use super::super::ir::{Expression, Place};
use super::expression;
use super::tree::{Node, Table, Tree};

/// A table of which keys are taken.
pub(super) struct Keys<'t> {
    /// What it is, in errors: `seize`, `the resource bed`.
    pub(super) what: String,
    pub(super) place: Place,
    table: &'t Table,
    known: Vec<&'static str>,
}

impl<'t> Keys<'t> {
    pub(super) fn of(node: &'t Node, what: impl Into<String>) -> Result<Self, ProcessError> {
        let what = what.into();
        match &node.value {
            Tree::Table(table) => Ok(Self { what, place: node.place, table, known: Vec::new() }),
            _ => Err(setting(node, &what, "write a table: `{ ... }`")),
        }
    }

    /// The value of a key, if there is one.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'t Node> {
        self.known.push(key);
        self.table.get(key)
    }

    /// The value of a key.
    pub(super) fn need(&mut self, key: &'static str, remedy: &'static str) -> Result<&'t Node, ProcessError> {
        let (place, what) = (self.place, self.what.clone());
        self.take(key).ok_or(ProcessError::Missing { place, what, key, remedy })
    }

    /// `true`, or the default of false.
    pub(super) fn truth(&mut self, key: &'static str) -> Result<bool, ProcessError> {
        match self.take(key) {
            None => Ok(false),
            Some(Node { value: Tree::Truth(truth), .. }) => Ok(*truth),
            Some(node) => Err(setting(node, key, "write `true`, or leave it out")),
        }
    }

    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, ProcessError> {
        self.take(key).map(|node| text(node, key)).transpose()
    }

    pub(super) fn expression(&mut self, key: &'static str) -> Result<Option<Expression>, ProcessError> {
        self.take(key).map(|node| self::expression(node, key)).transpose()
    }

    /// Keys that are not taken.
    pub(super) fn others(&self) -> impl Iterator<Item = (&'t String, &'t Node)> + use<'_, 't> {
        self.table.iter().filter(|(key, _)| !self.known.contains(&&***key))
    }

    /// Refuses keys that are not taken.
    pub(super) fn end(self) -> Result<(), ProcessError> {
        match self.others().next() {
            None => Ok(()),
            Some((key, node)) => Err(self.unknown(key, node)),
        }
    }

    /// A key that the table cannot have.
    pub(super) fn unknown(&self, key: &str, node: &Node) -> ProcessError {
        ProcessError::Key {
            place: node.place,
            key: key.to_owned(),
            what: self.what.clone(),
            known: self.known.iter().map(|&key| key.to_owned()).collect(),
        }
    }
}

/// A wrong value.
pub(super) fn setting(node: &Node, what: &str, remedy: impl Into<String>) -> ProcessError {
    ProcessError::Setting {
        place: node.place,
        what: format!("`{what}`"),
        value: node.value.to_string(),
        remedy: remedy.into(),
    }
}

pub(super) fn text(node: &Node, what: &str) -> Result<String, ProcessError> {
    match &node.value {
        Tree::Text(text) => Ok(text.clone()),
        _ => Err(setting(node, what, "write a text in quotes")),
    }
}

pub(super) fn number(node: &Node, what: &str) -> Result<f64, ProcessError> {
    match &node.value {
        Tree::Number(number) => Ok(*number),
        _ => Err(setting(node, what, "write a number")),
    }
}

/// A number, or an expression in quotes.
pub(super) fn expression(node: &Node, what: &str) -> Result<Expression, ProcessError> {
    match &node.value {
        Tree::Number(number) => Ok(Expression::Number(*number)),
        Tree::Text(text) => expression::parse(text, node.place),
        _ => Err(setting(node, what, "write a number, or an expression in quotes")),
    }
}

/// The values of a list.
pub(super) fn list<'t>(node: &'t Node, what: &str) -> Result<&'t [Node], ProcessError> {
    match &node.value {
        Tree::List(list) => Ok(list),
        _ => Err(setting(node, what, "write a list: `[...]`")),
    }
}

/// The names and values of a table whose names are free.
pub(super) fn table<'t>(node: &'t Node, what: &str) -> Result<&'t Table, ProcessError> {
    match &node.value {
        Tree::Table(table) => Ok(table),
        _ => Err(setting(node, what, "write a table: `{ name = ... }`")),
    }
}
