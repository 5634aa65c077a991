//! A tree for people: what hangs on what.

use jiff::Timestamp;

use super::cell::Cell;
use super::tone::Palette;

/// One line and what hangs on it.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    cells: Vec<Cell>,
    twigs: Vec<Self>,
}

impl Branch {
    /// A line of these cells.
    pub(crate) fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self {
            cells: cells.into_iter().collect(),
            twigs: Vec::new(),
        }
    }

    /// Hangs `twigs` on it.
    #[must_use]
    pub(crate) fn with(mut self, twigs: impl IntoIterator<Item = Self>) -> Self {
        self.twigs.extend(twigs);
        self
    }

    /// The whole tree as text.
    pub(crate) fn shown(&self, now: Timestamp, palette: Palette) -> String {
        let mut text = self.line(now, palette) + "\n";
        self.grow("", now, palette, &mut text);
        text
    }

    fn grow(&self, stem: &str, now: Timestamp, palette: Palette, text: &mut String) {
        for (at, twig) in self.twigs.iter().enumerate() {
            let is_last = at + 1 == self.twigs.len();
            let (joint, next) = if is_last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            *text += &format!("{stem}{joint}{}\n", twig.line(now, palette));
            twig.grow(&format!("{stem}{next}"), now, palette, text);
        }
    }

    fn line(&self, now: Timestamp, palette: Palette) -> String {
        let paint = |cell: &Cell| palette.paint(cell.tone(), &cell.shown(now, true));
        self.cells.iter().map(paint).collect::<Vec<_>>().join("  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Branch {
        Branch::new([text.into()])
    }

    #[test]
    fn branches_are_drawn_to_their_last_twig() {
        let tree = line("shop").with([
            line("a").with([line("one"), line("two")]),
            line("b").with([line("three")]),
        ]);
        let expected = "\
shop
├─ a
│  ├─ one
│  └─ two
└─ b
   └─ three
";
        assert_eq!(tree.shown(Timestamp::UNIX_EPOCH, Palette::Plain), expected);
    }
}
