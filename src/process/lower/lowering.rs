//! A program in the making: gives out words and rows.

use indexmap::{IndexMap, IndexSet};

use crate::time::Resolution;

use super::super::error::ProcessError;
use super::super::ir::{self, Expression, Kind, Order, Place, ProcessModel, Value};
use super::super::program::{
    Attribute, Condition, ConstantKind, Container, Cost, Draw, EntityWord, Expr, FIRST_COUNT, Histogram,
    Line, Noted, Op, Process, Resource, Source, Step, StepId, Store, Sum, SumKind, Variable,
};
use super::constants::{Constants, distribution};
use super::names::{Scope, index};

/// The word with the number of an entity, and the two with its time of entry.
pub(super) const WHO: EntityWord = 0;
pub(super) const CREATED: EntityWord = 2;

/// A program in the making.
pub(super) struct Lowering<'m> {
    pub(super) model: &'m ProcessModel,
    pub(super) resolution: Resolution,
    pub(super) constants: Constants,
    pub(super) global: Scope,
    /// The next word for counts and variables, until the rows begin.
    pub(super) next_word: u32,
    pub(super) next_row: u32,
    /// Rows of counts, variables, resources and lines: the state should have room for them. Sums
    /// are in it as far as they fit.
    pub(super) hot: u32,
    pub(super) steps: Vec<Option<Step>>,
    pub(super) processes: Vec<Process>,
    /// The scope of each type.
    pub(super) scopes: Vec<Scope>,
    /// The next word of attributes of each type.
    pub(super) words: Vec<EntityWord>,
    /// The words with the length of the last wait.
    pub(super) waited: Vec<Option<EntityWord>>,
    pub(super) draws: IndexMap<String, Draw>,
    pub(super) lines: Vec<Line>,
    pub(super) resources: Vec<Resource>,
    pub(super) containers: Vec<Container>,
    pub(super) stores: Vec<Store>,
    pub(super) signals: Vec<u32>,
    pub(super) conditions: Vec<Condition>,
    pub(super) sums: IndexMap<String, Sum>,
    pub(super) costs: Vec<Cost>,
    pub(super) noted: IndexSet<Noted>,
    pub(super) variables: Vec<Variable>,
    pub(super) sources: Vec<Source>,
    pub(super) data: Vec<[u32; 4]>,
    /// The first step of each type's statements, and of its blocks.
    pub(super) bodies: Vec<StepId>,
    pub(super) blocks: Vec<IndexMap<String, StepId>>,
    /// The first steps of entities, by the attributes that have values.
    pub(super) preludes: IndexMap<(u32, Vec<String>), StepId>,
    /// The first steps of copies of entities, with their types.
    pub(super) copies: Vec<(u32, StepId)>,
    /// How many statements of a type have a text.
    pub(super) occurrences: IndexMap<(u32, String), u32>,
    /// Variables that count the sendings of signals, where an entity waits for one of several.
    pub(super) sent: IndexMap<String, u32>,
    /// Variables with whose turn it is, by the names of statements, and those without a statement.
    pub(super) turns: IndexMap<String, u32>,
    pub(super) free_turns: Vec<u32>,
}

impl<'m> Lowering<'m> {
    pub(super) fn new(model: &'m ProcessModel, resolution: Resolution) -> Self {
        Self {
            model,
            resolution,
            constants: Constants::new(),
            global: Scope::global(model),
            next_word: FIRST_COUNT,
            next_row: 0,
            hot: 0,
            steps: Vec::new(),
            processes: Vec::new(),
            scopes: Vec::new(),
            words: Vec::new(),
            waited: Vec::new(),
            draws: IndexMap::new(),
            lines: Vec::new(),
            resources: Vec::new(),
            containers: Vec::new(),
            stores: Vec::new(),
            signals: Vec::new(),
            conditions: Vec::new(),
            sums: IndexMap::new(),
            costs: Vec::new(),
            noted: IndexSet::new(),
            variables: Vec::new(),
            sources: Vec::new(),
            data: Vec::new(),
            bodies: Vec::new(),
            blocks: Vec::new(),
            preludes: IndexMap::new(),
            copies: Vec::new(),
            occurrences: IndexMap::new(),
            sent: IndexMap::new(),
            turns: IndexMap::new(),
            free_turns: Vec::new(),
        }
    }

