//! The first start: a key for the administrator, the broker's own generator, a sealing key.
//!
//! Several brokers may start at once on one database; a lease lets one of them go first.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evenkeel_ambient::Random;
use evenkeel_model::{Actor, GeneratorId, Lease, Name, NewGenerator, NewKey, Paging, Role};
use evenkeel_store::Store;

use crate::config::Config;
use crate::pak;
use crate::run::StartError;
use crate::webhook::Sealer;

const LEASE: &str = "bootstrap";
const LEASE_LENGTH: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);
const SYSTEM: &str = "__system__";
const ADMIN_KEY_FILE: &str = "admin-key";
const SEALING_KEY_FILE: &str = "webhook-key";

/// The administrator's first key. Show it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstKey {
    /// The key.
    pub key: String,
    /// Where it was also written, for nobody but the owner of the file to read.
    pub file: Option<PathBuf>,
}

/// What a start finds or makes.
pub(crate) struct Found {
    pub(crate) first_key: Option<FirstKey>,
    pub(crate) system: GeneratorId,
}

/// Makes what every broker needs, unless it is there.
pub(crate) async fn bootstrap(
    config: &Config,
    store: &dyn Store,
    random: &dyn Random,
) -> Result<Found, StartError> {
    let lease = my_turn(store, random).await?;
    let first_key = first_key(config, store, random).await?;
    let system = system_generator(store).await?;
    store.lease_release(&lease).await?;
    Ok(Found { first_key, system })
}

async fn my_turn(store: &dyn Store, random: &dyn Random) -> Result<Lease, StartError> {
    let me = random.uuid().to_string();
    loop {
        match store.lease_acquire(LEASE, &me, LEASE_LENGTH).await? {
            Some(lease) => return Ok(lease),
            None => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn first_key(
    config: &Config,
    store: &dyn Store,
    random: &dyn Random,
) -> Result<Option<FirstKey>, StartError> {
    if store
        .key_list()
        .await?
        .iter()
        .any(|key| key.role == Role::Admin)
    {
        return Ok(None);
    }
    let minted = pak::mint(random);
    // First the file, then the store: a key that nobody has would lock everybody out.
    let file = config
        .database
        .data_dir
        .as_deref()
        .map(|dir| dir.join(ADMIN_KEY_FILE));
    if let Some(file) = &file {
        write_secret(file, &minted.text).map_err(|source| StartError::file(file, source))?;
    }
    let new = NewKey {
        description: Some("made at the first start".to_owned()),
        ..NewKey::lasting(Role::Admin, minted.material)
    };
    store.key_create(&Actor::SYSTEM, new).await?;
    Ok(Some(FirstKey {
        key: minted.text,
        file,
    }))
}

async fn system_generator(store: &dyn Store) -> Result<GeneratorId, StartError> {
    let found = store.generator_list(Some(SYSTEM), Paging::ALL).await?.items;
    if let Some(system) = found.into_iter().find(|generator| generator.is_system) {
        return Ok(system.id);
    }
    let new = NewGenerator {
        name: Name::new(SYSTEM).map_err(|_| StartError::System)?,
        description: Some("the broker itself".to_owned()),
        is_system: true,
    };
    Ok(store.generator_create(&Actor::SYSTEM, new, None).await?.id)
}

/// What seals webhooks: the key from the settings; on SQLite one of the broker's own; on a
/// database that brokers share nothing, because they would not have the same.
pub(crate) fn sealer(config: &Config, random: &dyn Random) -> Result<Option<Sealer>, StartError> {
    if let Some(digits) = &config.webhooks.encryption_key {
        return Ok(Some(Sealer::from_hex(digits)?));
    }
    if config
        .database
        .url
        .as_deref()
        .is_some_and(|url| url.starts_with("postgres"))
    {
        return Ok(None);
    }
    let digits = match &config.database.data_dir {
        None => Sealer::random_hex(random),
        Some(dir) => kept_digits(&dir.join(SEALING_KEY_FILE), random)?,
    };
    Ok(Some(Sealer::from_hex(&digits)?))
}

fn kept_digits(file: &Path, random: &dyn Random) -> Result<String, StartError> {
    match fs::read_to_string(file) {
        Ok(digits) => Ok(digits),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let digits = Sealer::random_hex(random);
            write_secret(file, &digits).map_err(|source| StartError::file(file, source))?;
            Ok(digits)
        }
        Err(source) => Err(StartError::file(file, source)),
    }
}

/// Writes a file that only its owner can read, whatever was there before.
fn write_secret(file: &Path, secret: &str) -> io::Result<()> {
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir)?;
    }
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)?;
    writeln!(file, "{secret}")?;
    file.sync_all()
}
