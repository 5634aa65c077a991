//! What is wrong with a cron schedule, in the words of the real server's parser.

/// The fields of a schedule: their least and greatest value, and names for values.
const FIELDS: [(u32, u32, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (
        1,
        12,
        &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    ),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
const DESCRIPTORS: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];

pub(super) fn fault(schedule: &str) -> Option<String> {
    if schedule.starts_with('@') {
        let known = DESCRIPTORS.contains(&schedule) || schedule.starts_with("@every ");
        return (!known).then(|| format!("unrecognized descriptor: {schedule}"));
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != 5 {
        let (found, shown) = (fields.len(), fields.join(" "));
        return Some(format!(
            "expected exactly 5 fields, found {found}: [{shown}]"
        ));
    }
    fields
        .iter()
        .zip(FIELDS)
        .find_map(|(field, bounds)| field_fault(field, bounds))
}

fn field_fault(field: &str, bounds: (u32, u32, &[&str])) -> Option<String> {
    field
        .split(',')
        .find_map(|range| range_fault(range, bounds).err())
}

fn range_fault(text: &str, (least, most, names): (u32, u32, &[&str])) -> Result<(), String> {
    let (range, step) = text
        .split_once('/')
        .map_or((text, None), |(r, s)| (r, Some(s)));
    let (low, high) = match range.split_once('-') {
        _ if matches!(range, "*" | "?") => (least, most),
        Some((low, high)) => (value(low, least, names)?, value(high, least, names)?),
        None => {
            let low = value(range, least, names)?;
            (low, if step.is_some() { most } else { low })
        }
    };
    if low < least {
        return Err(format!(
            "beginning of range ({low}) below minimum ({least}): {text}"
        ));
    }
    if high > most {
        return Err(format!(
            "end of range ({high}) above maximum ({most}): {text}"
        ));
    }
    if low > high {
        return Err(format!(
            "beginning of range ({low}) beyond end of range ({high}): {text}"
        ));
    }
    match step.map(number).transpose()? {
        Some(0) => Err(format!("step of range should be a positive number: {text}")),
        _ => Ok(()),
    }
}

fn value(text: &str, least: u32, names: &[&str]) -> Result<u32, String> {
    let lower = text.to_lowercase();
    let named = (least..).zip(names).find(|(_, name)| **name == lower);
    named.map_or_else(|| number(text), |(value, _)| Ok(value))
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax")
    })
}