    /// A word, or two, that all entities share.
    pub(super) fn word(&mut self, kind: Kind) -> u32 {
        let words = words_of(kind);
        let word = self.next_word.next_multiple_of(words);
        self.next_word = word + words;
        word
    }

    pub(super) fn rows(&mut self, rows: u32) -> u32 {
        self.next_row += rows;
        self.next_row - rows
    }

    pub(super) fn line(&mut self, name: String, order: Order) -> u32 {
        let row = self.rows(1);
        let serves = order == Order::Preempt;
        let order = if serves { Order::Priority } else { order };
        self.lines.push(Line { row, order, largest: false, serves, watch: 0, name });
        number(self.lines.len() - 1)
    }

    /// Takes a note, if they are kept.
    pub(super) fn note(&mut self, name: &str, process: u32, value: Expr) -> Vec<Op> {
        if self.model.notes == 0 {
            return Vec::new();
        }
        let (index, _) = self.noted.insert_full(Noted { name: name.to_owned(), process });
        vec![Op::Note(number(index), value)]
    }

    pub(super) fn sum(&mut self, name: &str, kind: SumKind, place: Place) -> Result<u32, ProcessError> {
        if let Some((index, _, sum)) = self.sums.get_full(name) {
            return match (sum.kind, kind) {
                (known, kind) if known == kind => Ok(number(index)),
                (SumKind::Tally(expected), SumKind::Tally(found)) => Err(ProcessError::Kinds {
                    place,
                    what: format!("the tally `{name}`"),
                    expected,
                    found,
                    remedy: "use another tally, or convert the value",
                }),
                _ => Err(ProcessError::Repeated { place, name: name.to_owned(), other: "another statistic" }),
            };
        }
        let row = self.rows(kind.rows());
        self.sums.insert(name.to_owned(), Sum { name: name.to_owned(), kind, row, histogram: None });
        Ok(number(self.sums.len() - 1))
    }

    /// Words and rows of everything that the model declares.
    pub(super) fn declare(&mut self) -> Result<(), ProcessError> {
        let model = self.model;
        for (name, entity) in &model.entities {
            let count = self.word(Kind::Integer);
            let mut next = 1;
            let mut attributes = Vec::new();
            for (name, attribute) in &entity.attributes {
                let word = take(&mut next, attribute.kind);
                attributes.push(Attribute { name: name.clone(), kind: attribute.kind, word });
            }
            self.scopes.push(self.global.with(&attributes));
            self.words.push(next);
            self.processes.push(Process { name: name.clone(), count, children: None, attributes });
        }
        // The counts of sources, which `sources` names.
        for source in model.entities.values().flat_map(|entity| &entity.sources) {
            let _ = source;
            self.word(Kind::Integer);
        }
        for (name, variable) in &model.variables {
            self.variable(name, variable)?;
        }
        self.hidden_variables();
        self.next_row = self.next_word.div_ceil(4);
        for (name, resource) in &model.resources {
            let [units, most] = self.units(name, resource);
            let row = self.rows(1);
            let offered = (units != most).then(|| self.rows(1));
            let line = self.line(format!("queue({name})"), resource.order);
            let holders = (resource.order == Order::Preempt).then(|| {
                let line = self.line(format!("holders({name})"), Order::Preempt);
                self.lines[line as usize].largest = true;
                line
            });
            let shift = model.schedules.get(name).is_some_and(|schedule| schedule.preempts);
            let name = name.clone();
            self.resources.push(Resource { row, units, most, line, holders, shift, offered, watch: 0, name });
        }
        let containers = model.containers.iter().map(|(name, of)| (name, of.order, of.place));
        for (name, order, place) in
            containers.chain(model.stores.iter().map(|(name, of)| (name, of.order, of.place)))
        {
            if order == Order::Preempt {
                return Err(ProcessError::Unsupported {
                    place,
                    what: format!("preemption at `{name}`"),
                    remedy: "only resources have it; use `queue = \"priority\"`",
                });
            }
        }
        for (name, container) in &model.containers {
            let most = i32::MAX.cast_unsigned();
            let whole = |value: &Option<Expression>, default: f64| {
                ConstantKind::Whole(value.clone().unwrap_or(default.into()), [0, most])
            };
            let (what, place) = (format!("the capacity of `{name}`"), container.place);
            let capacity = self.constants.constant(whole(&container.capacity, f64::from(most)), &what, place);
            let what = format!("the first level of `{name}`");
            let level = self.constants.constant(whole(&container.level, 0.0), &what, place);
            let row = self.rows(2);
            let getters = self.line(format!("queue({name})"), container.order);
            let putters = self.line(format!("putters({name})"), container.order);
            let name = name.clone();
            self.containers.push(Container { row, level, capacity, putters, getters, watch: 0, name });
        }
        for (name, store) in &model.stores {
            let capacity = match &store.capacity {
                Some(capacity) => ConstantKind::Whole(capacity.clone(), [1, u32::MAX - 1]),
                None => ConstantKind::Unbounded,
            };
            let what = format!("the capacity of `{name}`");
            let capacity = self.constants.constant(capacity, &what, store.place);
            let items = self.line(format!("level({name})"), store.order);
            let takers = self.line(format!("queue({name})"), Order::Fifo);
            let givers = self.line(format!("givers({name})"), Order::Fifo);
            self.stores.push(Store { capacity, items, givers, takers, name: name.clone() });
        }
        for name in model.signals.keys() {
            let line = self.line(format!("queue({name})"), Order::Fifo);
            self.signals.push(line);
        }
        self.hot = self.next_row;
        for (name, written) in &model.costs {
            let resource = index(&model.resources, name, "a resource", written.place)?;
            let uses = format!("uses({name})");
            let uses = written.each_use.as_ref().map(|_| self.sum(&uses, SumKind::Counter, written.place));
            self.costs.push(Cost { resource, written: written.clone(), uses: uses.transpose()? });
        }
        for (variable, (name, written)) in model.variables.iter().enumerate() {
            if written.level {
                let kind = SumKind::Level(number(variable));
                let sum = self.sum(name, kind, written.place)?;
                self.variables[variable].level = Some(sum);
                if written.histogram || model.quantiles {
                    self.sums[sum as usize].histogram = Some(Histogram::Times { row: 0 });
                }
            }
        }
        Ok(())
    }

