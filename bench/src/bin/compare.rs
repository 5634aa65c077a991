//! How fast `compare` decides, and that its time grows in step with the number of things.

use std::hint::black_box;
use std::time::Duration;

use evenkeel_bench::{Table, best_time, grouped, per_second};
use evenkeel_reconcile::{
    Approval, Desired, Matches, Observed, Ownership, Policy, Rank, Snapshot, Wanted, compare,
};
use jiff::Timestamp;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const RUNS: usize = 9;
/// Kinds of Kubernetes objects, and so ranks, are few.
const RANKS: usize = 12;

/// A fingerprint, as a set of Kubernetes objects would compare them.
struct Fingerprint(u64);

impl Matches<u64> for Fingerprint {
    fn difference(&self, live: &u64) -> Option<String> {
        (self.0 != *live).then(|| "the fingerprint differs".to_owned())
    }
}

type Wants = Desired<String, Fingerprint, u32>;
type View = Snapshot<String, u64, u32>;

/// What the world looks like beside what is wanted of it.
#[derive(Clone, Copy)]
enum Case {
    AtRest,
    NothingThereYet,
    TenthDrifted,
    NewVersion,
    HalfUnwanted,
}

impl Case {
    const ALL: [Self; 5] = [
        Self::AtRest,
        Self::NothingThereYet,
        Self::TenthDrifted,
        Self::NewVersion,
        Self::HalfUnwanted,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::AtRest => "at rest",
            Self::NothingThereYet => "nothing there yet",
            Self::TenthDrifted => "a tenth drifted",
            Self::NewVersion => "a new version",
            Self::HalfUnwanted => "half no longer wanted",
        }
    }

    fn is_wanted(self, item: usize) -> bool {
        !matches!(self, Self::HalfUnwanted) || item.is_multiple_of(2)
    }

    fn is_there(self) -> bool {
        !matches!(self, Self::NothingThereYet)
    }

    fn version_there(self) -> u32 {
        if matches!(self, Self::NewVersion) {
            1
        } else {
            2
        }
    }

    fn is_drifted(self, item: usize) -> bool {
        matches!(self, Self::TenthDrifted) && item.is_multiple_of(10)
    }
}

fn key(item: usize) -> String {
    format!(
        "apps/v1/Deployment/team-{:03}/service-{item:07}",
        item % 500
    )
}

fn rank(item: usize) -> Rank {
    Rank((item % RANKS) as i32)
}

fn wanted(case: Case, size: usize) -> anyhow::Result<Wants> {
    let things = (0..size).filter(|item| case.is_wanted(*item)).map(|item| {
        (
            key(item),
            Wanted::new(Fingerprint(item as u64), 2).ranked(rank(item)),
        )
    });
    Ok(Desired::things(things)?)
}

fn seen(case: Case, size: usize) -> View {
    let there = if case.is_there() { size } else { 0 };
    Snapshot::of((0..there).map(|item| {
        let live = item as u64 + u64::from(case.is_drifted(item));
        (
            key(item),
            Observed::new(live, Ownership::mine_at(case.version_there())).ranked(rank(item)),
        )
    }))
}

/// Touches every key once: what any answer costs before the first decision. Its time for each item
/// grows as the keys outgrow the caches of the machine, and so does that of `compare`.
fn walk(wants: &Wants, view: &View) -> usize {
    let wanted: usize = wants.iter().map(|(key, _)| key.len()).sum();
    wanted + view.iter().map(|(key, _)| key.len()).sum::<usize>()
}

fn measure(case: Case, table: &mut Table) -> anyhow::Result<()> {
    let policy = Policy {
        approval: Approval::Given,
        ..Policy::default()
    };
    for size in SIZES {
        let (wants, view) = (wanted(case, size)?, seen(case, size));
        let time = best_time(RUNS, || {
            compare(&wants, &view, &policy, Timestamp::UNIX_EPOCH)
        });
        let bare = best_time(RUNS, || black_box(walk(&wants, &view)));
        let each = |time: Duration| format!("{:.0}", time.as_nanos() as f64 / size as f64);
        table.row([
            case.name().to_owned(),
            grouped(size as u64),
            format!("{:.3}", time.as_secs_f64() * 1e3),
            grouped(per_second(size, time) as u64),
            each(time),
            each(bare),
        ]);
    }
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let heads = [
        "world",
        "items",
        "ms",
        "items/s",
        "ns/item",
        "ns/item to touch the keys",
    ];
    let mut table = Table::new("compare: one thread, best of 9", heads);
    for case in Case::ALL {
        measure(case, &mut table)?;
    }
    table.print();
    Ok(())
}
