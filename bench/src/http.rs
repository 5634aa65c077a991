//! An HTTP/1.1 client that costs next to nothing, so that what is measured is the server.

use std::io;

use anyhow::{Context, bail};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// One connection that is kept open.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The version of what was asked for, if one was given.
    pub etag: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON; anything but success is an error.
    pub fn json(&self) -> anyhow::Result<Value> {
        if !(200..300).contains(&self.status) {
            bail!("{}: {}", self.status, String::from_utf8_lossy(&self.body));
        }
        Ok(serde_json::from_slice(&self.body).unwrap_or(Value::Null))
    }
}

impl Connection {
    /// Connects to `host:port`.
    pub async fn open(host: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(host)
            .await
            .with_context(|| format!("connect to {host}"))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::with_capacity(1024, stream),
            host: host.to_owned(),
        })
    }

    /// The bytes of a request without a body, to be sent as often as wanted.
    pub fn get(&self, path: &str, key: &str, headers: &str) -> Vec<u8> {
        let host = &self.host;
        format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {key}\r\n{headers}\r\n")
            .into()
    }

    /// Sends a request that is ready to go and reads the answer.
    pub async fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.get_mut().write_all(request).await?;
        self.read().await
    }

    /// Sends a JSON body and reads the JSON answer.
    pub async fn api(
        &mut self,
        method: &str,
        path: &str,
        key: &str,
        body: &Value,
    ) -> anyhow::Result<Value> {
        let (host, body) = (&self.host, body.to_string());
        let request = format!(
            "{method} /api/v1{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut answer = self.ask(request.as_bytes()).await?;
        // A broker that slows its callers down is given the time that it asks for.
        while answer.status == 429 {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            answer = self.ask(request.as_bytes()).await?;
        }
        answer.json().with_context(|| format!("{method} {path}"))
    }

    async fn read(&mut self) -> io::Result<Answer> {
        let (mut answer, mut length) = (
            Answer {
                status: 0,
                etag: None,
                body: Vec::new(),
            },
            0,
        );
        let mut line = String::new();
        loop {
            line.clear();
            if self.stream.read_line(&mut line).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_end();
            if text.is_empty() {
                break;
            }
            match text.split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap_or(0),
                Some(("etag", value)) => answer.etag = Some(value.to_owned()),
                Some(_) => {}
                None => answer.status = status(text),
            }
        }
        answer.body.resize(length, 0);
        self.stream.read_exact(&mut answer.body).await?;
        Ok(answer)
    }
}

fn status(line: &str) -> u16 {
    line.split(' ')
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}
