//! The cloud itself: its shapes, and the history of what was done to them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use evenkeel_ambient::{SharedClock, SharedRandom};
use jiff::{SignedDuration, Timestamp};

use crate::query::Query;
use crate::vices::Vices;
use crate::wire::{Change, NewShape, Page, Shape};

/// The forms that the cloud can make.
pub const FORMS: [&str; 5] = ["Square", "Circle", "Triangle", "Star", "Hexagon"];

/// Why the cloud refuses a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such shape, or none that can be seen.
    #[error("there is no shape {0}")]
    NotFound(String),
    /// The shape is not at the version that the call insists on.
    #[error("shape {id} is at version {version}")]
    Changed {
        /// Which.
        id: String,
        /// Where it is.
        version: u64,
    },
    /// What is asked for cannot be made.
    #[error("{0}")]
    Invalid(String),
    /// The token made a shape that is gone.
    #[error("the token {0} was used before")]
    TokenUsed(String),
}

/// What was done to a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// It was made.
    Created,
    /// It was changed.
    Updated,
    /// It was removed.
    Deleted,
}

/// Something that was done, with the shape as it was afterwards, or last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// What.
    pub verb: Verb,
    /// To what.
    pub shape: Shape,
}

/// A cloud that makes shapes.
#[derive(Debug)]
pub struct Cloud {
    clock: SharedClock,
    dice: SharedRandom,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    vices: Vices,
    shapes: BTreeMap<String, Shape>,
    tokens: BTreeMap<String, String>,
    made: u64,
    history: Vec<Deed>,
    calls: u64,
    second: (i64, u32),
}

impl Cloud {
    /// An empty cloud without vices.
    pub fn new(clock: SharedClock, dice: SharedRandom) -> Self {
        Self {
            clock,
            dice,
            state: Mutex::default(),
        }
    }

    /// What is wrong with it.
    pub fn vices(&self) -> Vices {
        self.lock().vices
    }

    /// Gives it other vices.
    pub fn set_vices(&self, vices: Vices) {
        self.lock().vices = vices;
    }

    /// Everything that was done, in order.
    pub fn history(&self) -> Vec<Deed> {
        self.lock().history.clone()
    }

    /// Every shape, also those that cannot be seen yet.
    pub fn shapes(&self) -> Vec<Shape> {
        self.lock().shapes.values().cloned().collect()
    }

    /// How many calls came in.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Counts a call; says whether there were too many in this second.
    pub(crate) fn is_too_much(&self) -> bool {
        let now = self.clock.now().as_second();
        let mut state = self.lock();
        state.calls += 1;
        if state.second.0 != now {
            state.second = (now, 0);
        }
        state.second.1 += 1;
        state.vices.rate > 0 && state.second.1 > state.vices.rate
    }

    /// Whether something that happens `percent` times in a hundred happens now.
    pub(crate) fn happens(&self, percent: u8) -> bool {
        percent > 0 && self.dice.unit() * 100.0 < f64::from(percent)
    }

    /// Makes a shape. A second call with the same token answers the first one's shape.
    pub fn create(&self, new: NewShape) -> Result<Shape, Refusal> {
        check(&new.form, &new.colour)?;
        let now = self.clock.now();
        let mut state = self.lock();
        let new = state.understood(new);
        if let Some(token) = &new.token
            && let Some(id) = state.tokens.get(token)
        {
            let made = state.shapes.get(id).cloned();
            return made.ok_or_else(|| Refusal::TokenUsed(token.clone()));
        }
        let chance = self.dice.next_u64() & 0xffff_ffff;
        Ok(state.make(new, now, chance))
    }

    /// One shape.
    pub fn get(&self, id: &str) -> Result<Shape, Refusal> {
        let (now, state) = (self.clock.now(), self.lock());
        let shape = state.shapes.get(id).filter(|shape| state.shows(shape, now));
        shape
            .cloned()
            .ok_or_else(|| Refusal::NotFound(id.to_owned()))
    }

    /// Some shapes.
    pub fn list(&self, query: &Query) -> Result<Page, Refusal> {
        let (now, state) = (self.clock.now(), self.lock());
        if query.label.is_some() && state.vices.no_labels {
            return Err(Refusal::Invalid("this cloud has no labels".to_owned()));
        }
        if query.token.is_some() && state.vices.no_tokens {
            return Err(Refusal::Invalid("this cloud has no tokens".to_owned()));
        }
        let shows = |shape: &&Shape| state.shows(shape, now) && query.includes(shape);
        let mut items: Vec<_> = state.shapes.values().filter(shows).cloned().collect();
        let more = items.len() > query.page_size();
        items.truncate(query.page_size());
        let next = items.last().filter(|_| more).map(|shape| shape.id.clone());
        Ok(Page { items, next })
    }

    /// Changes a shape, if it is at `version` where that is said.
    pub fn update(&self, id: &str, change: Change, version: Option<u64>) -> Result<Shape, Refusal> {
        let mut state = self.lock();
        let mut shape = state.expect(id, version)?;
        shape.form = change.form.unwrap_or(shape.form);
        shape.colour = change.colour.unwrap_or(shape.colour);
        shape.name = change.name.unwrap_or(shape.name);
        check(&shape.form, &shape.colour)?;
        if let Some(labels) = change.labels.filter(|_| !state.vices.no_labels) {
            shape.labels = labels;
        }
        shape.version += 1;
        state.shapes.insert(id.to_owned(), shape.clone());
        state.note(Verb::Updated, &shape);
        Ok(shape)
    }

