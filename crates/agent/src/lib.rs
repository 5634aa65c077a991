//! One per cluster: pull, converge, report.
