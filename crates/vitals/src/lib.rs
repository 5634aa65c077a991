//! Health endpoints and metrics of a long-running process.
