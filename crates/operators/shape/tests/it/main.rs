//! The Shape operator between a cluster and a cloud, in good times and bad.

mod bed;
mod crashes;
mod definitions;
mod orphans;
mod ownership;
mod protocol;
mod real;
mod scenes;
