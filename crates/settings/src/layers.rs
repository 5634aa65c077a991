//! The layers, and how they are laid on each other.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What variables of the environment begin with.
const PREFIX: &str = "EVENKEEL__";

/// Why settings were refused.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file's name does not say how to read it.
    #[error("{0}: the name of a settings file must end in .yaml, .yml or .toml")]
    UnknownFormat(String),
    /// The file is not what its name says.
    #[error("{file} cannot be read as {format:?}")]
    Syntax {
        /// Which file.
        file: String,
        /// What it should be.
        format: Format,
        /// Why it is not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A layer holds a key that nobody knows, or a value that does not fit.
    #[error("{layer}: {problem}")]
    Refused {
        /// Where it came from.
        layer: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// How a settings file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
}

impl Format {
    /// The format that the file's name promises.
    pub fn of(path: &Path) -> Result<Self, SettingsError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => Ok(Self::Yaml),
            Some("toml") => Ok(Self::Toml),
            _ => Err(SettingsError::UnknownFormat(path.display().to_string())),
        }
    }

    fn parse(self, file: &str, text: &str) -> Result<Value, SettingsError> {
        let parsed: Result<Value, Box<dyn std::error::Error + Send + Sync>> = match self {
            Self::Yaml => serde_saphyr::from_str(text).map_err(Into::into),
            Self::Toml => toml::from_str(text).map_err(Into::into),
        };
        parsed.map_err(|source| SettingsError::Syntax {
            file: file.to_owned(),
            format: self,
            source,
        })
    }
}

/// The settings as far as they are known; each call lays one more layer on them.
#[derive(Debug, Clone)]
pub struct Layers<T> {
    tree: Value,
    settings: T,
}

impl<T: Default + Serialize + DeserializeOwned> Default for Layers<T> {
    fn default() -> Self {
        Self {
            tree: Value::Object(Map::new()),
            settings: T::default(),
        }
    }
}

impl<T: Default + Serialize + DeserializeOwned> Layers<T> {
    /// Lays a file's text on the settings.
    pub fn file(self, path: &Path, text: &str) -> Result<Self, SettingsError> {
        let name = path.display().to_string();
        let layer = match Format::of(path)?.parse(&name, text)? {
            Value::Null => return Ok(self),
            layer => layer,
        };
        let mut tree = self.tree;
        merge(&mut tree, layer);
        Self::checked(tree, &name)
    }

    /// Lays the variables that begin with `EVENKEEL__` on the settings; others are not ours.
    pub fn environment<I>(self, variables: I) -> Result<Self, SettingsError>
    where
        I: IntoIterator<Item = (String, String)>,
    {
        let ours = |(name, value): (String, String)| {
            let path = name.strip_prefix(PREFIX)?.to_lowercase().replace("__", ".");
            Some((name, path, value))
        };
        let mut variables: Vec<_> = variables.into_iter().filter_map(ours).collect();
        variables.sort_unstable();
        variables
            .into_iter()
            .try_fold(self, |layers, (name, path, value)| {
                layers.set_from(&name, &path, &value)
            })
    }

    /// Lays one value on the settings, as a flag does.
    pub fn set(self, path: &str, value: &str) -> Result<Self, SettingsError> {
        self.set_from(path, path, value)
    }

    /// The settings.
    pub fn finish(self) -> T {
        self.settings
    }

    /// A text is taken as what it looks like (a number, a truth value, JSON) if that fits, and
    /// as text if it does not: a password may be all digits.
    fn set_from(self, layer: &str, path: &str, value: &str) -> Result<Self, SettingsError> {
        let as_text = Value::String(value.to_owned());
        let looks_like = serde_json::from_str(value).unwrap_or_else(|_| as_text.clone());
        let mut tree = self.tree.clone();
        put(&mut tree, path, looks_like);
        Self::checked(tree, layer).or_else(|first| {
            let mut tree = self.tree;
            put(&mut tree, path, as_text);
            Self::checked(tree, layer).map_err(|_| first)
        })
    }

    fn checked(tree: Value, layer: &str) -> Result<Self, SettingsError> {
        match serde_json::from_value(tree.clone()) {
            Ok(settings) => Ok(Self { tree, settings }),
            Err(problem) => Err(SettingsError::Refused {
                layer: layer.to_owned(),
                problem: problem.to_string(),
            }),
        }
    }
}

fn merge(base: &mut Value, layer: Value) {
    match (base, layer) {
        (Value::Object(base), Value::Object(layer)) => {
            for (key, value) in layer {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, layer) => *base = layer,
    }
}

fn put(tree: &mut Value, path: &str, value: Value) {
    let leaf = path.rsplit('.').fold(value, |inner, key| {
        Value::Object(Map::from_iter([(key.to_owned(), inner)]))
    });
    merge(tree, leaf);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Sample {
        server: Server,
        password: Option<String>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Server {
        port: u16,
        name: String,
    }

    impl Default for Server {
        fn default() -> Self {
            Self {
                port: 80,
                name: "web".into(),
            }
        }
    }

    fn layers() -> Layers<Sample> {
        Layers::default()
    }

    fn variable(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn each_layer_overrides_the_one_before() {
        let read = layers()
            .file(Path::new("a.yaml"), "server:\n  port: 81\n  name: file\n")
            .and_then(|layers| layers.file(Path::new("b.toml"), "[server]\nname = \"toml\"\n"))
            .and_then(|layers| layers.environment([variable("EVENKEEL__SERVER__PORT", "82")]))
            .and_then(|layers| layers.set("server.port", "83"))
            .unwrap()
            .finish();
        assert_eq!(
            read.server,
            Server {
                port: 83,
                name: "toml".into()
            }
        );
    }

    #[test]
    fn an_unknown_key_is_refused_by_the_name_of_its_layer() {
        let file = layers()
            .file(Path::new("a.yaml"), "server: {prot: 1}")
            .unwrap_err();
        assert!(
            file.to_string().starts_with("a.yaml: unknown field `prot`"),
            "{file}"
        );
        let named = variable("EVENKEEL__SERVER__PROT", "1");
        let variable = layers().environment([named]).unwrap_err().to_string();
        assert!(
            variable.starts_with("EVENKEEL__SERVER__PROT: unknown field"),
            "{variable}"
        );
        assert!(layers().set("nonsense", "1").is_err());
    }

    #[test]
    fn a_text_may_look_like_a_number() {
        let read = layers().set("password", "12345").unwrap().finish();
        assert_eq!(read.password.as_deref(), Some("12345"));
    }

    #[test]
    fn variables_of_others_are_left_alone() {
        let others = [variable("HOME", "/"), variable("EVENKEEL_CACHE", "x")];
        assert_eq!(
            layers().environment(others).unwrap().finish(),
            Sample::default()
        );
    }

    #[test]
    fn an_empty_file_changes_nothing() {
        for name in ["a.yaml", "a.toml"] {
            let read = layers().file(Path::new(name), "").unwrap();
            assert_eq!(read.finish(), Sample::default());
        }
        assert!(layers().file(Path::new("a.ini"), "").is_err());
    }
}
