//! Who a server is: a certificate for its names, from an authority made for it alone.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::crypto::CryptoProvider;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::access::User;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TlsError {
    #[error("make a certificate for {names:?}")]
    Generate {
        names: Vec<String>,
        source: rcgen::Error,
    },
    #[error("read the server's certificate and key")]
    Read(#[from] rustls::pki_types::pem::Error),
    #[error("ask the listener for its address")]
    Listen(#[source] std::io::Error),
    #[error("serve with the certificate")]
    Serve(#[from] rustls::Error),
}

/// A server's certificate and key, and the authority that clients must trust for it; all PEM
/// text, so that they can be kept across restarts.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The authority's certificate, which goes into kubeconfigs.
    pub authority: String,
    /// The server's certificate.
    pub certificate: String,
    /// The server's private key.
    pub key: String,
    /// The authority's private key, which makes certificates for clients.
    pub authority_key: String,
}

/// What a client shows to be known: both PEM text.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCertificate").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Identity {
    /// A new identity for a server that is reached by `names` (hosts and addresses).
    pub fn generate(names: &[&str]) -> Result<Self, TlsError> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        certify(&names).map_err(|source| TlsError::Generate { names, source })
    }

    /// A certificate by which the server knows `user`: its name, and the first of its groups.
    pub fn certify(&self, user: &User) -> Result<ClientCertificate, TlsError> {
        certify_client(&self.authority_key, user).map_err(|source| TlsError::Generate {
            names: vec![user.name.clone()],
            source,
        })
    }

    /// Knows clients by certificates of its own authority; takes others, too.
    fn client_verifier(
        &self,
        provider: Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(self.authority.as_bytes()) {
            roots.add(certificate?)?;
        }
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .allow_unauthenticated()
            .build()
            .map_err(|error| TlsError::Serve(rustls::Error::General(error.to_string())))
    }

    /// What a server needs to speak TLS as this identity, HTTP/2 or HTTP/1.1.
    pub(super) fn server_config(&self) -> Result<ServerConfig, TlsError> {
        let chain = CertificateDer::pem_slice_iter(self.certificate.as_bytes());
        let chain = chain.collect::<Result<Vec<_>, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = self.client_verifier(provider.clone())?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

fn authority() -> CertificateParams {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority
        .distinguished_name
        .push(DnType::CommonName, "kubesim");
    authority
}

fn certify(names: &[String]) -> Result<Identity, rcgen::Error> {
    let authority_key = KeyPair::generate()?;
    let kept = authority_key.serialize_pem();
    let authority = CertifiedIssuer::self_signed(authority(), authority_key)?;
    let key = KeyPair::generate()?;
    let mut server = CertificateParams::new(names)?;
    server
        .distinguished_name
        .push(DnType::CommonName, "kube-apiserver");
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = server.signed_by(&key, &authority)?;
    Ok(Identity {
        authority: authority.pem(),
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        authority_key: kept,
    })
}

fn certify_client(authority_key: &str, user: &User) -> Result<ClientCertificate, rcgen::Error> {
    let issuer = Issuer::new(authority(), KeyPair::from_pem(authority_key)?);
    let key = KeyPair::generate()?;
    let mut client = CertificateParams::default();
    client.distinguished_name = DistinguishedName::new();
    client
        .distinguished_name
        .push(DnType::CommonName, user.name.as_str());
    if let Some(group) = user
        .groups
        .iter()
        .find(|group| *group != "system:authenticated")
    {
        client
            .distinguished_name
            .push(DnType::OrganizationName, group.as_str());
    }
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let certificate = client.signed_by(&key, &issuer)?;
    Ok(ClientCertificate {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    })
}
