//! Where customers and tasks may be: a class at a node, with the chain of forks that created it. A
//! fork joins its own tasks and forks all others, so the same class at the same node may continue
//! along different routes.

use super::FacilityError;
use super::nodes::{Kind, Node, ResolvedRoute};

/// Most distinct chains of nested forks.
const MOST_CHAINS: usize = 256;

/// A class of customers at a node.
pub(super) struct ClassAtNode {
    pub(super) node: usize,
    pub(super) class: usize,
    /// Its chain: 0 for customers, otherwise of tasks.
    chain: usize,
    pub(super) steps: Vec<Step>,
}

/// A step from there.
pub(super) struct Step {
    pub(super) route: ResolvedRoute,
    /// The next place; `None` if it is joined.
    pub(super) to: Option<usize>,
    /// Whether a task takes it.
    pub(super) task: bool,
    /// Whether a customer whose patience ended takes it.
    pub(super) reneges: bool,
}

/// All places that customers can reach from some initial ones.
pub(super) struct ClassesAtNodes {
    pub(super) all: Vec<ClassAtNode>,
    /// By chain, the fork that created its tasks, and the chain of the forked customer. The first
    /// entry stands for customers and has no fork.
    chains: Vec<(usize, usize)>,
    /// By chain, node and class: the place plus 1, or 0.
    known: Vec<Vec<usize>>,
    classes: usize,
}

impl ClassesAtNodes {
    /// The places that customers reach from initial nodes and classes.
    ///
    /// # Errors
    /// [`FacilityError::Tasks`], [`FacilityError::Unsupported`].
    pub(super) fn from(nodes: &[Node], begin: &[(usize, usize)]) -> Result<Self, FacilityError> {
        let classes = nodes.first().map_or(0, |node| node.pairs.len());
        let mut places =
            Self { all: Vec::new(), chains: vec![(usize::MAX, 0)], known: vec![Vec::new()], classes };
        for &(node, class) in begin {
            places.find(nodes, node, class, 0);
        }
        let mut next = 0;
        while next < places.all.len() {
            let ClassAtNode { node, class, chain, .. } = places.all[next];
            places.stays(nodes, next)?;
            let pair = &nodes[node].pairs[class];
            let mut steps = Vec::new();
            for route in &pair.routes {
                let to = places.along(nodes, route, chain);
                steps.push(Step { route: *route, to, task: false, reneges: false });
            }
            for route in &pair.reneged {
                let to = places.along(nodes, route, chain);
                steps.push(Step { route: *route, to, task: false, reneges: true });
            }
            if !pair.tasks.is_empty() {
                let chain = places.within(nodes, node, chain)?;
                for route in &pair.tasks {
                    let to = places.along(nodes, route, chain);
                    steps.push(Step { route: *route, to, task: true, reneges: false });
                }
            }
            places.all[next].steps = steps;
            next += 1;
        }
        places.come_back(nodes)?;
        Ok(places)
    }

    /// The most tasks that a customer has at once.
    pub(super) fn tasks(&self, nodes: &[Node]) -> u32 {
        let made = |fork: usize| nodes[fork].pairs.iter().map(|pair| pair.tasks.len()).max().unwrap_or(0);
        let mut most = vec![1_u32; self.chains.len()];
        // An outer chain precedes its inner ones.
        for (chain, &(fork, outer)) in self.chains.iter().enumerate().skip(1) {
            most[chain] = most[outer].saturating_mul(u32::try_from(made(fork)).unwrap_or(u32::MAX));
        }
        most.into_iter().max().unwrap_or(1)
    }

    fn find(&mut self, nodes: &[Node], node: usize, class: usize, chain: usize) -> usize {
        let known = &mut self.known[chain];
        known.resize(nodes.len() * self.classes, 0);
        let place = &mut known[node * self.classes + class];
        if *place == 0 {
            self.all.push(ClassAtNode { node, class, chain, steps: Vec::new() });
            *place = self.all.len();
        }
        *place - 1
    }

    fn along(&mut self, nodes: &[Node], route: &ResolvedRoute, chain: usize) -> Option<usize> {
        let joined = chain > 0 && self.chains[chain].0 == route.node;
        (!joined).then(|| self.find(nodes, route.node, route.class, chain))
    }

