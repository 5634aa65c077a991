//! Rows in columns, for people.

use jiff::Timestamp;

use super::noun::{Column, Noun, Seen};
use super::tone::{Palette, Tone};

const GAP: &str = "   ";

/// One cell, ready to be laid out.
struct Placed {
    text: String,
    tone: Tone,
}

/// The rows under their titles.
pub(super) fn shown<N: Noun>(rows: &[N], wide: bool, now: Timestamp, palette: Palette) -> String {
    let columns = N::columns();
    let columns: Vec<_> = columns
        .iter()
        .filter(|column| is_seen(column, wide))
        .collect();
    let mut lines = vec![columns.iter().map(|column| title(column.key)).collect()];
    lines.extend(rows.iter().map(|row| {
        let placed = |column: &&Column<N>| {
            let cell = (column.cell)(row);
            let (text, tone) = (cell.shown(now, wide), cell.tone());
            Placed { text, tone }
        };
        columns.iter().map(placed).collect()
    }));
    laid_out(&lines, palette)
}

const fn is_seen<N>(column: &Column<N>, wide: bool) -> bool {
    match column.seen {
        Seen::Always => true,
        Seen::Wide => wide,
        Seen::ByPrograms => false,
    }
}

fn title(key: &str) -> Placed {
    Placed {
        text: key.to_uppercase().replace('_', " "),
        tone: Tone::Plain,
    }
}

fn laid_out(lines: &[Vec<Placed>], palette: Palette) -> String {
    let count = lines.first().map_or(0, Vec::len);
    let width = |at: usize| lines.iter().map(|line| line[at].text.chars().count()).max();
    let widths: Vec<_> = (0..count).map(|at| width(at).unwrap_or_default()).collect();
    lines
        .iter()
        .map(|line| one_line(line, &widths, palette))
        .collect()
}

/// Colours take no room, so each cell is padded by what a person sees of it.
fn one_line(line: &[Placed], widths: &[usize], palette: Palette) -> String {
    let mut text = String::new();
    for (at, (cell, width)) in line.iter().zip(widths).enumerate() {
        text += &palette.paint(cell.tone, &cell.text);
        if at + 1 < line.len() {
            text += &" ".repeat(width - cell.text.chars().count());
            text += GAP;
        }
    }
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::cell::Cell;
    use super::super::noun::{column, data, record, wide};
    use super::*;

    struct Boat(&'static str, i64);

    impl Noun for Boat {
        const KIND: &'static str = "boat";

        fn columns() -> Vec<Column<Self>> {
            vec![
                column("name", |boat| boat.0.into()),
                column("crew_size", |boat| boat.1.into()),
                wide("afloat", |_| Cell::Word("yes".into(), Tone::Good)),
                data("draught", |_| 3_i64.into()),
            ]
        }

        fn name(&self) -> String {
            self.0.to_owned()
        }
    }

    const BOATS: [Boat; 2] = [Boat("Ada", 12), Boat("Grace Hopper", 3)];

    fn drawn(wide: bool, palette: Palette) -> String {
        shown(&BOATS, wide, Timestamp::UNIX_EPOCH, palette)
    }

    #[test]
    fn columns_line_up() {
        let expected = "\
NAME           CREW SIZE
Ada            12
Grace Hopper   3
";
        assert_eq!(drawn(false, Palette::Plain), expected);
    }

    #[test]
    fn wide_shows_more_and_colours_do_not_move_anything() {
        let plain = drawn(true, Palette::Plain);
        assert!(
            plain.starts_with("NAME           CREW SIZE   AFLOAT\n"),
            "{plain}"
        );
        let coloured = drawn(true, Palette::Ansi);
        assert!(coloured.contains("\u{1b}[32myes\u{1b}[0m"), "{coloured}");
        let bare = coloured.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
        assert_eq!(bare, plain);
    }

    #[test]
    fn programs_get_every_column_under_its_key() {
        let expected = serde_json::json!({
            "name": "Ada", "crew_size": 12, "afloat": "yes", "draught": 3
        });
        assert_eq!(record(&BOATS[0]), expected);
    }
}
