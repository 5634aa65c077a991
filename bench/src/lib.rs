//! What the benchmark programs share: a stopwatch, the memory in use, and tables.
//!
//! Each benchmark is a program in `src/bin/` that measures one thing and prints a table:
//!
//! ```text
//! measure ── timed, resident_bytes ──▶ Table ──▶ standard output
//! ```

pub mod http;

use std::fmt;
use std::fs;
use std::time::Duration;

use tokio::time::Instant;

/// Runs `work` and says how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed())
}

/// The median time of `runs` runs of `work`: what one may expect of it.
pub fn median_time<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<_> = (0..runs.max(1)).map(|_| timed(&mut work).1).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// The shortest time of `runs` runs of `work`: what it takes when nobody else disturbs the machine.
pub fn best_time<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    let times = (0..runs.max(1)).map(|_| timed(&mut work).1);
    times.min().unwrap_or_default()
}

/// How many times per second, when `count` took `time`.
pub fn per_second(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(f64::EPSILON)
}

/// The memory that this process holds, where the system tells (Linux).
pub fn resident_bytes() -> Option<u64> {
    resident_bytes_of("self")
}

/// The memory that a process holds, where the system tells (Linux).
pub fn resident_bytes_of(process: &str) -> Option<u64> {
    const PAGE: u64 = 4096;
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// A number with its thousands set apart, so that a column of them can be read.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A table that is printed when it is complete. The first column is flush left, the numbers in
/// the others flush right.
#[derive(Debug)]
pub struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these column heads.
    pub fn new<const N: usize>(title: &str, heads: [&str; N]) -> Self {
        Self {
            title: title.to_owned(),
            rows: vec![heads.map(str::to_owned).to_vec()],
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Prints it.
    #[expect(clippy::print_stdout, reason = "benchmarks print their results")]
    pub fn print(&self) {
        println!("{self}");
    }

    fn width(&self, column: usize) -> usize {
        self.rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                let width = self.width(column);
                match column {
                    0 => write!(f, "  {cell:<width$}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up_its_columns() {
        let mut table = Table::new("sizes", ["what", "n"]);
        table.row(["small".into(), grouped(7)]);
        table.row(["big".into(), grouped(1_234_567)]);
        let text = "sizes\n  what           n\n  small          7\n  big    1 234 567\n";
        assert_eq!(table.to_string(), text);
    }

    #[test]
    fn a_rate_is_count_over_time() {
        assert!((per_second(10, Duration::from_secs(2)) - 5.0).abs() < 1e-9);
    }
}
