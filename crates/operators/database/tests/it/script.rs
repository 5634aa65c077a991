//! The start script and the configuration, run by a real PostgreSQL without a container.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use evenkeel_ambient::SeededRandom;
use evenkeel_database_operator::credentials::{Exchange, create};
use evenkeel_database_operator::passwords::{PasswordError, exchange_at};
use evenkeel_database_operator::{Children, Database};
use evenkeel_testkit::postgres::{Programs, Running};
use evenkeel_testkit::skip;
use serde_json::json;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::sample::database;

/// The machine as the pods of one Database see it.
struct Machine {
    programs: Programs,
    config: PathBuf,
    credentials: PathBuf,
    password: String,
    database: Database,
}

impl Machine {
    /// A machine for a Database whose primary listens on `port`.
    fn new(programs: Programs, database: Database) -> Self {
        let secret = create(
            &database,
            Some("it's \\ secret".to_owned()),
            &SeededRandom::new(3),
        );
        let credentials = programs.directory("credentials").unwrap();
        for (key, value) in secret.data.unwrap() {
            write(&credentials.join(key), &value.0);
        }
        let machine = Self {
            config: programs.directory("config").unwrap(),
            credentials,
            password: "it's \\ secret".to_owned(),
            programs,
            database,
        };
        machine.write_config("config", machine.database.spec.port);
        machine
    }

    /// What the ConfigMap holds. Two servers on one machine cannot share a port, so each has a
    /// copy of its own with nothing else changed.
    fn write_config(&self, directory: &str, port: i32) -> PathBuf {
        let directory = self.programs.directory(directory).unwrap();
        let mut database = self.database.clone();
        database.spec.port = port;
        for (name, text) in Children::of(&database).config.data.unwrap() {
            write(&directory.join(name), text.as_bytes());
        }
        directory
    }

    fn start(&self, ordinal: i32, config: &Path) -> Running {
        let name = format!("orders-{ordinal}");
        let volume = self
            .programs
            .directory(&format!("volume-{ordinal}"))
            .unwrap();
        let run = self.programs.directory(&format!("run-{ordinal}")).unwrap();
        let environment = BTreeMap::from([
            ("PGDATA", volume.join("pgdata").display().to_string()),
            // The port by which a standby finds its primary.
            ("PGPORT", self.database.spec.port.to_string()),
            ("POD_NAME", name.clone()),
            ("PRIMARY_HOST", "127.0.0.1".to_owned()),
            ("DATABASE_NAME", self.database.spec.database.clone()),
            ("DATABASE_OWNER", self.database.spec.owner.clone()),
            ("CONFIG_DIR", config.display().to_string()),
            ("CREDENTIALS_DIR", self.credentials.display().to_string()),
            ("RUN_DIR", run.display().to_string()),
        ]);
        let script = config.join("start.sh").display().to_string();
        self.programs
            .start(&name, environment, &["sh", &script])
            .unwrap()
    }

    fn url(&self, port: i32, password: &str) -> String {
        let escaped: String = password
            .bytes()
            .map(|byte| format!("%{byte:02X}"))
            .collect();
        let (owner, name) = (&self.database.spec.owner, &self.database.spec.database);
        format!("postgresql://{owner}:{escaped}@127.0.0.1:{port}/{name}")
    }

    async fn ask(&self, port: i32, sql: &str) -> Result<String, String> {
        let url = self.url(port, &self.password);
        self.programs
            .query(&url, sql)
            .await
            .map_err(|error| error.to_string())
    }

    async fn until_it_answers(&self, server: &Running, port: i32, sql: &str, answer: &str) {
        let answers = async || self.ask(port, sql).await.as_deref() == Ok(answer);
        server.until(answers).await.unwrap();
    }
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
}

async fn machine() -> Option<Machine> {
    let programs = match Programs::find().await {
        Ok(programs) => programs,
        Err(error) => {
            skip(&format!("the start script on a real PostgreSQL: {error}"));
            return None;
        }
    };
    let port = programs.free_port();
    let settings = json!({"work_mem": "5MB", "log_line_prefix": "it's \\ %m ", "fsync": "off"});
    let database = database(json!({"port": port, "settings": settings, "replicas": 2}));
    Some(Machine::new(programs, database))
}

