//! Where customers may be: a class at a node, and of which forks they are siblings there. Who comes
//! to a fork is joined if he is a sibling that it made, and parted if he is not, so the same class
//! at the same node may go on in several ways.

use super::FacilityError;
use super::nodes::{Kind, Node, ResolvedRoute};

/// Chains of forks, one within the other, that are told apart.
const MOST_CHAINS: usize = 256;

/// A class of customers at a node.
pub(super) struct ClassAtNode {
    pub(super) node: usize,
    pub(super) class: usize,
    /// Its chain: 0 for customers, else for siblings.
    chain: usize,
    pub(super) steps: Vec<Step>,
}

/// Where they go from there.
pub(super) struct Step {
    pub(super) route: ResolvedRoute,
    /// The place, or none if they are joined.
    pub(super) to: Option<usize>,
    /// Whether a sibling goes along it.
    pub(super) task: bool,
}

/// All places that customers come to from some of them.
pub(super) struct ClassesAtNodes {
    pub(super) all: Vec<ClassAtNode>,
    /// The fork that made the siblings of a chain, and the chain of who was forked. The first is of
    /// customers, and has none.
    chains: Vec<(usize, usize)>,
    /// Of each chain, by node and class: the place and 1, or 0.
    known: Vec<Vec<usize>>,
    classes: usize,
}

impl ClassesAtNodes {
    /// Those to which customers come who are at the beginning at a node, as a class.
    ///
    /// # Errors
    /// [`FacilityError::Siblings`], [`FacilityError::Unsupported`].
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
                steps.push(Step { route: *route, to, task: false });
            }
            if !pair.tasks.is_empty() {
                let chain = places.within(nodes, node, chain)?;
                for route in &pair.tasks {
                    let to = places.along(nodes, route, chain);
                    steps.push(Step { route: *route, to, task: true });
                }
            }
            places.all[next].steps = steps;
            next += 1;
        }
        places.come_back(nodes)?;
        Ok(places)
    }

    /// The most siblings that a customer is at once.
    pub(super) fn tasks(&self, nodes: &[Node]) -> u32 {
        let made = |fork: usize| nodes[fork].pairs.iter().map(|pair| pair.tasks.len()).max().unwrap_or(0);
        let mut most = vec![1_u32; self.chains.len()];
        // An outer chain comes before those within.
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

    /// The chain of the siblings that a fork makes of those of another.
    fn within(&mut self, nodes: &[Node], fork: usize, outer: usize) -> Result<usize, FacilityError> {
        if let Some(chain) = self.chains.iter().position(|&known| known == (fork, outer)) {
            return Ok(chain);
        }
        // (That it is not the last of them is known: its siblings would have been joined.)
        let mut chain = outer;
        while chain > 0 {
            if self.chains[chain].0 == fork {
                return Err(self.lost(nodes, fork, outer, "are parted again at", "join them before"));
            }
            chain = self.chains[chain].1;
        }
        if self.chains.len() > MOST_CHAINS {
            return Err(FacilityError::Unsupported {
                node: nodes[fork].name.clone(),
                what: "so many forks within each other",
                reason: "each order of them is looked at, and up to 256",
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
        FacilityError::Siblings { fork, node: nodes[node].name.clone(), what, remedy }
    }

    /// Siblings do not leave the network: who was parted would wait for them for ever.
    fn stays(&self, nodes: &[Node], place: usize) -> Result<(), FacilityError> {
        let ClassAtNode { node: number, class, chain, .. } = self.all[place];
        if chain == 0 {
            return Ok(());
        }
        let node = &nodes[number];
        let lost = |what, remedy| Err(self.lost(nodes, number, chain, what, remedy));
        match node.kind {
            Kind::Sink => lost("leave the network at", "let all their ways lead back to the fork"),
            Kind::Station { capacity: Some(_), .. } if !node.blocks => {
                lost("may find no room at", "give it no capacity, or `when_full = \"block\"`")
            }
            _ if node.pairs[class].patience.is_some() => {
                lost("may lose patience at", "give their class there none")
            }
            _ if node.balks() => lost("may balk at", "let nobody balk there"),
            _ => Ok(()),
        }
    }

    /// Those that can leave: the network, or as siblings to be joined.
    pub(super) fn leave(&self, nodes: &[Node]) -> Vec<bool> {
        let out = |place: &ClassAtNode| {
            let node = &nodes[place.node];
            node.kind == Kind::Sink || node.pairs[place.class].patience.is_some()
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
        // Whoever can go to one of them can leave, too: from each that is found, back along the
        // ways to it, so that each way is looked at once.
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

    /// That siblings come back.
    fn come_back(&self, nodes: &[Node]) -> Result<(), FacilityError> {
        if self.chains.len() == 1 {
            return Ok(());
        }
        let leaves = self.leave(nodes);
        match self.all.iter().zip(leaves).find(|(place, leaves)| place.chain > 0 && !leaves) {
            None => Ok(()),
            Some((place, _)) => {
                let (what, remedy) = ("find no way back from", "let all their ways lead back to the fork");
                Err(self.lost(nodes, place.node, place.chain, what, remedy))
            }
        }
    }
}