    /// The chain of the tasks that a fork creates within another chain.
    fn within(&mut self, nodes: &[Node], fork: usize, outer: usize) -> Result<usize, FacilityError> {
        if let Some(chain) = self.chains.iter().position(|&known| known == (fork, outer)) {
            return Ok(chain);
        }
        // It is not the innermost fork of the chain, which would have joined its tasks.
        let mut chain = outer;
        while chain > 0 {
            if self.chains[chain].0 == fork {
                return Err(self.lost(nodes, fork, outer, "are forked again at", "join them before"));
            }
            chain = self.chains[chain].1;
        }
        if self.chains.len() > MOST_CHAINS {
            return Err(FacilityError::Unsupported {
                node: nodes[fork].name.clone(),
                what: "more than 256 chains of nested forks",
                reason: "each chain is checked, and at most 256",
            });
        }
        self.chains.push((fork, outer));
        self.known.push(Vec::new());
        Ok(self.chains.len() - 1)
    }

    fn lost(
        &self,
        nodes: &[Node],
        node: usize,
        chain: usize,
        what: &'static str,
        remedy: &'static str,
    ) -> FacilityError {
        let fork = nodes[self.chains[chain].0].name.clone();
        FacilityError::Tasks { fork, node: nodes[node].name.clone(), what, remedy }
    }

    /// Checks that tasks do not leave the network: their fork would wait for them for ever.
    fn stays(&self, nodes: &[Node], place: usize) -> Result<(), FacilityError> {
        let ClassAtNode { node: number, class, chain, .. } = self.all[place];
        if chain == 0 {
            return Ok(());
        }
        let node = &nodes[number];
        let lost = |what, remedy| Err(self.lost(nodes, number, chain, what, remedy));
        match node.kind {
            Kind::Sink => lost("leave the network at", "lead all their routes back to the fork"),
            Kind::Station { capacity: Some(_), .. } if !node.blocks => {
                lost("may find no room at", "give it no capacity, or `when_full = \"block\"`")
            }
            _ if node.pairs[class].patience.is_some() && node.pairs[class].reneged.is_empty() => {
                lost("may lose patience at", "remove the patience of their class there")
            }
            _ if node.balks() => lost("may balk at", "remove `balking` there"),
            _ if node.beyond.changes_number() => {
                lost("are joined or split at", "do so before the fork or behind it")
            }
            _ => Ok(()),
        }
    }

    /// The places from which customers can leave the network, or tasks can reach their join.
    pub(super) fn leave(&self, nodes: &[Node]) -> Vec<bool> {
        let out = |place: &ClassAtNode| {
            let node = &nodes[place.node];
            let pair = &node.pairs[place.class];
            node.kind == Kind::Sink || pair.patience.is_some() && pair.reneged.is_empty()
        };
        let mut leaves: Vec<bool> = self.all.iter().map(out).collect();
        let mut comes = vec![Vec::new(); self.all.len()];
        for (from, place) in self.all.iter().enumerate() {
            for step in place.steps.iter().filter(|step| !step.task) {
                match step.to {
                    Some(to) => comes[to].push(from),
                    None => leaves[from] = true,
                }
            }
        }
        // A place with a step to one of these can leave too. Follows the steps backwards from each
        // place found, so that each is visited once.
        let mut found: Vec<usize> = (0..leaves.len()).filter(|&place| leaves[place]).collect();
        while let Some(place) = found.pop() {
            for &from in &comes[place] {
                if !std::mem::replace(&mut leaves[from], true) {
                    found.push(from);
                }
            }
        }
        leaves
    }

    /// Checks that tasks come back.
    fn come_back(&self, nodes: &[Node]) -> Result<(), FacilityError> {
        if self.chains.len() == 1 {
            return Ok(());
        }
        let leaves = self.leave(nodes);
        match self.all.iter().zip(leaves).find(|(place, leaves)| place.chain > 0 && !leaves) {
            None => Ok(()),
            Some((place, _)) => {
                let (what, remedy) = ("find no way back from", "lead all their routes back to the fork");
                Err(self.lost(nodes, place.node, place.chain, what, remedy))
            }
        }
    }
}
