//! The agent with a broker and a cluster, from end to end.

mod apply;
