//! A picture that is drawn over itself on a terminal, and lines as they change elsewhere.

use std::io::{self, IsTerminal, Write};

/// What is on the screen now.
#[derive(Debug)]
pub(crate) struct Live {
    is_terminal: bool,
    height: usize,
    lines: Vec<String>,
}

impl Live {
    /// Nothing is drawn yet.
    pub(crate) fn new() -> Self {
        Self {
            is_terminal: io::stdout().is_terminal(),
            height: 0,
            lines: Vec::new(),
        }
    }

    /// Draws `picture` over the last one; where that cannot be, says those of `lines` that were
    /// not said before.
    pub(crate) fn show(&mut self, picture: &str, lines: Vec<String>) -> io::Result<()> {
        let text = if self.is_terminal {
            self.redrawn(picture)
        } else {
            self.news(lines)
        };
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Back to the first line, and what was there is wiped.
    fn redrawn(&mut self, picture: &str) -> String {
        let up = match self.height {
            0 => String::new(),
            height => format!("\u{1b}[{height}A\u{1b}[J"),
        };
        self.height = picture.lines().count();
        up + picture
    }

    fn news(&mut self, lines: Vec<String>) -> String {
        let new = lines.iter().filter(|line| !self.lines.contains(line));
        let text = new.map(|line| format!("{line}\n")).collect();
        self.lines = lines;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(is_terminal: bool) -> Live {
        Live {
            is_terminal,
            height: 0,
            lines: Vec::new(),
        }
    }

    #[test]
    fn a_terminal_is_drawn_over() {
        let mut live = live(true);
        assert_eq!(live.redrawn("one\ntwo\n"), "one\ntwo\n");
        assert_eq!(live.redrawn("three\n"), "\u{1b}[2A\u{1b}[Jthree\n");
    }

    #[test]
    fn elsewhere_only_news_are_said() {
        let mut live = live(false);
        let lines = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        assert_eq!(
            live.news(lines(&["a waits", "b waits"])),
            "a waits\nb waits\n"
        );
        assert_eq!(live.news(lines(&["a done", "b waits"])), "a done\n");
        assert_eq!(live.news(lines(&["a done", "b waits"])), "");
    }
}
