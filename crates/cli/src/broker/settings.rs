//! The settings of a broker, from a file, the environment and flags.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use evenkeel_broker::Config;
use evenkeel_settings::Layers;

use crate::args::BrokerOptions;
use crate::environment;

/// Lays what was said on the defaults: file, environment, `--set`, then the flags of their own.
pub(super) fn of(options: &BrokerOptions) -> anyhow::Result<Config> {
    let mut layers = Layers::<Config>::default();
    if let Some(path) = &options.config {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        layers = layers.file(path, &text)?;
    }
    layers = layers.environment(environment::variables())?;
    for setting in &options.set {
        let Some((key, value)) = setting.split_once('=') else {
            bail!("--set {setting}: write it as section.key=value, such as limits.burst=50");
        };
        layers = layers.set(key, value)?;
    }
    let mut config = layers.finish();
    config.server.listen = options.listen.unwrap_or(config.server.listen);
    config.database.url = options.database.clone().or(config.database.url);
    place(&mut config, environment::data_home())?;
    Ok(config)
}

/// Says where things are kept if nobody did: the database in the user's data directory, keys
/// beside the database.
fn place(config: &mut Config, data_home: Option<PathBuf>) -> anyhow::Result<()> {
    let database = &mut config.database;
    let home = || data_home.map(|home| home.join("evenkeel/broker"));
    if database.data_dir.is_none() {
        database.data_dir = match database.url.as_deref().map(beside) {
            Some(place) => place.or_else(home),
            None => home(),
        };
    }
    if database.url.is_none() {
        let Some(dir) = &database.data_dir else {
            bail!("neither XDG_DATA_HOME nor HOME is set: say --database sqlite://PATH");
        };
        database.url = Some(format!("sqlite://{}", dir.join("evenkeel.db").display()));
    }
    Ok(())
}

/// The directory of an SQLite file; other databases have none.
fn beside(url: &str) -> Option<PathBuf> {
    let file = Path::new(url.strip_prefix("sqlite://")?.split('?').next()?);
    Some(file.parent()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(url: Option<&str>) -> Config {
        let mut config = Config::default();
        config.database.url = url.map(str::to_owned);
        place(&mut config, Some("/home/me/.local/share".into())).unwrap();
        config
    }

    #[test]
    fn by_default_all_is_in_the_data_directory() {
        let database = placed(None).database;
        let dir = "/home/me/.local/share/evenkeel/broker";
        assert_eq!(database.data_dir.as_deref(), Some(Path::new(dir)));
        assert_eq!(database.url.unwrap(), format!("sqlite://{dir}/evenkeel.db"));
    }

    #[test]
    fn keys_lie_beside_the_file_that_was_named() {
        let database = placed(Some("sqlite:///srv/fleet/fleet.db")).database;
        assert_eq!(database.data_dir.as_deref(), Some(Path::new("/srv/fleet")));
    }

    #[test]
    fn keys_of_a_remote_database_lie_in_the_data_directory() {
        let database = placed(Some("postgres://db/fleet")).database;
        let dir = "/home/me/.local/share/evenkeel/broker";
        assert_eq!(database.data_dir.as_deref(), Some(Path::new(dir)));
    }
}