    /// Removes a shape, if it is at `version` where that is said.
    pub fn delete(&self, id: &str, version: Option<u64>) -> Result<(), Refusal> {
        let mut state = self.lock();
        let shape = state.expect(id, version)?;
        state.shapes.remove(id);
        state.note(Verb::Deleted, &shape);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What is left of a wish after the vices.
    fn understood(&self, mut new: NewShape) -> NewShape {
        if self.vices.no_labels {
            new.labels.clear();
        }
        if self.vices.no_tokens {
            new.token = None;
        }
        new
    }

    /// The id is like no other's, not even in another run of the cloud, and sorts by age.
    fn make(&mut self, new: NewShape, now: Timestamp, chance: u64) -> Shape {
        self.made += 1;
        let shape = Shape {
            id: format!("shape-{:06}-{chance:08x}", self.made),
            name: new.name,
            form: new.form,
            colour: new.colour,
            labels: new.labels,
            token: new.token,
            version: 1,
            created_at: now,
        };
        if let Some(token) = &shape.token {
            self.tokens.insert(token.clone(), shape.id.clone());
        }
        self.shapes.insert(shape.id.clone(), shape.clone());
        self.note(Verb::Created, &shape);
        shape
    }

    fn shows(&self, shape: &Shape, now: Timestamp) -> bool {
        let delay = i64::try_from(self.vices.appears_after).unwrap_or(i64::MAX);
        now.duration_since(shape.created_at) >= SignedDuration::from_millis(delay)
    }

    fn expect(&self, id: &str, version: Option<u64>) -> Result<Shape, Refusal> {
        let known = self.shapes.get(id).cloned();
        let shape = known.ok_or_else(|| Refusal::NotFound(id.to_owned()))?;
        match version {
            Some(version) if version != shape.version => Err(Refusal::Changed {
                id: id.to_owned(),
                version: shape.version,
            }),
            _ => Ok(shape),
        }
    }

    fn note(&mut self, verb: Verb, shape: &Shape) {
        self.history.push(Deed {
            verb,
            shape: shape.clone(),
        });
    }
}

fn check(form: &str, colour: &str) -> Result<(), Refusal> {
    if !FORMS.contains(&form) {
        return Err(Refusal::Invalid(format!("no cloud can make a {form}")));
    }
    match colour {
        "" => Err(Refusal::Invalid("a shape needs a colour".to_owned())),
        "invisible" => Err(Refusal::Invalid("nobody could see it".to_owned())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use evenkeel_ambient::{ManualClock, SeededRandom};

    use super::*;

    fn cloud(vices: Vices) -> (Cloud, ManualClock) {
        let clock = ManualClock::default();
        let cloud = Cloud::new(Arc::new(clock.clone()), Arc::new(SeededRandom::new(1)));
        cloud.set_vices(vices);
        (cloud, clock)
    }

    fn square(token: Option<&str>) -> NewShape {
        NewShape {
            name: "foo".to_owned(),
            form: "Square".to_owned(),
            colour: "red".to_owned(),
            labels: BTreeMap::from([("owner".to_owned(), "k8s".to_owned())]),
            token: token.map(str::to_owned),
        }
    }

    #[test]
    fn one_token_makes_one_shape() {
        let (cloud, _) = cloud(Vices::default());
        let one = cloud.create(square(Some("t"))).unwrap();
        assert_eq!(cloud.create(square(Some("t"))).unwrap(), one);
        cloud.delete(&one.id, None).unwrap();
        assert_eq!(
            cloud.create(square(Some("t"))),
            Err(Refusal::TokenUsed("t".to_owned()))
        );
    }

    #[test]
    fn without_tokens_every_call_makes_a_shape() {
        let (cloud, _) = cloud(Vices {
            no_tokens: true,
            ..Vices::default()
        });
        let ids = [0, 1].map(|_| cloud.create(square(Some("t"))).unwrap().id);
        assert_ne!(ids[0], ids[1]);
    }

    #[test]
    fn a_new_shape_can_take_its_time_to_appear() {
        let (cloud, clock) = cloud(Vices {
            appears_after: 5_000,
            ..Vices::default()
        });
        let shape = cloud.create(square(None)).unwrap();
        assert_eq!(
            cloud.get(&shape.id),
            Err(Refusal::NotFound(shape.id.clone()))
        );
        assert!(cloud.list(&Query::default()).unwrap().items.is_empty());
        clock.advance(SignedDuration::from_secs(5));
        assert_eq!(cloud.get(&shape.id), Ok(shape));
    }

    #[test]
    fn pages_follow_each_other_without_gap_or_overlap() {
        let (cloud, _) = cloud(Vices::default());
        let made: Vec<_> = (0..7)
            .map(|_| cloud.create(square(None)).unwrap().id)
            .collect();
        let mut query = Query {
            limit: Some(3),
            ..Query::default()
        };
        let mut seen = Vec::new();
        loop {
            let page = cloud.list(&query).unwrap();
            seen.extend(page.items.into_iter().map(|shape| shape.id));
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(seen, made);
    }

    #[test]
    fn a_change_can_insist_on_what_was_seen() {
        let (cloud, _) = cloud(Vices::default());
        let shape = cloud.create(square(None)).unwrap();
        let blue = Change {
            colour: Some("blue".to_owned()),
            ..Change::default()
        };
        assert!(cloud.update(&shape.id, blue.clone(), Some(2)).is_err());
        assert_eq!(cloud.update(&shape.id, blue, Some(1)).unwrap().version, 2);
        assert!(cloud.delete(&shape.id, Some(1)).is_err());
        assert_eq!(
            cloud
                .list(&Query::label("owner", "k8s"))
                .unwrap()
                .items
                .len(),
            1
        );
    }
}