    fn variable(&mut self, name: &str, written: &ir::Variable) -> Result<(), ProcessError> {
        let (place, kind) = (written.place, written.kind);
        let wrong = |what: String, remedy| Err(ProcessError::Unsupported { place, what, remedy });
        if written.level && kind != Kind::Integer {
            let what = format!("a time average of `{name}`");
            return wrong(what, "make it an integer");
        }
        if written.histogram && !written.level {
            let what = format!("a histogram of `{name}` without a time average");
            return wrong(what, "write `level = true`, too");
        }
        let value = match &written.value {
            None => Expression::Number(0.0),
            Some(Value::Expression(value)) => value.clone(),
            Some(_) => return wrong(format!("a drawn value of `{name}`"), "set it in a process"),
        };
        let what = format!("the first value of `{name}`");
        let first = self.constants.constant(ConstantKind::Value(kind, value), &what, place);
        let word = self.word(kind);
        self.variables.push(Variable { word, kind, first, level: None, watch: 0, name: name.to_owned() });
        Ok(())
    }

    /// The number of a distribution.
    pub(super) fn law(&mut self, law: &ir::Law, place: Place) -> Result<u32, ProcessError> {
        let found = distribution(law, &first_point(self.model), place)?;
        let reason = |reason| ProcessError::Distribution { place, name: law.name.clone(), reason };
        let words = found.words_at(self.resolution).map_err(reason)?;
        let table = found.table_at(self.resolution);
        Ok(self.constants.law(law, words, table.as_deref(), &mut self.data, place))
    }
}

pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a model has fewer than 2^32 parts")
}

pub(super) fn words_of(kind: Kind) -> u32 {
    match kind {
        Kind::Integer | Kind::Condition => 1,
        Kind::Time | Kind::Real => 2,
    }
}

/// A word, or two from an even one, of an entity; not those with its time of entry.
pub(super) fn take(next: &mut EntityWord, kind: Kind) -> EntityWord {
    let words = words_of(kind);
    let mut word = next.next_multiple_of(words);
    if (CREATED..CREATED + 2).contains(&word) {
        word = CREATED + 2;
    }
    *next = word + words;
    word
}

/// The first value of each parameter.
pub(super) fn first_point(model: &ProcessModel) -> impl Fn(&str) -> Option<f64> + '_ {
    |name| model.parameters.get(name)?.values.first().copied()
}
