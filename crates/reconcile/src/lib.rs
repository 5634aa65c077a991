//! Observe, compare, act, report: the engine that everything else uses
