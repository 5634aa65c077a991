//! What becomes of a client's requests.

use std::time::Duration;

use crate::registry::Verb;
use crate::store::ResourceId;

use super::Call;

/// Which requests a fault is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Which {
    verbs: Vec<Verb>,
    resource: Option<ResourceId>,
    writes: bool,
}

impl Which {
    /// All requests about objects.
    pub fn all() -> Self {
        Self::default()
    }

    /// Those that would change something.
    pub fn writes() -> Self {
        Self {
            writes: true,
            ..Self::default()
        }
    }

    /// Of these, only those with one of these verbs.
    #[must_use]
    pub fn verbs(self, verbs: &[Verb]) -> Self {
        Self {
            verbs: verbs.to_vec(),
            ..self
        }
    }

    /// Of these, only those about one resource.
    #[must_use]
    pub fn of(self, group: &str, plural: &str) -> Self {
        Self {
            resource: Some(ResourceId::new(group, plural)),
            ..self
        }
    }

    fn includes(&self, call: &Call) -> bool {
        (self.verbs.is_empty() || self.verbs.contains(&call.verb))
            && self
                .resource
                .as_ref()
                .is_none_or(|resource| *resource == call.resource)
            && (!self.writes || call.is_write())
    }
}

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The server refuses it and changes nothing.
    Refuse(Refusal),
    /// The connection breaks before the server gets it.
    LoseRequest,
    /// The server does it, but the connection breaks before the answer.
    LoseReply,
    /// The server does it, and then answers that it failed, as when a gateway gives up.
    RefuseAfterwards(Refusal),
    /// It takes this much longer.
    Delay(Duration),
    /// The client has no right to it.
    Forbid,
}

/// An error that the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP code.
    pub code: u16,
    /// What the server says about trying again, in seconds.
    pub retry_after: Option<u32>,
}

impl Refusal {
    /// An error that says nothing about trying again.
    pub fn code(code: u16) -> Self {
        Self {
            code,
            retry_after: None,
        }
    }

    /// An error that asks the client to try again after so many seconds.
    pub fn retry_after(code: u16, seconds: u32) -> Self {
        Self {
            code,
            retry_after: Some(seconds),
        }
    }
}

/// When, around a write, the client dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The write never reaches the server.
    BeforeCommit,
    /// The server does it; the client never learns.
    BeforeReply,
    /// The client has the answer, and makes no further request.
    AfterReply,
}

/// A client that dies at its k-th write from now.
#[derive(Debug, Clone, Copy)]
struct Crash {
    writes_left: u64,
    moment: Moment,
}

/// A fault, for whom it is, and how often it still happens.
#[derive(Debug, Clone)]
struct Rule {
    which: Which,
    fault: Fault,
    times: Option<u64>,
}

/// Everything that is to go wrong with a client's requests.
#[derive(Debug, Default)]
pub(super) struct Plan {
    rules: Vec<Rule>,
    crash: Option<Crash>,
    dead: bool,
}

/// What becomes of one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) delay: Duration,
    pub(super) end: End,
}

/// How a request ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Answered,
    AnsweredThenDead,
    Refused(Refusal),
    Forbidden,
    NotDelivered,
    ReplyLost,
    DoneButRefused(Refusal),
}

impl Plan {
    /// Makes `fault` happen to the next `times` of these requests, or to all of them.
    pub(super) fn add(&mut self, which: Which, fault: Fault, times: Option<u64>) {
        self.rules.push(Rule {
            which,
            fault,
            times,
        });
    }

    /// Lets the client die at its `write`-th write from now, counted from 1.
    pub(super) fn crash_at(&mut self, write: u64, moment: Moment) {
        self.crash = Some(Crash {
            writes_left: write,
            moment,
        });
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead
    }

    /// Decides about a request; one that is not about objects only needs a living client.
    pub(super) fn fate(&mut self, call: Option<&Call>) -> Fate {
        let at_once = |end| Fate {
            delay: Duration::ZERO,
            end,
        };
        let Some(call) = call.filter(|_| !self.dead) else {
            return at_once(if self.dead {
                End::NotDelivered
            } else {
                End::Answered
            });
        };
        let mut fate = self.faults(call);
        if fate.end == End::Answered
            && let Some(moment) = self.count_down(call)
        {
            self.dead = true;
            fate.end = match moment {
                Moment::BeforeCommit => End::NotDelivered,
                Moment::BeforeReply => End::ReplyLost,
                Moment::AfterReply => End::AnsweredThenDead,
            };
        }
        fate
    }

    /// All delays that are for `call`, and the first other fault that is.
    fn faults(&mut self, call: &Call) -> Fate {
        let mut fate = Fate {
            delay: Duration::ZERO,
            end: End::Answered,
        };
        for rule in self
            .rules
            .iter_mut()
            .filter(|rule| rule.which.includes(call))
        {
            if let Fault::Delay(delay) = rule.fault {
                fate.delay += delay;
            } else if fate.end == End::Answered {
                fate.end = end(&rule.fault);
            } else {
                continue;
            }
            rule.times = rule.times.map(|times| times - 1);
        }
        self.rules.retain(|rule| rule.times != Some(0));
        fate
    }

    fn count_down(&mut self, call: &Call) -> Option<Moment> {
        let crash = self.crash.as_mut().filter(|_| call.is_write())?;
        crash.writes_left = crash.writes_left.saturating_sub(1);
        let moment = crash.moment;
        (crash.writes_left == 0).then_some(moment)
    }
}

fn end(fault: &Fault) -> End {
    match fault {
        Fault::Refuse(refusal) => End::Refused(*refusal),
        Fault::LoseRequest => End::NotDelivered,
        Fault::LoseReply => End::ReplyLost,
        Fault::RefuseAfterwards(refusal) => End::DoneButRefused(*refusal),
        Fault::Delay(_) => End::Answered,
        Fault::Forbid => End::Forbidden,
    }
}
