//! What the benchmark programs share: timing, memory, tables.
