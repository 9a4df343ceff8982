//! `Verdict`: which invariants a scenario breaks, and the shortest way to break each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use stateright::{Checker, Expectation, Model};

use crate::protocol::Protocol;
use crate::scenario::Scenario;
use crate::world::World;

/// What was found out about a scenario.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The invariants that do not hold, in order.
    pub(crate) broken: Vec<&'static str>,
    /// The shortest path to a world that breaks it.
    pub(crate) paths: HashMap<&'static str, Vec<String>>,
    /// What was seen to be possible.
    pub(crate) possible: Vec<&'static str>,
    pub(crate) worlds: usize,
    /// The worlds from which nothing settles the message any more.
    pub(crate) stuck: usize,
    pub(crate) time: Duration,
}

impl Verdict {
    /// Visits every world.
    pub(crate) fn of(scenario: Scenario) -> Self {
        let started = Instant::now();
        let checker = Protocol::new(scenario).checker().spawn_bfs().join();
        let mut paths: HashMap<_, Vec<_>> = HashMap::new();
        let mut possible = Vec::new();
        for (property, path) in checker.discoveries() {
            if checker.model().property(property).expectation == Expectation::Sometimes {
                possible.push(property);
            } else {
                let actions = path.into_actions();
                paths.insert(property, actions.iter().map(ToString::to_string).collect());
            }
        }
        possible.sort_unstable();

        let graph = Graph::of(&Protocol::new(scenario));
        let stuck = graph.stuck();
        let mut broken: Vec<_> = paths.keys().copied().collect();
        if stuck > 0 {
            broken.push("L1");
        }
        broken.sort_unstable();
        assert_eq!(
            checker.unique_state_count(),
            graph.settled.len(),
            "both searches visit every world"
        );
        Self {
            broken,
            paths,
            possible,
            worlds: graph.settled.len(),
            stuck,
            time: started.elapsed(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.broken.is_empty() {
            write!(f, "all hold")?;
        } else {
            write!(f, "breaks {}", self.broken.join(", "))?;
        }
        write!(f, " ({} worlds", self.worlds)?;
        if self.stuck > 0 {
            write!(f, ", {} of them stuck", self.stuck)?;
        }
        write!(f, ", {:.1} s)", self.time.as_secs_f64())
    }
}

/// Which world leads to which. For `L1`: stateright checks worlds and ends of paths, not whether an end can be reached.
struct Graph {
    /// For each world, whether the message is settled in it.
    settled: Vec<bool>,
    /// From world to world.
    edges: Vec<(u32, u32)>,
}

impl Graph {
    fn of(protocol: &Protocol) -> Self {
        let mut graph = Self {
            settled: Vec::new(),
            edges: Vec::new(),
        };
        let mut numbers = HashMap::new();
        let mut to_visit = Vec::new();
        let mut actions = Vec::new();
        for world in protocol.init_states() {
            to_visit.push((graph.number(&mut numbers, &world).0, world));
        }
        while let Some((from, world)) = to_visit.pop() {
            protocol.actions(&world, &mut actions);
            for action in actions.drain(..) {
                let Some(next) = protocol.next_state(&world, action) else {
                    continue;
                };
                let (to, is_new) = graph.number(&mut numbers, &next);
                graph.edges.push((from, to));
                if is_new {
                    to_visit.push((to, next));
                }
            }
        }
        graph
    }

    /// Worlds are told apart by a hash of 64 bits, as stateright does.
    fn number(&mut self, numbers: &mut HashMap<u64, u32>, world: &World) -> (u32, bool) {
        let mut hasher = DefaultHasher::new();
        world.hash(&mut hasher);
        match numbers.entry(hasher.finish()) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(unknown) => {
                let number = u32::try_from(self.settled.len()).expect("fewer worlds");
                self.settled.push(world.is_settled());
                (*unknown.insert(number), true)
            }
        }
    }

    /// How many worlds there are from which no settled one can be reached.
    fn stuck(&self) -> usize {
        let mut before = vec![Vec::new(); self.settled.len()];
        for (from, to) in &self.edges {
            before[*to as usize].push(*from);
        }
        let mut reaches = self.settled.clone();
        let mut to_visit: Vec<_> = (0..reaches.len()).filter(|world| reaches[*world]).collect();
        while let Some(world) = to_visit.pop() {
            for from in &before[world] {
                let from = *from as usize;
                if !std::mem::replace(&mut reaches[from], true) {
                    to_visit.push(from);
                }
            }
        }
        reaches.iter().filter(|reaches| !**reaches).count()
    }
}
