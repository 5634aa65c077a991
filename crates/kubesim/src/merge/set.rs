//! Sets of fields, kept as a tree of steps.

use std::sync::LazyLock;

use super::path::Step;

/// A set of paths.
///
/// A node is in the set itself, has nodes beneath it that are, or both; there is no node that is
/// neither. The order of [`Step`] is kept, so sets are combined in one pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) step: Step,
    /// Whether the path to here is in the set, not only paths beneath.
    pub(crate) member: bool,
    pub(crate) below: FieldSet,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

impl FieldSet {
    /// A set of paths made of field names only.
    pub(crate) fn of_fields<const N: usize>(paths: [&[&str]; N]) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert_fields(path);
        }
        set
    }

    fn insert_fields(&mut self, path: &[&str]) {
        if let [first, rest @ ..] = path {
            let mut below = Self::default();
            below.insert_fields(rest);
            self.insert(Step::field(first), rest.is_empty(), below);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Adds a node, joining it with one that is there; cheap when steps come in order.
    pub(crate) fn insert(&mut self, step: Step, member: bool, below: Self) {
        if !member && below.is_empty() {
            return;
        }
        let node = Node {
            step,
            member,
            below,
        };
        if self.nodes.last().is_none_or(|last| last.step < node.step) {
            return self.nodes.push(node);
        }
        match self
            .nodes
            .binary_search_by(|other| other.step.cmp(&node.step))
        {
            Err(place) => self.nodes.insert(place, node),
            Ok(place) => {
                let found = &mut self.nodes[place];
                found.member |= node.member;
                found.below = std::mem::take(&mut found.below).union(node.below);
            }
        }
    }

    pub(crate) fn get(&self, step: &Step) -> Option<&Node> {
        let place = self
            .nodes
            .binary_search_by(|node| node.step.cmp(step))
            .ok()?;
        Some(&self.nodes[place])
    }

    /// What is in either.
    pub(crate) fn union(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        let mut out = Vec::with_capacity(self.nodes.len().max(other.nodes.len()));
        let mut others = other.nodes.into_iter().peekable();
        for node in self.nodes {
            while let Some(before) = others.next_if(|other| other.step < node.step) {
                out.push(before);
            }
            out.push(match others.next_if(|other| other.step == node.step) {
                None => node,
                Some(twin) => Node {
                    step: node.step,
                    member: node.member || twin.member,
                    below: node.below.union(twin.below),
                },
            });
        }
        out.extend(others);
        Self { nodes: out }
    }

    /// What is in both.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.keep(other, |node, twin| {
            let twin = twin?;
            Some((
                node.member && twin.member,
                node.below.intersection(&twin.below),
            ))
        })
    }

    /// What is in this set and not in the other. Removing a field leaves what is beneath it.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.keep(other, |node, twin| match twin {
            None => Some((node.member, node.below.clone())),
            Some(twin) => Some((
                node.member && !twin.member,
                node.below.difference(&twin.below),
            )),
        })
    }

    /// What is in this set and neither in the other nor beneath one of its fields.
    pub(crate) fn difference_deep(&self, other: &Self) -> Self {
        self.keep(other, |node, twin| match twin {
            None => Some((node.member, node.below.clone())),
            Some(twin) if twin.member => None,
            Some(twin) => Some((node.member, node.below.difference_deep(&twin.below))),
        })
    }

    /// The set without the fields that tell objects apart or that the server keeps itself: they
    /// belong to nobody.
    pub(crate) fn without_identity(self) -> Self {
        static IDENTITY: LazyLock<FieldSet> = LazyLock::new(|| {
            FieldSet::of_fields([
                &["apiVersion"],
                &["kind"],
                &["metadata"],
                &["metadata", "clusterName"],
                &["metadata", "creationTimestamp"],
                &["metadata", "generation"],
                &["metadata", "managedFields"],
                &["metadata", "name"],
                &["metadata", "namespace"],
                &["metadata", "resourceVersion"],
                &["metadata", "selfLink"],
                &["metadata", "uid"],
            ])
        });
        if self.is_empty() {
            self
        } else {
            self.difference(&IDENTITY)
        }
    }

    /// Every node again, decided on with the other set's node of the same step at hand.
    fn keep(
        &self,
        other: &Self,
        decide: impl Fn(&Node, Option<&Node>) -> Option<(bool, Self)>,
    ) -> Self {
        let mut others = other.nodes.iter().peekable();
        let nodes = self.nodes.iter().filter_map(|node| {
            while others.next_if(|other| other.step < node.step).is_some() {}
            let twin = others.next_if(|other| other.step == node.step);
            let (member, below) = decide(node, twin)?;
            Some(Node {
                step: node.step.clone(),
                member,
                below,
            })
        });
        Self {
            nodes: nodes.filter(|node| !node.is_empty()).collect(),
        }
    }

    /// The paths as messages show them: the members of a level before what is beneath them.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect_paths("", &mut out);
        out
    }

    fn collect_paths(&self, prefix: &str, out: &mut Vec<String>) {
        let members = self.nodes.iter().filter(|node| node.member);
        out.extend(members.map(|node| format!("{prefix}{}", node.step)));
        for node in self.nodes.iter().filter(|node| !node.below.is_empty()) {
            node.below
                .collect_paths(&format!("{prefix}{}", node.step), out);
        }
    }
}

impl FromIterator<Node> for FieldSet {
    fn from_iter<T: IntoIterator<Item = Node>>(nodes: T) -> Self {
        let mut set = Self::default();
        for node in nodes {
            set.insert(node.step, node.member, node.below);
        }
        set
    }
}