#[tokio::test]
async fn the_primary_initialises_itself_once_from_the_secret_and_keeps_its_data() {
    let Some(machine) = machine().await else {
        return;
    };
    let port = machine.database.spec.port;
    let server = machine.start(0, &machine.config);
    machine
        .until_it_answers(
            &server,
            port,
            "SELECT current_user || '@' || current_database()",
            "app@app",
        )
        .await;
    assert_eq!(machine.ask(port, "SHOW work_mem").await.unwrap(), "5MB");
    assert_eq!(
        machine.ask(port, "SHOW log_line_prefix").await.unwrap(),
        "it's \\ %m"
    );
    machine
        .ask(port, "CREATE TABLE kept AS SELECT 42 AS answer")
        .await
        .unwrap();

    // Nobody gets in without the password, and the owner is no superuser.
    let wrong = machine.url(port, "wrong");
    assert!(machine.programs.query(&wrong, "SELECT 1").await.is_err());
    assert!(
        machine
            .ask(port, "ALTER SYSTEM SET work_mem = '1MB'")
            .await
            .is_err()
    );

    // Killed and started again: the same data.
    drop(server);
    let server = machine.start(0, &machine.config);
    machine
        .until_it_answers(&server, port, "SELECT answer FROM kept", "42")
        .await;
}

#[tokio::test]
async fn a_half_made_data_directory_is_made_again() {
    let Some(machine) = machine().await else {
        return;
    };
    let volume = machine.programs.directory("volume-0").unwrap();
    let debris = machine.programs.directory("volume-0/pgdata.new").unwrap();
    std::fs::write(debris.join("PG_VERSION"), "17").unwrap();
    assert!(volume.join("pgdata.new").exists());
    let port = machine.database.spec.port;
    let server = machine.start(0, &machine.config);
    machine
        .until_it_answers(&server, port, "SELECT 1", "1")
        .await;
    assert!(!volume.join("pgdata.new").exists());
}

#[tokio::test]
async fn a_standby_clones_the_primary_and_follows_it() {
    let Some(machine) = machine().await else {
        return;
    };
    let port = machine.database.spec.port;
    let primary = machine.start(0, &machine.config);
    machine
        .until_it_answers(&primary, port, "SELECT 1", "1")
        .await;
    machine
        .ask(port, "CREATE TABLE numbers AS SELECT 1 AS n")
        .await
        .unwrap();

    let standby_port = i32::from(machine.programs.free_port());
    let config = machine.write_config("standby-config", standby_port);
    let standby = machine.start(1, &config);
    machine
        .until_it_answers(&standby, standby_port, "SELECT count(*) FROM numbers", "1")
        .await;
    machine
        .ask(port, "INSERT INTO numbers VALUES (2), (3)")
        .await
        .unwrap();
    machine
        .until_it_answers(&standby, standby_port, "SELECT count(*) FROM numbers", "3")
        .await;
    assert_eq!(
        machine
            .ask(standby_port, "SELECT pg_is_in_recovery()")
            .await
            .unwrap(),
        "t"
    );
    assert!(
        machine
            .ask(standby_port, "INSERT INTO numbers VALUES (4)")
            .await
            .is_err()
    );

    // A standby that was away comes back and catches up.
    drop(standby);
    machine
        .ask(port, "INSERT INTO numbers VALUES (4)")
        .await
        .unwrap();
    let standby = machine.start(1, &config);
    machine
        .until_it_answers(&standby, standby_port, "SELECT count(*) FROM numbers", "4")
        .await;
}

#[tokio::test]
async fn a_password_is_rotated_while_a_client_stays_connected() {
    let Some(machine) = machine().await else {
        return;
    };
    let port = machine.database.spec.port;
    let server = machine.start(0, &machine.config);
    machine
        .until_it_answers(&server, port, "SELECT 1", "1")
        .await;
    let login = PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(u16::try_from(port).unwrap())
        .username("app")
        .database("app");
    let mut client = login
        .clone()
        .password(&machine.password)
        .connect()
        .await
        .unwrap();

    let exchange = Exchange {
        old: machine.password.clone(),
        next: "n'ext \\ one".to_owned(),
    };
    exchange_at(login.clone(), &exchange).await.unwrap();
    // As after a crash: once more, and it is as good as once.
    exchange_at(login.clone(), &exchange).await.unwrap();

    let one: i32 = sqlx::query_scalar("SELECT 1")
        .fetch_one(&mut client)
        .await
        .unwrap();
    assert_eq!(one, 1, "the connected client was not disturbed");
    client.close().await.unwrap();
    let with_old = login.clone().password(&exchange.old).connect().await;
    assert!(with_old.is_err(), "the old password still works");
    login
        .clone()
        .password(&exchange.next)
        .connect()
        .await
        .unwrap();

    let strange = Exchange {
        old: "never".to_owned(),
        next: "nor".to_owned(),
    };
    let error = exchange_at(login, &strange).await.unwrap_err();
    assert!(matches!(error, PasswordError::NeitherWorks), "{error}");
}
