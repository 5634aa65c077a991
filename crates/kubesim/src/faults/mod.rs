//! Everything that can go wrong between a cluster and one of its clients.

mod feed;
mod settings;
mod sight;

pub use feed::Feed;
pub use settings::{Cut, Freshness, Stale};
pub use sight::Sight;
