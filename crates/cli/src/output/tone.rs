//! What a word means to a person who glances at it, and how terminals are told.

/// How a word should strike the eye.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing to notice.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// On its way, or worth a look.
    Notice,
    /// Somebody has to do something.
    Bad,
    /// Of little weight.
    Faint,
}

/// How tones are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Palette {
    /// Not at all.
    Plain,
    /// With the colours of a terminal.
    Ansi,
}

impl Palette {
    /// `text` in the colour of `tone`.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        match (self, code(tone)) {
            (Self::Ansi, Some(code)) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            (Self::Ansi, None) | (Self::Plain, _) => text.to_owned(),
        }
    }
}

const fn code(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("32"),
        Tone::Notice => Some("33"),
        Tone::Bad => Some("31"),
        Tone::Faint => Some("2"),
    }
}
