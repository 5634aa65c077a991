//! JSON with an eye on fields that are written twice, which strict requests are refused for.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::field_error::Path;

/// A value and the paths of the fields that occur twice in it.
pub(super) fn read(bytes: &[u8]) -> Result<(Value, Vec<String>), serde_json::Error> {
    let mut duplicates = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let seed = Watching {
        path: Path::root(),
        duplicates: &mut duplicates,
    };
    let value = seed.deserialize(&mut reader)?;
    reader.end()?;
    Ok((value, duplicates))
}

struct Watching<'a> {
    path: Path<'a>,
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Watching<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Watching<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    /// A whole number is one, however it is written.
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match value.fract() == 0.0 && value.abs() < EXACT {
            true => Ok((value as i64).into()),
            false => Ok(value.into()),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = self.path.index(list.len());
            match items.next_element_seed(Watching {
                path,
                duplicates: self.duplicates,
            })? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let path = self.path.child(&name);
            let value = fields.next_value_seed(Watching {
                path,
                duplicates: self.duplicates,
            })?;
            if map.contains_key(&name) {
                self.duplicates.push(path.to_string());
            }
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_written_twice_are_named() {
        let (value, duplicates) = read(br#"{"a":1,"b":[{"c":1,"c":2}],"a":3}"#).expect("json");
        assert_eq!(value["a"], 3);
        assert_eq!(duplicates, ["b[0].c", "a"]);
    }
}
