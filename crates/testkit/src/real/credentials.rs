//! Certificates, keys, tokens and kubeconfigs of one cluster.

use std::io;
use std::path::{Path, PathBuf};

use evenkeel_ambient::{Random, SystemRandom};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::{Value, json};
use thiserror::Error;

/// Who a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum User {
    /// May do everything (group `system:masters`).
    Admin,
    /// The user `agent`, who has no rights until a role gives some.
    Agent,
    /// Nobody: no token at all.
    Anonymous,
}

/// The cluster's secrets could not be made.
#[derive(Debug, Error)]
pub enum CredentialsError {
    /// Key or certificate.
    #[error("make a key or a certificate")]
    Certificate(#[from] rcgen::Error),
    /// A file.
    #[error("write credentials")]
    File(#[from] io::Error),
}

/// Files that the components read, all in one directory.
#[derive(Debug)]
pub(crate) struct Credentials {
    directory: PathBuf,
    server: String,
    admin_token: String,
    agent_token: String,
}

impl Credentials {
    /// Makes everything for an API server at 127.0.0.1:`port`.
    pub(crate) fn make(directory: &Path, port: u16) -> Result<Self, CredentialsError> {
        let this = Self {
            directory: directory.to_owned(),
            server: format!("https://127.0.0.1:{port}"),
            admin_token: SystemRandom.uuid().to_string(),
            agent_token: SystemRandom.uuid().to_string(),
        };
        this.write_serving_certificate()?;
        this.write_service_account_key()?;
        this.write("tokens.csv", &this.tokens())?;
        let kubeconfig = this.kubeconfig(User::Admin).to_string();
        this.write("kubeconfig", &kubeconfig)?;
        Ok(this)
    }

    fn write_serving_certificate(&self) -> Result<(), CredentialsError> {
        let mut authority = CertificateParams::new(Vec::<String>::new())?;
        authority
            .distinguished_name
            .push(DnType::CommonName, "test cluster");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let names = ["127.0.0.1", "localhost", "kubernetes.default.svc"].map(String::from);
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(names)?.signed_by(&key, &authority)?;
        self.write("ca.crt", &authority.pem())?;
        self.write("apiserver.crt", &certificate.pem())?;
        self.write("apiserver.key", &key.serialize_pem())?;
        Ok(())
    }

    fn write_service_account_key(&self) -> Result<(), CredentialsError> {
        let key = KeyPair::generate()?;
        self.write("sa.key", &key.serialize_pem())?;
        self.write("sa.pub", &key.public_key_pem())?;
        Ok(())
    }

    fn tokens(&self) -> String {
        let Self {
            admin_token,
            agent_token,
            ..
        } = self;
        format!("{admin_token},admin,1,\"system:masters\"\n{agent_token},agent,2\n")
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        std::fs::write(self.path(name), text)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// A kubeconfig (JSON is YAML) for `user`.
    pub(crate) fn kubeconfig(&self, user: User) -> Value {
        let credentials = match user {
            User::Admin => json!({ "token": self.admin_token }),
            User::Agent => json!({ "token": self.agent_token }),
            User::Anonymous => json!({}),
        };
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "test", "cluster": {
                "server": self.server,
                "certificate-authority": self.path("ca.crt"),
            }}],
            "users": [{ "name": "test", "user": credentials }],
            "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test" } }],
            "current-context": "test",
        })
    }
}
