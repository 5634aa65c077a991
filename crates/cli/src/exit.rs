//! How a command ends, as programs see it.

use std::process::ExitCode;

/// The exit codes. They are part of what scripts rely on: never renumber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Differs = 3,
    WaitedInVain = 4,
    Unreachable = 5,
    Refused = 6,
}

impl Exit {
    /// Every code, in order.
    const ALL: [Self; 7] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Differs,
        Self::WaitedInVain,
        Self::Unreachable,
        Self::Refused,
    ];

    /// What it says.
    const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed; the message says what and why",
            Self::Usage => "wrong arguments; nothing was done",
            Self::Differs => "`diff` found differences, or `drift` found drift",
            Self::WaitedInVain => "waited in vain: the time of --wait ran out",
            Self::Unreachable => "the broker could not be reached",
            Self::Refused => "the broker refused the key, or it may not do this",
        }
    }

    /// All of them, for people.
    pub(crate) fn explained() -> String {
        let line = |exit: Self| format!("  {}  {}\n", exit as u8, exit.meaning());
        let lines: String = Self::ALL.into_iter().map(line).collect();
        format!("Exit codes:\n{}", lines.trim_end())
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
