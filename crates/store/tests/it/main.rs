//! The store, asked the same questions on every database that it runs on.

mod conformance;
mod crash;
mod feed;
mod model;
mod order;
mod world;
