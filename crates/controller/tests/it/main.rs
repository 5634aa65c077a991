//! Controllers on simulated and real clusters, in good times and bad.

mod bed;
mod example;
mod faults;
mod freshness;
mod leading;
mod numbers;
mod reporting;
mod watching;
